package offsetmap

import (
	"fmt"
	"slices"
)

// Input is what Resolve decides from.
type Input struct {
	Origin      Origin       // FromSavepoint or FromGroup
	Positions   []Position   // where the old job stood
	Measured    []Measured   // every partition of every topic of the migration, freshly
	Isolation   Isolation    // the old job's isolation level
	Acceptances []Acceptance // what a person lets through
}

// Resolve decides C for every partition, by the rules and nothing else:
//
//   - a stored C in range (log start <= C <= log end) is taken as it is; above
//     the last stable offset by acceptance only, and never if the job read
//     committed
//   - a marker on a partition without records: C = log end; unless the marker
//     is Unknown, since a state with a number that Flink never writes was not
//     understood
//   - a partition that the state never names, or that only the enumerator
//     knows, with log start = log end = 0: C = 0
//   - by acceptance only: the marker earliest, or a partition never named:
//     C = log start; C below the log start: C = log start, the loss counted
//
// Everything else blocks, and one blocked partition blocks the plan: the rows
// are nil then and Blocked of the findings is an error that lists every one.
// The rows are sorted by topic and partition; the findings are sorted and hold
// warnings and acceptances as well.
func Resolve(in Input) ([]Row, []Finding) {
	r := resolver{in: in, positions: make(map[TopicPartition]Position, len(in.Positions)), accepted: indexAcceptances(in.Acceptances)}
	r.collect()
	measured := slices.Clone(in.Measured)
	slices.SortStableFunc(measured, func(a, b Measured) int { return a.Compare(b.TopicPartition) })
	rows := make([]Row, 0, len(measured))
	var topics topicChecker
	for i, m := range measured {
		if i > 0 && m.TopicPartition == measured[i-1].TopicPartition {
			r.block("plan/duplicate-partition", m.String(), "the partition was measured twice")
			continue
		}
		if text := topics.next(m.Topic, m.TopicID, m.TargetTopic); text != "" {
			r.block("plan/topic-ambiguous", m.String(), "%s", text)
		}
		if row, ok := r.row(m); ok {
			rows = append(rows, row)
		}
		delete(r.positions, m.TopicPartition)
	}
	for tp, p := range r.positions {
		r.block(checkPartitionMissing, tp.String(),
			"the job stood at %s, but the source has no such partition among the topics of the migration: it was deleted, or another source or topic list is meant", describe(p))
	}
	if len(measured) == 0 {
		r.block("source/no-partition", "", "no topic of the migration has a partition")
	}
	findings := Accept(r.findings, in.Acceptances)
	if Blocked(findings) != nil {
		return nil, findings
	}
	return rows, findings
}

type resolver struct {
	in        Input
	positions map[TopicPartition]Position
	accepted  acceptanceIndex
	findings  []Finding
}

func (r *resolver) find(f Finding, format string, args ...any) {
	f.Detail = fmt.Sprintf(format, args...)
	r.findings = append(r.findings, f)
}

// block records what no acceptance lets through.
func (r *resolver) block(check, scope, format string, args ...any) {
	r.find(Finding{Check: check, Severity: Block, Scope: scope, Acceptable: Never}, format, args...)
}

// unmade records a measurement that is missing or contradicts itself.
func (r *resolver) unmade(check, scope, format string, args ...any) {
	r.find(Finding{Check: check, Severity: Block, Scope: scope, Acceptable: Never, Unmade: true}, format, args...)
}

// ask records that the row needs an acceptance, and reports whether it has one.
func (r *resolver) ask(row *Row, format string, args ...any) bool {
	f, _ := row.needs()
	r.find(f, format, args...)
	return len(r.accepted.covering(f)) > 0
}

// collect looks at what holds for the whole input, and files the positions.
func (r *resolver) collect() {
	if r.in.Origin != FromSavepoint && r.in.Origin != FromGroup {
		r.block("plan/origin-unknown", "", "positions come from %q, want %q or %q", r.in.Origin, FromSavepoint, FromGroup)
	}
	if !slices.Contains(isolations, r.in.Isolation) {
		r.block("plan/isolation-unknown", "", "isolation level %q, want one of %q", r.in.Isolation, isolations)
	}
	for _, p := range r.in.Positions {
		if _, dup := r.positions[p.TopicPartition]; dup {
			r.block("plan/duplicate-position", p.String(), "the partition has two positions")
			continue
		}
		r.positions[p.TopicPartition] = p
		if err := p.Validate(); err != nil {
			r.block("plan/position-invalid", p.String(), "%v", err)
		}
	}
}

// row decides one partition. It returns false when the partition blocks.
func (r *resolver) row(m Measured) (Row, bool) {
	row := Row{
		TopicPartition: m.TopicPartition, TopicID: m.TopicID, Origin: FromNothing,
		LogStart: m.Range.Start, LogEnd: m.Range.End, LastStable: m.Range.Stable,
		TargetTopic: m.TargetTopic, TargetEnd: m.TargetEnd, Group: m.Group, Backup: m.Backup,
	}
	if !r.measured(m) {
		return row, false
	}
	p, named := r.positions[m.TopicPartition]
	if named {
		row.Found = &Found{Next: p.Next, Unread: p.Unread, Stop: p.Stop, State: p.State, Start: p.Start}
		if p.State.IsNone() {
			row.Origin = r.in.Origin
		}
		if p.Validate() != nil { // collect has said so
			return row, false
		}
	}
	var ok bool
	switch {
	case !named || !p.State.IsNone():
		ok = r.unnamed(&row)
	case p.Next.IsNone():
		ok = r.marked(&row)
	default:
		ok = r.stored(&row)
	}
	if !ok {
		return row, false
	}
	row.Write = row.Next.write()
	return row, true
}

