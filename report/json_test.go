package report_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
	"github.com/flinkmm2/flinkmm2/report"
)

// everyKind are documents of all that a report can be made from.
func everyKind(t testing.TB) map[string]*report.Document {
	bare, back := small(t), whole(t)
	back.Journal, back.Boundary = acted(back, "create plan apply start resume rollback+ stop+ stop rollback"), boundaryOf(back.Plan)
	started := small(t)
	started.Journal, started.Proof = journalOf(started), proofOf(started.Plan)
	return map[string]*report.Document{
		"planned": newDocument(t, bare), "whole": newDocument(t, whole(t)), "rolled back": newDocument(t, back), "proven": newDocument(t, started),
	}
}

func TestReportsFollowTheirSchema(t *testing.T) {
	t.Parallel()
	for name, d := range everyKind(t) {
		if err := schematest.Check(report.Schema(), []byte(written(t, d.WriteJSON))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaAndTypesHaveTheSameMembers(t *testing.T) {
	t.Parallel()
	s := schematest.New(t, report.Schema())
	s.SameMembers(t, "report", reflect.TypeFor[report.Document](), s.Root)
}

func TestSchemaListsTheConstants(t *testing.T) {
	t.Parallel()
	s := schematest.New(t, report.Schema())
	member := func(n schematest.Object, name string) []string {
		var out []string
		values, _ := n["properties"].(schematest.Object)[name].(schematest.Object)["enum"].([]any)
		for _, v := range values {
			out = append(out, v.(string))
		}
		return out
	}
	for name, c := range map[string]struct{ got, want []string }{
		"stage": {member(s.Root, "stage"), texts(report.Planned, report.Applied, report.Started, report.GoingBack, report.WentBack, report.HandedBack, report.Unknown)},
		"phase": {member(s.Def("act"), "phase"), texts(flinkmm2.PhaseBegin, flinkmm2.PhaseDone, flinkmm2.PhaseFailed, flinkmm2.PhaseUnknown)},
		"state": {member(s.Def("check"), "state"), texts(preflight.Passed, preflight.Found, preflight.NotMade, preflight.NotAsked)},
		"rule": {member(s.Def("row"), "rule"), texts(offsetmap.RuleStored, offsetmap.RuleMarkedEmpty, offsetmap.RuleUnnamedEmpty,
			offsetmap.RuleEarliestAccepted, offsetmap.RuleUnnamedAccepted, offsetmap.RuleExpiredAccepted)},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func texts[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}

func TestTheSchemaIsACopy(t *testing.T) {
	t.Parallel()
	report.Schema()[0] = 'x'
	if report.Schema()[0] != '{' {
		t.Error("a caller can change the schema")
	}
}

func TestNothingIsLostInTheJSON(t *testing.T) {
	t.Parallel()
	for name, d := range everyKind(t) {
		text := written(t, d.WriteJSON)
		var back report.Document
		if err := offsetmap.DecodeStrictly([]byte(text), &back); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(*d, back, cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b }),
			cmp.Comparer(func(a, b offsetmap.SourceOffset) bool { return a == b })); diff != "" {
			t.Errorf("%s: (-written +read)\n%s", name, diff)
		}
	}
}

func TestEachPartitionHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	d := newDocument(t, small(t))
	lines := 0
	for line := range strings.Lines(written(t, d.WriteJSON)) {
		if strings.HasPrefix(line, `    {"topic":`) {
			lines++
		}
	}
	if lines != len(d.Partitions) {
		t.Errorf("%d lines for %d partitions", lines, len(d.Partitions))
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func TestAFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	d := newDocument(t, small(t))
	for name, err := range map[string]error{"json": d.WriteJSON(full{}), "html": d.WriteHTML(full{}), "markdown": d.WriteMarkdown(full{})} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
