package cutover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// editedInMemory changes a plan after it was sealed. Nothing acts on it.
func editedInMemory(ctx context.Context, w *world) error {
	topic, mig, plan, err := w.planned(ctx)
	if err != nil {
		return err
	}
	later, err := offsetmap.Next(70)
	if err != nil {
		return err
	}
	edited := *plan
	edited.Body.Rows = slices.Clone(plan.Body.Rows)
	row := &edited.Body.Rows[0]
	row.Found.Next, row.Next = later, later
	if row.Write, err = later.Write(); err != nil {
		return err
	}
	return w.expectNothingHappens(ctx, []string{topic}, func() error {
		_, apply := mig.Apply(ctx, &edited)
		_, start := mig.Start(ctx, &edited, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
		_, watch := mig.Watch(ctx, &edited, flinkmm2.WatchOptions{})
		_, back := mig.Rollback(ctx, &edited, flinkmm2.RollbackOptions{})
		_, none := mig.Apply(ctx, nil)
		for step, err := range map[string]error{"apply": apply, "start": start, "watch": watch, "rollback": back} {
			if !errors.Is(err, offsetmap.ErrEdited) {
				return fmt.Errorf("%s of a plan edited in memory: %w", step, err)
			}
		}
		return check(errors.Is(none, offsetmap.ErrPlan), "apply of no plan: %v", none)
	})
}

// readersAstray gives a migration record readers that lead to another cluster
// than its admin client: the target would be compared with itself.
func readersAstray(ctx context.Context, w *world) error {
	topic, _, plan, err := w.planned(ctx)
	if err != nil {
		return err
	}
	for side, stage := range map[string]Stage{
		"source": {Source: w.Target, Target: w.Target},
		"target": {Source: w.Source, Target: w.Source},
	} {
		astray, err := w.reading(stage, topic)
		if err != nil {
			return err
		}
		if _, err := astray.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40)))); !errors.Is(err, flinkmm2.ErrMoved) {
			return fmt.Errorf("a plan with readers of the %s astray: %w", side, err)
		}
		if _, err := astray.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience}); err == nil || errors.Is(err, flinkmm2.ErrProofFailed) {
			return fmt.Errorf("a watch with readers of the %s astray: %w", side, err)
		}
	}
	return nil
}

// writtenByHand sets an offset above the plan's on a connector that never ran.
// To take it for progress would send Flink past records that nobody copied.
func writtenByHand(ctx context.Context, w *world) error {
	topic, mig, plan, err := w.applied(ctx)
	if err != nil {
		return err
	}
	if err := w.alter(ctx, topicPartition{Topic: topic}, 90); err != nil {
		return err
	}
	return w.expectNothingHappens(ctx, []string{topic}, func() error {
		_, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
		return refusedFor(err, "offsets/changed")
	})
}

// deletedByHand deletes the connector, whose offsets stay. They cannot be put
// back without it, and a rollback must not say that they were.
func deletedByHand(ctx context.Context, w *world) error {
	topic, mig, plan, err := w.applied(ctx)
	if err != nil {
		return err
	}
	if err := w.curl(ctx, http.MethodDelete, "/connectors/"+w.connector, nil); err != nil {
		return err
	}
	if err := w.expectNothingHappens(ctx, []string{topic}, func() error {
		_, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
		return refusedFor(err, "connector/state")
	}); err != nil {
		return err
	}
	if _, err := mig.Create(ctx); err != nil { // the way out that the refusal names
		return err
	}
	if _, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{}); err != nil {
		return err
	}
	if _, err := mig.Create(ctx); err != nil {
		return err
	}
	return w.expectStored(ctx, map[topicPartition]string{})
}

// recreatedAfterTheStart deletes and creates the source topic while the
// connector runs. No offset of the old log leads anywhere in the new one.
func recreatedAfterTheStart(ctx context.Context, w *world) error {
	topic, mig, plan, err := w.started(ctx)
	if err != nil {
		return err
	}
	if err := w.recreate(ctx, topic, 200); err != nil {
		return err
	}
	_, err = mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	var blocked *offsetmap.BlockedError
	if !errors.As(err, &blocked) {
		return fmt.Errorf("rollback over a topic that was created again: %w", err)
	}
	named := slices.ContainsFunc(blocked.Findings, func(f offsetmap.Finding) bool { return f.Check == "source/topic-recreated" })
	if err := check(named, "the rollback does not name the new topic: %v", err); err != nil {
		return err
	}
	_, err = mig.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience})
	return check(errors.Is(err, flinkmm2.ErrNotProven), "a watch over a topic that was created again: %v", err)
}

// addedAfterTheStart adds a partition while the connector runs, which copies it
// from its first record. Flink gets a boundary for it too.
func addedAfterTheStart(ctx context.Context, w *world) error {
	topic, mig, plan, err := w.started(ctx)
	if err != nil {
		return err
	}
	r, err := w.admin.source.UpdatePartitions(ctx, 3, topic)
	if err := errors.Join(err, r.Error()); err != nil {
		return err
	}
	added := topicPartition{Topic: topic, Partition: 2}
	if err := w.withClient(w.Source, func(c producer) error { return produce(ctx, c, added, 0, 7) }); err != nil {
		return err
	}
	if err := w.until(ctx, func() (bool, error) {
		ends, err := w.ends(ctx, topic)
		return ends[added] == 7, err
	}); err != nil {
		return fmt.Errorf("the added partition was not copied: %w", err)
	}
	back, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	for _, p := range back.Boundary.Partitions {
		if p.TopicPartition == added {
			return check(p.Added && p.Next.String() == "7", "the added partition goes back to %s, want 7: %+v", p.Next, p)
		}
	}
	return fmt.Errorf("the boundary lacks the added partition: %+v", back.Boundary.Partitions)
}

// started brings a small migration up to where everything is copied.
func (w *world) started(ctx context.Context) (string, *flinkmm2.Migration, *offsetmap.Plan, error) {
	topic, mig, plan, err := w.applied(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	if _, err := mig.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"}); err != nil {
		return "", nil, nil, err
	}
	_, err = mig.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience})
	return topic, mig, plan, err
}
