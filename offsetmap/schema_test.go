package offsetmap_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type object = map[string]any

// schema checks values against the part of JSON Schema that the plan's schema
// uses. It knows no other keyword, and says so.
type schema struct {
	root     object
	patterns map[string]*regexp.Regexp
}

func planSchema(t testing.TB) schema {
	t.Helper()
	return schema{decode(t, offsetmap.PlanSchema()).(object), map[string]*regexp.Regexp{}}
}

// resolve follows references.
func (s schema) resolve(node any) object {
	n := node.(object)
	for {
		ref, ok := n["$ref"].(string)
		if !ok {
			return n
		}
		n = s.root["$defs"].(object)[strings.TrimPrefix(ref, "#/$defs/")].(object)
	}
}

// problem returns the first thing that is wrong with v, or "".
func (s schema) problem(place string, node, v any) string {
	n := s.resolve(node)
	for _, k := range slices.Sorted(maps.Keys(n)) {
		bad := false
		switch want := n[k]; k {
		case "$schema", "$id", "$defs", "title", "description":
		case "type":
			types, ok := want.([]any)
			if !ok {
				types = []any{want}
			}
			bad = !slices.Contains(types, typeOf(v))
		case "const":
			bad = v != want
		case "enum":
			bad = !slices.Contains(want.([]any), v)
		case "anyOf":
			bad = !slices.ContainsFunc(want.([]any), func(n any) bool { return s.problem(place, n, v) == "" })
		case "pattern":
			text, ok := v.(string)
			if s.patterns[want.(string)] == nil {
				s.patterns[want.(string)] = regexp.MustCompile(want.(string))
			}
			bad = ok && !s.patterns[want.(string)].MatchString(text)
		case "minLength":
			text, ok := v.(string)
			bad = ok && int64(utf8.RuneCountInString(text)) < integer(want)
		case "minimum":
			bad = typeOf(v) == "integer" && integer(v) < integer(want)
		case "maximum":
			bad = typeOf(v) == "integer" && integer(v) > integer(want)
		case "minItems":
			list, ok := v.([]any)
			bad = ok && int64(len(list)) < integer(want)
		case "items":
			list, _ := v.([]any)
			for i, e := range list {
				if p := s.problem(fmt.Sprintf("%s[%d]", place, i), want, e); p != "" {
					return p
				}
			}
		case "required":
			members, ok := v.(object)
			for _, name := range want.([]any) {
				if _, there := members[name.(string)]; ok && !there {
					return fmt.Sprintf("%s.%s: required", place, name)
				}
			}
		case "properties":
			members, _ := v.(object)
			for name, node := range want.(object) {
				if e, there := members[name]; there {
					if p := s.problem(place+"."+name, node, e); p != "" {
						return p
					}
				}
			}
		case "additionalProperties":
			members, _ := v.(object)
			for name := range members {
				if _, known := n["properties"].(object)[name]; !known {
					return fmt.Sprintf("%s.%s: unknown", place, name)
				}
			}
		default:
			return fmt.Sprintf("%s: the schema uses %q, which this test does not know", place, k)
		}
		if bad {
			return fmt.Sprintf("%s: %v is against %s %v", place, v, k, n[k])
		}
	}
	return ""
}

func typeOf(v any) any {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case object:
		return "object"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
	}
	return "number"
}

func integer(v any) int64 {
	i, _ := v.(json.Number).Int64()
	return i
}

