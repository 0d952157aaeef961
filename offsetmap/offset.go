package offsetmap

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrOffset says that something cannot be an offset: a negative number, a
// number that is no integer of 64 bits, or none where a number is needed.
var ErrOffset = errors.New("not an offset")

// NextOffset is a place between two records, named by the offset of the record
// that follows it: what a consumer group commits and what a KafkaSource split
// stores, C. The log start, the high watermark and the last stable offset of a
// partition are such places too, so they have this type.
//
// The zero value is none. None is not 0, has no Value and takes part in no
// conversion. Two NextOffsets are the same place if they are equal by ==.
//
// In JSON a NextOffset is an integer, or null for none.
type NextOffset struct {
	inverted int64 // ^offset, so that the zero value decodes to -1, which is none
}

// offset0 is where every log begins.
var offset0 = NextOffset{^0}

// SourceOffset is the offset of the last record that was handled: what Connect
// stores for one partition of a MirrorSourceConnector, M. MirrorMaker 2 goes on
// at M + 1 (MirrorSourceTask.initializeConsumer), so M = C - 1.
//
// The zero value is none, which is how Connect shows a partition without a
// stored offset. None is not 0.
//
// In JSON a SourceOffset is an integer, or null for none.
type SourceOffset struct {
	inverted int64
}

// Next returns the place before the record with offset v. A negative v is an
// ErrOffset: markers of unread splits are no offsets.
func Next(v int64) (NextOffset, error) {
	if v < 0 {
		return NextOffset{}, fmt.Errorf("%w: next offset %d is negative", ErrOffset, v)
	}
	return NextOffset{^v}, nil
}

// Source returns the source offset v. A negative v is an ErrOffset.
func Source(v int64) (SourceOffset, error) {
	if v < 0 {
		return SourceOffset{}, fmt.Errorf("%w: source offset %d is negative", ErrOffset, v)
	}
	return SourceOffset{^v}, nil
}

// IsNone reports whether c is the zero value.
func (c NextOffset) IsNone() bool { return c.inverted == 0 }

// IsNone reports whether m is the zero value.
func (m SourceOffset) IsNone() bool { return m.inverted == 0 }

// Value returns the number, and false for none.
func (c NextOffset) Value() (int64, bool) { return ^c.inverted, !c.IsNone() }

// Value returns the number, and false for none.
func (m SourceOffset) Value() (int64, bool) { return ^m.inverted, !m.IsNone() }

// Compare orders by number; none comes first.
func (c NextOffset) Compare(o NextOffset) int { return cmp.Compare(^c.inverted, ^o.inverted) }

// Compare orders by number; none comes first.
func (m SourceOffset) Compare(o SourceOffset) int { return cmp.Compare(^m.inverted, ^o.inverted) }

// Sub returns the number of offsets from o to c, negative when c comes first,
// and false when either is none. Offsets are not records: control records and
// compaction leave gaps.
func (c NextOffset) Sub(o NextOffset) (int64, bool) {
	if c.IsNone() || o.IsNone() {
		return 0, false
	}
	return ^c.inverted - ^o.inverted, true
}

// Next returns the place at which MirrorMaker 2 goes on when m is stored:
// M + 1. None stays none, and so does the largest 64-bit number, whose
// successor is negative there: KafkaConsumer.seek refuses it.
func (m SourceOffset) Next() NextOffset {
	v, ok := m.Value()
	if !ok || v == math.MaxInt64 {
		return NextOffset{}
	}
	return NextOffset{^(v + 1)}
}

// String returns the number, or "none".
func (c NextOffset) String() string { return format(c.inverted) }

// String returns the number, or "none".
func (m SourceOffset) String() string { return format(m.inverted) }

func format(inverted int64) string {
	if inverted == 0 {
		return "none"
	}
	return strconv.FormatInt(^inverted, 10)
}

// MarshalJSON writes the number, or null for none.
func (c NextOffset) MarshalJSON() ([]byte, error) { return marshal(c.inverted), nil }

// MarshalJSON writes the number, or null for none.
func (m SourceOffset) MarshalJSON() ([]byte, error) { return marshal(m.inverted), nil }

func marshal(inverted int64) []byte {
	if inverted == 0 {
		return []byte("null")
	}
	return strconv.AppendInt(nil, ^inverted, 10)
}

// UnmarshalJSON reads an integer that is not negative, or null. Fractions,
// exponents, "-0" and strings are an ErrOffset: an offset that went through a
// float may have lost its last digits.
func (c *NextOffset) UnmarshalJSON(b []byte) error { return unmarshal(&c.inverted, b) }

// UnmarshalJSON reads what that of NextOffset reads.
func (m *SourceOffset) UnmarshalJSON(b []byte) error { return unmarshal(&m.inverted, b) }

func unmarshal(inverted *int64, b []byte) error {
	if string(b) == "null" {
		*inverted = 0
		return nil
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || b[0] == '-' || b[0] == '+' {
		return fmt.Errorf("%w: %s is not an integer from 0 to %d", ErrOffset, b, int64(math.MaxInt64))
	}
	*inverted = ^v
	return nil
}
