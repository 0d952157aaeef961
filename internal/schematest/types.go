package schematest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// leaves are the types that are one JSON value, other than their kind says.
var leaves = map[reflect.Type]string{
	reflect.TypeFor[offsetmap.NextOffset]():      "integer",
	reflect.TypeFor[offsetmap.SourceOffset]():    "integer",
	reflect.TypeFor[offsetmap.TopicID]():         "string",
	reflect.TypeFor[offsetmap.Time]():            "string",
	reflect.TypeFor[offsetmap.Marker]():          "string",
	reflect.TypeFor[offsetmap.AssignmentState](): "string",
	reflect.TypeFor[json.RawMessage]():           "object", // of a connector's own making
}

// written are the structs whose MarshalJSON writes other members than they have.
var written = map[reflect.Type]reflect.Type{
	reflect.TypeFor[offsetmap.Write](): reflect.TypeFor[struct {
		Offset offsetmap.SourceOffset `json:"offset"`
	}](),
	reflect.TypeFor[flinkstate.Compared](): reflect.TypeFor[struct {
		offsetmap.TopicPartition
		Next      offsetmap.NextOffset `json:"next,omitzero"`
		Committed offsetmap.NextOffset `json:"committed,omitzero"`
		Relation  flinkstate.Relation  `json:"relation"`
		By        int64                `json:"by,omitzero"`
		Between   flinkstate.Between   `json:"between,omitempty"`
	}](),
}

var kinds = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int16: "integer", reflect.Int32: "integer", reflect.Int64: "integer",
}

// SameMembers walks a type and a node of a schema at once: each has the members
// of the other, of the same types, and those are required that Go never leaves
// out.
func (s Schema) SameMembers(t testing.TB, place string, typ reflect.Type, node any) {
	t.Helper()
	n := s.only(t, place, s.Resolve(node))
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if other, ok := written[typ]; ok {
		typ = other
	}
	want, leaf := leaves[typ]
	switch {
	case leaf:
	case typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && !typ.Implements(reflect.TypeFor[json.Marshaler]()):
		want = "string"
	case typ.Kind() == reflect.Slice:
		if got := fmt.Sprint(n["type"]); got != "array" && got != "[array null]" {
			t.Errorf("%s: is %s, not an array", place, got)
		}
		s.SameMembers(t, place+"[]", typ.Elem(), n["items"])
		return
	case typ.Kind() == reflect.Map:
		if n["type"] != "object" || n["additionalProperties"] == false {
			t.Errorf("%s: is not an object of any members", place)
			return
		}
		s.SameMembers(t, place+"{}", typ.Elem(), n["additionalProperties"])
		return
	case typ.Kind() == reflect.Struct:
		s.sameObject(t, place, typ, n)
		return
	default:
		want = kinds[typ.Kind()]
	}
	for _, got := range typesOf(n) {
		if got != want {
			t.Errorf("%s: is %v in the schema, %s in Go", place, got, want)
		}
	}
}

func (s Schema) sameObject(t testing.TB, place string, typ reflect.Type, n Object) {
	t.Helper()
	var members, always []string
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch option {
		case "":
			always = append(always, name)
		case "omitempty", "omitzero":
		default:
			t.Errorf("%s.%s: the tag is %q", place, f.Name, f.Tag)
		}
		if name == "" {
			t.Errorf("%s.%s: has no tag", place, f.Name)
		}
		members = append(members, name)
		if node, known := n["properties"].(Object)[name]; known {
			s.SameMembers(t, place+"."+name, f.Type, node)
		}
	}
	slices.Sort(members)
	if d := cmp.Diff(members, slices.Sorted(maps.Keys(n["properties"].(Object)))); d != "" {
		t.Errorf("%s: members (-Go +schema)\n%s", place, d)
	}
	var required []string
	for _, r := range n["required"].([]any) {
		required = append(required, r.(string))
	}
	slices.Sort(always)
	slices.Sort(required)
	if d := cmp.Diff(always, required); d != "" {
		t.Errorf("%s: always there (-Go +schema)\n%s", place, d)
	}
	if n["type"] != "object" || n["additionalProperties"] != false {
		t.Errorf("%s: is not an object without other members", place)
	}
}

// only returns the one alternative that is not null.
func (s Schema) only(t testing.TB, place string, n Object) Object {
	t.Helper()
	alternatives, ok := n["anyOf"].([]any)
	if !ok {
		return n
	}
	if len(alternatives) != 2 || s.Resolve(alternatives[1])["type"] != "null" {
		t.Fatalf("%s: anyOf is not a type or null", place)
	}
	return s.Resolve(alternatives[0])
}

// typesOf returns the types that a leaf of a schema takes, null left out.
func typesOf(n Object) []string {
	var all []string
	switch {
	case n["enum"] != nil:
		for _, v := range n["enum"].([]any) {
			all = append(all, TypeOf(v))
		}
	case n["const"] != nil:
		all = []string{TypeOf(n["const"])}
	default:
		list, ok := n["type"].([]any)
		if !ok {
			list = []any{n["type"]}
		}
		for _, v := range list {
			if v != "null" {
				all = append(all, fmt.Sprint(v))
			}
		}
	}
	return all
}
