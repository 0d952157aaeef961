package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// errTailBound says that as much of a partition was read as may be.
var errTailBound = errors.New("as much as may be read of a partition was read")

// tail is the look at one partition.
type tail struct {
	*tails
	Stopped
	digester *Digester
	stamps   Timestamps

	readRecords, readBytes int64

	sought []sought    // source records from Next on, in order
	at     map[sum]int // the first of them with the sum
	oldest int64       // of their timestamps; untimed where one has none
}

// sought is a source record that is looked for.
type sought struct {
	offset int64
	sum    sum
	found  bool
	twin   bool // another source record that may have been copied equals it
}

// look finds out what the target has of one partition.
func (l *tails) look(ctx context.Context, p Stopped) Delivery {
	t := &tail{tails: l, Stopped: p, digester: l.digester.Clone(), stamps: l.sides[targetSide].topics[p.Target.Topic].Timestamps, at: map[sum]int{}}
	out, err := t.deliver(ctx)
	if err != nil {
		return p.doubt("%v", err)
	}
	return out
}

func (t *tail) deliver(ctx context.Context) (Delivery, error) {
	source, target := t.sides[sourceSide], t.sides[targetSide]
	from, known := t.Next.Value()
	end, ends := source.readable(source.ranges[t.Source]).Value()
	begin, begins := t.TargetBegin.Value()
	last, lasts := t.TargetEnd.Value()
	switch {
	case !known || t.Begin.IsNone():
		return Delivery{}, errors.New("where the copier began, or goes on, is not known")
	case !ends:
		return Delivery{}, errors.New("the source's end could not be measured")
	case !begins || !lasts:
		return Delivery{}, errors.New("the target's end, now or before the start, is not known")
	case last <= begin, end <= from:
		return Delivery{Source: t.Source, Next: t.Next, TargetEnd: t.TargetEnd}, nil // nothing was copied, or there is nothing more
	}
	readable, measured := target.readable(target.ranges[t.Target]).Value()
	if !measured {
		return Delivery{}, errors.New("the target's end could not be measured")
	}
	var since int64
	for next, most := from, firstTail; ; most *= 4 {
		var err error
		if next, err = t.seek(ctx, next, end, most); err != nil {
			return Delivery{}, err
		}
		if since, err = t.since(ctx, targetSide, t.Target, begin); err != nil {
			return Delivery{}, err
		}
		if err := t.find(ctx, since, min(last, readable)); err != nil {
			return Delivery{}, err
		}
		if next >= end || len(t.sought) == 0 || !t.sought[len(t.sought)-1].found {
			break
		}
	}
	lookback, err := t.twins(ctx, from)
	if err != nil {
		return Delivery{}, err
	}
	out := t.judge()
	switch {
	case lookback != nil && out.Next != t.Next:
		// What was found may be copies of what is gone.
		out.Next, out.Beyond, out.Doubt = t.Next, t.found(), lookback.Error()
		return out, nil
	case out.Doubt != "":
		return out, nil
	}
	logStart, _ := target.ranges[t.Target].Start.Value()
	switch {
	case readable < last:
		out.Doubt = fmt.Sprintf("a transaction is open on the target, which hides what lies from offset %d on", readable)
	case target.topics[t.Target.Topic].Compacted:
		out.Doubt = "the target is compacted, so a copy may be gone from it"
	case since <= logStart && logStart > begin:
		out.Doubt = fmt.Sprintf("the target's log begins at %d by now, and copies before that are not seen", logStart)
	}
	return out, nil
}

// found counts what the target seems to have.
func (t *tail) found() (n int64) {
	for _, s := range t.sought {
		if s.found {
			n++
		}
	}
	return n
}

// judge reads from what was found how far the target has everything.
func (t *tail) judge() Delivery {
	out := Delivery{Source: t.Source, Next: t.Next, TargetEnd: t.TargetEnd}
	at := 0
	for ; at < len(t.sought) && t.sought[at].found && !t.sought[at].twin; at++ {
		out.Next = place(t.sought[at].offset + 1)
	}
	for _, s := range t.sought[at:] {
		if s.found {
			out.Beyond++
		}
		if s.found && s.twin && out.Doubt == "" {
			out.Doubt = fmt.Sprintf("the source has a record that equals that of offset %d, so which of them the target has is not known", s.offset)
		}
	}
	return out
}

