package cutover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// theLine is the whole line of a migration: create, plan, apply twice, verify,
// start, watch until caught up, roll back; then the old plan can do nothing any
// more. Its partitions stand at every kind of C:
//
//	orders-0    in the middle of the log
//	orders-1    at 0, with records: a clear
//	orders-2    at the end: nothing to copy until more comes
//	orders-3    never read and empty: C = end = 0
//	payments-0  in a log whose beginning has expired
//	payments-1  never read, emptied by retention: C = end > 0
func theLine(ctx context.Context, w *world) error {
	orders, payments := w.topic("orders"), w.topic("payments")
	if err := w.fillTheLine(ctx, orders, payments); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	before, err := w.ends(ctx, orders, payments)
	if err != nil {
		return err
	}
	m, err := w.created(ctx, []string{orders, payments})
	if err != nil {
		return err
	}
	if again, err := m.Create(ctx); err != nil || !again.Existed {
		return fmt.Errorf("create again: existed %v, %w", again, err)
	}
	plan, err := m.MakePlan(ctx, request(snapshot(
		stood(orders, 0, 400), stood(orders, 1, 0), stood(orders, 2, 1000), unread(orders, 3, offsetmap.Earliest),
		stood(payments, 0, 120), unread(payments, 1, offsetmap.Committed),
	)))
	if err != nil {
		return err
	}
	if plan, err = w.throughAFile(plan); err != nil {
		return err
	}
	if err := w.applyTwiceAndVerify(ctx, m, plan, 4); err != nil {
		return err
	}
	if err := w.expectUntouched(ctx, before, orders, payments); err != nil {
		return fmt.Errorf("before the start: %w", err)
	}
	if _, err := m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"}); err != nil {
		return err
	}
	if err := errors.Join(
		produce(ctx, w.source, topicPartition{Topic: orders, Partition: 2}, 1000, 1010),
		produce(ctx, w.source, topicPartition{Topic: orders, Partition: 3}, 0, 5),
	); err != nil {
		return err
	}
	if err := w.expectCopied(ctx, before, map[topicPartition][2]int{
		{Topic: orders, Partition: 0}: {400, 1000}, {Topic: orders, Partition: 1}: {0, 300},
		{Topic: orders, Partition: 2}: {1000, 1010}, {Topic: orders, Partition: 3}: {0, 5},
		{Topic: payments, Partition: 0}: {120, 200}, {Topic: payments, Partition: 1}: {10, 10},
	}); err != nil && !w.blind {
		return fmt.Errorf("the oracle: %w", err)
	}
	proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience})
	if err != nil {
		return err
	}
	if err := check(proof.Records == 600+300+10+5+80 && proof.Missing == 0 && proof.Repeated == 0 && len(proof.Partitions) == 6,
		"the proof counts %d records, %d missing, %d repeated, %d partitions", proof.Records, proof.Missing, proof.Repeated, len(proof.Partitions)); err != nil {
		return err
	}
	if err := w.expectAccepted(ctx, m, plan, proof); err != nil {
		return fmt.Errorf("acceptance: %w", err)
	}
	return w.backFromTheLine(ctx, m, plan, orders, payments)
}

func start(ctx context.Context, m *flinkmm2.Migration, p *offsetmap.Plan) error {
	_, err := m.Start(ctx, p, flinkmm2.Approval{Digest: p.Digest, By: "suite"})
	return err
}

func (w *world) fillTheLine(ctx context.Context, orders, payments string) error {
	if err := errors.Join(w.create(ctx, 4, orders), w.create(ctx, 2, payments)); err != nil {
		return err
	}
	return errors.Join(
		w.flinkCopied(ctx, topicPartition{Topic: orders, Partition: 0}, 1000, 400),
		w.flinkCopied(ctx, topicPartition{Topic: orders, Partition: 1}, 300, 0),
		w.flinkCopied(ctx, topicPartition{Topic: orders, Partition: 2}, 1000, 1000),
		w.flinkCopied(ctx, topicPartition{Topic: payments, Partition: 0}, 200, 120),
		w.expire(ctx, topicPartition{Topic: payments, Partition: 0}, 50),
		w.flinkCopied(ctx, topicPartition{Topic: payments, Partition: 1}, 10, 0),
		w.expire(ctx, topicPartition{Topic: payments, Partition: 1}, 10),
	)
}

// backFromTheLine rolls back after the start, and holds that the old plan has
// no way forward any more and that nothing moves when it tries.
func (w *world) backFromTheLine(ctx context.Context, m *flinkmm2.Migration, plan *offsetmap.Plan, topics ...string) error {
	back, err := m.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	if err := check(back.Started && back.Boundary != nil && len(back.Boundary.Partitions) == len(plan.Body.Rows), "rollback after the start: %+v", back); err != nil {
		return err
	}
	want := map[string]string{
		topics[0] + "-0": "1000", topics[0] + "-1": "300", topics[0] + "-2": "1010", topics[0] + "-3": "5",
		topics[1] + "-0": "200", topics[1] + "-1": "10",
	}
	for _, p := range back.Boundary.Partitions {
		if err := check(p.Next.String() == want[p.String()], "%s: C' is %s, want %s", p.TopicPartition, p.Next, want[p.String()]); err != nil {
			return err
		}
	}
	return w.expectNoWayForward(ctx, m, plan, topics...)
}

