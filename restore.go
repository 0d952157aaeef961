package flinkmm2

import (
	"context"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// RestoreOptions says on whose word a backup is put back.
type RestoreOptions struct {
	// Approval names the digest of the backup that is meant, and who says so.
	Approval Approval
	// Acceptances let restore/rewind through, each offset that goes back by itself.
	Acceptances []offsetmap.Acceptance
}

// Restored is the outcome of Restore.
type Restored struct {
	Digest     string `json:"digest"`     // of the backup
	Partitions int    `json:"partitions"` // that the backup has
	// Changed are the offsets that stood elsewhere, sorted; empty when Connect held
	// the backup already.
	Changed []RestoredOffset `json:"changed"`
}

// RestoredOffset is one stored offset before and after a Restore; null is absent.
type RestoredOffset struct {
	offsetmap.TopicPartition
	Before offsetmap.SourceOffset `json:"before"`
	Stored offsetmap.SourceOffset `json:"stored"`
}

// Restore makes Connect hold exactly what a backup holds: each of its offsets, and
// nothing for any other partition of the alias. It reads everything back, and can be
// run again.
//
// It is not the way back of a plan: Rollback is, which knows what the plan wrote and
// how far the connector has copied. It is for offsets that somebody has damaged, and
// for whoever has lost the plan. It refuses unless
//
//   - the connector is STOPPED without a task, and its offsets do not move for longer
//     than the worker's flush timeout;
//   - the clusters are those of the backup;
//   - every offset that goes back, or becomes absent, is accepted by itself: records
//     are copied again from there (restore/rewind);
//   - every offset that is put back is one of the log that the source has now, of the
//     same topic id and within its end (restore/other-log).
//
// Afterwards, or when it was begun, every plan that was made before is refused: what it
// knows of the offsets is old.
func (m *Migration) Restore(ctx context.Context, b *OffsetsBackup, o RestoreOptions) (*Restored, error) {
	return locked(ctx, m, "restore", func(ctx context.Context) (*Restored, error) { return m.restoreLocked(ctx, b, o) })
}

func (m *Migration) restoreLocked(ctx context.Context, b *OffsetsBackup, o RestoreOptions) (*Restored, error) {
	if err := m.mayRestore(b, o); err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Restore, err)
	}
	plan, err := b.asPlan(o.Acceptances)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Restore, err)
	}
	r, err := m.walk(ctx, engine.Restore, plan, o.Approval.By, wave{})
	if err != nil {
		return nil, err
	}
	out := &Restored{Digest: b.Digest, Partitions: len(plan.Body.Rows), Changed: []RestoredOffset{}}
	for _, c := range r.written {
		out.Changed = append(out.Changed, RestoredOffset{c.TopicPartition, r.before[c.TopicPartition], c.Write.Result()})
	}
	return out, nil
}

func (m *Migration) mayRestore(b *OffsetsBackup, o RestoreOptions) error {
	switch err := b.Check(); {
	case err != nil:
		return err
	case b.Body.Connector != m.cfg.Connector:
		return fmt.Errorf("%w: the backup is of connector %q, this migration is for %q", ErrMoved, b.Body.Connector, m.cfg.Connector)
	default:
		return o.Approval.of("backup", b.Digest)
	}
}

// asPlan is the plan that writes the backup: what it is held to, and a row for each of
// its offsets.
func (b *OffsetsBackup) asPlan(acceptances []offsetmap.Acceptance) (*offsetmap.Plan, error) {
	stored, err := b.stored()
	if err != nil {
		return nil, err
	}
	ids := make(map[string]offsetmap.TopicID, len(b.Body.Topics))
	for _, t := range b.Body.Topics {
		ids[t.Topic] = t.ID
	}
	p := &offsetmap.Plan{Digest: b.Digest, Body: offsetmap.Body{
		Source: offsetmap.Cluster{ID: b.Body.SourceID}, Target: offsetmap.Cluster{ID: b.Body.TargetID},
		Worker:      offsetmap.Worker{ProducerClusterID: b.Body.ProducerID},
		Connector:   offsetmap.Connector{Name: b.Body.Connector, SourceAlias: b.Body.SourceAlias},
		Acceptances: acceptances,
	}}
	for tp, at := range stored {
		p.Body.Rows = append(p.Body.Rows, offsetmap.Row{TopicPartition: tp, TopicID: ids[tp.Topic], Write: at.Restore()})
	}
	return p, nil
}
