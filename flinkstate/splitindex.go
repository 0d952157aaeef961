package flinkstate

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// splitIndex orders the splits of one operator by topic and partition without
// moving them.
type splitIndex struct {
	// The splits, and their topics and clusters, as they were: an enumerator may
	// add more to the list and to the table while positions are filled.
	splits          splitList
	names, clusters []string
	// order holds numbers of splits, each one more than it is, by partition within
	// each topic; topic t has order[ends[t]:ends[t+1]].
	order []uint32
	ends  []uint32
	// gaps tells topics apart whose splits are not the partitions from 0 on. It is
	// nil where there are none.
	gaps []bool

	filling sync.WaitGroup
	filled  []offsetmap.Position
}

// index orders the splits. A partition that is there twice is an ErrCorrupt,
// also with the same offset: a source gives a split to one reader, so of two
// copies at least one is not of this checkpoint.
func (r *sourceReader) index() (*splitIndex, error) {
	ix := &splitIndex{
		splits:   r.splits,
		names:    r.topics.names,
		clusters: r.topics.clusters,
		order:    make([]uint32, r.splits.len()),
		ends:     make([]uint32, len(r.topics.names)+1),
	}
	for i := range r.splits.fixed {
		ix.ends[r.splits.fixed[i].topic+1]++
	}
	for t := 1; t < len(ix.ends); t++ {
		ix.ends[t] += ix.ends[t-1]
	}
	// Partitions are numbered from 0, so each usually has a place of its own.
	for i := range r.splits.fixed {
		s := &r.splits.fixed[i]
		places := ix.of(s.topic)
		if p := uint32(s.partition); p < uint32(len(places)) && places[p] == 0 {
			places[p] = uint32(i) + 1
			continue
		}
		if ix.gaps == nil {
			ix.gaps = make([]bool, len(ix.names))
		}
		ix.gaps[s.topic] = true
	}
	if ix.gaps != nil {
		if a, b, twice := ix.sort(); twice {
			return nil, r.duplicate(a, b)
		}
	}
	return ix, nil
}

