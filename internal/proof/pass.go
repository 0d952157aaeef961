package proof

// order says whether a record that fills a gap came where it belongs.
type order uint8

const (
	inOrder order = iota
	outOfOrder
)

// Bounds on what is remembered to say more about a fault. Beyond them the
// counts are less telling (missing and foreign in place of altered, out of
// order in place of in order), never fewer.
const (
	maxOthers = 4096
	maxReach  = 32
)

// passOver judges the records from the head up to a position: they will not
// come in order any more.
func (c *Comparer) passOver(to int) {
	c.returnRepeats()
	c.passing = c.passing[:0]
	if kept, used, ok := c.stretch.embed(&c.src, to); ok {
		for i := c.stretch.base; i < to; i++ {
			was := open
			if i < c.head {
				was = copied
			}
			if kept[i-c.stretch.base] {
				c.cover(i)
				c.set(i, was, copied)
			} else {
				c.pass(i, was)
			}
		}
		for _, r := range used {
			if r.repeat {
				c.unrepeat(r.like, r.offset)
			}
		}
	} else {
		for i := c.head; i < to; i++ {
			c.pass(i, open)
		}
		highest := -1
		for _, r := range c.stretch.sinceHead() {
			id, found := c.gaps.lowest(r.sum)
			if !found {
				continue
			}
			c.unrepeat(r.like, r.offset)
			if position := c.gaps.at(id).position; position > highest {
				c.fill(id, r.offset, inOrder)
				highest = position
			} else {
				c.fill(id, r.offset, outOfOrder)
			}
		}
	}
	c.fillFromRepeats()
	c.pairAltered()
	c.hideInHole()
}

// pass makes a gap of a position.
func (c *Comparer) pass(position int, was state) {
	c.cover(position)
	c.set(position, was, gap)
	c.keepGap(position)
}

// change gives a gap another state.
func (c *Comparer) change(id int32, to state) {
	p := c.gaps.at(id)
	c.set(p.position, p.state, to)
	p.state = to
}

// fill gives a gap a target record. Where the target lost records to retention,
// a record that comes late may have come in time as well, so it is not called
// out of order.
func (c *Comparer) fill(id int32, target int64, o order) {
	p := *c.gaps.at(id)
	c.change(id, copied)
	c.gaps.remove(id)
	if p.state == altered {
		c.tally.others[aForeign]++ // the record that stood for it
		at := place(p.offset)
		c.examples.remove(Altered, func(e Example) bool { return e.Source == at })
	}
	if o == inOrder || p.state == hidden {
		return
	}
	zone := c.zone(p.position)
	c.tally.outOfOrder[zone]++
	if !c.names(p.position) {
		return
	}
	c.name(OutOfOrder, p.record(), target)
}

// unrepeat takes back that a record was a repeat.
func (c *Comparer) unrepeat(first int, target int64) {
	if first >= c.src.index.from {
		c.src.index.links.at(first).repeats--
	}
	c.tally.repeated[c.zone(first)]--
	c.examples.remove(Repeated, func(e Example) bool { return e.Target == place(target) })
}

// fillFromRepeats lets repeats of a record stand for equal ones that were
// passed over: equal records count as a multiset.
func (c *Comparer) fillFromRepeats() {
	if !c.repeated {
		return
	}
	for _, id := range c.passing {
		p := c.gaps.at(id)
		if p.state != gap {
			continue
		}
		first, known := c.src.find(p.sum, c.low(), min(c.src.len(), c.reach()))
		if known && c.src.index.links.at(first).repeats > 0 {
			c.unrepeat(first, unknownOffset)
			// The lowest with the sum, which is this one or was passed over before.
			lowest, _ := c.gaps.lowest(p.sum)
			c.fill(lowest, unknownOffset, outOfOrder)
		}
	}
}

// foreign is rule 6. A foreign record that is evidently made of a record from
// the head on is kept with it, until the head moves.
func (c *Comparer) foreign(o other) {
	c.tally.others[o.kind()]++
	fault := Foreign
	if o.older {
		fault = Older
	}
	c.examples.add(fault, func() Example {
		return Example{Fault: fault, Target: place(o.print.offset), TargetDigest: o.print.sum.String()}
	})
	from := max(c.pairAt, c.head)
	due := c.Required()
	if c.moving {
		due = c.src.len()
	}
	for i := from; i < min(from+maxReach, due, c.reach()); i++ {
		if o.print.parts.copies(*c.src.parts.at(i)) {
			c.pairs = append(c.pairs, pair{o, i})
			c.pairAt = i + 1
			return
		}
	}
	if len(c.others) < maxOthers {
		c.others = append(c.others, o)
	}
}

// pairAltered finds the foreign records that stand in the place of gaps.
func (c *Comparer) pairAltered() {
	at := 0
	for _, p := range c.pairs {
		for at < len(c.passing) && c.gaps.at(c.passing[at]).position < p.position {
			at++
		}
		if at < len(c.passing) && c.gaps.at(c.passing[at]).position == p.position {
			c.alter(c.passing[at], p.other)
		}
	}
	others := c.others
	for _, id := range c.passing {
		if len(others) == 0 {
			return
		}
		if c.gaps.at(id).state != gap {
			continue
		}
		for k, o := range others[:min(maxReach, len(others))] {
			if o.print.parts.resembles(c.gaps.at(id).parts) {
				c.alter(id, o)
				others = others[k+1:]
				break
			}
		}
	}
}

func (c *Comparer) alter(id int32, o other) {
	if c.gaps.at(id).state != gap {
		return
	}
	c.change(id, altered)
	c.tally.others[o.kind()]--
	p := c.gaps.at(id)
	if !c.names(p.position) {
		return
	}
	t := o.print
	for _, f := range []Fault{Foreign, Older} {
		c.examples.remove(f, func(e Example) bool { return e.Target == place(t.offset) })
	}
	c.examples.add(Altered, func() Example {
		return Example{
			Fault:        Altered,
			Source:       place(p.offset),
			Target:       place(t.offset),
			Differs:      t.parts.differ(p.parts),
			SourceDigest: p.sum.String(),
			TargetDigest: t.sum.String(),
		}
	})
}

// hideInHole makes as many gaps unprovable as retention can have taken.
func (c *Comparer) hideInHole() {
	for _, id := range c.passing {
		if c.hole == 0 {
			return
		}
		if c.gaps.at(id).state == gap {
			c.change(id, hidden)
			c.hole--
		}
	}
}
