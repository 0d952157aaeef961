package preflight

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// checkEndsMoved is reported by the steps that follow a plan, and accepted in
// the plan.
const checkEndsMoved = "target/ends-moved"

// stepChecks describes what [Judge] does not report, but the steps after planning
// do: apply, verify, start, watch, rollback and the commit of its boundary. Of
// the journal planning reports too.
func stepChecks() []Check {
	const (
		never = offsetmap.Never

		journal = "the journal of the migration"
		stored  = "GET /connectors/NAME/offsets against the plan"
		back    = "what Connect and the target hold after the connector was stopped, against the plan"
	)
	step := func(id, title string, a offsetmap.Acceptable, looks, why, remedy string) Check {
		return Check{ID: id, Title: title, Severity: offsetmap.Block, Acceptable: a, Looks: looks, Why: why, Remedy: remedy}
	}
	return slices.Concat(groupChecks(step), restoreChecks(step), waveChecks(step), []Check{
		{
			ID: offsetmap.CheckPlanLifetime, Title: "The plan lives as long as plans do", Severity: offsetmap.Info, Acceptable: never,
			Looks:  "the latest start that source/retention leaves, against the life of a plan. The scope is the partition or topic whose records go first",
			Why:    "A plan that outlives what it copies would be approved and started when records are gone.",
			Remedy: "Start before the plan ends; or keep the records for longer (source/retention), and make a new plan.",
		},
		step("plan/expired", "The plan is still alive", never, "createdAt and expiresAt of the plan against the clock",
			"An old plan says where a world stood that has gone on since; and with a clock that is wrong nobody knows how old it is.",
			"Set the clock right, or make a new plan: `runbook -f <MIGRATION> plan`, or Migration.MakePlan."),
		step("source/cluster", "The source is the planned cluster", never, "the cluster id that the source's brokers tell, against the plan's",
			"Offsets mean nothing on another cluster.",
			"Correct the source's bootstrap servers, or make a new plan from the cluster that is meant."),
		step("target/cluster", "The target is the planned cluster", never, "the cluster id that the target's brokers tell, against the plan's",
			"The ends that the plan recorded are those of another cluster, so nothing could be proven or taken back.",
			"Correct the target's bootstrap servers, or make a new plan for the cluster that is meant."),
		step("source/partition-added", "No partition was added since the plan", never, "the partitions of the plan's topics",
			"The plan says nothing of it. A topic that was created again looks the same.",
			"Find out whether the topic was created again, then make a new plan: `runbook -f <MIGRATION> plan`, or Migration.MakePlan. The old job has not read a partition that was added after it stopped: accept source/position-missing for it."),
		step("connector/config", "The connector's config is the planned one", never, "the digest of GET /connectors/NAME, secrets left out, against the plan's or that of the config given",
			"The plan was judged over another config: topics, reset rule, isolation level or producer may differ.",
			"Put the config back (`curl -X PUT -H 'Content-Type: application/json' <WORKER>/connectors/<CONNECTOR>/config -d @<FILE>` leaves a STOPPED connector STOPPED), or make a new plan over the one that is meant."),
		step("offsets/changed", "Connect holds what the plan found or what it writes", never, stored,
			"Somebody else wrote, or the connector ran: writing the plan over it would copy records again or skip them.",
			"Find out who wrote. A new plan takes the offsets as they are now for its backup, and says what it would skip or copy again: `runbook -f <MIGRATION> plan`, or Migration.MakePlan."),
		step("offsets/not-applied", "Connect holds what the plan writes", never, stored,
			"The connector would start from where it stood before.",
			"Apply the plan: `runbook -f <MIGRATION> apply`, or Migration.Apply."),
		step(checkEndsMoved, "Nobody wrote to the target since the plan", offsetmap.ByScope, "the high watermark of each target partition, against the plan's or that of the recorded start",
			"What was written is of the old job, of another writer, or of this connector, which then has run: the proof and the way back begin at these ends.",
			"Find out who writes, stop it, and make a new plan. Where others may write to the target, name them in the plan: make it with an acceptance of target/ends-moved for <PARTITION>, <TOPIC> or * (check, scope, by, reason)."),
		step("journal/unreadable", "The journal can be read", never, journal,
			"It alone says whether the plan was started or rolled back, and where the target ended before.",
			"Mend the file or its volume (state.dir), and run the step again. Do not begin a new journal in its place."),
		step("journal/started", "The plan was not started yet", never, journal,
			"The connector has its own progress since: applying the plan again would turn the clock back.",
			"Go on with it: `runbook -f <MIGRATION> watch`, or Migration.Watch. To undo it: `runbook -f <MIGRATION> rollback`, or Migration.Rollback."),
		step("journal/rolled-back", "The plan was not rolled back", never, journal,
			"Flink may have gone on since, so its C is old.",
			"Make a new plan: from the same savepoint if the job has not run since, else from the one that it was stopped with."),
		step("journal/other-plan", "No other plan was started on the connector", never, journal,
			"The connector runs, or ran, by that plan: going back by this one would undo its progress.",
			"Use the plan that the finding names; the journal says who started it and when."),
		step("journal/handed-back", "Nothing was handed back to Flink since the savepoint or the plan was made", never, journal,
			"Whoever did that was about to start Flink: with the connector there would be two writers, and the plan's C may be behind what Flink has read since.",
			"Stop Flink with a savepoint, and make a new plan from that one: `runbook -f <MIGRATION> plan --replace`, or Migration.MakePlan."),
		step("engine/goal", "The step is one that exists", never, "the step that was asked for",
			"A step that nobody knows is a fault of this program.", "Report it with the command that was run."),
		step("start/overtaken", "Nobody wrote Connect's offsets between the last look and the resume", never, "GET /connectors/NAME/offsets behind the resume, and what the target holds of the records up to an offset above the plan's",
			"Another program, with a journal of its own, or a person wrote in between: the connector began at that offset, and records before it may be copied by nobody, or copied again.",
			"Stop it now: `runbook -f <MIGRATION> rollback`, or Migration.Rollback. Then let Flink go on from the old savepoint (`runbook -f <MIGRATION> rollback --form old-savepoint`, or Migration.HandBack). Find out who wrote, and give all of them one journal (state.dir)."),
		step("rollback/overtaken", "The connector began at C", offsetmap.Exact, "what the journal says of the start. The scope is the connector",
			"The connector began elsewhere, so its offset does not say that everything before it was copied: from C' on Flink would leave out what nobody copied.",
			"Let Flink go on from the old savepoint: `runbook -f <MIGRATION> rollback --form old-savepoint`, or Migration.HandBack. Where it is known that nothing before C' was left out, as by a proof of `runbook -f <MIGRATION> watch`, roll back with an acceptance of rollback/overtaken for <CONNECTOR> (RollbackOptions.Acceptances: check, scope, by, reason)."),
		step("rollback/offset-absent", "Connect still holds an offset for each partition that the plan wrote", never, back,
			"The offset was cleared since, and with it the knowledge how far the partition was copied: C' would be guessed.",
			"Find out who cleared it and what was copied (compare the end of the target with the source), write that offset while the connector is STOPPED: "+patch(mirrorPartition, `{"offset":<M>}`)+", and roll back again."),
		step("rollback/offset-below-plan", "No stored offset is below the plan's", never, back,
			"The offset was set back since; going on there would copy records again that the old job had copied before.",
			"Find out who set it back and what was copied, write that offset while the connector is STOPPED: "+patch(mirrorPartition, `{"offset":<M>}`)+", and roll back again."),
		step("rollback/offset-beyond-end", "C' is not beyond the log", never, back,
			"The topic was created again, or its log was cut: M is none of its offsets.",
			"Find out which. Flink needs a position of the new log, which nobody can derive from the old one."),
		step("rollback/offset-expired", "The source still has the records from C' on", offsetmap.Exact, "log start of each source partition against C'",
			"The records from C' to the log start are gone before they were copied: neither side can copy them any more.",
			"Fetch the records from elsewhere, or roll back with an acceptance of rollback/offset-expired for <PARTITION>:<COUNT> (RollbackOptions.Acceptances: check, scope, by, reason): C' becomes the log start, and the loss stands in the boundary."),
		step("rollback/offset-without-records", "Where an offset has risen the target has grown", never, back,
			"Nothing was copied to the partition, so the offset was written by hand: going on there would lose the records between.",
			"Find out who wrote it. Write the plan's offset back while the connector is STOPPED: "+patch(mirrorPartition, `{"offset":<M>}`)+", and roll back again."),
		step("rollback/target-unknown", "The end of each target partition is known", never, "the high watermark of each target partition, now and before the start",
			"Without both nobody can tell whether anything was copied.",
			"Bring the partition's leader back, or grant Describe, and roll back again."),
		step("rollback/unplanned", "Every stored offset is of a topic of the plan", offsetmap.ByScope, stored,
			"The connector copied a topic that the plan does not have; it does not go back with it, and nobody copies it afterwards.",
			"Bring the topic back by its own plan, or roll back with an acceptance of rollback/unplanned for <PARTITION>, <TOPIC> or * (RollbackOptions.Acceptances: check, scope, by, reason)."),
	})
}

