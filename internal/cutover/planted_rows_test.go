package cutover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

func plantedFaults() []planted {
	record := func(topic string) connecttest.Record { return connecttest.Record{Topic: topic, Offset: 70} }
	altered := func(change func(*kgo.Record)) func(string) connecttest.Fault {
		return func(topic string) connecttest.Fault {
			return connecttest.AlterRecord{Record: record(topic), Change: change}
		}
	}
	return []planted{
		{fault: "none", step: "proof", by: throughTheLine},
		{fault: "none", onReal: true, step: "proof", by: throughTheLine},

		{fault: "the last record before C is not on the target", before: atTheBoundary(lastNotDelivered), step: "plan", by: "boundary/not-delivered", exit: flinkmm2.ExitBlocked},
		{fault: "C is one higher than what the old job delivered", c: [2]int64{51, 20}, step: "plan", by: "boundary/not-delivered", exit: flinkmm2.ExitBlocked},
		{fault: "records from C on are on the target", before: atTheBoundary(deliveredOnward), step: "plan", by: "boundary/delivered-beyond", exit: flinkmm2.ExitBlocked},
		{fault: "C is one lower than what the old job delivered", c: [2]int64{49, 20}, step: "plan", by: "boundary/delivered-beyond", exit: flinkmm2.ExitBlocked},

		{fault: "a record in the middle is dropped", copying: func(topic string) connecttest.Fault { return connecttest.DropRecord{Record: record(topic)} }, step: "proof", by: "failed, 1 missing", exit: flinkmm2.ExitProof},
		{fault: "a value is altered", copying: altered(func(r *kgo.Record) { r.Value = append(r.Value, '~') }), step: "proof", by: "failed, 1 altered (value)", exit: flinkmm2.ExitProof},
		{fault: "a key is altered", copying: altered(func(r *kgo.Record) { r.Key = nil }), step: "proof", by: "failed, 1 altered (key)", exit: flinkmm2.ExitProof},
		{fault: "a header is altered", copying: altered(func(r *kgo.Record) { r.Headers = nil }), step: "proof", by: "failed, 1 altered (headers)", exit: flinkmm2.ExitProof},
		{fault: "a timestamp is altered", copying: altered(func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(time.Millisecond) }), step: "proof", by: "failed, 1 altered (timestamp)", exit: flinkmm2.ExitProof},
		{fault: "a record is written twice", copying: func(topic string) connecttest.Fault { return connecttest.RepeatRecord{Record: record(topic)} }, step: "proof", by: "proven, 1 repeated"},
		{fault: "two records are swapped", copying: func(topic string) connecttest.Fault { return connecttest.SwapRecords{Record: record(topic)} }, step: "proof", by: "failed, 1 out of order", exit: flinkmm2.ExitProof},
		{fault: "a partition is silent", copying: func(topic string) connecttest.Fault { return connecttest.SilencePartition{Topic: topic} }, step: "proof", by: "not-proven, 50 not there", exit: flinkmm2.ExitNotProven},
		{fault: "the worker begins at M", copying: func(string) connecttest.Fault { return connecttest.WrongSeek{By: -1} }, step: "proof", by: "failed, 2 from before C", exit: flinkmm2.ExitProof},
		{fault: "the worker begins at M + 2", copying: func(string) connecttest.Fault { return connecttest.WrongSeek{By: 1} }, step: "proof", by: "failed, 2 missing", exit: flinkmm2.ExitProof},

		{fault: "M is set one lower between verify and start", behind: storedByHand(48), step: "start", by: "offsets/changed", exit: flinkmm2.ExitMoved},
		{fault: "M is set one higher between verify and start", behind: storedByHand(50), step: "start", by: "offsets/changed", exit: flinkmm2.ExitMoved},

		{fault: "the old job's producer is gone and has left a transaction open on the target", before: leftOpen, step: "plan", by: "target/open-transaction", exit: flinkmm2.ExitBlocked},
		{fault: "a transaction on the target hangs: its producer is fenced, and no coordinator knows of it", before: hangs, step: "plan", by: "target/open-transaction", exit: flinkmm2.ExitBlocked},
		{fault: "a transaction is left open on the target between verify and start", behind: leftOpen, step: "start", by: "target/ends-moved, target/open-transaction", exit: flinkmm2.ExitMoved},

		{fault: "C was read from the topic of equal name on the target", before: readOnTheTarget, c: [2]int64{75, 20}, step: "plan", by: "boundary/not-delivered", exit: flinkmm2.ExitBlocked},
		{fault: "the worker stands on the source cluster", onReal: true, swapped: true, step: "plan", by: "worker/producer-cluster", exit: flinkmm2.ExitBlocked},
		{fault: "the connector's alias is changed between verify and start", onReal: true, behind: func(ctx context.Context, w *world, topic string) error {
			return w.put(ctx, "/connectors/"+w.connector+"/config", w.configWith(topic, "source.cluster.alias", "old"))
		}, step: "start", by: "connector/config, connector/other-config", exit: flinkmm2.ExitMoved},
		{fault: "offsets are stored under another alias, and read back as if they were not", onReal: true, prepare: func(w *world) { w.client = aliasIgnored{w.connect} }, step: "proof", by: "failed, 70 from before C", exit: flinkmm2.ExitProof},
	}
}

