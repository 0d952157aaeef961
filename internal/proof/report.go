package proof

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Outcome is what is known of a whole run.
type Outcome string

// The outcomes of a run, the first that applies.
const (
	// Failed: a partition failed.
	Failed Outcome = "failed"
	// ProgressWithoutRecords: the copier counts records as delivered that the
	// target does not have. Run does not know what the copier counts: this is for
	// the caller who does.
	ProgressWithoutRecords Outcome = "progress-without-records"
	// Proven: every partition is proven or has nothing to copy, and at least one
	// is proven.
	Proven Outcome = "proven"
	// NothingToCopy: no partition has anything to copy, so nothing is shown.
	NothingToCopy Outcome = "nothing-to-copy"
	// NoProgress: records wait, and in no partition has any of the source come
	// to the target.
	NoProgress Outcome = "no-progress"
	// NotProven: anything else; the partitions say where each stands.
	NotProven Outcome = "not-proven"
)

// PartitionOutcome is what is known of one partition.
type PartitionOutcome string

// The outcomes of a partition, the first that applies.
const (
	// PartitionFailed: records are missing, altered, out of order or early.
	// No record that is still to come can mend it.
	PartitionFailed PartitionOutcome = "failed"
	// PartitionUnread: a log could not be read as it must be; Reason says why.
	PartitionUnread PartitionOutcome = "unread"
	// PartitionHidden: records are not there yet for a reader of committed
	// records, and an open transaction on the target hides what is.
	PartitionHidden PartitionOutcome = "hidden-by-open-transaction"
	// PartitionWithoutRecords: as for a whole run.
	PartitionWithoutRecords PartitionOutcome = "progress-without-records"
	// PartitionPending: records are not there yet, or not all of the target was
	// read in time.
	PartitionPending PartitionOutcome = "pending"
	// PartitionUnprovable: all that can be compared is right, and retention or
	// compaction took the rest.
	PartitionUnprovable PartitionOutcome = "unprovable"
	// PartitionNothingToCopy: the source has no readable record from C to the end.
	PartitionNothingToCopy PartitionOutcome = "nothing-to-copy"
	// PartitionWaiting: nothing is readable from C to the end, and an open
	// transaction on the source holds back what follows from readers of committed
	// records, the copier among them. It is neither lag nor loss.
	PartitionWaiting PartitionOutcome = "waits-for-open-transaction"
	// PartitionProven: the target has the source's sequence.
	PartitionProven PartitionOutcome = "proven"
)

// Report is what a run found.
type Report struct {
	Outcome    Outcome           `json:"outcome"`
	Total      Counts            `json:"total"`
	Partitions []PartitionReport `json:"partitions"` // by source topic and partition
}

// PartitionReport is what a run found of one partition.
type PartitionReport struct {
	Source    offsetmap.TopicPartition `json:"source"`
	Target    offsetmap.TopicPartition `json:"target"`
	Next      offsetmap.NextOffset     `json:"next"`
	End       offsetmap.NextOffset     `json:"end"`
	TargetEnd offsetmap.NextOffset     `json:"targetEnd"`

	Outcome PartitionOutcome `json:"outcome"`
	Reason  string           `json:"reason,omitempty"`

	// SourceRead and TargetRead are up to where the logs were read.
	SourceRead offsetmap.NextOffset `json:"sourceRead"`
	TargetRead offsetmap.NextOffset `json:"targetRead"`
	// SourceExpired is how many offsets from C to the end were gone before they
	// could be read. They may or may not have held records.
	SourceExpired int64 `json:"sourceExpired"`
	// Moved says whether any record of the source was seen on the target.
	Moved bool `json:"moved"`
	// Lag is how many readable source records, those read beyond the end
	// included, the target has not reached.
	Lag int64 `json:"lag"`
	// Unread is how many offsets up to the end were not read, since the target is
	// far behind them: at most as many records wait beyond those of Lag.
	Unread int64 `json:"unread"`

	// Waits is the offset of the first readable source record that is not there
	// yet, null when none is known.
	Waits offsetmap.NextOffset `json:"waits"`

	First    First     `json:"first"`
	Counts   Counts    `json:"counts"`
	Examples []Example `json:"examples,omitempty"`
}

// Progress says how far a run is.
type Progress struct {
	Partitions int // all
	Decided    int // those that need no more reading
	Counts     Counts
	// Lag and Unread are as of the partitions' reports, over all of them.
	Lag, Unread int64
}

// Count returns how many partitions have the outcome.
func (r Report) Count(o PartitionOutcome) int {
	n := 0
	for _, p := range r.Partitions {
		if p.Outcome == o {
			n++
		}
	}
	return n
}

// Stalled returns the partitions in which records wait and none of the source
// was seen on the target, nothing hiding it: with a connector that says RUNNING,
// most often a client that cannot reach or read the source.
func (r Report) Stalled() []offsetmap.TopicPartition {
	var stalled []offsetmap.TopicPartition
	for _, p := range r.Partitions {
		if p.stalled() {
			stalled = append(stalled, p.Source)
		}
	}
	return stalled
}

func (p PartitionReport) stalled() bool {
	return p.Outcome == PartitionPending && p.Counts.Pending > 0 && !p.Moved
}

// Conclude makes the report of a run from those of its partitions.
func Conclude(parts []PartitionReport) Report {
	r := Report{Partitions: parts}
	moved := false
	for _, p := range parts {
		r.Total = r.Total.Plus(p.Counts)
		moved = moved || p.Moved
	}
	nothing, proven := r.Count(PartitionNothingToCopy), r.Count(PartitionProven)
	switch {
	case r.Count(PartitionFailed) > 0:
		r.Outcome = Failed
	case r.Count(PartitionWithoutRecords) > 0:
		r.Outcome = ProgressWithoutRecords
	case nothing == len(parts):
		r.Outcome = NothingToCopy
	case nothing+proven == len(parts):
		r.Outcome = Proven
	case !moved && len(r.Stalled()) > 0:
		r.Outcome = NoProgress
	default:
		r.Outcome = NotProven
	}
	return r
}

// faults says in words what failed.
func (c Counts) faults() string {
	var parts []string
	for _, f := range []struct {
		n    int64
		what Fault
	}{{c.Missing, Missing}, {c.Altered, Altered}, {c.OutOfOrder, OutOfOrder}, {c.Early, Early}} {
		if f.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", f.n, f.what))
		}
	}
	return strings.Join(parts, ", ")
}
