package flinkmm2

import (
	"context"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// WithGroupWindow says over which time Preflight and MakePlan look twice at the
// group that a PlanRequest names: an offset that moves meanwhile shows that the job
// runs, and blocks. Also without a group they then look twice at the ends of both
// sides' logs: one that moves on the target shows another writer. The window is to be
// longer than the interval of the job's checkpoints, with which it commits, and shorter
// than a plan lives (WithLifetime). By default, everything is looked at once, and the
// plan says that this proves nothing of the group; Start holds it to the plan's offsets
// again.
func WithGroupWindow(d time.Duration) Option { return func(m *Migration) { m.groupWindow = d } }

// checkGroupWindow holds that a plan still lives when it is made: it is as old as the
// first fact in it, which is looked at before the window.
func (m *Migration) checkGroupWindow() error {
	switch {
	case m.groupWindow < 0:
		return fmt.Errorf("the window of WithGroupWindow is negative: %s", m.groupWindow)
	case m.groupWindow > 0 && m.groupWindow >= m.planLifetime():
		return fmt.Errorf("the window over which the group is looked at, %s, is not shorter than a plan lives, %s: no plan could be applied", m.groupWindow, m.planLifetime())
	default:
		return nil
	}
}

// groups reads consumer groups of the source.
func (m *Migration) groups(opts ...flinkstate.GroupOption) *flinkstate.GroupReader {
	return flinkstate.NewGroupReader(m.cfg.Source.Admin, append(opts, flinkstate.WithGroupClock(m.now, m.sleep))...)
}

// awaitsSecondLook waits for what is left of the window when the group was not waited
// for, or for less.
func (m *Migration) awaitsSecondLook(ctx context.Context, d time.Duration) error {
	m.log.InfoContext(ctx, LogWait, "for", "a second look at the ends of the logs", "duration", d)
	return m.sleep(ctx, d)
}

// looksAtGroup says how the group is looked at before a plan is made.
func (m *Migration) looksAtGroup(req PlanRequest, from stood) preflight.GroupLook {
	look := preflight.GroupLook{
		Window: m.groupWindow, Options: m.cfg.Source.Options, Positions: from.question.Positions,
		Sleep: func(ctx context.Context, d time.Duration) error {
			if d != m.groupWindow {
				return m.sleep(ctx, d)
			}
			// Whether the connector is STOPPED, which other waits rest on, is not looked at
			// here.
			m.log.InfoContext(ctx, LogWait, "for", "a second look at group "+req.Group, "duration", d)
			return m.sleep(ctx, d)
		},
	}
	if isolation := req.Attestations.Isolation; isolation != nil {
		look.Isolation = isolation.Value
	}
	return look
}
