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
	from := c.head
	if kept, used, ok := c.stretch.embed(&c.src, to); ok {
		from = c.stretch.base
		for i := from; i < to; i++ {
			if kept[i-from] {
				c.set(i, copied)
			} else {
				c.pass(i)
			}
		}
		for _, r := range used {
			if r.repeat {
				c.unrepeat(r.like, r.offset)
			}
		}
	} else {
		for i := from; i < to; i++ {
			c.pass(i)
		}
		highest := -1
		for _, r := range c.stretch.sinceHead() {
			g, found := c.passed(r.like)
			if !found {
				continue
			}
			c.unrepeat(r.like, r.offset)
			if g > highest {
				c.fill(g, r.offset, inOrder)
				highest = g
			} else {
				c.fill(g, r.offset, outOfOrder)
			}
		}
	}
	c.fillFromSurplus(from, to)
	c.pairAltered(from, to)
	c.hideInHole(from, to)
}

// pass makes a gap of a position.
func (c *Comparer) pass(position int) {
	c.set(position, gap)
	if first, _ := c.src.find(*c.src.sums.at(position)); first != position {
		c.gaps[first] = append(c.gaps[first], position)
	}
}

// passed returns the lowest position that was passed over and has the sum of
// first, the first position with that sum.
func (c *Comparer) passed(first int) (int, bool) {
	if c.isGap(first) {
		return first, true
	}
	rest, some := c.gaps[first]
	for some {
		if c.isGap(rest[0]) {
			c.gaps[first] = rest
			return rest[0], true
		}
		if rest = rest[1:]; len(rest) == 0 {
			delete(c.gaps, first)
			return 0, false
		}
	}
	return 0, false
}

func (c *Comparer) isGap(position int) bool {
	switch *c.src.states.at(position) {
	case gap, hidden, altered:
		return true
	default:
		return false
	}
}

// fill gives a gap a target record. Where the target lost records to retention,
// a record that comes late may have come in time as well, so it is not called
// out of order.
func (c *Comparer) fill(position int, target int64, o order) {
	before := *c.src.states.at(position)
	c.set(position, copied)
	if before == altered {
		at := place(c.src.offsets.at(position))
		c.examples.remove(Altered, func(e Example) bool { return e.Source == at })
	}
	if o == inOrder || before == hidden || c.zone(position) == later {
		return
	}
	c.tally.outOfOrder++
	c.name(OutOfOrder, position, target)
}

// unrepeat takes back that a record was a repeat.
func (c *Comparer) unrepeat(first int, target int64) {
	c.surplus[first]--
	c.tally.repeated[c.zone(first)]--
	c.examples.remove(Repeated, func(e Example) bool { return e.Target == place(target) })
}

// fillFromSurplus lets repeats of a record stand for equal ones that were
// passed over: equal records count as a multiset.
func (c *Comparer) fillFromSurplus(from, to int) {
	if len(c.surplus) == 0 {
		return
	}
	for i := from; i < to; i++ {
		if *c.src.states.at(i) != gap {
			continue
		}
		if first, _ := c.src.find(*c.src.sums.at(i)); first < len(c.surplus) && c.surplus[first] > 0 {
			c.unrepeat(first, unknownOffset)
			c.fill(i, unknownOffset, outOfOrder)
		}
	}
}

// foreign is rule 6. A foreign record that is evidently made of a record from
// the head on is kept with it, until the head moves.
func (c *Comparer) foreign(t Print) {
	c.tally.others++
	c.examples.add(Foreign, func() Example {
		return Example{Fault: Foreign, Target: place(t.offset), TargetDigest: t.sum.String()}
	})
	from := max(c.pairAt, c.head)
	for i := from; i < min(from+maxReach, c.Required()); i++ {
		if t.parts.copies(*c.src.parts.at(i)) {
			c.pairs = append(c.pairs, pair{i, t})
			c.pairAt = i + 1
			return
		}
	}
	if len(c.others) < maxOthers {
		c.others = append(c.others, t)
	}
}

// pairAltered finds the foreign records that stand in the place of gaps.
func (c *Comparer) pairAltered(from, to int) {
	for _, p := range c.pairs {
		if *c.src.states.at(p.position) == gap {
			c.alter(p.position, p.print)
		}
	}
	others := c.others
	for i := from; i < to && len(others) > 0; i++ {
		if *c.src.states.at(i) != gap {
			continue
		}
		for k, o := range others[:min(maxReach, len(others))] {
			if o.parts.resembles(*c.src.parts.at(i)) {
				c.alter(i, o)
				others = others[k+1:]
				break
			}
		}
	}
}

func (c *Comparer) alter(position int, t Print) {
	c.set(position, altered)
	if c.zone(position) == later {
		return
	}
	c.examples.remove(Foreign, func(e Example) bool { return e.Target == place(t.offset) })
	c.examples.add(Altered, func() Example {
		return Example{
			Fault:        Altered,
			Source:       place(c.src.offsets.at(position)),
			Target:       place(t.offset),
			Differs:      t.parts.differ(*c.src.parts.at(position)),
			SourceDigest: c.src.sums.at(position).String(),
			TargetDigest: t.sum.String(),
		}
	})
}

// hideInHole makes as many gaps unprovable as retention can have taken.
func (c *Comparer) hideInHole(from, to int) {
	for i := from; i < to && c.hole > 0; i++ {
		if *c.src.states.at(i) == gap {
			c.set(i, hidden)
			c.hole--
		}
	}
}
