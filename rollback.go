package flinkmm2

import (
	"context"
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// RolledBack is the outcome of Rollback.
type RolledBack struct {
	Digest string `json:"digest"`
	// Started says which way was gone. False: the connector never ran; Connect's
	// offsets are as they were before, and Flink goes on from its savepoint.
	// True: it ran; it is STOPPED, and Flink goes on from Boundary.
	Started  bool                       `json:"started"`
	Restored []offsetmap.TopicPartition `json:"restored"` // sorted; put back as they were
	Deleted  bool                       `json:"deleted"`  // the connector, which this migration had created
	Boundary *Boundary                  `json:"boundary"` // null unless Started
}

// Rollback goes back, all the way or not at all.
//
// Before the start (no resume in the journal, and nothing that says otherwise)
// it puts Connect's offsets back as they were when the plan was made, absent
// ones absent, reads that back, and deletes the connector if this migration
// created it. Flink then restores its savepoint.
//
// After the start it stops the connector, waits until no task is left and
// nothing has moved for longer than the worker's flush timeout, and returns the
// boundary C' = M + 1 of every partition. The connector stays, STOPPED. Connect's
// offsets may lag what was copied by up to one flush, so going on at C' may
// repeat records and never loses one.
//
// CommitBoundary gives the boundary to a consumer group, for a Flink job that
// starts from one.
//
// Afterwards the plan can be neither applied nor started again: going forward
// needs a new one. A rollback that was refused before it changed anything leaves
// the plan as it is.
func (m *Migration) Rollback(ctx context.Context, plan *offsetmap.Plan, o RollbackOptions) (*RolledBack, error) {
	r, err := m.reach(ctx, engine.Rollback, plan, "")
	var out *RolledBack
	if err == nil {
		out, err = m.rolledBack(plan, r, o)
	}
	if !r.begun {
		return nil, err
	}
	end := Entry{Act: actRollback, Phase: PhaseDone, Plan: plan.Digest}
	if err != nil {
		end.Phase, end.Detail = PhaseFailed, err.Error()
	}
	if jerr := m.journal(context.WithoutCancel(ctx), end); jerr != nil {
		return nil, fmt.Errorf("rollback: %w", errors.Join(err, jerr))
	}
	return out, err
}

// RollbackOptions says how to roll back.
type RollbackOptions struct {
	// Acceptances let findings of the way back through, each by name; those of
	// the plan say nothing of it.
	Acceptances []offsetmap.Acceptance
}

func (m *Migration) rolledBack(plan *offsetmap.Plan, r reached, o RollbackOptions) (*RolledBack, error) {
	out := &RolledBack{Digest: plan.Digest, Restored: []offsetmap.TopicPartition{}}
	for _, c := range r.written {
		out.Restored = append(out.Restored, c.TopicPartition)
	}
	history, _ := r.seen.History.Get()
	if r.last != engine.Reverse {
		out.Deleted = history.Deleted
		return out, nil
	}
	rows, findings := reversed(plan, r.seen, o.Acceptances)
	if err := preflight.Blocked(findings); err != nil {
		return nil, fmt.Errorf("rollback: the connector is STOPPED: %w", err)
	}
	out.Started = true
	out.Boundary = &Boundary{
		APIVersion: offsetmap.APIVersion, Kind: BoundaryKind, CreatedAt: offsetmap.At(m.now()),
		Plan: plan.Digest, SourceID: plan.Body.Source.ID, Connector: plan.Body.Connector.Name, Partitions: rows,
	}
	return out, nil
}

// reversed reads C' from what was seen, which has settled.
func reversed(plan *offsetmap.Plan, seen engine.Observed, acceptances []offsetmap.Acceptance) ([]offsetmap.Reverse, []offsetmap.Finding) {
	history, _ := seen.History.Get()
	stored, _ := seen.Stored.Get()
	measured, _ := seen.Measured.Get()
	ends := history.StartEnds
	if ends == nil { // it was resumed by somebody else
		ends = make(endsByPartition, len(plan.Body.Rows))
		for _, row := range plan.Body.Rows {
			ends[row.TopicPartition] = row.TargetEnd
		}
	}
	return plan.Reverse(offsetmap.Return{Stored: stored.Offsets, Measured: measured, Ends: ends, Acceptances: acceptances})
}
