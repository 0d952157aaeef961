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
//   - a stored C in range (log start <= C <= log end) is taken as it is
//   - a marker on a partition without records: C = log end
//   - a partition that the state never names, or that only the enumerator
//     knows, with log start = log end = 0: C = 0
//   - by acceptance only: the marker earliest, or a partition never named:
//     C = log start; C below the log start: C = log start, the loss counted
//
// Everything else blocks, and one blocked partition blocks the plan: the rows
// are nil then and Blocked of the findings is an error that lists every one.
// The findings are sorted and hold warnings and acceptances as well.
func Resolve(in Input) ([]Row, []Finding) {
	r := resolver{in: in, positions: make(map[TopicPartition]Position, len(in.Positions))}
	for _, p := range in.Positions {
		if _, dup := r.positions[p.TopicPartition]; dup {
			r.block("plan/duplicate-position", p.String(), Never, "the partition has two positions")
			continue
		}
		r.positions[p.TopicPartition] = p
	}
	measured := slices.Clone(in.Measured)
	slices.SortFunc(measured, func(a, b Measured) int { return a.Compare(b.TopicPartition) })
	rows := make([]Row, 0, len(measured))
	for i, m := range measured {
		if i > 0 && m.TopicPartition == measured[i-1].TopicPartition {
			r.block("plan/duplicate-partition", m.String(), Never, "the partition was measured twice")
			continue
		}
		if row, ok := r.row(m); ok {
			rows = append(rows, row)
		}
		delete(r.positions, m.TopicPartition)
	}
	for tp, p := range r.positions {
		r.block("source/partition-missing", tp.String(), Never,
			"the job stood at %s, but the source has no such partition among the topics of the migration: it was deleted, or another source or topic list is meant", describe(p))
	}
	if len(measured) == 0 {
		r.block("source/no-partition", "", Never, "no topic of the migration has a partition")
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
	findings  []Finding
}

func (r *resolver) find(s Severity, check, scope string, a Acceptable, format string, args ...any) Finding {
	f := Finding{Check: check, Severity: s, Scope: scope, Detail: fmt.Sprintf(format, args...), Acceptable: a}
	r.findings = append(r.findings, f)
	return f
}

func (r *resolver) block(check, scope string, a Acceptable, format string, args ...any) {
	r.find(Block, check, scope, a, format, args...)
}

// accepted records a finding that blocks and reports whether a person let it
// through.
func (r *resolver) accepted(check, scope string, a Acceptable, format string, args ...any) bool {
	f := r.find(Block, check, scope, a, format, args...)
	return slices.ContainsFunc(r.in.Acceptances, func(a Acceptance) bool { return a.covers(f) })
}

// row decides one partition. It returns false when the partition blocks.
func (r *resolver) row(m Measured) (Row, bool) {
	row := Row{
		TopicPartition: m.TopicPartition, TopicID: m.TopicID, Origin: FromNothing,
		LogStart: m.Range.Start, LogEnd: m.Range.End, LastStable: m.Range.Stable,
		TargetTopic: m.TargetTopic, TargetEnd: m.TargetEnd, Group: m.Group, Backup: m.Backup,
	}
	scope := m.String()
	if m.Range.Start.IsNone() || m.Range.End.IsNone() || m.Range.Stable.IsNone() {
		f := r.find(Block, "source/range-unknown", scope, Never, "log start %s, log end %s, last stable offset %s could not all be measured", m.Range.Start, m.Range.End, m.Range.Stable)
		r.findings[len(r.findings)-1].Unmade, f.Unmade = true, true
		return row, false
	}
	p, named := r.positions[m.TopicPartition]
	if named {
		row.Found = &Found{Next: p.Next, Unread: p.Unread, Stop: p.Stop, State: p.State, Start: p.Start}
		if p.State == "" {
			row.Origin = r.in.Origin
		}
	}
	var ok bool
	switch {
	case !named || p.State != "":
		ok = r.unnamed(&row, m, p, named)
	case p.Next.IsNone():
		ok = r.marked(&row, m, p)
	default:
		ok = r.stored(&row, m, p)
	}
	if !ok {
		return row, false
	}
	w, err := row.Next.Write()
	if err != nil { // no rule above yields none
		r.block("plan/no-offset", scope, Never, "%v", err)
		return row, false
	}
	row.Write = w
	return row, true
}

func (r *resolver) stored(row *Row, m Measured, p Position) bool {
	scope, c := m.String(), p.Next
	row.Rule, row.Next = RuleStored, c
	if c.Compare(m.Range.End) > 0 {
		r.block("source/offset-beyond-end", scope, Never,
			"C = %s is beyond the log end %s: this is another topic, it was created again, or its log was cut", c, m.Range.End)
		return false
	}
	if n, _ := m.Range.Start.Sub(c); n > 0 {
		row.Rule, row.Next, row.Lost = RuleExpiredAccepted, m.Range.Start, n
		return r.accepted("source/offset-expired", fmt.Sprintf("%s:%d", scope, n), Exact,
			"C = %s is below the log start %s: %d offsets have expired and cannot be copied", c, m.Range.Start, n)
	}
	if c.Compare(m.Range.Stable) > 0 {
		if r.in.Isolation != ReadUncommitted {
			r.block("source/offset-above-stable", scope, Never,
				"C = %s is above the last stable offset %s, which a %s job cannot have passed", c, m.Range.Stable, r.in.Isolation)
			return false
		}
		return r.accepted("source/offset-above-stable", scope, ByScope,
			"C = %s is above the last stable offset %s: the job copied records of a transaction that is still open", c, m.Range.Stable)
	}
	return true
}

func (r *resolver) marked(row *Row, m Measured, p Position) bool {
	scope := m.String()
	if m.Range.Empty() {
		row.Rule, row.Next = RuleMarkedEmpty, m.Range.End
		if v, _ := m.Range.Start.Value(); v > 0 {
			r.find(Warn, "source/unread-emptied", scope, Never,
				"the job read nothing of the partition, which is empty but has held offsets below %s: records may have expired unread", m.Range.Start)
		}
		return true
	}
	if p.Unread == Earliest {
		row.Rule, row.Next = RuleEarliestAccepted, m.Range.Start
		return r.accepted("source/unread-earliest", scope, ByScope,
			"the job was to start at the earliest record and had read none; from the log start %s to the log end %s may hold records that an earlier run copied", m.Range.Start, m.Range.End)
	}
	r.block("source/unread", scope, Never,
		"the split still holds the marker %q, which is no position, and the partition has records (log start %s, log end %s)", p.Unread, m.Range.Start, m.Range.End)
	return false
}

func (r *resolver) unnamed(row *Row, m Measured, p Position, named bool) bool {
	scope := m.String()
	if v, _ := m.Range.End.Value(); v == 0 && m.Range.Empty() {
		row.Rule, row.Next = RuleUnnamedEmpty, m.Range.End
		return true
	}
	row.Rule, row.Next = RuleUnnamedAccepted, m.Range.Start
	what := "the state never names the partition"
	if named {
		what = fmt.Sprintf("only the enumerator knows the partition (%s)", p.State)
	}
	return r.accepted("source/position-missing", scope, ByScope,
		"%s; log start %s, log end %s; copying would begin at the log start", what, m.Range.Start, m.Range.End)
}

func describe(p Position) string {
	switch {
	case !p.Next.IsNone():
		return p.Next.String()
	case p.State != "":
		return string(p.State)
	default:
		return fmt.Sprintf("the marker %q", p.Unread)
	}
}
