package preflight_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// results returns them by id.
func results(r preflight.Report) map[string]preflight.Result {
	all := map[string]preflight.Result{}
	for _, result := range r.Results {
		all[result.Check] = result
	}
	return all
}

func TestASoundMigrationHasAResultForEachCheck(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	r := l.whole()
	all, steps := results(r), later(t)
	for _, check := range preflight.Checks() {
		got, made := all[check.ID]
		switch {
		case steps[check.ID] && made:
			t.Errorf("%s has a result, which only a later step can have", check.ID)
		case steps[check.ID], strings.HasPrefix(outside[check.ID], "Lint alone"):
		case !made:
			t.Errorf("%s has no result", check.ID)
		case got.State == preflight.NotMade:
			t.Errorf("%s was not made", check.ID)
		case got.State == preflight.Found && got.Severity == offsetmap.Block:
			t.Errorf("%s blocks", check.ID)
		}
	}
	if !slices.IsSortedFunc(r.Results, func(a, b preflight.Result) int { return strings.Compare(a.Check, b.Check) }) {
		t.Error("the results are not sorted")
	}
	if len(all) != len(r.Results) {
		t.Errorf("%d results of %d checks", len(r.Results), len(all))
	}
}

func TestAResultSaysHowItsCheckEnded(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.checks = []preflight.Check{
		{ID: "own/passed", Judge: func(_ *preflight.Case, r *preflight.Reporter) {
			r.Saw("", "3 of %d", 7)
			r.Saw("orders-0", "there")
			r.Saw("", "3 of 7")
		}},
		{ID: "own/found", Judge: func(_ *preflight.Case, r *preflight.Reporter) {
			r.Info("", "a")
			r.Warn("", "b")
		}},
		{ID: "own/unmade", Judge: func(_ *preflight.Case, r *preflight.Reporter) {
			r.Unmade("", errors.New("denied"))
			r.Warn("", "b")
		}},
		{ID: "own/idle", Judge: func(_ *preflight.Case, r *preflight.Reporter) { r.NotAsked() }},
		{ID: "own/many", Judge: func(_ *preflight.Case, r *preflight.Reporter) {
			for i := range 200 { // each twice
				r.Saw("", "%d", i%100)
			}
		}},
	}
	all := results(l.whole())
	for id, want := range map[string]preflight.Result{
		"own/passed": {State: preflight.Passed, Saw: []string{"3 of 7", "orders-0: there"}},
		"own/found":  {State: preflight.Found, Severity: offsetmap.Warn, Findings: 2, Saw: []string{}},
		"own/unmade": {State: preflight.NotMade, Severity: offsetmap.Block, Findings: 2, Saw: []string{}},
		"own/idle":   {State: preflight.NotAsked, Saw: []string{}},
	} {
		got := all[id]
		if got.State != want.State || got.Severity != want.Severity || got.Findings != want.Findings || !slices.Equal(got.Saw, want.Saw) || got.Saw == nil {
			t.Errorf("%s: got %+v, want %+v", id, got, want)
		}
	}
	if saw := all["own/many"].Saw; len(saw) != 21 || saw[20] != "and 80 more" {
		t.Errorf("saw %q", saw)
	}
}

func TestWithoutAConnectorItsConfigIsNotAsked(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Connector = "nobody"
	if got := results(l.whole())["config/isolation"]; got.State != preflight.NotAsked {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutTheSourceItsRulesAreNotAsked(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.source.Close()
	all := results(l.whole())
	if got := all["source/offset-expired"]; got.State != preflight.NotAsked {
		t.Errorf("got %+v", got)
	}
	if got := all["attest/copy-only"]; got.State != preflight.Passed {
		t.Errorf("got %+v", got)
	}
}
