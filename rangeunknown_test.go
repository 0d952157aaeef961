package flinkmm2_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2"
)

// leaderless does not tell where the log of orders-0 ends.
type leaderless struct{ flinkmm2.Admin }

func (a leaderless) ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	listed, err := a.Admin.ListEndOffsets(ctx, topics...)
	if o, ok := listed.Lookup("orders", 0); ok {
		o.Err, o.Offset = kerr.LeaderNotAvailable, -1
		listed["orders"][0] = o
	}
	return listed, err
}

// What could not be measured says why, after the plan as before it.
func TestABoundThatWasNotMeasuredSaysWhy(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	ctx := t.Context()
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	blind := w.migration(leaderless{w.source.admin})
	_, verify := blind.Verify(ctx, w.plan)
	_, plan := w.planFrom(blind, "20", "32")
	for step, err := range map[string]error{"verify": verify, "plan": plan} {
		const want = "source/range-unknown orders-0: "
		_, detail, found := strings.Cut(errText(err), want)
		detail, _, _ = strings.Cut(detail, "\n")
		if !found || !strings.Contains(detail, "LEADER_NOT_AVAILABLE") {
			t.Errorf("%s: %v, want %s and its cause", step, err, want)
		}
	}
}