// seek reads source records until so many are sought, and returns up to where.
func (t *tail) seek(ctx context.Context, from, to int64, most int) (int64, error) {
	return t.read(ctx, sourceSide, t.Source, from, to, func(r *kgo.Record) bool {
		p := t.digester.Print(r, t.stamps)
		if first, some := t.at[p.sum]; some {
			t.sought[first].twin = true
			t.sought = append(t.sought, sought{offset: p.offset, sum: p.sum, twin: true})
		} else {
			t.at[p.sum] = len(t.sought)
			t.sought = append(t.sought, sought{offset: p.offset, sum: p.sum})
		}
		if moment := r.Timestamp.UnixMilli(); len(t.sought) == 1 || moment < t.oldest {
			t.oldest = moment
		}
		return len(t.sought) < most
	})
}

// since returns the first offset, from begin on, at which a record can equal one that is
// sought: a copy has the time of its original. One millisecond is left for how brokers
// index times.
func (t *tail) since(ctx context.Context, w which, tp offsetmap.TopicPartition, begin int64) (int64, error) {
	s := t.sides[w]
	if start, known := s.ranges[tp].Start.Value(); known {
		begin = max(begin, start)
	}
	if t.stamps == Stamped || t.oldest < 1 || len(t.sought) == 0 {
		return begin, nil
	}
	first, err := fresh.FirstSince(ctx, s.client, tp, t.oldest-1)
	if err != nil {
		return begin, err
	}
	if at, some := first.Value(); some {
		return max(begin, at), nil
	}
	if end, known := s.ranges[tp].End.Value(); known {
		return max(begin, end), nil
	}
	return begin, nil
}

// find marks what the target has.
func (t *tail) find(ctx context.Context, from, to int64) error {
	_, err := t.read(ctx, targetSide, t.Target, from, to, func(r *kgo.Record) bool {
		if at, some := t.at[t.digester.Print(r, t.stamps).sum]; some {
			t.mark(at)
		}
		return true
	})
	return err
}

// mark says that the target has a record, and all that equal it.
func (t *tail) mark(at int) {
	if t.sought[at].twin {
		for i := range t.sought {
			if t.sought[i].sum == t.sought[at].sum {
				t.sought[i].found = true
			}
		}
	}
	t.sought[at].found = true
}

// twins looks among the source records before those that are sought for one that equals
// one of them, since its copy would look the same. It returns why an older one may have
// been there that the source has no more.
func (t *tail) twins(ctx context.Context, next int64) (gone, err error) {
	begin, _ := t.Begin.Value()
	since, err := t.since(ctx, sourceSide, t.Source, begin)
	if err != nil {
		return nil, err
	}
	_, err = t.read(ctx, sourceSide, t.Source, since, next, func(r *kgo.Record) bool {
		if at, some := t.at[t.digester.Print(r, t.stamps).sum]; some {
			t.sought[at].twin = true
		}
		return true
	})
	if start, _ := t.sides[sourceSide].ranges[t.Source].Start.Value(); since <= start && start > begin {
		gone = fmt.Errorf("the source's log begins at %d by now, so whether older records equal those that the target has is not known", start)
	}
	return gone, err
}

// read reads records by hand, within the bounds of the partition.
func (t *tail) read(ctx context.Context, w which, tp offsetmap.TopicPartition, from, to int64, each func(*kgo.Record) bool) (int64, error) {
	s := t.sides[w]
	led, known := s.leaders[tp]
	if !known {
		led.Err = kerr.UnknownTopicOrPartition
	}
	if led.Err != nil {
		return from, fmt.Errorf("%s %s: %w", w, tp, led.Err)
	}
	at, err := fresh.Read(ctx, s.client, led.Leader, tp, from, to, fresh.Reading{
		Isolation: s.isolation, Compacted: s.topics[tp.Topic].Compacted, Bytes: probeBytes,
		Ahead: func() error {
			if t.readRecords >= t.Records || t.readBytes >= t.Bytes {
				return fmt.Errorf("%w: %d records, %d bytes", errTailBound, t.readRecords, t.readBytes)
			}
			return ctx.Err()
		},
		Fetched: func(bytes int) { t.readBytes += int64(bytes) },
	}, func(r *kgo.Record) bool {
		t.readRecords++
		return each(r)
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", w, err)
	}
	return at, err
}

// readable is the end of what a reader of the isolation level sees.
func (s *tailSide) readable(r offsetmap.Range) offsetmap.NextOffset {
	if s.isolation == kgo.ReadCommitted() {
		return r.Stable
	}
	return r.End
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
