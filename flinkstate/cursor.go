package flinkstate

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// cursor reads big-endian values (java.io.DataOutput) from a slice. The first
// failure sticks: every later read gives zero values, so that callers check err
// once a structure instead of once a field. Loops over counts end by themselves
// because a count is held against what is left before the loop begins.
type cursor struct {
	buf  []byte
	off  int
	err  error
	file string
	base int64 // byte of the file at which buf starts

	// What is being read, for the error only.
	operator string // id, empty outside an operator
	subtask  int    // -1 outside a subtask
	within   string // structure around the one that failed
}

func newCursor(file string, base int64, buf []byte) *cursor {
	return &cursor{buf: buf, file: file, base: base, subtask: -1}
}

func (c *cursor) left() int { return len(c.buf) - c.off }

func (c *cursor) structure(what string) string {
	return structure(c.operator, c.subtask, c.within, what)
}

// structure names a place in the state from the operator down.
func structure(operator string, subtask int, within, what string) string {
	s := ""
	if operator != "" {
		s = "operator " + operator + ", "
	}
	if subtask >= 0 {
		s += fmt.Sprintf("subtask %d, ", subtask)
	}
	if within != "" {
		s += within + ", "
	}
	return s + what
}

func (c *cursor) corrupt(at int, what, format string, args ...any) {
	if c.err == nil {
		c.err = &CorruptError{
			File: c.file, Offset: c.base + int64(at),
			Structure: c.structure(what), Reason: fmt.Sprintf(format, args...),
		}
	}
}

func (c *cursor) unsupported(at int, what, format string, args ...any) {
	if c.err == nil {
		c.err = &UnsupportedError{
			File: c.file, Offset: c.base + int64(at),
			Structure: c.structure(what), What: fmt.Sprintf(format, args...),
		}
	}
}

// take returns the next n bytes without copying them.
func (c *cursor) take(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.corrupt(c.off, what, "%d bytes are needed and %d are left", n, c.left())
		return nil
	}
	b := c.buf[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

func (c *cursor) i8(what string) int8 {
	if b := c.take(1, what); b != nil {
		return int8(b[0])
	}
	return 0
}

func (c *cursor) i16(what string) int16 {
	if b := c.take(2, what); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) i32(what string) int32 {
	if b := c.take(4, what); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) i64(what string) int64 {
	if b := c.take(8, what); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// count reads the i32 number of things of which each takes at least size bytes.
func (c *cursor) count(size int, what string) int {
	at := c.off
	n := int(c.i32(what))
	if c.err == nil && (n < 0 || n > c.left()/size) {
		c.corrupt(at, what, "a count of %d does not fit into the %d bytes that are left", n, c.left())
	}
	if c.err != nil {
		return 0
	}
	return n
}

// sized reads an i32 length and that many bytes.
func (c *cursor) sized(what string) []byte {
	at := c.off
	n := int(c.i32(what))
	if c.err == nil && (n < 0 || n > c.left()) {
		c.corrupt(at, what, "a length of %d does not fit into the %d bytes that are left", n, c.left())
	}
	return c.take(n, what)
}

// raw reads a string of DataOutput.writeUTF as it stands, still encoded.
func (c *cursor) raw(what string) []byte {
	n := int(uint16(c.i16(what)))
	return c.take(n, what)
}

// utf reads and decodes a string of DataOutput.writeUTF.
func (c *cursor) utf(what string) string {
	at := c.off
	b := c.raw(what)
	s, ok := decodeUTF(b)
	if !ok {
		c.corrupt(at, what, "not modified UTF-8")
	}
	return s
}

// decodeUTF decodes modified UTF-8 (java.io.DataInput): NUL is C0 80, and a
// character beyond the basic plane is a pair of surrogates of three bytes each.
func decodeUTF(b []byte) (string, bool) {
	plain := true
	for _, x := range b {
		if x >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return string(b), true
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		u, n := utf16Unit(b[i:])
		if n == 0 {
			return "", false
		}
		i += n
		r := rune(u)
		if 0xd800 <= u && u < 0xdc00 {
			low, m := utf16Unit(b[i:])
			if m == 0 || low < 0xdc00 || low >= 0xe000 {
				return "", false
			}
			i += m
			r = (rune(u)-0xd800)<<10 + rune(low) - 0xdc00 + 0x10000
		} else if 0xdc00 <= u && u < 0xe000 {
			return "", false
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), true
}

// utf16Unit decodes one char of Java and says how many bytes it took, 0 for
// bytes that are none.
func utf16Unit(b []byte) (uint16, int) {
	follows := func(i int) bool { return i < len(b) && b[i]&0xc0 == 0x80 }
	switch {
	case len(b) == 0:
		return 0, 0
	case b[0] < 0x80:
		return uint16(b[0]), 1
	case b[0]&0xe0 == 0xc0 && follows(1):
		return uint16(b[0]&0x1f)<<6 | uint16(b[1]&0x3f), 2
	case b[0]&0xf0 == 0xe0 && follows(1) && follows(2):
		return uint16(b[0]&0x0f)<<12 | uint16(b[1]&0x3f)<<6 | uint16(b[2]&0x3f), 3
	default:
		return 0, 0
	}
}
