package flinkmm2

import (
	"context"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// WithGroupWindow says over which time Preflight and MakePlan look twice at the
// group that a PlanRequest names: an offset that moves meanwhile shows that the job
// runs, and blocks. The window is to be longer than the interval of the job's
// checkpoints, with which it commits.
// By default, the group is looked at once, and the plan says that this proves
// nothing; Start holds it to the plan's offsets again.
func WithGroupWindow(d time.Duration) Option { return func(m *Migration) { m.groupWindow = d } }

// groups reads consumer groups of the source.
func (m *Migration) groups(opts ...flinkstate.GroupOption) *flinkstate.GroupReader {
	return flinkstate.NewGroupReader(m.cfg.Source.Admin, append(opts, flinkstate.WithGroupClock(m.now, m.sleep))...)
}

// looksAtGroup says how the group is looked at before a plan is made.
func (m *Migration) looksAtGroup(req PlanRequest, source flinkstate.Source) preflight.GroupLook {
	look := preflight.GroupLook{
		Window: m.groupWindow, Options: m.cfg.Source.Options, Positions: source.Partitions,
		Sleep: func(ctx context.Context, d time.Duration) error {
			if d != m.groupWindow {
				return m.sleep(ctx, d)
			}
			return m.wait(ctx, "a second look at group "+req.Group, d)
		},
	}
	if isolation := req.Attestations.Isolation; isolation != nil {
		look.Isolation = isolation.Value
	}
	return look
}
