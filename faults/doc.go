// Package faults breaks whole migrations on real brokers and workers, and says what
// became of the records.
//
// A [Cell] is one fault at one place: the program killed before a request, a worker
// killed while it copies, a broker gone, an answer that comes late or twice. The program
// is examples/runbook, as a process of its own; its requests to Connect pass a [Front],
// its connections to the brokers a proxy.
//
// After each fault the program is run again, as a Job would run it. It has to finish or
// to refuse with a reason, and then the oracle of package internal/cutover counts: how
// many records that were due never came (lost), how many came more than once (repeated,
// at most as many as at-least-once allows there), and how often an offset that Connect
// stores went back (rewound).
//
// What came out is a [Record], one line of JSON in docs/faults. The table in
// docs/fault-matrix.md is made of them:
//
//	go run ./faults/cmd/faultmatrix          writes the table
//	go run ./faults/cmd/faultmatrix -check   fails where table, records and cells do not fit
//
// The cells are run by TestMatrix: without flags a sample that a seed picks, with
// -faults.cells all of them or those that match, and with -faults.record their records
// are kept.
package faults
