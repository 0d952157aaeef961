// Package cutover is the suite of whole migrations. It runs unchanged on every
// stage: embedded brokers with a worker in memory, and real brokers and workers.
//
// A scenario is a function that returns an error, so that a stage with a bug
// planted in its connector can be asked whether the suite notices. What it
// expects of the target it reads itself, record by record, without the proof
// that the library makes: the one holds the other.
package cutover
