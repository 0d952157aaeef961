package proof

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Mark is where a comparison stands, for another to go on from. It holds
// offsets and counts, and nothing of what records contain: what must be known of
// them is read again, since the digests of another run cannot be compared.
type Mark struct {
	Source int64 `json:"source"` // source records below this offset are compared
	Window int64 `json:"window"` // those from here on are read again
	Target int64 `json:"target"` // target records below this offset are judged
	Read   int64 `json:"read"`   // how many of them there were

	Copied     int64 `json:"copied"`
	Missing    int64 `json:"missing"`
	Altered    int64 `json:"altered"`
	Unprovable int64 `json:"unprovable"`
	OutOfOrder int64 `json:"outOfOrder"`
	Repeated   int64 `json:"repeated"`
	Early      int64 `json:"early"`
	Foreign    int64 `json:"foreign"`
	Older      int64 `json:"older"`
	Expired    int64 `json:"expired"` // source offsets that were gone before they could be read

	First    First       `json:"first"`
	Gaps     []GapRun    `json:"gaps"`    // what was passed over and may still come late
	Repeats  []RepeatRun `json:"repeats"` // what the window holds and came more than once
	Examples []Example   `json:"examples"`
}

// GapRun is records that were passed over: the offsets From to To.
type GapRun struct {
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	State   GapState `json:"state"`
	Covered bool     `json:"covered"` // compaction may have taken them
}

// GapState is what a record that was passed over is so far.
type GapState string

// The states of records that were passed over.
const (
	GapMissing    GapState = "missing"
	GapUnprovable GapState = "unprovable"
	GapAltered    GapState = "altered"
)

// RepeatRun is records that the target has Times times more than once: the
// offsets From to To.
type RepeatRun struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Times uint32 `json:"times"`
}

// maxRuns bounds the runs of a Mark. Gaps that do not fit stay what they are,
// and repeats that do not fit are forgotten, the oldest first.
const maxRuns = 1000

var gapStates = map[state]GapState{gap: GapMissing, hidden: GapUnprovable, altered: GapAltered}

// Mark returns where the comparison stands, or stood when its state last was no
// more than a Mark holds: directly behind a record that is in its place. There
// is none before the first such record.
func (c *Comparer) Mark() (Mark, bool) {
	if c.settledDown() {
		c.marks.last, c.marks.some = c.capture(), true
		c.marks.wanted = false
	} else {
		c.marks.wanted = true
	}
	return c.marks.last, c.marks.some
}

// marks is what Mark keeps.
type marks struct {
	wanted bool
	last   Mark
	some   bool

	resumed  *Mark // what this comparison goes on from
	repeated []returned
	unfound  int64 // records that were missing then and are not on the source any more
}

type returned struct {
	position int
	times    uint32
}

// settledDown reports whether the state is no more than a Mark holds.
func (c *Comparer) settledDown() bool {
	s := &c.strangers
	if c.queue.len() > 0 && c.queue.front().hole == 0 && c.queue.front().record.offset < c.judgedTo {
		return false // what a search gave back is not judged again yet
	}
	return !c.first.Target.IsNone() && len(c.others) == 0 && len(c.pairs) == 0 && c.hole == 0 &&
		s.came == 0 && !c.passingTo() && len(c.stretch.records) == 0 && len(c.marks.repeated) == 0 &&
		(c.head > 0 || c.marks.resumed != nil) && !c.done
}

