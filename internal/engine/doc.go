// Package engine decides, without I/O, what the next act of a migration is.
//
// Next looks at a plan and at what was observed of the world, and answers with
// one act or with a refusal. The caller carries the act out, observes again and
// asks again, until the answer is Done or a refusal. So a program that was
// killed between any two calls, run twice, or run beside another of its kind
// decides from what is there, never from what it remembers; the journal is one
// observation among the others.
//
// Every fact is known, absent or unknown, and an unknown fact that a decision
// needs refuses: see offsetmap.Fact.
package engine
