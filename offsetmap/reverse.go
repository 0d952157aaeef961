package offsetmap

import (
	"fmt"
	"slices"
)

// Reverse is the way back for one partition: where Flink must go on, C'.
type Reverse struct {
	TopicPartition
	TopicID TopicID      `json:"topicId"`
	Next    NextOffset   `json:"next"`   // C' = M + 1, or the log start
	Stored  SourceOffset `json:"stored"` // M; null when absent
	// Added says that the plan does not have the partition: it was added to its
	// topic after the start, and copied from its first record.
	Added bool `json:"added"`
	// Copied counts the offsets from the plan's C, from 0 where Added, to M + 1:
	// by what Connect holds, which may lack the last flush of a worker that was
	// killed.
	Copied int64 `json:"copied"`
	// Lost counts the offsets below the log start that were not copied and
	// have expired, which a person accepted to lose.
	Lost int64 `json:"lost"`
}

// Return is what the way back is decided from, all of it settled: no task is
// left, and the offsets have stopped moving.
type Return struct {
	Stored map[TopicPartition]SourceOffset // what Connect holds
	// Measured holds every partition of the plan's topics, freshly, also those
	// that were added since. Its TargetEnd is settled like the offsets.
	Measured map[TopicPartition]Measured
	// Ends are the target's ends before the first resume.
	Ends map[TopicPartition]NextOffset
	// Overtaken says that somebody wrote offsets before the first resume, so that
	// copying may not have begun at C.
	Overtaken bool
	// Acceptances are those of the rollback, not those of the plan.
	Acceptances []Acceptance
}

// Reverse turns what Connect holds after the connector was stopped into the
// next offsets at which Flink goes on: C' = M + 1.
//
//   - A partition that was added to a topic of the plan goes back with it: it
//     was copied from offset 0 on, and its target partition began at 0.
//   - A partition without a stored offset is explained when the plan cleared it
//     (C = 0) or when it was added: no copied record was committed, and C' is 0.
//   - Where records from C' on have expired, C' becomes the log start by an
//     acceptance that names partition and count ("orders-0:200"), and only so.
//   - An offset above the plan's, while the target's end has not risen, blocks:
//     it was written by hand, or what was copied is gone from the target.
//   - A partition that is gone, a topic that was created again, a log that was
//     cut, an offset that was cleared or set back, and a C' beyond the log end
//     block.
//   - Where copying may not have begun at C, M does not say that everything up to it
//     was copied, and the boundary needs an acceptance that names the connector.
//   - A stored offset of a topic that neither the plan nor an earlier one has
//     needs an acceptance, and yields no row.
//
// When anything blocks no row is returned: either all partitions go back or
// none. Rows and findings are sorted.
func (p *Plan) Reverse(now Return) ([]Reverse, []Finding) {
	r := reverser{now: now}
	planned, topics := make(map[TopicPartition]bool, len(p.Body.Rows)), map[string]TopicID{}
	for _, row := range p.Body.Rows {
		planned[row.TopicPartition], topics[row.Topic] = true, row.TopicID
		r.lead(begun{
			TopicPartition: row.TopicPartition, id: row.TopicID, logEnd: row.LogEnd,
			next: row.Next, wrote: row.Write.Result(), end: now.Ends[row.TopicPartition],
		})
	}
	for tp := range now.Measured {
		if id, ours := topics[tp.Topic]; ours && !planned[tp] {
			r.lead(begun{TopicPartition: tp, id: id, logEnd: offset0, next: offset0, end: offset0, added: true})
		}
	}
	earlier := map[string]bool{} // what such a topic has got since goes on with its wave
	for tp := range highest(p.Body.Earlier) {
		earlier[tp.Topic] = true
	}
	for _, d := range p.Diff(now.Stored).Only(Unplanned) {
		_, ours := topics[d.Topic]
		_, measured := now.Measured[d.TopicPartition]
		switch {
		case !ours && earlier[d.Topic]:
		case !ours:
			r.ask("rollback/unplanned", d.TopicPartition.String(), ByScope, "%s; its topic is none of the plan's, so it does not go back with it", d)
		case !measured:
			r.block(checkPartitionMissing, d.TopicPartition.String(), "%s, and the source has no such partition", d)
		}
	}
	if now.Overtaken {
		r.ask("rollback/overtaken", p.Body.Connector.Name, Exact, "somebody wrote offsets before the connector was resumed, so it may not have begun at C: records before C' may have been copied by nobody")
	}
	findings := Accept(r.findings, now.Acceptances)
	if Blocked(findings) != nil {
		return nil, findings
	}
	slices.SortFunc(r.rows, func(a, b Reverse) int { return a.Compare(b.TopicPartition) })
	return r.rows, findings
}

