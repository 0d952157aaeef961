package engine

import (
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Goal is what the caller wants to reach.
type Goal string

const (
	Apply    Goal = "apply"    // Connect holds the plan's offsets, the connector stays STOPPED
	Verify   Goal = "verify"   // the same, but nothing may be written for it
	Start    Goal = "start"    // the connector runs from the plan's offsets
	Rollback Goal = "rollback" // Flink can go on: as it was, or from C'
	Restore  Goal = "restore"  // Connect holds what a backup holds; the connector stays STOPPED
	Widen    Goal = "widen"    // the connector has the config of another wave, STOPPED
	Continue Goal = "continue" // a wave that stands still for another one runs again
	// CommitBoundary is that C' may be committed to Flink's group. Nothing is done
	// for it on the way.
	CommitBoundary Goal = "commit-boundary"
	// RewriteSavepoint is the same for a savepoint.
	RewriteSavepoint Goal = "rewrite-savepoint"
	// HandBack is the same for a form that Flink is given by hand.
	HandBack Goal = "hand-back"
	// OldSavepoint is that Flink may restore the savepoint of the plan: it needs no C'.
	OldSavepoint Goal = "old-savepoint"
)

// HandsBack reports whether the goal is that Flink may go on.
func (g Goal) HandsBack() bool {
	return g == CommitBoundary || g == RewriteSavepoint || g == HandBack || g == OldSavepoint
}

// Observed is what was seen of the world at one moment.
type Observed struct {
	Now time.Time

	SourceID   offsetmap.Fact[string] // cluster ids, asked of the brokers themselves
	TargetID   offsetmap.Fact[string]
	ProducerID offsetmap.Fact[string] // the cluster that the data producer reaches

	Worker    offsetmap.Fact[Versions]  // of the worker and of MirrorSourceConnector
	Connector offsetmap.Fact[Connector] // absent: the worker has no such connector
	Config    offsetmap.Fact[string]    // digest of its config
	// OtherConfig has a finding for each setting in which it differs from the
	// config that the caller gives; none when the caller gives no config.
	OtherConfig []offsetmap.Finding
	Stored      offsetmap.Fact[Stored] // its Connect offsets
	// Settled says that Stored and the target's ends were read twice, further
	// apart than the worker's flush timeout, with no task in between, and did not
	// move. Ends that others may move (OtherWriters) do not count.
	Settled bool
	// StoodStill says that the connector has stayed STOPPED for longer than a
	// resume takes to show.
	StoodStill bool

	// Measured holds every partition of the plan's topics, measured freshly.
	Measured offsetmap.Fact[map[offsetmap.TopicPartition]offsetmap.Measured]
	// Open has a finding for each target partition on which a transaction is open,
	// or of which that could not be found out.
	Open []offsetmap.Finding
	// Group holds what the group of the plan has committed. It is looked at for a
	// start, and not where the plan has none. Absent: it is gone, or has committed
	// nothing.
	Group offsetmap.Fact[map[offsetmap.TopicPartition]offsetmap.NextOffset]
	// Flink has a finding for whatever Flink says of the old job that speaks against
	// the plan, or could not be found out. It is empty where nobody is to be asked.
	Flink []offsetmap.Finding
	// Active lists the target topics that the connector has written since its
	// active topics were last reset (KIP-558). Absent: the worker does not track
	// them.
	Active offsetmap.Fact[[]string]

	// What the caller of Widen and Continue gives: the digest of the config that is
	// wanted, the topics of waves that were given up, and acceptances beside the plan's.
	Wanted      string
	GivenUp     []string
	Acceptances []offsetmap.Acceptance

	History offsetmap.Fact[History] // what the journal holds of this plan
}

// Versions are what the meaning of a config and of an absent offset hang on.
type Versions struct {
	Worker string
	Plugin string
}

// Connector is the state of the connector as the worker shows it.
type Connector struct {
	State string // RUNNING, PAUSED, STOPPED, ...
	Tasks int    // tasks that still exist
}

// Stored is what Connect holds under the connector's name.
type Stored struct {
	Offsets map[offsetmap.TopicPartition]offsetmap.SourceOffset
	Foreign []string // entries of another shape or alias, as text
}

// History is what the journal holds of one plan, and what the caller has done
// for it since.
type History struct {
	Planned bool // the plan was made with this journal
	// Written: an apply of the plan was sent, or was about to be, and no restore
	// since is known to be done.
	Written bool
	Created bool // this migration created the connector, and no other plan has used it
	// StartEnds are the target's ends as recorded before the first resume; nil
	// when no start was recorded.
	StartEnds map[offsetmap.TopicPartition]offsetmap.NextOffset
	Resumed   bool // a resume was sent, or was about to be
	// ResumePending: of a resume nobody knows whether the worker has heard of it, so it
	// may still arrive, also after a stop.
	ResumePending bool
	RolledBack    bool // a rollback was begun
	// RollbackDone: the last rollback of the plan ended well, and nothing was
	// resumed on the connector since, by whatever plan.
	RollbackDone bool
	// Proven: a proof of all that was to be copied came to its end since the last resume,
	// and found it on the target.
	Proven bool
	// GaveBack: by this plan Flink was given what it goes on from, or may have been.
	GaveBack bool
	// Overtaken: behind the resume it was seen that somebody had written the offsets
	// before it, so that the connector may not have begun at C.
	Overtaken bool
	Deleted   bool // the connector was deleted for this plan, or was about to be
	Stopped   bool // a stop was sent for this plan, at any time: so it was seen running
	// StoppedNow says that the caller, on its way to this goal, has sent a stop
	// that the worker took. A resume that was still on its way is overruled by it.
	StoppedNow bool
	// Restored: a backup of the connector's offsets was put back since this plan was
	// made, or was about to be.
	Restored bool
	// Halted: the connector was stopped for another wave, or was about to be, and not
	// resumed for this plan since.
	Halted bool
	// Again: a resume of the plan was sent, or was about to be, since the connector was
	// last stopped for another wave or a rollback.
	Again bool
	// Stood sums up for topics what Connect held when the connector was last stopped, as
	// StoodAt does; nothing of topics of which the journal does not say it.
	Stood map[string]string
	// Other is the digest of another plan that was started on the connector since
	// this one was made, and not rolled back; empty when there is none.
	Other string
	// Writing is the digest of another plan whose write of offsets was begun since
	// this one was made, and may still be on its way; empty when there is none.
	Writing string
	// HandedBack is the digest of another plan whose boundary was given to
	// Flink, or may have been, since this one was made or since the savepoint was
	// written that it was made from; empty when there is none.
	HandedBack string
}

// Act is one thing to do.
type Act string

const (
	Done        Act = "done"         // the goal is reached
	AwaitTasks  Act = "await-tasks"  // STOPPED, but tasks are still there
	AwaitResume Act = "await-resume" // a resume that was begun may still take effect
	Settle      Act = "settle"       // wait for stragglers: see Observed.Settled
	Write       Act = "write"        // alter the Connect offsets of Decision.Writes
	RecordStart Act = "record-start" // write the target's ends to the journal
	Resume      Act = "resume"       // resume the connector, once
	Stop        Act = "stop"         // stop the connector
	PutConfig   Act = "put-config"   // give the STOPPED connector the wanted config
	Delete      Act = "delete"       // delete the connector that this migration created
	Reverse     Act = "reverse"      // read C' from the settled offsets
)

// Decision is one act, or a refusal.
type Decision struct {
	Act    Act
	Writes []Change // for Write, sorted
	// Refusal says why there is no act; Act is empty then.
	Refusal *Refusal
}

// Change is one partition of a Write.
type Change struct {
	offsetmap.TopicPartition
	Write offsetmap.Write
}

// Reason classes a refusal by what a caller can do about it.
type Reason string

const (
	// Moved: the world, or the plan's time, no longer matches the plan. Make a
	// new one.
	Moved Reason = "moved"
	// Unknown: something needed could not be found out. Try again.
	Unknown Reason = "unknown"
	// Blocked: the plan does not allow it, whatever the world looks like.
	Blocked Reason = "blocked"
)

// Refusal says why nothing is done. Nothing was written for this decision.
type Refusal struct {
	Reason   Reason
	Findings []offsetmap.Finding // sorted
}
