package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// FollowOptions says how to follow.
type FollowOptions struct {
	// Every is the time from the begin of one round to that of the next. By default,
	// one minute.
	Every time.Duration
	// BytesPerSecond bounds what is read of both clusters together, as it comes over
	// the network, on the average of some seconds. It must be above what is written
	// to both, or the rounds fall behind and say so. By default, it is not bounded.
	BytesPerSecond int64
	// For is how long to follow. By default, until the rollback window that the plan
	// attests has passed since the start.
	For time.Duration
	// Shard, Window and Checkpoint are as of WatchOptions.
	Shard      Shard
	Window     int
	Checkpoint CheckpointStore
	// Round is called after each round with the proof as it stands, and with what it
	// does not show, as Watch would return it. An error of Round ends the following,
	// which returns it. By default, not at all.
	Round func(p *Proof, verdict error) error
}

const (
	defaultEvery  = time.Minute
	looksOfARound = 10 // at least, or a round ends before it can tell
)

// Follow proves over and over, as long as a way back must exist, that the target
// has the source from C on. In each round the source's end is measured, and both
// sides are read on to there from where the round before stood: nothing is read
// twice, and memory depends on Window alone. A round whose end is not reached
// when the next is due says what is pending.
//
// The journal has the first round, each that ends otherwise than the one before, and
// the last.
//
// It returns the last proof. It ends when For has passed, with what the last round
// does not show; at the first round that shows a fault, with ErrProofFailed or
// ErrProgressWithoutRecords, since no round that follows can mend it; or with ctx.
func (m *Migration) Follow(ctx context.Context, plan *offsetmap.Plan, o FollowOptions) (*Proof, error) {
	w := WatchOptions{Shard: o.Shard, Window: o.Window, Checkpoint: o.Checkpoint}
	var lag lagSeries
	options, err := m.proofOptions(ctx, plan, w, &lag)
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	if options.Bound, err = m.followFor(ctx, plan, o.For); err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	options.Every, options.BytesPerSecond = o.Every, o.BytesPerSecond
	if o.Every == 0 {
		options.Every = defaultEvery
	}
	options.Interval = min(time.Second, max(options.Every, 0)/looksOfARound, options.Bound/looksOfARound)
	var last *Proof
	var verdict error
	var entered *Proof // the last that the journal has
	round := func(r proof.Report) error {
		last = m.proofNow(ctx, plan, w, r, &lag)
		verdict = m.verdict(ctx, "follow", last)
		if entered == nil || entered.Outcome != last.Outcome {
			entered, verdict = last, m.recordProof(ctx, last, verdict)
		}
		if o.Round != nil {
			if err := o.Round(last, verdict); err != nil {
				return err
			}
		}
		if errors.Is(verdict, ErrProofFailed) || errors.Is(verdict, ErrProgressWithoutRecords) {
			return errFault
		}
		return nil
	}
	options.Round = round
	report, err := proof.Run(ctx, options)
	if err == nil && (last == nil || report.Outcome == proof.Failed || report.Outcome == proof.Proven || report.Count(proof.PartitionUnread) > 0) {
		err = round(report) // else a round was cut off by the end, which is no lag
	}
	if err == nil || errors.Is(err, errFault) {
		err = verdict
	} else {
		err = fmt.Errorf("follow: %w", err)
	}
	if last != entered {
		err = m.recordProof(ctx, last, err)
	}
	return last, err
}

// errFault ends the rounds; the verdict says why.
var errFault = errors.New("a round shows a fault")

// followFor is how long to follow from now on.
func (m *Migration) followFor(ctx context.Context, plan *offsetmap.Plan, given time.Duration) (time.Duration, error) {
	switch {
	case given < 0:
		return 0, fmt.Errorf("for %s: want a duration above 0", given)
	case given > 0:
		return given, nil
	}
	attested := plan.Body.Attestations.RollbackWindow
	if attested == nil {
		return 0, errors.New("the plan attests no rollbackWindow: say for how long to follow")
	}
	window, err := time.ParseDuration(attested.Value)
	if err != nil {
		return 0, fmt.Errorf("the attested rollbackWindow: %w", err)
	}
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return 0, fmt.Errorf("the journal: %w", err)
	}
	for _, e := range entries {
		if e.Connector == m.cfg.Connector && e.Plan == plan.Digest && e.Act == actStart {
			left := e.At.Add(window).Sub(m.now())
			if left <= 0 {
				return 0, fmt.Errorf("the rollback window of %s has passed since the start at %s: say for how long to follow", window, e.At)
			}
			return left, nil
		}
	}
	return 0, errors.New("the journal has no start") // proofOptions found one
}
