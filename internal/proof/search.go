package proof

// Search looks beyond the window for source records that the target has
// already, which means that the copier left out what lies between. It holds one
// digest for each stranger, whatever the distance.
type Search struct {
	sums  map[sum]int // the first stranger with the sum
	count int
	moves int
	found int // the first stranger that was found, or count
	at    int64
}

// Search begins a search when one is due: strangers wait, and as many have come
// as make it worth while. Between two that find nothing their number doubles,
// so a target full of another writer's records costs few.
func (c *Comparer) Search() (*Search, bool) {
	s := &c.strangers
	if s.len() == 0 || s.came < s.searchAt || s.held > 0 || c.passingTo() {
		return nil, false
	}
	x := &Search{sums: make(map[sum]int, s.len()), count: s.len(), found: s.len(), moves: s.moves}
	for i := range s.len() {
		t := s.items[s.from+i].record
		if _, some := x.sums[t.sum]; !some {
			x.sums[t.sum] = i
		}
	}
	s.held = s.len()
	for i := c.reach(); i < c.src.len(); i++ {
		if x.See(c.src.record(i)) {
			break
		}
	}
	return x, true
}

// See holds one of the source records that follow those that were fed to the
// strangers, in order, and reports whether the search is over.
func (x *Search) See(p Print) (over bool) {
	if i, some := x.sums[p.sum]; some && i < x.found {
		x.found, x.at = i, p.offset
	}
	return x.found == 0
}

// Conclude takes over what a search found. One that is complete has seen every
// source record that the strangers could be copies of; one that is neither
// complete nor over found nothing out.
func (c *Comparer) Conclude(x *Search, complete bool) {
	s := &c.strangers
	if s.held == 0 || x.moves != s.moves {
		return // the head moved on meanwhile, so they are judged
	}
	s.held = 0
	found := x.found < x.count && (complete || x.found == 0)
	if !found && !complete {
		return // as if it had not been
	}
	s.searchAt = 2 * s.came
	if found {
		for range x.found {
			c.dismissStranger(complete)
		}
		// What came from there on is judged anew, before what waits.
		again := queue{items: append([]item(nil), s.items[s.from:]...), records: s.len()}
		for c.queue.len() > 0 {
			again.push(*c.queue.front())
			c.queue.pop()
		}
		c.queue, s.queue = again, queue{}
		s.passTo = x.at
		c.passThrough()
		return
	}
	for range x.count {
		c.dismissStranger(true)
		c.passPairs()
	}
	c.yield()
	c.drain()
}

// passingTo reports whether the source is passed over up to an offset.
func (c *Comparer) passingTo() bool { return c.strangers.passTo != unknownOffset }

// passThrough passes over what lies before the place that a search found, as
// far as the source is fed.
func (c *Comparer) passThrough() {
	to := c.src.offsets.position(c.strangers.passTo)
	there := to < c.src.len()
	if !there && c.Ahead() < c.window.ahead {
		return
	}
	for c.head < to {
		c.passOverAlone(min(to, c.reach()))
	}
	if there {
		c.strangers.passTo = unknownOffset
		c.strangers.came, c.strangers.searchAt = 0, 1
		c.strangers.moves++
		c.drain()
	}
}

// passOverAlone moves the head over records without a target record that stands
// for the place behind them.
func (c *Comparer) passOverAlone(to int) {
	c.passOver(to)
	rest := c.hole
	c.stretch.forget()
	c.moveHead(to)
	c.hole = rest
}
