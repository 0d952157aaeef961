package proof

import "fmt"

// Until says how far a run goes. The zero value is each partition's End.
type Until struct {
	kind    untilKind
	records int64
}

type untilKind uint8

const (
	untilEnd untilKind = iota
	untilFirst
	untilRecords
	untilCaughtUp
)

// UntilFirst is until so many readable records of each partition from Next on,
// or all up to End when there are fewer, are on the target or passed over. What
// the target holds behind them is not looked at.
func UntilFirst(records int64) Until { return Until{untilFirst, records} }

// UntilRecords is until so many readable records, of all partitions together, are
// on the target or passed over, and of each partition one, or until End when
// there are fewer. Each partition is then proven up to where it stands; what the
// target holds behind that is not looked at.
func UntilRecords(records int64) Until { return Until{untilRecords, records} }

// UntilCaughtUp is until the target has the source's end, which is measured again
// as long as it moves on. Where the source is written without a pause, that is
// when the target had everything up to an end no more than ten Intervals after
// this was measured. Bound is the limit for a target that falls behind.
func UntilCaughtUp() Until { return Until{kind: untilCaughtUp} }

// caughtUpIntervals is how soon the target must have a measured end.
const caughtUpIntervals = 10

func (u Until) validate() error {
	if (u.kind == untilFirst || u.kind == untilRecords) && u.records <= 0 {
		return fmt.Errorf("until %d records: want one at least", u.records)
	}
	return nil
}

// moving reports whether the ends are measured again.
func (o *Options) moving() bool { return o.Until.kind == untilCaughtUp || o.Round != nil }

// endAt moves the end of what is due.
func (p *partition) endAt(offset int64) { p.end, p.End = offset, place(offset) }

// limitTo makes the first so many records due.
func (p *partition) limitTo(records int64) {
	p.brief, p.due = true, records
	if m := p.From; m != nil {
		if p.due -= m.Copied + m.Missing + m.Altered + m.Unprovable; p.due <= 0 {
			p.endAt(min(p.end, m.Source))
		}
	}
}

// counted notes that a due record was fed.
func (p *partition) counted(offset int64) {
	if p.ended || p.due <= 0 {
		return
	}
	if p.due--; p.due == 0 {
		p.endAt(offset + 1)
		p.ended = true
		p.cmp.End()
	}
}

// over reports whether a partition whose records are limited needs no more of
// either side.
func (p *partition) over() bool { return p.brief && p.ended && p.cmp.Passed() }

// halts reports whether a partition can end where it stands, which is then proven up to there: its first record must have come, and nothing
// be in question.
func (p *partition) halts() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.decided, p.source.fatal != nil, p.target.fatal != nil:
		return true
	case p.ended && p.cmp.Required() == 0 && p.cmp.marks.resumed == nil:
		return true // nothing is due; that is decided by the log ends
	}
	_, _, ok := p.cmp.standsAt()
	return ok
}

// halt ends a partition that halts.
func (p *partition) halt(o *Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided || p.source.fatal != nil || p.target.fatal != nil {
		return
	}
	head, offset, ok := p.cmp.standsAt()
	if !ok {
		return
	}
	if !p.ended || head < p.cmp.Required() {
		p.cmp.endAtHead()
		p.endAt(offset)
		p.ended = true
	}
	p.complete = true
	p.decide(o)
}

// takeReached makes all that the target has reached due, when it has reached the
// end: what was found beyond it is no secret.
func (p *partition) takeReached() {
	p.complete = p.reached
	if !p.reached {
		return
	}
	if _, offset, ok := p.cmp.standsAt(); ok && offset > p.end {
		p.cmp.Extend()
		p.cmp.endAtHead()
		p.endAt(offset)
	}
}

// extend moves the end on, to what was measured or already read.
func (p *partition) extend(to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided {
		return
	}
	p.reached, p.barrier = false, nil
	p.endAt(max(p.end, to, p.source.position))
	p.ended = false
	p.cmp.Extend()
	p.endBefore(p.source.position)
}

// Passed reports whether the target has come to the end of what is due, by a
// record that it has.
func (c *Comparer) Passed() bool {
	return c.end >= 0 && c.head >= c.end && (c.end > 0 || c.marks.resumed != nil)
}

// Extend takes back End: what follows is due as well. End is called again.
func (c *Comparer) Extend() {
	for s, n := range c.tally.byState[later] {
		c.tally.byState[window][s] += n
	}
	c.tally.repeated[window] += c.tally.repeated[later]
	c.tally.outOfOrder[window] += c.tally.outOfOrder[later]
	c.tally.byState[later], c.tally.repeated[later], c.tally.outOfOrder[later] = [states]int64{}, 0, 0
	c.end = -1
}

// standsAt returns the head, and the offset behind the last record before it, once
// the target has a record and none is in question.
func (c *Comparer) standsAt() (head int, offset int64, ok bool) {
	switch {
	case c.strangers.len() > 0 || c.passingTo():
		return 0, 0, false
	case c.head > 0:
		return c.head, c.src.offsets.at(c.head-1) + 1, true
	case c.marks.resumed != nil:
		return 0, c.marks.resumed.Source, true
	}
	return 0, 0, false
}

// endAtHead makes what the target has reached all that is due.
func (c *Comparer) endAtHead() {
	n := &c.tally.byState
	n[later][open] += n[window][open]
	n[window][open] = 0
	c.end = c.head
}
