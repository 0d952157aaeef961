package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// twoWaves moves orders and then payments under one connector, while records come to
// both without a pause; then payments goes back, and orders goes on. Nothing is lost of
// either, and payments begins at its C though the connector has run for long.
func twoWaves(ctx context.Context, w *world) error {
	orders, payments := w.topic("orders"), w.topic("payments")
	first := []topicPartition{{Topic: orders}, {Topic: orders, Partition: 1}}
	second := topicPartition{Topic: payments}
	all := append(slices.Clone(first), second)
	if err := errors.Join(w.create(ctx, 2, orders), w.create(ctx, 1, payments)); err != nil {
		return err
	}
	before, want := map[topicPartition]int64{}, map[topicPartition]due{}
	for _, tp := range all {
		before[tp] = 50
		if err := w.flinkCopied(ctx, tp, 100, 50); err != nil {
			return err
		}
	}
	producers := w.produceOnAndOn(ctx, 100, 5, 20*time.Millisecond, all...)
	defer producers.stop() //nolint:errcheck // asked below

	narrow, err := w.created(ctx, []string{orders})
	if err != nil {
		return err
	}
	one, err := w.planAndStart(ctx, narrow, request(snapshot(stood(orders, 0, 50), stood(orders, 1, 50))))
	if err != nil {
		return fmt.Errorf("the first wave: %w", err)
	}
	if err := w.awaitEnd(ctx, first[0], 150); err != nil {
		return err
	}
	w.selects = []string{orders, payments}
	wider, err := w.migration([]string{payments})
	if err != nil {
		return err
	}
	widened, err := wider.Widen(ctx, one, flinkmm2.WidenOptions{})
	if err != nil {
		return err
	}
	if err := check(widened.Put && slices.Equal(widened.Added, []string{payments}) && slices.Equal(widened.Halted, []string{orders}), "widened: %+v", widened); err != nil {
		return err
	}
	req := request(snapshot(stood(payments, 0, 50)))
	req.Earlier = []*offsetmap.Plan{one}
	two, err := w.planAndStart(ctx, wider, req)
	if err != nil {
		return fmt.Errorf("the second wave: %w", err)
	}
	if err := w.awaitEnd(ctx, second, 150); err != nil {
		return err
	}
	produced, err := producers.stop()
	if err != nil {
		return err
	}
	for _, tp := range all {
		want[tp] = span(tp, 50, produced[tp])
	}
	if _, err := w.expectNoLoss(ctx, before, want); err != nil {
		return fmt.Errorf("the oracle over both waves: %w", err)
	}
	for _, p := range []*offsetmap.Plan{one, two} {
		proof, err := wider.Watch(ctx, p, flinkmm2.WatchOptions{Within: w.Patience})
		if err != nil {
			return fmt.Errorf("the proof of %d partitions: %w", len(p.Body.Rows), err)
		}
		if err := check(proof.Missing == 0 && len(proof.Partitions) == len(p.Body.Rows), "the proof: %+v", proof); err != nil {
			return err
		}
	}
	return w.secondWaveGivenUp(ctx, one, two, wider, produced)
}

// secondWaveGivenUp takes payments back, and lets orders go on by its own config.
func (w *world) secondWaveGivenUp(ctx context.Context, one, two *offsetmap.Plan, wider *flinkmm2.Migration, produced map[topicPartition]int) error {
	orders, payments := w.topic("orders"), w.topic("payments")
	back, err := wider.Rollback(ctx, two, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	end := produced[topicPartition{Topic: payments}]
	if err := errors.Join(
		expectBoundary(back, strconv.Itoa(end)),
		check(slices.Equal(back.Halted, []string{orders}), "what stands still: %v", back.Halted),
	); err != nil {
		return err
	}
	w.selects = nil
	narrow, err := w.migration([]string{orders})
	if err != nil {
		return err
	}
	beside := flinkmm2.WidenOptions{GivenUp: []*offsetmap.Plan{two}}
	if _, err := narrow.Widen(ctx, one, beside); err != nil {
		return err
	}
	at := produced[topicPartition{Topic: orders}]
	if err := errors.Join(
		produce(ctx, w.source, topicPartition{Topic: orders}, at, at+20),
		produce(ctx, w.source, topicPartition{Topic: payments}, end, end+20), // Flink's, from now on
	); err != nil {
		return err
	}
	if _, err := narrow.Continue(ctx, one, flinkmm2.Approval{Digest: one.Digest, By: "suite"}, beside); err != nil {
		return err
	}
	before := map[topicPartition]int64{{Topic: orders}: 50, {Topic: payments}: 50}
	want := map[topicPartition]due{
		{Topic: orders}:   span(topicPartition{Topic: orders}, 50, at+20),
		{Topic: payments}: span(topicPartition{Topic: payments}, 50, end),
	}
	if _, err := w.expectNoLoss(ctx, before, want); err != nil {
		return fmt.Errorf("the oracle after the second wave was given up: %w", err)
	}
	return nil
}

func (w *world) planAndStart(ctx context.Context, m *flinkmm2.Migration, req flinkmm2.PlanRequest) (*offsetmap.Plan, error) {
	plan, err := m.MakePlan(ctx, req)
	if err != nil {
		return nil, err
	}
	if _, err := m.Apply(ctx, plan); err != nil {
		return nil, err
	}
	if _, err := m.Verify(ctx, plan); err != nil {
		return nil, err
	}
	return plan, start(ctx, m, plan)
}

// awaitEnd waits until the target has so many records of a partition.
func (w *world) awaitEnd(ctx context.Context, tp topicPartition, n int64) error {
	for {
		ends, err := w.ends(ctx, tp.Topic)
		if err != nil {
			return err
		}
		if ends[tp] >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the target has %d records of %s, want %d: %w", ends[tp], tp, n, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
