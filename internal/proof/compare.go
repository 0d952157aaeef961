package proof

import "github.com/flinkmm2/flinkmm2/offsetmap"

// Comparer holds the target records of one partition to the source records of
// that partition. It does no I/O and reads no clock.
//
// Source is called for each readable source record in order, from C on; End
// once after the last one that the target must have; Source may go on after it,
// so that what the target has beyond the end is known for what it is. Target is
// called for each readable target record in order, from the recorded end on.
// The two sequences may be fed in any interleaving: what comes out depends on
// the sequences alone. A target record that cannot be judged yet waits; Settle
// says up to where nothing more can come of the source that explains it.
//
// Records are equal when their digests are. The head is the lowest source
// record that the target has not reached. Each target record is the first of
// these that applies:
//
//  1. It equals the head: copied in order, and the head moves on by one.
//  2. It equals a record that was passed over: copied, out of order.
//  3. It equals a record before the head: repeated. A replay is a run of these,
//     and the head stays, so a replay inside a replay, one that is cut short,
//     and a single double need no rule of their own.
//  4. It equals a record after the head: copied, and all records from the head
//     up to it are passed over. The head moves behind it.
//  5. It equals a record before C: early.
//  6. Otherwise it is foreign: another writer's. It shifts nothing.
//
// With a window (WithWindow), "equals" is held to what the window holds and to
// the records that were passed over, and a record that equals none of them while
// the source has more is older instead of foreign, or waits for a Search.
//
// A record that is passed over is, in this order:
//
//  1. copied in order, when the records since the last place that was certain
//     are what remains of the source after leaving some out (only with equal
//     records, where rule 3 can have taken one of them for a repeat);
//  2. copied out of order, when the target has more of its equals than the
//     source had up to there: equal records count as a multiset;
//  3. altered, when a foreign record stands in its place, after the record
//     before and before the record that passed it over, and equals it in at
//     least one part that says something;
//  4. unprovable, when retention took as many offsets from the target at that
//     place;
//  5. missing, until rule 2 above brings it late.
//
// What the target has not reached, because nothing after it was seen, is
// pending: not there yet. It is altered or missing only when foreign records
// that are evidently made of it, or of what follows it, stand at the end.
//
// So the target is faultless exactly when it could have been written by a
// copier that only goes on by one or back. When the source's records all
// differ, every count is exact. With equal records the sums of what is missing,
// repeated and foreign are exact, and so is whether there is a fault; which of
// several equal records is the missing one is not knowable.
//
// Time is linear in the number of records, for any content, but for searches:
// each costs reading the rest of the source, and there are as many as the
// logarithm of the target's records between two that the source explains.
type Comparer struct {
	compacted   bool
	maxExamples int
	window      extent

	src     source
	before  map[sum]int64 // records before C, by their offset
	end     int           // positions from here on need not be on the target; -1 before End
	moving  bool          // Extend may be called
	head    int
	settled int64 // target records below this offset can be judged
	// judgedTo is the offset behind the last target record that was judged.
	judgedTo int64
	queue    queue
	done     bool

	// What was seen since the head last moved.
	others []other // foreign, the first of them
	pairs  []pair  // foreign, evidently made of a record from the head on
	pairAt int     // the lowest position that a pair may still have
	hole   int64   // offsets lost to retention on the target

	marks     marks
	strangers strangers
	stretch   stretch
	gaps      gaps
	passing   []int32 // the gaps that the target record at hand makes
	repeated  bool    // whether anything was repeated ever

	tally    tally
	start    begun
	first    First
	waits    offsetmap.NextOffset
	examples examples
}

// other is a foreign record. An older one may be a repeat of what the window
// does not reach.
type other struct {
	print Print
	older bool
}

// pair is a foreign record and the position of the record that it was made of.
type pair struct {
	other
	position int
}

// begun is what became of the first source record.
type begun struct {
	offset int64
	state  state
}

// CompareOption changes how a Comparer judges.
type CompareOption func(*Comparer)

// WithCompaction says that source or target may be compacted: a record that is
// not there although a later source record has its key, or that is a tombstone,
// is unprovable, not missing.
//
// By default neither is compacted.
func WithCompaction() CompareOption { return func(c *Comparer) { c.compacted = true } }

