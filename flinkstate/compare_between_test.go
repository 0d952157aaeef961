package flinkstate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// source writes to one cluster.
type source struct {
	t      testing.TB
	seeds  []string
	client *kgo.Client
	admin  *kadm.Client
}

func newSource(t testing.TB, seeds ...string) *source {
	t.Helper()
	s := &source{t: t, seeds: seeds}
	s.client = s.connect()
	s.admin = kadm.NewClient(s.client)
	return s
}

func newKfakeSource(t *testing.T, brokers int) (*kfake.Cluster, *source) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster, newSource(t, cluster.ListenAddrs()...)
}

func (s *source) connect(opts ...kgo.Opt) *kgo.Client {
	s.t.Helper()
	client, err := kgo.NewClient(append(opts, kgo.SeedBrokers(s.seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.Close)
	return client
}

func (s *source) create(topic string, partitions int32, configs map[string]*string) {
	s.t.Helper()
	if _, err := s.admin.CreateTopic(s.t.Context(), partitions, 1, configs, topic); err != nil {
		s.t.Fatal(err)
	}
}

func (s *source) write(client *kgo.Client, tp offsetmap.TopicPartition, n int) {
	s.t.Helper()
	for i := range n { // each in a batch of its own
		r := &kgo.Record{Topic: tp.Topic, Partition: tp.Partition, Key: []byte{byte(i % 2)}, Value: []byte("v")}
		if err := client.ProduceSync(s.t.Context(), r).FirstErr(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// begin writes records in a transaction of its own, and returns how to end it.
func (s *source) begin(tp offsetmap.TopicPartition, n int) func(kgo.TransactionEndTry) {
	s.t.Helper()
	client := s.connect(kgo.TransactionalID(fmt.Sprintf("%s-%d", tp, time.Now().UnixNano())))
	if err := client.BeginTransaction(); err != nil {
		s.t.Fatal(err)
	}
	s.write(client, tp, n)
	return func(how kgo.TransactionEndTry) {
		s.t.Helper()
		if err := client.EndTransaction(context.WithoutCancel(s.t.Context()), how); err != nil {
			s.t.Error(err)
		}
		client.Close()
	}
}

func TestExplainTellsMarkersFromRecords(t *testing.T) {
	t.Parallel()
	_, s := newKfakeSource(t, 2)
	explainTellsMarkersFromRecords(t, s, "orders")
}

// explainTellsMarkersFromRecords writes partitions whose offsets hold different
// things, and compares positions on both sides of these.
func explainTellsMarkersFromRecords(t *testing.T, s *source, topic string) {
	at := func(p int32) offsetmap.TopicPartition { return offsetmap.TopicPartition{Topic: topic, Partition: p} }
	s.create(topic, 6, nil)
	s.begin(at(0), 2)(kgo.TryCommit) // 0, 1, marker 2
	s.begin(at(0), 1)(kgo.TryCommit) // 3, marker 4
	s.begin(at(1), 2)(kgo.TryAbort)  // 0, 1, marker 2
	s.begin(at(1), 1)(kgo.TryAbort)  // 3, marker 4
	s.write(s.client, at(2), 5)
	hang := s.begin(at(3), 3) // 0, 1, 2, which nobody may know of yet
	t.Cleanup(func() { hang(kgo.TryAbort) })
	s.write(s.client, at(4), 8)
	gone := kadm.Offsets{}
	gone.AddOffset(topic, 4, 4, -1)
	if r, err := s.admin.DeleteRecords(t.Context(), gone); err != nil || r.Error() != nil {
		t.Fatal(err, r.Error())
	}

	const uncommitted, committed = offsetmap.ReadUncommitted, offsetmap.ReadCommitted
	for name, x := range map[string]struct {
		partition       int32
		next, committed int64
		isolation       offsetmap.Isolation
		want            string // of the partition
		why             string // of the error
	}{
		"a marker, behind":                     {0, 3, 2, uncommitted, "behind 1, only transaction markers between", ""},
		"a marker, ahead":                      {0, 4, 5, committed, "ahead 1, only transaction markers between", ""},
		"a marker and a record":                {0, 2, 4, uncommitted, "ahead 2", ""},
		"a record and a marker":                {0, 5, 3, committed, "behind 2", ""},
		"aborted, read committed":              {1, 0, 5, committed, "ahead 5, only aborted records between", ""},
		"aborted, read uncommitted":            {1, 0, 5, uncommitted, "ahead 5", ""},
		"the marker of an abort":               {1, 2, 3, uncommitted, "ahead 1, only transaction markers between", ""},
		"records":                              {2, 5, 1, uncommitted, "behind 4", ""},
		"an open transaction":                  {3, 3, 0, committed, "behind 3", "shows nothing from offset 0"},
		"an open transaction, uncommitted":     {3, 3, 0, uncommitted, "behind 3", ""},
		"expired":                              {4, 6, 2, uncommitted, "behind 4", "OFFSET_OUT_OF_RANGE"},
		"beyond the end":                       {2, 5, 7, uncommitted, "ahead 2", "shows nothing from offset 5"},
		"a partition that does not exist":      {9, 5, 6, uncommitted, "ahead 1", "LEADER_NOT_AVAILABLE"},
		"an isolation level that was not told": {0, 3, 2, "", "behind 1", "isolation level"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tp := at(x.partition)
			compared := flinkstate.Compare([]offsetmap.Position{{TopicPartition: tp, Next: c(x.next)}}, map[offsetmap.TopicPartition]offsetmap.NextOffset{tp: c(x.committed)})
			got, err := compared.Explain(t.Context(), s.client, x.isolation)
			if (x.why == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), x.why) {
				t.Errorf("error %v, want %q", err, x.why)
			}
			if diff := cmp.Diff(x.want, got[0].String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if known := got[0].Between != ""; known != (x.why == "") {
				t.Errorf("between %q, error %v: only what could be read is known", got[0].Between, err)
			}
			if compared[0].Between != "" {
				t.Error("the comparison itself has changed")
			}
		})
	}
}

// Compaction takes records that were there to be read once: what is left is no
// proof that nobody passed one.
func TestExplainKnowsThatCompactionLeavesGaps(t *testing.T) {
	t.Parallel()
	cluster, s := newKfakeSource(t, 1)
	s.create("orders", 1, map[string]*string{"cleanup.policy": new("compact")})
	if err := s.client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Key: []byte("only once"), Value: []byte("v")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	s.write(s.client, orders(0), 6)
	cluster.Compact() // leaves the first record, and the last one of each of the two keys
	compared := flinkstate.Compare([]offsetmap.Position{{TopicPartition: orders(0), Next: c(2)}}, map[offsetmap.TopicPartition]offsetmap.NextOffset{orders(0): c(4)})
	got, err := compared.Explain(t.Context(), s.client, offsetmap.ReadCommitted)
	if err != nil || got[0].Between != flinkstate.BetweenGaps || got[0].Between.Hollow() {
		t.Errorf("%s, %v", got, err)
	}
}

func TestExplainIsBounded(t *testing.T) {
	t.Parallel()
	_, s := newKfakeSource(t, 1)
	s.create("orders", 3, nil)
	s.begin(orders(0), 1)(kgo.TryCommit)
	s.begin(orders(1), 1)(kgo.TryCommit)
	s.write(s.client, orders(2), 3)
	compared := flinkstate.Compare([]offsetmap.Position{
		{TopicPartition: orders(0), Next: c(1)}, {TopicPartition: orders(1), Next: c(0)}, {TopicPartition: orders(2), Next: c(2)},
	}, map[offsetmap.TopicPartition]offsetmap.NextOffset{orders(0): c(2), orders(1): c(2), orders(2): c(2)})
	got, err := compared.Explain(t.Context(), s.client, offsetmap.ReadUncommitted, flinkstate.WithMostOffsets(1))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"topic":"orders","partition":0,"next":1,"committed":2,"relation":"ahead","by":1,"between":"transaction-markers"},` +
		`{"topic":"orders","partition":1,"next":0,"committed":2,"relation":"ahead","by":2},` +
		`{"topic":"orders","partition":2,"next":2,"committed":2,"relation":"equal"}]`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := got.String(), "1 equal, 2 ahead by at most 2 (1 by transaction markers or aborted records only)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again := compared.WithBetween(got); !cmp.Equal(again, got, cmp.Comparer(func(a, b flinkstate.Compared) bool { return a == b })) {
		t.Errorf("taken over: %v, want %v", again, got)
	}
	moved := flinkstate.Compare([]offsetmap.Position{{TopicPartition: orders(0), Next: c(0)}}, map[offsetmap.TopicPartition]offsetmap.NextOffset{orders(0): c(1)})
	if taken := moved.WithBetween(got); taken[0].Between != "" {
		t.Errorf("of other offsets: %s", taken)
	}
	if got, err := compared.Explain(t.Context(), s.client, offsetmap.ReadUncommitted, flinkstate.WithExplainTimeout(0)); err == nil || got[0].Between != "" {
		t.Errorf("no time: %v, %v", got, err)
	}
}
