package flinkstate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// What brokers say of groups differs by release, and an embedded broker
// describes a group of any kind as a classic one: so it is shown on real ones.
func TestGroupsOfRealBrokers(t *testing.T) {
	for _, version := range []string{lab.Newest3, lab.DefaultVersion} {
		t.Run(version, func(t *testing.T) {
			l := lab.Start(t, lab.Options{Version: version, Source: lab.Properties{"group.coordinator.rebalance.protocols": protocols(version)}})
			s := newSource(t, l.Source.Bootstrap)
			s.create("orders", 3, nil)
			s.create("payments", 1, nil)
			t.Run("open transactions", func(t *testing.T) { realOpenTransactions(t, s) })
			t.Run("kinds", func(t *testing.T) { realKinds(t, s, version) })
			t.Run("markers", func(t *testing.T) { explainTellsMarkersFromRecords(t, s, "between") })
		})
	}
}

func protocols(version string) string {
	if version == lab.Newest3 {
		return "classic,consumer"
	}
	return "classic,consumer,streams"
}

// within ends what a real broker does not do in time.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func realOpenTransactions(t *testing.T, s *source) {
	ctx := within(t)
	commit(t, s.admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5, orders(2): 7})
	first := openOffsets(t, s.client, "first", "copy", map[offsetmap.TopicPartition]int64{orders(1): 3})
	second := openOffsets(t, s.client, "second", "copy", map[offsetmap.TopicPartition]int64{orders(0): 9})

	// Asked for all, the broker is silent about the partition whose first offset is
	// pending: why the reader asks by name.
	blind := flinkstate.NewGroupReader(s.admin, flinkstate.WithStableTimeout(0))
	var unstable *flinkstate.UnstableOffsetsError
	if got, err := blind.Read(ctx, "copy", "orders"); !errors.As(err, &unstable) {
		t.Fatalf("got %+v, error %v", got, err)
	}
	if diff := cmp.Diff([]offsetmap.TopicPartition{orders(0)}, unstable.Partitions); diff != "" {
		t.Errorf("asked for all (-want +got):\n%s", diff)
	}
	at := time.Now()
	reader := flinkstate.NewGroupReader(s.admin, flinkstate.WithRequestor(s.client), flinkstate.WithStableTimeout(time.Second))
	got, err := reader.Read(ctx, "copy", "orders")
	if !errors.As(err, &unstable) || !errors.Is(err, kerr.UnstableOffsetCommit) || got != nil {
		t.Fatalf("got %+v, error %v", got, err)
	}
	if diff := cmp.Diff([]offsetmap.TopicPartition{orders(0), orders(1)}, unstable.Partitions); diff != "" {
		t.Errorf("asked by name (-want +got):\n%s", diff)
	}
	if unstable.Waited <= 0 || unstable.Waited > time.Since(at) {
		t.Errorf("waited %s", unstable.Waited)
	}

	// They end while the reader waits: one comes to count, the other never did.
	clock, naps := newStepClock(), 0
	clock.nap = func() {
		switch naps++; naps {
		case 1:
			first.end(kgo.TryCommit)
		case 2:
			second.end(kgo.TryAbort)
		}
		time.Sleep(10 * time.Millisecond) // the coordinator writes its marker behind the answer
	}
	reader = flinkstate.NewGroupReader(s.admin, flinkstate.WithRequestor(s.client), flinkstate.WithGroupClock(time.Now, clock.Sleep))
	got, err = reader.Read(ctx, "copy", "orders")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"orders-0": "5", "orders-1": "3", "orders-2": "7"}
	held := map[string]string{}
	for tp, next := range got.Committed() {
		held[tp.String()] = next.String()
	}
	if diff := cmp.Diff(want, held); diff != "" || naps < 2 {
		t.Errorf("after %d naps (-want +got):\n%s", naps, diff)
	}
}