// WithMovingEnd says that Extend may be called: what is found beyond the end is
// named as well, and counted once the end has moved on.
//
// By default the end is fixed.
func WithMovingEnd() CompareOption { return func(c *Comparer) { c.moving = true } }

// WithExamples sets how many records of each fault are named.
//
// By default, ten.
func WithExamples(n int) CompareOption { return func(c *Comparer) { c.maxExamples = max(0, n) } }

// NewComparer returns a Comparer that has seen no record.
func NewComparer(opts ...CompareOption) *Comparer {
	c := &Comparer{end: -1, maxExamples: defaultExamples, window: everywhere, strangers: newStrangers()}
	for _, o := range opts {
		o(c)
	}
	c.examples = examples{most: c.maxExamples, named: map[Fault][]Example{}}
	c.gaps = newGaps(c.window.behind + c.window.ahead)
	if c.compacted {
		c.gaps.byKey = map[uint64]int32{}
	}
	return c
}

// Before adds a source record before C, so that it is known for what it is when
// the target has it. It is to be called before any other method.
func (c *Comparer) Before(p Print) {
	if c.before == nil {
		c.before = map[sum]int64{}
	}
	c.before[p.sum] = p.offset
}

// Source adds the next readable source record.
func (c *Comparer) Source(p Print) {
	if c.src.len() == 0 {
		c.start.offset = p.offset
	}
	c.tally.add(c.zone(c.src.len()), open, 1)
	c.src.push(p)
	if c.passingTo() {
		c.passThrough()
		return
	}
	// The first that waits, waits for the head to be read, for its equal, or for
	// the window to be full.
	if c.queue.len() > 0 && (c.head == c.src.len()-1 || c.src.len() == c.reach() || c.queue.front().record.sum == p.sum) {
		c.drain()
	}
}

// End says that the records so far are all that the target must have.
func (c *Comparer) End() {
	if c.end < 0 {
		c.end = c.src.len()
	}
}

// Target adds the next readable target record.
func (c *Comparer) Target(p Print) {
	c.tally.read++
	if c.queue.len() > 0 || c.stands() || !c.judge(p) {
		c.queue.push(item{record: p})
		return
	}
	c.markIfWanted()
}

// Hole says that between the target records so far and the next one, retention
// took n offsets.
func (c *Comparer) Hole(n int64) {
	if c.queue.len() > 0 {
		c.queue.push(item{hole: n})
		return
	}
	c.hole += n
}

// Settle says that every source record that a target record below the offset
// could be a copy of has been fed. End must have been called.
func (c *Comparer) Settle(below offsetmap.NextOffset) {
	if v, known := below.Value(); known && v > c.settled && c.end >= 0 {
		c.settled = v
		c.drain()
		c.dismissSettled()
		c.drain()
	}
}

// Waiting returns how many target records wait to be judged.
func (c *Comparer) Waiting() int { return c.queue.records + c.strangers.len() }

// Required returns how many of the source records that are remembered or were
// passed by here the target must have, so far.
func (c *Comparer) Required() int {
	if c.end < 0 {
		return c.src.len()
	}
	return c.end
}

// Reached reports whether no required record is still to come: the target has
// what is due, or retention took as many offsets there as records are due, or
// each of them has a record that is evidently made of it.
func (c *Comparer) Reached() bool {
	due := c.end - c.head
	return c.end >= 0 && (int64(due) <= c.hole || due == len(c.pairs))
}

// Moved reports whether any record of the source was seen on the target.
func (c *Comparer) Moved() bool { return c.tally.moved() || len(c.pairs) > 0 }

func (c *Comparer) drain() {
	for c.queue.len() > 0 && !c.stands() {
		it := c.queue.front()
		if it.hole > 0 {
			c.hole += it.hole
		} else if !c.judge(it.record) {
			return
		}
		c.queue.pop()
		c.markIfWanted()
	}
}

// judge places t by the rules, or reports that it cannot be placed yet.
func (c *Comparer) judge(t Print) bool {
	if !c.placed(t) {
		return false
	}
	c.judgedTo = max(c.judgedTo, t.offset+1)
	return true
}

