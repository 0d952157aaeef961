// Package offsetmap maps the reading progress of a stopped Flink job to the
// source offsets of a MirrorSourceConnector, as pure values: standard library
// only, no I/O, no clock.
//
// Two numbers are easily taken for one another, and an off-by-one loses one
// record per partition in silence. So they are two types: NextOffset is C, the
// next record to read, as Flink and consumer groups store it; SourceOffset is
// M, the last record handled, as Connect stores it. NextOffset.Write is the one
// place where C becomes M, and the zero value of both is none, never 0.
//
// Most readers need two calls. Resolve decides C for every partition from what
// the old job's state says and what the brokers say, and blocks when anything
// would have to be guessed. Seal makes a Plan of the outcome, whose digest
// covers everything that it decides; ReadPlan reads it back and refuses one
// that was edited, is of another version, or breaks a rule. PlanSchema is the
// form of its file.
//
// Plan.Diff holds what Connect shows against the plan, Row.Recheck a fresh
// measurement of a partition, and Plan.Reverse leads back to Flink.
//
// The package does not read savepoints (flinkstate), does not talk to Connect
// (connectrest) and judges neither clusters nor configs (preflight).
//
// It guarantees that no plan that it makes or reads holds a negative offset,
// that for every C that it accepts MirrorMaker 2 seeks to exactly C, and that
// all partitions are decided or none.
package offsetmap