func (c *Comparer) capture() Mark {
	n := c.tally.byState[window]
	for s, more := range c.tally.byState[later] {
		n[s] += more
	}
	m := Mark{
		Target: c.judgedTo, Read: c.tally.read - int64(c.queue.records),
		Copied: n[copied], Missing: n[gap], Altered: n[altered], Unprovable: n[hidden],
		OutOfOrder: c.tally.outOfOrder[window] + c.tally.outOfOrder[later],
		Repeated:   c.tally.repeated[window] + c.tally.repeated[later],
		Early:      c.tally.early, Foreign: c.tally.others[aForeign], Older: c.tally.others[anOlder],
		First: c.first, Examples: c.examples.sorted(),
	}
	if m.Examples == nil {
		m.Examples = []Example{}
	}
	for i := range m.Examples { // another run cannot compare them
		m.Examples[i].SourceDigest, m.Examples[i].TargetDigest = "", ""
	}
	switch {
	case c.head > 0:
		m.Source, m.Window = c.src.offsets.at(c.head-1)+1, c.src.offsets.at(c.low())
	default:
		m.Source, m.Window = c.marks.resumed.Source, c.marks.resumed.Source
	}
	c.captureGaps(&m)
	c.captureRepeats(&m)
	return m
}

func (c *Comparer) captureGaps(m *Mark) {
	m.Gaps = []GapRun{}
	for id := c.gaps.oldest; id != none; id = c.gaps.at(id).next {
		p := c.gaps.at(id)
		r := GapRun{From: p.offset, To: p.offset, State: gapStates[p.state], Covered: p.covered}
		if n := len(m.Gaps); n > 0 {
			if last := &m.Gaps[n-1]; last.To+1 == r.From && last.State == r.State && last.Covered == r.Covered {
				last.To = r.To
				continue
			}
		}
		m.Gaps = append(m.Gaps, r)
	}
	rest := max(0, len(m.Gaps)-maxRuns)
	unsure := c.marks.unfound
	for _, r := range m.Gaps[:rest] {
		if r.State == GapMissing {
			unsure += r.To - r.From + 1
		}
	}
	if c.compacted { // as for those that do not fit into gaps
		m.Missing -= unsure
		m.Unprovable += unsure
	}
	m.Gaps = m.Gaps[rest:]
}

func (c *Comparer) captureRepeats(m *Mark) {
	m.Repeats = []RepeatRun{}
	if !c.repeated {
		return
	}
	x := &c.src.index
	for i := max(x.from, c.low()); i < min(x.to, c.head); i++ {
		times := x.links.at(i).repeats
		if times == 0 {
			continue
		}
		at := c.src.offsets.at(i)
		if n := len(m.Repeats); n > 0 {
			if last := &m.Repeats[n-1]; last.To+1 == at && last.Times == times {
				last.To = at
				continue
			}
		}
		m.Repeats = append(m.Repeats, RepeatRun{at, at, times})
	}
	m.Repeats = m.Repeats[max(0, len(m.Repeats)-maxRuns):]
}

// markIfWanted is called behind a record that is in its place.
func (c *Comparer) markIfWanted() {
	if c.marks.wanted && c.settledDown() {
		c.marks.last, c.marks.some, c.marks.wanted = c.capture(), true, false
	}
}

// Resume lets the comparison go on where another stood. What is required must
// reach to m.Source at least. Known is called for the source records that m asks
// for, in order, before Source is; Target begins at m.Target.
func (c *Comparer) Resume(m Mark) {
	n := &c.tally.byState[window]
	n[copied], n[gap], n[altered], n[hidden] = m.Copied, m.Missing, m.Altered, m.Unprovable
	c.tally.outOfOrder[window], c.tally.repeated[window] = m.OutOfOrder, m.Repeated
	c.tally.read, c.tally.early = m.Read, m.Early
	c.tally.others[aForeign], c.tally.others[anOlder] = m.Foreign, m.Older
	c.first, c.judgedTo = m.First, m.Target
	for _, e := range m.Examples {
		c.examples.add(e.Fault, func() Example { return e })
	}
	for _, r := range m.Gaps {
		if r.State == GapMissing {
			c.marks.unfound += r.To - r.From + 1
		}
	}
	c.marks.resumed, c.marks.last, c.marks.some = &m, m, true
}

