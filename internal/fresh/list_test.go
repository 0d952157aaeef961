package fresh_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// An empty partition has no record, and an offset of -1 is neither one nor a failure.
func TestAListingThatNoRecordAnswersIsNoFailure(t *testing.T) {
	c, cl, admin := cluster(t)
	create(t, c, "orders", 2)
	at := time.UnixMilli(1_700_000_000_000)
	for i, when := range []time.Time{at, at.Add(time.Hour), at.Add(time.Minute)} {
		r := &kgo.Record{Topic: "orders", Value: []byte{byte(i)}, Timestamp: when}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := fresh.List(t.Context(), admin, "latest record", admin.ListMaxTimestampOffsets, "orders")
	if err != nil {
		t.Fatal(err)
	}
	want := map[offsetmap.TopicPartition]fresh.Listed{
		tp("orders", 0): {Offset: next(t, 1), Timestamp: at.Add(time.Hour).UnixMilli()},
		tp("orders", 1): {Timestamp: -1},
	}
	if d := cmp.Diff(want, got, values); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAListingSaysWhichPartitionItDoesNotKnow(t *testing.T) {
	c, cl, admin := cluster(t)
	create(t, c, "orders", 2)
	produce(t, cl, "orders", 0, 3)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{1}, Err: kerr.UnsupportedVersion, Count: -1})
	early := func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
		return admin.ListOffsetsAfterMilli(ctx, 1, topics...)
	}
	got, err := fresh.List(t.Context(), admin, "first record", early, "orders", "payments")
	var unmeasured *fresh.UnmeasuredError
	if !errors.As(err, &unmeasured) || !errors.Is(unmeasured.Reason(tp("orders", 1)), kerr.UnsupportedVersion) || !errors.Is(unmeasured.Topics["payments"], kerr.UnknownTopicOrPartition) {
		t.Fatalf("error %v", err)
	}
	if len(got) != 1 || got[tp("orders", 0)].Offset != next(t, 0) {
		t.Errorf("got %v", got)
	}
}

func TestReplicasAreTheBrokersThatMetadataNames(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 1)
	got, err := fresh.Topics(t.Context(), admin, "orders")
	if err != nil {
		t.Fatal(err)
	}
	topic := got.Topics["orders"]
	if len(topic.Replicas) != 1 || len(topic.Replicas[0]) != 2 || cmp.Diff(topic.Replicas, topic.InSync) != "" {
		t.Errorf("replicas %v, in sync %v", topic.Replicas, topic.InSync)
	}
}
