// Package cutover is the suite of whole migrations. It runs unchanged on every
// stage: embedded brokers with a worker in memory, and real brokers and workers.
//
// A scenario is a function that returns an error, so that a stage with a bug
// planted in its connector can be asked whether the suite notices. What it
// expects of the target it reads itself, record by record, without the proof
// that the library makes: the one holds the other. Every record has an id, its
// partition and offset on the source.
//
// # Stages and versions
//
// TestEmbedded runs all scenarios, and so does TestJVM, on Kafka 3.9.2 and
// 4.3.1: brokers and workers are of the same version. A flag names any other
// that the lab can start. A seed decides when workers are killed, and how often
// is a flag too:
//
//	make versions
//	make versions VERSIONS=3.7.2,3.8.1 TESTFLAGS="-cutover.seed 7 -cutover.kills 5"
//
// The table that this prints says what the oracle counted: for each partition C,
// the offset of the first record copied, how many records of those that are due
// never came, and how many came more than once. One such table is in
// docs/real-stage.md.
//
// # What an embedded stage cannot do
//
// Compaction in kfake moves the log start to the first record that is left.
// Brokers do not, so the partitions of a compacted topic whose first record is
// gone are on JVMs only.
//
// TestFlink needs both stages of JVMs: real Flink jobs copy on real brokers.
package cutover
