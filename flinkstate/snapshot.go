package flinkstate

import (
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Snapshot is what a savepoint or checkpoint says about the sources of a job.
// Its slices are sorted, so equal files give equal snapshots.
type Snapshot struct {
	// Location is the path of the metadata file that was read: inside the
	// fs.FS for Read, local for ReadDir.
	Location string `json:"location"`

	// MetadataVersion is the version of the metadata format, 2 to 6.
	MetadataVersion int `json:"metadataVersion"`

	// CheckpointID is the number that Flink gave the checkpoint or savepoint.
	CheckpointID int64 `json:"checkpointId"`

	// Kind says whether Flink was asked for a checkpoint, for a savepoint or
	// for a stop with savepoint, from metadata version 4 (Flink 1.16) on.
	Kind SnapshotKind `json:"kind"`
	// KindReason says why Kind is KindUnknown, and is empty otherwise.
	KindReason string `json:"kindReason,omitempty"`

	// Sources holds one entry for each operator that is a source of Kafka, by
	// operator id. Two sources are never merged, even when they share a
	// partition. It is never empty.
	Sources []Source `json:"sources"`

	// Sinks holds what operators with state of a Kafka sink say of transactions
	// on the target, by operator id. It is evidence beside the positions: a sink
	// whose state is not understood is missing here, and its [State] says why.
	Sinks []Sink `json:"sinks,omitempty"`

	// Operators holds every operator of the file, by operator id, the ones of
	// Sources and Sinks included.
	Operators []Operator `json:"operators"`

	// InFlight holds the operators with channel state, by operator id. The
	// sources have passed those records but the sink has not written them, so
	// C is too far. Savepoints never have any; unaligned checkpoints may.
	InFlight []InFlight `json:"inFlight,omitempty"`

	// Files holds every file that was opened, by name.
	Files []File `json:"files"`

	// Warnings holds what a reader of the positions must know, by operator id.
	Warnings []Warning `json:"warnings"`
}

// Kind names the kind of a source.
type Kind string

const (
	// KafkaSource is the FLIP-27 source of flink-connector-kafka
	// (org.apache.flink.connector.kafka.source.KafkaSource), also under SQL.
	KafkaSource Kind = "KafkaSource"
	// DynamicKafkaSource is the source of flink-connector-kafka 3.1 and later
	// that reads from several clusters (FLIP-246).
	DynamicKafkaSource Kind = "DynamicKafkaSource"
	// FlinkKafkaConsumer is the source that KafkaSource replaced, last seen in
	// flink-connector-kafka 3.x. It stores the offset of the last record that it
	// read; positions have C, which is one more.
	FlinkKafkaConsumer Kind = "FlinkKafkaConsumer"
)

// Cluster is one Kafka cluster of a DynamicKafkaSource, as its enumerator knows
// it.
type Cluster struct {
	// ID is what the job's KafkaMetadataService calls the cluster. It need not
	// be the id that the brokers have.
	ID string `json:"id"`
	// BootstrapServers holds the cluster's bootstrap.servers, more than one when
	// streams give it differently.
	BootstrapServers []string `json:"bootstrapServers,omitempty"`
	// Topics holds the topics that streams have there.
	Topics []string `json:"topics,omitempty"`
}

// Discovery says whether the enumerator of a source had seen all partitions
// that existed when the job started.
type Discovery string

const (
	// DiscoveryUnknown is what enumerators before flink-connector-kafka 3.1
	// leave: they do not store it.
	DiscoveryUnknown Discovery = "unknown"
	// DiscoveryFinished means that the first discovery came to its end.
	DiscoveryFinished Discovery = "finished"
	// DiscoveryUnfinished means that partitions may exist which the file does
	// not name.
	DiscoveryUnfinished Discovery = "unfinished"
)

// Source is one operator that reads Kafka.
type Source struct {
	// OperatorID is 32 lower-case hex digits, as Flink prints it.
	OperatorID string `json:"operatorId"`
	// UID is the uid that the job gave the operator. The file has it from
	// metadata version 5 (Flink 2.0) on; before, only its hash, which is
	// OperatorID. Empty when the job gave none.
	UID string `json:"uid,omitempty"`
	// Name is the operator's name, from metadata version 5 on.
	Name string `json:"name,omitempty"`
	// Kind says which source it is.
	Kind Kind `json:"kind"`
	// Parallelism is the number of the operator's subtasks.
	Parallelism int `json:"parallelism"`
	// FinishedSubtasks holds the numbers of the subtasks that had finished
	// (FLIP-147), which leave no splits behind.
	FinishedSubtasks []int `json:"finishedSubtasks,omitempty"`
	// Discovery says whether the enumerator had seen all partitions.
	Discovery Discovery `json:"discovery"`
	// Clusters holds what the enumerator of a DynamicKafkaSource knows of its
	// clusters, by id. Empty for other sources.
	Clusters []Cluster `json:"clusters,omitempty"`
	// Partitions holds each partition that a reader or the enumerator knows,
	// once, by topic, number and cluster. Clusters are told apart for a
	// DynamicKafkaSource alone; [Snapshot.InCluster] takes one.
	Partitions []offsetmap.Position `json:"partitions"`
}

// Operator is one operator of the job.
type Operator struct {
	// ID is 32 lower-case hex digits, as Flink prints it.
	ID string `json:"id"`
	// UID and Name are stored from metadata version 5 (Flink 2.0) on.
	UID  string `json:"uid,omitempty"`
	Name string `json:"name,omitempty"`
	// Parallelism and MaxParallelism are numbers of subtasks and key groups.
	Parallelism    int `json:"parallelism"`
	MaxParallelism int `json:"maxParallelism"`
	// States holds the operator's list and broadcast states, by name.
	States []State `json:"states,omitempty"`
	// Keyed reports whether the operator has keyed state.
	Keyed bool `json:"keyed,omitempty"`
	// Bytes are the sizes of what the operator has stored.
	Bytes Sizes `json:"bytes,omitzero"`
	// BeyondCopying says what of the operator's state contradicts that the job
	// only copies: what may hold records, or the outcome of records, that are not
	// in the target. What is known of a source or sink of Kafka does not.
	BeyondCopying []string `json:"beyondCopying,omitempty"`
	// FullyFinished reports that all subtasks had finished (FLIP-147): nothing
	// of the operator is stored, not even what it was.
	FullyFinished bool `json:"fullyFinished,omitempty"`
	// FinishedSubtasks holds the numbers of the finished ones otherwise.
	FinishedSubtasks []int `json:"finishedSubtasks,omitempty"`
	// Skipped says why the operator is not among the sources, and is empty for
	// one that is.
	Skipped string `json:"skipped,omitempty"`
}

// StateKind says how Flink hands a state out when it restores it
// (OperatorStateHandle.Mode).
type StateKind string

const (
	ListState      StateKind = "list"      // SPLIT_DISTRIBUTE: each element to one subtask
	UnionListState StateKind = "union"     // UNION: all elements to each subtask
	BroadcastState StateKind = "broadcast" // BROADCAST: the same to each subtask
)

// State is one list or broadcast state of an operator, over all subtasks.
type State struct {
	Name string    `json:"name"`
	Kind StateKind `json:"kind"`
	// Elements is the number of elements that the subtasks have stored.
	Elements int `json:"elements"`
	// Holds says what the elements were understood as. It is empty when they
	// were not looked at, or not understood.
	Holds string `json:"holds,omitempty"`
	// NotRead says why elements that a sink of Kafka may have stored were not
	// understood.
	NotRead string `json:"notRead,omitempty"`
}

// Sizes are in bytes, as the handles in the metadata state them. Of incremental
// checkpoints they count shared files in full.
type Sizes struct {
	// Operator is that of list and broadcast states with their headers.
	Operator int64 `json:"operator,omitempty"`
	// Raw is that of raw operator state, which operators write themselves.
	Raw int64 `json:"raw,omitempty"`
	// Keyed is that of managed and raw keyed state.
	Keyed int64 `json:"keyed,omitempty"`
	// Coordinator is that of the operator's coordinator.
	Coordinator int64 `json:"coordinator,omitempty"`
	// Channels is that of records in flight.
	Channels int64 `json:"channels,omitempty"`
}

// InFlight is the channel state of one operator: records that were on their
// way through the job when an unaligned checkpoint was taken.
type InFlight struct {
	OperatorID string `json:"operatorId"`
	UID        string `json:"uid,omitempty"`
	Name       string `json:"name,omitempty"`
	// Handles is the number of channel state handles, of inputs and outputs.
	Handles int `json:"handles"`
	// Bytes is the size of that data, as the handles state it.
	Bytes int64 `json:"bytes"`
}

// File is one file that was opened and read to its end.
type File struct {
	// Name is what the state calls the file: a path relative to the metadata,
	// or an absolute URI, user-info replaced by offsetmap.SecretMark. It does not
	// change when a savepoint is moved. The metadata file has its own name,
	// _metadata as Flink writes it.
	Name string `json:"name"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// SHA256 is that of the whole file, in lower-case hex. It is empty after
	// WithoutHashes.
	SHA256 string `json:"sha256"`
}