// measured reports whether everything that the rules look at was measured.
func (r *resolver) measured(m Measured) bool {
	scope, before := m.String(), len(r.findings)
	if err := m.Validate(); err != nil {
		r.block("plan/partition-invalid", scope, "%v", err)
	}
	if err := ValidateTopic(m.TargetTopic); err != nil {
		r.block("plan/partition-invalid", scope, "target topic: %v", err)
	}
	if m.TargetEnd.IsNone() {
		r.unmade("target/end-unknown", scope, "the end of target partition %s-%d could not be measured", m.TargetTopic, m.Partition)
	}
	switch rg := m.Range; {
	case rg.Start.IsNone() || rg.End.IsNone() || rg.Stable.IsNone():
		r.unmade(checkRangeUnknown, scope, "log start %s, log end %s, last stable offset %s could not all be measured", rg.Start, rg.End, rg.Stable)
	case rg.Start.Compare(rg.End) > 0 || rg.Start.Compare(rg.Stable) > 0:
		r.unmade(checkRangeInconsistent, scope, "the log start %s lies above the log end %s or the last stable offset %s: they moved while they were measured, measure again", rg.Start, rg.End, rg.Stable)
	}
	return len(r.findings) == before
}

func (r *resolver) stored(row *Row) bool {
	c := row.Found.Next
	row.Rule, row.Next = RuleStored, c
	if row.Origin == FromGroup && row.Group != c {
		r.block("source/group-moved", row.String(), "C = %s was read from the group, which holds %s now: somebody still commits to it", c, row.Group)
		return false
	}
	if stop := row.Found.Stop; !stop.IsNone() {
		r.find(Finding{Check: "source/split-bounded", Severity: Warn, Scope: row.String(), Acceptable: Never},
			"the job was to stop before offset %s; MirrorMaker 2 goes on beyond it", stop)
	}
	if c.Compare(row.LogEnd) > 0 {
		r.block("source/offset-beyond-end", row.String(),
			"C = %s is beyond the log end %s: this is another topic, it was created again, or its log was cut", c, row.LogEnd)
		return false
	}
	if n, _ := row.LogStart.Sub(c); n > 0 {
		row.Rule, row.Next, row.Lost = RuleExpiredAccepted, row.LogStart, n
		return r.ask(row, "C = %s is below the log start %s: %d offsets have expired and cannot be copied", c, row.LogStart, n)
	}
	if c.Compare(row.LastStable) > 0 {
		if r.in.Isolation == ReadUncommitted {
			return r.ask(row, "C = %s is above the last stable offset %s: the job copied records of a transaction that is still open", c, row.LastStable)
		}
		r.block(checkAboveStable, row.String(),
			"C = %s is above the last stable offset %s, which a %s job cannot have passed", c, row.LastStable, r.in.Isolation)
		return false
	}
	return true
}

func (r *resolver) marked(row *Row) bool {
	marker := row.Found.Unread
	switch {
	case r.in.Origin == FromGroup:
		r.block("plan/position-invalid", row.String(), "a group has no marker, but the position from it is %q", marker)
		return false
	case marker == Unknown:
		r.block("source/marker-unknown", row.String(), "the split stores a negative number that Flink never writes: the state was not understood")
		return false
	case row.Range().Empty():
		row.Rule, row.Next = RuleMarkedEmpty, row.LogEnd
		r.expiredUnread(row)
		return true
	case marker == Earliest:
		row.Rule, row.Next = RuleEarliestAccepted, row.LogStart
		r.expiredUnread(row)
		return r.ask(row, "the job was to start at the earliest record and had read none; from the log start %s to the log end %s may hold records that an earlier run copied", row.LogStart, row.LogEnd)
	default:
		r.block("source/unread", row.String(),
			"the split still holds the marker %q, which is no position, and the partition has records (log start %s, log end %s)", marker, row.LogStart, row.LogEnd)
		return false
	}
}

func (r *resolver) unnamed(row *Row) bool {
	row.Next = row.LogStart
	if row.LogEnd == offset0 {
		row.Rule = RuleUnnamedEmpty
		return true
	}
	row.Rule = RuleUnnamedAccepted
	r.expiredUnread(row)
	what := "the state never names the partition"
	if row.Found != nil {
		what = fmt.Sprintf("only the enumerator knows the partition (%s)", row.Found.State)
	}
	return r.ask(row, "%s; log start %s, log end %s; copying would begin at the log start", what, row.LogStart, row.LogEnd)
}

// expiredUnread warns that the log once began below its start: nobody can say
// whether the records there were copied before they expired.
func (r *resolver) expiredUnread(row *Row) {
	if row.LogStart != offset0 {
		r.find(Finding{Check: "source/unread-expired", Severity: Warn, Scope: row.String(), Acceptable: Never},
			"the state shows no record read, and the log has held offsets below its start %s: records may have expired unread", row.LogStart)
	}
}

func describe(p Position) string {
	switch {
	case !p.Next.IsNone():
		return p.Next.String()
	case !p.State.IsNone():
		return p.State.String()
	default:
		return fmt.Sprintf("the marker %q", p.Unread)
	}
}
