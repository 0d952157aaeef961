package flinkstate

import (
	"cmp"
	"slices"
)

// Warning is something in the state that bears on the use of the positions.
type Warning struct {
	Code WarningCode `json:"code"`
	// OperatorID, UID and Name say which operator it is about.
	OperatorID string `json:"operatorId"`
	UID        string `json:"uid,omitempty"`
	Name       string `json:"name,omitempty"`
	// Text says what was found and what follows from it.
	Text string `json:"text"`
}

// WarningCode says what kind of warning it is.
type WarningCode string

const (
	// RecordsInFlight: the operator has channel state, so records that the
	// sources have passed are not in the target.
	RecordsInFlight WarningCode = "records-in-flight"
	// OperatorFinished: all subtasks of an operator have finished and nothing
	// of it is stored. It may have been a source.
	OperatorFinished WarningCode = "operator-finished"
	// SourceFinished: no reader of the source holds a split any more, though
	// its enumerator had assigned some. A bounded source reached its end.
	SourceFinished WarningCode = "source-finished"
	// SplitsFinished: the enumerator had assigned partitions that no reader
	// holds, beside others that are held.
	SplitsFinished WarningCode = "splits-finished"
	// SubtasksFinished: some subtasks of the source have finished.
	SubtasksFinished WarningCode = "subtasks-finished"
	// SubtaskMissing: a subtask of the source has not finished and yet has no
	// reader state.
	SubtaskMissing WarningCode = "subtask-missing"
	// DiscoveryNotFinished: partitions may exist that the state does not name.
	DiscoveryNotFinished WarningCode = "discovery-not-finished"
	// EnumeratorMissing: the source has no enumerator state, so partitions
	// that no reader holds are not known.
	EnumeratorMissing WarningCode = "enumerator-missing"
	// SourceUnidentified: an operator reads some source but holds no split and
	// names no partition, so that its kind cannot be told; or it reads Kafka by a
	// HybridSource, whose splits are not read.
	SourceUnidentified WarningCode = "source-unidentified"
	// SplitsBounded: splits have stopping offsets, where the job would have
	// ended. Whatever goes on from C does not end there.
	SplitsBounded WarningCode = "splits-bounded"
	// PartitionsShared: two sources hold the same partition.
	PartitionsShared WarningCode = "partitions-shared"
	// OffsetsEmpty: the list of offsets of a FlinkKafkaConsumer is empty. From
	// Flink 1.15 on a stop with savepoint leaves that when no checkpoint came
	// before it, whatever had been copied.
	OffsetsEmpty WarningCode = "offsets-empty"
	// OffsetsMayBeStale: the offsets of a FlinkKafkaConsumer may be those of the
	// last checkpoint, behind what the job had copied. From Flink 1.15 on a stop
	// with savepoint cancels that source before its state is written.
	OffsetsMayBeStale WarningCode = "offsets-may-be-stale"
	// SeveralClusters: a DynamicKafkaSource holds partitions of several clusters.
	// Positions are of one; [Snapshot.InCluster] takes it.
	SeveralClusters WarningCode = "several-clusters"
)

// Unfit reports whether a warning of this code makes the positions unfit for a
// plan by itself, whatever the brokers say: something was passed and is not in
// the target, or it cannot be told what has been read. The other codes are
// borne out partition by partition.
func (c WarningCode) Unfit() bool {
	switch c {
	case RecordsInFlight, OperatorFinished, SourceFinished, SplitsFinished, SubtaskMissing,
		DiscoveryNotFinished, SourceUnidentified, PartitionsShared,
		OffsetsEmpty, OffsetsMayBeStale, SeveralClusters:
		return true
	default:
		return false
	}
}

func sortWarnings(ws []Warning) {
	slices.SortFunc(ws, func(a, b Warning) int {
		return cmp.Or(
			cmp.Compare(a.OperatorID, b.OperatorID),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Text, b.Text),
		)
	})
}
