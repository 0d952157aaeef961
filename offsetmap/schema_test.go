package offsetmap_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type object = schematest.Object

func planSchema(t testing.TB) schematest.Schema {
	t.Helper()
	return schematest.New(t, offsetmap.PlanSchema())
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
		if p := s.Problem("plan", decode(t, raw)); p != "" {
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
		if s.Problem("plan", root) == "" {
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
	if p := s.Problem("plan", root); p != "" {
		t.Error(p)
	}
}

func TestSchemaAndTypesHaveTheSameMembers(t *testing.T) {
	s := planSchema(t)
	s.SameMembers(t, "plan", reflect.TypeFor[offsetmap.Plan](), s.Root)
}

// What a plan leaves out could be taken for what it says: an absent offset is a
// deletion for Connect.
func TestEveryMemberOfAPlanIsAlwaysThere(t *testing.T) {
	walk("plan", planSchema(t).Root, func(any) {}, func(place string, v any, _ func(any)) {
		members, _ := v.(object)
		if properties, ok := members["properties"].(object); ok && members["required"] != nil {
			if len(members["required"].([]any)) != len(properties) {
				t.Errorf("%s: a member is not required", place)
			}
		}
	})
}

func TestSchemaListsTheConstants(t *testing.T) {
	s := planSchema(t)
	at := func(path ...string) object {
		n := s.Root
		for _, p := range path {
			n = s.Resolve(n["properties"].(object)[p])
			if items, ok := n["items"]; ok {
				n = s.Resolve(items)
			}
			if alternatives, ok := n["anyOf"].([]any); ok {
				n = s.Resolve(alternatives[0])
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
			"", offsetmap.Earliest.String(), offsetmap.Latest.String(), offsetmap.Committed.String(), offsetmap.Unset.String(), offsetmap.Unknown.String(),
		}},
		"state":      {at("body", "rows", "found", "state"), []any{"", offsetmap.Unassigned.String(), offsetmap.FinishedOrUnassigned.String()}},
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
