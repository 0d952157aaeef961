package flinkstate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// edit replaces the bytes from a place to another.
type edit struct {
	from, to int
	with     []byte
}

// splice makes edits, which do not overlap.
func splice(b []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(b[at:e.from])
		out.Write(e.with)
		at = e.to
	}
	out.Write(b[at:])
	return out.Bytes()
}

// rewrittenState is the state of one subtask that holds splits.
type rewrittenState struct {
	handle   *stateHandle
	place    *handlePlace
	src      bytesAt
	elements []stateElement
	changed  bool
	added    [][]byte // elements
}

// stateElement is one element of a list state, without the length before it.
type stateElement struct {
	from, to int // bytes of the stream
	body     []byte
	changed  bool
}

// form says how the elements of a stream stand in it.
type form uint8

const (
	plainForm     form = iota
	chunkForm          // each starts a Snappy chunk
	unflushedForm      // the same, but where they start is not stored (FLINK-34063)
)

func (h *stateHandle) form(stream []byte) form {
	switch {
	case binary.BigEndian.Uint32(stream) != backendCompressed || stream[4] == 0:
		return plainForm
	case h.flushed():
		return chunkForm
	default:
		return unflushedForm
	}
}

// load reads the elements of a state, with their places.
func (s *rewrittenState) load(operator string) error {
	h := s.handle
	s.elements = make([]stateElement, 0, h.count())
	err := h.elements(operator, s.src, func(b []byte, at int64, _ int) {
		s.elements = append(s.elements, stateElement{from: int(at - s.src.base), body: bytes.Clone(b)})
	})
	if err != nil || h.form(s.src.data) == unflushedForm {
		return err
	}
	ends := h.ends(len(s.src.data))
	for i := range s.elements {
		e := &s.elements[i]
		next, _ := slices.BinarySearch(ends, int64(e.from)+1)
		e.to = int(ends[next])
	}
	return nil
}

// rewritten returns the stream with what was changed and added, and where the elements
// of each state of the handle stand in it, in the order of the handle.
func (s *rewrittenState) rewritten() (stream []byte, offsets [][]int64) {
	h, f := s.handle, s.handle.form(s.src.data)
	if f == unflushedForm {
		return s.flush()
	}
	var edits []edit
	var grown []int64 // by how much the stream has, after each edit
	sum := int64(0)
	add := func(e edit) {
		sum += int64(len(e.with) - (e.to - e.from))
		edits, grown = append(edits, e), append(grown, sum)
	}
	for _, e := range s.elements {
		if e.changed {
			add(edit{e.from, e.to, h.encode(f, e.body)})
		}
	}
	moved := func(o int64) int64 { // where what began at o begins now
		i := sort.Search(len(edits), func(i int) bool { return int64(edits[i].to) > o })
		if i == 0 {
			return o
		}
		return o + grown[i-1]
	}
	var more []int64
	if len(s.added) > 0 {
		end := s.elements[len(s.elements)-1].to
		at := moved(int64(end))
		var with []byte
		for _, body := range s.added {
			more = append(more, at+int64(len(with)))
			with = append(with, h.encode(f, body)...)
		}
		add(edit{end, end, with})
	}
	for _, state := range s.place.states {
		var list []int64
		for o := state.offsets; len(o) > 0; o = o[8:] {
			list = append(list, moved(int64(binary.BigEndian.Uint64(o))))
		}
		if state.name == h.name {
			list = append(list, more...)
		}
		offsets = append(offsets, list)
	}
	return splice(s.src.data, edits), offsets
}

