package offsetmap

import (
	"bytes"
	"fmt"
)

// Write is what a plan does to the Connect offset of one source partition: set
// it to M, or clear it. There is no way to write anything else, least of all a
// negative number.
//
// The zero value is no write, and is not valid in a plan.
//
// In JSON a Write is what the Connect REST API takes as an offset:
// {"offset": M} to set, null to clear.
type Write struct {
	kind writeKind
	m    SourceOffset
}

type writeKind uint8

const (
	writeNone writeKind = iota
	writeSet
	writeClear
)

// Write turns the next offset C into what Connect must hold so that
// MirrorMaker 2 goes on at exactly C:
//
//	C > 0  set M = C - 1
//	C = 0  clear: MirrorSourceConnector.alterOffsets refuses -1, and without a
//	       stored offset the consumer starts by its reset rule, which must then
//	       be earliest, with the log start still at 0 (KAFKA-13988, KAFKA-15177)
//	none   an ErrOffset
//
// This is the one place where C becomes M.
func (c NextOffset) Write() (Write, error) {
	w := c.write()
	if w.IsZero() {
		return w, fmt.Errorf("%w: none has no source offset", ErrOffset)
	}
	return w, nil
}

// write returns the zero value, which no plan may hold, for none.
func (c NextOffset) write() Write {
	switch v, ok := c.Value(); {
	case !ok:
		return Write{}
	case v == 0:
		return Write{kind: writeClear}
	default:
		return Write{kind: writeSet, m: SourceOffset{^(v - 1)}}
	}
}

// Restore returns the write that puts a stored offset back as it was: set for
// a number, clear for none.
func (m SourceOffset) Restore() Write {
	if m.IsNone() {
		return Write{kind: writeClear}
	}
	return Write{kind: writeSet, m: m}
}

// IsClear reports whether w removes the stored offset.
func (w Write) IsClear() bool { return w.kind == writeClear }

// IsZero reports whether w is the zero value, which writes nothing.
func (w Write) IsZero() bool { return w.kind == writeNone }

// Result returns what Connect shows after w: M, or none after a clear.
func (w Write) Result() SourceOffset { return w.m }

// String returns "set 999", "clear" or "none".
func (w Write) String() string {
	switch w.kind {
	case writeSet:
		return "set " + w.m.String()
	case writeClear:
		return "clear"
	default:
		return "none"
	}
}

// MarshalJSON writes {"offset": M}, or null for a clear. The zero value is an
// error: Connect would take an absent offset for a deletion.
func (w Write) MarshalJSON() ([]byte, error) {
	switch w.kind {
	case writeSet:
		return append(append([]byte(`{"offset":`), marshal(w.m.inverted)...), '}'), nil
	case writeClear:
		return []byte("null"), nil
	default:
		return nil, fmt.Errorf("%w: a write that writes nothing", ErrOffset)
	}
}

// UnmarshalJSON reads what MarshalJSON writes, white space aside, and nothing
// else.
func (w *Write) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*w = Write{kind: writeClear}
		return nil
	}
	m, ok := parseSet(b)
	if !ok {
		c, err := Canonical(b)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrOffset, err)
		}
		if m, ok = parseSet(c); !ok {
			return fmt.Errorf(`%w: %s is neither {"offset": M} nor null`, ErrOffset, c)
		}
	}
	*w = Write{kind: writeSet, m: m}
	return nil
}

// parseSet reads {"offset":M} without white space. It is not left to
// encoding/json, which takes {"OFFSET":M} and a second member for the same.
func parseSet(b []byte) (m SourceOffset, ok bool) {
	b, prefixed := bytes.CutPrefix(b, []byte(`{"offset":`))
	b, closed := bytes.CutSuffix(b, []byte("}"))
	if !prefixed || !closed || unmarshal(&m.inverted, b) != nil {
		return SourceOffset{}, false
	}
	return m, !m.IsNone()
}
