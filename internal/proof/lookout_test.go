package proof

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// farther is a number of records that a small window has no part of.
const farther = 20 * minBehind

func writeAll(t *testing.T, b *brokers, rs []*kgo.Record) {
	t.Helper()
	for part := range slices.Chunk(rs, 5_000) {
		b.write(t, part...)
	}
}

func TestACopierFarFromWhereItShouldBeIsFoundOut(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	for _, tt := range []struct {
		name    string
		copier  func(rs []*kgo.Record) []*kgo.Record
		outcome Outcome
		want    counts
	}{
		{"exact", func(rs []*kgo.Record) []*kgo.Record { return rs }, Proven, counts{Copied: farther}},
		{
			"started at the latest, and few records came since",
			func(rs []*kgo.Record) []*kgo.Record { return rs[farther-5:] },
			Failed,
			counts{Copied: 5, Missing: farther - 5},
		},
		{
			"left out more than the window",
			func(rs []*kgo.Record) []*kgo.Record { return slices.Concat(rs[:10], rs[farther/2:]) },
			Failed,
			counts{Copied: farther/2 + 10, Missing: farther/2 - 10},
		},
		{
			"behind a flood of another writer's",
			func(rs []*kgo.Record) []*kgo.Record {
				return slices.Concat(copyOf(records(rs[0].Topic, 0, 10*farther, farther)...), rs)
			},
			Proven,
			counts{Copied: farther},
		},
		{
			"replayed more than the window",
			func(rs []*kgo.Record) []*kgo.Record { return slices.Concat(rs[:farther/2], rs[farther/4:]) },
			Proven,
			counts{Copied: farther, Repeated: minBehind},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, farther)
			writeAll(t, c.source, rs)
			writeAll(t, c.target, tt.copier(copyOf(rs...)))
			o := c.proof(c.from(topic, 0, 0, farther, 0))
			o.Window = 1 // which makes it the least
			outcome, p := onlyPartition(t, o)
			if outcome != tt.outcome || p.Unread != 0 {
				t.Errorf("outcome %s, partition %s (%s), %d unread", outcome, p.Outcome, p.Reason, p.Unread)
			}
			p.Counts.Foreign, p.Counts.Older = 0, p.Counts.Foreign+p.Counts.Older // which of them says what was read by then
			if d := cmp.Diff(tt.want, short(p.Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if older := p.Counts.Target - p.Counts.Copied - p.Counts.Repeated; p.Counts.Older != older {
				t.Errorf("older %d, want the other %d", p.Counts.Older, older)
			}
		})
	}
}

// A target far behind is no reason to read all of the source.
func TestTheSourceIsReadNoFurtherThanTheTargetAsksFor(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, farther)
	writeAll(t, c.source, rs)
	c.target.write(t, copyOf(rs[:10]...)...)
	o := c.proof(c.from(topic, 0, 0, farther, 0))
	o.Window = 1
	o.Source.Options = append(o.Source.Options, kgo.FetchMaxPartitionBytes(10_000))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p Progress) {
		if p.Counts.Copied == 10 && p.Counts.Source >= 10+2*minAhead { // all that the target has, and all that it asks for
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	outcome, p := r.Outcome, r.Partitions[0]
	if outcome != NotProven || p.Outcome != PartitionPending || !strings.Contains(p.Reason, "as far as the target asks for") {
		t.Errorf("outcome %s, partition %s (%s)", outcome, p.Outcome, p.Reason)
	}
	read, _ := p.SourceRead.Value()
	if p.Unread != farther-read || p.Unread < farther/2 || p.Counts.Pending != read-10 || p.Counts.Copied != 10 {
		t.Errorf("read to %d, %d unread, %+v", read, p.Unread, p.Counts)
	}
}

// A search that cannot be made decides nothing, says why, and is made again.
func TestASearchThatFailsDecidesNothing(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+9)
	p.window = extent{1, 1}
	p.cmp = NewComparer(WithWindow(1, 1))
	p.take(sourceSide, fetch("AB", sourceFrom, 0))
	p.take(targetSide, fetch("F", targetFrom, 0))
	look := func() (x *Search, due bool) {
		for range standsLooks {
			p.look(o, logRange(0, targetFrom+1), logRange(0, sourceFrom+9))
		}
		x, from, to, due := p.lookout()
		if due && (from != sourceFrom+2 || to != sourceFrom+9) {
			t.Errorf("searched from %d to %d", from, to)
		}
		return x, due
	}
	for range 2 {
		x, due := look()
		if !due {
			t.Fatal("no search is due")
		}
		p.found(x, false, errors.New("ill"))
	}
	if p.cmp.Counts().Undecided != 1 || !strings.Contains(p.errors(), "ill") {
		t.Errorf("%+v%s", p.cmp.Counts(), p.errors())
	}
	x, _ := look()
	for _, r := range word("CDEF", sourceFrom+2) {
		x.See(r)
	}
	p.found(x, true, nil)
	p.take(sourceSide, fetch("CDEFG", sourceFrom+2, 0))
	if d := cmp.Diff(counts{Copied: 1, Missing: 5, Pending: 1}, short(p.cmp.Counts())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Records that only wait for the head to move on are no reason to read no more of
// the target: what moves it may be next.
func TestTheTargetIsReadOnBehindStrangers(t *testing.T) {
	const far = sourceFrom + 1000
	p, o := alone(t, sourceFrom, far)
	p.window, p.limit = extent{8, 8}, 8
	p.cmp = NewComparer(WithWindow(8, 8))
	p.take(sourceSide, fetch("ABCDEFGHIJKLMNOPQRSTUVWX", sourceFrom, 0))
	p.take(targetSide, fetch(strings.Repeat("0", 40), targetFrom, 0))
	if !p.target.held || !p.source.held {
		t.Fatalf("held: target %t, source %t", p.target.held, p.source.held)
	}
	searches := 0
	for range 20 {
		p.look(o, logRange(0, targetFrom+40), logRange(0, far))
		if x, _, _, due := p.lookout(); due {
			searches++
			p.found(x, true, nil)
		}
	}
	if p.target.held || searches != 3 {
		t.Errorf("held for ever: %t, after %d searches", p.target.held, searches)
	}
	p.take(targetSide, fetch("ABCD", targetFrom+40, 0))
	if got := p.cmp.Counts(); got.Copied != 4 || got.Foreign+got.Older != 40 {
		t.Errorf("%+v", got)
	}
}

// A barrier speaks for the target records below it, and what a search found has
// the source read on, however far.
func TestASearchIsMadeForWhatABarrierCovers(t *testing.T) {
	const far = sourceFrom + 1000
	p, o := alone(t, sourceFrom, far)
	p.window = extent{2, 2}
	p.cmp = NewComparer(WithWindow(2, 2))
	p.take(sourceSide, fetch("ABCD", sourceFrom, 0))
	p.take(targetSide, fetch("YZ", targetFrom, 0))
	for range 2 * standsLooks {
		p.look(o, logRange(0, targetFrom+1), logRange(0, far))
		if _, _, _, due := p.lookout(); due {
			t.Fatal("searched up to a source end that was measured for one record less")
		}
	}
	p.look(o, logRange(0, targetFrom+2), logRange(0, far))
	x, _, _, due := p.lookout()
	if !due || !p.source.held {
		t.Fatalf("due %t, held %t", due, p.source.held)
	}
	x.See(word("Y", far-2)[0])
	p.found(x, true, nil)
	if p.source.held {
		t.Error("the source that is to be passed over is held for ever")
	}
}
