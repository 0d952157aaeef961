package preflight

import "github.com/flinkmm2/flinkmm2/offsetmap"

// waveChecks describes what is reported when topics are moved in several plans under one
// connector.
func waveChecks(step func(id, title string, a offsetmap.Acceptable, looks, why, remedy string) Check) []Check {
	const (
		never   = offsetmap.Never
		journal = "the journal of the migration"
	)
	return []Check{
		step("widen/not-started", "The wave before was started", never, journal,
			"Another wave comes to a connector that copies. Where none does, nothing is gained by stopping in between.",
			"Make one plan of all topics: `runbook -f <MIGRATION> plan --replace`, or Migration.MakePlan."),
		step("widen/other-setting", "Only which topics are copied changes", offsetmap.Exact, "GET /connectors/NAME against connector.config of the migration file, or Config.ConnectorConfig, secrets left out",
			"The waves before go on with the new config too: another alias, policy, producer or converter would change what is copied of them, and where to.",
			"Give the setting its old value. Where the change is meant, run the step with an acceptance of widen/other-setting for <SCOPE>, the setting that the finding names (WidenOptions.Acceptances: check, scope, by, reason)."),
		step("continue/not-started", "The plan was started", never, journal,
			"Only what ran can go on: a plan that was never started has no record of the target's ends.",
			"Start it: `runbook -f <MIGRATION> show` names the next command, or Migration.Start."),
		step("continue/offsets-changed", "Connect holds what it held when the connector was stopped", never, "GET /connectors/NAME/offsets against the journal",
			"Somebody has written the offsets of the topic since. One that was raised skips records, one that was set back repeats them.",
			"Find out who wrote, and what; write back what was there, or roll the plan back: `runbook -f <MIGRATION> rollback`, or Migration.Rollback."),
		step("continue/other-log", "Each offset is of the log that the source has", offsetmap.Exact, "the topic id and the log end of each source partition, against the plan and the stored offsets",
			"The topic was deleted or created again, or its log was cut: the connector would skip the records that are there, or copy them all again.",
			"Find out which. Where that is meant, run the step with an acceptance of continue/other-log for <PARTITION> (WidenOptions.Acceptances: check, scope, by, reason)."),
		step("continue/offset-expired", "The source still has what follows each offset", offsetmap.Exact, "log start of each source partition against the stored offsets",
			"Retention has taken records while the connector stood still: neither side can copy them any more.",
			"Fetch the records from elsewhere, or run the step with an acceptance of continue/offset-expired for <PARTITION>:<COUNT> (WidenOptions.Acceptances: check, scope, by, reason)."),
	}
}
