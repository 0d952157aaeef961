package offsetmap

import (
	"fmt"
	"slices"
)

// Reverse is the way back for one partition: where Flink must go on, C'.
type Reverse struct {
	TopicPartition
	Next   NextOffset   `json:"next"`   // C' = M + 1, or the log start
	Stored SourceOffset `json:"stored"` // M; null when absent
	// Copied counts the offsets from the plan's C to M + 1; from offset 0 for a
	// partition that no plan covers.
	Copied int64 `json:"copied"`
	// Lost counts the offsets below the log start that were not copied and
	// have expired, which a person accepted to lose.
	Lost int64 `json:"lost"`
}

const checkBackUnplanned = "rollback/unplanned"

// Reverse turns what Connect holds after the connector was stopped into the
// next offsets at which Flink goes on: C' = M + 1. logs is measured freshly.
//
//   - A partition without a stored offset is explained only when the plan
//     cleared it (C = 0): nothing was copied, and C' is the log start.
//   - Where records from C' on have expired, C' becomes the log start by an
//     acceptance that names partition and count ("orders-0:200"), and only so.
//   - A partition that no plan covers appeared after the start, or somebody
//     wrote its offset: by acceptance it goes back like the others.
//
// Every other absence, an offset below the plan's and a C' beyond the log end
// block, and then no row is returned: either all partitions go back or none.
// Rows and findings are sorted. Acceptances are those of the rollback, not
// those of the plan.
func (p *Plan) Reverse(stored map[TopicPartition]SourceOffset, logs map[TopicPartition]Range, acceptances ...Acceptance) ([]Reverse, []Finding) {
	r := reverser{accepted: indexAcceptances(acceptances)}
	rows := make([]Reverse, 0, len(p.Body.Rows))
	for _, d := range p.Diff(stored).Only(Unplanned) {
		if !r.ask(checkBackUnplanned, d.TopicPartition.String(), ByScope, "%s: it appeared after the start, or somebody wrote the offset", d) {
			continue
		}
		if row, ok := r.row(d.TopicPartition, offset0, d.Stored, logs); ok {
			rows = append(rows, row)
		}
	}
	for _, planned := range p.Body.Rows {
		m, want := stored[planned.TopicPartition], planned.Write.Result()
		switch {
		case m.IsNone() && !planned.Write.IsClear():
			r.block("rollback/offset-absent", planned.String(), "Connect holds no offset, the plan wrote %s: it was cleared since", want)
		case m.Compare(want) < 0:
			r.block("rollback/offset-below-plan", planned.String(), "Connect holds %s, which is below the plan's %s: it was set back since", m, want)
		default:
			if row, ok := r.row(planned.TopicPartition, planned.Next, m, logs); ok {
				rows = append(rows, row)
			}
		}
	}
	findings := Accept(r.findings, acceptances)
	if Blocked(findings) != nil {
		return nil, findings
	}
	slices.SortFunc(rows, func(a, b Reverse) int { return a.Compare(b.TopicPartition) })
	return rows, findings
}

type reverser struct {
	accepted acceptanceIndex
	findings []Finding
}

func (r *reverser) block(check, scope, format string, args ...any) {
	r.findings = append(r.findings, Finding{Check: check, Severity: Block, Scope: scope, Detail: fmt.Sprintf(format, args...), Acceptable: Never})
}

func (r *reverser) ask(check, scope string, a Acceptable, format string, args ...any) bool {
	f := Finding{Check: check, Severity: Block, Scope: scope, Detail: fmt.Sprintf(format, args...), Acceptable: a}
	r.findings = append(r.findings, f)
	return len(r.accepted.covering(f)) > 0
}

// row leads one partition back, which MirrorMaker 2 copied from c up to m.
func (r *reverser) row(tp TopicPartition, c NextOffset, m SourceOffset, logs map[TopicPartition]Range) (Reverse, bool) {
	row, log := Reverse{TopicPartition: tp, Next: c, Stored: m}, logs[tp]
	if log.Start.IsNone() || log.End.IsNone() {
		r.block(checkRangeUnknown, tp.String(), "log start %s and log end %s could not both be measured", log.Start, log.End)
		r.findings[len(r.findings)-1].Unmade = true
		return row, false
	}
	if !m.IsNone() {
		row.Next = m.Next()
	}
	if row.Next.IsNone() || row.Next.Compare(log.End) > 0 {
		r.block("rollback/offset-beyond-end", tp.String(), "M = %s leads beyond the log end %s: the topic was created again, or its log was cut", m, log.End)
		return row, false
	}
	row.Copied, _ = row.Next.Sub(c)
	if n, _ := log.Start.Sub(row.Next); n > 0 {
		back := row.Next
		row.Next, row.Lost = log.Start, n
		return row, r.ask("rollback/offset-expired", fmt.Sprintf("%s:%d", tp, n), Exact,
			"C' = %s is below the log start %s: %d offsets have expired that were not copied", back, log.Start, n)
	}
	return row, true
}
