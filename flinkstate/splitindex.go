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
	splits []split
	// The topics and clusters of the splits: an enumerator may add more to the
	// table while positions are filled.
	names, clusters []string
	// keys holds partition<<32 | index into splits, sorted within each topic;
	// topic t has keys[ends[t-1]:ends[t]].
	keys []uint64
	ends []int

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
		keys:     make([]uint64, len(r.splits)),
		ends:     make([]int, len(r.topics.names)+1),
	}
	for i := range r.splits {
		ix.ends[r.splits[i].topic+1]++
	}
	for t := 1; t < len(ix.ends); t++ {
		ix.ends[t] += ix.ends[t-1]
	}
	// Filling moves each start to the end of its topic, which is the start of
	// the next.
	for i := range r.splits {
		s := &r.splits[i]
		ix.keys[ix.ends[s.topic]] = uint64(s.partition)<<32 | uint64(uint32(i))
		ix.ends[s.topic]++
	}
	ix.ends = ix.ends[:len(r.topics.names)]
	for t := range ix.ends {
		keys := ix.of(uint32(t))
		sortKeys(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i]>>32 == keys[i-1]>>32 {
				return nil, r.duplicate(&r.splits[uint32(keys[i-1])], &r.splits[uint32(keys[i])])
			}
		}
	}
	return ix, nil
}

// sortKeys sorts the keys of one topic. Partitions are numbered from 0, so each
// usually has a place of its own.
func sortKeys(keys []uint64) {
	for i := range keys {
		for {
			p := int(keys[i] >> 32)
			if p == i {
				break
			}
			if p >= len(keys) || keys[p]>>32 == uint64(p) {
				slices.Sort(keys)
				return
			}
			keys[i], keys[p] = keys[p], keys[i]
		}
	}
}

func (r *sourceReader) duplicate(a, b *split) error {
	where := func(s *split) string {
		if s.subtask == fromEnumerator {
			return "in the enumerator"
		}
		return fmt.Sprintf("in subtask %d with starting offset %d", s.subtask, s.start)
	}
	return &CorruptError{
		File: r.op.file, Offset: r.op.at, Structure: "operator " + r.op.ID + ", " + readerState,
		Reason: fmt.Sprintf("partition %s-%d is there twice, %s and %s", r.topics.names[a.topic], a.partition, where(a), where(b)),
	}
}

// of returns the keys of one topic.
func (ix *splitIndex) of(topic uint32) []uint64 {
	from := 0
	if topic > 0 {
		from = ix.ends[topic-1]
	}
	return ix.keys[from:ix.ends[topic]]
}

// holds reports whether a partition is among the splits.
func (ix *splitIndex) holds(topic uint32, partition int32) bool {
	if int(topic) >= len(ix.ends) {
		return false // a topic that came after the index
	}
	keys := ix.of(topic)
	// Partitions are numbered from 0, so usually all are there.
	if n := len(keys); n > 0 && int(keys[n-1]>>32) == n-1 {
		return 0 <= partition && int(partition) < n
	}
	i := sort.Search(len(keys), func(i int) bool { return int32(keys[i]>>32) >= partition })
	return i < len(keys) && int32(keys[i]>>32) == partition
}

// begin fills the positions of many splits beside what the caller does next, who
// has to call positions or wait.
func (ix *splitIndex) begin() {
	if len(ix.keys) >= 2*fewPositions {
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
	ps := make([]offsetmap.Position, len(ix.keys))
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
		for _, k := range ix.of(t) {
			ix.splits[uint32(k)].position(&ps[i], topic)
			ps[i].Cluster = cluster
			i++
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
