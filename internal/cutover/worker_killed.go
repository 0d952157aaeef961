package cutover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// workerKilled kills the worker under load, at a moment that follows from the
// stage's seed. One connector has committed offsets since its start and copies
// on, another has only just been resumed. Nothing may be lost of either; what
// comes twice is counted, by the oracle and by the proof.
func workerKilled(ctx context.Context, w *world) error {
	random := rand.New(rand.NewPCG(w.Seed, 0)) //nolint:gosec // to be repeated, not to be guessed
	old, err := w.underLoad(ctx, "running")
	if err != nil {
		return err
	}
	young, err := w.underLoad(ctx, "resumed")
	if err != nil {
		return err
	}
	defer old.stop(context.WithoutCancel(ctx))
	defer young.stop(context.WithoutCancel(ctx))
	all := append(old.partitions(), young.partitions()...)
	producers := w.produceOnAndOn(ctx, filledWith, 20, 20*time.Millisecond, all...)
	defer producers.stop() //nolint:errcheck // asked below

	if err := old.start(ctx); err != nil {
		return err
	}
	if err := old.awaitCommit(ctx); err != nil {
		return fmt.Errorf("no offset was committed under load: %w", err)
	}
	mark, _, err := old.m.MarkRestart(ctx, old.plan, flinkmm2.WatchOptions{Within: w.Patience})
	if err != nil {
		return err
	}
	if err := young.start(ctx); err != nil {
		return err
	}
	if err := young.awaitCopied(ctx, copiedByFlink+random.IntN(5000)); err != nil {
		return err
	}
	w.kill()
	atKill, err := w.endsAtRest(ctx, old.topic, young.topic)
	if err != nil {
		return err
	}
	w.restart()
	if err := errors.Join(old.awaitCopied(ctx, int(atKill[old.partitions()[0]])), young.awaitCopied(ctx, int(atKill[young.partitions()[0]]))); err != nil {
		return fmt.Errorf("after the worker was started again: %w", err)
	}
	produced, err := producers.stop()
	if err != nil {
		return err
	}
	before, want := map[topicPartition]int64{}, map[topicPartition]due{}
	for _, tp := range all {
		d := span(tp, copiedByFlink, produced[tp])
		d.what = "offsets committed before the kill"
		if tp.Topic == young.topic {
			d.what = "killed before the first commit"
		}
		before[tp], want[tp] = copiedByFlink, d
	}
	repeated, err := w.expectNoLoss(ctx, before, want)
	if err != nil {
		return fmt.Errorf("the oracle: %w", err)
	}
	for _, tp := range all {
		copied := int(atKill[tp]) - copiedByFlink
		w.log("seed %d: %s: %d records copied when the worker was killed, %d in all, %d repeated", w.Seed, tp, copied, len(want[tp].records), repeated[tp])
		switch {
		case copied == 0:
			return fmt.Errorf("%s: nothing was copied before the kill", tp)
		case tp.Topic == young.topic && repeated[tp] != copied:
			return fmt.Errorf("%s: %d records were copied before the kill and %d came twice: C was not where the connector began again", tp, copied, repeated[tp])
		case tp.Topic == old.topic && repeated[tp] >= copied:
			return fmt.Errorf("%s: all %d records came twice, although offsets had been committed", tp, copied)
		}
	}
	return errors.Join(old.expectProof(ctx, want, repeated), young.expectProof(ctx, want, repeated), old.expectRestart(ctx, mark))
}

// expectRestart demands that the restart is shown where workers have a group, and
// that what cannot be seen is not taken for shown.
func (l *loaded) expectRestart(ctx context.Context, mark *flinkmm2.RestartMark) error {
	proof, err := l.m.AfterRestart(ctx, l.plan, mark, flinkmm2.WatchOptions{Within: l.Patience})
	if inMemory := l.Compact != nil; inMemory {
		if !errors.Is(err, flinkmm2.ErrNotProven) {
			return fmt.Errorf("a restart that nothing shows: %w", err)
		}
	} else if err != nil {
		return fmt.Errorf("the restart of the worker is not shown: %w", err)
	}
	r := proof.Restart
	l.log("since the mark %d records copied, %d repeated of at most %d, tasks %+v", r.Copied, r.Repeated, r.Allowed, r.Tasks)
	if r.Copied <= 0 || r.Repeated < 0 || r.Repeated > r.Allowed {
		return fmt.Errorf("since the mark %d records were copied and %d repeated, at most %d", r.Copied, r.Repeated, r.Allowed)
	}
	return nil
}

