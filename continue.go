package flinkmm2

import (
	"context"
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Continue resumes the connector for a wave that was started before and stands still,
// because Widen has stopped it for another one that was given up, or the rollback of that
// one has. It is a person's act, as Start is: the approval names the plan of the newest
// wave that goes on. It refuses unless
//
//   - that plan was started, was not rolled back, and no other was started since and is
//     not rolled back;
//   - the connector is STOPPED with the config of the plan, and nothing moves for longer
//     than the worker's flush timeout;
//   - Connect holds for each topic of the plan, and of the waves before it, what it held
//     when the connector was stopped, as far as the journal says that, and nothing less
//     than the plans wrote; and nothing else but what WidenOptions.GivenUp explains;
//   - the source still has the record that each offset leads to, in the log that the
//     offset is of.
//
// Flink is not asked: its job may run for other topics. The proof of the wave goes on
// from its own start record: see Watch.
func (m *Migration) Continue(ctx context.Context, plan *offsetmap.Plan, approval Approval, o WidenOptions) (*Started, error) {
	if err := errors.Join(approval.check(plan), m.usable(plan)); err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Continue, err)
	}
	if err := m.gaveUp(ctx, plan, o.GivenUp); err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Continue, err)
	}
	return locked(ctx, m, string(engine.Continue), func(ctx context.Context) (*Started, error) { return m.continueLocked(ctx, plan, approval, o) })
}

func (m *Migration) continueLocked(ctx context.Context, plan *offsetmap.Plan, approval Approval, o WidenOptions) (*Started, error) {
	if _, err := m.walk(ctx, engine.Continue, plan, approval.By, wave{givenUp: o.GivenUp, acceptances: o.Acceptances}); err != nil {
		return nil, err
	}
	status, err := m.awaitRunning(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Continue, err)
	}
	return &Started{Digest: plan.Digest, Tasks: len(status.Tasks)}, nil
}
