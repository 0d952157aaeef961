package proof

import (
	"fmt"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// partition is one partition under comparison. Two readers feed it and one
// loop decides it, so everything from mu on is guarded by it.
type partition struct {
	Partition
	next, end, targetEnd int64
	from                 int64 // source records from C up to here are compared
	timestamps           Timestamps

	// limit is how many target records may wait for the source to be read; hold
	// and release stop and restart reading a side. They are called with mu held,
	// so that none overtakes another.
	limit         int
	window        extent
	hold, release func(which)

	mu      sync.Mutex
	cmp     *Comparer
	source  logSide
	target  logSide
	ended   bool // all source records up to End were fed
	expired int64
	barrier *barrier
	stands  stands
	// lookback is from where records before C are looked at.
	lookback int64
	mark     *Mark
	// The last that were measured.
	sourceRange, targetRange offsetmap.Range

	moving  bool  // the end moves on
	brief   bool  // nothing is read behind the last record that is due
	due     int64 // records that are still to be fed until the end, where they are limited
	reached bool  // the target had all up to the end, while that may move on

	complete bool // nothing more needs to be read
	decided  bool
	report   PartitionReport
}

// logSide is how far one side of a partition was read.
type logSide struct {
	position   int64     // every readable record below was fed
	came       time.Time // when records came last
	outOfRange bool      // the broker does not have the position
	held       bool      // it is not read on before the other side is
	compacted  bool
	err        error // the last that may pass
	fatal      error // what makes reading on senseless
}

func newPartition(spec Partition, o *Options, source, target Topic) *partition {
	window := o.share()
	opts := []CompareOption{WithExamples(o.Examples), WithWindow(window.behind, window.ahead)}
	if source.Compacted || target.Compacted {
		opts = append(opts, WithCompaction())
	}
	if o.moving() {
		opts = append(opts, WithMovingEnd())
	}
	p := &partition{
		Partition:  spec,
		timestamps: target.Timestamps,
		window:     window,
		limit:      max(minWaiting, window.ahead),
		cmp:        NewComparer(opts...),
		source:     logSide{compacted: source.Compacted, came: time.Now()},
		target:     logSide{compacted: target.Compacted, came: time.Now()},
	}
	p.next, _ = spec.Next.Value() // none is refused before
	p.end, _ = spec.End.Value()
	p.targetEnd, _ = spec.TargetEnd.Value()
	p.from = p.next
	p.moving, p.brief = o.moving(), o.Until.kind == untilRecords
	if o.Until.kind == untilFirst {
		p.limitTo(o.Until.records)
	}
	if m := spec.From; m != nil {
		p.from, p.targetEnd, p.expired = m.Source, m.Target, m.Expired
		p.cmp.Resume(*m)
	}
	return p
}

// which side of a partition.
type which uint8

const (
	sourceSide which = iota
	targetSide
)

func (w which) String() string { return [...]string{"source", "target"}[w] }

func (p *partition) side(w which) *logSide {
	if w == sourceSide {
		return &p.source
	}
	return &p.target
}

func (p *partition) name(w which) offsetmap.TopicPartition {
	if w == sourceSide {
		return p.Source
	}
	return p.Target
}

// begin sets where both sides are read from, given what the logs hold now. A
// bound that is not known is found out later, when a position turns out to be
// gone.
func (p *partition) begin(source, target offsetmap.Range, lookback int64) {
	start, _ := source.Start.Value()
	if end, known := source.End.Value(); known && (end < p.next || end < p.end) {
		p.source.fatal = fmt.Errorf("the log ends at %d, below what was planned (%d) or fixed (%d): truncated, or created again", end, p.next, p.end)
	}
	p.lookback = max(p.next-lookback, start, 0)
	p.source.position = p.lookback
	if m := p.From; m != nil && m.Window > p.next {
		p.source.position = max(m.Window, start)
	}
	p.lose(sourceSide, p.next, start)
	p.endBefore(p.source.position)

	start, _ = target.Start.Value()
	if end, known := target.End.Value(); known && end < p.targetEnd {
		p.target.fatal = fmt.Errorf("the log ends at %d, below the recorded end %d: truncated, or created again", end, p.targetEnd)
	}
	p.target.position = max(p.targetEnd, start)
	p.lose(targetSide, p.targetEnd, start)
}

// lose notes that the offsets from..to-1, if any, are gone before they were read.
// Those that an earlier run compared were read. Of an end that moves on, what is
// gone beyond it counts at once.
func (p *partition) lose(w which, from, to int64) {
	if w == targetSide {
		if to > from {
			p.cmp.Hole(to - from)
		}
		return
	}
	if !p.moving {
		to = min(to, p.end)
	}
	p.expired += max(0, to-max(from, p.from))
}

// fetched is what one fetch brought of one partition.
type fetched struct {
	prints   []Print // readable records, no control records
	next     int64   // behind the last record of any kind
	logStart int64
}

// take feeds what was fetched.
func (p *partition) take(w which, f fetched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.side(w)
	if p.decided || s.fatal != nil || p.over() {
		return
	}
	s.came, s.err = time.Now(), nil
	first := f.next
	if len(f.prints) > 0 {
		first = f.prints[0].offset
	}
	if first < s.position && len(f.prints) > 0 {
		s.fatal = fmt.Errorf("offset %d came again after the log was read up to %d: truncated, or created again", first, s.position)
		return
	}
	p.lose(w, s.position, min(first, f.logStart))
	for _, r := range f.prints {
		switch {
		case w == targetSide:
			p.cmp.Target(r)
		case r.offset < p.next:
			p.cmp.Before(r)
		case r.offset < p.from:
			p.cmp.Known(r)
		default:
			p.endBefore(r.offset)
			p.cmp.Source(r)
			p.counted(r.offset)
		}
		if p.over() {
			p.advance(w, r.offset+1)
			return
		}
	}
	p.advance(w, f.next)
	p.throttle()
}

// throttle keeps the target from being read further than the source explains,
// and the source further than the target needs.
func (p *partition) throttle() {
	n, ahead := p.cmp.queue.records, p.cmp.Ahead()
	stands := p.cmp.Blocked()
	p.holdIf(targetSide, n > p.limit || stands, n <= p.limit/2 && !stands)
	p.holdIf(sourceSide, ahead >= 2*p.window.ahead, 2*ahead < 3*p.window.ahead)
}

func (p *partition) holdIf(w which, hold, release bool) {
	switch s := p.side(w); {
	case hold && !s.held:
		s.held = true
		p.hold(w)
	case release && s.held:
		s.held = false
		p.release(w)
	}
}

// advance notes that every record below an offset was fed.
func (p *partition) advance(w which, to int64) {
	s := p.side(w)
	s.position = max(s.position, to)
	if w == sourceSide {
		p.endBefore(s.position)
	}
}

// endBefore closes what the target must have, once the source is read up to it.
func (p *partition) endBefore(offset int64) {
	if !p.ended && offset >= p.end {
		p.ended = true
		p.cmp.End()
	}
}

// fail notes an error of reading, fatal or not.
func (p *partition) fail(w which, err error, fatal bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.side(w); fatal && s.fatal == nil {
		s.fatal = err
	} else {
		s.err = err
	}
}

// outOfRange notes that the broker does not have the position.
func (p *partition) outOfRange(w which) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.side(w).outOfRange = true
}

