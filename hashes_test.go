package flinkmm2_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// A plan from files that were not hashed could not be told from the plan of another
// savepoint, nor be seen to have been handed back.
func TestASnapshotWithoutHashesMakesNoPlan(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	const dir = "flinkstate/testdata/savepoints/flink-1.20-stop-p2/savepoint"
	for says, opts := range map[string][]flinkstate.Option{
		"without flinkstate.WithoutHashes": {flinkstate.WithoutHashes()},
		"":                                 nil,
	} {
		snapshot, err := flinkstate.ReadDir(dir, opts...)
		if err != nil {
			t.Fatal(err)
		}
		req := flinkmm2.PlanRequest{Snapshot: snapshot}
		_, planned := w.steps.MakePlan(t.Context(), req)
		_, checked := w.steps.Preflight(t.Context(), req)
		for step, err := range map[string]error{"plan": planned, "preflight": checked} {
			refused := err != nil && strings.Contains(err.Error(), "the SHA-256 of ") && strings.Contains(err.Error(), "_metadata")
			if refused != (says != "") || refused && !strings.Contains(err.Error(), says) {
				t.Errorf("%s, %q wanted: %v", step, says, err)
			}
		}
	}
	entries, err := w.journal.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Act == "plan" {
			t.Errorf("the journal has %+v", e)
		}
	}
}
