package flinkmm2

import (
	"context"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Journal keeps what was done to a migration, by whom, when, and under which
// plan. It is opened before the first act and lies beside the plan. The start
// record in it holds the target's ends, without which nothing can be proven
// afterwards.
//
// FileJournal is the one that most users want.
type Journal interface {
	// Append returns nil only when the entry is durable.
	Append(ctx context.Context, e Entry) error
	// Read returns all entries, oldest first. A journal that was never written
	// is empty, not an error.
	Read(ctx context.Context) ([]Entry, error)
}

// Entry is one line of a journal. An act that changes something has an entry of
// PhaseBegin before it and one of another phase behind it; a begin without its
// end says that the outcome is unknown. What changes nothing outside the journal
// (positions, plan, verify, watch, the record of a start) has one entry.
type Entry struct {
	At        time.Time       `json:"at"`
	Act       string          `json:"act"` // positions, create, plan, apply, verify, start, resume, overtaken, watch, stop, restore, delete, rollback, restore-backup, widen-stop, widen, hand-back; older journals have commit-boundary and rewrite-savepoint for the last
	Phase     Phase           `json:"phase"`
	Plan      string          `json:"plan,omitempty"` // digest; empty before there is a plan
	Connector string          `json:"connector"`
	By        string          `json:"by"`
	Host      string          `json:"host,omitempty"` // where it was done, by its own name
	Job       *JobIdentity    `json:"job,omitempty"`  // the Kubernetes Job that did it
	Tool      *offsetmap.Tool `json:"tool,omitempty"`
	Approved  string          `json:"approvedBy,omitempty"` // of a start and its resume, and of a restore-backup: who gave the word; of a hand-back: who attested Flink's end
	Form      HandBackForm    `json:"form,omitempty"`       // of a hand-back: what Flink goes on from
	Group     string          `json:"group,omitempty"`      // of a hand-back to a group: its id
	Savepoint string          `json:"savepoint,omitempty"`  // of a plan and a hand-back: "sha256:" and the hash of the _metadata that the plan was made from
	Rewritten string          `json:"rewritten,omitempty"`  // of a hand-back by a rewritten savepoint: the same of the new savepoint
	Content   string          `json:"content,omitempty"`    // of a hand-back by a rewritten savepoint: "sha256:" and a digest of all that it changes, files beside _metadata included
	Backup    string          `json:"backup,omitempty"`     // of an apply: digest of the OffsetsBackup that was kept before it; of a restore-backup: of what is put back
	Request   *Request        `json:"request,omitempty"`    // of a begin: what is sent to Connect or Kafka
	File      string          `json:"file,omitempty"`       // of positions and watch: "sha256:" and the SHA-256 of the file that tells what was found
	Shard     string          `json:"shard,omitempty"`      // of a watch: the part of the plan's partitions that was proven; empty: all
	// Stood sums up by topic what Connect held when the connector stood still: of a widen
	// for the wave that does and those before it, of the end of a rollback for the latter.
	Stood     map[string]string `json:"stood,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Ends      []PartitionEnd    `json:"targetEnds,omitempty"` // of a start: the target's ends before the first resume
	Baseline  *Baseline         `json:"baseline,omitempty"`   // of a start: what stood beside the records before the first resume
	AfterTorn bool              `json:"afterTorn,omitempty"`  // the line before this one was cut short by a crash
	// Prev is "sha256:" and the SHA-256 of all that stands before the line of this
	// entry, byte by byte. FileJournal fills and holds it.
	Prev string `json:"prev,omitempty"`
}

// Request is what an act sends to change something. Its body is told by a digest:
// that of offsets is in the plan, and that of a config may hold secrets.
type Request struct {
	Method     string `json:"method"`               // of HTTP; OffsetCommit of Kafka
	Path       string `json:"path"`                 // of Connect's REST API; of an OffsetCommit the group
	BodyDigest string `json:"bodyDigest,omitempty"` // offsetmap.Digest of it; of a config offsetmap.ConfigDigest
	Partitions int    `json:"partitions,omitempty"` // that it writes
}

// Phase is how far an act has come.
type Phase string

const (
	PhaseBegin   Phase = "begin"
	PhaseDone    Phase = "done"
	PhaseFailed  Phase = "failed"  // the act was refused, or ended in an error that Detail tells; a hand-back: nothing of it was carried out, nor will be
	PhaseUnknown Phase = "unknown" // the answer was lost and could not be read back; a hand-back: some of it was carried out, or may be yet
)

// PartitionEnd is the end of one target partition, under the name of its source
// partition.
type PartitionEnd struct {
	offsetmap.TopicPartition
	End offsetmap.NextOffset `json:"end"`
}
