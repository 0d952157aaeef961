package proof

import "math"

// extent is what the window holds of the source: so many records before the
// head, and so many from the head on.
type extent struct{ behind, ahead int }

// everywhere is a window that nothing is outside of.
var everywhere = extent{math.MaxInt32 / 4, math.MaxInt32 / 4}

// WithWindow bounds how much of the source is remembered: behind records before
// the head, and ahead records from the head on, each at least one. What is said
// of Comparer then holds of what lies within; see Older.
//
// By default everything is remembered.
func WithWindow(behind, ahead int) CompareOption {
	return func(c *Comparer) {
		c.window = extent{
			min(max(1, behind), everywhere.behind),
			min(max(1, ahead), everywhere.ahead),
		}
		c.strangers.most = c.window.ahead
	}
}

// low is the lowest position in the window.
func (c *Comparer) low() int { return max(0, c.head-c.window.behind) }

// reach is the position behind the last in the window.
func (c *Comparer) reach() int { return c.head + c.window.ahead }

// Ahead returns how many source records the target has not reached. From the
// window's size on nothing is gained by reading on.
func (c *Comparer) Ahead() int { return c.src.len() - c.head }

// forgotten reports whether there are source records from C on that a target
// record is not held to any more.
func (c *Comparer) forgotten() bool { return c.low() > 0 || c.marks.resumed != nil }

// slide forgets what the window does not reach any more.
func (c *Comparer) slide() {
	low := c.low()
	c.src.forget(low)
	if c.stretch.base < low {
		c.stretch.forget()
	}
}

// keepGap remembers a record that is passed over. The oldest that does not fit
// is forgotten, and judged without what may still come.
func (c *Comparer) keepGap(position int) {
	if c.gaps.full() {
		c.conclude(c.gaps.oldest)
		c.gaps.remove(c.gaps.oldest)
	}
	p := c.src.record(position)
	c.passing = append(c.passing, c.gaps.add(passed{sum: p.sum, parts: p.parts, position: position, offset: p.offset, state: gap}))
}

// strangers holds target records that equal nothing in the window, since the
// head last moved, while there may be more of the source that they equal. The
// first record after them that brings the head on shows that they are not what
// comes next.
type strangers struct {
	queue
	most     int
	came     int // since the head last moved by what equals it
	searchAt int // how many must have come for the next search
	held     int // those that a search is about; they stay
	moves    int // how often the head moved on behind strangers
	passTo   int64
}

func newStrangers() strangers {
	return strangers{most: everywhere.ahead, passTo: unknownOffset, searchAt: 1}
}

func (s *strangers) add(t Print) {
	s.push(item{record: t})
	s.came++
}

// arrive is called before the head moves on by a target record that equals what
// lies there: what came between is no part of the sequence.
func (c *Comparer) arrive() {
	s := &c.strangers
	if s.came == 0 {
		return
	}
	for s.len() > 0 {
		c.dismissStranger(false)
	}
	s.came, s.searchAt, s.held = 0, 1, 0
	s.moves++
}

// dismissStranger judges the first of them. Where it is not settled that it
// equals nothing of the source, it counts as older.
func (c *Comparer) dismissStranger(settled bool) {
	t := c.strangers.front().record
	c.strangers.pop()
	c.dismiss(other{t, !settled || c.forgotten()})
}

// dismissSettled judges the strangers that nothing can come to explain.
func (c *Comparer) dismissSettled() {
	s := &c.strangers
	for s.len() > 0 && s.held == 0 && c.src.len() <= c.reach() && s.front().record.offset < c.settled {
		c.dismissStranger(true)
		c.passPairs()
	}
}

// yield keeps the strangers within their bound, unless a search is due for
// which they are needed.
func (c *Comparer) yield() {
	s := &c.strangers
	for s.len() > s.most && s.held == 0 && s.came < s.searchAt {
		c.dismissStranger(false)
		c.passPairs()
	}
}

// passPairs moves the head behind a window full of altered records.
func (c *Comparer) passPairs() {
	if len(c.pairs) > 0 && c.pairAt == c.reach() {
		c.passOverAlone(c.pairAt)
	}
}

// Blocked reports whether no more of the target is judged before a Search.
func (c *Comparer) Blocked() bool {
	s := &c.strangers
	return s.len() >= s.most && (s.held > 0 || s.came >= s.searchAt)
}

// Waits reports whether target records wait for the source to be read on.
func (c *Comparer) Waits() bool { return c.queue.records > 0 && !c.Blocked() }

// Strangers reports whether target records wait for a Search, or for the head to
// move on.
func (c *Comparer) Strangers() bool { return c.strangers.len() > 0 }

// strangersEnd is the target offset behind the last of them.
func (c *Comparer) strangersEnd() int64 {
	s := &c.strangers
	if s.len() == 0 {
		return 0
	}
	return s.items[len(s.items)-1].record.offset + 1
}

// stands reports whether the target waits for a search, or for what it found.
func (c *Comparer) stands() bool { return c.passingTo() || c.Blocked() }
