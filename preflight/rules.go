package preflight

import "github.com/flinkmm2/flinkmm2/offsetmap"

const checkInvalid = "plan/check-invalid"

// ruleChecks describes what the rules of package offsetmap report.
func ruleChecks() []Check {
	const (
		block, warn         = offsetmap.Block, offsetmap.Warn
		never, exact, scope = offsetmap.Never, offsetmap.Exact, offsetmap.ByScope

		again    = "Run preflight again."
		measures = "log start, last stable offset and high watermark of each source partition"
		against  = "the job's positions against the source's partitions and their ranges"
		attested = looksAtAttestations
	)
	rule := func(id, title string, s offsetmap.Severity, a offsetmap.Acceptable, looks, why, remedy string) Check {
		return Check{ID: id, Title: title, Severity: s, Acceptable: a, Looks: looks, Why: why, Remedy: remedy}
	}
	return []Check{
		rule("source/offset-expired", "The source still has the records from C on", block, exact, against,
			"The records from C to the log start are gone from the source: nobody can copy them any more.",
			"Fetch the records from elsewhere, or make a plan that accepts <PARTITION>:<COUNT>: C becomes the log start, and the loss stands in plan and report."),
		rule("source/offset-beyond-end", "C is not beyond the log", block, never, against,
			"MirrorMaker 2 would reset and copy the partition from its first record. C belongs to another topic or cluster, the topic was created again, or its log was cut.",
			"Find out which. Compare the topic's id and the savepoint's job with what is meant."),
		rule("source/offset-above-stable", "C is not above the last stable offset", block, scope, against,
			"A read_committed job cannot have passed an open transaction: the positions are not that job's. A read_uncommitted one can have copied records that will abort.",
			"Wait until the transaction ends. For a read_uncommitted job, accept the partition."),
		rule("source/unread", "Every partition with records has a position", block, never, against,
			"The split holds a marker instead of a position (latest, or the group's offset), so what the job had read cannot be told.",
			"Restore the job, let it read from the partition, and stop it with another savepoint."),
		rule("source/unread-earliest", "No partition with records waits for its first read", block, scope, against,
			"The job was to start at the earliest record and had read none. An earlier run may have copied records there.",
			"Make sure that nothing of the partition is on the target, then accept it: C becomes the log start."),
		rule("source/unread-expired", "No record expired before it was read", warn, never, against,
			"The state shows nothing read, and the log once began below its start: records may have expired unread.",
			"Nothing can bring them back; the plan names the partition."),
		rule("source/marker-unknown", "Every marker is one of Flink's", block, never, against,
			"A negative number that Flink never writes means that the state was not understood.",
			"Report it with the savepoint's Flink version."),
		rule("source/position-missing", "Every partition with records is named by the state", block, scope, against,
			"A partition that was added after the job's last discovery was never read. One that the job did read and does not name would be copied twice.",
			"Make sure that nothing of the partition is on the target, then accept it: C becomes the log start."),
		rule("source/partition-missing", "Every position has its partition", block, never, against,
			"The job stood in a partition that the source does not have among the topics of the migration.",
			"Find out whether the topic was deleted, and complete the list of topics. A plan whose partition is gone needs a new one."),
		rule("source/no-partition", "The migration has a partition", block, never, against,
			"There is nothing to carry over.",
			"Name the topics of the old job."),
		rule("source/split-bounded", "The split has no stopping offset", warn, never, against,
			"The job would have ended there; MirrorMaker 2 goes on.",
			"Nothing, if going on is meant."),
		rule("source/range-unknown", "The range of every source partition can be measured", block, never, measures,
			"Without a range nobody can tell whether C can still be read. A partition without a leader has none.",
			"Bring the partition's leader back. "+again),
		rule("source/range-inconsistent", "The bounds of a log fit together", block, never, measures,
			"The log start was above the end or the last stable offset: they moved while they were measured.",
			again),
		rule("target/end-unknown", "The end of every target partition can be measured", block, never, "the high watermark of each target partition",
			"It says where the copies begin: the proof, and the way back, need it.",
			"Bring the partition's leader back, or grant Describe. "+again),
		rule("source/topic-recreated", "The topic is the one that was planned", block, never, "the topic's id (KIP-516) against the plan's",
			"A topic that was deleted and created again has another log, in which C means nothing, even where it is in range.",
			"Find out what happened to the topic. A new plan needs new positions."),
		rule("source/log-truncated", "The log was not cut since the plan", block, never, "the high watermark against the plan's",
			"Records were lost on the source (an unclean leader election), and others may stand at their offsets.",
			"Find out what was lost, and make a new plan."),
		rule("plan/origin-unknown", "It is said where positions come from", block, never, "the origin of the positions",
			"The rules differ for a savepoint and a group.", "Plan from a savepoint or from a group."),
		rule("plan/isolation-unknown", "The job's isolation level is known", block, never, attested,
			"C above the last stable offset is possible for a read_uncommitted job only.", "Attest the isolation level."),
		rule("plan/position-invalid", "Every position is sound", block, never, "the positions",
			"A position that contradicts itself was read or edited wrongly.", "Export the positions again."),
		rule("plan/partition-invalid", "Every partition can exist", block, never, "names and numbers of partitions on both sides",
			"MirrorMaker 2 cannot create or write such a topic.", "Correct the names, or the replication policy's separator and alias."),
		rule("plan/duplicate-position", "Every partition has one position", block, never, "the positions",
			"Two sources that read the same partition have two, and neither is the whole truth.", "Choose one source."),
		rule("plan/topic-ambiguous", "Each topic has one id and one target of its own", block, never, "topic ids and target names of all partitions",
			"Two ids mean that the topic was created again while it was measured. Two topics with one target would mix their records.",
			again+" Else correct the replication policy."),
		rule("plan/duplicate-partition", "Every partition was measured once", block, never, measures,
			"Two measurements of one partition cannot both decide.", again),
		rule("plan/acceptance-unused", "Every acceptance covers a finding", warn, never, "the acceptances",
			"It may have a typing error, or the count that it names has moved.", "Remove it, or correct it after the finding."),
		rule("plan/acceptance-incomplete", "Every acceptance has a check, a name and a reason", block, never, "the acceptances",
			"Nobody could tell later who let a finding through, and why.", "Complete check, by and reason."),
		rule(checkInvalid, "Every check of the user's own has an id of its own", block, never, "the checks that were added in Go",
			"An acceptance of one id would let two checks through.", "Give the check another id, and a function Judge."),
		rule("attest/copy-only", "The job only copies", block, never, attested,
			"MirrorMaker 2 copies records as they are: a filter, a transformation or a repartitioning of the job would be gone.", "Attest copyOnly: true, or keep the job."),
		rule("attest/flink-stopped", "It is attested how the job ended", block, never, attested,
			"A consumer group looks empty while the job runs: it proves nothing.", "Attest flinkStopped: stopped-with-savepoint, canceled or failed."),
		rule("attest/auto-restart-off", "Nothing brings the job back", block, never, attested,
			"An operator, a scheduler or a restart strategy that starts the job again makes two writers.", "Switch it off, and attest autoRestartOff: true."),
		rule("attest/sink-guarantee", "The sink's guarantee is attested", block, never, attested,
			"It decides whether the target can be behind the positions.", "Attest sinkGuarantee: at-least-once, exactly-once or none."),
		rule(offsetmap.CheckSinkNone, "The sink flushes before a checkpoint", block, never, attested,
			"KafkaSink's default guarantee, none, does not flush: the positions may be ahead of the target, and what lies between is lost.",
			"Show that the target holds the record before each C."),
		rule("attest/isolation", "The job's isolation level is attested", block, never, attested,
			"It is in the job's code alone. Flink's KafkaSource leaves read_uncommitted unless its properties say otherwise.", "Attest isolation: read_uncommitted or read_committed."),
		rule("attest/checkpointing", "Checkpointing is attested where a group is planned from", block, never, attested,
			"Without checkpoints the group is committed by time, ahead of the target.", "Attest checkpointing: an interval such as 1m, or off."),
		rule("attest/rollback-window", "The rollback window is a duration", block, never, attested,
			"The report says until when a way back exists.", "Attest rollbackWindow: a duration such as 72h."),
		rule("attest/max-duplicates", "The bound on duplicates is a number of records", block, never, attested,
			"The report holds the forecast against it.", "Attest maxDuplicates: a number from 0."),
	}
}
