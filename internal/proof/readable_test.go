package proof

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// bounds are the log bounds of a partition now.
func (b *brokers) bounds(t testing.TB, topic string, p int32) (start, stable, end int64) {
	t.Helper()
	ranges, err := fresh.Ranges(t.Context(), b.admin, topic)
	if err != nil {
		t.Fatal(err)
	}
	r := ranges[offsetmap.TopicPartition{Topic: topic, Partition: p}]
	start, _ = r.Start.Value()
	stable, _ = r.Stable.Value()
	end, _ = r.End.Value()
	return start, stable, end
}

// committed makes both sides read what is committed.
func committed(o Options) Options {
	o.Source.Isolation, o.Target.Isolation = offsetmap.ReadCommitted, offsetmap.ReadCommitted
	return o
}

func TestTransactionsAtTheBoundary(t *testing.T) { transactionsAtTheBoundary(t, startClusters(t)) }

func transactionsAtTheBoundary(t *testing.T, c *clusters) {
	for _, tt := range []struct {
		name   string
		source func(t *testing.T, topic string, rs []*kgo.Record) (copied []*kgo.Record)
		next   int64
		part   PartitionOutcome
		want   counts
	}{
		{
			"C on the marker of a committed transaction",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				c.source.transact(t, kgo.TryCommit, rs[:3]...) // 0-2, marker 3
				c.source.transact(t, kgo.TryCommit, rs[3:6]...)
				return rs[3:6]
			},
			3, PartitionProven,
			counts{Copied: 3},
		},
		{
			"C on an aborted record, the end on a marker",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				c.source.write(t, rs[:2]...)
				c.source.transact(t, kgo.TryAbort, rs[2:5]...) // 2-4, marker 5
				c.source.write(t, rs[5:7]...)                  // 6, 7
				c.source.transact(t, kgo.TryAbort, rs[7:9]...)
				return rs[5:7]
			},
			3, PartitionProven,
			counts{Copied: 2},
		},
		{
			"only a marker from C on",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				c.source.transact(t, kgo.TryCommit, rs[:3]...)
				return nil
			},
			3, PartitionNothingToCopy,
			counts{},
		},
		{
			"only aborted records from C on",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				c.source.write(t, rs[:2]...)
				c.source.transact(t, kgo.TryAbort, rs[2:9]...)
				return nil
			},
			2, PartitionNothingToCopy,
			counts{},
		},
		{
			"an open transaction from the end on",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				c.source.write(t, rs[:5]...)
				end := c.source.open(t, rs[5:]...)
				t.Cleanup(func() { end(kgo.TryAbort) })
				return rs[1:5]
			},
			1, PartitionProven,
			counts{Copied: 4},
		},
		{
			"C above the last stable offset",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				end := c.source.open(t, rs[:3]...)
				t.Cleanup(func() { end(kgo.TryAbort) })
				c.source.write(t, rs[3:5]...)
				return nil
			},
			4, PartitionWaiting,
			counts{},
		},
		{
			// The marker of the aborted transaction is beyond the last stable
			// offset, so no record of any kind says that the log was read to its
			// readable end.
			"aborted records whose marker cannot be read",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				c.source.write(t, rs[:3]...)
				abort := c.source.open(t, rs[3:6]...) // 3-5
				hang := c.source.open(t, rs[6:7]...)  // 6, which holds back the last stable offset
				abort(kgo.TryAbort)                   // marker 7
				t.Cleanup(func() { hang(kgo.TryAbort) })
				return rs[:3]
			},
			0, PartitionProven,
			counts{Copied: 3},
		},
		{
			"nothing but aborted records whose marker cannot be read",
			func(t *testing.T, _ string, rs []*kgo.Record) []*kgo.Record {
				abort := c.source.open(t, rs[3:6]...)
				hang := c.source.open(t, rs[6:7]...)
				abort(kgo.TryAbort)
				t.Cleanup(func() { hang(kgo.TryAbort) })
				return nil
			},
			0, PartitionWaiting,
			counts{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := tt.source(t, topic, records(topic, 0, 0, 10))
			// The copier that does so in transactions leaves markers on the target.
			if len(rs) > 0 {
				c.target.transact(t, kgo.TryCommit, copyOf(rs[:1]...)...)
				c.target.transact(t, kgo.TryAbort, copyOf(rs[1:]...)...)
				c.target.transact(t, kgo.TryCommit, copyOf(rs[1:]...)...)
			}
			_, stable, _ := c.source.bounds(t, topic, 0)
			_, p := onlyPartition(t, committed(c.proof(c.from(topic, 0, tt.next, stable, 0))))
			if p.Outcome != tt.part {
				t.Errorf("outcome %s (%s), want %s", p.Outcome, p.Reason, tt.part)
			}
			if d := cmp.Diff(tt.want, short(p.Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestAbortedRecordsOfTheTargetAreRepeatsForWhoReadsThem(t *testing.T) {
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 6)
	c.source.write(t, rs...)
	c.target.transact(t, kgo.TryAbort, copyOf(rs...)...)
	c.target.transact(t, kgo.TryCommit, copyOf(rs...)...)
	o := c.proof(c.from(topic, 0, 0, 6, 0))
	_, p := onlyPartition(t, o)
	if d := cmp.Diff(counts{Copied: 6, Repeated: 6}, short(p.Counts)); d != "" {
		t.Errorf("read uncommitted (-want +got):\n%s", d)
	}
	_, p = onlyPartition(t, committed(o))
	if d := cmp.Diff(counts{Copied: 6}, short(p.Counts)); d != "" {
		t.Errorf("read committed (-want +got):\n%s", d)
	}
}

func TestAnOpenTransactionOnTheTargetThatHidesTheCopyIsSaid(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 6)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs[:2]...)...)
	end := c.target.open(t, records(topic, 0, 100, 1)...) // the old job's
	c.target.write(t, copyOf(rs[2:]...)...)
	o := c.proof(c.from(topic, 0, 0, 6, 0))
	o.Target.Isolation = offsetmap.ReadCommitted
	o.Quiet = 2 * time.Second
	outcome, p := onlyPartition(t, o)
	if outcome != NotProven || p.Outcome != PartitionHidden || p.Counts.Pending != 4 {
		t.Errorf("outcome %s, partition %s (%s), %+v; want hidden with 4 pending", outcome, p.Outcome, p.Reason, p.Counts)
	}
	end(kgo.TryAbort)
	if outcome, p = onlyPartition(t, o); outcome != Proven {
		t.Errorf("after the transaction has ended: %s, %s (%s)", outcome, p.Outcome, p.Reason)
	}
}

