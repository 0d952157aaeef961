package proof

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// delivered looks at one partition of a topic that is the same on both sides: C, the
// next offset by the copier's word, and where the target ended before the start.
func (c *clusters) delivered(t *testing.T, topic string, begin, next, targetBegin int64, change ...func(*DeliveredOptions)) Delivery {
	t.Helper()
	tp := offsetmap.TopicPartition{Topic: topic}
	ends, err := c.target.admin.ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(topic, 0)
	p := c.proof()
	o := DeliveredOptions{Source: p.Source, Target: p.Target, Partitions: []Stopped{{
		Source: tp, Target: tp, Begin: place(begin), TargetBegin: place(targetBegin), Next: place(next), TargetEnd: place(end.Offset),
	}}}
	o.Target.Isolation = offsetmap.ReadCommitted
	for _, f := range change {
		f(&o)
	}
	got, err := Delivered(t.Context(), o)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	return got[0]
}

func (d Delivery) expect(t *testing.T, next, beyond int64, doubt string) {
	t.Helper()
	if d.Next != place(next) || d.Beyond != beyond || doubt == "" && d.Doubt != "" || !strings.Contains(d.Doubt, doubt) {
		t.Errorf("next %s, %d beyond, doubt %q; want %d, %d, %q", d.Next, d.Beyond, d.Doubt, next, beyond, doubt)
	}
}

// The target ends where it ends, whatever the copier has said: runs of copying, each as
// [first, last) source records, the source having 40, C = 5 and by its word 20 next.
func TestWhatTheTargetHasBeyondTheLastCommit(t *testing.T) {
	c := startClusters(t)
	for name, tt := range map[string]struct {
		runs         [][2]int
		next, beyond int64
	}{
		"nothing more":             {[][2]int{{5, 20}}, 20, 0},
		"killed before the commit": {[][2]int{{5, 27}}, 27, 0},
		"all there is":             {[][2]int{{5, 40}}, 40, 0},

		"killed twice, and further the first time":     {[][2]int{{5, 33}, {15, 24}}, 33, 0},
		"killed twice, and further the second time":    {[][2]int{{5, 24}, {20, 30}}, 30, 0},
		"one is not there, so those behind come again": {[][2]int{{5, 22}, {23, 26}}, 22, 3},
	} {
		t.Run(name, func(t *testing.T) {
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, 40)
			c.source.write(t, rs...)
			c.target.write(t, copyOf(rs[:5]...)...)
			for _, run := range tt.runs {
				c.target.write(t, copyOf(rs[run[0]:run[1]]...)...)
			}
			c.delivered(t, topic, 5, 20, 5).expect(t, tt.next, tt.beyond, "")
		})
	}
}

// A tail that is longer than what is looked for at first.
func TestALongTailIsFollowedToItsEnd(t *testing.T) {
	c := startClusters(t)
	topic := topicName(t)
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 3*firstTail)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs[:2*firstTail]...)...)
	c.delivered(t, topic, 0, 10, 0).expect(t, 2*firstTail, 0, "")
	bound := func(n int64) func(*DeliveredOptions) { return func(o *DeliveredOptions) { o.Records = n } }
	c.delivered(t, topic, 0, 10, 0, bound(firstTail)).expect(t, 10, 0, "as much as may be read of a partition was read")
}

// Records that equal others are no evidence: the copy may be of the other one.
func TestEqualRecordsAreInDoubt(t *testing.T) {
	c := startClusters(t)
	for name, tt := range map[string]struct {
		twin, of     int // source record twin equals source record of
		next, beyond int64
		doubt        string
	}{
		"of one that was committed":     {8, 22, 22, 5, "a record that equals that of offset 22"},
		"of one behind it":              {25, 22, 22, 5, "a record that equals that of offset 22"},
		"of one before C, never copied": {3, 22, 27, 0, ""},
		"of one that was not copied":    {8, 30, 27, 1, "a record that equals that of offset 30"},
		"both committed":                {8, 12, 27, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, 40)
			rs[tt.twin] = copyOf(rs[tt.of])[0]
			for i, r := range rs { // times are not in order, as those of producers
				r.Timestamp = written.Add(time.Duration((i*7)%40) * time.Second)
			}
			rs[tt.twin].Timestamp = rs[tt.of].Timestamp
			c.source.write(t, rs...)
			c.target.write(t, copyOf(rs[:27]...)...)
			c.delivered(t, topic, 5, 20, 5).expect(t, tt.next, tt.beyond, tt.doubt)
		})
	}
}

