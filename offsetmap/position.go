package offsetmap

// Position is where the old job stood in one partition, as its state says it:
// a next offset, or the reason why there is none.
type Position struct {
	TopicPartition

	// Next is C, the next offset to read, whatever the state itself stores.
	// It is none when Unread or State says why.
	Next NextOffset `json:"next,omitzero"`

	// Unread is the marker of a split that has not emitted a record yet.
	// Empty when Next is known.
	Unread Marker `json:"unread,omitempty"`

	// Stop is the exclusive stopping offset of a bounded split, none for the
	// usual unbounded one.
	Stop NextOffset `json:"stop,omitzero"`

	// State says that no reader holds the partition and only the enumerator
	// knows it. Empty when a reader holds it.
	State AssignmentState `json:"state,omitempty"`

	// Start is where an enumerator-only split would have started: a number
	// that must never be taken for C. None where the state has no number.
	Start NextOffset `json:"start,omitzero"`
}

// Marker says why a split has no next offset: the negative number that it
// stores before its first record (KafkaPartitionSplit of flink-connector-kafka,
// KafkaTopicPartitionStateSentinel of the legacy consumer).
type Marker string

const (
	Earliest  Marker = "earliest"  // -2
	Latest    Marker = "latest"    // -1
	Committed Marker = "committed" // -3
	Unset     Marker = "unset"     // the smallest int64 (MIGRATED), or "not set" of the legacy consumer
	Unknown   Marker = "unknown"   // any other negative number
)

// AssignmentState says what the enumerator of a source knows of a partition
// that no reader holds.
type AssignmentState string

const (
	// Unassigned: nothing of the partition has been read.
	Unassigned AssignmentState = "unassigned"
	// FinishedOrUnassigned: the split reached its stopping offset and left the
	// reader, or its reader has finished, or it was never handed out.
	FinishedOrUnassigned AssignmentState = "finished-or-unassigned"
)
