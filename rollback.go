package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	// Untouched are the target's ends that are where the plan saw them, sorted; null where
	// Started. Before a start that is all of them, but for those that others write to by an
	// acceptance of the plan (target/ends-moved), and none once the connector is gone, which
	// names the target's topics.
	Untouched []PartitionEnd `json:"untouched"`
	Boundary  *Boundary      `json:"boundary"` // null unless Started
	// ResumePending says that of a resume of the plan nobody knows whether the worker has
	// heard of it. Should it still be on its way, it starts the connector beside Flink:
	// once Flink has C', and before it runs, the connector has to be deleted. Its offsets
	// stay.
	ResumePending bool `json:"resumePending"`
	// Halted are the topics of the earlier waves that the plan names, sorted: the connector
	// is STOPPED, so they stand still too, and are no part of the boundary. Widen with the
	// config of the wave before, and Continue, let them go on. Empty where the connector
	// is deleted.
	Halted []string `json:"halted"`
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
// offsets may lag what was copied by up to one flush, so the end of the target is
// compared with the source: Boundary.Next is beyond M + 1 as far as the target has
// everything beyond doubt, and Boundary.Repeated says what comes again from there on.
// Whatever that cannot find out, going on at C' never loses a record.
//
// CommitBoundary gives the boundary to a consumer group, for a Flink job that
// starts from one.
//
// Afterwards the plan can be neither applied nor started again: going forward
// needs a new one. A rollback that was refused before it changed anything leaves
// the plan as it is.
func (m *Migration) Rollback(ctx context.Context, plan *offsetmap.Plan, o RollbackOptions) (*RolledBack, error) {
	return locked(ctx, m, "rollback", func(ctx context.Context) (*RolledBack, error) { return m.rollbackLocked(ctx, plan, o) })
}

func (m *Migration) rollbackLocked(ctx context.Context, plan *offsetmap.Plan, o RollbackOptions) (*RolledBack, error) {
	if err := o.Tail.check(); err != nil {
		return nil, fmt.Errorf("rollback: %w", err)
	}
	r, err := m.reach(ctx, engine.Rollback, plan, "")
	var out *RolledBack
	if err == nil {
		out, err = m.rolledBack(ctx, plan, r, o)
	}
	if !r.begun {
		return nil, err
	}
	end := Entry{Act: actRollback, Phase: PhaseDone, Plan: plan.Digest}
	if err == nil && out.Started { // nothing has moved for a while
		stored, _ := r.seen.Stored.Get()
		end.Stood = stoodAt(engine.EarlierTopics(plan), stored.Offsets)
	}
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
	// Tail bounds the comparison of the target's end with the source.
	Tail TailBounds
}

func (m *Migration) rolledBack(ctx context.Context, plan *offsetmap.Plan, r reached, o RollbackOptions) (*RolledBack, error) {
	out := &RolledBack{Digest: plan.Digest, Restored: []offsetmap.TopicPartition{}, Halted: append([]string{}, slices.Sorted(maps.Keys(engine.EarlierTopics(plan)))...)}
	for _, c := range r.written {
		out.Restored = append(out.Restored, c.TopicPartition)
	}
	history, _ := r.seen.History.Get()
	if r.last != engine.Reverse {
		if out.Deleted = history.Deleted; out.Deleted {
			out.Halted = []string{}
		}
		out.Untouched = append([]PartitionEnd{}, r.untouched...)
		return out, nil
	}
	rows, findings := reversed(plan, r.seen, o.Acceptances)
	if err := preflight.Blocked(findings); err != nil {
		return nil, fmt.Errorf("rollback: the connector is STOPPED: %w", err)
	}
	out.Started, out.ResumePending = true, history.ResumePending
	out.Boundary = &Boundary{
		APIVersion: offsetmap.APIVersion, Kind: BoundaryKind, CreatedAt: offsetmap.At(m.now()),
		Plan: plan.Digest, SourceID: plan.Body.Source.ID, Connector: plan.Body.Connector.Name, Partitions: rows,
		Delivered: m.delivered(ctx, plan, rows, r.seen, o.Tail),
	}
	return out, nil
}

// untouched lists the target's ends that have not moved since the plan was made.
func untouched(plan *offsetmap.Plan, seen engine.Observed) []PartitionEnd {
	var out []PartitionEnd
	measured, _ := seen.Measured.Get()
	for _, row := range plan.Body.Rows {
		if end := measured[row.TopicPartition].TargetEnd; !end.IsNone() && end == row.TargetEnd {
			out = append(out, PartitionEnd{row.TopicPartition, end})
		}
	}
	return out
}

// reversed reads C' from what was seen, which has settled.
func reversed(plan *offsetmap.Plan, seen engine.Observed, acceptances []offsetmap.Acceptance) ([]offsetmap.Reverse, []offsetmap.Finding) {
	history, _ := seen.History.Get()
	stored, _ := seen.Stored.Get()
	measured, _ := seen.Measured.Get()
	return plan.Reverse(offsetmap.Return{Stored: stored.Offsets, Measured: measured, Ends: startEnds(plan, seen), Overtaken: history.Overtaken, Acceptances: acceptances})
}

// startEnds are the target's ends before the first resume, or when the plan was made
// where somebody else resumed it.
func startEnds(plan *offsetmap.Plan, seen engine.Observed) endsByPartition {
	if history, _ := seen.History.Get(); history.StartEnds != nil {
		return history.StartEnds
	}
	ends := make(endsByPartition, len(plan.Body.Rows))
	for _, row := range plan.Body.Rows {
		ends[row.TopicPartition] = row.TargetEnd
	}
	return ends
}
