package flinkstate

import (
	"encoding/binary"
	"sort"
)

// Versions of the operator state backend's format
// (OperatorBackendSerializationProxy): 2 to 5 in Flink 1.3 to 1.17, which differ in
// serializer snapshots alone, and 6 from 1.18 on,
// which says in one more byte whether the elements are compressed.
const (
	backendOldest     = 2
	backendPlain      = 5
	backendCompressed = 6
)

const headerWhat = "operator state header"

// bytesAt is a stretch of a file.
type bytesAt struct {
	file string
	base int64 // byte of the file at which data starts
	data []byte
}

// elementFunc takes one element of a list state, the byte of the file that it
// starts at, and its number in the subtask.
type elementFunc func(b []byte, at int64, i int)

func (h *stateHandle) elementWhat() string { return h.name + " element" }

// framed reports whether each element stands behind its length, as those of
// states with a BytePrimitiveArraySerializer do. Where the others end follows
// from where the next one starts.
func (h *stateHandle) framed() bool {
	switch h.name {
	case readerState, writerState, committerState:
		return true
	default:
		return false
	}
}

// elements hands every element of h, whose stream is src, to each. The offsets
// that the metadata holds lead to them, so that the header, which contains
// serializer snapshots of open-ended formats, is read no further than needed
// (DefaultOperatorStateBackendSnapshotStrategy).
func (h *stateHandle) elements(operator string, src bytesAt, each elementFunc) error {
	if len(h.offsets) == 0 {
		return nil
	}
	c := newCursor(src.file, src.base, src.data)
	c.operator, c.subtask = operator, h.subtask
	compressed := int8(0)
	switch v := c.i32(headerWhat); {
	case c.err != nil:
	case backendOldest <= v && v <= backendPlain:
	case v == backendCompressed:
		compressed = c.i8(headerWhat)
	case v < 0 || v > 1<<8:
		c.corrupt(0, headerWhat, "%d is no version of an operator state", v)
	default:
		c.unsupported(0, headerWhat, "operator state version %d (versions %d to %d are read)", v, backendOldest, backendCompressed)
	}
	switch {
	case c.err != nil:
	case compressed == 0 && h.framed():
		h.plain(c, each)
	case compressed == 0:
		h.unframed(c, each)
	case compressed == 1:
		h.compressed(c, each)
	default:
		c.corrupt(4, headerWhat, "compression flag %d is neither 0 nor 1", compressed)
	}
	return c.err
}

func (h *stateHandle) count() int { return len(h.offsets) / 8 }

func (h *stateHandle) offset(i int) int64 {
	return int64(binary.BigEndian.Uint64(h.offsets[8*i:]))
}

// plain reads elements that are not compressed. Flink writes the states of a
// stream one after the other without gaps; that is checked as far as no other
// state lies between, because a gap would be an element that the metadata lost.
func (h *stateHandle) plain(c *cursor, each elementFunc) {
	b := c.buf
	end := 0
	for i := range h.count() {
		off := h.offset(i)
		if off < int64(c.off) || off > int64(len(b)-4) {
			c.corrupt(0, h.elementWhat(), "element %d starts at %d, outside the %d bytes of the stream", i, off, len(b))
			return
		}
		at := int(off)
		if end != 0 && at != end {
			c.corrupt(at, h.elementWhat(), "element %d starts here, but the one before ends at byte %d", i, c.base+int64(end))
			return
		}
		n := int(int32(binary.BigEndian.Uint32(b[at:])))
		if n < 0 || n > len(b)-at-4 {
			c.corrupt(at, h.elementWhat(), "a length of %d does not fit into the %d bytes that are left", n, len(b)-at-4)
			return
		}
		end = at + 4 + n
		each(b[at+4:end:end], c.base+int64(at), i)
	}
	if len(h.others) == 0 && end != len(b) {
		c.corrupt(end, h.elementWhat(), "%d bytes follow the last element", len(b)-end)
	}
}