// atTheBoundary changes what the old job has delivered of partition 0.
func atTheBoundary(change func(ctx context.Context, w *world, tp topicPartition) error) func(context.Context, *world, string) error {
	return func(ctx context.Context, w *world, topic string) error {
		return change(ctx, w, topicPartition{Topic: topic})
	}
}

// lastNotDelivered makes the target's topic anew, without the record at C - 1.
func lastNotDelivered(ctx context.Context, w *world, tp topicPartition) error {
	return w.deliveredAnew(ctx, tp.Topic, 0, 49)
}

// deliveredOnward is what a job leaves that was canceled after its last checkpoint.
func deliveredOnward(ctx context.Context, w *world, tp topicPartition) error {
	return produce(ctx, w.target, tp, 50, 53)
}

// readOnTheTarget has the target's log begin with 25 records of an earlier life of
// the topic: its end is no offset of the source, and within the source's range.
func readOnTheTarget(ctx context.Context, w *world, topic string) error {
	if err := w.deliveredAnew(ctx, topic, 25, 50); err != nil {
		return err
	}
	ends, err := w.ends(ctx, topic)
	if err != nil {
		return err
	}
	end := ends[topicPartition{Topic: topic}]
	return check(end == 75, "the target ends at %d, want 75", end)
}

// deliveredAnew makes the target's topic anew: so many records of somebody else
// in partition 0, then the source's before c.
func (w *world) deliveredAnew(ctx context.Context, topic string, others, c int) error {
	r, err := w.admin.target.DeleteTopics(ctx, topic)
	if err := errors.Join(err, r.Error()); err != nil {
		return err
	}
	if err := w.until(ctx, func() (bool, error) {
		listed, err := w.admin.target.ListTopics(kadm.WithAuthorizedOps(ctx), topic)
		return err == nil && !listed.Has(topic), err
	}); err != nil {
		return err
	}
	made, err := w.admin.target.CreateTopics(ctx, 2, 1, forever(), topic)
	if err := errors.Join(err, made.Error()); err != nil {
		return err
	}
	if err := w.until(ctx, func() (bool, error) {
		listed, err := w.admin.target.ListEndOffsets(ctx, topic)
		return err == nil && listed.Error() == nil && len(listed[topic]) == 2, nil
	}); err != nil {
		return err
	}
	tp := topicPartition{Topic: topic}
	return w.withClient(w.Target, func(fresh producer) error {
		for n := range others {
			r := record(tp, n)
			r.Value = fmt.Appendf(nil, "earlier/%d", n)
			if err := fresh.ProduceSync(ctx, r).FirstErr(); err != nil {
				return err
			}
		}
		return errors.Join(produce(ctx, fresh, tp, 0, c), produce(ctx, fresh, topicPartition{Topic: topic, Partition: 1}, 0, 20))
	})
}

func storedByHand(m int64) func(context.Context, *world, string) error {
	return func(ctx context.Context, w *world, topic string) error {
		return w.alter(ctx, topicPartition{Topic: topic}, m)
	}
}

// leftOpen has a producer write to the target within a transaction, and go.
func leftOpen(ctx context.Context, w *world, topic string) error {
	c, err := kgo.NewClient(append(clientOptions(w.Target), kgo.TransactionalID(topic+"-left"), kgo.TransactionTimeout(10*time.Minute))...)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.BeginTransaction(); err != nil {
		return err
	}
	return produce(ctx, c, topicPartition{Topic: topic}, 200, 203)
}
