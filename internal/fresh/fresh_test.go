package fresh_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var _ fresh.Admin = (*kadm.Client)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster starts brokers, and one client of them whose metadata cache is kept
// for a minute: what is fresh with this client is fresh with any.
func cluster(t *testing.T, opts ...kfake.Opt) (*kfake.Cluster, *kgo.Client, *kadm.Client) {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2), kfake.ClusterID("source-1")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(c.ListenAddrs()...),
		kgo.MetadataMinAge(time.Minute), kgo.MetadataMaxAge(10*time.Minute),
		kgo.RetryTimeout(500*time.Millisecond), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return c, cl, kadm.NewClient(cl)
}

func create(t *testing.T, c *kfake.Cluster, topic string, partitions int32) {
	t.Helper()
	if err := c.CreateTopic(topic, partitions, nil); err != nil {
		t.Fatal(err)
	}
}

func produce(t *testing.T, cl *kgo.Client, topic string, partition int32, n int) {
	t.Helper()
	for range n {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: []byte("v")}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func tp(topic string, partition int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: topic, Partition: partition}
}

func next(t *testing.T, v int64) offsetmap.NextOffset {
	t.Helper()
	o, err := offsetmap.Next(v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func rng(t *testing.T, start, stable, end int64) offsetmap.Range {
	t.Helper()
	return offsetmap.Range{Start: next(t, start), Stable: next(t, stable), End: next(t, end)}
}

// values makes ranges comparable.
var values = cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b })

