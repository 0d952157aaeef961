package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/internal/delivery"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const orders = "orders"

// side is one cluster in memory.
type side struct {
	t      *testing.T
	fake   *kfake.Cluster
	client *kgo.Client
}

// world is two clusters, and what an old job has done between them.
type world struct {
	t              *testing.T
	source, target *side
	bounds         preflight.DeliveryBounds
	isolation      offsetmap.Isolation
	compacted      bool // of both sides
	sample         func(preflight.DeliverySample)
}

func newWorld(t *testing.T, partitions int32) *world {
	t.Helper()
	w := &world{t: t, source: newSide(t), target: newSide(t), isolation: offsetmap.ReadUncommitted}
	w.source.create(partitions, nil)
	w.target.create(partitions, nil)
	return w
}

func newSide(t *testing.T) *side {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s := &side{t: t, fake: c}
	s.client = s.connect()
	return s
}

func (s *side) options() []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(s.fake.ListenAddrs()...), kgo.RetryTimeout(time.Second), kgo.RequestRetries(2)}
}

func (s *side) connect(opts ...kgo.Opt) *kgo.Client {
	s.t.Helper()
	cl, err := kgo.NewClient(append(append(s.options(), kgo.RecordPartitioner(kgo.ManualPartitioner())), opts...)...)
	s.must(err)
	s.t.Cleanup(cl.Close)
	return cl
}

func (s *side) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *side) create(partitions int32, configs map[string]string) {
	s.t.Helper()
	s.must(s.fake.CreateTopic(orders, partitions, configs))
}

func (s *side) write(rs ...*kgo.Record) {
	s.t.Helper()
	s.must(s.client.ProduceSync(s.t.Context(), changed(rs, func(*kgo.Record) {})...).FirstErr())
}

func (s *side) deleteBefore(partition int32, offset int64) {
	s.t.Helper()
	o := kadm.Offsets{}
	o.AddOffset(orders, partition, offset, -1)
	resp, err := kadm.NewClient(s.client).DeleteRecords(s.t.Context(), o)
	s.must(err)
	s.must(resp.Error())
}

// began is when the first records were written, some days ago.
var began = time.Now().Add(-72 * time.Hour).Truncate(time.Millisecond)

// record is record n of a source partition: one a second.
func record(partition int32, n int) *kgo.Record {
	return &kgo.Record{
		Topic: orders, Partition: partition, Timestamp: began.Add(time.Duration(n) * time.Second),
		Key: fmt.Appendf(nil, "key-%d", n%3), Value: fmt.Appendf(nil, "value %d/%d", partition, n),
		Headers: []kgo.RecordHeader{{Key: "trace", Value: fmt.Appendf(nil, "%d", n)}},
	}
}

func records(partition int32, from, to int) []*kgo.Record {
	var out []*kgo.Record
	for n := from; n < to; n++ {
		out = append(out, record(partition, n))
	}
	return out
}

func copied(r *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp}
}

// changed are copies of the records, each changed by a function.
func changed(rs []*kgo.Record, by func(*kgo.Record)) []*kgo.Record {
	out := make([]*kgo.Record, len(rs))
	for i, r := range rs {
		out[i] = copied(r)
		by(out[i])
	}
	return out
}

func tp(partition int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: orders, Partition: partition}
}

func at(t *testing.T, partition int32, c int64) offsetmap.Position {
	t.Helper()
	next, err := offsetmap.Next(c)
	if err != nil {
		t.Fatal(err)
	}
	return offsetmap.Position{TopicPartition: tp(partition), Next: next}
}

// look looks for what lies around the positions.
func (w *world) look(positions ...offsetmap.Position) map[offsetmap.TopicPartition]preflight.Delivery {
	w.t.Helper()
	compacted := func(string) bool { return w.compacted }
	ranges, err := fresh.Ranges(w.t.Context(), kadm.NewClient(w.source.client), orders)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := delivery.New(w.source.options(), w.target.options(), w.bounds).Deliveries(w.t.Context(), preflight.DeliveryRequest{
		Positions: positions, Ranges: ranges, TargetTopic: func(topic string) string { return topic }, Isolation: w.isolation,
		MayBeCompacted: compacted, SourceMayBeCompacted: compacted, Sample: w.sample,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(got) != len(positions) {
		w.t.Errorf("%d deliveries of %d positions", len(got), len(positions))
	}
	return got
}

// one looks for what lies around C in partition 0.
func (w *world) one(c int64) preflight.Delivery {
	w.t.Helper()
	return w.look(at(w.t, 0, c))[tp(0)]
}
