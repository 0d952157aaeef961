package proof

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// marked runs until the one partition stands at a source offset, and returns its
// mark.
func marked(t *testing.T, o Options, source int64) *Mark {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last *Mark
	o.MarkInterval = time.Millisecond
	o.Marks = func(ms []PartitionMark) {
		if len(ms) > 0 && ms[0].Mark.Source == source {
			last = &ms[0].Mark
			cancel()
		}
	}
	if _, err := Run(ctx, o); last == nil {
		t.Fatalf("it never stood at %d: %v", source, err)
	}
	return last
}

func TestARunGoesOnWhereAnotherStood(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const half = farther / 2
	for _, tt := range []struct {
		name        string
		first, then func(rs []*kgo.Record) []*kgo.Record
		outcome     Outcome
		want        counts
	}{
		{
			"exact",
			func(rs []*kgo.Record) []*kgo.Record { return rs[:half] },
			func(rs []*kgo.Record) []*kgo.Record { return rs[half:] },
			Proven,
			counts{Copied: farther},
		},
		{
			"a replay over the place",
			func(rs []*kgo.Record) []*kgo.Record { return rs[:half] },
			func(rs []*kgo.Record) []*kgo.Record { return rs[half-100:] },
			Proven,
			counts{Copied: farther, Repeated: 100},
		},
		{
			"lost before and after the place, and one that comes late after it",
			func(rs []*kgo.Record) []*kgo.Record {
				return slices.Concat(rs[:3], rs[4:7], rs[8:half])
			},
			func(rs []*kgo.Record) []*kgo.Record {
				return slices.Concat(rs[half:half+5], rs[3:4], rs[half+9:])
			},
			Failed,
			counts{Copied: farther - 5, Missing: 5, OutOfOrder: 1},
		},
		{
			"a record from before C after the place",
			func(rs []*kgo.Record) []*kgo.Record { return rs[:half] },
			func(rs []*kgo.Record) []*kgo.Record {
				early := copyOf(records(rs[0].Topic, 0, 4, 1)...)
				return slices.Concat(rs[half:half+5], early, rs[half+5:])
			},
			Failed,
			counts{Copied: farther, Early: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			topic := topicName(t)
			c.topic(topic, 1, nil)
			const before = 5
			rs := records(topic, 0, 0, before+farther)
			writeAll(t, c.source, rs)
			writeAll(t, c.target, tt.first(copyOf(rs[before:]...)))
			o := c.proof(c.from(topic, 0, before, before+farther, 0))
			o.Window = 1
			m := marked(t, o, before+half)
			if m.Copied+m.Missing != half {
				t.Errorf("it stood at %d with %d copied and %d missing, want %d", m.Source, m.Copied, m.Missing, before+half)
			}
			writeAll(t, c.target, tt.then(copyOf(rs[before:]...)))
			o.Partitions[0].From = m
			outcome, p := onlyPartition(t, o)
			if outcome != tt.outcome || p.First.Source != at(t, before) || p.First.Target != at(t, 0) {
				t.Errorf("outcome %s, partition %s (%s), first %+v", outcome, p.Outcome, p.Reason, p.First)
			}
			if d := cmp.Diff(tt.want, short(p.Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What was compared need not be there any more.
func TestWhatExpiredAfterItWasComparedIsNoLoss(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic, half = "orders", farther / 2
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, farther)
	writeAll(t, c.source, rs)
	writeAll(t, c.target, copyOf(rs[:half]...))
	o := c.proof(c.from(topic, 0, 0, farther, 0))
	o.Window = 1
	m := marked(t, o, half)
	c.source.deleteBefore(t, topic, m.Source)
	c.target.deleteBefore(t, topic, m.Target)
	writeAll(t, c.target, copyOf(rs[half:]...))
	o.Partitions[0].From = m
	if outcome, p := onlyPartition(t, o); outcome != Proven || p.Counts.Copied != farther || p.SourceExpired != 0 {
		t.Errorf("outcome %s, partition %s (%s), %+v", outcome, p.Outcome, p.Reason, p.Counts)
	}
	// But what expired before it was compared is unprovable.
	c.source.deleteBefore(t, topic, m.Source+7)
	if outcome, p := onlyPartition(t, o); outcome != NotProven || p.SourceExpired != 7 {
		t.Errorf("outcome %s, partition %s (%s), %d expired", outcome, p.Outcome, p.Reason, p.SourceExpired)
	}
}

// Marks are passed on while it runs too, so that one that is killed has some.
func TestMarksComeWhileItRuns(t *testing.T) {
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 2, nil)
	for p := range int32(2) {
		rs := records(topic, p, 0, 20)
		c.source.write(t, rs...)
		c.target.write(t, copyOf(rs[:10]...)...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := c.proof(c.from(topic, 0, 0, 20, 0), c.from(topic, 1, 0, 20, 0))
	o.MarkInterval = time.Millisecond
	o.Marks = func(ms []PartitionMark) {
		if len(ms) == 2 && ms[0].Mark.Copied == 10 && ms[1].Mark.Copied == 10 && ms[1].Source.Partition == 1 {
			cancel()
		}
	}
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: the marks never came", err)
	}
}

func TestAMarkThatIsNoneOfThePartitionIsRefused(t *testing.T) {
	t.Parallel()
	right := func() *Mark {
		return &Mark{
			Source: 110, Window: 105, Target: 5005, Read: 5, Copied: 5, Missing: 3,
			First: First{Source: at(t, 100), Target: at(t, 5000)},
			Gaps:  []GapRun{{From: 101, To: 103, State: GapMissing}}, Repeats: []RepeatRun{{From: 106, To: 107, Times: 1}},
		}
	}
	p := Partition{Next: at(t, 100), End: at(t, 110), TargetEnd: at(t, 5000)}
	if err := right().validate(p); err != nil {
		t.Fatal(err)
	}
	for say, change := range map[string]func(*Mark){
		"and C is 100":             func(m *Mark) { m.Window = 99 },
		"window from 111":          func(m *Mark) { m.Window = 111 },
		"above the end":            func(m *Mark) { m.Source = 111 },
		"below the recorded end":   func(m *Mark) { m.Target = 4999 },
		"no first record":          func(m *Mark) { m.First = First{} },
		"below zero":               func(m *Mark) { m.OutOfOrder = -1 },
		"do not add up":            func(m *Mark) { m.Read = 6 },
		"gaps 101 to 110":          func(m *Mark) { m.Gaps[0].To = 110 },
		"gaps 99 to 103":           func(m *Mark) { m.Gaps[0].From = 99 },
		`unknown state "lost"`:     func(m *Mark) { m.Gaps[0].State = "lost" },
		"4 gaps are missing":       func(m *Mark) { m.Gaps[0].To = 104 },
		"repeats 104 to 107":       func(m *Mark) { m.Repeats[0].From = 104 },
		"repeats 106 to 110":       func(m *Mark) { m.Repeats[0].To = 110 },
		"gaps 103 to 103 are not":  func(m *Mark) { m.Gaps = append(m.Gaps, GapRun{From: 103, To: 103, State: GapUnprovable}) },
		"1 altered, more than the": func(m *Mark) { m.Gaps[0] = GapRun{From: 101, To: 101, State: GapAltered} },
	} {
		m := right()
		change(m)
		if err := m.validate(p); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%v, want %q", err, say)
		}
	}
}