func TestOneClientSeesWhatChangedAMomentAgo(t *testing.T) {
	ctx := t.Context()
	c, cl, admin := cluster(t)
	create(t, c, "orders", 1)
	produce(t, cl, "orders", 0, 5)
	read := func() (fresh.Topic, map[offsetmap.TopicPartition]offsetmap.Range, map[offsetmap.TopicPartition]fresh.Tail) {
		t.Helper()
		topics, err := fresh.Topics(ctx, admin, "orders")
		if err != nil {
			t.Fatal(err)
		}
		ranges, err := fresh.Ranges(ctx, admin, "orders")
		if err != nil {
			t.Fatal(err)
		}
		tails, err := fresh.Tails(ctx, admin, "orders")
		if err != nil {
			t.Fatal(err)
		}
		return topics.Topics["orders"], ranges, tails
	}
	first, ranges, _ := read()
	want := map[offsetmap.TopicPartition]offsetmap.Range{tp("orders", 0): rng(t, 0, 5, 5)}
	if d := cmp.Diff(want, ranges, values); d != "" {
		t.Fatalf("before (-want +got):\n%s", d)
	}

	if err := c.DeleteRecords("orders", 0, 3); err != nil {
		t.Fatal(err)
	}
	_, ranges, _ = read()
	if got := ranges[tp("orders", 0)]; got != rng(t, 3, 5, 5) {
		t.Errorf("after DeleteRecords: %v, want the log start 3", got)
	}

	if _, err := admin.CreatePartitions(ctx, 2, "orders"); err != nil {
		t.Fatal(err)
	}
	topic, ranges, tails := read()
	if d := cmp.Diff([]int32{0, 1, 2}, topic.Partitions); d != "" {
		t.Errorf("after CreatePartitions (-want +got):\n%s", d)
	}
	if len(ranges) != 3 || len(tails) != 3 {
		t.Errorf("after CreatePartitions: %d ranges and %d tails, want 3", len(ranges), len(tails))
	}

	if err := c.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	gone, err := fresh.Topics(ctx, admin, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if !gone.Topics["orders"].Missing() {
		t.Errorf("after DeleteTopic: %+v, want missing", gone.Topics["orders"])
	}
	create(t, c, "orders", 2)
	topic, ranges, tails = read()
	if topic.ID == first.ID || topic.ID == (offsetmap.TopicID{}) {
		t.Errorf("after the topic was created again its id is %s, it was %s", topic.ID, first.ID)
	}
	want = map[offsetmap.TopicPartition]offsetmap.Range{tp("orders", 0): rng(t, 0, 0, 0), tp("orders", 1): rng(t, 0, 0, 0)}
	if d := cmp.Diff(want, ranges, values); d != "" {
		t.Errorf("after the topic was created again (-want +got):\n%s", d)
	}
	if len(tails) != 2 || tails[tp("orders", 0)] != (fresh.Tail{End: next(t, 0), Stable: next(t, 0)}) {
		t.Errorf("after the topic was created again: tails %v", tails)
	}
}

func TestTopicsReadsAllWhenNoneIsNamed(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 3)
	create(t, c, "payments", 1)
	if err := c.CreateTopic("__consumer_offsets", 1, map[string]string{"kfake.is_internal": "true"}); err != nil {
		t.Fatal(err)
	}
	got, err := fresh.Topics(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	if got.ClusterID != "source-1" || len(got.Brokers) != 2 {
		t.Errorf("cluster %q with brokers %d, want source-1 with 2", got.ClusterID, got.Brokers)
	}
	internal := map[string]bool{}
	for name, topic := range got.Topics {
		internal[name] = topic.Internal
	}
	if d := cmp.Diff(map[string]bool{"orders": false, "payments": false, "__consumer_offsets": true}, internal); d != "" {
		t.Errorf("topics and whether they are internal (-want +got):\n%s", d)
	}
	if !got.Topics["orders"].Has(2) || got.Topics["orders"].Has(3) || got.Topics["none"].Has(0) {
		t.Error("Has: want orders-2 alone")
	}
}

func TestAskingForAMissingTopicDoesNotCreateIt(t *testing.T) {
	c, _, admin := cluster(t, kfake.AllowAutoTopicCreation())
	got, err := fresh.Topics(t.Context(), admin, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if !got.Topics["orders"].Missing() {
		t.Errorf("%+v, want missing", got.Topics["orders"])
	}
	ranges, err := fresh.Ranges(t.Context(), admin, "orders")
	var unmeasured *fresh.UnmeasuredError
	if !errors.As(err, &unmeasured) || !errors.Is(err, kerr.UnknownTopicOrPartition) || len(ranges) != 0 {
		t.Errorf("ranges %v, error %v; want no range and UNKNOWN_TOPIC_OR_PARTITION", ranges, err)
	}
	if unmeasured.Reason(tp("orders", 0)) == nil || len(unmeasured.Topics) != 1 || len(unmeasured.Partitions) != 0 {
		t.Errorf("reasons %v and %v, want one for the topic orders", unmeasured.Topics, unmeasured.Partitions)
	}
	if c.TopicInfo("orders") != nil {
		t.Error("the topic was created")
	}
}

func TestAClusterWithoutAnIDStillHasTopics(t *testing.T) {
	c, _, admin := cluster(t, kfake.ClusterID(""))
	create(t, c, "orders", 1)
	got, err := fresh.Topics(t.Context(), admin)
	if !errors.Is(err, fresh.ErrNoClusterID) || !got.Topics["orders"].Has(0) {
		t.Errorf("%+v, %v; want orders and ErrNoClusterID", got, err)
	}
	if ranges, err := fresh.Ranges(t.Context(), admin, "orders"); err != nil || ranges[tp("orders", 0)] != rng(t, 0, 0, 0) {
		t.Errorf("ranges %v, error %v", ranges, err)
	}
}

func TestNamingNoTopicMeasuresNothing(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 1)
	ranges, err := fresh.Ranges(t.Context(), admin)
	if err != nil || len(ranges) != 0 {
		t.Errorf("ranges %v, error %v; want none", ranges, err)
	}
}

func TestAPartitionWithoutLeaderIsNamed(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 2)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "orders", Partitions: []int32{1}, Err: kerr.LeaderNotAvailable, Count: -1})
	got, err := fresh.Topics(t.Context(), admin, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int32{1}, got.Topics["orders"].Leaderless); d != "" {
		t.Errorf("leaderless partitions (-want +got):\n%s", d)
	}
	ranges, err := fresh.Ranges(t.Context(), admin, "orders")
	var unmeasured *fresh.UnmeasuredError
	if !errors.As(err, &unmeasured) || unmeasured.Reason(tp("orders", 1)) == nil || unmeasured.Reason(tp("orders", 0)) != nil {
		t.Errorf("error %v, want a reason for orders-1 alone", err)
	}
	if got, there := ranges[tp("orders", 1)]; !there || got != (offsetmap.Range{}) {
		t.Errorf("orders-1: %v, %t; want in the map without bounds", got, there)
	}
}

