package flinkstate

import (
	"encoding/binary"
	"slices"
)

// ends returns, in order, every byte of the stream at which an element may end:
// where another one starts, of this state or another, and the stream's end.
func (h *stateHandle) ends(size int) []int64 {
	var ends []int64
	for _, o := range append([][]byte{h.offsets}, h.others...) {
		for ; len(o) > 0; o = o[8:] {
			ends = append(ends, int64(binary.BigEndian.Uint64(o)))
		}
	}
	ends = append(ends, int64(size))
	slices.Sort(ends)
	return ends
}

// extents hands the first and the last byte of each element to each, for a
// state whose elements do not tell their length. Flink writes elements one after
// the other without gaps, so one that does not fill its extent is damaged, which
// is for its parser to see.
func (h *stateHandle) extents(c *cursor, each func(i, from, to int)) {
	ends := h.ends(len(c.buf))
	last := int64(c.off) - 1
	for i := range h.count() {
		from := h.offset(i)
		if from <= last || from >= int64(len(c.buf)) {
			c.corrupt(0, h.elementWhat(), "element %d starts at %d, outside the %d bytes of the stream or before the one before it", i, from, len(c.buf))
			return
		}
		last = from
		next, _ := slices.BinarySearch(ends, from+1)
		to := ends[next]
		if to > int64(len(c.buf)) {
			c.corrupt(int(from), h.elementWhat(), "the element after it starts at %d, outside the %d bytes of the stream", to, len(c.buf))
			return
		}
		if each(i, int(from), int(to)); c.err != nil {
			return
		}
	}
}

// unframed reads elements that are not compressed and do not tell their length.
func (h *stateHandle) unframed(c *cursor, each elementFunc) {
	h.extents(c, func(i, from, to int) {
		each(c.buf[from:to:to], c.base+int64(from), i)
	})
}

// unframedChunks reads such elements where each starts a chunk.
func (h *stateHandle) unframedChunks(c *cursor, each elementFunc) {
	var b []byte
	h.extents(c, func(i, from, to int) {
		b, c.off = b[:0], from
		for c.err == nil && c.off < to {
			b = c.snappyChunk(b)
		}
		if c.err == nil && c.off != to {
			c.corrupt(from, h.elementWhat(), "the chunks of element %d end at %d, but the next element starts at %d", i, c.off, to)
		}
		if c.err == nil {
			each(b, c.base+int64(from), i)
		}
	})
}
