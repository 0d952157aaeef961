package faults

import "testing"

func TestTheLastWordIsWhatBecameOfTheProgram(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "",
		"written: state/plan.json\nnext: run": "written: state/plan.json",
		"runbook: plan: blocked by 1 finding\n  worker/rebalancing: group g\n    -> Wait.\nhint: runbook explain worker/rebalancing\n": "runbook: plan: blocked by 1 finding: worker/rebalancing: group g",
		"waiting\nrunbook: start: no\nhint: runbook verify":                                                                            "runbook: start: no",
	} {
		if got := lastWord(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
