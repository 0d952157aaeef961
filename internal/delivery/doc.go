// Package delivery looks, before a start, whether the target holds what the old job
// had read: the last records before C, and none from C on.
//
//	reader := delivery.New(sourceOptions, targetOptions, preflight.DeliveryBounds{})
//	found, err := reader.Deliveries(ctx, preflight.DeliveryRequest{Positions: positions, ...})
//
// Topic by topic, it reads a few records around each C on the source, and searches
// the target topic for them, in all its partitions, since the old job's sink may have
// partitioned otherwise than MirrorMaker 2 will. Where to begin, the target's brokers
// tell by the records' timestamps: a copy lies behind the first record that is as
// young, whether the sink has kept the timestamp or the copy was stamped later.
//
// # What is equal
//
// Records are equal by key, value, headers and timestamp. Where most copies in the
// topic lack one of these parts, which is never the value, the sink has not carried
// it: the other parts decide alone, and the report names it. Which parts are carried
// is found out for a topic as a whole, so that an older record which resembles one
// that is lost is not taken for it.
//
// Equal records count as a multiset: as many as lie before C must be on the target.
// Where it cannot be known how many those are, since equal ones may lie further back
// than was read, nothing is concluded from them.
//
// # What is concluded
//
// A record is missing only after everything on the target since its time was read,
// and ten minutes before, since clocks differ. What retention may have deleted, what
// compaction may have taken, and what an open transaction hides is not missing but
// unproven, and so is what lies beyond the bounds of records, bytes and time.
//
// Of the records from C on, 64 are looked for, and eight times as many each time that all
// of them are there. So it is known how many come twice, or, where the bounds are reached
// before one is not there, that it is at least so many.
//
// # What it does not do
//
// It reads a sample: a hole further back than the last few records is not seen. The
// proof after the start compares everything from C on. It writes to neither cluster,
// joins no group, and keeps and shows nothing of what records contain but hashes
// under a key of the run; only whoever gives a DeliveryRequest.Sample is shown more.
package delivery
