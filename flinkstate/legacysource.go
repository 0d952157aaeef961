package flinkstate

import (
	"fmt"
)

const (
	skippedEmpty     = "is a FlinkKafkaConsumer whose list of offsets is empty"
	skippedNotLegacy = "holds state %s whose elements are not those of a FlinkKafkaConsumer (the first: byte %d of %s), so its kind cannot be told"
)

// legacyElement takes one element of a FlinkKafkaConsumer's list.
func (r *sourceReader) legacyElement(b []byte, file string, at int64, subtask, i int) {
	var e legacyElement
	if e.parse(b) && e.partition >= 0 {
		start, ok := e.next()
		if topic, legal := r.topics.id(e.topic); ok && legal {
			r.splits.add(&split{
				start: start, stop: noStop, topic: topic, partition: e.partition,
				subtask: int32(subtask), state: splitHeld,
			})
			return
		}
	}
	if r.other++; r.first == nil {
		r.first = &foreign{legacyState, file, at, subtask, i, -1}
	}
}

// legacySource decides what an operator with the state of a FlinkKafkaConsumer
// is. That has no enumerator: what the list does not name, nobody knows.
func (r *sourceReader) legacySource(m *metadata) (*Source, []Warning, error) {
	op := r.op
	switch held := r.splits.len(); {
	case len(op.readers) > 0:
		return nil, nil, op.corrupt(fmt.Sprintf("it has the state of a FlinkKafkaConsumer, %s, and that of another source, %s", legacyState, readerState))
	case op.legacyOld > 0:
		return nil, nil, op.unsupported(fmt.Sprintf("offsets of a FlinkKafkaConsumer as Flink 1.2 stored them: %d elements of state %s", op.legacyOld, legacyOldState))
	case held > 0 && r.other > 0:
		return nil, nil, r.first.corrupt(op, fmt.Sprintf("not an offset of a FlinkKafkaConsumer to its last byte, as %d others of the operator are", held))
	case r.other > 0:
		op.Skipped = fmt.Sprintf(skippedNotLegacy, legacyState, r.first.at, r.first.file)
		return nil, []Warning{op.warn(SourceUnidentified, "the operator "+op.Skipped)}, nil
	case held == 0:
		op.Skipped = skippedEmpty
		return nil, []Warning{op.warn(OffsetsEmpty, "the list of offsets of this FlinkKafkaConsumer is empty, which says nothing of what it has read: from Flink 1.15 on a stop with savepoint without a checkpoint before it leaves that")}, nil
	}
	if err := r.mergeUnion(); err != nil {
		return nil, nil, err
	}
	ix, err := r.index()
	if err != nil {
		return nil, nil, err
	}
	return op.source(FlinkKafkaConsumer, ix), r.legacyWarnings(m), nil
}

// mergeUnion leaves one of the copies of a partition that several subtasks may
// hold, since the list is a union. Copies that differ are refused: which of the
// offsets is right, the state does not say. So is a partition that one subtask has
// twice, which Flink writes out of a map: another one is damaged to its name.
func (r *sourceReader) mergeUnion() error {
	type key struct {
		topic     uint32
		partition int32
	}
	first := make(map[key]int, r.splits.len())
	var kept []split
	for s := range r.splits.all() {
		k := key{s.topic, s.partition}
		i, copied := first[k]
		switch {
		case !copied:
			first[k] = len(kept)
			kept = append(kept, s)
		case kept[i].subtask == s.subtask:
			return r.op.corrupt(fmt.Sprintf("%s: partition %s-%d is there twice in subtask %d, %s and %s",
				legacyState, r.topics.names[s.topic], s.partition, s.subtask, stands(kept[i].start), stands(s.start)))
		case kept[i].start != s.start:
			return r.op.corrupt(fmt.Sprintf("%s: partition %s-%d is there with different offsets: subtask %d says %s, subtask %d says %s",
				legacyState, r.topics.names[s.topic], s.partition, kept[i].subtask, stands(kept[i].start), s.subtask, stands(s.start)))
		}
	}
	r.splits = newSplitList(len(kept))
	for i := range kept {
		r.splits.add(&kept[i])
	}
	return nil
}

// stands says in words where a split stands.
func stands(start int64) string {
	if start < 0 {
		return "unread, " + marker(start).String()
	}
	return fmt.Sprintf("next offset %d", start)
}

func (r *sourceReader) legacyWarnings(m *metadata) []Warning {
	op := r.op
	var ws []Warning
	if why := staleReason(m); why != "" {
		ws = append(ws, op.warn(OffsetsMayBeStale, why))
	}
	n := op.Parallelism - len(op.legacy)
	if n > 0 {
		ws = append(ws, op.warn(SubtaskMissing, fmt.Sprintf("subtasks that have not stored which partitions they read: %d of %d, of which %d had finished", n, op.Parallelism, len(op.FinishedSubtasks))))
	}
	return ws
}

// oldestStaleMetadata is the first metadata version that Flink 1.15 may have
// written. It is the first of which a stop with savepoint cancels the
// FlinkKafkaConsumer before its state is written.
const oldestStaleMetadata = 3

// staleReason says why offsets of a FlinkKafkaConsumer may be behind what the job
// had copied when its state was written. It is empty when they are not.
func staleReason(m *metadata) string {
	const stop = "a stop with savepoint cancels this source before its state is written, so that the offsets may be those of the last checkpoint, behind what the target holds"
	switch {
	case m.version < oldestStaleMetadata, m.kind == KindCheckpoint, m.kind == KindSavepoint:
		return ""
	case m.kind.Stopped():
		return "from Flink 1.15 on " + stop
	default:
		return fmt.Sprintf("if Flink 1.15 or later wrote this for a stop, %s; which it was is not known: %s", stop, m.kindReason)
	}
}
