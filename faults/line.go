package faults

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// finished is how a migration ends that a fault has not kept from its way.
const finished = "finished"

// forward are the steps to a connector that copies.
var forward = []string{"create", "plan", "apply", "verify", "start"}

// way returns the steps that a migration takes to the given one and, if that is a step
// forward, on to the start.
func way(step string) (to, on []string) {
	if n := slices.Index(forward, step); n >= 0 {
		return forward[:n], forward[n+1:]
	}
	switch step {
	case "rollback before the start":
		return forward[:len(forward)-1], nil
	case "rollback after the start":
		return forward, nil
	default: // a boundary is handed to Flink
		return append(slices.Clone(forward), "rollback"), nil
	}
}

// upTo brings the migration to the point before a step.
func (tr *trial) upTo(ctx context.Context, step string) error {
	to, _ := way(step)
	for _, s := range to {
		if err := tr.must(ctx, s); err != nil {
			return err
		}
		if s != "start" {
			continue
		}
		if lost, repeated, err := tr.count(ctx); err != nil || lost+repeated > 0 {
			return fmt.Errorf("before the fault %d records were lost and %d repeated: %w", lost, repeated, err)
		}
	}
	if step == "rollback before the start" {
		tr.watch.stop() // what was written is taken back
	}
	return nil
}

// goOn runs the step again and the rest of the way, and counts.
func (tr *trial) goOn(ctx context.Context, step string, out *Outcome) error {
	args, err := tr.args(step)
	if err != nil {
		return err
	}
	if err := tr.assigned(ctx); err != nil {
		return err
	}
	again, err := tr.run(ctx, args...)
	if err != nil {
		return err
	}
	out.Again = &again
	if again.Exit != 0 {
		return fmt.Errorf("%s again: exit %d:\n%s", step, again.Exit, again.stderr)
	}
	_, on := way(step)
	if err := tr.must(ctx, on...); err != nil {
		return err
	}
	out.Ends = finished
	return tr.judge(ctx, step, out)
}

// assigned waits until some worker has the connector, if there is one. While a worker comes
// back to its group its connectors are nobody's, and a step refuses; a Job tries again later.
func (tr *trial) assigned(ctx context.Context) error {
	return until(ctx, "a worker has the connector", func() (bool, error) {
		status, err := tr.World.Connect().Status(ctx, tr.name)
		if errors.Is(err, connectrest.ErrNotFound) || errors.Is(err, connectrest.ErrNoStatus) {
			return true, nil
		}
		return err == nil && status.Connector.State != connectrest.StateUnassigned, err
	})
}

// judge counts where a step that was finished has led to.
func (tr *trial) judge(ctx context.Context, step string, out *Outcome) (err error) {
	switch step {
	case "rollback before the start":
		err = tr.asItWas(ctx)
	case "rollback after the start", "hand back to a group", "rewrite the savepoint":
		out.Lost, out.Repeated, err = tr.handedBack(ctx, step)
	default:
		out.Lost, out.Repeated, err = tr.count(ctx)
	}
	return errors.Join(err, tr.seen(out))
}

// seen takes over what was rewound.
func (tr *trial) seen(out *Outcome) error {
	rewound, looks := tr.watch.seen()
	for _, one := range rewound {
		tr.note("%s", one)
	}
	out.Rewound = len(rewound)
	if looks == 0 {
		return errors.New("nobody has seen what Connect stores")
	}
	return nil
}

// more is what is written to the source after the start, so that the connector has to
// show that it lives.
func (tr *trial) more(ctx context.Context) error {
	for p, n := range []int{10, 3, 4} {
		tp := tr.at(int32(p))
		s := tr.due[tp]
		if err := tr.Produce(ctx, tp, s.To, s.To+n); err != nil {
			return err
		}
		s.To += n
		tr.due[tp] = s
	}
	return nil
}

