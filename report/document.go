package report

import (
	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Kind is the kind of a report file.
const Kind = "Report"

// Stage says how far a migration has come, by its journal.
type Stage string

// The stages, in the order in which a migration meets them.
const (
	Planned   Stage = "planned"    // nothing was written to Connect
	Applied   Stage = "applied"    // Connect holds M of each partition
	Started   Stage = "started"    // the connector was resumed
	GoingBack Stage = "going-back" // a rollback has begun and has not ended
	WentBack  Stage = "went-back"  // it was rolled back
	// HandedBack: Flink was handed what it goes on from, such as C' in a consumer group.
	HandedBack Stage = "handed-back"
	// Unknown: an act has begun whose end the journal does not tell, or whose
	// outcome was lost.
	Unknown Stage = "unknown"
)

// Document is a report.
type Document struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	CreatedAt  offsetmap.Time `json:"createdAt"`
	Tool       offsetmap.Tool `json:"tool"` // that made the report
	Stage      Stage          `json:"stage"`
	Summary    string         `json:"summary"` // how the migration stands, in a sentence or two
	Plan       Plan           `json:"plan"`
	// Approval is the word by which the plan was started; null while nobody has
	// given it.
	Approval *Approval `json:"approval"`
	Totals   Totals    `json:"totals"`
	// Proof is null while nothing was watched.
	Proof *Proof `json:"proof"`
	// Acceptance is null while nobody has held the migration against its list.
	Acceptance   *Acceptance   `json:"acceptance"`
	Attestations []Attestation `json:"attestations"`
	// Forecast is how many records were to come twice; null when it was not kept, or
	// nobody looked for them.
	Forecast *preflight.Forecast `json:"forecast"`
	// LatestStart and LatestRollback are until when MirrorMaker 2 could be started without
	// losing what the source deletes, and the old job be restored where it stood, by the
	// preflight that the plan was made after.
	LatestStart    preflight.Latest `json:"latestStart"`
	LatestRollback preflight.Latest `json:"latestRollback"`
	// Checks is null when no results of checks were kept.
	Checks *Checks `json:"checks"`
	// Findings are the plan's: warnings, and what was accepted. Sorted.
	Findings []Finding  `json:"findings"`
	Acts     []Act      `json:"acts"` // oldest first
	Lag      []LagPoint `json:"lag"`  // oldest first
	// Return is where Flink goes on; null unless the connector was rolled back
	// after its start.
	Return     *Return     `json:"return"`
	Partitions []Partition `json:"partitions"` // sorted by topic, then partition
}

// Plan is the head of the plan that a report is about.
type Plan struct {
	Digest        string              `json:"digest"`
	CreatedAt     offsetmap.Time      `json:"createdAt"`
	ExpiresAt     offsetmap.Time      `json:"expiresAt"`
	Tool          offsetmap.Tool      `json:"tool"`
	Source        string              `json:"sourceClusterId"`
	Target        string              `json:"targetClusterId"`
	Connector     string              `json:"connector"`
	SourceAlias   string              `json:"sourceAlias"`
	ConfigDigest  string              `json:"configDigest"`
	Worker        string              `json:"workerVersion"`
	WorkerCluster string              `json:"workerClusterId"`
	Plugin        string              `json:"pluginVersion"`
	Savepoint     *Savepoint          `json:"savepoint"` // null when planned from a group alone
	Group         string              `json:"group"`     // empty when none was read
	Isolation     offsetmap.Isolation `json:"isolation"`
	Earlier       []string            `json:"earlier"` // digests of earlier plans of the connector
}

// Savepoint names the Flink state that the positions come from.
type Savepoint struct {
	Location     string `json:"location"`
	CheckpointID int64  `json:"checkpointId"`
	OperatorID   string `json:"operatorId"`
	Metadata     string `json:"metadataSha256"` // empty where the plan names no _metadata
}

// Approval is who gave the word for a start, and when.
type Approval struct {
	By string         `json:"by"`
	At offsetmap.Time `json:"at"`
}

// Totals counts what the plan does.
type Totals struct {
	Topics     int   `json:"topics"`
	Partitions int   `json:"partitions"`
	Set        int   `json:"set"`     // partitions whose M is written
	Cleared    int   `json:"cleared"` // partitions with C = 0, which are cleared
	ToCopy     int64 `json:"toCopy"`  // offsets from C to the log end, as they were when the plan was made
	Lost       int64 `json:"lost"`    // offsets that a person accepted to lose
	Warnings   int   `json:"warnings"`
	Accepted   int   `json:"accepted"` // findings that were let through
}

