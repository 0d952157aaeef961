package flinkstate

import (
	"encoding/binary"
	"math"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Numbers that a split holds where it has no offset (KafkaPartitionSplit).
const (
	offsetLatest    = -1
	offsetEarliest  = -2
	offsetCommitted = -3
	offsetMigrated  = math.MinInt64
	offsetUnknown   = math.MinInt64 + 1 // of a FlinkKafkaConsumer, which has numbers of its own
	noStop          = math.MinInt64
	noStart         = offsetMigrated // of an enumerator that stores none
)

// split is one partition as a reader or an enumerator knows it.
type split struct {
	start, stop int64
	topic       uint32 // of topicTable
	partition   int32
	subtask     int32 // of the reader, fromEnumerator for none
	state       splitState
}

const fromEnumerator = -1

type splitState uint8

const (
	splitHeld       splitState = iota + 1 // by a reader; start is C or a marker
	splitAssigned                         // by the enumerator, and no reader holds it
	splitUnassigned                       // likewise, and it was never handed out
)

// splitFixed is the size of a split beside the bytes of its topic: the length
// of the topic, partition, starting and stopping offset.
const splitFixed = 2 + 4 + 8 + 8

// parse reads what KafkaPartitionSplitSerializer version 0 writes. It reports
// false unless the bytes are a split to the last one.
func (s *split) parse(b []byte, topics *topicTable) bool {
	if len(b) < splitFixed {
		return false
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b) != n+splitFixed {
		return false
	}
	fixed := b[2+n:]
	s.partition = int32(binary.BigEndian.Uint32(fixed))
	s.start = int64(binary.BigEndian.Uint64(fixed[4:]))
	s.stop = int64(binary.BigEndian.Uint64(fixed[12:]))
	var ok bool
	s.topic, ok = topics.id(b[2 : 2+n])
	return ok && s.partition >= 0 && legalStop(s.stop)
}

// legalStop reports whether KafkaPartitionSplit takes v as a stopping offset.
// Any starting offset is taken: one that has no meaning is a position that is
// unknown, not a reason to overlook the partition.
func legalStop(v int64) bool {
	return v >= 0 || v == noStop || v == offsetLatest || v == offsetCommitted
}

// marker names a starting offset that is no offset.
func marker(start int64) offsetmap.Marker {
	switch start {
	case offsetEarliest:
		return offsetmap.Earliest
	case offsetLatest:
		return offsetmap.Latest
	case offsetCommitted:
		return offsetmap.Committed
	case offsetMigrated:
		return offsetmap.Unset
	default:
		return offsetmap.Unknown
	}
}

// isNewerSplit reports whether b, a split of serializer version v, starts as the
// split of a KafkaSource does, though no version but 0 is known. Passing it over
// as another source's could lose partitions. Splits of other sources begin with a
// name as well (FileSourceSplitSerializer, RocketMQ's, Paimon's), behind which text
// or objects of Java stand; read as a partition and offsets those give numbers that
// no topic has.
func isNewerSplit(v int32, b []byte) bool {
	const partitions, records = 1 << 16, 1 << 56 // more than any topic has
	c := newCursor("", 0, b)
	name := c.raw("topic")
	partition, start, stop := c.i32("partition"), c.i64("start"), c.i64("stop")
	return v > 0 && c.err == nil && 0 <= partition && partition < partitions && offsetmap.ValidateTopic(string(name)) == nil &&
		start < records && (start >= 0 || marker(start) != offsetmap.Unknown) && stop < records && legalStop(stop)
}
