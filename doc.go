// Package flinkmm2 replaces a Flink job that only copies Kafka topics by a
// MirrorSourceConnector of MirrorMaker 2, without losing a record, and with
// proof.
//
// It joins the steps. flinkstate reads where the stopped job stood, the next
// offset C of every partition. A Migration then takes the rest, one step a
// method, each of which can be run again:
//
//	Create    the connector exists, STOPPED
//	MakePlan  every partition is decided, or everything blocks; sealed
//	Apply     Connect holds M = C - 1 for every partition, read back
//	Verify    the same, without writing
//	Start     on a person's word, when everything still equals the plan
//	Watch     the target holds the source from C on: record by record
//	Rollback  as it was before the start; or C' = M + 1, for Flink
//
// and CommitBoundary, RewriteSavepoint or HandBack give Flink what it goes on from: a
// consumer group, a savepoint, or starting offsets. RollbackChoices counts beforehand
// what each of them would repeat.
//
// Most readers need New and those methods; examples/quickstart runs the whole
// line on embedded parts, with nothing installed but Go.
//
// What the package guarantees: C is never guessed, clamped or "latest"; all
// partitions go or none; a step checks before it writes; nothing but Start
// resumes a connector, and Start demands that stored offsets, config, topic
// ids, partition sets and log bounds equal its plan at that moment; an answer
// that was lost is unknown until it is read back.
//
// What it does not do: it neither stops nor starts Flink, creates no topics,
// writes no records, and never touches Connect's internal topics.
//
// Errors: what blocks is an *offsetmap.BlockedError that lists every finding;
// a world or a file that no longer matches is an ErrMoved; ExitStatus maps them
// for programs.
package flinkmm2
