package flinkmm2

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// storedWithin bounds the wait for the stored offsets, which say more about a
// proof that is not one.
const storedWithin = 10 * time.Second

// stored returns what Connect holds for the plan's connector now.
func (m *Migration) stored(ctx context.Context, plan *offsetmap.Plan) (map[offsetmap.TopicPartition]offsetmap.SourceOffset, error) {
	all, err := m.cfg.Connect.AwaitOffsets(ctx, m.cfg.Connector, func([]connectrest.Offset) error { return nil }, storedWithin)
	if err != nil {
		return nil, err
	}
	stored, err := mirrorOffsets(plan.Body.Connector.SourceAlias, all)
	return stored.Offsets, err
}

// progressWithoutRecords finds the partitions where Connect stores the offset of
// a record, or of a later one, that the target lacks. A worker stores the offset
// of a record only when the producer has acknowledged it, or a transform or the
// error handling has dropped it (AbstractWorkerSourceTask, SubmittedRecords). So
// whatever was delivered up to a stored offset lies below a target end that was
// measured afterwards, and where the proof has read up to there, nothing of it
// can still come.
func (m *Migration) progressWithoutRecords(ctx context.Context, plan *offsetmap.Plan, r *proof.Report) {
	waits := func(p proof.PartitionReport) bool {
		return p.Outcome == proof.PartitionPending && !p.Waits.IsNone() && p.Counts.Undecided == 0
	}
	topics := map[string]bool{}
	for _, p := range r.Partitions {
		if waits(p) {
			topics[p.Target.Topic] = true
		}
	}
	if len(topics) == 0 {
		return
	}
	stored, err := m.stored(ctx, plan)
	if err != nil {
		m.log.DebugContext(ctx, "the stored offsets are not known", "connector", m.cfg.Connector, "error", err)
		return
	}
	ends, _ := fresh.Ranges(ctx, m.cfg.Target.Admin, slices.Sorted(maps.Keys(topics))...) // one that is not measured is none
	found := false
	for i, p := range r.Partitions {
		at, some := stored[p.Source].Value()
		first, _ := p.Waits.Value()
		end := ends[p.Target]
		if !waits(p) || !some || at < first || end.End != p.TargetRead || end.Stable != p.TargetRead {
			continue
		}
		found = true
		r.Partitions[i].Outcome = proof.PartitionWithoutRecords
		r.Partitions[i].Reason = fmt.Sprintf("Connect stores the source offset %d as copied, and the record at %d is not on the target: a transform drops it, errors.tolerance skips it, or the producer writes elsewhere; %s", at, first, p.Reason)
	}
	if found {
		*r = proof.Conclude(r.Partitions)
	}
}
