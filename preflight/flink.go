package preflight

import (
	"cmp"
	"fmt"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// flinkArea begins the id of every warning of package flinkstate.
const flinkArea = "flink/"

func flinkChecks() []Check {
	exact := offsetmap.Exact
	out := []Check{
		warning(flinkstate.RecordsInFlight, offsetmap.Never, "No records were in flight",
			"Records that the sources have passed and the sink has not written are in the unaligned checkpoint alone: MirrorMaker 2 cannot know them.",
			"Restore the job and stop it with a savepoint, which never holds any: `flink stop --savepointPath <DIR> <JOB>`."),
		warning(flinkstate.OperatorFinished, exact, "No operator had finished as a whole",
			"Nothing of it is stored, not even what it was. If it was a source, its partitions are not among the positions.",
			"Make sure that it read none of the migration's topics, then accept it by its operator id."),
		warning(flinkstate.SourceFinished, exact, "The source had not come to its end",
			"A bounded source that is done leaves no positions, and was not meant to go on.",
			"Take an earlier checkpoint of the job, or accept the operator id where the partitions are resolved otherwise."),
		warning(flinkstate.SplitsFinished, exact, "No split had come to its end",
			"A split that reached its stopping offset leaves the reader: its position is gone.",
			"Take an earlier checkpoint of the job, or accept the operator id, and then each partition."),
		warning(flinkstate.SubtaskMissing, exact, "Every subtask of the source has stored its splits",
			"The splits of a subtask without state are missing from the positions.",
			"Take another savepoint. To go on, accept the operator id, and then each partition."),
		warning(flinkstate.DiscoveryNotFinished, exact, "The source had seen all partitions",
			"Partitions that the job was to read from the latest offset may have been copied in part, without a trace in the state.",
			"Take a savepoint after the discovery, or accept the operator id, and then each partition that is named."),
		warning(flinkstate.SourceUnidentified, exact, "Every source could be identified",
			"An operator reads something but names no partition. If it is a KafkaSource, its partitions are missing from the positions.",
			"Make sure that it read none of the migration's topics, then accept it by its operator id."),
		warning(flinkstate.PartitionsShared, exact, "No two sources read the same partition",
			"Each has a position of its own, and records between the two were copied twice or by one alone.",
			"Plan with the source whose sink wrote the target, and accept the operator id."),
		warning(flinkstate.OffsetsEmpty, exact, "No FlinkKafkaConsumer has stored an empty list",
			"From Flink 1.15 on a stop with savepoint cancels this source before its state is written: without a checkpoint before it the list is empty, whatever had been copied.",
			"Make sure that the operator read none of the migration's topics, then accept it by its operator id. Else take the last completed checkpoint, or restore the job and take a savepoint that does not stop it (`flink savepoint <JOB> <DIR>`)."),
		warning(flinkstate.OffsetsMayBeStale, exact, "The offsets of a FlinkKafkaConsumer are those of its end",
			"From Flink 1.15 on a stop with savepoint cancels this source before its state is written: the offsets may be those of the last checkpoint, and what was copied since is then copied again.",
			"Compare each C with the target: where it holds the record before C and none from C on, the offsets are right. Then, or where repeated records are fine, accept the operator id."),
		warning(flinkstate.SeveralClusters, offsetmap.Never, "The positions are of one source cluster",
			"A DynamicKafkaSource reads several clusters, and a connector one: C of another cluster is no position in this one.",
			"Name the cluster whose topics are to be migrated, once for each connector: positions.cluster of the migration file, flinkstate's Snapshot.InCluster in Go. `runbook inspect <DIR>` lists them."),
		warning(flinkstate.EnumeratorMissing, offsetmap.Never, "The source's enumerator has stored its partitions",
			"Partitions that no reader holds are not named; they are looked at as never read.",
			"Nothing: the brokers' partition set is held against the positions."),
		warning(flinkstate.SubtasksFinished, offsetmap.Never, "No subtask of the source had finished",
			"A finished subtask leaves no splits; what it read shows as missing positions, partition by partition.",
			"Nothing: missing positions are findings of their own."),
		warning(flinkstate.SplitsBounded, offsetmap.Never, "The source was unbounded",
			"The job would have ended at the stopping offsets; MirrorMaker 2 goes on.",
			"Nothing, if going on is meant."),
	}
	return append(out, Check{
		ID:         flinkArea + "warning-unknown",
		Title:      "Every warning about the state is understood",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "warnings of the snapshot whose code this version does not know",
		Why:        "A warning that nobody understands may mean that positions are wrong.",
		Remedy:     "Use one version of the program for reading the state and for planning.",
		Judge: func(c *Case, r *Reporter) {
			all := byID()
			for _, w := range c.Question.Warnings {
				if _, known := all[flinkArea+string(w.Code)]; !known {
					r.Block(string(w.Code), "%s: %s", w.Code, w.Text)
				}
			}
		},
	}, Check{
		ID:         flinkArea + "unclean-stop",
		Title:      "The job ended with stop-with-savepoint",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the attestation of how the job ended, where positions come from its state",
		Why:        "After a savepoint that was followed by a cancel, what the sink wrote since the last checkpoint may sit in a transaction that stays open and aborts: the positions are ahead of what is visible. After a failure the target may be ahead of the checkpoint: duplicates.",
		Remedy:     "Restore the job and stop it with a savepoint. Else make sure that the target holds the record before each C (or plan from the last completed checkpoint), and accept the check.",
		Judge:      uncleanStop,
	}, Check{
		ID:         flinkArea + "stop-contradicted",
		Title:      "The savepoint is the one that the attested stop wrote",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the attestation of how the job ended, against what Flink was asked for when it wrote the state (CheckpointProperties, metadata version 4 on). The scope is empty; " + scopeKindUnknown + " where a state that stores the kind does not show it, and that alone can be accepted",
		Why:        "A stop writes a savepoint of its own. After any other savepoint, or a checkpoint, the job has gone on: it has copied records from C on, which would be copied twice; and from Flink 1.15 on a savepoint that is not a stop's commits no transaction of the sink (FLIP-203). That the kind is a stop's shows what was asked for, not that the job finished.",
		Remedy:     "Name the savepoint that flink stop printed as its own (Savepoint completed. Path: ...). If the job ended in another way, attest that: flinkStopped: canceled or failed. A kind that cannot be read is that of a damaged file, or of a Flink that is not known here: compare the file with the original, or take another savepoint.",
		Judge:      stopContradicted,
	}, Check{
		ID:         flinkArea + "group-only",
		Title:      "Positions come from the state, not from the group alone",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "where the positions come from; where it is the group, whether the last records before each C were found on the target. It warns then, and says how many records come twice",
		Why:        "After stop-with-savepoint the group keeps the last periodic checkpoint's offset: what follows is copied twice. With auto-commit it is ahead of the target: what lies between is lost, unless the target is seen to hold it.",
		Remedy:     "Plan from the savepoint (positions.from: savepoint). If there is none, let the records around each C be read, so that the target shows what the job has delivered: mend what the checks boundary/... have found, and run preflight again.",
		Judge:      groupOnly,
	})
}

// groupOnly lets a group be planned from where the target shows that everything before
// each C was delivered: a group cannot.
func groupOnly(c *Case, r *Reporter) {
	switch {
	case c.Question.Origin != offsetmap.FromGroup:
	case c.allDelivered():
		r.Warn("", "the positions come from the consumer group alone; the last records before each C were found on the target. Records that come twice: %s", c.forecast())
	default:
		r.Block("", "the positions come from the consumer group alone, and the target does not show of every partition that what lies before C was delivered")
	}
}

// warning makes the check for one code. Codes that make positions unfit block.
func warning(code flinkstate.WarningCode, accept offsetmap.Acceptable, title, why, remedy string) Check {
	severity := offsetmap.Warn
	if code.Unfit() {
		severity = offsetmap.Block
	}
	return Check{
		ID: flinkArea + string(code), Title: title, Severity: severity, Acceptable: accept,
		Looks: "the state that the positions come from", Why: why, Remedy: remedy,
		Judge: func(c *Case, r *Reporter) {
			for _, w := range c.Question.Warnings {
				switch {
				case w.Code != code:
				case code.Unfit():
					r.Block(w.OperatorID, "operator %s: %s", cmp.Or(w.UID, w.Name, w.OperatorID), w.Text)
				default:
					r.Warn(w.OperatorID, "operator %s: %s", cmp.Or(w.UID, w.Name, w.OperatorID), w.Text)
				}
			}
		},
	}
}

func uncleanStop(c *Case, r *Reporter) {
	end := c.Question.Attestations.FlinkStopped
	if end == nil || c.Question.Origin != offsetmap.FromSavepoint {
		return // attest/flink-stopped
	}
	if end.Value == offsetmap.Canceled || end.Value == offsetmap.Failed {
		r.Block("", "the job is attested to have ended as %s", end.Value)
	}
}

const scopeKindUnknown = "kind-unknown"

// stopContradicted says nothing where a cancel is attested and the state is a
// stop's: a stop may fail after its savepoint.
func stopContradicted(c *Case, r *Reporter) {
	q := c.Question
	end := q.Attestations.FlinkStopped
	if end == nil || end.Value != offsetmap.StoppedWithSavepoint {
		return
	}
	attested := fmt.Sprintf("the job is attested to have been stopped with this savepoint, by %s (%s)", end.By, end.Reason)
	switch {
	case q.Kind.Stopped():
	case q.Kind == flinkstate.KindSavepoint, q.Kind == flinkstate.KindCheckpoint:
		r.Block("", "%s, and Flink wrote it as a %s, after which a job goes on", attested, q.Kind)
	case q.Origin != offsetmap.FromSavepoint: // there is no state
	case 0 < q.MetadataVersion && q.MetadataVersion < flinkstate.KindVersion:
		r.Warn("", "%s, and the state cannot show it: metadata version %d does not store what Flink was asked for", attested, q.MetadataVersion)
	default:
		r.Unmade(scopeKindUnknown, fmt.Errorf("%s, and whether Flink wrote it for a stop is not known: %s", attested, q.whyUnknown()))
	}
}

func (q Question) whyUnknown() string {
	switch q.Kind {
	case "", flinkstate.KindUnknown:
		return cmp.Or(q.KindReason, "the kind of the state was not given")
	default:
		return fmt.Sprintf("the kind %q is none of this version", q.Kind)
	}
}