// A target that stamps its own times is read from the beginning.
func TestATargetThatStampsItsOwnTimes(t *testing.T) {
	c := startClusters(t)
	topic := topicName(t)
	c.topic(topic, 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
	rs := records(topic, 0, 0, 40)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs[:27]...)...)
	c.delivered(t, topic, 5, 20, 5).expect(t, 27, 0, "")
	stamped := func(o *DeliveredOptions) { o.Target.Topics = map[string]Topic{topic: {Timestamps: Stamped}} }
	c.delivered(t, topic, 5, 20, 5, stamped).expect(t, 27, 0, "")
	c.source.deleteBefore(t, topic, 9)
	c.delivered(t, topic, 5, 20, 5, stamped).expect(t, 20, 7, "the source's log begins at 9 by now")
}

// What hides the target's end, or has taken of it, leaves a doubt and never raises Next.
func TestWhatHidesTheEndOfTheTarget(t *testing.T) {
	c := startClusters(t)
	start := func(t *testing.T, copied int) (string, []*kgo.Record) {
		topic := topicName(t)
		c.topic(topic, 1, nil)
		rs := records(topic, 0, 0, 40)
		c.source.write(t, rs...)
		c.target.write(t, copyOf(rs[:copied]...)...)
		return topic, rs
	}
	t.Run("an open transaction", func(t *testing.T) {
		topic, rs := start(t, 23)
		end := c.target.open(t, copyOf(rs[23:25]...)...)
		c.delivered(t, topic, 5, 20, 5).expect(t, 23, 0, "a transaction is open on the target, which hides what lies from offset 23 on")
		end(kgo.TryAbort)
		c.delivered(t, topic, 5, 20, 5).expect(t, 23, 0, "")
	})
	t.Run("the target goes on", func(t *testing.T) {
		topic, rs := start(t, 23)
		moved := func(o *DeliveredOptions) { o.Partitions[0].TargetEnd = place(23); c.target.write(t, copyOf(rs[23])...) }
		c.delivered(t, topic, 5, 20, 5, moved).expect(t, 20, 0, "the target ended at 23 and ends at 24: somebody writes to it")
	})
	t.Run("a compacted target", func(t *testing.T) {
		topic, _ := start(t, 23)
		compacted := func(o *DeliveredOptions) { o.Target.Topics = map[string]Topic{topic: {Compacted: true}} }
		c.delivered(t, topic, 5, 20, 5, compacted).expect(t, 23, 0, "the target is compacted")
	})
	t.Run("a target that has lost copies", func(t *testing.T) {
		topic, _ := start(t, 23)
		c.target.deleteBefore(t, topic, 21)
		c.delivered(t, topic, 5, 20, 5).expect(t, 20, 2, "the target's log begins at 21 by now")
	})
	t.Run("unknown ends", func(t *testing.T) {
		topic, _ := start(t, 23)
		none := func(o *DeliveredOptions) { o.Partitions[0].TargetEnd = offsetmap.NextOffset{} }
		c.delivered(t, topic, 5, 20, 5, none).expect(t, 20, 0, "the target's end, now or before the start, is not known")
		gone := func(o *DeliveredOptions) {
			o.Partitions[0].Source.Partition = 7
			o.Source.Topics = map[string]Topic{topic: {}}
		}
		c.delivered(t, topic, 5, 20, 5, gone).expect(t, 20, 0, "the source's end could not be measured")
	})
}

// Many partitions at once, each by itself.
func TestTheTailsOfManyPartitions(t *testing.T) {
	c := startClusters(t)
	topic := topicName(t)
	c.topic(topic, 20, nil)
	p := c.proof()
	o := DeliveredOptions{Source: p.Source, Target: p.Target}
	for i := range int32(20) {
		rs := records(topic, i, 0, 30)
		c.source.write(t, rs...)
		c.target.write(t, copyOf(rs[:10+i]...)...)
		tp := offsetmap.TopicPartition{Topic: topic, Partition: i}
		o.Partitions = append(o.Partitions, Stopped{Source: tp, Target: tp, Begin: place(0), TargetBegin: place(0), Next: place(10), TargetEnd: place(int64(10 + i))})
	}
	slices.Reverse(o.Partitions)
	got, err := Delivered(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range got {
		if d.Source.Partition != int32(i) {
			t.Fatalf("partition %s at %d", d.Source, i)
		}
		d.expect(t, int64(10+i), 0, "")
	}
}