func TestOneBoundThatFailsIsNoneWithItsReason(t *testing.T) {
	c, cl, admin := cluster(t)
	create(t, c, "orders", 2)
	produce(t, cl, "orders", 1, 4)
	stable := func(r kmsg.Request) bool { return r.(*kmsg.ListOffsetsRequest).IsolationLevel == 1 }
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{1}, When: stable, Err: kerr.KafkaStorageError, Count: -1})
	ranges, err := fresh.Ranges(t.Context(), admin, "orders")
	var unmeasured *fresh.UnmeasuredError
	if !errors.As(err, &unmeasured) || !errors.Is(unmeasured.Reason(tp("orders", 1)), kerr.KafkaStorageError) {
		t.Fatalf("error %v, want KAFKA_STORAGE_ERROR for orders-1", err)
	}
	want := map[offsetmap.TopicPartition]offsetmap.Range{
		tp("orders", 0): rng(t, 0, 0, 0),
		tp("orders", 1): {Start: next(t, 0), End: next(t, 4)},
	}
	if d := cmp.Diff(want, ranges, values); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
}

// A writer that goes on between the two listings must not look like a
// transaction that is open.
func TestTailsTakeAWriterThatGoesOnForNoOpenTransaction(t *testing.T) {
	c, cl, admin := cluster(t)
	create(t, c, "orders", 1)
	produce(t, cl, "orders", 0, 4)
	tails, err := fresh.Tails(t.Context(), writing{admin, func() { produce(t, cl, "orders", 0, 2) }}, "orders")
	if err != nil {
		t.Fatal(err)
	}
	got := tails[tp("orders", 0)]
	if n, known := got.End.Sub(got.Stable); !known || n > 0 {
		t.Errorf("end %s, last stable offset %s: the end lies above it", got.End, got.Stable)
	}
}

// writing writes after each listing.
type writing struct {
	*kadm.Client
	write func()
}

func (w writing) ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	defer w.write()
	return w.Client.ListEndOffsets(ctx, topics...)
}

func (w writing) ListCommittedOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	defer w.write()
	return w.Client.ListCommittedOffsets(ctx, topics...)
}

func TestABrokerThatDoesNotAnswerLeavesItsPartitionsInTheMap(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 2)
	if err := c.MoveTopicPartition("orders", 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.MoveTopicPartition("orders", 1, 1); err != nil {
		t.Fatal(err)
	}
	c.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, errors.New("connection cut"), c.CurrentNode() == 1
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ranges, err := fresh.Ranges(ctx, admin, "orders")
	var unmeasured *fresh.UnmeasuredError
	if !errors.As(err, &unmeasured) || unmeasured.Reason(tp("orders", 1)) == nil {
		t.Fatalf("error %v, want a reason for orders-1", err)
	}
	want := map[offsetmap.TopicPartition]offsetmap.Range{tp("orders", 0): rng(t, 0, 0, 0), tp("orders", 1): {}}
	if d := cmp.Diff(want, ranges, values); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
}

func TestADeniedTopicDoesNotHideTheOthers(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 1)
	create(t, c, "secret", 1)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "secret", Err: kerr.TopicAuthorizationFailed, Count: -1})
	got, err := fresh.Topics(t.Context(), admin, "orders", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if got.ClusterID != "source-1" || got.Topics["orders"].Err != nil {
		t.Errorf("%+v, want orders readable", got)
	}
	if err := got.Topics["secret"].Err; !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("secret: %v, want TOPIC_AUTHORIZATION_FAILED", err)
	}
	ranges, err := fresh.Ranges(t.Context(), admin, "orders", "secret")
	if !errors.Is(err, kerr.TopicAuthorizationFailed) || ranges[tp("orders", 0)] != rng(t, 0, 0, 0) {
		t.Errorf("ranges %v, error %v; want orders-0 measured and secret denied", ranges, err)
	}
}

func TestAClusterThatCannotBeReachedIsAnError(t *testing.T) {
	c, _, admin := cluster(t)
	create(t, c, "orders", 1)
	c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got, err := fresh.Topics(ctx, admin, "orders"); err == nil {
		t.Errorf("got %+v without an error", got)
	}
	if _, err := fresh.Ranges(ctx, admin, "orders"); err == nil {
		t.Error("ranges without an error")
	}
}

func TestManyTopicsCostOneListOffsetsPerBrokerAndKind(t *testing.T) {
	c, _, admin := cluster(t)
	var topics []string
	for i := range 200 {
		topics = append(topics, fmt.Sprintf("t%d", i))
		create(t, c, topics[i], 10)
	}
	var requests atomic.Int32
	c.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		requests.Add(1)
		return nil, nil, false
	})
	ranges, err := fresh.Ranges(t.Context(), admin, topics...)
	if err != nil || len(ranges) != 2000 {
		t.Fatalf("%d ranges, error %v", len(ranges), err)
	}
	if got := requests.Load(); got != 2*3 {
		t.Errorf("%d ListOffsets requests for 2 brokers and 3 kinds", got)
	}
}