// expectNoWayForward holds that a plan which was started is refused by apply
// and start, and that neither offsets, nor state, nor target move.
func (w *world) expectNoWayForward(ctx context.Context, m *flinkmm2.Migration, plan *offsetmap.Plan, topics ...string) error {
	return w.expectNothingHappens(ctx, topics, func() error {
		_, applied := m.Apply(ctx, plan)
		_, started := m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
		return errors.Join(
			check(errors.Is(applied, flinkmm2.ErrMoved), "apply of an old plan: %v", applied),
			check(errors.Is(started, flinkmm2.ErrMoved), "start of an old plan: %v", started),
		)
	})
}

// expectNothingHappens holds that stored offsets, the connector's state and the
// target are the same before and after do.
func (w *world) expectNothingHappens(ctx context.Context, topics []string, do func() error) error {
	before, err := w.visible(ctx, topics)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := w.visible(ctx, topics)
	if err != nil {
		return err
	}
	for k, v := range before {
		if after[k] != v {
			return fmt.Errorf("a refusal moved %s from %s to %s", k, v, after[k])
		}
	}
	return check(len(before) == len(after), "a refusal changed what is there from %v to %v", before, after)
}

func (w *world) visible(ctx context.Context, topics []string) (map[string]string, error) {
	out := map[string]string{}
	ends, err := w.ends(ctx, topics...)
	if err != nil {
		return nil, err
	}
	for tp, end := range ends {
		out["the end of target "+tp.String()] = strconv.FormatInt(end, 10)
	}
	// The status of a connector that is gone may show for a moment longer.
	if _, err := w.connect.Connector(ctx, w.connector); errors.Is(err, connectrest.ErrNotFound) {
		return out, nil
	}
	// In a rebalance, which others on the stage may cause, it is UNASSIGNED.
	var status connectrest.Status
	if err := w.until(ctx, func() (_ bool, err error) {
		status, err = w.connect.Status(ctx, w.connector)
		return status.Connector.State != connectrest.StateUnassigned, err
	}); err != nil {
		return nil, fmt.Errorf("connector %s in state %s: %w", w.connector, status.Connector.State, err)
	}
	out["the state"] = fmt.Sprintf("%s with %d tasks", status.Connector.State, len(status.Tasks))
	offsets, err := w.stored(ctx)
	for tp, m := range offsets {
		out["the stored offset of "+tp.String()] = m.String()
	}
	return out, err
}

// stored asks Connect for the offsets of this scenario's connector.
func (w *world) stored(ctx context.Context) (map[topicPartition]offsetmap.SourceOffset, error) {
	all, err := w.connect.AwaitStableOffsets(ctx, w.connector, 300*time.Millisecond, w.Patience)
	if err != nil {
		return nil, err
	}
	view, err := connectrest.MirrorSourceOffsets("source", all)
	if err != nil {
		return nil, err
	}
	return view.Stored, check(len(view.Foreign) == 0, "foreign offsets: %v", view.Foreign)
}

func (w *world) expectStored(ctx context.Context, want map[topicPartition]string) error {
	got, err := w.stored(ctx)
	if err != nil {
		return err
	}
	have := map[topicPartition]string{}
	for tp, m := range got {
		have[tp] = m.String()
	}
	return check(maps.Equal(have, want), "Connect holds %v, want %v", have, want)
}

// throughAFile writes the plan to a file and reads it back, as a program would.
func (w *world) throughAFile(plan *offsetmap.Plan) (*offsetmap.Plan, error) {
	path := filepath.Join(w.dir, "plan.json")
	if err := flinkmm2.WritePlan(path, plan); err != nil {
		return nil, err
	}
	return flinkmm2.ReadPlan(path)
}

// applyTwiceAndVerify expects the first apply to write so many offsets and the
// second none.
func (w *world) applyTwiceAndVerify(ctx context.Context, m *flinkmm2.Migration, plan *offsetmap.Plan, writes int) error {
	if _, err := m.Verify(ctx, plan); !errors.Is(err, flinkmm2.ErrMoved) {
		return fmt.Errorf("verify before apply: %w", err)
	}
	first, err := m.Apply(ctx, plan)
	if err != nil {
		return err
	}
	if err := check(len(first.Written) == writes, "the first apply wrote %v, want %d", first.Written, writes); err != nil {
		return err
	}
	second, err := m.Apply(ctx, plan)
	if err != nil {
		return fmt.Errorf("the second apply: %w", err)
	}
	if err := check(len(second.Written) == 0, "the second apply wrote %v", second.Written); err != nil {
		return err
	}
	want := map[topicPartition]string{}
	for _, r := range plan.Body.Rows {
		if !r.Write.IsClear() {
			want[r.TopicPartition] = r.Write.Result().String()
		}
	}
	if err := w.expectStored(ctx, want); err != nil && !w.blind {
		return fmt.Errorf("the oracle: %w", err)
	}
	_, err = m.Verify(ctx, plan)
	return err
}

// expectUntouched holds the target's ends to what they were.
func (w *world) expectUntouched(ctx context.Context, before map[topicPartition]int64, topics ...string) error {
	now, err := w.ends(ctx, topics...)
	if err != nil {
		return err
	}
	return check(maps.Equal(before, now), "the target moved from %v to %v", before, now)
}
