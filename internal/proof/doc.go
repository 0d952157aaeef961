// Package proof shows whether the target has what the source has: from where
// MirrorMaker 2 was to start, up to a fixed end, record by record.
//
//	report, err := proof.Run(ctx, proof.Options{
//		Source:     proof.Cluster{Options: sourceOpts, Admin: sourceAdmin, Isolation: offsetmap.ReadUncommitted},
//		Target:     proof.Cluster{Options: targetOpts, Admin: targetAdmin, Isolation: offsetmap.ReadCommitted},
//		Partitions: partitions, // C, the source's fixed end, the target's end before the start
//		Bound:      10 * time.Minute,
//	})
//
// Run reads both sides of all partitions at once with one client for each
// cluster, and feeds each partition to a Comparer, which holds the two sequences
// to one another by digests, without I/O. The rules stand with Comparer.
//
// # What is proven
//
// A partition is proven when every readable source record from C to the end is
// on the target, from the recorded end on, unaltered (key, value, headers and
// their order, and the timestamp unless the target stamps its own) and in
// order. Replays are no fault, since MirrorMaker 2 delivers at least once; they
// are counted. Neither are records of other writers.
//
// A record is missing only when a later one of its partition was seen, which
// means that it was passed over. Until then it is not there yet, and the
// partition is not proven, however long that lasts.
//
// What retention or compaction may have taken, on either side, is unprovable.
// It is never called missing, and such a partition is never called proven.
//
// # What is readable
//
// The isolation level of each side decides. Control records, and under
// read_committed the records of aborted transactions, are holes in the offsets:
// a partition with nothing else from C on has nothing to copy. Nothing here
// follows from offset arithmetic; records are counted.
//
// A client never chooses an offset by itself. An offset that is gone is looked
// at with fresh log bounds: what expired is counted, and a log that ends below
// what was read makes the partition unread, as one that was truncated or created
// again.
//
// # The window
//
// The source streams by, and what is remembered of it is a window round the
// head, the lowest source record that the target has not reached: so many
// records before it, for repeats and swaps, and so many from it on, for what is
// left out. Memory depends on the window alone, not on how much is compared. The
// source is read no further ahead of the target than that.
//
// What a window cannot see is counted by name. A target record that equals
// nothing in it, while the source has more than it holds, is older: a repeat of
// what is older than the window, another writer's, or a copy that is ahead of
// its turn by more than the window. Older records shift nothing and are no
// fault.
//
// What is missing stays exact. Records that were passed over are remembered by
// themselves, as many as the window holds, so that one that comes late is known;
// those that do not fit stay missing. And where the target goes on with what the
// window does not have, the source is searched beyond it, to its end: if the
// records are there, what lies between was left out, however much it is, and is
// counted record by record. A search reads the source once more and keeps
// digests of the target records only; between two that find nothing twice as
// many target records must have come, so another writer's records cost few.
//
// So, with m the records that are missing by the rules without a window, and as
// long as both are read equally far: m <= missing <= m + older + repeated, and
// missing = m when the source's records all differ and none is older. A window
// never hides a loss, and never makes a fault of a replay unless equal records
// lie further apart than it reaches. Under compaction, a record that was passed
// over and does not fit is unprovable, since the record that replaced it may
// still come.
//
// # Going on where an earlier run stood
//
// A Mark is where a comparison stands: up to where both logs are compared, the
// counts so far, and the offsets of what was passed over and repeated and may
// still matter. It holds no digests, since those of another run say nothing, and
// nothing else of records. A run that goes on from it reads the source's window
// again, and each record that was passed over, and finds what a run in one go
// would have found, whether or not what lies before is still there. What is
// foreign by one may be older by the other.
//
// A comparison is markable only directly behind a record in its place, with
// nothing open: no foreign record or lost offset since, no stranger, no replay
// that fewer than 64 records in order followed. Until it is again, its last Mark
// stands, so a run that goes on from it reads a little more.
//
// # How far a run goes
//
// By default each partition has a fixed end. Until and Round change that. With
// UntilFirst and UntilRecords a partition is decided at the record that is the last
// due, and what the target holds behind it is not read: a repeat or a record from
// before C that comes later is not known. With UntilCaughtUp and with rounds the
// end moves on, by Extend, and the comparison goes on with it; a Snapshot says how
// it stands and changes nothing. Whatever was found when an end was reached counts,
// also beyond it.
//
// # What it does not do
//
// It does not know the plan, judge the connector, or say why a record is
// missing. Reports hold offsets and
// digests, whose seeds are drawn anew by each run, and nothing of what records
// contain.
package proof
