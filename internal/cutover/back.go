package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// backBeforeTheStart rolls a plan back that was applied and never started:
// offsets as they were, absent ones absent, the connector gone, the target
// untouched, and the plan dead.
func backBeforeTheStart(ctx context.Context, w *world) error {
	topic, mig, plan, err := w.applied(ctx)
	if err != nil {
		return err
	}
	before, err := w.ends(ctx, topic)
	if err != nil {
		return err
	}
	back, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	if err := check(!back.Started && back.Deleted && back.Boundary == nil && len(back.Restored) == 2 && len(back.Untouched) == 2, "rollback: %+v", back); err != nil {
		return err
	}
	if _, err := w.connect.Connector(ctx, w.connector); !errors.Is(err, connectrest.ErrNotFound) {
		return fmt.Errorf("the connector is still there: %w", err)
	}
	if err := w.expectUntouched(ctx, before, topic); err != nil {
		return err
	}
	if again, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{}); err != nil || again.Started {
		return fmt.Errorf("rollback again: %+v, %w", again, err)
	}
	// Offsets outlive their connector: only a connector of the same name shows
	// that none was left behind.
	if _, err := mig.Create(ctx); err != nil {
		return err
	}
	if err := w.expectStored(ctx, map[topicPartition]string{}); err != nil {
		return err
	}
	return w.expectNoWayForward(ctx, mig, plan, topic)
}

// backToAnOlderOffset puts back what Connect held before the plan, and leaves a
// connector that was there before the migration.
func backToAnOlderOffset(ctx context.Context, w *world) error {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return err
	}
	// Somebody else made the connector and has used it before.
	config := w.config([]string{topic})
	if _, err := w.connect.CreateThenStop(ctx, connectrest.CreateRequest{Name: w.connector, Config: config, InitialState: connectrest.StateStopped}, connectrest.MirrorSourceIdle(config)); err != nil {
		return err
	}
	if err := w.alter(ctx, topicPartition{Topic: topic}, 20); err != nil {
		return err
	}
	accept := offsetmap.Acceptance{Check: "offsets/skip", Scope: topic + "-0:29", Reason: "the old mirror stood there", By: "suite"}
	_, err = mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40))))
	var blocked *offsetmap.BlockedError
	if !errors.As(err, &blocked) || len(blocked.Findings) != 1 || blocked.Findings[0].Check != accept.Check {
		return fmt.Errorf("a stored offset below the plan must block: %w", err)
	}
	accept.Scope = blocked.Findings[0].Scope
	plan, err := mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40)), accept))
	if err != nil {
		return err
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		return err
	}
	if err := w.expectStored(ctx, map[topicPartition]string{{Topic: topic}: "49", {Topic: topic, Partition: 1}: "39"}); err != nil {
		return err
	}
	back, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	if err := check(!back.Started && !back.Deleted, "rollback: %+v", back); err != nil {
		return err
	}
	return w.expectStored(ctx, map[topicPartition]string{{Topic: topic}: "20"})
}

// nothingCopied starts and stops a connector whose every C is the end. It
// leaves no trace in the offsets, and the old plan is refused all the same.
func nothingCopied(ctx context.Context, w *world) error {
	topic := w.topic("t")
	if err := w.create(ctx, 1, topic); err != nil {
		return err
	}
	if err := w.flinkCopied(ctx, topicPartition{Topic: topic}, 30, 30); err != nil {
		return err
	}
	mig, err := w.created(ctx, []string{topic})
	if err != nil {
		return err
	}
	plan, err := mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 30))))
	if err != nil {
		return err
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		return err
	}
	if _, err := mig.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"}); err != nil {
		return err
	}
	if err := w.expectNothingHappens(ctx, []string{topic}, func() error {
		_, err := mig.Apply(ctx, plan)
		return refusedFor(err, "journal/started")
	}); err != nil {
		return err
	}
	if err := w.connect.Stop(ctx, w.connector); err != nil {
		return err
	}
	if _, err := w.connect.AwaitStopped(ctx, w.connector); err != nil {
		return err
	}
	if err := w.expectStored(ctx, map[topicPartition]string{{Topic: topic}: "29"}); err != nil {
		return err
	}
	return w.expectNothingHappens(ctx, []string{topic}, func() error {
		_, err := mig.Apply(ctx, plan)
		return refusedFor(err, "journal/started")
	})
}

// planned brings a small migration up to the sealed plan.
func (w *world) planned(ctx context.Context) (string, *flinkmm2.Migration, *offsetmap.Plan, error) {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	if _, err := mig.Create(ctx); err != nil {
		return "", nil, nil, err
	}
	plan, err := mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40))))
	return topic, mig, plan, err
}

// applied brings a small migration up to the point before the start.
func (w *world) applied(ctx context.Context) (string, *flinkmm2.Migration, *offsetmap.Plan, error) {
	topic, mig, plan, err := w.planned(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	_, err = mig.Apply(ctx, plan)
	return topic, mig, plan, err
}

// small fills one topic of two partitions: one in the middle, one at its end.
func (w *world) small(ctx context.Context) (string, *flinkmm2.Migration, error) {
	topic := w.topic("t")
	if err := w.create(ctx, 2, topic); err != nil {
		return "", nil, err
	}
	if err := errors.Join(
		w.flinkCopied(ctx, topicPartition{Topic: topic}, 100, 50),
		w.flinkCopied(ctx, topicPartition{Topic: topic, Partition: 1}, 40, 40),
	); err != nil {
		return "", nil, err
	}
	mig, err := w.migration([]string{topic})
	return topic, mig, err
}

// expectBoundary holds the way back to one C' for each partition.
func expectBoundary(back *flinkmm2.RolledBack, want ...string) error {
	if err := check(back.Started && back.Boundary != nil, "rollback: %+v", back); err != nil {
		return err
	}
	got := make([]string, 0, len(want))
	for _, p := range back.Boundary.Partitions {
		got = append(got, p.Next.String())
	}
	return check(slices.Equal(got, want), "the boundary %v goes back to %v, want %v", back.Boundary.Partitions, got, want)
}
