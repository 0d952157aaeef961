package flinkstate

import (
	"encoding/binary"
	"math"
	"unicode/utf16"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// addToReaders gives the partitions that are to be added to the reader that holds the
// fewest, and reports whether it could. Which reader it is does not matter: a restored
// job deals the splits of a KafkaSource out to its readers as they stand, and each
// subtask of a FlinkKafkaConsumer picks its own out of all.
func (w *rewriting) addToReaders() bool {
	whole := offsetmap.TopicPartition{}
	switch {
	case w.src.Kind == DynamicKafkaSource:
		w.problem(FormNotWritten, whole, "partitions cannot be added to a DynamicKafkaSource: %d, the first of them %v", len(w.added), w.added[0])
		return false
	case w.src.Kind == KafkaSource && w.op.coordinator == nil:
		w.problem(FormNotWritten, whole, "there is no enumerator state to which the added partitions could be told")
		return false
	case w.src.Kind == KafkaSource && w.enumVersion() == enumBySubtask:
		w.problem(FormNotWritten, whole, "partitions cannot be added to enumerator state version 0 (Flink 1.12), which has splits by subtask")
		return false
	}
	var to *rewrittenState
	for _, s := range w.states {
		if to == nil || len(s.elements)+len(s.added) < len(to.elements)+len(to.added) {
			to = s
		}
	}
	if to == nil {
		w.problem(FormNotWritten, whole, "no reader holds a split beside which others could be added")
		return false
	}
	for _, tp := range w.added {
		next := w.request.Next[tp]
		body := framedSplit(tp, next)
		if w.src.Kind == FlinkKafkaConsumer {
			body = legacyBytes(to.elements[0].body, tp, next)
		}
		to.added = append(to.added, body)
		to.changed = true
		w.changes = append(w.changes, SplitChange{TopicPartition: tp, Cluster: w.cluster, How: SplitAdded, To: next, Subtask: to.handle.subtask})
	}
	return true
}

func appendUTF(b []byte, s string) []byte { // names of topics are ASCII
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// splitBytes is a split without a stopping offset, as KafkaPartitionSplitSerializer
// version 0 writes it.
func splitBytes(tp offsetmap.TopicPartition, next offsetmap.NextOffset) []byte {
	start, _ := next.Value()
	b := appendUTF(nil, tp.Topic)
	b = binary.BigEndian.AppendUint32(b, uint32(tp.Partition))
	b = binary.BigEndian.AppendUint64(b, uint64(start))
	stop := int64(noStop)
	return binary.BigEndian.AppendUint64(b, uint64(stop))
}

// framedSplit is one behind its version and length
// (SimpleVersionedSerialization.writeVersionAndSerialize).
func framedSplit(tp offsetmap.TopicPartition, next offsetmap.NextOffset) []byte {
	s := splitBytes(tp, next)
	b := binary.BigEndian.AppendUint32(make([]byte, 4), uint32(len(s)))
	return append(b, s...)
}

// legacyBytes is an element of a FlinkKafkaConsumer's list. The class before it is that
// of a sibling, since its number depends on what else the job had registered.
func legacyBytes(sibling []byte, tp offsetmap.TopicPartition, next offsetmap.NextOffset) []byte {
	k := kryoReader{b: sibling}
	if k.varint() == 1 { // the class by name
		k.varint()
		k.str()
	}
	b := append([]byte(nil), sibling[:k.off]...)
	b = append(b, 1)
	b = appendZigzag(b, 31*javaHash(tp.Topic)+tp.Partition) // KafkaTopicPartition.cachedHash
	b = appendZigzag(b, tp.Partition)
	b = append(b, 1)
	b = appendKryoString(b, tp.Topic)
	c, _ := next.Value()
	return binary.BigEndian.AppendUint64(b, uint64(c-1))
}

func javaHash(s string) int32 {
	h := int32(0)
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

func appendZigzag(b []byte, v int32) []byte { return appendVarint(b, uint32(v)<<1^uint32(v>>31)) }

func appendVarint(b []byte, v uint32) []byte {
	for v > math.MaxInt8 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendKryoString writes ASCII as Kryo 2.24 does (Output.writeString).
func appendKryoString(b []byte, s string) []byte {
	if 1 < len(s) && len(s) < 64 {
		b = append(b, s...)
		b[len(b)-1] |= 0x80
		return b
	}
	n := uint32(len(s) + 1)
	if n < 1<<6 {
		return append(append(b, byte(n)|0x80), s...)
	}
	b = append(b, byte(n&0x3f)|0xc0)
	b = appendVarint(b, n>>6)
	return append(b, s...)
}