// begun is how one partition stood when the connector was first resumed.
type begun struct {
	TopicPartition
	id     TopicID
	logEnd NextOffset
	next   NextOffset   // where copying began
	wrote  SourceOffset // what Connect held
	end    NextOffset   // of the target partition
	added  bool         // it did not exist
}

type reverser struct {
	now      Return
	rows     []Reverse
	findings []Finding
}

func (r *reverser) block(check, scope, format string, args ...any) {
	r.findings = append(r.findings, Finding{Check: check, Severity: Block, Scope: scope, Detail: fmt.Sprintf(format, args...), Acceptable: Never})
}

func (r *reverser) unmade(check, scope, format string, args ...any) {
	r.block(check, scope, format, args...)
	r.findings[len(r.findings)-1].Unmade = true
}

func (r *reverser) ask(check, scope string, a Acceptable, format string, args ...any) {
	r.block(check, scope, format, args...)
	r.findings[len(r.findings)-1].Acceptable = a
}

// lead leads one partition back, if what is stored and measured is what a run
// from b can have left behind.
func (r *reverser) lead(b begun) {
	scope, m := b.String(), r.now.Stored[b.TopicPartition]
	now, there := r.now.Measured[b.TopicPartition]
	log := now.Range
	next := b.next
	if !m.IsNone() {
		next = m.Next()
	}
	switch {
	case !there:
		r.block(checkPartitionMissing, scope, "the partition is gone: its topic was deleted, or created again")
	case now.TopicID != b.id:
		r.block(checkRecreated, scope, "the topic was created again: its id is %s, the plan has %s, and no offset of the old log means anything in the new one", now.TopicID, b.id)
	case log.Start.IsNone() || log.End.IsNone():
		r.unmade(checkRangeUnknown, scope, "log start %s and log end %s could not both be measured", log.Start, log.End)
	case log.Start.Compare(log.End) > 0:
		r.unmade(checkRangeInconsistent, scope, "the log start %s lies above the log end %s: they moved while they were measured, measure again", log.Start, log.End)
	case log.End.Compare(b.logEnd) < 0:
		r.block(checkTruncated, scope, "the log ends at %s now, it ended at %s when the plan was made: it was cut, and other records may stand where those up to M = %s stood", log.End, b.logEnd, m)
	case m.IsNone() && !b.wrote.IsNone():
		r.block("rollback/offset-absent", scope, "Connect holds no offset, the plan wrote %s: it was cleared since", b.wrote)
	case m.Compare(b.wrote) < 0:
		r.block("rollback/offset-below-plan", scope, "Connect holds %s, which is below the plan's %s: it was set back since", m, b.wrote)
	case m != b.wrote && (now.TargetEnd.IsNone() || b.end.IsNone()):
		r.unmade("rollback/target-unknown", scope, "whether anything was copied is not known: the target partition ended at %s before the start, and ends at %s", b.end, now.TargetEnd)
	case m != b.wrote && now.TargetEnd.Compare(b.end) <= 0:
		r.block("rollback/offset-without-records", scope, "Connect went from %s to %s, but the target partition ended at %s before the start, and ends at %s: the offset was written by hand, or what was copied is gone", b.wrote, m, b.end, now.TargetEnd)
	case next.IsNone() || next.Compare(log.End) > 0:
		r.block("rollback/offset-beyond-end", scope, "M = %s leads beyond the log end %s: the offset was written by hand, or the log was cut", m, log.End)
	default:
		r.row(b, next, m, log)
	}
}

// row files the way back, at the log start where next has expired.
func (r *reverser) row(b begun, next NextOffset, m SourceOffset, log Range) {
	row := Reverse{TopicPartition: b.TopicPartition, TopicID: b.id, Next: next, Stored: m, Added: b.added}
	row.Copied, _ = next.Sub(b.next)
	if n, _ := log.Start.Sub(next); n > 0 {
		row.Next, row.Lost = log.Start, n
		r.ask("rollback/offset-expired", fmt.Sprintf("%s:%d", b, n), Exact,
			"C' = %s is below the log start %s: %d offsets have expired, and Connect does not hold that they were copied", next, log.Start, n)
	}
	r.rows = append(r.rows, row)
}
