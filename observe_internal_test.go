package flinkmm2

import (
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A task that was abandoned may commit until the flush timeout is over. A look that
// itself took that long, since a worker, a broker or a group kept it waiting, has
// seen what it saw at its end only.
func TestTheTimeThatALookTakesIsNoTimeStoodStill(t *testing.T) {
	t.Parallel()
	const timeout = 30 * time.Second
	began := time.Unix(1_790_000_000, 0)
	now := began
	o := &observer{
		m:    &Migration{now: func() time.Time { return now }, flushTimeout: timeout, startWait: timeout},
		plan: &offsetmap.Plan{},
	}
	for _, look := range []struct {
		from, to time.Duration
		want     bool
	}{
		{0, 40 * time.Second, false},
		{50 * time.Second, 51 * time.Second, false},
		{70 * time.Second, 70 * time.Second, false}, // not longer than the timeout
		{70*time.Second + time.Millisecond, 90 * time.Second, true},
	} {
		now = began.Add(look.to)
		seen := engine.Observed{
			Now:       began.Add(look.from),
			Connector: offsetmap.Known(engine.Connector{State: "STOPPED"}),
			Stored:    offsetmap.Known(engine.Stored{Offsets: offsetsByPartition{}}),
			Measured:  offsetmap.Known(measuredByPartition{}),
		}
		if got := o.settled(seen); got != look.want {
			t.Errorf("settled at the look from %s to %s: %v", look.from, look.to, got)
		}
		if got := o.stoodStill(seen); got != look.want {
			t.Errorf("stood still at the look from %s to %s: %v", look.from, look.to, got)
		}
	}
}
