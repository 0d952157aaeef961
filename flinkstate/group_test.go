package flinkstate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var _ flinkstate.GroupAdmin = (*kadm.Client)(nil)

// groupBroker is a broker with topic orders, of three partitions, and payments,
// of one.
func groupBroker(t *testing.T) (*kfake.Cluster, *kgo.Client, *kadm.Client) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "orders"), kfake.SeedTopics(1, "payments"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return c, client, kadm.NewClient(client)
}

func commit(t *testing.T, admin *kadm.Client, group string, offsets map[offsetmap.TopicPartition]int64) {
	t.Helper()
	all := kadm.Offsets{}
	for tp, at := range offsets {
		all.AddOffset(tp.Topic, tp.Partition, at, -1)
	}
	if err := admin.CommitAllOffsets(t.Context(), group, all); err != nil {
		t.Fatal(err)
	}
}

func orders(n int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: "orders", Partition: n}
}

// hiding is an admin client that may not see one topic, as where it may describe
// the group alone.
type hiding struct {
	*kadm.Client
	topic string
}

func (h hiding) Metadata(ctx context.Context, topics ...string) (kadm.Metadata, error) {
	m, err := h.Client.Metadata(ctx, topics...)
	delete(m.Topics, h.topic)
	return m, err
}

func TestGroupWithPartitionsThatItNeverCommitted(t *testing.T) {
	t.Parallel()
	_, _, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(2): 7, orders(0): 0, {Topic: "payments"}: 12})
	all, err := flinkstate.ReadGroup(t.Context(), hiding{admin, "payments"}, "copy")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for tp, next := range all.Committed() {
		got[tp.String()] = next.String()
	}
	want := map[string]string{"orders-0": "0", "orders-2": "7", "payments-0": "12"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("committed (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(all.Positions, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) }) {
		t.Errorf("not sorted: %v", all.Positions)
	}
	if diff := cmp.Diff([]offsetmap.TopicPartition{orders(1)}, all.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	var codes []flinkstate.WarningCode
	for _, w := range all.Warnings {
		codes = append(codes, w.Code)
	}
	if diff := cmp.Diff([]flinkstate.WarningCode{flinkstate.CommitMissing, flinkstate.CommitWithoutTopic}, codes); diff != "" {
		t.Errorf("warnings (-want +got):\n%s\n%v", diff, all.Warnings)
	}
	if text := all.Warnings[0].Text; !strings.Contains(text, "orders-1") || strings.Contains(text, "orders-2") {
		t.Errorf("the warning is %q", text)
	}

	one, err := flinkstate.ReadGroup(t.Context(), admin, "copy", "orders")
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Positions) != 2 || one.Positions[0].TopicPartition != orders(0) || len(one.Missing) != 1 {
		t.Errorf("of orders alone: %+v", one)
	}
}

func TestGroupThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	_, _, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5})
	for name, c := range map[string]struct {
		group  string
		topics []string
		want   error
		text   string
	}{
		"unknown group":          {group: "copi", want: flinkstate.ErrNoGroup, text: "copi"},
		"no name":                {text: "no name"},
		"no commit of the topic": {group: "copy", topics: []string{"payments"}, want: flinkstate.ErrNoCommit, text: "payments"},
		"topic that does not exist": {
			group: "copy", topics: []string{"orders", "order"}, want: kerr.UnknownTopicOrPartition, text: "topic order:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := flinkstate.ReadGroup(t.Context(), admin, c.group, c.topics...)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %+v, error %v, want %v", got, err, c.want)
			}
		})
	}
}

// A group that has been joined exists, though it has committed nothing.
func TestGroupWithoutACommitIsNotAnUnknownOne(t *testing.T) {
	t.Parallel()
	c, _, admin := groupBroker(t)
	member, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumerGroup("joined"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(member.Close)
	for deadline := time.Now().Add(20 * time.Second); ; {
		poll, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		member.PollFetches(poll)
		cancel()
		_, err := flinkstate.ReadGroup(t.Context(), admin, "joined")
		switch {
		case errors.Is(err, flinkstate.ErrNoCommit):
			return
		case !errors.Is(err, flinkstate.ErrNoGroup):
			t.Fatalf("a group that is being joined: %v", err)
		case time.Now().After(deadline):
			t.Fatalf("the group was joined and is still unknown: %v", err)
		}
	}
}

// An offset that an open transaction holds may never become the group's. It is
// no answer, and the older one that it would replace is none either.
func TestOffsetOfAnOpenTransactionIsNotTaken(t *testing.T) {
	t.Parallel()
	c, client, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5})
	if got, err := flinkstate.ReadGroup(t.Context(), admin, "copy"); err != nil || got.Committed()[orders(0)].String() != "5" {
		t.Fatalf("before the transaction: %+v, %v", got, err)
	}
	asked := 0
	c.ControlKey(int16(kmsg.OffsetFetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if r.(*kmsg.OffsetFetchRequest).RequireStable {
			asked++
		}
		return nil, nil, false
	})
	openTransactionWithOffset(t, client, "copy", 9)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	got, err := flinkstate.ReadGroup(ctx, admin, "copy")
	if !errors.Is(err, kerr.UnstableOffsetCommit) {
		t.Errorf("got %+v, error %v", got, err)
	}
	if asked == 0 {
		t.Error("stable offsets were not asked for")
	}
}

// openTransactionWithOffset leaves an offset of orders-0 in a transaction that
// stays open.
func openTransactionWithOffset(t *testing.T, client *kgo.Client, group string, at int64) {
	t.Helper()
	id := "producer"
	init := kmsg.NewPtrInitProducerIDRequest()
	init.TransactionalID, init.TransactionTimeoutMillis = &id, 60_000
	producer, err := init.RequestWith(t.Context(), client)
	if err := errors.Join(err, kerr.ErrorForCode(producer.ErrorCode)); err != nil {
		t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, producer.ProducerID, producer.ProducerEpoch, group
	added, err := add.RequestWith(t.Context(), client)
	if err := errors.Join(err, kerr.ErrorForCode(added.ErrorCode)); err != nil {
		t.Fatal(err)
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch, commit.Group = id, producer.ProducerID, producer.ProducerEpoch, group
	commit.Generation = -1
	partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = at
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	known, err := kadm.NewClient(client).Metadata(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	topic.TopicID = known.Topics["orders"].ID
	topic.Topic, topic.Partitions = "orders", append(topic.Partitions, partition)
	commit.Topics = append(commit.Topics, topic)
	done, err := commit.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if err := kerr.ErrorForCode(done.Topics[0].Partitions[0].ErrorCode); err != nil {
		t.Fatal(err)
	}
}
