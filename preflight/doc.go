// Package preflight looks for every reason why a migration could lose, repeat
// or misplace records, before anything is written or started.
//
// It works in two calls. [Probe.Observe] reads the facts of both clusters, the
// worker, the connector and, where a server of it is given, Flink, and never
// fails: what could not be found out is an unknown fact with its reason.
// [Judge] is pure: it holds the facts against the question (where the old job
// stood, what a person attests and accepts) and returns the decision for every
// partition and a finding for everything that speaks against it.
//
//	facts := probe.Observe(ctx)
//	report := preflight.Judge(facts, question)
//	if err := report.Err(); err != nil { ... } // every finding that blocks
//
// # Checks
//
// A check has an id such as "config/reset-rule", a severity, and texts that say
// what it looks at, why it matters and what to do. [Checks] lists them all, with
// the ids that the rules of package offsetmap and the steps after planning
// report, and [Explain] finds one. A [Check] of the user's own is given to Judge
// beside them.
//
// A remedy has its commands between backticks, with placeholders such as <TOPIC>.
// [RemedyFor] fills them from a finding and from the [Names] that a migration's things
// have, so that the command can be pasted; what nobody can know stays.
//
// Unknown is not fine. A check that could not be made is a finding that blocks,
// with Unmade set; it is accepted by its id and whole scope alone. What the plan
// itself records (cluster ids, ranges, the connector's config, the stored
// offsets) must be known: no acceptance helps there.
//
// What nobody was asked about is not proven, and a warning says so: without a
// server of Flink the end of the old job is attested alone (flink/rest-not-asked),
// without a savepoint so is that it only copies. A server that is given and does
// not tell is a check that could not be made.
//
// # Configs
//
// A connector's config is judged before there is a worker by [Lint], and made by
// [GenerateConfig], with a reason for each key. [LintDriver] judges the properties of
// connect-mirror-maker.sh, each of whose flows has three connectors. The three know
// the keys of Kafka 3.4 to 4.3.
//
// # What it does not do
//
// It writes nothing. It shows no payloads: the only records that it reads are those
// between C and what the old job's group has committed, where these are few and
// [GroupLook] has options, to tell them from markers of transactions. It does not
// decide C: that is offsetmap.Resolve, which Judge calls. It does not hold the
// world against a plan that is already sealed, but for what Flink says
// ([Facts.AgainstPlan]). It does not see what no API shows: the worker's own config
// file and its log, the code of the old job, and what may start it again; for
// those there are attestations.
//
// # What it guarantees
//
// Every finding carries an id of the catalogue. Rows are returned only when no
// finding blocks. No value of a secret setting stands in a finding.
package preflight