// resolve finds out, with fresh bounds, where an out-of-range side can be read
// on: at the log start when retention or a deletion overtook the reader.
func (p *partition) resolve(w which, r offsetmap.Range) (from int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.side(w)
	start, measured := r.Start.Value()
	end, measuredEnd := r.End.Value()
	if p.decided || s.fatal != nil || !s.outOfRange || !measured || !measuredEnd {
		return 0, false
	}
	s.outOfRange, s.held = false, false // it is read on from here, held or not
	if end < s.position {
		s.fatal = fmt.Errorf("the log ends at %d and was read up to %d: truncated, or created again", end, s.position)
		return 0, false
	}
	if start > s.position {
		p.lose(w, s.position, start)
		p.advance(w, start)
	}
	return s.position, true
}

// stuck returns the position and goal of a side that records do not bring on.
func (p *partition) stuck(w which) (from, goal int64, stuck bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.side(w)
	goal = p.goal(w)
	stuck = !p.decided && s.fatal == nil && !s.outOfRange && s.position < goal && !s.held && time.Since(s.came) > probeAfter
	return s.position, goal, stuck
}

// probed notes that nothing is readable below an offset.
func (p *partition) probed(w which, to int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided {
		return
	}
	if err != nil {
		p.side(w).err = err
	}
	p.advance(w, to)
}
