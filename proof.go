package flinkmm2

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ProofKind is the kind of a Proof file.
const ProofKind = "Proof"

// Proof says, for every partition of a plan, how the target compares with the
// source from C on. It holds no record contents.
type Proof struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	CreatedAt  offsetmap.Time `json:"createdAt"`
	Plan       string         `json:"plan"` // digest
	Connector  string         `json:"connector"`
	// Outcome is "proven", "failed", "not-proven", "no-progress",
	// "progress-without-records" or "nothing-to-copy".
	Outcome string `json:"outcome"`
	// Until is how far the watch was to go.
	Until Until `json:"until"`
	// Shard is the part of the plan that was watched, null for all of it.
	Shard *Shard `json:"shard"`
	ProofCounts
	// Lost counts the offsets that a person accepted to lose when the plan was
	// made. They are before C, so the comparison knows nothing of them.
	Lost       int64            `json:"lost"`
	Partitions []PartitionProof `json:"partitions"` // sorted
	// Lag is how far the target was behind while it was watched, oldest first: 512
	// points at most, the last of the end.
	Lag []LagPoint `json:"lag"`
	// Restart is what is shown of a restart of the workers; null but after
	// AfterRestart.
	Restart *RestartProof `json:"restart"`
}

// ProofCounts counts records.
type ProofCounts struct {
	Records    int64 `json:"records"`    // readable source records from C to the end, which the target must have
	Copied     int64 `json:"copied"`     // those of them that it has
	Missing    int64 `json:"missing"`    // passed over: later ones are there
	Altered    int64 `json:"altered"`    // a record stands in their place that differs
	OutOfOrder int64 `json:"outOfOrder"` // there, behind one that follows them
	Early      int64 `json:"early"`      // target records from before C
	Pending    int64 `json:"pending"`    // not there yet
	Unprovable int64 `json:"unprovable"` // retention or compaction may have taken them
	Repeated   int64 `json:"repeated"`   // target records that it already had: at-least-once
	Foreign    int64 `json:"foreign"`    // target records of other writers
	// Older counts target records that equal nothing in the window of source
	// records that are remembered, while the source has more: repeats of what is
	// older than the window, or records of other writers. A record that came late
	// may be among them, so Missing may be too high by as many; it is never too low.
	Older int64 `json:"older"`
}

// PartitionProof is the proof of one partition.
type PartitionProof struct {
	offsetmap.TopicPartition
	TargetTopic string               `json:"targetTopic"`
	Next        offsetmap.NextOffset `json:"next"` // C
	End         offsetmap.NextOffset `json:"end"`  // what is proven reaches to here: by Until, the source's end when the watch began
	// First is the offset of the first source record that the target has, null
	// when it has none yet.
	First   offsetmap.NextOffset `json:"first"`
	Outcome string               `json:"outcome"`
	Reason  string               `json:"reason,omitempty"`
	Lag     int64                `json:"lag"` // readable source records that the target has not reached
	// Unread is how many source offsets up to End were not read, since the target
	// is far behind them: at most as many records wait beyond those of Lag.
	Unread int64 `json:"unread"`
	ProofCounts
	Lost     int64          `json:"lost"`
	Examples []ProofExample `json:"examples,omitempty"`
}

// ProofExample names one record that is not as it must be, by its offsets.
type ProofExample struct {
	Fault   string               `json:"fault"`
	Source  offsetmap.NextOffset `json:"source"` // null when it is none of the source's
	Target  offsetmap.NextOffset `json:"target"` // null when it is not there
	Differs []string             `json:"differs,omitempty"`
}

// Encode returns the proof as a file.
func (p *Proof) Encode() ([]byte, error) { return encodeFile(p) }

// Err returns what the proof does not show, nil when it is proven: ErrProofFailed,
// ErrNoProgress, ErrProgressWithoutRecords or ErrNotProven, with a line for each
// partition that is neither proven nor without records.
func (p *Proof) Err() error {
	var kind error
	switch proof.Outcome(p.Outcome) {
	case proof.Proven:
		return nil
	case proof.Failed:
		kind = ErrProofFailed
	case proof.NoProgress:
		kind = ErrNoProgress
	case proof.ProgressWithoutRecords:
		kind = ErrProgressWithoutRecords
	case proof.NothingToCopy:
		return fmt.Errorf("%w: there is nothing to copy yet, so nothing is shown; watch again when the source has new records", ErrNotProven)
	default:
		kind = ErrNotProven
	}
	var b strings.Builder
	for _, one := range p.Partitions {
		if one.Outcome == string(proof.PartitionProven) || one.Outcome == string(proof.PartitionNothingToCopy) {
			continue
		}
		fmt.Fprintf(&b, "\n  %s: %s", one.TopicPartition, one.Outcome)
		if one.Reason != "" {
			b.WriteString(": " + one.Reason)
		}
		for _, e := range one.Examples {
			fmt.Fprintf(&b, "\n    %s: source offset %s, target offset %s", e.Fault, e.Source, e.Target)
		}
	}
	if p.Until == UntilCaughtUp() && b.Len() == 0 {
		b.WriteString("\n  the target had each end of the source, and none of them soon after it was measured: the source is written as fast as it is copied")
	}
	return fmt.Errorf("%w:%s", kind, b.String())
}

func countsOf(c proof.Counts) ProofCounts {
	return ProofCounts{
		Records: c.Source, Copied: c.Copied, Missing: c.Missing, Altered: c.Altered, OutOfOrder: c.OutOfOrder,
		Early: c.Early, Pending: c.Pending, Unprovable: c.Unprovable, Repeated: c.Repeated, Foreign: c.Foreign, Older: c.Older,
	}
}

// engine is countsOf the other way.
func (c ProofCounts) engine() proof.Counts {
	return proof.Counts{
		Source: c.Records, Copied: c.Copied, Missing: c.Missing, Altered: c.Altered, OutOfOrder: c.OutOfOrder,
		Early: c.Early, Pending: c.Pending, Unprovable: c.Unprovable, Repeated: c.Repeated, Foreign: c.Foreign, Older: c.Older,
	}
}

func (c ProofCounts) plus(o ProofCounts) ProofCounts { return countsOf(c.engine().Plus(o.engine())) }

// proofOf makes the file of a report.
func proofOf(plan *offsetmap.Plan, r proof.Report) *Proof {
	p := &Proof{
		APIVersion: offsetmap.APIVersion, Kind: ProofKind, Plan: plan.Digest, Connector: plan.Body.Connector.Name,
		Outcome: string(r.Outcome), ProofCounts: countsOf(r.Total), Partitions: make([]PartitionProof, 0, len(r.Partitions)),
	}
	lost := map[offsetmap.TopicPartition]int64{}
	for _, row := range plan.Body.Rows {
		lost[row.TopicPartition] = row.Lost
	}
	for _, one := range r.Partitions {
		part := PartitionProof{
			TopicPartition: one.Source, TargetTopic: one.Target.Topic, Next: one.Next, End: one.End, First: one.First.Source,
			Outcome: string(one.Outcome), Reason: one.Reason, Lag: one.Lag, Unread: one.Unread, ProofCounts: countsOf(one.Counts), Lost: lost[one.Source],
		}
		for _, e := range one.Examples {
			part.Examples = append(part.Examples, ProofExample{Fault: string(e.Fault), Source: e.Source, Target: e.Target, Differs: e.Differs})
		}
		p.Lost += part.Lost
		p.Partitions = append(p.Partitions, part)
	}
	return p
}
