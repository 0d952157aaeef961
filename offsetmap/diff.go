package offsetmap

import (
	"fmt"
	"maps"
	"slices"
)

// Standing says how a stored offset relates to the plan.
type Standing string

const (
	// AsPlanned: Connect holds what the plan writes.
	AsPlanned Standing = "as-planned"
	// AsBackup: Connect holds what it held when the plan was made, and the plan
	// writes something else.
	AsBackup Standing = "as-backup"
	// Moved: Connect holds neither. Somebody else wrote, or the connector ran.
	Moved Standing = "moved"
	// Rewound: a partition of an earlier plan that this plan names stands below
	// what that plan wrote, or where it had come to by then, or not at all.
	Rewound Standing = "rewound"
	// Unplanned: Connect holds an offset for a partition that neither this plan
	// nor an earlier one that it names covers. Of this plan's topics an earlier
	// one covers nothing more: what it wrote for a partition that the topic no
	// longer has would meet the records of one that is added.
	Unplanned Standing = "unplanned"
)

// DiffRow is one partition of a Diff.
type DiffRow struct {
	TopicPartition
	Standing Standing     `json:"standing"`
	Stored   SourceOffset `json:"stored"`  // null when absent
	Planned  SourceOffset `json:"planned"` // null when the plan clears it
	Backup   SourceOffset `json:"backup"`  // null when it was absent
}

// String says what is stored and what was expected.
func (d DiffRow) String() string {
	switch d.Standing {
	case Rewound:
		return fmt.Sprintf("%s: stored %s, by an earlier plan it had come to %s: it was set back, and records would be copied again", d.TopicPartition, d.Stored, d.Planned)
	case Unplanned:
		return fmt.Sprintf("%s: stored %s, but no plan covers the partition", d.TopicPartition, d.Stored)
	default:
		s := fmt.Sprintf("%s: stored %s, planned %s, at the time of the plan %s", d.TopicPartition, d.Stored, d.Planned, d.Backup)
		if c := d.Stored.Compare(d.Planned); d.Standing != AsPlanned && !d.Stored.IsNone() {
			if c > 0 {
				s += ": writing the plan would go back and copy records again"
			} else {
				s += ": writing the plan would skip records"
			}
		}
		return s
	}
}

// Diff holds a read-back of Connect's offsets against a plan.
type Diff struct {
	Rows []DiffRow // every partition of the plan, and every unplanned or rewound one, sorted
}

// Diff compares what Connect holds under the plan's connector and alias with
// the plan. Offsets of other topics that earlier plans cover are left out while
// they stand where they had come to when this plan was made, or further on.
func (p *Plan) Diff(stored map[TopicPartition]SourceOffset) Diff {
	rest := maps.Clone(stored)
	rows := make([]DiffRow, 0, len(p.Body.Rows))
	topics := map[string]bool{}
	for _, r := range p.Body.Rows {
		d := DiffRow{TopicPartition: r.TopicPartition, Stored: stored[r.TopicPartition], Planned: r.Write.Result(), Backup: r.Backup}
		switch d.Stored {
		case d.Planned:
			d.Standing = AsPlanned
		case d.Backup:
			d.Standing = AsBackup
		default:
			d.Standing = Moved
		}
		rows = append(rows, d)
		topics[r.Topic] = true
		delete(rest, r.TopicPartition)
	}
	for tp, m := range highest(p.Body.Earlier) {
		if topics[tp.Topic] {
			continue // this plan covers the topic, whole
		}
		if stored[tp].Compare(m) < 0 {
			rows = append(rows, DiffRow{TopicPartition: tp, Standing: Rewound, Stored: stored[tp], Planned: m})
		}
		delete(rest, tp)
	}
	for tp, m := range rest {
		if !m.IsNone() {
			rows = append(rows, DiffRow{TopicPartition: tp, Standing: Unplanned, Stored: m})
		}
	}
	slices.SortFunc(rows, func(a, b DiffRow) int { return a.Compare(b.TopicPartition) })
	return Diff{Rows: rows}
}

// highest returns how far earlier plans have come, the highest where several have.
func highest(plans []EarlierPlan) map[TopicPartition]SourceOffset {
	out := map[TopicPartition]SourceOffset{}
	for _, e := range plans {
		for _, p := range e.Partitions {
			if m, known := out[p.TopicPartition]; !known || m.Compare(p.Offset) < 0 {
				out[p.TopicPartition] = p.Offset
			}
		}
	}
	return out
}

// Equal reports whether Connect holds exactly what the plan writes.
func (d Diff) Equal() bool {
	return len(d.Only(AsBackup, Moved, Rewound, Unplanned)) == 0
}

// Only returns the rows with one of the standings.
func (d Diff) Only(s ...Standing) []DiffRow {
	var out []DiffRow
	for _, r := range d.Rows {
		if slices.Contains(s, r.Standing) {
			out = append(out, r)
		}
	}
	return out
}
