package flinkmm2

import (
	"context"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// CheckForward returns an ErrMoved when the plan is for another connector than this
// migration, whose journal says nothing of it, and a *RefusedError when the journal
// alone says that the plan can be neither applied nor started any more: it was
// rolled back, another plan was started or is being written on the connector, or a
// boundary was given to Flink since. A journal that cannot be read is an
// ErrNotKnown. It reaches no cluster and no worker, so that it returns nil does not
// say that Apply or Start will not refuse; nor does it look at the plan's expiry
// (offsetmap.Plan.CheckExpiry).
func (m *Migration) CheckForward(ctx context.Context, plan *offsetmap.Plan) error {
	if err := m.usable(plan); err != nil {
		return err
	}
	history, _ := m.history(ctx, plan.Digest, false)
	if r := engine.Spent(history); r != nil {
		return refused(engine.Apply, r, nil)
	}
	return nil
}

// usable holds that the plan is as it was sealed, and for this connector.
func (m *Migration) usable(plan *offsetmap.Plan) error {
	if err := plan.Check(); err != nil {
		return err
	}
	return m.ofThisConnector(plan)
}

// ofThisConnector holds that the plan is for the migration's connector.
func (m *Migration) ofThisConnector(plan *offsetmap.Plan) error {
	if is := plan.Body.Connector.Name; is != m.cfg.Connector {
		return fmt.Errorf("%w: the plan is for connector %q, this migration is for %q", ErrMoved, is, m.cfg.Connector)
	}
	return nil
}