// groupChecks describes what is reported when the boundary of a rollback is
// committed to a consumer group.
func groupChecks(step func(id, title string, a offsetmap.Acceptable, looks, why, remedy string) Check) []Check {
	const (
		never, exact = offsetmap.Never, offsetmap.Exact

		group = "the members and the committed offsets of the group, twice, further apart than the worker's flush timeout"
		fresh = "commit the boundary to a group that nobody has used, and give Flink that group.id"
		again = "Roll back again: `runbook -f <MIGRATION> rollback`, or Migration.Rollback. The boundary that it finds then is the one to commit."
	)
	return []Check{
		step("rollback/flink-end", "It is attested how Flink ended, and that it does not run now", never, "what the person who hands the boundary back states",
			"Flink's source never joins its group, so nothing that brokers tell shows that it has ended; with two jobs in one group each would move the other's offsets.",
			"Make sure that no job of it runs and nothing starts one, and say so: `runbook -f <MIGRATION> rollback --commit-group <RETURN-GROUP> --flink-stopped <END> --reason <TEXT>` (or --rewrite-savepoint <FOLDER>, or --form initializer, for --commit-group); GroupReturn.FlinkStopped, SavepointReturn.FlinkStopped, HandBack.FlinkStopped."),
		step("rollback/not-done", "The rollback of the plan is finished", never, "the journal of the migration",
			"Only a connector that was stopped, and has settled, says where Flink goes on.", again),
		step("rollback/nothing-started", "The plan was started before it was rolled back", never, "the journal of the migration",
			"Where MirrorMaker 2 never ran there is no C': Flink goes on from its savepoint, and a group may be behind that or hold nothing.",
			"Restore the job from its savepoint. Do not start it from its group."),
		step("rollback/not-settled", "Nothing moves any more", never, "the connector's stored offsets and the target's ends, several times",
			"Something still writes: a straggling task, Flink, or somebody else. What is committed while it writes is no boundary.",
			"Find out what writes and stop it, then run the step again. Where others must go on writing to the target, start Flink with the offsets of the boundary itself (rollback --form initializer, or Boundary.OffsetsInitializer)."),
		step("rollback/boundary-changed", "The boundary is what a rollback finds now", never, "the boundary against what Connect and the source hold",
			"The connector has run since, somebody has written its offsets, a partition was added, or the file is of another rollback: records would be lost or repeated.", again),
		step("rollback/group-unknown", "The group can be read", never, group,
			"Whether somebody reads with the group is not known.",
			"Grant Describe on the group and on its topics, or bring the group's coordinator back; where the group is of another kind, "+fresh+"."),
		step("rollback/group-active", "Nobody reads with the group", never, group,
			"Somebody who reads commits over what is committed here, and Flink beside them makes two writers.",
			"Stop whoever reads with the group and run the step again; or "+fresh+"."),
		step("rollback/group-ahead", "The group is not beyond C'", exact, group,
			"Somebody has read beyond C': Flink perhaps, which then runs or has run. Records would be read, and copied, again.",
			"Find out who committed it. Where it is known that these records may be read again, commit with an acceptance of rollback/group-ahead for <PARTITION>:<COUNT> (GroupReturn.Acceptances: check, scope, by, reason); or "+fresh+"."),
		step("rollback/group-moved", "The group stands where the plan saw it", exact, group,
			"Somebody has committed since: Flink, which then has run beside MirrorMaker 2, or another program, from which records would be taken.",
			"Find out whose group it is. Where that is known, commit with an acceptance of rollback/group-moved for <PARTITION>:<COUNT>, the count from there to C', 0 where it is at C', or for group, partition and offset of the old job's own group as the finding names them (GroupReturn.Acceptances: check, scope, by, reason); or "+fresh+"."),
		step("rollback/another-form", "Flink was given one thing alone to go on from", exact, "the journal of the migration",
			"Flink may run from what it was given before: a group's offsets, a savepoint, starting offsets. With a job from another one there would be two writers, and no broker shows either of them.",
			"Make sure that no job runs from the other one, or ever will, and run the step with an acceptance of rollback/another-form for <SCOPE>, the form that the finding names: initializer, legacy, sql, old-savepoint, group with the group's name, or savepoint with the sha256: of its _metadata (GroupReturn.Acceptances, SavepointReturn.Acceptances, HandBack.Acceptances: check, scope, by, reason)."),
		step("rollback/savepoint-expired", "The source has what the plan's savepoint has not read", exact, "the log start of each partition against C of the plan",
			"A job that goes on at C begins at the log start, or fails: what has expired between comes from nobody, but for what MirrorMaker 2 has copied.",
			"Hand C' over in another form. Where what was copied is enough, run the step with an acceptance of rollback/savepoint-expired for <PARTITION>:<COUNT> (HandBack.Acceptances: check, scope, by, reason)."),
		step("rollback/savepoint-changed", "The savepoint is the one that the plan was made from", never, "the SHA-256 of each file that the plan names",
			"Another savepoint has other positions, and perhaps other sources; what is written from it is no way back.",
			"Name the folder of the savepoint that the plan was made from: `runbook -f <MIGRATION> show` says which; --from <FOLDER> where it has moved."),
		step("rollback/partition-kept", "Each partition of the source goes on at C'", exact, "the partitions of the savepoint's source against those of the boundary",
			"A partition that stays where it stood is copied again from there by the restored job, whatever else has copied it meanwhile.",
			"Where nothing else has copied the partition since, run the step with an acceptance of rollback/partition-kept for <PARTITION> (SavepointReturn.Acceptances: check, scope, by, reason). Where another plan of the connector has, roll that one back as well."),
		step("rollback/group-expiring", "The group's offsets expire by their commit", never, "whether the group has ever had members",
			"Brokers drop the offsets of a group that has had members offsets.retention.minutes after the last one left, however new they are (KIP-211): Flink may find none, and follow its reset rule.",
			"Commit the boundary to a group that nobody has joined, and give Flink that group.id; or start it with the offsets of the boundary itself (rollback --form initializer, or Boundary.OffsetsInitializer)."),
	}
}

// endsMayMove returns a finding for each partition whose end a later step could
// find moved, while a person accepts that of any: held against them, an
// acceptance that covers one is used, and one that covers none is not.
func (c *Case) endsMayMove() []offsetmap.Finding {
	of := func(a offsetmap.Acceptance) bool { return a.Check == checkEndsMoved }
	if !slices.ContainsFunc(c.Question.Acceptances, of) {
		return nil
	}
	out := make([]offsetmap.Finding, 0, len(c.measured))
	for tp := range c.measured {
		out = append(out, offsetmap.Finding{Check: checkEndsMoved, Severity: offsetmap.Block, Scope: tp.String(), Acceptable: offsetmap.ByScope})
	}
	return out
}
