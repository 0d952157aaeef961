package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clusters are a source and a target, with a client of each.
type clusters struct {
	t              testing.TB
	source, target *brokers
}

// brokers are one cluster, in memory or, without a kfake.Cluster, real.
type brokers struct {
	*kfake.Cluster
	seed   string
	client *kgo.Client
	admin  *kadm.Client
}

func startClusters(t testing.TB) *clusters {
	t.Helper()
	return &clusters{t: t, source: startBrokers(t), target: startBrokers(t)}
}

func startBrokers(t testing.TB) *brokers {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b := connect(t, c.ListenAddrs()[0])
	b.Cluster = c
	return b
}

func connect(t testing.TB, seed string) *brokers {
	t.Helper()
	b := &brokers{seed: seed}
	b.client = b.newClient(t)
	b.admin = kadm.NewClient(b.client)
	return b
}

// newClient is a client of the test's own, which writes where a record says.
func (b *brokers) newClient(t testing.TB, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(b.options(append(more, kgo.RecordPartitioner(kgo.ManualPartitioner()))...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func (b *brokers) options(more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{kgo.SeedBrokers(b.seed), kgo.FetchMaxWait(100 * time.Millisecond), kgo.MetadataMinAge(50 * time.Millisecond)}, more...)
}

// topic creates a topic on both clusters.
func (c *clusters) topic(name string, partitions int32, targetConfigs map[string]string) {
	c.t.Helper()
	c.source.create(c.t, name, partitions, nil)
	c.target.create(c.t, name, partitions, targetConfigs)
}

func (b *brokers) create(t testing.TB, topic string, partitions int32, configs map[string]string) {
	t.Helper()
	values := map[string]*string{}
	for k, v := range configs {
		values[k] = &v
	}
	if _, err := b.admin.CreateTopic(t.Context(), partitions, 1, values, topic); err != nil {
		t.Fatal(err)
	}
}

// deleteBefore deletes the records of partition 0 before an offset.
func (b *brokers) deleteBefore(t testing.TB, topic string, offset int64) {
	t.Helper()
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, 0, offset, -1)
	r, err := b.admin.DeleteRecords(t.Context(), offsets)
	if err := errors.Join(err, r.Error()); err != nil {
		t.Fatal(err)
	}
}

// write writes records in the order given.
func (b *brokers) write(t testing.TB, rs ...*kgo.Record) {
	t.Helper()
	if err := b.client.ProduceSync(t.Context(), rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// transact writes records in one transaction of their own producer, and ends it.
func (b *brokers) transact(t testing.TB, end kgo.TransactionEndTry, rs ...*kgo.Record) {
	t.Helper()
	commit := b.open(t, rs...)
	commit(end)
}

// open writes records in a transaction that stays open until the function that
// it returns is called.
func (b *brokers) open(t testing.TB, rs ...*kgo.Record) func(kgo.TransactionEndTry) {
	t.Helper()
	cl := b.newClient(t, kgo.TransactionalID(fmt.Sprintf("%s-%d", t.Name(), time.Now().UnixNano())))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(t.Context(), rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return func(end kgo.TransactionEndTry) {
		t.Helper()
		if err := cl.EndTransaction(context.Background(), end); err != nil { // also after the test
			t.Fatal(err)
		}
	}
}

// written is when the first record was: a moment ago, so that retention does not
// take it.
var written = time.Now().Add(-time.Hour).Truncate(time.Second)

// records makes n records of a partition, numbered from first. What they carry
// changes with the number: null and empty keys, tombstones, binary and null
// headers.
func records(topic string, partition int32, first, n int) []*kgo.Record {
	rs := make([]*kgo.Record, n)
	for i := range rs {
		n := first + i
		r := &kgo.Record{
			Topic: topic, Partition: partition,
			Key:       fmt.Appendf(nil, "key-%d", n%7),
			Value:     fmt.Appendf(nil, "%s/%d/%d", topic, partition, n),
			Timestamp: written.Add(time.Duration(n) * time.Millisecond),
			Headers:   []kgo.RecordHeader{{Key: "id", Value: fmt.Appendf(nil, "%d", n)}},
		}
		switch n % 8 {
		case 3:
			r.Key = nil
		case 4:
			r.Key = []byte{}
		case 5:
			r.Value = nil
		case 6:
			r.Value = []byte{}
		case 7:
			r.Headers = []kgo.RecordHeader{{Key: "binary", Value: []byte{0, 255, 1}}, {Key: "null"}, {Key: "empty", Value: []byte{}}}
		}
		rs[i] = r
	}
	return rs
}

// copyOf is what a faultless copier writes.
func copyOf(rs ...*kgo.Record) []*kgo.Record {
	out := make([]*kgo.Record, len(rs))
	for i, r := range rs {
		out[i] = &kgo.Record{Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp}
	}
	return out
}

// proof returns options that prove partitions of a topic from C on, with the
// source's end as it is now and the target from its start.
func (c *clusters) proof(parts ...Partition) Options {
	return Options{
		Source:     Cluster{Options: c.source.options(), Admin: c.source.admin, Isolation: offsetmap.ReadUncommitted},
		Target:     Cluster{Options: c.target.options(), Admin: c.target.admin, Isolation: offsetmap.ReadUncommitted},
		Partitions: parts,
		Bound:      30 * time.Second,
		Interval:   20 * time.Millisecond,
	}
}

// from is partition p of a topic that is the same on both sides.
func (c *clusters) from(topic string, p int32, next, end, targetEnd int64) Partition {
	c.t.Helper()
	tp := offsetmap.TopicPartition{Topic: topic, Partition: p}
	return Partition{Source: tp, Next: place(next), End: place(end), Target: tp, TargetEnd: place(targetEnd)}
}

func mustRun(t testing.TB, o Options) Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onlyPartition runs and returns the report of the one partition.
func onlyPartition(t testing.TB, o Options) (Outcome, PartitionReport) {
	t.Helper()
	r := mustRun(t, o)
	if len(r.Partitions) != 1 {
		t.Fatalf("%d partitions in the report, want 1", len(r.Partitions))
	}
	return r.Outcome, r.Partitions[0]
}

// topicName is a topic name of the test's own.
func topicName(t testing.TB) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, t.Name())
}