func TestPlansFollowTheSchema(t *testing.T) {
	s := planSchema(t)
	more := bodyOf(everyRule())
	more.Earlier = []offsetmap.EarlierPlan{wave("a-0"), {Digest: goldenDigest, Partitions: []offsetmap.EarlierPartition{{TopicPartition: tp("a-1")}}}, {Digest: goldenDigest}}
	more.Connector.ActiveTopics = []string{}
	more.Attestations.Checkpointing, more.Attestations.RollbackWindow, more.Attestations.MaxDuplicates = attested("off"), attested("72h"), attested(int64(0))
	m := measured("orders-0", log(0, 9))
	m.Group = next(4)
	fromGroup := bodyOf(offsetmap.Input{
		Origin: offsetmap.FromGroup, Isolation: offsetmap.ReadCommitted,
		Positions: []offsetmap.Position{at("orders-0", 4)}, Measured: []offsetmap.Measured{m},
	})
	noGroup := planOf(t).Body
	noGroup.Group, noGroup.Connector.ActiveTopics = nil, nil
	for name, raw := range map[string][]byte{
		"golden": golden(t), "more": encode(t, seal(t, more)), "from a group": encode(t, seal(t, fromGroup)), "no group": encode(t, seal(t, noGroup)),
	} {
		if p := s.problem("plan", s.root, decode(t, raw)); p != "" {
			t.Errorf("%s: %s", name, p)
		}
	}
}

// TestSchemaRefusesWhatReadPlanRefuses changes every value of a plan to one of
// another type, and every object by one member.
func TestSchemaRefusesWhatReadPlanRefuses(t *testing.T) {
	s := planSchema(t)
	root := decode(t, small(t))
	refused := func(what string) {
		t.Helper()
		if s.problem("plan", s.root, root) == "" {
			t.Errorf("%s follows the schema", what)
		}
	}
	walk("", root, func(any) {}, func(place string, v any, set func(any)) {
		if members, ok := v.(object); ok {
			members["zzz"] = nil
			refused(place + " with a member more")
			delete(members, "zzz")
			for k, old := range maps.Clone(members) {
				delete(members, k)
				refused(place + " without " + k)
				members[k] = old
			}
		}
		if place == "" {
			return
		}
		for _, other := range []any{json.Number("1.5"), []any{[]any{}}, object{"zzz": true}, json.Number("-1")} {
			set(other)
			refused(fmt.Sprintf("%s = %v", place, other))
			set(v)
		}
	})
	if p := s.problem("plan", s.root, root); p != "" {
		t.Error(p)
	}
}

// TestSchemaAndTypesHaveTheSameMembers walks both at once.
func TestSchemaAndTypesHaveTheSameMembers(t *testing.T) {
	s := planSchema(t)
	if s.root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("the schema is of %v", s.root["$schema"])
	}
	leaves := map[reflect.Type]string{
		reflect.TypeFor[offsetmap.NextOffset]():   "integer",
		reflect.TypeFor[offsetmap.SourceOffset](): "integer",
		reflect.TypeFor[offsetmap.TopicID]():      "string",
		reflect.TypeFor[offsetmap.Time]():         "string",
	}
	kinds := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int32: "integer", reflect.Int64: "integer",
	}
	// only returns the one alternative that is not null.
	only := func(place string, n object) object {
		alternatives, ok := n["anyOf"].([]any)
		if !ok {
			return n
		}
		if len(alternatives) != 2 || s.resolve(alternatives[1])["type"] != "null" {
			t.Fatalf("%s: anyOf is not a type or null", place)
		}
		return s.resolve(alternatives[0])
	}
	var compare func(place string, typ reflect.Type, node any)
	compare = func(place string, typ reflect.Type, node any) {
		n := only(place, s.resolve(node))
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ == reflect.TypeFor[offsetmap.Write]() {
			typ = reflect.TypeFor[struct {
				Offset offsetmap.SourceOffset `json:"offset"`
			}]()
		}
		want, leaf := leaves[typ]
		switch {
		case leaf:
		case typ.Kind() == reflect.Slice:
			if got := fmt.Sprint(n["type"]); got != "array" && got != "[array null]" {
				t.Errorf("%s: is %s, not an array", place, got)
			}
			compare(place+"[]", typ.Elem(), n["items"])
			return
		case typ.Kind() == reflect.Struct:
			var members []string
			for _, f := range reflect.VisibleFields(typ) {
				if f.Anonymous {
					continue
				}
				tag := f.Tag.Get("json")
				if tag == "" || strings.Contains(tag, ",") {
					t.Errorf("%s.%s: the tag is %q; every member of a plan is always there", place, f.Name, tag)
				}
				members = append(members, tag)
				if node, known := n["properties"].(object)[tag]; known {
					compare(place+"."+tag, f.Type, node)
				}
			}
			slices.Sort(members)
			diff(t, members, slices.Sorted(maps.Keys(n["properties"].(object))))
			var required []string
			for _, r := range n["required"].([]any) {
				required = append(required, r.(string))
			}
			slices.Sort(required)
			diff(t, members, required)
			if n["type"] != "object" || n["additionalProperties"] != false {
				t.Errorf("%s: is not an object without other members", place)
			}
			return
		default:
			want = kinds[typ.Kind()]
		}
		var got []any
		switch {
		case n["enum"] != nil:
			for _, v := range n["enum"].([]any) {
				got = append(got, typeOf(v))
			}
		case n["const"] != nil:
			got = []any{typeOf(n["const"])}
		default:
			got = []any{n["type"]}
			if list, ok := n["type"].([]any); ok {
				got = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == "null" })
			}
		}
		for _, g := range got {
			if g != want {
				t.Errorf("%s: is %v in the schema, %s in Go", place, g, want)
			}
		}
	}
	compare("plan", reflect.TypeFor[offsetmap.Plan](), s.root)
}

