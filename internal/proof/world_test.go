package proof

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestWhereTheCopierStarted(t *testing.T) {
	c := startClusters(t)
	for _, tt := range []struct {
		name        string
		c           int64
		copiedFrom  int
		lookback    int64
		outcome     Outcome
		first       First
		early, lost int64
	}{
		{"at C", 5, 5, 0, Proven, First{Source: at(t, 5), Target: at(t, 0)}, 0, 0},
		{"at C = 0", 0, 0, 0, Proven, First{Source: at(t, 0), Target: at(t, 0)}, 0, 0},
		{"one before C, as when M was taken for C", 5, 4, 0, Failed, First{Source: at(t, 4), Target: at(t, 0), Fault: TooEarly}, 1, 0},
		{"one after C", 5, 6, 0, Failed, First{Source: at(t, 6), Target: at(t, 0), Fault: TooLate}, 0, 1},
		{"at the log start, as when the alias is wrong", 5, 0, 2, Failed, First{Source: at(t, 3), Target: at(t, 3), Fault: TooEarly}, 2, 0},
		{"at the log start, not known for what it is", 5, 0, -1, Proven, First{Source: at(t, 5), Target: at(t, 5)}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, 12)
			c.source.write(t, rs...)
			c.target.write(t, copyOf(rs[tt.copiedFrom:]...)...)
			o := c.proof(c.from(topic, 0, tt.c, 12, 0))
			o.Lookback = tt.lookback
			outcome, p := onlyPartition(t, o)
			if outcome != tt.outcome || p.Counts.Early != tt.early || p.Counts.Missing != tt.lost {
				t.Errorf("outcome %s (%s), %+v", outcome, p.Reason, p.Counts)
			}
			if d := cmp.Diff(tt.first, p.First, places); d != "" {
				t.Errorf("first (-want +got):\n%s", d)
			}
		})
	}
}