// count asks the oracle what became of all that is due, and of more.
func (tr *trial) count(ctx context.Context) (lost, repeated int, err error) {
	if err := tr.more(ctx); err != nil {
		return 0, 0, err
	}
	all, err := tr.Tally(ctx, tr.before, tr.due)
	if err != nil {
		return 0, 0, err
	}
	for tp, t := range all {
		lost, repeated = lost+t.Missing, repeated+t.Repeated
		err = errors.Join(err, t.Strange)
		if t.Missing+t.Repeated > 0 {
			tr.note("%s: %d missing, %d repeated, the first copied is %s", tp, t.Missing, t.Repeated, t.First)
		}
	}
	return lost, repeated, err
}

// asItWas holds that a rollback before the start has left nothing: no connector, no
// record on the target, and, for a connector of that name, no offset.
func (tr *trial) asItWas(ctx context.Context) error {
	if _, err := tr.World.Connect().Connector(ctx, tr.name); !errors.Is(err, connectrest.ErrNotFound) {
		return fmt.Errorf("the connector that create made is there after the rollback: %w", err)
	}
	now, err := tr.Ends(ctx, tr.name)
	if err != nil {
		return err
	}
	for tp, end := range now {
		if end != tr.before[tp] {
			return fmt.Errorf("the target's end of %s moved from %d to %d, and nothing was started", tp, tr.before[tp], end)
		}
	}
	if err := tr.must(ctx, "create"); err != nil { // offsets outlive their connector
		return err
	}
	stored, err := tr.World.Connect().Offsets(ctx, tr.name)
	if err == nil && len(stored) > 0 {
		err = fmt.Errorf("%d offsets are stored after the rollback, and none were before", len(stored))
	}
	return err
}

// handedBack counts what is lost and repeated if Flink goes on where it was told to.
func (tr *trial) handedBack(ctx context.Context, step string) (lost, repeated int, err error) {
	next, err := tr.flinkGoesOn(ctx, step)
	if err != nil {
		return 0, 0, err
	}
	all, err := tr.Tally(ctx, tr.before, tr.due)
	if err != nil {
		return 0, 0, err
	}
	for tp, s := range tr.due {
		c, known := next[tp]
		if !known {
			return 0, 0, fmt.Errorf("%s: nothing says where Flink goes on", tp)
		}
		at, ok := c.Value()
		if !ok {
			return 0, 0, fmt.Errorf("%s: Flink has no offset to go on at", tp)
		}
		copied := map[int]bool{}
		for _, n := range all[tp].Copied {
			if copied[n] || n >= int(at) {
				repeated++
			}
			copied[n] = true
		}
		for n := s.From; n < min(s.To, int(at)); n++ {
			if !copied[n] {
				lost++
			}
		}
		if int(at) > s.To {
			return lost, repeated, fmt.Errorf("%s: Flink goes on at %d, and the source ends at %d", tp, at, s.To)
		}
	}
	return lost, repeated, nil
}

// flinkGoesOn says where the step has told Flink to go on.
func (tr *trial) flinkGoesOn(ctx context.Context, step string) (map[offsetmap.TopicPartition]offsetmap.NextOffset, error) {
	next := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	switch step {
	case "hand back to a group":
		committed, err := tr.World.Source().FetchOffsets(ctx, tr.group())
		if err != nil {
			return nil, err
		}
		for _, o := range committed.Sorted() {
			if o.Err != nil {
				return nil, o.Err
			}
			if next[offsetmap.TopicPartition{Topic: o.Topic, Partition: o.Partition}], err = offsetmap.Next(o.At); err != nil {
				return nil, err
			}
		}
	case "rewrite the savepoint":
		s, err := flinkstate.ReadDir(filepath.Join(tr.dir, "rewritten"))
		if err != nil {
			return nil, err
		}
		for _, p := range s.Sources[0].Partitions {
			next[p.TopicPartition] = p.Next
		}
	default:
		b, err := flinkmm2.ReadBoundary(filepath.Join(tr.dir, "state", "boundary.json"))
		if err != nil {
			return nil, err
		}
		for _, p := range b.Partitions {
			next[p.TopicPartition] = b.Next(p.TopicPartition)
		}
	}
	return next, nil
}
