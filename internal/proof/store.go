package proof

import "sort"

// source holds what is known of the source records of one partition, by their
// position in the sequence: 41 bytes a record, and a few more once the target
// departs from the sequence and the index is made. It only grows at its end.
//
// A bounded window would drop chunks from the front, which nothing else here
// forbids: positions are used as names, never as lengths.
type source struct {
	sums    list[sum]
	parts   list[parts]
	states  list[state]
	offsets offsets
	index   index
}

// state is what became of a source record.
type state uint8

const (
	open    state = iota // not reached yet
	copied               // the target has it
	gap                  // passed over
	hidden               // passed over where the target lost as many offsets to retention
	altered              // passed over, and a record that differs stands in its place
	states
)

func (s *source) len() int { return s.sums.n }

func (s *source) push(p Print) {
	s.sums.push(p.sum)
	s.parts.push(p.parts)
	s.states.push(open)
	s.offsets.push(p.offset)
}

// find returns the first position with the sum. The index is made when it is
// first asked for: a target that is the source's sequence never asks.
func (s *source) find(want sum) (int, bool) {
	s.index.extend(&s.sums)
	return s.index.find(&s.sums, want)
}

// list is a growing array in chunks, so that growing copies little and leaves
// no half of it unused.
type list[T any] struct {
	chunks [][]T
	n      int
}

const chunk = 4096

func (l *list[T]) push(v T) {
	last := len(l.chunks) - 1
	switch {
	case last < 0:
		l.chunks = append(l.chunks, []T{v})
	case len(l.chunks[last]) == chunk:
		l.chunks = append(l.chunks, append(make([]T, 0, chunk), v))
	default:
		l.chunks[last] = append(l.chunks[last], v)
	}
	l.n++
}

func (l *list[T]) at(i int) *T { return &l.chunks[i/chunk][i%chunk] }

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

// index finds the first position of a sum: open addressing over positions + 1,
// linear probing. Later positions of the same sum are not in it, so a million
// equal records cost no more than one.
type index struct {
	slots []uint32
	used  int
	upto  int // positions below are indexed
}

func (x *index) extend(sums *list[sum]) {
	for ; x.upto < sums.n; x.upto++ {
		if 4*(x.used+1) > 3*len(x.slots) {
			x.grow(sums)
		}
		if slot, found := x.slot(sums, *sums.at(x.upto)); !found {
			x.slots[slot] = uint32(x.upto) + 1
			x.used++
		}
	}
}

func (x *index) find(sums *list[sum], want sum) (int, bool) {
	if x.used == 0 {
		return 0, false
	}
	slot, found := x.slot(sums, want)
	return int(x.slots[slot]) - 1, found
}

// slot returns where the sum is, or where it would be put.
func (x *index) slot(sums *list[sum], want sum) (int, bool) {
	mask := len(x.slots) - 1
	for i := int(want.b & uint64(mask)); ; i = (i + 1) & mask {
		switch p := x.slots[i]; {
		case p == 0:
			return i, false
		case *sums.at(int(p) - 1) == want:
			return i, true
		}
	}
}

func (x *index) grow(sums *list[sum]) {
	old := x.slots
	x.slots = make([]uint32, max(16, 2*len(old)))
	for _, p := range old {
		if p != 0 {
			slot, _ := x.slot(sums, *sums.at(int(p) - 1))
			x.slots[slot] = p
		}
	}
}