func TestCompactedTopics(t *testing.T) {
	c := startClusters(t)
	write := func(b *brokers, rs []*kgo.Record) {
		for _, r := range rs { // each in a batch of its own, since the last batch is never compacted
			b.write(t, r)
		}
	}
	keyed := func(topic string, n int) []*kgo.Record {
		rs := records(topic, 0, 0, n)
		for i, r := range rs {
			r.Key, r.Value = []byte{byte(i % 3)}, []byte{byte(i)}
		}
		return rs
	}
	t.Run("the target is compacted after the copy", func(t *testing.T) {
		topic := topicName(t)
		c.topic(topic, 1, map[string]string{"cleanup.policy": "compact"})
		rs := keyed(topic, 9)
		rs[0].Key = []byte("only once") // keeps the log start
		write(c.source, rs)
		write(c.target, copyOf(rs...))
		c.target.Compact()
		outcome, p := onlyPartition(t, c.proof(c.from(topic, 0, 0, 9, 0)))
		if outcome != NotProven || p.Outcome != PartitionUnprovable || p.Counts.Missing != 0 || p.Counts.Unprovable == 0 {
			t.Errorf("outcome %s, partition %s (%s), %+v; want unprovable, nothing missing", outcome, p.Outcome, p.Reason, p.Counts)
		}
		if got := p.Counts.Copied + p.Counts.Unprovable; got != 9 {
			t.Errorf("copied and unprovable are %d of 9", got)
		}
	})
	t.Run("compaction is no excuse for the last record of a key", func(t *testing.T) {
		topic := topicName(t)
		c.topic(topic, 1, map[string]string{"cleanup.policy": "compact"})
		rs := keyed(topic, 9)
		rs[4].Key = []byte("only once")
		write(c.source, rs)
		write(c.target, copyOf(append(rs[:4:4], rs[5:]...)...))
		outcome, p := onlyPartition(t, c.proof(c.from(topic, 0, 0, 9, 0)))
		if outcome != Failed || p.Counts.Missing != 1 {
			t.Errorf("outcome %s, partition %s (%s), %+v; want one missing", outcome, p.Outcome, p.Reason, p.Counts)
		}
	})
	t.Run("the source is compacted, C in a gap", func(t *testing.T) {
		topic := topicName(t)
		c.source.create(t, topic, 1, map[string]string{"cleanup.policy": "compact"})
		c.target.create(t, topic, 1, nil)
		rs := keyed(topic, 9)
		rs[0].Key = []byte("only once")
		write(c.source, rs)
		c.source.Compact() // leaves 0, 5, 6, 7 and the last batch, 8
		write(c.target, copyOf(rs[5:]...))
		outcome, p := onlyPartition(t, c.proof(c.from(topic, 0, 2, 9, 0)))
		if outcome != Proven {
			t.Errorf("outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Counts)
		}
		if want := (First{Source: at(t, 5), Target: at(t, 0)}); p.First != want {
			t.Errorf("first %+v, want the first readable record after C", p.First)
		}
	})
}

func TestTimestampsThatTheTargetStampsAreNotCompared(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	for _, tt := range []struct {
		name    string
		configs map[string]string
		known   map[string]Topic
		want    Outcome
	}{
		{"kept", nil, nil, Failed},
		{"stamped", map[string]string{"message.timestamp.type": "LogAppendTime"}, nil, Proven},
		{"said", nil, map[string]Topic{"said": {Timestamps: Stamped}}, Proven},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			topic := tt.name
			c.topic(topic, 1, tt.configs)
			rs := records(topic, 0, 0, 5)
			c.source.write(t, rs...)
			other := copyOf(rs...)
			for _, r := range other {
				r.Timestamp = time.UnixMilli(1_800_000_000_000)
			}
			c.target.write(t, other...)
			o := c.proof(c.from(topic, 0, 0, 5, 0))
			o.Target.Topics = tt.known
			o.Quiet = 2 * time.Second
			if outcome, p := onlyPartition(t, o); outcome != tt.want {
				t.Errorf("outcome %s (%s), want %s; %+v", outcome, p.Reason, tt.want, p.Counts)
			}
		})
	}
}