// compressed reads elements behind which a Snappy framing stream stands.
//
// Usually each element starts a chunk. Flink 1.18.0 and 1.18.1 did not flush
// before they noted an offset (FLINK-34063): there the offsets repeat, only
// their number is of use, and the elements stand one after the other in what
// all chunks hold together.
func (h *stateHandle) compressed(c *cursor, each elementFunc) {
	first := h.offset(0)
	for _, o := range h.others {
		first = min(first, int64(binary.BigEndian.Uint64(o)))
	}
	const id = len(snappyStreamID)
	if first < int64(c.off+id) || first > int64(len(c.buf)) || string(c.buf[first-int64(id):first]) != snappyStreamID {
		c.corrupt(0, h.elementWhat(), "no Snappy framing stream starts before the first offset, %d of %d", first, len(c.buf))
		return
	}
	switch flushed := h.flushed(); {
	case flushed && h.framed():
		h.chunks(c, each)
		return
	case flushed:
		h.unframedChunks(c, each)
		return
	case !h.framed() && h.name != legacyState:
		c.unsupported(0, h.elementWhat(), "compressed by Flink 1.18.0 or 1.18.1 (FLINK-34063), and the elements do not tell their length")
		return
	}
	if len(h.others) > 0 && !h.firstInHeader(c) {
		c.unsupported(0, h.elementWhat(), "compressed by Flink 1.18.0 or 1.18.1 (FLINK-34063) behind another state of the same stream, where the elements begin cannot be told")
		return
	}
	c.off = int(first)
	h.sequence(c, each)
}

// flushed reports whether each offset is the start of a chunk: then no two
// elements of the stream have the same.
func (h *stateHandle) flushed() bool {
	n := h.count()
	for i := 1; i < n; i++ {
		if h.offset(i) <= h.offset(i-1) {
			return false
		}
	}
	for _, o := range h.others {
		for ; len(o) > 0; o = o[8:] {
			v := int64(binary.BigEndian.Uint64(o))
			if i := sort.Search(n, func(i int) bool { return h.offset(i) >= v }); i < n && h.offset(i) == v {
				return false
			}
		}
	}
	return true
}

// firstInHeader reports whether the header names this state first. The order of
// the states there is that of their elements, and the first name stands before
// anything of unknown length.
func (h *stateHandle) firstInHeader(c *cursor) bool {
	return c.i16(headerWhat) > 0 && string(c.raw(headerWhat)) == h.name && c.err == nil
}

// chunks reads elements of which each starts a chunk and ends with one.
func (h *stateHandle) chunks(c *cursor, each elementFunc) {
	var b []byte
	for i := range h.count() {
		off := h.offset(i)
		if off < 0 || off > int64(len(c.buf)) || i > 0 && int(off) != c.off {
			c.corrupt(c.off, h.elementWhat(), "element %d starts at byte %d, but the one before ends at %d of %d", i, off, c.off, len(c.buf))
			return
		}
		c.off = int(off)
		b = c.snappyChunk(b[:0])
		for c.err == nil && (len(b) < 4 || len(b)-4 < int(binary.BigEndian.Uint32(b))) {
			b = c.snappyChunk(b)
		}
		if c.err != nil {
			return
		}
		if n := binary.BigEndian.Uint32(b); len(b)-4 != int(n) {
			c.corrupt(int(off), h.elementWhat(), "element %d is %d bytes long, but its chunks hold %d", i, n, len(b)-4)
			return
		}
		each(b[4:], c.base+off, i)
	}
	if len(h.others) == 0 && c.left() > 0 {
		c.corrupt(c.off, h.elementWhat(), "%d bytes follow the last element", c.left())
	}
}

// sequence reads elements that stand one after the other in the content of all
// chunks from the cursor on.
func (h *stateHandle) sequence(c *cursor, each elementFunc) {
	at := c.off
	// Grown step by step it would take several times as much.
	b := make([]byte, 0, snappySize(c.buf[at:]))
	for c.err == nil && c.left() > 0 {
		b = c.snappyChunk(b)
	}
	if c.err != nil {
		return
	}
	for i := range h.count() {
		n := h.size(b)
		if n < 0 {
			c.corrupt(at, h.elementWhat(), "what the chunks from here on hold ends within element %d of %d, or that is none", i, h.count())
			return
		}
		body := b[:n:n]
		if h.framed() {
			body = body[4:]
		}
		each(body, c.base+int64(at), i)
		b = b[n:]
	}
	if len(h.others) == 0 && len(b) > 0 {
		c.corrupt(at, h.elementWhat(), "%d bytes follow the last of %d elements in what the chunks from here on hold", len(b), h.count())
	}
}

// size returns the length of the element that b starts with, -1 when b does not
// hold a whole one.
func (h *stateHandle) size(b []byte) int {
	switch {
	case !h.framed():
		return legacySize(b)
	case len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4):
		return -1
	default:
		return 4 + int(binary.BigEndian.Uint32(b))
	}
}
