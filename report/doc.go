// Package report makes one document of a migration for whoever has to approve it,
// audit it or answer for it later: what was decided for each partition, from which
// state, what was found and accepted by whom, who started it, and what the proof says.
//
// Most readers need [New], which joins a plan with the journal, the proof and the
// other files of a migration, and [Document.WriteHTML]. [Document.WriteMarkdown] and
// [Document.WriteJSON] write the same facts for a review and for programs.
//
// The page of WriteHTML is one file that needs no network, and its policy forbids it
// any: it can be mailed, kept for years and opened from a disk. It prints, and it holds
// 100,000 partitions, by topic and searchable.
//
// The package reads no cluster and decides nothing. It holds its sources to one
// another and refuses those of another plan, so that no document says of one migration
// what was shown of another. No record's contents are in it, no config, and no user or
// password of an address.
package report