func TestCAtTheEnd(t *testing.T) {
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 6)
	c.source.write(t, rs[:5]...)
	c.target.write(t, copyOf(rs[:5]...)...)
	outcome, p := onlyPartition(t, c.proof(c.from(topic, 0, 5, 5, 5)))
	if outcome != NothingToCopy || p.Outcome != PartitionNothingToCopy || p.Moved {
		t.Errorf("outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
	c.source.write(t, rs[5])
	c.target.write(t, copyOf(rs[5])...)
	if outcome, p = onlyPartition(t, c.proof(c.from(topic, 0, 5, 6, 5))); outcome != Proven {
		t.Errorf("with a later end: outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
	if outcome, p = onlyPartition(t, c.proof(c.from(topic, 0, 5, 5, 5))); outcome != NothingToCopy || p.Counts.Later != 1 {
		t.Errorf("a record beyond the end: outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Counts)
	}
	c.target.write(t, copyOf(rs[4])...)
	if outcome, p = onlyPartition(t, c.proof(c.from(topic, 0, 5, 5, 5))); outcome != Failed || p.Counts.Early != 1 {
		t.Errorf("a record before C: outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Counts)
	}
}

func TestRecordsThatComeWhileItIsWatched(t *testing.T) {
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 30)
	c.source.write(t, rs[:20]...)
	c.target.write(t, copyOf(rs[:5]...)...)
	o := c.proof(c.from(topic, 0, 0, 20, 0))
	looks := 0
	o.Progress = func(p Progress) {
		if looks++; looks == 3 { // the source goes on, and the copier from 3
			c.source.write(t, rs[20:]...)
			c.target.write(t, copyOf(rs[3:]...)...)
		}
		if p.Partitions != 1 || p.Decided > 1 || looks == 1 && p.Decided != 0 {
			t.Errorf("progress %+v at look %d", p, looks)
		}
	}
	outcome, p := onlyPartition(t, o)
	if outcome != Proven {
		t.Errorf("outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
	want := counts{Copied: 20, Repeated: 2, Later: 10}
	if d := cmp.Diff(want, short(p.Counts)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTheLastRecordLostIsSeenByWhatFollowsTheEnd(t *testing.T) {
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 10)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(append(rs[:7:7], rs[8:]...)...)...)
	outcome, p := onlyPartition(t, c.proof(c.from(topic, 0, 0, 8, 0)))
	if outcome != Failed || p.Counts.Missing != 1 || p.Examples[0].Source != at(t, 7) {
		t.Errorf("outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Examples)
	}
}

func TestOnePartitionThatDoesNotMove(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 3, nil)
	var parts []Partition
	for i := range int32(3) {
		rs := records(topic, i, 0, 5)
		c.source.write(t, rs...)
		if i != 1 {
			c.target.write(t, copyOf(rs...)...)
		}
		parts = append(parts, c.from(topic, i, 0, 5, 0))
	}
	o := c.proof(parts...)
	o.Quiet = 2 * time.Second
	r := mustRun(t, o)
	if r.Outcome != NotProven || r.Count(PartitionProven) != 2 || r.Count(PartitionPending) != 1 {
		t.Errorf("outcome %s, %+v", r.Outcome, r.Partitions)
	}
	if d := cmp.Diff([]offsetmap.TopicPartition{{Topic: topic, Partition: 1}}, r.Stalled()); d != "" {
		t.Errorf("stalled (-want +got):\n%s", d)
	}
	if r.Total.Pending != 5 || r.Total.Copied != 10 || r.Partitions[1].Lag != 5 {
		t.Errorf("total %+v, lag %d", r.Total, r.Partitions[1].Lag)
	}
}

func TestRunningWithoutProgress(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 2, nil)
	c.source.write(t, records(topic, 0, 0, 5)...)
	c.source.write(t, records(topic, 1, 0, 5)...)
	c.target.write(t, records(topic, 0, 100, 5)...) // another writer is no progress
	o := c.proof(c.from(topic, 0, 0, 5, 0), c.from(topic, 1, 0, 5, 0))
	o.Bound = 2 * time.Second
	if r := mustRun(t, o); r.Outcome != NoProgress || len(r.Stalled()) != 2 {
		t.Errorf("outcome %s, %+v", r.Outcome, r.Partitions)
	}
}

func TestTheBoundEndsTheWait(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 10)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs[:4]...)...)
	o := c.proof(c.from(topic, 0, 0, 10, 0))
	o.Bound = 2 * time.Second
	outcome, p := onlyPartition(t, o)
	if outcome != NotProven || p.Outcome != PartitionPending || !p.Moved {
		t.Errorf("outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
	if d := cmp.Diff(counts{Copied: 4, Pending: 6}, short(p.Counts)); d != "" {
		t.Errorf("nothing is missing that is only not there yet (-want +got):\n%s", d)
	}
	if p.SourceRead != at(t, 10) || p.TargetRead != at(t, 4) {
		t.Errorf("read up to %s and %s", p.SourceRead, p.TargetRead)
	}
}

func TestCancellingReturnsWhatStood(t *testing.T) {
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 10)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs[:4]...)...)
	ctx, cancel := context.WithCancel(t.Context())
	o := c.proof(c.from(topic, 0, 0, 10, 0))
	o.Progress = func(p Progress) {
		if p.Counts.Copied == 4 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || r.Outcome != NotProven || r.Total.Copied != 4 || r.Total.Pending != 6 {
		t.Errorf("outcome %s, %+v, error %v", r.Outcome, r.Total, err)
	}
}

func TestManyPartitions(t *testing.T) {
	c := startClusters(t)
	const topics, each, n = 4, 50, 20
	var parts []Partition
	var source, target []*kgo.Record
	for i := range topics {
		topic := topicName(t) + "-" + string(rune('a'+i))
		c.topic(topic, each, nil)
		for p := range int32(each) {
			rs := records(topic, p, 0, n)
			source = append(source, rs...)
			copied := copyOf(rs[5:]...)
			if p == 7 {
				copied = slices.Delete(copied, 3, 4)
			}
			target = append(target, copied...)
			parts = append(parts, c.from(topic, p, 5, n, 0))
		}
	}
	c.source.write(t, source...)
	c.target.write(t, target...)
	slices.Reverse(parts)
	r := mustRun(t, c.proof(parts...))
	if r.Outcome != Failed || r.Count(PartitionProven) != topics*(each-1) || r.Count(PartitionFailed) != topics {
		t.Errorf("outcome %s, %d proven, %d failed", r.Outcome, r.Count(PartitionProven), r.Count(PartitionFailed))
	}
	want := counts{Copied: topics * (each*(n-5) - 1), Missing: topics}
	if d := cmp.Diff(want, short(r.Total)); d != "" {
		t.Errorf("total (-want +got):\n%s", d)
	}
	if !slices.IsSortedFunc(r.Partitions, func(a, b PartitionReport) int { return a.Source.Compare(b.Source) }) {
		t.Error("the partitions are not sorted")
	}
}

// noting is an admin client that notes when high watermarks are asked for.
type noting struct {
	Admin
	note func()
}

func (n noting) ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	n.note()
	return n.Admin.ListEndOffsets(ctx, topics...)
}

// A target record that was there when the target was measured must have had its
// source record there when the source was.
func TestTheTargetIsMeasuredBeforeTheSource(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	c.source.write(t, records(topic, 0, 0, 5)...)
	o := c.proof(c.from(topic, 0, 0, 5, 0))
	o.Quiet = time.Second
	var asked []string
	o.Source.Admin = noting{o.Source.Admin, func() { asked = append(asked, "source") }}
	o.Target.Admin = noting{o.Target.Admin, func() { asked = append(asked, "target") }}
	mustRun(t, o)
	if len(asked) < 4 {
		t.Fatalf("measured %d times, want more than before the start", len(asked))
	}
	for i, side := range asked {
		if want := []string{"target", "source"}[i%2]; side != want {
			t.Fatalf("measurement %d is of the %s: %v", i, side, asked)
		}
	}
}
