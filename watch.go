package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// WatchOptions says how to watch.
type WatchOptions struct {
	// Until is how far the watch goes. By default, to the source's end as it is
	// when the watch begins.
	Until Until
	// Shard is the part of the plan that is watched; see MergeProofs. By default,
	// all of it.
	Shard Shard
	// Within bounds the whole watch. By default, ten minutes.
	Within time.Duration
	// Quiet ends the watch before Within when nothing has come to the target for
	// so long, in any partition. A worker that was lost is replaced only after
	// scheduled.rebalance.max.delay.ms, five minutes by default.
	// By default, Within decides alone.
	Quiet time.Duration
	// Window is how many source records are remembered, over all partitions; see
	// ProofCounts.Older for what that bounds. Each takes some 60 bytes, and each
	// partition has 1024 at least. By default, 2^21.
	Window int
	// Checkpoint keeps how far the proof has come, so that the next watch of the
	// same plan goes on from there, to the source's end as it is then. By default,
	// each watch begins at C.
	Checkpoint CheckpointStore
	// Progress is called about once a second, from one goroutine. By default, not
	// at all.
	Progress func(WatchProgress)
}

// WatchProgress is how far a watch has come.
type WatchProgress struct {
	Partitions int // all of the plan
	Decided    int // those that need no more reading
	ProofCounts
}

const defaultWithin = 10 * time.Minute

// Watch proves that the target has the source from C on. For every partition it
// fixes the source's end as it is now (or as Until says), reads the source from C to there and the
// target from the end that was recorded before the start, and compares the whole
// sequences: which record came first, what is missing, repeated, altered or out
// of order. It waits until everything is there, or until Within has passed.
// MirrorMaker 2 delivers at least once: records that came twice are counted in
// Repeated, and do not fail the proof.
//
// The error says what the proof does not show: ErrProofFailed, ErrNoProgress
// (the connector runs and nothing comes), ErrProgressWithoutRecords (Connect
// counts records that are not there), or ErrNotProven, which also stands for
// a journal without a start record and for a migration with nothing to copy.
// With each of them the Proof is returned as well, when one was made.
//
// The outcome, and the SHA-256 of the proof as a file, stand in the journal.
func (m *Migration) Watch(ctx context.Context, plan *offsetmap.Plan, o WatchOptions) (*Proof, error) {
	p, err := m.watch(ctx, plan, o)
	return p, m.recordProof(ctx, p, err)
}

