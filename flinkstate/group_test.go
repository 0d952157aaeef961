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
