// Package flinkstate reads how far a Flink job had read Kafka, from the
// savepoint or checkpoint that the job left behind, without a JVM.
//
// Two calls are what most readers need:
//
//	snap, err := flinkstate.ReadDir("/savepoints/savepoint-2b3ed0-f0c7ba51791f")
//	src, err := snap.Source("orders-source") // by uid, name or operator id
//
// [Read] does the same behind an [io/fs.FS]. The [offsetmap.Position] of each
// partition holds C, the next offset to read, or the reason why there is none.
// [Snapshot.Kind] says what the state was written for, [Snapshot.Sinks] which
// transactions may be open on the target, [Snapshot.Operators] what else the job
// has stored.
//
// What the job's consumer group has committed is a weaker witness of the same:
//
//	reader := flinkstate.NewGroupReader(kadm.NewClient(client), flinkstate.WithRequestor(client))
//	group, movement, err := reader.Watch(ctx, 2*checkpointInterval, "orders-copy", "orders")
//	compared, err := flinkstate.Compare(src.Partitions, group.Committed()).Explain(ctx, client, isolation)
//
// It tells who holds the group, whether somebody commits to it, and of an offset
// that is not C whether a record lies between. Never does it show that the job has
// ended: the group of a KafkaSource is Empty while the job runs.
//
// [PrepareRewrite] makes a new savepoint out of an old one, whose source goes on
// where a Rewrite says: the way back for a job whose topics something else has copied
// meanwhile.
//
// # What it reads
//
// Metadata versions 2 to 6 (Flink 1.3 to 2.x), savepoints in canonical and
// native format, retained checkpoints of every state backend, state inline or
// in files, relative and absolute paths, merged files (Flink 1.20+) and
// snapshot compression. Of the operators, every source of flink-connector-kafka up
// to 5.0: the KafkaSource (FLIP-27), the DynamicKafkaSource, whose partitions say
// of which cluster they are ([Snapshot.InCluster]), and the FlinkKafkaConsumer,
// whose last offsets read become next offsets. An operator is taken for one of them
// only when every element of its state parses to the last byte, since nothing in
// the file names the kind of a source.
//
// # What it does not do
//
// It does not read what no release of the connector has written: a newer version
// of any form is an [ErrUnsupported], since what is left could be taken for all. It
// does not judge whether positions fit the brokers, and it does not choose between
// sources: [Snapshot.Source] wants one named when there are several, and they are
// never merged.
//
// # What it guarantees
//
//   - Never fewer partitions: what cannot be read is an error that says where
//     and why. There is no partial result.
//   - A partition that only the enumerator knows is reported as such, without a
//     C ([offsetmap.AssignmentState]).
//   - The positions are as the state says. What makes them unfit by itself (an
//     unaligned checkpoint's records in flight, a finished source) stands in
//     [Snapshot.Warnings] for the caller to judge by [WarningCode.Unfit].
//   - Only _metadata and the files that hold positions (and with [WithSinkFiles]
//     those of sinks) are opened, each once, inside the folder of _metadata or a
//     target of [WithPathMap]. Files of keyed state, however large, are not
//     touched, and what is no regular file is not waited for.
//   - Input may be hostile. Counts and lengths are held against what is left of
//     the file, so memory stays within a multiple of the bytes read: twice for
//     a real savepoint of many partitions, some 40 times for a file that was
//     made to take most. No byte of a file is the state of two subtasks. Java
//     serialization is never run.
//   - Names in errors are quoted where they would act on a terminal or break a
//     line: the state, the folder and the caller may name anything.
//
// The layout of the bytes is that of Flink's MetadataV2Serializer to
// MetadataV6Serializer, DefaultOperatorStateBackendSnapshotStrategy,
// KafkaPartitionSplitSerializer, KafkaSourceEnumStateSerializer, their Dynamic
// counterparts, and FlinkKafkaConsumerBase's list of partitions by Kryo 2.24.
package flinkstate