// Known adds a source record below Mark.Source: one of the window, or of the
// gaps.
func (c *Comparer) Known(p Print) {
	m := c.marks.resumed
	position := -1
	if p.offset >= m.Window {
		position = c.src.len()
		c.src.push(p)
		c.head = position + 1
	}
	if i := sort.Search(len(m.Gaps), func(i int) bool { return m.Gaps[i].To >= p.offset }); i < len(m.Gaps) && m.Gaps[i].From <= p.offset {
		if r := m.Gaps[i]; !c.gaps.full() {
			s := map[GapState]state{GapMissing: gap, GapUnprovable: hidden, GapAltered: altered}[r.State]
			c.gaps.add(passed{sum: p.sum, parts: p.parts, position: position, offset: p.offset, state: s, covered: r.Covered})
			if s == gap {
				c.marks.unfound--
			}
		}
		return
	}
	if i := sort.Search(len(m.Repeats), func(i int) bool { return m.Repeats[i].To >= p.offset }); position >= 0 && i < len(m.Repeats) && m.Repeats[i].From <= p.offset {
		c.marks.repeated = append(c.marks.repeated, returned{position, m.Repeats[i].Times})
	}
}

// returnRepeats takes over what a Mark says of repeats, once the window is read.
func (c *Comparer) returnRepeats() {
	for _, r := range c.marks.repeated {
		if r.position < c.low() {
			continue
		}
		first, known := c.src.find(*c.src.sums.at(r.position), c.low(), min(c.src.len(), c.reach()))
		if known && first == r.position {
			c.src.index.links.at(first).repeats += r.times
			c.repeated = true
		}
	}
	c.marks.repeated = nil
}

// validate returns why a Mark is none of the partition.
func (m *Mark) validate(p Partition) error {
	next, _ := p.Next.Value()
	end, _ := p.End.Value()
	targetEnd, _ := p.TargetEnd.Value()
	switch {
	case m.Source < next || m.Window < next || m.Window > m.Source:
		return fmt.Errorf("it stands at %d with a window from %d on, and C is %d", m.Source, m.Window, next)
	case m.Source > end:
		return fmt.Errorf("it stands at %d, above the end %d", m.Source, end)
	case m.Target < targetEnd:
		return fmt.Errorf("it stands at %d of the target, below the recorded end %d", m.Target, targetEnd)
	case m.First.Source.IsNone() || m.First.Target.IsNone():
		return errors.New("it names no first record")
	case slices.Min([]int64{m.Read, m.Copied, m.Missing, m.Altered, m.Unprovable, m.OutOfOrder, m.Repeated, m.Early, m.Foreign, m.Older, m.Expired}) < 0:
		return errors.New("a count is below zero")
	case m.Read != m.Copied+m.Altered+m.Repeated+m.Early+m.Foreign+m.Older:
		return fmt.Errorf("%d target records do not add up", m.Read)
	}
	var missing, altered int64
	for i, r := range m.Gaps {
		if r.From < next || r.To < r.From || r.To >= m.Source || i > 0 && r.From <= m.Gaps[i-1].To {
			return fmt.Errorf("gaps %d to %d are not in order, or not below %d", r.From, r.To, m.Source)
		}
		switch r.State {
		case GapMissing:
			missing += r.To - r.From + 1
		case GapAltered:
			altered += r.To - r.From + 1
		case GapUnprovable:
		default:
			return fmt.Errorf("gaps %d to %d: unknown state %q", r.From, r.To, r.State)
		}
	}
	if missing > m.Missing || altered > m.Altered {
		return fmt.Errorf("%d gaps are missing and %d altered, more than the %d and %d that are counted", missing, altered, m.Missing, m.Altered)
	}
	for i, r := range m.Repeats {
		if r.From < m.Window || r.To < r.From || r.To >= m.Source || i > 0 && r.From <= m.Repeats[i-1].To {
			return fmt.Errorf("repeats %d to %d are not in order, or not in the window", r.From, r.To)
		}
	}
	return nil
}
