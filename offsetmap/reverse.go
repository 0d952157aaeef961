package offsetmap

import "fmt"

// Reverse is the way back for one partition: where Flink must go on, C'.
type Reverse struct {
	TopicPartition
	Next   NextOffset   `json:"next"`   // C' = M + 1, or the log start
	Stored SourceOffset `json:"stored"` // M; null when absent
	Copied int64        `json:"copied"` // offsets from the plan's C to C'
}

// Reverse turns what Connect holds after the connector was stopped into the
// next offsets at which Flink goes on: C' = M + 1. A partition without a stored
// offset is explained only when the plan cleared it (C = 0): nothing was copied
// and C' is the log start. logStart is measured freshly; a C' outside it, an
// absent offset without an explanation, one below the plan, or a partition that
// no plan covers blocks, and then no row is returned: either all partitions go
// back or none.
func (p *Plan) Reverse(stored map[TopicPartition]SourceOffset, logs map[TopicPartition]Range) ([]Reverse, []Finding) {
	var findings []Finding
	rows := make([]Reverse, 0, len(p.Body.Rows))
	for _, d := range p.Diff(stored).Only(Unplanned) {
		findings = append(findings, Finding{
			Check: "rollback/unplanned", Severity: Block, Scope: d.TopicPartition.String(), Acceptable: Never, Detail: d.String(),
		})
	}
	for _, r := range p.Body.Rows {
		row := Reverse{TopicPartition: r.TopicPartition, Stored: stored[r.TopicPartition]}
		block := func(check, format string, args ...any) {
			findings = append(findings, Finding{Check: check, Severity: Block, Scope: r.String(), Acceptable: Never, Detail: fmt.Sprintf(format, args...)})
		}
		log, measured := logs[r.TopicPartition]
		if !measured || log.Start.IsNone() || log.End.IsNone() {
			block("source/range-unknown", "log start %s and log end %s could not both be measured", log.Start, log.End)
			findings[len(findings)-1].Unmade = true
			continue
		}
		switch {
		case !row.Stored.IsNone():
			row.Next = row.Stored.Next()
		case r.Write.IsClear():
			row.Next = log.Start
		default:
			block("rollback/offset-absent", "Connect holds no offset, the plan wrote %s: it was cleared since", r.Write.Result())
			continue
		}
		if row.Next.Compare(r.Next) < 0 {
			block("rollback/offset-below-plan", "Connect holds %s, which is below the plan's %s: it was set back since", row.Stored, r.Write.Result())
			continue
		}
		if row.Next.Compare(log.Start) < 0 || row.Next.Compare(log.End) > 0 {
			block("rollback/offset-outside-log", "C' = %s lies outside the log, %s to %s", row.Next, log.Start, log.End)
			continue
		}
		row.Copied, _ = row.Next.Sub(r.Next)
		rows = append(rows, row)
	}
	if Blocked(findings) != nil {
		return nil, findings
	}
	return rows, findings
}
