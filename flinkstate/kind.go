package flinkstate

import "fmt"

// SnapshotKind says what Flink was asked for when it wrote the state. It says
// nothing of what became of the job afterwards: a stop can fail after its
// savepoint was complete, and the job then runs on.
type SnapshotKind string

const (
	// KindUnknown is what files give that do not say it, or not in a form that
	// is known. [Snapshot.KindReason] says which.
	KindUnknown SnapshotKind = "unknown"
	// KindCheckpoint is a retained checkpoint.
	KindCheckpoint SnapshotKind = "checkpoint"
	// KindSavepoint is a savepoint after which the job went on. From Flink 1.15
	// on it does not commit the transactions of exactly-once sinks (FLIP-203).
	KindSavepoint SnapshotKind = "savepoint"
	// KindStopWithSavepoint is the savepoint of a stop without drain
	// (PostCheckpointAction SUSPEND).
	KindStopWithSavepoint SnapshotKind = "stop-with-savepoint"
	// KindStopWithDrain is that of a stop which drained the pipeline
	// (PostCheckpointAction TERMINATE): event time ran to its end.
	KindStopWithDrain SnapshotKind = "stop-with-drain"
)

// Stopped reports whether the savepoint was taken to stop the job.
func (k SnapshotKind) Stopped() bool {
	return k == KindStopWithSavepoint || k == KindStopWithDrain
}

// Classes of org.apache.flink.runtime.checkpoint that say the kind. Flink
// restores by these names, so they cannot change.
const (
	classProperties = "org.apache.flink.runtime.checkpoint.CheckpointProperties"
	classCheckpoint = "org.apache.flink.runtime.checkpoint.CheckpointType"
	classSavepoint  = "org.apache.flink.runtime.checkpoint.SavepointType"
	classAction     = "org.apache.flink.runtime.checkpoint.SavepointType$PostCheckpointAction"
)

// KindVersion is the first metadata version that stores the kind, in its
// CheckpointProperties (MetadataV4Serializer, Flink 1.16).
const KindVersion = 4

// snapshotKind reads the kind out of the properties that end the metadata. It
// follows the fields and believes no name that stands elsewhere in the stream.
func snapshotKind(properties *javaObject) (kind SnapshotKind, reason string) {
	unknown := func(format string, args ...any) (SnapshotKind, string) {
		return KindUnknown, fmt.Sprintf(format, args...)
	}
	if properties == nil {
		return unknown("the checkpoint properties hold no object in a form that is known")
	}
	if properties.class != classProperties {
		return unknown("the checkpoint properties are of class %q, not %s", properties.class, classProperties)
	}
	t := properties.field("checkpointType")
	if t == nil {
		return unknown("the checkpoint properties have no field checkpointType")
	}
	switch t.class {
	case classCheckpoint:
		return KindCheckpoint, ""
	case classSavepoint:
	default:
		return unknown("the checkpoint type is of class %q, neither %s nor %s", t.class, classCheckpoint, classSavepoint)
	}
	action := t.field("postCheckpointAction")
	if action == nil || action.class != classAction {
		return unknown("the savepoint type does not say what was to follow the savepoint")
	}
	switch action.text {
	case "NONE":
		return KindSavepoint, ""
	case "SUSPEND":
		return KindStopWithSavepoint, ""
	case "TERMINATE":
		return KindStopWithDrain, ""
	default:
		return unknown("%q, which was to follow the savepoint, is none of NONE, SUSPEND and TERMINATE", action.text)
	}
}
