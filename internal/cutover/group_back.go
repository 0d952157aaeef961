package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// backToTheGroup goes back after a start by the committed offsets of the old
// job's group: what reads from them then, as Flink's source does, reads exactly
// the records from C' on. A group that has ever had a member is refused.
func backToTheGroup(ctx context.Context, w *world) error {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return err
	}
	group := w.prefix + ".copy"
	if err := w.commitOffsets(ctx, group, map[topicPartition]int64{{Topic: topic}: 45}); err != nil { // its last checkpoint; of an unread partition, nothing
		return err
	}
	if _, err := mig.Create(ctx); err != nil {
		return err
	}
	req := request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40)))
	req.Group = group
	plan, err := mig.MakePlan(ctx, req)
	if err != nil {
		return err
	}
	before, err := w.ends(ctx, topic)
	if err != nil {
		return err
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		return err
	}
	if _, err := mig.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"}); err != nil {
		return err
	}
	if err := w.expectCopied(ctx, before, map[topicPartition][2]int{{Topic: topic}: {50, 100}, {Topic: topic, Partition: 1}: {40, 40}}); err != nil {
		return fmt.Errorf("the oracle: %w", err)
	}
	back, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		return err
	}
	if err := w.expectBusyGroupRefused(ctx, mig, plan, back.Boundary, topic); err != nil {
		return err
	}
	word := flinkmm2.GroupReturn{Group: group, FlinkStopped: offsetmap.Attest(offsetmap.StoppedWithSavepoint, "suite", "there never was one")}
	handed, err := mig.CommitBoundary(ctx, plan, back.Boundary, word)
	if err != nil {
		return err
	}
	if err := check(handed.Written && handed.Expiry.Earliest != nil && handed.Expiry.Earliest.After(time.Now()) && handed.Partitions[0].Before.String() == "45",
		"committed: %+v", handed); err != nil {
		return err
	}
	if again, err := mig.CommitBoundary(ctx, plan, back.Boundary, word); err != nil || again.Written {
		return fmt.Errorf("committed again: %+v, %w", again, err)
	}
	// What comes now is Flink's, from C' on and nothing else.
	if err := errors.Join(
		produce(ctx, w.source, topicPartition{Topic: topic}, 100, 110),
		produce(ctx, w.source, topicPartition{Topic: topic, Partition: 1}, 40, 45),
	); err != nil {
		return err
	}
	got, err := w.readFromGroup(ctx, group, topic, 15)
	if err != nil {
		return err
	}
	var want []string
	for n := range 10 {
		want = append(want, fmt.Sprintf("%s-0@%d", topic, 100+n))
	}
	for n := range 5 {
		want = append(want, fmt.Sprintf("%s-1@%d", topic, 40+n))
	}
	if err := check(slices.Equal(got, want), "from the group's offsets %v was read, want %v", got, want); err != nil {
		return err
	}
	return w.expectNoWayForward(ctx, mig, plan, topic)
}

// expectBusyGroupRefused holds that a group is refused while it has a member,
// and afterwards, when its offsets would expire by when that one left.
func (w *world) expectBusyGroupRefused(ctx context.Context, mig *flinkmm2.Migration, plan *offsetmap.Plan, b *flinkmm2.Boundary, topic string) error {
	group := w.prefix + ".busy"
	commit := func(group, id string) error {
		_, err := mig.CommitBoundary(ctx, plan, b, flinkmm2.GroupReturn{Group: group, FlinkStopped: offsetmap.Attest(offsetmap.Canceled, "suite", "it is said")})
		var blocked *offsetmap.BlockedError
		if !errors.As(err, &blocked) || len(blocked.Findings) != 1 || blocked.Findings[0].Check != id {
			return fmt.Errorf("want a block by %s, got %w", id, err)
		}
		return nil
	}
	join := func(group string, opts ...kgo.Opt) (leave func(), err error) {
		c, err := kgo.NewClient(append(append(clientOptions(w.Source), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit()), opts...)...)
		if err != nil {
			return nil, err
		}
		if err := w.until(ctx, w.groupIs(ctx, group, "Stable")); err != nil {
			c.Close()
			return nil, err
		}
		return c.Close, nil
	}
	leave, err := join(group)
	if err != nil {
		return err
	}
	err = commit(group, "rollback/group-active")
	leave()
	if err := errors.Join(err, w.until(ctx, w.groupIs(ctx, group, "Empty"))); err != nil {
		return err
	}
	if err := commit(group, "rollback/group-expiring"); err != nil {
		return err
	}
	// Of the new protocol where brokers have it (KIP-848): those describe such a
	// group as none, and list it.
	nextGeneration := context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true) //nolint:revive,staticcheck // kgo's own key
	leave, err = join(group+"-848", kgo.WithContext(nextGeneration))
	if err != nil {
		return err
	}
	defer leave()
	return commit(group+"-848", "rollback/group-active")
}

func (w *world) groupIs(ctx context.Context, group, state string) func() (bool, error) {
	return func() (bool, error) {
		listed, err := w.admin.source.ListGroups(ctx) // of every protocol
		return listed[group].State == state, err
	}
}

func (w *world) commitOffsets(ctx context.Context, group string, at map[topicPartition]int64) error {
	var offsets kadm.Offsets
	for tp, o := range at {
		offsets.AddOffset(tp.Topic, tp.Partition, o, -1)
	}
	return w.admin.source.CommitAllOffsets(ctx, group, offsets)
}

// readFromGroup reads the source as KafkaSource does from committed offsets: it
// asks what the group has committed, assigns the partitions to itself, and seeks
// (OffsetsInitializer.committedOffsets). A partition without an offset is an
// error, as it is there. It returns n records or more, "topic-0@100", sorted.
func (w *world) readFromGroup(ctx context.Context, group, topic string, n int) ([]string, error) {
	fetched, err := w.admin.source.FetchOffsets(ctx, group)
	if err != nil {
		return nil, err
	}
	at := map[int32]kgo.Offset{}
	for p := range int32(2) {
		o, there := fetched.Lookup(topic, p)
		if !there || o.At < 0 {
			return nil, fmt.Errorf("group %s has no offset of %s-%d: %w", group, topic, p, kerr.OffsetOutOfRange)
		}
		at[p] = kgo.NewOffset().At(o.At)
	}
	c, err := kgo.NewClient(append(clientOptions(w.Source), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: at}))...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, w.Patience)
	defer cancel()
	byPartition := map[int32][]string{}
	for read := 0; read < n; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return nil, fmt.Errorf("%d of %d records came: %w", read, n, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			byPartition[r.Partition] = append(byPartition[r.Partition], fmt.Sprintf("%s-%d@%d", r.Topic, r.Partition, r.Offset))
			read++
		})
	}
	return slices.Concat(byPartition[0], byPartition[1]), nil
}
