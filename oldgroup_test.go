package flinkmm2_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2"
)

// unstable answers for the offsets of groups as a broker does while a transaction
// that holds them stays open, and counts how often it was asked.
type unstable struct {
	flinkmm2.Admin
	asked *atomic.Int64
	open  *atomic.Bool
}

func (a unstable) FetchOffsets(ctx context.Context, group string) (kadm.OffsetResponses, error) {
	a.asked.Add(1)
	fetched, err := a.Admin.FetchOffsets(ctx, group)
	if a.open.Load() {
		if o, ok := fetched.Lookup("orders", 0); ok {
			o.Err, o.At = kerr.UnstableOffsetCommit, -1
			fetched["orders"][0] = o
		}
	}
	return fetched, err
}

// Only a start is decided by what the old job's group holds. It waits for a
// transaction by the clock that was given, within a bound; whoever writes, reads
// back or goes back does not wait for it at all.
func TestOnlyAStartWaitsForTheOldGroup(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := prepared(t)
	w.commit(oldGroup, 18, 32)
	admin := unstable{w.source.admin, new(atomic.Int64), new(atomic.Bool)}
	w.steps = w.migration(admin)
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	approval := flinkmm2.Approval{Digest: w.plan.Digest, By: "test"}

	admin.open.Store(true)
	admin.asked.Store(0)
	if _, err := w.steps.Apply(ctx, w.plan); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.Verify(ctx, w.plan); err != nil {
		t.Fatal(err)
	}
	if n := admin.asked.Load(); n != 0 {
		t.Errorf("apply and verify have asked for the group's offsets %d times", n)
	}
	slept := func() time.Duration {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.ahead
	}
	before, idle := w.now(), slept()
	_, err := w.steps.Start(ctx, w.plan, approval)
	if !errors.Is(err, flinkmm2.ErrNotKnown) || !strings.Contains(errText(err), "source/group-unknown "+oldGroup) || !strings.Contains(errText(err), "orders-0") {
		t.Errorf("start: %v", err)
	}
	if waited := w.now().Sub(before); waited < 29*time.Second || slept() == idle {
		t.Errorf("start has waited for the transaction for %s, %s of it by the clock that it was given", waited, slept()-idle)
	}

	admin.open.Store(false)
	if _, err := w.steps.Start(ctx, w.plan, approval); err != nil {
		t.Fatal(err)
	}
	admin.open.Store(true)
	admin.asked.Store(0)
	if _, err := w.steps.Rollback(ctx, w.plan, flinkmm2.RollbackOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := admin.asked.Load(); n != 0 {
		t.Errorf("rollback has asked for the group's offsets %d times", n)
	}
}
