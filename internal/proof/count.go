package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Span is a part of the log of one partition, up to but not To.
type Span struct {
	offsetmap.TopicPartition
	From, To offsetmap.NextOffset
}

// Counted is what a span holds.
type Counted struct {
	Span
	// Records are those that a reader of the isolation level is shown.
	Records int64
	// Rest counts the offsets at the end of the span that were not looked at, and Reason
	// says why. Each may hold a record.
	Rest   int64
	Reason string
}

// CountBounds bounds what Count reads.
type CountBounds struct {
	// Records and Bytes are of one span. Zero is 1,000,000 and 256 MiB.
	Records, Bytes int64
	// Within is for all of them. Zero is one minute.
	Within time.Duration
}

// Count counts the readable records of spans by reading them: what offsets alone tell
// is too much, since markers of transactions, aborted records and what compaction took
// have offsets as well. What is before a log's start is no record any more. An error says
// that nothing could be read.
func Count(ctx context.Context, c Cluster, spans []Span, bounds CountBounds) ([]Counted, error) {
	bounds.Records, bounds.Bytes, bounds.Within = cmp.Or(bounds.Records, deliveredRecords), cmp.Or(bounds.Bytes, deliveredBytes), cmp.Or(bounds.Within, time.Minute)
	reading, cancel := context.WithTimeout(ctx, bounds.Within)
	defer cancel()
	var names []string
	for _, s := range spans {
		names = append(names, s.Topic)
	}
	side, err := openTail(reading, sourceSide, c, names)
	if err != nil {
		return nil, err
	}
	defer side.client.Close()
	out := make([]Counted, len(spans))
	var wg sync.WaitGroup
	slots := make(chan struct{}, deliveredAtATime)
	for i, s := range spans {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i] = side.count(reading, s, bounds)
		})
	}
	wg.Wait()
	return out, ctx.Err()
}

func (s *tailSide) count(ctx context.Context, span Span, bounds CountBounds) Counted {
	out := Counted{Span: span}
	from, begins := span.From.Value()
	to, ends := span.To.Value()
	if !begins || !ends {
		out.Reason = "where it begins or ends is not known"
		return out
	}
	if start, known := s.ranges[span.TopicPartition].Start.Value(); known {
		from = min(max(from, start), max(from, to))
	}
	led, known := s.leaders[span.TopicPartition]
	if !known {
		led.Err = kerr.UnknownTopicOrPartition
	}
	at, err := from, led.Err
	if err == nil {
		var bytes int64
		at, err = fresh.Read(ctx, s.client, led.Leader, span.TopicPartition, from, to, fresh.Reading{
			Isolation: s.isolation, Compacted: s.topics[span.Topic].Compacted, Bytes: probeBytes,
			Ahead: func() error {
				if bytes >= bounds.Bytes {
					return fmt.Errorf("%w: %d bytes", errTailBound, bytes)
				}
				return ctx.Err()
			},
			Fetched: func(n int) { bytes += int64(n) },
		}, func(*kgo.Record) bool {
			out.Records++
			return out.Records < bounds.Records
		})
		if err == nil && at < to {
			err = fmt.Errorf("%w: %d records", errTailBound, out.Records)
		}
	}
	if err != nil {
		out.Rest, out.Reason = max(0, to-at), err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			out.Reason = "the time that counting may take was up"
		}
	}
	return out
}

// topicNames are those of one side, sorted, each once.
func topicNames(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
