package delivery

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

const (
	// slack is how far clocks may differ: a copy that is stamped anew may look so
	// much older than its original.
	slack = 10 * time.Minute
	// apart is how far the times of records lie apart that are searched for from two
	// places on: of a quiet partition the last record may be months old, and what
	// others have written since need not be read to find it.
	apart = time.Minute
	// mostPlaces bounds the requests for places. With more, times that lie further
	// apart share one.
	mostPlaces = 256
)

// place is where copies of records of one stretch of time begin, in each partition of
// the target, up to where the next place begins.
type place struct {
	since int64 // the time of the oldest
	spans []*span
	cut   bool // the log of a partition starts here, or later, and has lost records
}

// span is a stretch of one partition of the target: [read, to) is not read yet.
type span struct {
	partition int32
	read, to  int64
}

func (p *place) complete() bool {
	return !slices.ContainsFunc(p.spans, func(s *span) bool { return s.read < s.to })
}

// sinces returns the times at which places begin, in order, for the times of records:
// one for those that lie close together, and one for what clocks may differ by where
// none lies so far before.
func sinces(times []int64) []int64 {
	if len(times) == 0 {
		return nil
	}
	slices.Sort(times)
	width := max(apart.Milliseconds(), (times[len(times)-1]-times[0])/mostPlaces)
	var out []int64
	for _, t := range times {
		begin := len(out) == 0 || t-out[len(out)-1] > width
		if !begin {
			continue
		}
		if early := t - slack.Milliseconds(); t > 0 && (len(out) == 0 || out[len(out)-1] < early) {
			out = append(out, max(early, 0))
		}
		if len(out) == 0 || out[len(out)-1] < t {
			out = append(out, t)
		}
	}
	return out
}

// home is the place from which on a copy of a record of the time lies, unless it is
// stamped by a clock that is behind.
func (s *search) home(t int64) int {
	after := sort.Search(len(s.places), func(i int) bool { return s.places[i].since > max(t, 0) })
	return max(after-1, 0)
}

// homeOf is the first home of the samples.
func (s *search) homeOf(samples []sample) int {
	first := len(s.places)
	for _, one := range samples {
		first = min(first, s.home(one.time))
	}
	return first
}

// from is the place from which on everything must be read before a record of the time
// counts as missing.
func (s *search) from(t int64) int { return s.home(s.places[s.home(t)].since - slack.Milliseconds()) }

// readSince reports whether everything from a place on was read.
func (s *search) readSince(i int) bool {
	return !slices.ContainsFunc(s.places[i:], func(p *place) bool { return !p.complete() })
}

// offsets are those of the first records as young as a time, by partition: the log
// start for time 0, since a negative time would be a request of another kind, and the
// end of the log where there is none.
func (s *search) offsets(ctx context.Context, since int64) (map[int32]int64, error) {
	out := map[int32]int64{}
	if since <= 0 {
		for partition, r := range s.target.ranges {
			out[partition], _ = r.Start.Value()
		}
		return out, nil
	}
	listed, err := s.target.admin.ListOffsetsAfterMilli(ctx, since, s.target.name)
	if err != nil {
		return nil, fmt.Errorf("offsets of the target by time: %w", err)
	}
	var failed error
	listed.Each(func(o kadm.ListedOffset) {
		if o.Err != nil && failed == nil {
			failed = fmt.Errorf("offset of %s-%d on the target by time: %w", o.Topic, o.Partition, o.Err)
		}
		out[o.Partition] = o.Offset
	})
	for partition := range s.target.ranges {
		if _, told := out[partition]; !told && failed == nil {
			failed = fmt.Errorf("offset of %s-%d on the target by time: the brokers did not answer", s.target.name, partition)
		}
	}
	return out, failed
}
