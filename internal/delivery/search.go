package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// glance is how much is read at each place before all that follows it.
const glance = 128 << 10

// hit is where a content was found.
type hit struct {
	count int
	lies  []int32 // in which partitions
}

// search is the search for the records of one topic.
type search struct {
	*look
	target *topic
	parts  []*part // all of the topic, also those of which nothing is looked for
	sought []*part

	places []*place // by time, the oldest first
	hidden []string // partitions of the target with an open transaction

	values map[digest]bool  // of the records that are looked for
	known  map[digest]bool  // of all records of the source that were read
	want   map[content]bool // key and time of the records before C

	mu   sync.Mutex
	hits map[content]*hit
	// changed holds which of want a record on the target has that is not known.
	changed map[content]bool
	err     error // the first that kept the target from being read

	carried carry
	found   map[carry]map[content]int // classes on the target, with and without a time
	before  map[carry]map[content]int // classes of the records before C that were read
	after   map[carry]map[content]int
	lies    map[carry]map[content][]int32 // in which partitions of the target
	taken   map[content]int               // classes of copies that were counted as beyond
}

// keyAndTime is what a record with a changed value keeps.
func keyAndTime(c content) content { return content{key: c.key, withKey: true, time: c.time} }

// search looks for the samples of the sought partitions in all of the target topic.
func (l *look) search(ctx context.Context, target *cluster, name string, parts, sought []*part) (*search, error) {
	t, err := target.topic(name, l.budget)
	if err != nil {
		return nil, err
	}
	s := &search{
		look: l, target: t, parts: parts, sought: sought,
		taken: map[content]int{}, values: map[digest]bool{}, known: map[digest]bool{}, want: map[content]bool{}, hits: map[content]*hit{}, changed: map[content]bool{},
	}
	for _, p := range parts {
		for c := range p.seen {
			s.known[c.value] = true
		}
	}
	var times []int64
	for _, p := range sought {
		for _, one := range slices.Concat(p.before, p.after) {
			s.values[one.value] = true
			times = append(times, max(one.time, 0))
		}
		for _, one := range p.before {
			if one.withKey && one.time >= 0 {
				s.want[keyAndTime(one.content)] = true
			}
		}
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	if err := s.place(ctx, sinces(times)); err != nil {
		return nil, err
	}
	s.run(ctx)
	s.compare()
	return s, nil
}

// measure holds that the bounds of each partition of the target are known.
func (s *search) measure() error {
	for _, partition := range slices.Sorted(maps.Keys(s.target.ranges)) {
		tp := offsetmap.TopicPartition{Topic: s.target.name, Partition: partition}
		r := s.target.ranges[partition]
		_, start := r.Start.Value()
		end, measured := r.End.Value()
		stable, measuredStable := r.Stable.Value()
		if !start || !measured || !measuredStable {
			return fmt.Errorf("the bounds of %s on the target could not be measured", tp)
		}
		if stable < end {
			s.hidden = append(s.hidden, tp.String())
		}
	}
	return nil
}

// place finds the offsets of the places.
func (s *search) place(ctx context.Context, since []int64) error {
	var next map[int32]int64 // where the place that follows begins
	for _, t := range slices.Backward(since) {
		from, err := s.offsets(ctx, t)
		if err != nil {
			return err
		}
		p := &place{since: t}
		for _, partition := range slices.Sorted(maps.Keys(s.target.ranges)) {
			r := s.target.ranges[partition]
			start, _ := r.Start.Value()
			to, _ := s.target.readable(r)
			if next != nil {
				to = min(to, next[partition])
			}
			p.spans = append(p.spans, &span{partition: partition, read: min(from[partition], to), to: to})
			p.cut = p.cut || start > 0 && from[partition] <= start
		}
		s.places = append(s.places, p)
		next = from
	}
	slices.Reverse(s.places)
	return nil
}

// run reads until all records before C are found and it is known how many from C on
// are there, or nothing more can be read.
func (s *search) run(ctx context.Context) {
	for i, p := range s.places {
		if s.err == nil && slices.ContainsFunc(s.unfound(), func(b sample) bool { return s.home(b.time) == i }) {
			s.read(ctx, p, glance)
		}
	}
	for s.err == nil {
		next := s.next()
		if next < 0 {
			return
		}
		s.read(ctx, s.places[next], 0)
	}
}

// next is the place that is to be read to its end, or -1. The youngest come first,
// where copies are likelier, and what lies before the time of a record comes last.
func (s *search) next() int {
	home, from := len(s.places), len(s.places)
	for _, p := range s.sought {
		if len(p.after) > 0 {
			home = min(home, s.homeOf(p.after))
		}
	}
	for _, b := range s.unfound() {
		home, from = min(home, s.home(b.time)), min(from, s.from(b.time))
	}
	for _, first := range []int{home, from} {
		for i := len(s.places) - 1; i >= first; i-- {
			if !s.places[i].complete() {
				return i
			}
		}
	}
	return -1
}

// unfound are the records before C of which too few copies were found so far.
func (s *search) unfound() []sample {
	s.compare()
	var out []sample
	for _, p := range s.sought {
		for _, b := range p.before {
			if s.copied(b.content) == preflight.NotDelivered {
				out = append(out, b)
			}
		}
	}
	return out
}

// read reads the spans of a place to their ends, or so many bytes of each.
func (s *search) read(ctx context.Context, p *place, most int32) {
	compacted := s.request.MayBeCompacted(s.target.name)
	inParallel(p.spans, func(one *span) {
		if one.read >= one.to {
			return
		}
		hash := newHasher(s.key)
		ask, to := int32(mostBytes), one.to
		var size int64
		if most > 0 {
			ask = most
		}
		read, err := s.target.read(ctx, one.partition, one.read, to, ask, compacted, func(r *kgo.Record) bool {
			s.take(hash, r)
			size += int64(len(r.Key) + len(r.Value))
			return most == 0 || size < int64(most)
		})
		one.read = read
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.err == nil {
				s.err = err
			}
		}
	})
}

// take notes a record of the target.
func (s *search) take(hash hasher, r *kgo.Record) {
	value := hash.bytes(r.Value)
	if s.values[value] {
		c := hash.content(r, value)
		s.mu.Lock()
		defer s.mu.Unlock()
		h := s.hits[c]
		if h == nil {
			h = &hit{}
			s.hits[c] = h
		}
		h.count++
		if !slices.Contains(h.lies, r.Partition) {
			h.lies = append(h.lies, r.Partition)
		}
		return
	}
	if len(s.want) == 0 || r.Key == nil || s.known[value] {
		return
	}
	if c := keyAndTime(content{key: hash.bytes(r.Key), time: r.Timestamp.UnixMilli()}); s.want[c] {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed[c] = true
	}
}
