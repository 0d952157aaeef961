package cutover

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
)

// lockedByKafka has one hold the lock of a connector on the target, another come too late,
// and a third take over from one that was killed, on a person's word.
func lockedByKafka(ctx context.Context, w *world) error {
	lock, err := flinkmm2.NewKafkaLock(w.connector, kgo.SeedBrokers(w.Target))
	if err != nil {
		return err
	}
	who := flinkmm2.Owner{Connector: w.connector, By: "suite"}
	for range 2 { // the second finds the id as the first has left it
		held, err := lock.Acquire(ctx, who)
		if err != nil {
			return err
		}
		if _, err := lock.Acquire(ctx, who); !errors.Is(err, flinkmm2.ErrLocked) {
			return fmt.Errorf("two hold the lock: %w", err)
		}
		if err := errors.Join(held.Check(ctx), held.Release()); err != nil {
			return err
		}
	}
	killed, err := lock.Acquire(ctx, who)
	if err != nil {
		return err
	}
	if was, err := lock.Break(ctx); err != nil || !was {
		return fmt.Errorf("broken: %v: %w", was, err)
	}
	next, err := lock.Acquire(ctx, who)
	if err != nil {
		return err
	}
	lost := killed.Check(ctx)
	if err := errors.Join(next.Check(ctx), killed.Release(), next.Check(ctx), next.Release()); err != nil {
		return err
	}
	return check(errors.Is(lost, flinkmm2.ErrLockLost), "one whose lock was broken may go on: %v", lost)
}