// Proof sums a proof up.
type Proof struct {
	CreatedAt offsetmap.Time `json:"createdAt"`
	Outcome   string         `json:"outcome"` // as of a flinkmm2.Proof
	flinkmm2.ProofCounts
	Lag    int64 `json:"lag"`    // readable source records that the target has not reached
	Unread int64 `json:"unread"` // source offsets that were not read, beyond those of Lag
	// Outcomes counts partitions by how theirs ended, sorted by name.
	Outcomes []OutcomeCount `json:"outcomes"`
}

// OutcomeCount is how many partitions ended in an outcome.
type OutcomeCount struct {
	Outcome    string `json:"outcome"`
	Partitions int    `json:"partitions"`
}

// Attestation is what a person states of the old job.
type Attestation struct {
	Name   string `json:"name"` // as in a plan, such as "copyOnly" and "confirm.image"
	Value  string `json:"value"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Checks are the checks of one preflight.
type Checks struct {
	At      offsetmap.Time `json:"at"`
	Results []Check        `json:"results"` // sorted by id
}

// Check is one check as it was made.
type Check struct {
	preflight.Result
	Title string `json:"title"` // what it demands; empty of a user's own check
}

// Finding is one thing that a check found.
type Finding struct {
	offsetmap.Finding
	Title string `json:"title"` // what the check demands
	// Remedy says how to mend it, with commands between backticks; empty where there is
	// nothing to mend.
	Remedy string `json:"remedy"`
}

// Act is one entry of the journal.
type Act struct {
	At       offsetmap.Time `json:"at"`
	Act      string         `json:"act"`
	Phase    flinkmm2.Phase `json:"phase"`
	By       string         `json:"by"`
	Approved string         `json:"approvedBy"` // empty of acts that need nobody's word
	Detail   string         `json:"detail"`
	ThisPlan bool           `json:"thisPlan"` // false of an act before there was a plan
}

// LagPoint is how far the target was behind at a moment.
type LagPoint struct {
	At offsetmap.Time `json:"at"`
	// Lag counts readable source records, of all partitions, that the target had not
	// reached.
	Lag int64 `json:"lag"`
	// Unread counts source offsets that were not read then: at most as many records
	// waited beyond those of Lag.
	Unread int64 `json:"unread"`
}

func (p LagPoint) most() int64 { return p.Lag + p.Unread }

// Return sums up where Flink goes on after a rollback.
type Return struct {
	CreatedAt offsetmap.Time `json:"createdAt"`
	Copied    int64          `json:"copied"` // offsets from C to C'
	Lost      int64          `json:"lost"`
	// Added are the partitions that the plan does not have.
	Added []ReturnedPartition `json:"added"`
}

// ReturnedPartition is C' of one partition.
type ReturnedPartition struct {
	offsetmap.TopicPartition
	Next offsetmap.NextOffset `json:"next"` // C'
}

// Partition is one partition of the plan, with what became of it.
type Partition struct {
	offsetmap.TopicPartition
	TargetTopic string                 `json:"targetTopic"`
	Rule        offsetmap.Rule         `json:"rule"`
	LogStart    offsetmap.NextOffset   `json:"logStart"`
	Next        offsetmap.NextOffset   `json:"next"` // C
	LastStable  offsetmap.NextOffset   `json:"lastStable"`
	LogEnd      offsetmap.NextOffset   `json:"logEnd"`
	TargetEnd   offsetmap.NextOffset   `json:"targetEnd"`
	Before      offsetmap.SourceOffset `json:"before"` // what Connect held when the plan was made; null when nothing
	After       offsetmap.SourceOffset `json:"after"`  // M, what the plan writes; null when it clears
	Group       offsetmap.NextOffset   `json:"group"`  // what the old group had committed; null when nothing
	Lost        int64                  `json:"lost"`
	Proof       *PartitionProof        `json:"proof"`    // null while nothing was watched
	Returned    offsetmap.NextOffset   `json:"returned"` // C'; null unless rolled back after the start
}

// PartitionProof is the proof of one partition.
type PartitionProof struct {
	Outcome string               `json:"outcome"`
	Reason  string               `json:"reason"`
	First   offsetmap.NextOffset `json:"first"`
	End     offsetmap.NextOffset `json:"end"`
	Lag     int64                `json:"lag"`
	Unread  int64                `json:"unread"` // source offsets up to End that were not read
	flinkmm2.ProofCounts
	Examples []flinkmm2.ProofExample `json:"examples"`
}