// PC16: a reader of committed records stands at the last stable offset, far below
// the end, and it is neither lag nor loss.
func TestPC16AProofSaysThatItWaitsForTheTransaction(t *testing.T) {
	c := startClusters(t)
	const topic, stable, end = "orders", 200, 1663
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, end)
	c.source.write(t, rs[:stable]...)
	abort := c.source.open(t, rs[stable:stable+1]...)
	c.source.write(t, rs[stable+1:]...)
	o := committed(c.proof(c.from(topic, 0, stable, stable, 0)))
	outcome, p := onlyPartition(t, o)
	if outcome != NotProven || p.Outcome != PartitionWaiting || p.Lag != 0 || p.Counts.Pending+p.Counts.Missing != 0 {
		t.Errorf("outcome %s, partition %s (%s), lag %d, %+v", outcome, p.Outcome, p.Reason, p.Lag, p.Counts)
	}
	for _, say := range []string{"open on the source since offset 200", "up to 1663"} {
		if !strings.Contains(p.Reason, say) {
			t.Errorf("%q, want %q", p.Reason, say)
		}
	}
	abort(kgo.TryAbort)
	if outcome, p := onlyPartition(t, o); outcome != NothingToCopy {
		t.Errorf("after its end: outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
	// The isolation of the copier decides: another one does not wait.
	o.Source.Isolation = offsetmap.ReadUncommitted
	if outcome, p := onlyPartition(t, o); outcome != NothingToCopy {
		t.Errorf("uncommitted: outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
}
