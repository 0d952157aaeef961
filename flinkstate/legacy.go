package flinkstate

import (
	"encoding/binary"
	"math"
)

// Numbers that the FlinkKafkaConsumer stores where it has no offset
// (KafkaTopicPartitionStateSentinel).
const (
	legacyNotSet   = -915623761776
	legacyEarliest = -915623761775
	legacyLatest   = -915623761774
	legacyGroup    = -915623761773
)

// legacyClass is the class that Kryo writes in front of a partition when it is
// not registered.
const legacyClass = "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"

// legacyElement is one partition of a FlinkKafkaConsumer: what TupleSerializer
// writes with a KryoSerializer for the partition and a LongSerializer for the
// offset.
type legacyElement struct {
	topic     []byte
	partition int32
	last      int64 // the offset of the last record read, or a sentinel
}

// parse reports false unless b is an element to its last byte.
func (e *legacyElement) parse(b []byte) bool {
	k := kryoReader{b: b}
	e.read(&k)
	return k.ok() && k.off == len(b)
}

// legacySize returns the length of the element that b starts with, -1 when it
// starts with none.
func legacySize(b []byte) int {
	var e legacyElement
	k := kryoReader{b: b}
	if e.read(&k); !k.ok() {
		return -1
	}
	return k.off
}

// read reads the fields in the order of Kryo's FieldSerializer, which is that of
// their names: cachedHash, partition, topic.
func (e *legacyElement) read(k *kryoReader) {
	// The id of the class depends on what else the job has registered.
	if class := k.varint(); class < 2 {
		if class != 1 || k.varint() != 0 || string(k.str()) != legacyClass {
			k.fail()
		}
	}
	k.notNull()
	k.varint() // cachedHash
	e.partition = k.zigzag()
	k.notNull()
	e.topic = k.str()
	e.last = k.i64()
}

// next returns C, which is one more than the offset of the last record read, or
// the number that a split of a KafkaSource has in its place. It reports false
// for an offset behind which there is no other.
func (e *legacyElement) next() (int64, bool) {
	switch {
	case e.last == math.MaxInt64:
		return 0, false
	case e.last >= -1:
		return e.last + 1, true
	}
	switch e.last {
	case legacyNotSet:
		return offsetMigrated, true
	case legacyEarliest:
		return offsetEarliest, true
	case legacyLatest:
		return offsetLatest, true
	case legacyGroup:
		return offsetCommitted, true
	default:
		return offsetUnknown, true
	}
}

// kryoReader reads what Kryo 2.24 writes, the version that Flink has. The first
// failure sticks.
type kryoReader struct {
	b      []byte
	off    int
	failed bool
}

func (k *kryoReader) ok() bool { return !k.failed }

func (k *kryoReader) fail() { k.failed = true }

func (k *kryoReader) byte() byte {
	if k.failed || k.off == len(k.b) {
		k.failed = true
		return 0
	}
	k.off++
	return k.b[k.off-1]
}

// varint reads an int of one to five bytes, the lowest seven bits first.
func (k *kryoReader) varint() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		x := k.byte()
		v |= uint64(x&0x7f) << shift
		if x < 0x80 {
			if v > math.MaxUint32 {
				k.failed = true
			}
			return uint32(v)
		}
	}
	k.failed = true
	return 0
}

// zigzag reads an int that may be negative.
func (k *kryoReader) zigzag() int32 {
	v := k.varint()
	return int32(v>>1) ^ -int32(v&1)
}

// notNull reads the marker of an object that is met for the first time. A new
// stream begins with each element, so none is met again.
func (k *kryoReader) notNull() {
	if k.byte() != 1 {
		k.failed = true
	}
}

// str reads a string of ASCII characters; a name of Kafka or Java has no others.
// Two to 63 of them stand as they are, bit 7 set on the last. Otherwise one more
// than their number goes before them.
func (k *kryoReader) str() []byte {
	first := k.byte()
	if k.failed {
		return nil
	}
	if first < 0x80 {
		from := k.off - 1
		for x := first; x < 0x80; {
			if x = k.byte(); k.failed {
				return nil
			}
		}
		s := append([]byte(nil), k.b[from:k.off]...)
		s[len(s)-1] &= 0x7f
		return s
	}
	// Six bits of the number are in the first byte, whose bit 6 says that more
	// follow.
	n := int(first & 0x3f)
	if first&0x40 != 0 {
		n |= int(k.varint()) << 6
	}
	if n--; k.failed || n < 1 || n > len(k.b)-k.off {
		k.failed = true
		return nil
	}
	s := k.b[k.off : k.off+n]
	k.off += n
	for _, x := range s {
		if x >= 0x80 {
			k.failed = true
		}
	}
	return s
}

func (k *kryoReader) i64() int64 {
	if k.failed || len(k.b)-k.off < 8 {
		k.failed = true
		return 0
	}
	k.off += 8
	return int64(binary.BigEndian.Uint64(k.b[k.off-8:]))
}
