package offsetmap

import (
	"encoding/base64"
	"fmt"
)

// TopicID is the identity that a broker gives a topic when it is created
// (KIP-516). A topic that was deleted and created again has another one, even
// when every offset looks alike. The zero value means that the brokers do not
// know topic IDs.
//
// As text and in JSON it has the form of Kafka's own tools: 16 bytes in
// unpadded base64url.
type TopicID [16]byte

// String returns the base64url form.
func (id TopicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// MarshalText writes the base64url form.
func (id TopicID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the base64url form.
func (id *TopicID) UnmarshalText(b []byte) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(b))
	if err != nil || len(raw) != len(id) || len(b) != base64.RawURLEncoding.EncodedLen(len(id)) { // the decoder skips line ends
		return fmt.Errorf("topic id %q is not 16 bytes in base64url", b)
	}
	copy(id[:], raw)
	return nil
}

// Range is what the broker says of one partition's log. A bound that was not
// measured is none, and none blocks a plan.
type Range struct {
	// Start is the log start: the first offset that can still be read
	// (ListOffsets -2, remote storage included).
	Start NextOffset
	// End is the high watermark (ListOffsets -1, read_uncommitted), which the
	// rules mean by "log end".
	End NextOffset
	// Stable is the last stable offset (ListOffsets -1, read_committed): where
	// the oldest open transaction begins, otherwise End.
	Stable NextOffset
}

// Empty reports whether the partition holds no offset at all.
func (r Range) Empty() bool { return !r.Start.IsNone() && r.Start == r.End }

// Measured is what was seen of one partition at one moment, freshly.
type Measured struct {
	TopicPartition
	TopicID     TopicID
	Range       Range
	TargetTopic string       // the name under which the replication policy writes it
	TargetEnd   NextOffset   // high watermark of the target partition; none, when unmeasured, blocks
	Group       NextOffset   // what the old job's group has committed; none when nothing
	Backup      SourceOffset // the connector's stored offset; none when absent
}

// Isolation is the old job's consumer isolation.level.
type Isolation string

// The two levels of Kafka consumers. Flink's Kafka connector leaves the
// consumer's own default, ReadUncommitted.
const (
	ReadUncommitted Isolation = "read_uncommitted"
	ReadCommitted   Isolation = "read_committed"
)

var isolations = []Isolation{ReadUncommitted, ReadCommitted}
