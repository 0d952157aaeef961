package proof

import "sort"

// source holds what is known of the source records of one partition, by their
// position in the sequence: 40 bytes a record, and more once the target departs
// from the sequence and the index is made. It grows at its end and is forgotten
// at its front: positions are names, never lengths.
type source struct {
	sums    list[sum]
	parts   list[parts]
	offsets offsets
	index   index
}

func (s *source) len() int { return s.sums.n }

func (s *source) push(p Print) {
	s.sums.push(p.sum)
	s.parts.push(p.parts)
	s.offsets.push(p.offset)
}

// record returns the record at a position.
func (s *source) record(i int) Print {
	return Print{offset: s.offsets.at(i), sum: *s.sums.at(i), parts: *s.parts.at(i)}
}

// find returns the first position in [from, to) with the sum. The index is made
// when it is first asked for: a target that is the source's sequence never asks.
func (s *source) find(want sum, from, to int) (int, bool) {
	s.index.cover(&s.sums, from, to)
	return s.index.find(&s.sums, want)
}

// forget gives up the positions below one, a chunk at a time.
func (s *source) forget(below int) {
	if below < s.sums.oldest()+chunk {
		return
	}
	s.index.shrink(&s.sums, below)
	s.sums.drop(below)
	s.parts.drop(below)
	s.offsets.drop(below)
}

// list is a growing array in chunks, so that growing copies little and leaves
// no half of it unused, and the front can be given up.
type list[T any] struct {
	chunks [][]T
	first  int // chunks before the first that is there
	n      int
	spare  []T // the memory of the chunk that was dropped last
}

const chunk = 4096

func (l *list[T]) push(v T) {
	last := len(l.chunks) - 1
	switch {
	case last < 0 || len(l.chunks[last]) == chunk:
		c := l.spare
		if l.spare = nil; c == nil && l.first+last >= 0 { // the first chunk of a short sequence stays short
			c = make([]T, 0, chunk)
		}
		l.chunks = append(l.chunks, append(c, v))
	default:
		l.chunks[last] = append(l.chunks[last], v)
	}
	l.n++
}

func (l *list[T]) at(i int) *T { return &l.chunks[i/chunk-l.first][i%chunk] }

// oldest returns the lowest position that is still there.
func (l *list[T]) oldest() int { return l.first * chunk }

// drop gives up the chunks that hold nothing but positions below one.
func (l *list[T]) drop(below int) {
	for len(l.chunks) > 1 && (l.first+1)*chunk <= below {
		l.spare = l.chunks[0][:0]
		l.chunks[0] = nil
		l.chunks = l.chunks[1:]
		l.first++
	}
}

// startAt empties the list, and lets it begin with a position.
func (l *list[T]) startAt(position int) {
	c := l.spare
	if c == nil {
		c = make([]T, 0, chunk)
	}
	l.spare = nil
	l.chunks = append(l.chunks[:0], c[:position%chunk])
	l.first, l.n = position/chunk, position
}

// offsets maps positions to offsets. Offsets without holes between them need
// one entry.
type offsets struct {
	runs []run
	n    int
}

type run struct {
	position int
	offset   int64
}

func (o *offsets) push(offset int64) {
	if last := len(o.runs) - 1; last < 0 || offset != o.runs[last].offset+int64(o.n-o.runs[last].position) {
		o.runs = append(o.runs, run{o.n, offset})
	}
	o.n++
}

func (o *offsets) at(position int) int64 {
	i := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].position > position }) - 1
	return o.runs[i].offset + int64(position-o.runs[i].position)
}

// position returns the first position whose offset is not below one; the number
// of positions when there is none.
func (o *offsets) position(offset int64) int {
	i := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].offset > offset }) - 1
	if i < 0 {
		if len(o.runs) == 0 {
			return o.n
		}
		return o.runs[0].position
	}
	end := o.n
	if i+1 < len(o.runs) {
		end = o.runs[i+1].position
	}
	return min(end, o.runs[i].position+int(offset-o.runs[i].offset))
}

// drop gives up the runs that hold nothing but positions below one.
func (o *offsets) drop(below int) {
	gone := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].position > below }) - 1
	if gone > 0 {
		o.runs = o.runs[:copy(o.runs, o.runs[gone:])]
	}
}