func realKinds(t *testing.T, s *source, version string) {
	ctx := within(t)
	reader := flinkstate.NewGroupReader(s.admin, flinkstate.WithRequestor(s.client))
	commit(t, s.admin, "simple", map[offsetmap.TopicPartition]int64{orders(0): 5})
	simple, err := reader.Read(ctx, "simple", "orders")
	if err != nil || simple.String() != "classic group simple is Empty, without members or protocol" || len(simple.Missing) != 2 {
		t.Errorf("%+v, %v", simple, err)
	}
	if got, err := reader.Read(ctx, "simpel", "orders"); !errors.Is(err, flinkstate.ErrNoGroup) {
		t.Errorf("a group that is not there: %+v, %v", got, err)
	}

	until := func(group string, ok func(flinkstate.GroupDescription) bool) flinkstate.GroupDescription {
		t.Helper()
		for {
			d, err := reader.Describe(ctx, group)
			switch {
			case err == nil && ok(d):
				return d
			case ctx.Err() != nil:
				t.Fatalf("%+v, %v", d, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	stable := func(d flinkstate.GroupDescription) bool { return d.State == "Stable" && len(d.Members) == 1 }
	left := func(d flinkstate.GroupDescription) bool { return !d.Active() }

	classic := s.connect(kgo.ConsumerGroup("classic"), kgo.ConsumeTopics("orders"), kgo.ClientID("billing"), kgo.DisableAutoCommit())
	d := until("classic", stable)
	if d.Type != flinkstate.ClassicGroup || d.ProtocolType != "consumer" || d.Protocol == "" || d.Members[0].ClientID != "billing" || !strings.Contains(d.Members[0].Host, "127.0.0.1") {
		t.Errorf("%+v", d)
	}
	classic.Close()
	until("classic", left)

	// kgo itself falls back to the classic protocol before 4.0.
	leave := nextGeneration(t, s, "next")
	d = until("next", func(d flinkstate.GroupDescription) bool { return len(d.Members) == 1 })
	if d.Type != flinkstate.ConsumerGroup || d.Members[0].ClientID != "billing" || !d.Active() {
		t.Errorf("%+v", d)
	}
	leave()
	until("next", left)
	commit(t, s.admin, "next", map[offsetmap.TopicPartition]int64{orders(0): 5})
	if got, err := reader.Read(ctx, "next", "orders"); err != nil || got.Type != flinkstate.ConsumerGroup || got.Committed()[orders(0)].String() != "5" {
		t.Errorf("%+v, %v", got, err)
	}

	if version == lab.Newest3 {
		return // which has neither share nor streams groups
	}
	share := s.connect(kgo.ShareGroup("share"), kgo.ConsumeTopics("orders"))
	poll, cancel := context.WithTimeout(ctx, time.Second)
	share.PollFetches(poll)
	cancel()
	if d := until("share", func(d flinkstate.GroupDescription) bool { return d.State == "Stable" }); d.Type != flinkstate.ShareGroup {
		t.Errorf("%+v", d)
	}
	streamsGroup(t, s, "streams")
	until("streams", func(d flinkstate.GroupDescription) bool { return d.Type == flinkstate.StreamsGroup })
	for _, group := range []string{"share", "streams"} {
		got, err := reader.Read(ctx, group, "orders")
		if !errors.Is(err, flinkstate.ErrNotConsumerGroup) || !strings.Contains(err.Error(), "it is a "+group+" group") || got != nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// nextGeneration joins a group by the protocol of KIP-848, and returns how to
// leave it.
func nextGeneration(t *testing.T, s *source, group string) (leave func()) {
	t.Helper()
	client := s.connect(kgo.ClientID("billing"))
	member, epoch := "bmV4dC1nZW5lcmF0aW9uMQ", int32(0)
	beat := func() {
		t.Helper()
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = group, member, epoch, 60_000
		if epoch == 0 {
			req.SubscribedTopicNames, req.Topics = []string{"orders"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		}
		resp, err := req.RequestWith(within(t), client)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
		if resp.MemberID != nil {
			member = *resp.MemberID // which the first version of the protocol gives out
		}
	}
	beat()
	return func() {
		t.Helper()
		epoch = -1
		beat()
	}
}

// streamsGroup joins a group as an instance of Kafka Streams does that reads
// orders.
func streamsGroup(t *testing.T, s *source, group string) {
	t.Helper()
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis = group, "Zm9ydHktdHdvLWlzLWl0Lg", 60_000
	req.ProcessID = new("process")
	req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	req.ClientTags = []kmsg.StreamsGroupHeartbeatRequestClientTag{}
	part := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
	part.SubtopologyID, part.SourceTopics = "0", []string{"orders"}
	topology := kmsg.NewStreamsGroupHeartbeatRequestTopology()
	topology.Subtopologies = append(topology.Subtopologies, part)
	req.Topology = &topology
	// kgo knows no coordinator of it; the stage has one broker.
	resp, err := req.RequestWith(within(t), s.client.Broker(1))
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