// flush writes what Flink 1.18.0 and 1.18.1 have left without the places of elements
// as later releases do, each element in chunks of its own. No other state of the
// handle has elements.
func (s *rewrittenState) flush() (stream []byte, offsets [][]int64) {
	h := s.handle
	stream = bytes.Clone(s.src.data[:h.offset(0)])
	var list []int64
	for _, e := range s.elements {
		list = append(list, int64(len(stream)))
		stream = append(stream, h.encode(chunkForm, e.body)...)
	}
	for _, body := range s.added {
		list = append(list, int64(len(stream)))
		stream = append(stream, h.encode(chunkForm, body)...)
	}
	for _, state := range s.place.states {
		if state.name == h.name {
			offsets = append(offsets, list)
		} else {
			offsets = append(offsets, nil)
		}
	}
	return stream, offsets
}

// encode returns an element as it stands in a stream.
func (h *stateHandle) encode(f form, body []byte) []byte {
	b := body
	if h.framed() {
		b = lengthAnd(body)
	}
	if f == plainForm {
		return b
	}
	return snappyChunks(b)
}

// rewriteSource gives the splits of the source their new offsets.
func (w *rewriting) rewriteSource() error {
	handles := w.op.readers
	if w.src.Kind == FlinkKafkaConsumer {
		handles = w.op.legacy
	}
	for i := range handles {
		h := &handles[i]
		if h.count() == 0 {
			continue
		}
		s := &rewrittenState{handle: h, place: w.placeOf(h)}
		var err error
		if s.src, err = w.streamOf(s); err != nil {
			return err
		}
		if err := s.load(w.op.ID); err != nil {
			return err
		}
		for j := range s.elements {
			if err := w.rewriteElement(s, &s.elements[j]); err != nil {
				return err
			}
		}
		w.states = append(w.states, s)
	}
	if err := w.rewriteEnumerator(); err != nil {
		return err
	}
	for _, s := range w.states { // what is added has changed a state too
		if h := s.handle; s.changed && len(h.others) > 0 && h.form(s.src.data) == unflushedForm {
			w.problem(FormNotWritten, offsetmap.TopicPartition{}, "subtask %d: elements of several states, compressed by Flink 1.18.0 or 1.18.1 (FLINK-34063): where they stand cannot be told", h.subtask)
		}
	}
	if tps := w.unmet(); len(tps) > 0 && len(w.problems) == 0 {
		return w.op.corrupt(fmt.Sprintf("%d of its partitions were found in no state when it was read again, the first of them %v", len(tps), tps[0]))
	}
	return nil
}

// rewriteElement changes the offset in one element, where it is to be changed.
func (w *rewriting) rewriteElement(s *rewrittenState, e *stateElement) error {
	tp, cluster, at, ok := w.splitOf(e.body)
	if !ok {
		return w.op.corrupt(fmt.Sprintf("subtask %d: an element is no split when it is read again", s.handle.subtask))
	}
	if cluster != w.cluster {
		return nil
	}
	to, known := w.met(tp, s.handle.subtask).Value()
	if !known {
		return nil
	}
	if w.src.Kind == FlinkKafkaConsumer {
		to-- // it stores the last offset that was read
	}
	binary.BigEndian.PutUint64(e.body[at:], uint64(to))
	e.changed, s.changed = true, true
	return nil
}

// splitOf returns the partition of an element, and at which byte of it the offset
// stands.
func (w *rewriting) splitOf(b []byte) (tp offsetmap.TopicPartition, cluster string, at int, ok bool) {
	if w.src.Kind == FlinkKafkaConsumer {
		var e legacyElement
		ok = e.parse(b)
		return offsetmap.TopicPartition{Topic: string(e.topic), Partition: e.partition}, "", len(b) - 8, ok
	}
	var s split
	switch {
	case len(b) < 8:
		return tp, "", 0, false
	case w.src.Kind == DynamicKafkaSource:
		ok = s.parseDynamic(b[8:], w.topics)
	default:
		ok = s.parse(b[8:], w.topics)
	}
	if !ok {
		return tp, "", 0, false
	}
	cluster, _ = decodeUTF([]byte(w.topics.clusterOf(s.topic)))
	return offsetmap.TopicPartition{Topic: w.topics.names[s.topic], Partition: s.partition}, cluster, len(b) - 16, true
}