// endsAtRest lists the target's ends once what was on its way has come.
func (w *world) endsAtRest(ctx context.Context, topics ...string) (ends map[topicPartition]int64, err error) {
	err = w.until(ctx, func() (bool, error) {
		last := ends
		if ends, err = w.ends(ctx, topics...); err != nil {
			return false, err
		}
		return maps.Equal(last, ends), nil
	})
	return ends, err
}

const (
	filledWith    = 2000 // records of a source partition before the load begins
	copiedByFlink = 1000 // those of them that the target has
)

// loaded is a migration whose topic somebody produces to all the time.
type loaded struct {
	*world
	topic string
	m     *flinkmm2.Migration
	plan  *offsetmap.Plan
}

// underLoad brings a migration up to the point before its start. It has names
// and a journal of its own.
func (w *world) underLoad(ctx context.Context, name string) (*loaded, error) {
	own := *w
	own.connector += "-" + name
	own.dir = filepath.Join(w.dir, name)
	l := &loaded{world: &own, topic: w.topic(name)}
	if err := errors.Join(os.Mkdir(own.dir, 0o700), w.create(ctx, 3, l.topic)); err != nil {
		return nil, err
	}
	positions := make([]offsetmap.Position, 0, 3)
	for _, tp := range l.partitions() {
		if err := w.flinkCopied(ctx, tp, filledWith, copiedByFlink); err != nil {
			return nil, err
		}
		positions = append(positions, stood(tp.Topic, tp.Partition, copiedByFlink))
	}
	var err error
	if l.m, err = own.migration([]string{l.topic}); err != nil {
		return nil, err
	}
	if _, err = l.m.Create(ctx); err != nil {
		return nil, err
	}
	if l.plan, err = l.m.MakePlan(ctx, request(snapshot(positions...))); err != nil {
		return nil, err
	}
	_, err = l.m.Apply(ctx, l.plan)
	return l, err
}

func (l *loaded) partitions() []topicPartition {
	return []topicPartition{{Topic: l.topic}, {Topic: l.topic, Partition: 1}, {Topic: l.topic, Partition: 2}}
}

func (l *loaded) start(ctx context.Context) error { return start(ctx, l.m, l.plan) }

// awaitCopied waits until the first partition of the target ends behind n, and
// the others behind what Flink copied.
func (l *loaded) awaitCopied(ctx context.Context, n int) error {
	return l.until(ctx, func() (bool, error) {
		ends, err := l.ends(ctx, l.topic)
		for tp, end := range ends {
			if end <= copiedByFlink || (tp.Partition == 0 && end <= int64(n)) {
				return false, err
			}
		}
		return true, err
	})
}

// awaitCommit waits until the worker has committed an offset of every partition.
func (l *loaded) awaitCommit(ctx context.Context) error {
	return l.until(ctx, func() (bool, error) {
		now, err := l.stored(ctx)
		for _, row := range l.plan.Body.Rows {
			if now[row.TopicPartition] == row.Write.Result() {
				return false, err
			}
		}
		return true, err
	})
}

func (l *loaded) expectProof(ctx context.Context, want map[topicPartition]due, repeated map[topicPartition]int) error {
	proof, err := l.m.Watch(ctx, l.plan, flinkmm2.WatchOptions{Within: l.Patience})
	if err != nil {
		return err
	}
	own := map[topicPartition]due{}
	for _, tp := range l.partitions() {
		own[tp] = want[tp]
	}
	return expectProof(proof, own, repeated)
}
