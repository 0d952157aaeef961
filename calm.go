package flinkmm2

import (
	"context"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// WithCalm says for how long the Connect workers must have had no rebalance. Preflight
// and MakePlan look at their group twice, that far apart, and so does Apply before it
// does anything else; check worker/rebalancing says what moved.
// By default, the group is looked at once before a plan, which proves nothing, and not
// at all by Apply.
func WithCalm(d time.Duration) Option { return func(m *Migration) { m.calm = d } }

func (m *Migration) checkCalm() error {
	switch {
	case m.calm < 0:
		return fmt.Errorf("the time of WithCalm is negative: %s", m.calm)
	case m.calm > 0 && m.calm >= m.planLifetime():
		return fmt.Errorf("the time for which the workers must have been calm, %s, is not shorter than a plan lives, %s: no plan could be applied", m.calm, m.planLifetime())
	default:
		return nil
	}
}

// workersCalm refuses while the workers are not calm, unless the plan accepts it.
func (m *Migration) workersCalm(ctx context.Context, plan *offsetmap.Plan) error {
	if m.calm == 0 {
		return nil
	}
	probe := m.probe(nil)
	probe.Sleep = func(ctx context.Context, d time.Duration) error {
		m.log.InfoContext(ctx, LogWait, "for", "a second look at the group of the workers", "duration", d)
		return m.sleep(ctx, d)
	}
	found := offsetmap.Accept(probe.Rebalancing(ctx), plan.Body.Acceptances)
	if err := ctx.Err(); err != nil {
		return err
	}
	return preflight.Blocked(found)
}
