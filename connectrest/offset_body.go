package connectrest

import (
	"io"

	"github.com/hashicorp/go-retryablehttp"
)

// The text around the entries of an OffsetsBody.
const (
	bodyOpens   = `{"offsets":[`
	entryOpens  = `{"partition":`
	entryMiddle = `,"offset":`
	entryCloses = `}`
	bodyCloses  = `]}`
)

// entrySize is what an entry takes in a body, in bytes, with a comma.
func entrySize(o Offset) int {
	return len(entryOpens) + len(o.Partition) + len(entryMiddle) + len(o.Offset) + len(entryCloses) + 1
}

// bodySize is the length of the body of at least one entry, in bytes.
func bodySize(offsets []Offset) int {
	size := len(bodyOpens) - 1 + len(bodyCloses)
	for _, o := range offsets {
		size += entrySize(o)
	}
	return size
}

// offsetsBody writes the JSON of an OffsetsBody while it is read, so that it never
// stands in memory. The entries were checked: their parts are JSON.
type offsetsBody struct {
	entries []Offset // that come next
	first   bool     // nothing was written yet
	done    bool
	left    int // bytes
	buffer  []byte
	rest    []byte // of the buffer
}

// sendOffsets is the body of a request, which may be sent more than once.
func sendOffsets(offsets []Offset) retryablehttp.ReaderFunc {
	size := bodySize(offsets)
	return func() (io.Reader, error) {
		return &offsetsBody{entries: offsets, first: true, left: size}, nil
	}
}

// Len returns how many bytes are left, for the header Content-Length.
func (b *offsetsBody) Len() int { return b.left }

// Read writes into p what comes next.
func (b *offsetsBody) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(b.rest) == 0 && !b.fill() {
			break
		}
		c := copy(p[n:], b.rest)
		b.rest = b.rest[c:]
		n += c
	}
	b.left -= n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (b *offsetsBody) fill() bool {
	if b.done {
		return false
	}
	text := b.buffer[:0]
	if b.first {
		text = append(text, bodyOpens...)
	}
	if len(b.entries) > 0 {
		if !b.first {
			text = append(text, ',')
		}
		o := b.entries[0]
		text = append(text, entryOpens...)
		text = append(text, o.Partition...)
		text = append(text, entryMiddle...)
		text = append(text, o.Offset...)
		text = append(text, entryCloses...)
		b.entries = b.entries[1:]
	}
	b.first = false
	if len(b.entries) == 0 {
		text = append(text, bodyCloses...)
		b.done = true
	}
	b.buffer, b.rest = text, text
	return true
}
