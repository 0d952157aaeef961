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
// # What it does not do
//
// It does not know the plan, judge the connector, or say why a record is
// missing. It remembers 41 bytes for each source record from C on until the
// partition is decided, so a window of 10^8 records needs 4 GB; it does not
// resume, and does not follow a topic for days. Reports hold offsets and
// digests, whose seeds are drawn anew by each run, and nothing of what records
// contain.
package proof