// sort orders the splits of topics with gaps, and returns the numbers of two of one
// partition when there are any.
func (ix *splitIndex) sort() (a, b int, twice bool) {
	fixed := ix.splits.fixed
	next := slices.Clone(ix.ends[:len(ix.names)])
	for i := range fixed {
		if t := fixed[i].topic; ix.gaps[t] {
			ix.order[next[t]] = uint32(i) + 1
			next[t]++
		}
	}
	for t, gaps := range ix.gaps {
		if !gaps {
			continue
		}
		places := ix.of(uint32(t))
		slices.SortFunc(places, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(fixed[a-1].partition, fixed[b-1].partition), cmp.Compare(a, b))
		})
		for i := 1; i < len(places); i++ {
			if a, b := int(places[i-1])-1, int(places[i])-1; fixed[a].partition == fixed[b].partition {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

func (r *sourceReader) duplicate(a, b int) error {
	where := func(i int) string {
		subtask := r.splits.subtask(i)
		if subtask == fromEnumerator {
			return "in the enumerator"
		}
		return fmt.Sprintf("in subtask %d with starting offset %d", subtask, r.splits.fixed[i].start)
	}
	s := &r.splits.fixed[a]
	return &CorruptError{
		File: r.op.file, Offset: r.op.at, Structure: "operator " + r.op.ID + ", " + readerState,
		Reason: fmt.Sprintf("partition %s-%d is there twice, %s and %s", r.topics.names[s.topic], s.partition, where(a), where(b)),
	}
}

// of returns the part of order that a topic has.
func (ix *splitIndex) of(topic uint32) []uint32 {
	return ix.order[ix.ends[topic]:ix.ends[topic+1]]
}

// holds reports whether a partition is among the splits.
func (ix *splitIndex) holds(topic uint32, partition int32) bool {
	if int(topic) >= len(ix.names) {
		return false // a topic that came after the index
	}
	if ix.gaps == nil || !ix.gaps[topic] {
		return uint32(partition) < ix.ends[topic+1]-ix.ends[topic]
	}
	places := ix.of(topic)
	i := sort.Search(len(places), func(i int) bool { return ix.splits.fixed[places[i]-1].partition >= partition })
	return i < len(places) && ix.splits.fixed[places[i]-1].partition == partition
}

// begin fills the positions of many splits beside what the caller does next, who
// has to call positions or wait.
func (ix *splitIndex) begin() {
	if len(ix.order) >= 2*fewPositions {
		ix.filling.Go(func() { ix.filled = ix.fillAll() })
	}
}

func (ix *splitIndex) wait() { ix.filling.Wait() }

// positions returns the splits by topic and partition.
func (ix *splitIndex) positions() []offsetmap.Position {
	ix.wait()
	if ix.filled == nil {
		ix.filled = ix.fillAll()
	}
	return ix.filled
}

// fillAll uses two processors. Most of the time goes into memory that is new, and
// one half of it costs the first as much as the other costs the second.
func (ix *splitIndex) fillAll() []offsetmap.Position {
	topics := make([]uint32, len(ix.names))
	for i := range topics {
		topics[i] = uint32(i)
	}
	slices.SortFunc(topics, func(a, b uint32) int { return strings.Compare(ix.names[a], ix.names[b]) })
	ps := make([]offsetmap.Position, len(ix.order))
	half, n := 0, 0
	for ; half < len(topics) && n < max(len(ps)/2, fewPositions); half++ {
		n += len(ix.of(topics[half]))
	}
	var second sync.WaitGroup
	if n < len(ps) {
		second.Go(func() { ix.fill(ps[n:], topics[half:]) })
	}
	ix.fill(ps[:n], topics[:half])
	second.Wait()
	if ix.clusters != nil {
		slices.SortFunc(ps, func(a, b offsetmap.Position) int {
			return cmp.Or(a.Compare(b.TopicPartition), cmp.Compare(a.Cluster, b.Cluster))
		})
	}
	return ps
}

// fewPositions are filled before a goroutine would have begun.
const fewPositions = 1 << 12

// fill says in ps, which are empty, what the state says of all splits of the
// topics.
func (ix *splitIndex) fill(ps []offsetmap.Position, topics []uint32) {
	i := 0
	for _, t := range topics {
		topic, cluster := ix.names[t], ""
		if ix.clusters != nil {
			cluster, _ = decodeUTF([]byte(ix.clusters[t]))
		}
		usual := cluster == "" && ix.splits.usual()
		for places := ix.of(t); len(places) > 0; {
			// Splits of one topic lie far apart: fetched some at a time, the waits for
			// memory overlap.
			var few [64]splitFields
			n := min(len(few), len(places))
			for j, place := range places[:n] {
				few[j] = ix.splits.fixed[place-1]
			}
			for j, place := range places[:n] {
				p := &ps[i]
				i++
				if f := &few[j]; usual && f.start >= 0 {
					p.Topic, p.Partition = topic, f.partition
					p.Next, _ = offsetmap.Next(f.start)
					continue
				}
				s := ix.splits.whole(&few[j], int(place)-1)
				s.position(p, topic)
				if cluster != "" {
					p.Cluster = cluster
				}
			}
			places = places[n:]
		}
	}
}

// position says in p, which is empty, what the state says of the split.
func (s *split) position(p *offsetmap.Position, topic string) {
	p.Topic, p.Partition = topic, s.partition
	if s.stop >= 0 {
		p.Stop, _ = offsetmap.Next(s.stop)
	}
	start, err := offsetmap.Next(max(s.start, 0))
	if s.start < 0 || err != nil {
		start = offsetmap.NextOffset{}
	}
	switch s.state {
	case splitHeld:
		if p.Next = start; start.IsNone() {
			p.Unread = marker(s.start)
		}
	case splitUnassigned:
		p.State, p.Start = offsetmap.Unassigned, start
		if start.IsNone() && s.start != noStart {
			p.Unread = marker(s.start)
		}
	default:
		p.State, p.Start = offsetmap.FinishedOrUnassigned, start
	}
}
