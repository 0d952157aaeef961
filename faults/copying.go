package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// copying is a connector that copies what somebody produces all the time.
type copying struct {
	*trial
	cancel context.CancelFunc
	done   chan struct{}
	err    error // of the producer, valid once done is closed
	chance *rand.Rand
}

// copying brings the migration behind its start, under load.
func (tr *trial) copying(ctx context.Context) (*copying, error) {
	if err := tr.must(ctx, forward...); err != nil {
		return nil, err
	}
	return tr.underLoad(ctx), nil
}

// underLoad lets somebody produce to the source until all is counted.
func (tr *trial) underLoad(ctx context.Context) *copying {
	ctx, cancel := context.WithCancel(ctx)
	c := &copying{trial: tr, cancel: cancel, done: make(chan struct{}), chance: rand.New(rand.NewPCG(tr.Seed, 0))} //nolint:gosec // to be repeated, not to be guessed
	go func() {
		defer close(c.done)
		for ctx.Err() == nil && c.err == nil {
			// What was begun is finished, so that what is due is what the source has.
			c.err = tr.more(context.WithoutCancel(ctx))
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return c
}

// quiet ends the load.
func (c *copying) quiet() error {
	c.cancel()
	<-c.done
	return c.err
}

// until asks again and again, for a minute at most.
func until(ctx context.Context, what string, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		ok, err := ask()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(err, ctx.Err()))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// copied waits until so many records of every partition under load have come.
func (c *copying) copied(ctx context.Context, n int64) error { return c.beyond(ctx, n, c.before) }

// beyond waits until every partition under load has n records more than at other ends.
func (c *copying) beyond(ctx context.Context, n int64, than map[offsetmap.TopicPartition]int64) error {
	return until(ctx, fmt.Sprintf("%d more records of each partition copied", n), func() (bool, error) {
		ends, err := c.Ends(ctx, c.name)
		for p := range int32(3) {
			if err == nil && ends[c.at(p)] < than[c.at(p)]+n {
				return false, nil
			}
		}
		return err == nil, err
	})
}

// committed waits until the worker has committed an offset of every partition under load
// since the start.
func (c *copying) committed(ctx context.Context) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	return until(ctx, "an offset of every partition committed", func() (bool, error) {
		now := c.watch.stored()
		for _, row := range plan.Body.Rows {
			if row.Partition < 3 && now[row.TopicPartition] == row.Write.Result() {
				return false, nil
			}
		}
		return true, nil
	})
}

// atRest lists the target's ends once what was on its way has come.
func (c *copying) atRest(ctx context.Context) (ends map[offsetmap.TopicPartition]int64, err error) {
	err = until(ctx, "the target at rest", func() (bool, error) {
		last := ends
		time.Sleep(300 * time.Millisecond)
		ends, err = c.Ends(ctx, c.name)
		return err == nil && maps.Equal(last, ends), err
	})
	return ends, err
}

// uncommitted counts the records that the target has and Connect has not committed: so
// many come again when a worker begins anew at what is stored. Nothing may be on its way.
func (c *copying) uncommitted(ctx context.Context) (int, error) {
	stored := c.watch.stored()
	ends, err := c.atRest(ctx)
	return c.behind(stored, ends), err
}

// behind counts the records that lie between what is stored and the target's ends.
func (c *copying) behind(stored map[offsetmap.TopicPartition]offsetmap.SourceOffset, ends map[offsetmap.TopicPartition]int64) int {
	n := int64(0)
	for tp, from := range c.begin {
		next := from
		if m, ok := stored[tp].Value(); ok {
			next = m + 1
		}
		n += max(0, ends[tp]-c.before[tp]-(next-from))
	}
	return int(n)
}

// finish ends the load, lets the program prove what came, and counts.
func (c *copying) finish(ctx context.Context, out *Outcome) error {
	if err := c.quiet(); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	lost, repeated, err := c.count(ctx)
	if err != nil {
		return err
	}
	out.Lost, out.Repeated = lost, repeated
	proof, err := c.run(ctx, "watch")
	if err != nil {
		return err
	}
	out.Again = &proof
	if proof.Exit != 0 {
		return fmt.Errorf("watch: exit %d:\n%s", proof.Exit, proof.stderr)
	}
	out.Ends = finished
	return c.seen(out)
}
