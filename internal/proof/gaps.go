package proof

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

// gaps holds the source records that were passed over, in order, so that one
// that comes late is known. There are at most as many as fit.
type gaps struct {
	most   int
	all    []passed
	unused []int32
	oldest int32
	newest int32
	live   int
	bySum  map[sum]span
	byKey  map[uint64]int32 // only under compaction: the one that no later record covers
}

// span is the first and the last of the gaps with equal sums.
type span struct{ first, last int32 }

// passed is one record that was passed over.
type passed struct {
	sum       sum
	parts     parts
	position  int
	offset    int64
	state     state
	covered   bool // a later record has its key, so compaction may have taken it
	prev      int32
	next      int32
	nextEqual int32
}

const none int32 = -1

func (p *passed) record() Print { return Print{offset: p.offset, sum: p.sum, parts: p.parts} }

func newGaps(most int) gaps {
	return gaps{most: most, oldest: none, newest: none, bySum: map[sum]span{}}
}

func (g *gaps) full() bool { return g.live >= g.most }

func (g *gaps) at(id int32) *passed { return &g.all[id] }

// add puts a record behind the others.
func (g *gaps) add(p passed) int32 {
	p.prev, p.next, p.nextEqual = g.newest, none, none
	var id int32
	if n := len(g.unused); n > 0 {
		id = g.unused[n-1]
		g.unused = g.unused[:n-1]
		g.all[id] = p
	} else {
		id = int32(len(g.all))
		g.all = append(g.all, p)
	}
	if g.newest != none {
		g.at(g.newest).next = id
	} else {
		g.oldest = id
	}
	g.newest = id
	equal, some := g.bySum[p.sum]
	if some {
		g.at(equal.last).nextEqual = id
		equal.last = id
	} else {
		equal = span{id, id}
	}
	g.bySum[p.sum] = equal
	if g.byKey != nil && p.parts.key != null {
		g.byKey[p.parts.key] = id
	}
	g.live++
	return id
}

// lowest returns the first with the sum.
func (g *gaps) lowest(s sum) (int32, bool) {
	if g.live == 0 {
		return none, false
	}
	equal, some := g.bySum[s]
	return equal.first, some
}

// remove takes out the first of its sum.
func (g *gaps) remove(id int32) {
	p := g.at(id)
	if p.prev != none {
		g.at(p.prev).next = p.next
	} else {
		g.oldest = p.next
	}
	if p.next != none {
		g.at(p.next).prev = p.prev
	} else {
		g.newest = p.prev
	}
	if p.nextEqual != none {
		g.bySum[p.sum] = span{p.nextEqual, g.bySum[p.sum].last}
	} else {
		delete(g.bySum, p.sum)
	}
	if open, some := g.byKey[p.parts.key]; some && open == id {
		delete(g.byKey, p.parts.key)
	}
	p.state = copied
	g.unused = append(g.unused, id)
	g.live--
}

// cover says that a source record with the key follows every gap so far.
func (g *gaps) cover(key uint64) {
	if id, some := g.byKey[key]; some {
		g.at(id).covered = true
		delete(g.byKey, key)
	}
}
