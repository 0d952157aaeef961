package flinkstate

import (
	"encoding/binary"
	"fmt"
)

// sourceReader gathers what the readers of one operator hold. What kind of
// source they read is known only when all elements were seen.
type sourceReader struct {
	op     *operator
	topics *topicTable
	splits []split

	dynamic int      // elements of a DynamicKafkaSource
	newer   *foreign // the first that may be of a newer KafkaSource
	other   int      // elements of anything else
	first   *foreign // the first that is no split of a KafkaSource
}

// foreign is an element that is no split of a KafkaSource.
type foreign struct {
	file    string
	at      int64
	subtask int
	index   int
	version int32
}

func newSourceReader(op *operator) *sourceReader {
	r := &sourceReader{op: op}
	if len(op.readers) == 0 && op.coordinator == nil {
		return r // nothing will be read, and there may be thousands
	}
	n := 0
	for i := range op.readers {
		n += op.readers[i].count()
	}
	r.topics, r.splits = newTopicTable(), make([]split, 0, n)
	return r
}

// read takes the elements of one subtask from the stream that holds them.
func (r *sourceReader) read(h *stateHandle, src bytesAt) error {
	return h.elements(r.op.ID, src, func(b []byte, at int64, i int) {
		r.element(b, src.file, at, h.subtask, i)
	})
}

// element takes one element: a version, a length and a split
// (SimpleVersionedSerialization.writeVersionAndSerialize).
func (r *sourceReader) element(b []byte, file string, at int64, subtask, i int) {
	if len(b) < 8 || int(binary.BigEndian.Uint32(b[4:])) != len(b)-8 {
		r.foreign(&foreign{file, at, subtask, i, -1}, nil)
		return
	}
	version := int32(binary.BigEndian.Uint32(b))
	if version == 0 {
		n := len(r.splits)
		r.splits = append(r.splits, split{subtask: int32(subtask), state: splitHeld})
		if r.splits[n].parse(b[8:], r.topics) {
			return
		}
		r.splits = r.splits[:n]
	}
	r.foreign(&foreign{file, at, subtask, i, version}, b[8:])
}

func (r *sourceReader) foreign(f *foreign, b []byte) {
	if r.first == nil {
		r.first = f
	}
	switch {
	case isDynamicSplit(f.version, b):
		r.dynamic++
	case isNewerSplit(f.version, b):
		r.other++
		if r.newer == nil {
			r.newer = f
		}
	default:
		r.other++
	}
}

func (f *foreign) structure(op *operator) string {
	return structure(op.ID, f.subtask, "", fmt.Sprintf("%s %d", elementWhat, f.index))
}

func (f *foreign) corrupt(op *operator, reason string) error {
	return &CorruptError{File: f.file, Offset: f.at, Structure: f.structure(op), Reason: reason}
}

func (f *foreign) unsupported(op *operator, what string) error {
	return &UnsupportedError{File: f.file, Offset: f.at, Structure: f.structure(op), What: what}
}
