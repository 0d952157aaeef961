package preflight_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// confirmed settles every point as the lab is.
func confirmed() offsetmap.Confirmations {
	return offsetmap.Confirmations{
		FlinkVersions:     attest("Flink 1.20.5 with connector 3.4.0, commits on checkpoints"),
		SinkEvidence:      attest("the log of the stop with savepoint"),
		ClustersAndTopics: attest("source-1 to target-1: orders, payments"),
		TargetNames:       attest(offsetmap.SameNames),
		Image:             attest("kafka 4.3.0, one worker"),
		Kubernetes:        attest("none: the workers run in this process"),
		Limits:            attest("a pause of 10m"),
	}
}

func confirmBreakages() map[string]breakage {
	change := func(of func(*offsetmap.Attestations)) breakage {
		return func(l *lab) func() {
			right := l.question.Attestations
			of(&l.question.Attestations)
			return func() { l.question.Attestations = right }
		}
	}
	return map[string]breakage{
		"confirm/flink-versions": change(func(a *offsetmap.Attestations) { a.Confirm.FlinkVersions = nil }),
		"confirm/sink-evidence":  change(func(a *offsetmap.Attestations) { a.Confirm.SinkEvidence = attest("") }),
		"confirm/clusters-and-topics": change(func(a *offsetmap.Attestations) {
			a.Confirm.ClustersAndTopics = attest("source-1 to target-10: orders, payments")
		}),
		"confirm/target-names": change(func(a *offsetmap.Attestations) { a.Confirm.TargetNames = attest(offsetmap.PrefixedNames) }),
		"confirm/image":        change(func(a *offsetmap.Attestations) { a.Confirm.Image = nil }),
		"confirm/kubernetes":   change(func(a *offsetmap.Attestations) { a.Confirm.Kubernetes = nil }),
		"confirm/limits":       change(func(a *offsetmap.Attestations) { a.MaxDuplicates = nil }),
	}
}

func TestAnAnswerIsHeldAgainstTheBrokersIDs(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	facts := l.observe()
	for answer, want := range map[string][]string{
		"source-1 -> target-1":             nil,
		"(source-1), target-1.":            nil,
		"target-1 and source-1":            nil,
		"not source-12; source-1 target-1": nil,
		"source-1":                         {"target"},
		"target-1":                         {"source"},
		"asource-1 target-1b":              {"source", "target"},
		"source-1-2 x_target-1":            {"source", "target"},
		"SOURCE-1 TARGET-1":                {"source", "target"},
		"the usual ones":                   {"source", "target"},
		// what ends an id, and what goes on with it
		"/source-1: @target-1[":       nil,
		"`source-1{ :target-1/":       nil,
		"source-10 0target-1":         {"source", "target"},
		"source-19 9target-1":         {"source", "target"},
		"source-1a atarget-1":         {"source", "target"},
		"source-1z ztarget-1":         {"source", "target"},
		"source-1A Atarget-1":         {"source", "target"},
		"source-1Z Ztarget-1":         {"source", "target"},
		"source-1_ -target-1":         {"source", "target"},
		"xsource-1 source-1 target-1": nil, // a later place counts
	} {
		q := l.question
		q.Attestations.Confirm.ClustersAndTopics = attest(answer)
		var got []string
		for _, f := range found(preflight.Judge(facts, q), "confirm/clusters-and-topics") {
			got = append(got, f.Scope)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
}

// A point that was not held against anything says with what it was seen together.
func TestEachPointShowsTheAnswerAndWhatIsSeenOfIt(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	r := l.judge()
	for id, want := range map[string][]string{
		"confirm/flink-versions":      {"answered by ann: Flink 1.20.5 with", "metadata version 4"},
		"confirm/sink-evidence":       {"attested as at-least-once"},
		"confirm/clusters-and-topics": {"source: the answer names the id source-1", "target: the answer names the id target-1"},
		"confirm/target-names":        {"answered by ann: same", "by IdentityReplicationPolicy"},
		"confirm/image":               {"the worker has version 4.3", "its MirrorSourceConnector has version 4.3"},
		"confirm/kubernetes":          {"answered by ann: none: the workers"},
		"confirm/limits":              {"rollbackWindow 1h, maxDuplicates 0"},
	} {
		i := slices.IndexFunc(r.Results, func(r preflight.Result) bool { return r.Check == id })
		if i < 0 || r.Results[i].State != preflight.Passed {
			t.Errorf("%s: got %+v", id, r.Results)
			continue
		}
		saw := strings.Join(r.Results[i].Saw, "\n")
		for _, text := range want {
			if !strings.Contains(saw, text) {
				t.Errorf("%s saw %q, without %q", id, saw, text)
			}
		}
	}
}

// A point is judged where the attestations that it is seen together with lack.
func TestPointsAreJudgedWithoutTheAttestationsBeside(t *testing.T) {
	t.Parallel()
	saw := func(a offsetmap.Attestations, id string) string {
		for _, r := range preflight.Judge(preflight.Facts{}, preflight.Question{Origin: offsetmap.FromSavepoint, Attestations: a}).Results {
			if r.Check == id {
				return strings.Join(r.Saw, "; ")
			}
		}
		return "no result of " + id
	}
	whole := question().Attestations
	for name, c := range map[string]struct {
		change   func(*offsetmap.Attestations)
		id, want string
	}{
		"no window":        {func(a *offsetmap.Attestations) { a.RollbackWindow = nil }, "confirm/limits", "answered by ann: a pause of 10m"},
		"no duplicates":    {func(a *offsetmap.Attestations) { a.MaxDuplicates = nil }, "confirm/limits", "answered by ann: a pause of 10m"},
		"no limits":        {func(a *offsetmap.Attestations) { a.Confirm.Limits = nil }, "confirm/limits", ""},
		"no guarantee":     {func(a *offsetmap.Attestations) { a.SinkGuarantee = nil }, "confirm/sink-evidence", "answered by ann: the log of the stop with savepoint"},
		"no sink evidence": {func(a *offsetmap.Attestations) { a.Confirm.SinkEvidence = nil }, "confirm/sink-evidence", ""},
	} {
		a := whole
		c.change(&a)
		if got := saw(a, c.id); got != c.want {
			t.Errorf("%s: %s saw %q, want %q", name, c.id, got, c.want)
		}
	}
}
