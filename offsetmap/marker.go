package offsetmap

import (
	"fmt"
	"slices"
)

// Marker says why a split has no next offset: the negative number that it
// stores before its first record (KafkaPartitionSplit of flink-connector-kafka,
// KafkaTopicPartitionStateSentinel of the legacy consumer).
//
// The zero value is none, whose text is empty. Markers are numbered, not texts,
// since there may be hundreds of thousands of positions; the numbers are in no
// file.
type Marker uint8

const (
	Earliest  Marker = iota + 1 // -2
	Latest                      // -1
	Committed                   // -3
	Unset                       // the smallest int64 (MIGRATED), or "not set" of the legacy consumer
	Unknown                     // any other negative number
)

var markerTexts = []string{"", "earliest", "latest", "committed", "unset", "unknown"}

// AssignmentState says what the enumerator of a source knows of a partition
// that no reader holds.
//
// The zero value is none, whose text is empty: a reader holds the partition.
type AssignmentState uint8

const (
	// Unassigned: nothing of the partition has been read.
	Unassigned AssignmentState = iota + 1
	// FinishedOrUnassigned: the split reached its stopping offset and left the
	// reader, or its reader has finished, or it was never handed out.
	FinishedOrUnassigned
)

var assignmentTexts = []string{"", "unassigned", "finished-or-unassigned"}

// IsNone reports whether m is the zero value.
func (m Marker) IsNone() bool { return m == 0 }

// IsNone reports whether s is the zero value.
func (s AssignmentState) IsNone() bool { return s == 0 }

func (m Marker) legal() bool          { return int(m) < len(markerTexts) }
func (s AssignmentState) legal() bool { return int(s) < len(assignmentTexts) }

// String returns the text of m, which is empty for none.
func (m Marker) String() string {
	if !m.legal() {
		return fmt.Sprintf("marker %d", uint8(m))
	}
	return markerTexts[m]
}

// String returns the text of s, which is empty for none.
func (s AssignmentState) String() string {
	if !s.legal() {
		return fmt.Sprintf("state %d", uint8(s))
	}
	return assignmentTexts[s]
}

// MarshalText writes what String returns. A number without a text is an error.
func (m Marker) MarshalText() ([]byte, error) {
	if !m.legal() {
		return nil, fmt.Errorf("%d is no marker", uint8(m))
	}
	return []byte(markerTexts[m]), nil
}

// MarshalText writes what String returns. A number without a text is an error.
func (s AssignmentState) MarshalText() ([]byte, error) {
	if !s.legal() {
		return nil, fmt.Errorf("%d is no assignment state", uint8(s))
	}
	return []byte(assignmentTexts[s]), nil
}

// UnmarshalText reads what MarshalText writes.
func (m *Marker) UnmarshalText(text []byte) error {
	i := slices.Index(markerTexts, string(text))
	if i < 0 {
		return fmt.Errorf("marker %q is not one of %q", text, markerTexts[1:])
	}
	*m = Marker(i)
	return nil
}

// UnmarshalText reads what MarshalText writes.
func (s *AssignmentState) UnmarshalText(text []byte) error {
	i := slices.Index(assignmentTexts, string(text))
	if i < 0 {
		return fmt.Errorf("state %q is not one of %q", text, assignmentTexts[1:])
	}
	*s = AssignmentState(i)
	return nil
}
