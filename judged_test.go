package flinkmm2_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestWhatThePlanIsMadeByIsHandedOut(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := w.requestFrom("20", "32")
	var judged []preflight.Report
	req.Judged = func(r preflight.Report) { judged = append(judged, r) }
	plan, err := w.steps.MakePlan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(judged) != 1 || len(judged[0].Results) < 50 {
		t.Fatalf("%d reports: %+v", len(judged), judged)
	}
	offsets := cmp.Options{
		cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b }), cmp.Comparer(func(a, b offsetmap.SourceOffset) bool { return a == b }),
		cmp.Comparer(func(a, b offsetmap.Write) bool { return a == b }),
	}
	if diff := cmp.Diff(plan.Body.Rows, judged[0].Rows, offsets); diff != "" {
		t.Errorf("(-plan +report)\n%s", diff)
	}
	if diff := cmp.Diff(plan.Body.Findings, judged[0].Findings); diff != "" {
		t.Errorf("(-plan +report)\n%s", diff)
	}
}

func TestNoPlanHandsNothingOut(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := w.requestFrom("20", "33") // beyond the log end
	req.Judged = func(preflight.Report) { t.Error("a report of no plan was handed out") }
	if plan, err := w.steps.MakePlan(t.Context(), req); err == nil {
		t.Errorf("a plan was made: %s", plan.Digest)
	}
}
