package flinkmm2_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestATimeOfCalmThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	for want, calm := range map[string]time.Duration{
		"the time of WithCalm is negative: -1s": -time.Second,
		"24h0m0s, is not shorter than a plan":   24 * time.Hour,
	} {
		_, err := flinkmm2.New(flinkmm2.Config{
			Source:  flinkmm2.Cluster{Admin: w.source.admin, Options: w.source.client.Opts()},
			Target:  flinkmm2.Cluster{Admin: w.target.admin, Options: w.target.client.Opts()},
			Connect: w.connect, Connector: "mm2", Journal: w.journal,
		}, flinkmm2.WithCalm(calm))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", calm, err, want)
		}
	}
}

// Workers may have become restless since the plan was made.
func TestApplyLooksAtTheWorkersBeforeItWrites(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	var waited []time.Duration
	w.options = append(w.options, flinkmm2.WithCalm(17*time.Second), flinkmm2.WithClock(w.now, func(ctx context.Context, d time.Duration) error {
		waited = append(waited, d)
		return w.sleep(ctx, d)
	}))
	w.steps = w.migration(w.source.admin)
	ctx := t.Context()
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	unseen := w.target.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListGroups}, Err: kerr.ClusterAuthorizationFailed, Count: -1})
	_, err := w.steps.Apply(ctx, w.plan)
	blocked, ok := errors.AsType[*offsetmap.BlockedError](err)
	if !ok || len(blocked.Findings) != 1 || blocked.Findings[0].Check != "worker/rebalancing" || !strings.HasPrefix(err.Error(), "apply: ") {
		t.Fatalf("got %v", err)
	}
	if stored, err := w.connect.Offsets(ctx, "mm2"); err != nil || len(stored) > 0 {
		t.Errorf("it wrote %v, %v", stored, err)
	}

	accepted := *w.plan
	accepted.Body.Acceptances = []offsetmap.Acceptance{{Check: "worker/rebalancing", By: "ana", Reason: "asked the operators"}}
	sealed, err := offsetmap.Seal(accepted.Body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.Apply(ctx, sealed); err != nil {
		t.Errorf("accepted in the plan: %v", err)
	}
	unseen.Remove()
	if _, err := w.steps.Apply(ctx, sealed); err != nil {
		t.Errorf("again, with a group that is not there: %v", err)
	}
	for _, d := range waited {
		if d == 17*time.Second {
			t.Error("it waited although there was nothing to look at")
		}
	}
}