func (c *Comparer) placed(t Print) bool {
	settled := t.offset < c.settled
	if c.head < c.src.len() {
		if *c.src.sums.at(c.head) == t.sum {
			c.arrive()
			c.follow(t)
			return true
		}
	} else if !settled {
		return false // it may equal the next source record
	}
	c.returnRepeats()
	if id, found := c.gaps.lowest(t.sum); found {
		c.late(id, t)
		return true
	}
	reach := min(c.src.len(), c.reach())
	first, known := c.src.find(t.sum, c.low(), reach)
	switch {
	case known && first < c.head:
		c.repeat(first, t)
	case known:
		c.arrive()
		c.ahead(first, t)
	case reach < c.src.len(), reach == c.reach() && !settled:
		c.strangers.add(t)
		c.yield()
	case !settled:
		return false // it may equal a source record that is not read yet
	default:
		c.dismiss(other{t, c.forgotten()})
		c.passPairs()
	}
	return true
}

// follow is rule 1.
func (c *Comparer) follow(t Print) {
	c.take(c.head)
	c.begin(c.head, t)
	c.stretch.follow(c.head, t.sum)
	c.moveHead(c.head + 1)
}

// late is rule 2.
func (c *Comparer) late(id int32, t Print) {
	c.fill(id, t.offset, outOfOrder)
}

// repeat is rule 3.
func (c *Comparer) repeat(first int, t Print) {
	c.repeated = true
	c.src.index.links.at(first).repeats++
	c.tally.repeated[c.zone(first)]++
	if c.names(first) {
		c.name(Repeated, c.src.record(first), t.offset)
	}
	c.stretch.repeat(c.head, first, t)
}

// ahead is rule 4.
func (c *Comparer) ahead(position int, t Print) {
	c.passOver(position)
	c.take(position)
	c.begin(position, t)
	c.stretch.forget()
	c.moveHead(position + 1)
}

// dismiss judges a record that equals no source record from C on.
func (c *Comparer) dismiss(o other) {
	if at, found := c.before[o.print.sum]; found {
		c.early(o.print, at)
		return
	}
	c.foreign(o)
}

// early is rule 5.
func (c *Comparer) early(t Print, at int64) {
	c.tally.early++
	if c.first.Target.IsNone() {
		c.first = First{Source: place(at), Target: place(t.offset), Fault: TooEarly}
	}
	c.examples.add(Early, func() Example {
		return Example{Fault: Early, Source: place(at), Target: place(t.offset), TargetDigest: t.sum.String()}
	})
}

// moveHead also forgets what stood at the old one, and what the window does not
// reach any more.
func (c *Comparer) moveHead(to int) {
	c.head = to
	c.others, c.pairs, c.pairAt, c.hole = c.others[:0], c.pairs[:0], to, 0
	c.slide()
}

// take notes that the target has the next source record.
func (c *Comparer) take(position int) {
	c.cover(position)
	c.set(position, open, copied)
}

// cover says that a source record follows what was passed over: compaction may
// have taken what has its key. It is called for every record, in order.
func (c *Comparer) cover(position int) {
	if c.compacted && c.gaps.live > 0 {
		c.gaps.cover(c.src.parts.at(position).key)
	}
}

// set notes what becomes of a source record.
func (c *Comparer) set(position int, from, to state) {
	zone := c.zone(position)
	c.tally.add(zone, from, -1)
	c.tally.add(zone, to, 1)
	if position == 0 {
		c.start.state = to
	}
}

// zone says whether a position must be on the target.
func (c *Comparer) zone(position int) zone {
	if c.end >= 0 && position >= c.end {
		return later
	}
	return window
}

// names reports whether what is said of a position is counted, or may be when the
// end moves on.
func (c *Comparer) names(position int) bool { return c.moving || c.zone(position) == window }

// begin notes the first record of the source that the target has.
func (c *Comparer) begin(position int, t Print) {
	if !c.first.Target.IsNone() {
		return
	}
	c.first = First{Source: place(c.src.offsets.at(position)), Target: place(t.offset)}
	if position == 0 {
		return
	}
	switch c.start.state {
	case gap:
		c.first.Fault = TooLate
	case copied, altered:
		c.first.Source = place(c.start.offset)
	}
}
