package flinkmm2_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// alone is a migration that is to be planned from what its old group has committed.
func alone(t *testing.T, at ...int64) *wayBack {
	t.Helper()
	w := prepared(t)
	w.options = append(w.options, flinkmm2.WithGroupWindow(2*time.Minute))
	w.steps = w.migration(w.source.admin)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.commit(oldGroup, at...)
	return w
}

func (w *wayBack) fromGroup() flinkmm2.PlanRequest {
	a := attested()
	a.FlinkStopped = offsetmap.Attest(offsetmap.Canceled, "test", "it was canceled")
	a.Checkpointing = offsetmap.Attest("1m", "test", "read its config")
	return flinkmm2.PlanRequest{Origin: offsetmap.FromGroup, Group: oldGroup, Attestations: a}
}

func TestAGroupAloneIsPlannedFromAndCopied(t *testing.T) {
	t.Parallel()
	w := alone(t, 20, 32)
	plan, err := w.steps.MakePlan(t.Context(), w.fromGroup())
	if err != nil {
		t.Fatal(err)
	}
	if plan.Body.Savepoint != nil || plan.Body.Group == nil || plan.Body.Group.ID != oldGroup {
		t.Errorf("savepoint %v, group %v", plan.Body.Savepoint, plan.Body.Group)
	}
	for i, want := range []struct{ next, origin string }{{"20", "group"}, {"32", "group"}, {"0", "none"}} {
		if r := plan.Body.Rows[i]; r.Next.String() != want.next || string(r.Origin) != want.origin {
			t.Errorf("%s: C = %s from %s, want %s from %s", r.TopicPartition, r.Next, r.Origin, want.next, want.origin)
		}
	}
	if _, err := w.steps.Apply(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if differs, err := w.steps.Differs(t.Context(), plan, w.fromGroup()); err != nil || differs != "" {
		t.Errorf("differs in %q, %v", differs, err)
	}
	if _, err := w.steps.Start(t.Context(), plan, flinkmm2.Approval{Digest: plan.Digest, By: "ana"}); err != nil {
		t.Fatal(err)
	}
	proof, err := w.steps.Watch(t.Context(), plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil || proof.Copied != 30 || proof.Early != 0 {
		t.Errorf("%v: %+v", err, proof)
	}
}

func TestAGroupAloneIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     []int64
		change func(*wayBack, *flinkmm2.PlanRequest)
		want   string
	}{
		"ahead of the target":   {[]int64{22, 32}, nil, "boundary/not-delivered orders-0:2"},
		"behind the target":     {[]int64{18, 32}, nil, "boundary/delivered-beyond orders-0:2"},
		"without an offset":     {[]int64{20}, nil, "source/group-missing orders-1"},
		"looked at for a short": {[]int64{20, 32}, func(_ *wayBack, r *flinkmm2.PlanRequest) { r.Attestations.Checkpointing.Value = "5m" }, "source/group-unproven " + oldGroup},
		"checkpoints unknown":   {[]int64{20, 32}, func(_ *wayBack, r *flinkmm2.PlanRequest) { r.Attestations.Checkpointing = nil }, "attest/checkpointing"},
		"nobody looks at the target": {[]int64{20, 32}, func(w *wayBack, _ *flinkmm2.PlanRequest) {
			w.options = append(w.options, flinkmm2.WithDeliveryReader(nil))
			w.steps = w.migration(w.source.admin)
		}, "flink/group-only"},
		"its boundary was handed back": {[]int64{20, 32}, func(w *wayBack, _ *flinkmm2.PlanRequest) {
			w.writeJournal(flinkmm2.Entry{Act: "commit-boundary", Phase: flinkmm2.PhaseBegin, Plan: "sha256:1", Group: oldGroup, Savepoint: "sha256:2"})
			w.writeJournal(flinkmm2.Entry{Act: "commit-boundary", Phase: flinkmm2.PhaseDone, Plan: "sha256:1", Group: oldGroup, Savepoint: "sha256:2"})
		}, "journal/handed-back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := alone(t, c.at...)
			r := w.fromGroup()
			if c.change != nil {
				c.change(w, &r)
			}
			plan, err := w.steps.MakePlan(t.Context(), r)
			var blocked *offsetmap.BlockedError
			if plan != nil || !errors.As(err, &blocked) || !strings.Contains(err.Error(), c.want) || flinkmm2.ExitStatus(err) != flinkmm2.ExitBlocked {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestAPlanFromAGroupAloneTakesNothingBesideIt(t *testing.T) {
	t.Parallel()
	w := alone(t, 20, 32)
	for name, c := range map[string]struct {
		change func(*flinkmm2.PlanRequest)
		want   string
	}{
		"a snapshot beside it": {func(r *flinkmm2.PlanRequest) { r.Snapshot = &flinkstate.Snapshot{} }, "takes no snapshot"},
		"a source":             {func(r *flinkmm2.PlanRequest) { r.Source = "orders" }, "takes no snapshot"},
		"no group":             {func(r *flinkmm2.PlanRequest) { r.Group = "" }, "no consumer group was named"},
		"another group":        {func(r *flinkmm2.PlanRequest) { r.Group = "copy-order" }, "no such consumer group"},
		"another origin":       {func(r *flinkmm2.PlanRequest) { r.Origin = "guess" }, `positions come from "guess"`},
		"no snapshot, unasked": {func(r *flinkmm2.PlanRequest) { r.Origin = "" }, "no snapshot was given"},
	} {
		r := w.fromGroup()
		c.change(&r)
		if plan, err := w.steps.MakePlan(t.Context(), r); plan != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
