package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// DeliveredOptions is what Delivered needs. The zero value of a field that is not
// required is its default.
type DeliveredOptions struct {
	Source, Target Cluster
	Partitions     []Stopped
	// Records and Bytes bound what is read of one partition, on both sides together.
	// Zero is 1,000,000 and 256 MiB.
	Records, Bytes int64
	// Within bounds the whole look. Zero is five minutes.
	Within time.Duration
}

// Stopped is a partition whose copier has stopped for good.
type Stopped struct {
	Source, Target offsetmap.TopicPartition
	// Begin is C: of what lies before it, nothing was copied to the target from
	// TargetBegin on.
	Begin, TargetBegin offsetmap.NextOffset
	// Next is where the copier would go on by its own word: all that is readable from
	// Begin to here is on the target. It may have copied more.
	Next offsetmap.NextOffset
	// TargetEnd is where the target ends, now that nothing is written any more.
	TargetEnd offsetmap.NextOffset
}

// Delivery is what the target has beyond what the copier knows of.
type Delivery struct {
	Source offsetmap.TopicPartition
	// Next is where a reader of the source can go on without a loss: the target has every
	// readable record before it, beyond doubt. It is Stopped.Next or above.
	Next offsetmap.NextOffset
	// Beyond counts the records from Next on that the target has as well, so far as was
	// seen: these come again.
	Beyond int64
	// Doubt says why more than Beyond may come again; empty where it is certain that no
	// more do.
	Doubt     string
	TargetEnd offsetmap.NextOffset
}

const (
	deliveredRecords = 1_000_000
	deliveredBytes   = 256 << 20
	deliveredWithin  = 5 * time.Minute

	deliveredAtATime = 8
	// firstTail is how many source records are looked for at first. All of a log's are, if
	// the last of these is there.
	firstTail = 1 << 10
)

// Delivered finds out how far a copier that has stopped came, past what it last said of
// itself: one that was killed has copied records that it did not come to commit.
//
// The records of the source from Next on are looked for on the target by the digests of
// a proof. Where the target keeps timestamps, its brokers tell from where on records as
// young can lie, and the source's whether an older record equals one of these, whose
// copy would look the same; where it stamps its own, everything from the beginning is
// read for both. Whatever cannot be found out leaves Next where it was, or before the
// record in doubt, and says so. An error says that nothing could be looked at.
func Delivered(ctx context.Context, o DeliveredOptions) ([]Delivery, error) {
	o.Records, o.Bytes, o.Within = cmp.Or(o.Records, deliveredRecords), cmp.Or(o.Bytes, deliveredBytes), cmp.Or(o.Within, deliveredWithin)
	bounded, cancel := context.WithTimeout(ctx, o.Within)
	defer cancel()
	var err error
	l := &tails{DeliveredOptions: o, digester: NewDigester()}
	defer l.close()
	var names [2][]string
	for _, p := range o.Partitions {
		names[sourceSide], names[targetSide] = append(names[sourceSide], p.Source.Topic), append(names[targetSide], p.Target.Topic)
	}
	for w, c := range [2]Cluster{sourceSide: o.Source, targetSide: o.Target} {
		if l.sides[w], err = openTail(bounded, which(w), c, names[w]); err != nil {
			return nil, fmt.Errorf("%s: %w", which(w), err)
		}
	}
	out := make([]Delivery, len(o.Partitions))
	var wg sync.WaitGroup
	slots := make(chan struct{}, deliveredAtATime)
	for i, p := range o.Partitions {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i] = l.look(bounded, p)
		})
	}
	wg.Wait()
	l.heldStill(ctx, out)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Delivery) int { return a.Source.Compare(b.Source) })
	return out, nil
}

// tails looks at the ends of partitions.
type tails struct {
	DeliveredOptions
	sides    [2]*tailSide
	digester *Digester
}

// tailSide is one cluster, read by hand.
type tailSide struct {
	client    *kgo.Client
	isolation kgo.IsolationLevel
	leaders   map[offsetmap.TopicPartition]fresh.Led
	ranges    map[offsetmap.TopicPartition]offsetmap.Range
	topics    map[string]Topic
}

func (l *tails) close() {
	for _, s := range l.sides {
		if s != nil {
			s.client.Close()
		}
	}
}

func openTail(ctx context.Context, w which, c Cluster, names []string) (*tailSide, error) {
	names = topicNames(names)
	s := &tailSide{isolation: isolation(c.Isolation)}
	var err error
	if s.topics, err = describe(ctx, w, c, names); err != nil {
		return nil, err
	}
	// What is not measured has no bound, and is not looked at.
	if s.ranges, err = fresh.Ranges(ctx, c.Admin, names...); len(s.ranges) == 0 && err != nil {
		return nil, err
	}
	if s.client, err = kgo.NewClient(append(append([]kgo.Opt{}, c.Options...), kgo.ConsumeTopics())...); err != nil {
		return nil, err
	}
	if s.leaders, err = fresh.Leaders(ctx, s.client, names...); err != nil {
		s.client.Close()
		return nil, err
	}
	return s, nil
}

// heldStill takes back what was said of partitions whose target went on meanwhile: then
// somebody writes, and what was not there may be by now.
func (l *tails) heldStill(ctx context.Context, out []Delivery) {
	names := map[string]bool{}
	target := map[offsetmap.TopicPartition]Stopped{}
	for _, p := range l.Partitions {
		names[p.Target.Topic], target[p.Source] = true, p
	}
	now, err := fresh.Ranges(ctx, l.Target.Admin, sortedKeys(names)...)
	var unmeasured *fresh.UnmeasuredError
	errors.As(err, &unmeasured)
	for i, d := range out {
		p := target[d.Source]
		switch end := now[p.Target].End; {
		case end == p.TargetEnd, p.TargetEnd.IsNone():
		case end.IsNone():
			out[i] = p.doubt("whether the target's end has stayed at %s could not be measured: %v", p.TargetEnd, cmp.Or(unmeasured.Reason(p.Target), err))
		default:
			out[i] = p.doubt("the target ended at %s and ends at %s: somebody writes to it", p.TargetEnd, end)
		}
	}
}

// doubt is what is known where nothing could be found out.
func (p Stopped) doubt(format string, args ...any) Delivery {
	return Delivery{Source: p.Source, Next: p.Next, Doubt: fmt.Sprintf(format, args...), TargetEnd: p.TargetEnd}
}
