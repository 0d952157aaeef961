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
	timestamps           Timestamps

	// limit is how many target records may wait for the source to be read; hold
	// and release stop and restart reading the target. They are called with mu
	// held, so that none overtakes another.
	limit         int
	hold, release func()

	mu      sync.Mutex
	cmp     *Comparer
	source  logSide
	target  logSide
	ended   bool // all source records up to End were fed
	expired int64
	barrier *barrier
	held    bool
	// targetRange is the last that was measured.
	targetRange offsetmap.Range
	complete    bool // nothing more needs to be read
	decided     bool
	report      PartitionReport
}

// logSide is how far one side of a partition was read.
type logSide struct {
	position   int64     // every readable record below was fed
	came       time.Time // when records came last
	outOfRange bool      // the broker does not have the position
	compacted  bool
	err        error // the last that may pass
	fatal      error // what makes reading on senseless
}

// barrier is a pair of log ends, measured in this order: when all source
// records below source are fed, every target record below target can be judged.
type barrier struct {
	target, source int64
	final          bool // the target had all that is due before it was measured
}

func newPartition(spec Partition, o *Options, source, target Topic) *partition {
	opts := []CompareOption{WithExamples(o.Examples)}
	if source.Compacted || target.Compacted {
		opts = append(opts, WithCompaction())
	}
	p := &partition{
		Partition:  spec,
		timestamps: target.Timestamps,
		limit:      max(minWaiting, maxWaiting/len(o.Partitions)),
		cmp:        NewComparer(opts...),
		source:     logSide{compacted: source.Compacted, came: time.Now()},
		target:     logSide{compacted: target.Compacted, came: time.Now()},
	}
	p.next, _ = spec.Next.Value() // none is refused before
	p.end, _ = spec.End.Value()
	p.targetEnd, _ = spec.TargetEnd.Value()
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

// begin sets where both sides are read from, given what the logs hold now.
func (p *partition) begin(source, target offsetmap.Range, lookback int64) {
	start, _ := source.Start.Value()
	end, measured := source.End.Value()
	p.source.position = max(p.next-lookback, start, 0)
	switch {
	case source.Start.IsNone() || !measured:
		return // whoever measured says why
	case end < p.next || end < p.end:
		p.source.fatal = fmt.Errorf("the log ends at %d, below what was planned (%d) or fixed (%d): truncated, or created again", end, p.next, p.end)
	}
	p.lose(sourceSide, p.next, start)
	p.endBefore(p.source.position)

	start, _ = target.Start.Value()
	end, measured = target.End.Value()
	p.target.position = max(p.targetEnd, start)
	switch {
	case target.Start.IsNone() || !measured:
		return
	case end < p.targetEnd:
		p.target.fatal = fmt.Errorf("the log ends at %d, below the recorded end %d: truncated, or created again", end, p.targetEnd)
	}
	p.lose(targetSide, p.targetEnd, start)
}

// lose notes that the offsets from..to-1 are gone before they were read.
func (p *partition) lose(w which, from, to int64) {
	if w == targetSide {
		if to > from {
			p.cmp.Hole(to - from)
		}
		return
	}
	if from, to := max(from, p.next), min(to, p.end); to > from {
		p.expired += to - from
	}
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
	if p.decided || s.fatal != nil {
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
	if first > s.position && f.logStart > s.position {
		p.lose(w, s.position, min(first, f.logStart))
	}
	for _, r := range f.prints {
		switch {
		case w == targetSide:
			p.cmp.Target(r)
		case r.offset < p.next:
			p.cmp.Before(r)
		default:
			p.endBefore(r.offset)
			p.cmp.Source(r)
		}
	}
	p.advance(w, f.next)
	p.throttle()
}

// throttle keeps the target from being read further than the source explains.
func (p *partition) throttle() {
	switch n := p.cmp.Waiting(); {
	case n > p.limit && !p.held:
		p.held = true
		p.hold()
	case n <= p.limit/2 && p.held:
		p.held = false
		p.release()
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
	s.outOfRange = false
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
	stuck = !p.decided && s.fatal == nil && !s.outOfRange && s.position < goal && (w == sourceSide || !p.held) && time.Since(s.came) > probeAfter
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

// readable is where a reader of the isolation stops.
func readable(r offsetmap.Range, i offsetmap.Isolation) (int64, bool) {
	if i == offsetmap.ReadCommitted {
		return r.Stable.Value()
	}
	return r.End.Value()
}

// look judges what can be judged with fresh log ends, the target's measured
// before the source's, and reports whether that decided the partition.
func (p *partition) look(o *Options, target, source offsetmap.Range) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided {
		return false
	}
	if !target.End.IsNone() && !target.Stable.IsNone() {
		p.targetRange = target
	}
	if p.source.fatal != nil || p.target.fatal != nil {
		p.decide(o)
		return true
	}
	t, knownT := readable(target, o.Target.Isolation)
	s, knownS := readable(source, o.Source.Isolation)
	if p.barrier == nil && knownT && knownS {
		p.barrier = &barrier{target: t, source: s, final: p.ended && p.cmp.Reached()}
	}
	b := p.barrier
	if b == nil || !p.ended || p.source.position < b.source {
		return false
	}
	p.cmp.Settle(place(b.target))
	p.throttle()
	if p.target.position < b.target {
		return false
	}
	p.barrier = nil
	if b.final {
		p.complete = true
		p.decide(o)
	}
	return b.final
}

// state returns the counts so far, how far the source is read while that is
// still due, and whether the partition is decided.
func (p *partition) state() (c Counts, read int64, decided bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided {
		return p.report.Counts, p.source.position, true
	}
	return p.cmp.Counts(), min(p.source.position, max(p.end, p.next)), false
}

// goal is up to where a side must be read next.
func (p *partition) goal(w which) int64 {
	switch {
	case w == sourceSide && p.barrier != nil:
		return max(p.end, p.barrier.source)
	case w == sourceSide:
		return p.end
	case p.barrier != nil:
		return p.barrier.target
	default:
		return p.target.position
	}
}

// decide ends the comparison.
func (p *partition) decide(o *Options) {
	moved := p.cmp.Moved()
	r := p.cmp.Result()
	p.decided = true
	p.report = PartitionReport{
		Source: p.Source, Target: p.Target, Next: p.Next, End: p.End, TargetEnd: p.TargetEnd,
		SourceRead: place(p.source.position), TargetRead: place(p.target.position), SourceExpired: p.expired,
		Moved: moved, Lag: r.Lag, First: r.First, Counts: r.Counts, Examples: r.Examples,
	}
	p.report.Outcome, p.report.Reason = p.verdict(o, r.Counts)
	p.cmp = nil // frees what was remembered
}

func (p *partition) verdict(o *Options, c Counts) (PartitionOutcome, string) {
	stable, knownStable := p.targetRange.Stable.Value()
	end, knownEnd := p.targetRange.End.Value()
	switch {
	case c.Faults() > 0:
		return PartitionFailed, c.faults()
	case p.source.fatal != nil:
		return PartitionUnread, fmt.Sprintf("source: %v", p.source.fatal)
	case p.target.fatal != nil:
		return PartitionUnread, fmt.Sprintf("target: %v", p.target.fatal)
	case !p.ended:
		return PartitionPending, fmt.Sprintf("the source is read up to %d of %d%s", p.source.position, p.end, p.errors())
	case c.Pending > 0 && o.Target.Isolation == offsetmap.ReadCommitted && knownStable && knownEnd && stable < end:
		return PartitionHidden, fmt.Sprintf("%d records are not there yet, and a transaction that is open since offset %d hides the target's records up to %d", c.Pending, stable, end)
	case c.Pending > 0:
		return PartitionPending, fmt.Sprintf("%d records are not there yet%s", c.Pending, p.errors())
	case !p.complete:
		return PartitionPending, fmt.Sprintf("the target is read up to %d only, and may hold more%s", p.target.position, p.errors())
	case c.Unprovable > 0 || p.expired > 0:
		return PartitionUnprovable, fmt.Sprintf("retention or compaction may have taken %d records; %d source offsets expired before they were read", c.Unprovable, p.expired)
	case c.Source == 0:
		return PartitionNothingToCopy, ""
	default:
		return PartitionProven, ""
	}
}

// errors says what went wrong last, as a tail of a reason.
func (p *partition) errors() string {
	tail := ""
	for _, w := range []which{sourceSide, targetSide} {
		if err := p.side(w).err; err != nil {
			tail += fmt.Sprintf("; %s: %v", w, err)
		}
	}
	return tail
}
