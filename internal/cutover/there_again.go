package cutover

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// thereBackAndThereAgain migrates, goes back, lets Flink go on from C', and migrates again
// from the savepoint that Flink has written since. Over both runs every record is on the
// target once; a plan from the savepoint of the first time is refused.
func thereBackAndThereAgain(ctx context.Context, w *world) error {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return err
	}
	tps := []topicPartition{{Topic: topic}, {Topic: topic, Partition: 1}}
	if _, err := mig.Create(ctx); err != nil {
		return err
	}
	old := snapshot(stood(topic, 0, 50), stood(topic, 1, 40))
	first, err := w.startedAndProven(ctx, mig, old)
	if err != nil {
		return fmt.Errorf("there: %w", err)
	}
	back, err := mig.Rollback(ctx, first, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	handed, err := mig.HandBack(ctx, first, back.Boundary, flinkmm2.HandBack{
		Form: flinkmm2.FormInitializer, FlinkStopped: offsetmap.Attest(offsetmap.StoppedWithSavepoint, "suite", "there never was one"),
	})
	if err != nil {
		return err
	}
	// Flink goes on from C', to where its next savepoint stands; more comes behind it.
	for _, start := range handed.Partitions {
		c, _ := start.Next.Value()
		if err := errors.Join(
			produce(ctx, w.source, start.TopicPartition, int(c), int(c)+50),
			produce(ctx, w.target, start.TopicPartition, int(c), int(c)+30),
		); err != nil {
			return err
		}
	}
	if _, err := mig.MakePlan(ctx, request(old)); err == nil || !strings.Contains(err.Error(), "journal/handed-back") {
		return fmt.Errorf("a plan from the savepoint of the first time: %w", err)
	}
	later := snapshot(stood(topic, 0, 130), stood(topic, 1, 70))
	later.CheckpointID, later.Files[0].SHA256 = 8, strings.Repeat("fedcba9876543210", 4)
	second, err := w.startedAndProven(ctx, mig, later)
	if err != nil {
		return fmt.Errorf("there again: %w", err)
	}
	if err := w.expectDelivered(ctx, map[topicPartition]int64{tps[0]: 0, tps[1]: 0}, map[topicPartition]due{
		tps[0]: span(tps[0], 0, 150), tps[1]: span(tps[1], 0, 90),
	}); err != nil {
		return fmt.Errorf("the oracle, over both runs: %w", err)
	}
	again, err := mig.Rollback(ctx, second, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	if err := expectBoundary(again, "150", "90"); err != nil {
		return err
	}
	return errors.Join(w.expectNoWayForward(ctx, mig, first, topic), w.expectNoWayForward(ctx, mig, second, topic))
}

// startedAndProven plans from a savepoint, applies, starts, and proves what was copied.
func (w *world) startedAndProven(ctx context.Context, mig *flinkmm2.Migration, from *flinkstate.Snapshot) (*offsetmap.Plan, error) {
	req := request(from)
	plan, err := mig.MakePlan(ctx, req)
	if blocked, ok := errors.AsType[*offsetmap.BlockedError](err); ok { // the connector holds where it came to the first time, behind which Flink has gone on
		for _, f := range blocked.Findings {
			if f.Check != "offsets/skip" {
				return nil, err
			}
			req.Acceptances = append(req.Acceptances, offsetmap.Acceptance{Check: f.Check, Scope: f.Scope, By: "suite", Reason: "Flink has copied these"})
		}
		plan, err = mig.MakePlan(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		return nil, err
	}
	if err := start(ctx, mig, plan); err != nil {
		return nil, err
	}
	_, err = mig.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience})
	return plan, err
}
