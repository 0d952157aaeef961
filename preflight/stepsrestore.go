package preflight

import "github.com/flinkmm2/flinkmm2/offsetmap"

// restoreChecks describes what is reported when a backup of Connect's offsets is put
// back, and afterwards.
func restoreChecks(step func(id, title string, a offsetmap.Acceptable, looks, why, remedy string) Check) []Check {
	return []Check{
		step("journal/restored", "No backup of the offsets was restored since the plan was made", offsetmap.Never, "the journal of the migration",
			"What the plan knows of Connect's offsets, and how far it says that the connector has copied, is of before.",
			"Make a new plan: `runbook -f <MIGRATION> plan --replace`, or Migration.MakePlan."),
		step("restore/rewind", "No offset goes back", offsetmap.Exact, "GET /connectors/NAME/offsets against the backup",
			"The connector was further than the backup says: what follows its offset there would be copied again. An offset that becomes absent leads to the first record.",
			"Where the plan that the backup was made for was never started, `runbook -f <MIGRATION> rollback` puts back what it wrote. Where the records may come again, run the step with an acceptance of restore/rewind for <PARTITION>:<COUNT> (RestoreOptions.Acceptances: check, scope, by, reason)."),
		step("restore/other-log", "Each offset that is put back is of the log that the source has", offsetmap.Never, "the topic id and the log end of each source partition, against the backup",
			"The topic was deleted or created again, or its log was cut, since the backup: the offset is of records that are not there, and the connector would skip those that are.",
			"Do not restore this backup. Make a new plan, which measures the topic as it is: `runbook -f <MIGRATION> plan --replace`, or Migration.MakePlan."),
	}
}