func TestSchemaListsTheConstants(t *testing.T) {
	s := planSchema(t)
	at := func(path ...string) object {
		n := s.root
		for _, p := range path {
			n = s.resolve(n["properties"].(object)[p])
			if items, ok := n["items"]; ok {
				n = s.resolve(items)
			}
			if alternatives, ok := n["anyOf"].([]any); ok {
				n = s.resolve(alternatives[0])
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		node object
		want []any
	}{
		"rule": {at("body", "rows", "rule"), []any{
			string(offsetmap.RuleStored), string(offsetmap.RuleMarkedEmpty), string(offsetmap.RuleUnnamedEmpty),
			string(offsetmap.RuleEarliestAccepted), string(offsetmap.RuleUnnamedAccepted), string(offsetmap.RuleExpiredAccepted),
		}},
		"origin": {at("body", "rows", "origin"), []any{string(offsetmap.FromSavepoint), string(offsetmap.FromGroup), string(offsetmap.FromNothing)}},
		"unread": {at("body", "rows", "found", "unread"), []any{
			"", string(offsetmap.Earliest), string(offsetmap.Latest), string(offsetmap.Committed), string(offsetmap.Unset), string(offsetmap.Unknown),
		}},
		"state":      {at("body", "rows", "found", "state"), []any{"", string(offsetmap.Unassigned), string(offsetmap.FinishedOrUnassigned)}},
		"severity":   {at("body", "findings", "severity"), []any{string(offsetmap.Warn), string(offsetmap.Info)}},
		"acceptable": {at("body", "findings", "acceptable"), []any{string(offsetmap.Never), string(offsetmap.Exact), string(offsetmap.ByScope)}},
		"isolation":  {at("body", "isolation"), []any{string(offsetmap.ReadUncommitted), string(offsetmap.ReadCommitted)}},
		"stopped": {at("body", "attestations", "flinkStopped", "value"), []any{
			string(offsetmap.StoppedWithSavepoint), string(offsetmap.Canceled), string(offsetmap.Failed),
		}},
		"guarantee": {at("body", "attestations", "sinkGuarantee", "value"), []any{
			string(offsetmap.SinkNone), string(offsetmap.SinkAtLeastOnce), string(offsetmap.SinkExactlyOnce),
		}},
	} {
		diff(t, c.want, c.node["enum"])
		if c.node["enum"] == nil {
			t.Errorf("%s has no list", name)
		}
	}
	if v, k := at("apiVersion")["const"], at("kind")["const"]; v != offsetmap.APIVersion || k != offsetmap.PlanKind {
		t.Errorf("the schema is of %v %v", v, k)
	}
}

func TestPlanSchemaIsACopy(t *testing.T) {
	offsetmap.PlanSchema()[0] = 'x'
	if offsetmap.PlanSchema()[0] != '{' {
		t.Error("a caller can change the schema")
	}
}