func (m *Migration) watch(ctx context.Context, plan *offsetmap.Plan, o WatchOptions) (*Proof, error) {
	var lag lagSeries
	options, err := m.proofOptions(ctx, plan, o, &lag)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	report, err := proof.Run(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	out := m.proofNow(ctx, plan, o, report, &lag)
	return out, m.verdict(ctx, "watch", out)
}

// proofOptions measures and joins what the proof of a plan needs.
func (m *Migration) proofOptions(ctx context.Context, plan *offsetmap.Plan, o WatchOptions, lag *lagSeries) (options proof.Options, err error) {
	if err := errors.Join(plan.Check(), o.Shard.validate()); err != nil {
		return options, err
	}
	read, _ := m.history(ctx, plan.Digest, false)
	h, ok := read.Get()
	switch {
	case !ok:
		return options, fmt.Errorf("%w: the journal could not be read: %w", ErrNotProven, read.Err())
	case h.StartEnds == nil:
		return options, fmt.Errorf("%w: the journal has no start record of plan %s, so nobody knows where the target ended before the start: call Start, or give the journal (connector %q) that it was started under", ErrNotProven, plan.Digest, m.cfg.Connector)
	}
	if err := errors.Join(
		m.readsFrom(ctx, "source", m.cfg.Source, plan.Body.Source.ID),
		m.readsFrom(ctx, "target", m.cfg.Target, plan.Body.Target.ID),
	); err != nil {
		return options, err
	}
	rows := o.Shard.rows(plan)
	if len(rows) == 0 {
		return options, fmt.Errorf("shard %s has no partition: the plan has %d", o.Shard, len(plan.Body.Rows))
	}
	partitions, err := m.toProve(ctx, plan, rows, h.StartEnds)
	if err != nil {
		return options, err
	}
	within := o.Within
	if within <= 0 {
		within = defaultWithin
	}
	options = proof.Options{
		Source:     proof.Cluster{Options: m.cfg.Source.Options, Isolation: plan.Body.Isolation, Admin: m.cfg.Source.Admin},
		Target:     proof.Cluster{Options: m.cfg.Target.Options, Isolation: offsetmap.ReadCommitted, Admin: m.cfg.Target.Admin},
		Partitions: partitions,
		Until:      o.Until.proof(),
		Bound:      within,
		Quiet:      max(0, o.Quiet),
		Window:     o.Window,
	}
	if o.Checkpoint != nil {
		if err := m.goOn(ctx, plan, o.Checkpoint, &options); err != nil {
			return options, fmt.Errorf("checkpoint: %w", err)
		}
	}
	options.Progress = func(p proof.Progress) {
		lag.add(LagPoint{At: offsetmap.At(m.now()), Lag: p.Lag, Unread: p.Unread, Copied: p.Counts.Copied})
		if o.Progress != nil {
			o.Progress(WatchProgress{Partitions: p.Partitions, Decided: p.Decided, ProofCounts: countsOf(p.Counts)})
		}
	}
	return options, nil
}

// proofNow is the proof of a report that was made just now.
func (m *Migration) proofNow(ctx context.Context, plan *offsetmap.Plan, o WatchOptions, r proof.Report, lag *lagSeries) *Proof {
	m.progressWithoutRecords(ctx, plan, &r)
	out := proofOf(plan, r)
	out.CreatedAt, out.Until = offsetmap.At(m.now()), o.Until
	if o.Shard.Of > 0 {
		out.Shard = &o.Shard
	}
	last := LagPoint{At: out.CreatedAt, Copied: r.Total.Copied}
	for _, p := range r.Partitions {
		last.Lag, last.Unread = last.Lag+p.Lag, last.Unread+p.Unread
	}
	lag.add(last)
	out.Lag = slices.Clone(lag.points)
	return out
}

// toProve fixes what each partition is to be proven for. A topic that was
// created again has no sequence to compare with.
func (m *Migration) toProve(ctx context.Context, plan *offsetmap.Plan, rows []offsetmap.Row, recorded endsByPartition) ([]proof.Partition, error) {
	names := map[string]bool{}
	for _, r := range rows {
		names[r.Topic] = true
	}
	topics := slices.Sorted(maps.Keys(names))
	source, err := fresh.Topics(ctx, m.cfg.Source.Admin, topics...)
	if err != nil {
		return nil, err
	}
	ranges, err := fresh.Ranges(ctx, m.cfg.Source.Admin, topics...)
	var unmeasured *fresh.UnmeasuredError
	if err != nil && !errors.As(err, &unmeasured) {
		return nil, err
	}
	var moved []offsetmap.Finding
	out := make([]proof.Partition, 0, len(rows))
	for _, r := range rows {
		block := func(check, format string, args ...any) {
			moved = append(moved, offsetmap.Finding{Check: check, Severity: offsetmap.Block, Scope: r.String(), Acceptable: offsetmap.Never, Detail: fmt.Sprintf(format, args...)})
		}
		rg := ranges[r.TopicPartition]
		end := rg.End
		if plan.Body.Isolation == offsetmap.ReadCommitted {
			end = rg.Stable
		}
		switch id := source.Topics[r.Topic].ID; {
		case id != r.TopicID:
			block("source/topic-recreated", "the topic's id is %s, the plan has %s: what was copied is gone from the source", id, r.TopicID)
		case end.IsNone():
			block("source/range-unknown", "the end could not be measured: %v", unmeasured.Reason(r.TopicPartition))
		}
		out = append(out, proof.Partition{
			Source: r.TopicPartition, Next: r.Next, End: end,
			Target:    offsetmap.TopicPartition{Topic: r.TargetTopic, Partition: r.Partition},
			TargetEnd: recorded[r.TopicPartition],
		})
	}
	if len(moved) > 0 {
		return nil, &RefusedError{Act: "watch", Findings: moved, kind: ErrNotProven}
	}
	return out, nil
}

// verdict is what a proof does not show, with what the connector says of itself.
func (m *Migration) verdict(ctx context.Context, act string, p *Proof) error {
	err := p.Err()
	if err == nil || p.Outcome == string(proof.NothingToCopy) {
		return prefixed(act, err)
	}
	stalled := slices.ContainsFunc(p.Partitions, func(one PartitionProof) bool {
		return one.Outcome == string(proof.PartitionPending) && one.Pending > 0 && one.First.IsNone()
	})
	said := ""
	if status, err := m.cfg.Connect.Status(ctx, m.cfg.Connector); err == nil {
		if trace := m.failure(ctx, status); trace != "" {
			said = "\n  " + trace
		} else if !running(status) {
			said = fmt.Sprintf("\n  connector %s is %s with %d tasks", m.cfg.Connector, status.Connector.State, len(status.Tasks))
		} else if stalled {
			said = fmt.Sprintf("\n  connector %s and its tasks say RUNNING, as they also do when the worker cannot read the source: look for warnings of authentication, authorization or TLS to the source in the worker's log (source.security.protocol, source.sasl.*, source.ssl.*, rights on the topics)", m.cfg.Connector)
		}
	}
	return fmt.Errorf("%s: %w%s", act, err, said)
}

func prefixed(act string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", act, err)
}
