package proof

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// afterMeasuring is an admin client that lets the world change directly after
// the log ends were measured for the nth time, before anything is read.
type afterMeasuring struct {
	Admin
	n      atomic.Int32
	change func()
}

func (a *afterMeasuring) ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	l, err := a.Admin.ListEndOffsets(ctx, topics...)
	if a.n.Add(-1) == 0 {
		a.change()
	}
	return l, err
}

func after(n int32, a Admin, change func()) Admin {
	x := &afterMeasuring{Admin: a, change: change}
	x.n.Store(n)
	return x
}

func TestRecordsDeletedBeforeTheyAreRead(t *testing.T) {
	recordsDeletedBeforeTheyAreRead(t, startClusters(t))
}

func recordsDeletedBeforeTheyAreRead(t *testing.T, c *clusters) {
	start := func(t *testing.T) (string, []*kgo.Record, Options) {
		topic := topicName(t)
		c.topic(topic, 1, nil)
		rs := records(topic, 0, 0, 20)
		c.source.write(t, rs...)
		return topic, rs, c.proof(c.from(topic, 0, 5, 20, 0))
	}
	check := func(t *testing.T, o Options, expired int64, want counts) {
		t.Helper()
		outcome, p := onlyPartition(t, o)
		if outcome != NotProven || p.Outcome != PartitionUnprovable || p.SourceExpired != expired {
			t.Errorf("outcome %s, partition %s (%s), expired %d; want unprovable with %d expired", outcome, p.Outcome, p.Reason, p.SourceExpired, expired)
		}
		if d := cmp.Diff(want, short(p.Counts)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	t.Run("source, before the run", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:]...)...)
		c.source.deleteBefore(t, topic, 8)
		check(t, o, 3, counts{Copied: 12, Foreign: 3})
	})
	t.Run("source, under the reader", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:]...)...)
		o.Source.Admin = after(1, o.Source.Admin, func() { c.source.deleteBefore(t, topic, 9) })
		check(t, o, 4, counts{Copied: 11, Foreign: 4})
	})
	t.Run("source, everything", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:]...)...)
		o.Source.Admin = after(1, o.Source.Admin, func() { c.source.deleteBefore(t, topic, 20) })
		check(t, o, 15, counts{Foreign: 15})
	})
	t.Run("source, only what is before C", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:]...)...)
		o.Source.Admin = after(1, o.Source.Admin, func() { c.source.deleteBefore(t, topic, 5) })
		if outcome, p := onlyPartition(t, o); outcome != Proven {
			t.Errorf("outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
		}
	})
	t.Run("target, before the run", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:]...)...)
		c.target.deleteBefore(t, topic, 4)
		check(t, o, 0, counts{Copied: 11, Unprovable: 4})
	})
	t.Run("target, under the reader", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:]...)...)
		o.Target.Admin = after(1, o.Target.Admin, func() { c.target.deleteBefore(t, topic, 4) })
		check(t, o, 0, counts{Copied: 11, Unprovable: 4})
	})
	t.Run("target, no excuse for more than it held", func(t *testing.T) {
		topic, rs, o := start(t)
		c.target.write(t, copyOf(rs[5:7]...)...)
		c.target.write(t, copyOf(rs[10:]...)...)
		c.target.deleteBefore(t, topic, 2)
		outcome, p := onlyPartition(t, o)
		if outcome != Failed || p.Counts.Missing != 3 || p.Counts.Unprovable != 2 {
			t.Errorf("outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Counts)
		}
	})
}

func TestALogThatIsNotTheOneThatWasPlanned(t *testing.T) {
	c := startClusters(t)
	recreate := func(t *testing.T, b *brokers, topic string, n int) {
		t.Helper()
		if err := errors.Join(b.DeleteTopic(topic), b.CreateTopic(topic, 1, nil)); err != nil {
			t.Fatal(err)
		}
		// The other client knows the old topic id.
		if err := b.newClient(t).ProduceSync(t.Context(), records(topic, 0, 500, n)...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, topic string, o *Options)
	}{
		{"source, shorter before the run", func(t *testing.T, topic string, _ *Options) { recreate(t, c.source, topic, 3) }},
		{"target, shorter before the run", func(t *testing.T, topic string, _ *Options) { recreate(t, c.target, topic, 1) }},
		{"source, shorter under the reader", func(t *testing.T, topic string, o *Options) {
			o.Source.Admin = after(1, o.Source.Admin, func() { recreate(t, c.source, topic, 3) })
		}},
		{"target, shorter under the reader", func(t *testing.T, topic string, o *Options) {
			o.Target.Admin = after(1, o.Target.Admin, func() { recreate(t, c.target, topic, 1) })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, 10)
			c.source.write(t, rs...)
			c.target.write(t, copyOf(rs...)...)
			o := c.proof(c.from(topic, 0, 4, 10, 4))
			o.Lookback = -1
			tt.change(t, topic, &o)
			outcome, p := onlyPartition(t, o)
			if outcome != NotProven || p.Outcome != PartitionUnread || !strings.Contains(p.Reason, "truncated, or created again") {
				t.Errorf("outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Counts)
			}
		})
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	for _, tt := range []struct {
		name  string
		fault kfake.Fault
		want  PartitionOutcome
		say   string
	}{
		{"no right to read", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1}, PartitionUnread, "TOPIC_AUTHORIZATION_FAILED"},
		{"a broker that is ill", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.KafkaStorageError, Count: -1}, PartitionPending, "KAFKA_STORAGE_ERROR"},
		{"a broker that was ill", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.KafkaStorageError, Count: 3}, PartitionProven, ""},
		{"a log end that cannot be measured", kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.KafkaStorageError, Count: -1}, PartitionPending, "KAFKA_STORAGE_ERROR"},
	} {
		for _, w := range []which{sourceSide, targetSide} {
			t.Run(tt.name+" on the "+w.String(), func(t *testing.T) {
				t.Parallel()
				topic := topicName(t)
				c.topic(topic, 1, nil)
				rs := records(topic, 0, 0, 10)
				c.source.write(t, rs...)
				c.target.write(t, copyOf(rs...)...)
				f := tt.fault
				f.Topic = topic
				b := c.source
				if w == targetSide {
					b = c.target
				}
				h := b.Fault(f)
				defer h.Remove()
				o := c.proof(c.from(topic, 0, 0, 10, 0))
				if tt.want == PartitionPending {
					o.Quiet = 500 * time.Millisecond
				}
				_, p := onlyPartition(t, o)
				if p.Outcome != tt.want || !strings.Contains(p.Reason, tt.say) || tt.say != "" && !strings.Contains(p.Reason, w.String()) {
					t.Errorf("partition %s (%s), want %s with %s", p.Outcome, p.Reason, tt.want, tt.say)
				}
			})
		}
	}
}
