package flinkstate

import (
	"cmp"
	"encoding/binary"
	"fmt"
)

// sourceReader gathers what the readers of one operator hold. What kind of
// source they read is known only when all elements were seen.
type sourceReader struct {
	op     *operator
	topics *topicTable
	splits splitList

	dynamic int      // splits of a DynamicKafkaSource
	hybrid  bool     // an element wraps a split of a KafkaSource
	newer   *foreign // the first that may be a split of a newer connector
	other   int      // elements of anything else
	first   *foreign // the first of dynamic and other
}

// foreign is an element that is no split of a KafkaSource, or no offset of a
// FlinkKafkaConsumer.
type foreign struct {
	state   string
	file    string
	at      int64
	subtask int
	index   int
	version int32
}

func newSourceReader(op *operator) *sourceReader {
	r := &sourceReader{op: op}
	if len(op.readers) == 0 && len(op.legacy) == 0 && op.coordinator == nil {
		return r // nothing will be read, and there may be thousands
	}
	n := 0
	for _, handles := range [][]stateHandle{op.readers, op.legacy} {
		for i := range handles {
			n += handles[i].count()
		}
	}
	r.topics, r.splits = newTopicTable(), newSplitList(n)
	return r
}

// read takes the elements of one subtask from the stream that holds them.
func (r *sourceReader) read(h *stateHandle, src bytesAt) error {
	each := func(b []byte, at int64, i int) { r.element(b, src.file, at, h.subtask, i) }
	if h.name == legacyState {
		each = func(b []byte, at int64, i int) { r.legacyElement(b, src.file, at, h.subtask, i) }
	}
	return h.elements(r.op.ID, src, each)
}

// fail returns the error: without the state of one subtask positions are unknown.
func (r *sourceReader) fail(_ *stateHandle, err error) error { return err }

func (r *sourceReader) fork(elements int) stateReader {
	return &sourceReader{op: r.op, topics: newTopicTable(), splits: newSplitList(elements)}
}

func (r *sourceReader) join(fork stateReader) {
	f := fork.(*sourceReader)
	r.splits.join(&f.splits, r.topics.join(f.topics))
	r.dynamic, r.other, r.hybrid = r.dynamic+f.dynamic, r.other+f.other, r.hybrid || f.hybrid
	r.first, r.newer = cmp.Or(r.first, f.first), cmp.Or(r.newer, f.newer)
}

// element takes one element: a version, a length and a split
// (SimpleVersionedSerialization.writeVersionAndSerialize).
func (r *sourceReader) element(b []byte, file string, at int64, subtask, i int) {
	if len(b) < 8 || int(binary.BigEndian.Uint32(b[4:])) != len(b)-8 {
		r.foreign(&foreign{readerState, file, at, subtask, i, -1}, nil)
		return
	}
	version := int32(binary.BigEndian.Uint32(b))
	if version == 0 && r.topics.cluster == "" && r.splits.usual() && r.usual(b[8:], int32(subtask)) {
		return
	}
	s := split{subtask: int32(subtask), state: splitHeld}
	switch {
	case version == 0 && r.topics.cluster == "" && s.parse(b[8:], r.topics):
		r.splits.add(&s)
		return
	case version == 1 && s.parseDynamic(b[8:], r.topics):
		r.splits.add(&s)
		if r.dynamic++; r.first == nil {
			r.first = &foreign{readerState, file, at, subtask, i, version}
		}
		return
	}
	r.foreign(&foreign{readerState, file, at, subtask, i, version}, b[8:])
}

// usual takes a split of version 0 without a stopping offset, which nearly all are. It
// reports false for all others, and for what is none.
func (r *sourceReader) usual(b []byte, subtask int32) bool {
	if len(b) < splitFixed {
		return false
	}
	n := len(b) - splitFixed
	fixed := b[2+n:]
	partition, stop := int32(binary.BigEndian.Uint32(fixed)), int64(binary.BigEndian.Uint64(fixed[12:]))
	if int(binary.BigEndian.Uint16(b)) != n || partition < 0 || stop != noStop {
		return false
	}
	topic, ok := r.topics.id(b[2 : 2+n])
	if ok {
		r.splits.addUsual(splitFields{int64(binary.BigEndian.Uint64(fixed[4:])), topic, partition}, subtask)
	}
	return ok
}

func (r *sourceReader) foreign(f *foreign, b []byte) {
	if r.first == nil {
		r.first = f
	}
	r.other++
	r.hybrid = r.hybrid || hybridWrapsKafka(f.version, b)
	if r.newer == nil && (isNewerSplit(f.version, b) || isNextDynamicSplit(f.version, b)) {
		r.newer = f
	}
}

func (f *foreign) structure(op *operator) string {
	return structure(op.ID, f.subtask, "", fmt.Sprintf("%s element %d", f.state, f.index))
}

func (f *foreign) corrupt(op *operator, reason string) error {
	return &CorruptError{File: f.file, Offset: f.at, Structure: f.structure(op), Reason: reason}
}

func (f *foreign) unsupported(op *operator, what string) error {
	return &UnsupportedError{File: f.file, Offset: f.at, Structure: f.structure(op), What: what}
}
