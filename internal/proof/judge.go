package proof

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// barrier is a pair of log ends, measured in this order: when all source
// records below source are fed, every target record below target can be judged.
type barrier struct {
	target, source int64
	final          bool // the target had all that is due before it was measured
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
	if !source.End.IsNone() && !source.Stable.IsNone() {
		p.sourceRange = source
	}
	if p.source.fatal != nil || p.target.fatal != nil {
		p.decide(o)
		return true
	}
	if p.over() {
		p.complete = true
		p.decide(o)
		return true
	}
	t, knownT := readable(target, o.Target.Isolation)
	s, knownS := readable(source, o.Source.Isolation)
	if p.barrier == nil && knownT && knownS {
		p.barrier = &barrier{target: t, source: s, final: p.cmp.Reached()}
	}
	b := p.barrier
	if b == nil {
		return false
	}
	behind := p.source.position < b.source
	if !behind {
		p.cmp.Settle(place(b.target))
		p.throttle()
	}
	if behind && p.cmp.Waits() || p.cmp.Strangers() && !b.final {
		p.stand(b, behind)
		return false
	}
	if p.target.position < b.target {
		return false
	}
	p.barrier = nil
	switch {
	case b.final && p.moving:
		p.reached = true
		return false
	case b.final:
		p.complete = true
		p.decide(o)
	}
	return b.final
}

// standing is how far a partition is.
type standing struct {
	counts      Counts
	lag, unread int64
	read        int64 // how far the source is read while that is still due
	decided     bool
}

func (p *partition) standing() standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided {
		return standing{p.report.Counts, p.report.Lag, p.report.Unread, p.source.position, true}
	}
	return standing{p.cmp.Counts(), int64(p.cmp.Ahead()), p.unreadOffsets(), min(p.source.position, max(p.end, p.next)), false}
}

// unreadOffsets is how many offsets up to the end were not read.
func (p *partition) unreadOffsets() int64 { return max(0, p.end-max(p.source.position, p.next)) }

// wantsEnds reports whether the partition cannot go on without fresh log ends.
func (p *partition) wantsEnds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.decided && (p.barrier == nil && (p.ended || p.source.held) || p.source.outOfRange || p.target.outOfRange)
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
	p.noteMark()
	moved := p.cmp.Moved()
	p.report = p.reportOf(o, p.cmp.Result(), moved)
	p.decided = true
	p.cmp = nil // frees what was remembered
}

// asItStands is the report of a partition that is read on.
func (p *partition) asItStands(o *Options) PartitionReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decided {
		return p.report
	}
	p.takeReached()
	return p.reportOf(o, p.cmp.Snapshot(), p.cmp.Moved())
}

func (p *partition) reportOf(o *Options, r Result, moved bool) PartitionReport {
	report := PartitionReport{
		Source: p.Source, Target: p.Target, Next: p.Next, End: p.End, TargetEnd: p.TargetEnd,
		SourceRead: place(p.source.position), TargetRead: place(p.target.position), SourceExpired: p.expired,
		Unread: p.unreadOffsets(),
		Moved:  moved, Lag: r.Lag, Waits: r.Waits, First: r.First, Counts: r.Counts, Examples: r.Examples,
	}
	report.Outcome, report.Reason = p.verdict(o, r.Counts, moved)
	return report
}

func (p *partition) verdict(o *Options, c Counts, moved bool) (PartitionOutcome, string) {
	stable, knownStable := p.targetRange.Stable.Value()
	end, knownEnd := p.targetRange.End.Value()
	switch {
	case c.Faults() > 0:
		return PartitionFailed, c.faults() + p.beyondWindow(c)
	case p.source.fatal != nil:
		return PartitionUnread, fmt.Sprintf("source: %v", p.source.fatal)
	case p.target.fatal != nil:
		return PartitionUnread, fmt.Sprintf("target: %v", p.target.fatal)
	case !p.ended && !p.source.held:
		return PartitionPending, fmt.Sprintf("the source is read up to %d of %d%s", p.source.position, p.end, p.errors())
	case c.Pending > 0 && o.Target.Isolation == offsetmap.ReadCommitted && knownStable && knownEnd && stable < end:
		return PartitionHidden, fmt.Sprintf("%d records are not there yet, and a transaction that is open since offset %d hides the target's records up to %d", c.Pending, stable, end)
	case c.Pending > 0 || !p.ended:
		none := ""
		if !moved {
			none = ", and none of the partition has come"
		}
		return PartitionPending, fmt.Sprintf("%d records are not there yet%s%s%s", c.Pending, none, p.unread(), p.errors())
	case !p.complete:
		return PartitionPending, fmt.Sprintf("the target is read up to %d only, and may hold more%s", p.target.position, p.errors())
	case c.Unprovable > 0 || p.expired > 0:
		return PartitionUnprovable, fmt.Sprintf("retention or compaction may have taken %d records; %d source offsets expired before they were read", c.Unprovable, p.expired)
	case c.Source == 0 && p.heldBack(o):
		s, _ := p.sourceRange.Stable.Value()
		e, _ := p.sourceRange.End.Value()
		return PartitionWaiting, fmt.Sprintf("a transaction that is open on the source since offset %d holds back the records up to %d, so the copier waits for its end", s, e)
	case c.Source == 0:
		return PartitionNothingToCopy, ""
	default:
		return PartitionProven, ""
	}
}

// errors says what went wrong last, as a tail of a reason.
func (p *partition) errors() string {
	var tail strings.Builder
	for _, w := range []which{sourceSide, targetSide} {
		if err := p.side(w).err; err != nil {
			fmt.Fprintf(&tail, "; %s: %v", w, err)
		}
	}
	return tail.String()
}

// heldBack reports whether an open transaction hides source records from the
// copier, as far as was measured.
func (p *partition) heldBack(o *Options) bool {
	s, known := p.sourceRange.Stable.Value()
	e, measured := p.sourceRange.End.Value()
	return o.Source.Isolation == offsetmap.ReadCommitted && known && measured && s < e
}

// beyondWindow says what a count of faults may owe to the window.
func (p *partition) beyondWindow(c Counts) string {
	if c.Older == 0 {
		return ""
	}
	return fmt.Sprintf("; %d target records equal none of the %d source records that are remembered, so some of the faults may be repeats or come late: a larger window tells", c.Older, p.window.behind)
}

// unread says what waits beyond the records that were read.
func (p *partition) unread() string {
	if p.ended {
		return ""
	}
	return fmt.Sprintf("; the source is read up to %d of %d, as far as the target asks for", p.source.position, p.end)
}
