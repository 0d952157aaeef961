package flinkstate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Relation says how what a group has committed stands to a position of the
// state.
type Relation string

const (
	// Equal: the group has committed C.
	Equal Relation = "equal"
	// Behind: the group has committed an offset below C. After a stop with
	// savepoint that is the usual case: the group keeps what the last periodic
	// checkpoint committed (KafkaSourceReader.notifyCheckpointComplete).
	Behind Relation = "behind"
	// Ahead: the group has committed an offset above C, so somebody has read on
	// after the state was written.
	Ahead Relation = "ahead"
	// Missing: the group has no committed offset. Flink commits none for a
	// partition that it has not read from, and what a group without members has
	// committed expires.
	Missing Relation = "missing"
	// Unread: the group has a committed offset, and the state has no C to hold it
	// against: a marker, a partition that only the enumerator knows, or none at
	// all.
	Unread Relation = "unread"
)

// Compared is one partition of a Comparison.
type Compared struct {
	offsetmap.TopicPartition
	Next      offsetmap.NextOffset // C of the state; none with Unread, and where neither has an offset
	Committed offsetmap.NextOffset // none with Missing
	Relation  Relation
	By        int64 // offsets between the two with Behind and Ahead, else 0
	// Between says what those offsets hold; empty where nobody looked, or could.
	Between Between
}

// Comparison holds each partition that a state or a group names, once, by topic
// and number.
type Comparison []Compared

// Compare holds the committed offsets of a group against the positions of a
// state. It judges nothing: only Ahead is an alarm by itself, unless
// [Comparison.Explain] finds no record between.
//
// Of positions that name a partition twice, the last one counts.
func Compare(positions []offsetmap.Position, committed map[offsetmap.TopicPartition]offsetmap.NextOffset) Comparison {
	next := make(map[offsetmap.TopicPartition]offsetmap.NextOffset, len(positions))
	for tp := range committed {
		next[tp] = offsetmap.NextOffset{}
	}
	for _, p := range positions {
		next[p.TopicPartition] = p.Next
	}
	out := make(Comparison, 0, len(next))
	for tp, c := range next {
		out = append(out, compare(tp, c, committed[tp]))
	}
	slices.SortFunc(out, func(a, b Compared) int { return a.Compare(b.TopicPartition) })
	return out
}

func compare(tp offsetmap.TopicPartition, next, committed offsetmap.NextOffset) Compared {
	c := Compared{TopicPartition: tp, Next: next, Committed: committed}
	n, both := committed.Sub(next)
	switch {
	case committed.IsNone():
		c.Relation = Missing
	case !both:
		c.Relation = Unread
	case n < 0:
		c.Relation, c.By = Behind, -n
	case n > 0:
		c.Relation, c.By = Ahead, n
	default:
		c.Relation = Equal
	}
	return c
}

// String returns the relation, by how many offsets, and what these are where it is
// known that no record is among them: "behind 12", "ahead 1, only transaction
// markers between".
func (c Compared) String() string {
	text := string(c.Relation)
	if c.By > 0 {
		text += fmt.Sprintf(" %d", c.By)
	}
	switch c.Between {
	case BetweenMarkers:
		text += ", only transaction markers between"
	case BetweenAborted:
		text += ", only aborted records between"
	case BetweenGaps:
		text += ", nothing left between"
	}
	return text
}

// MarshalJSON writes topic, partition, relation, "by" with behind and ahead, and
// "next", "committed" and "between" where they are.
func (c Compared) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Topic     string               `json:"topic"`
		Partition int32                `json:"partition"`
		Next      offsetmap.NextOffset `json:"next,omitzero"`
		Committed offsetmap.NextOffset `json:"committed,omitzero"`
		Relation  Relation             `json:"relation"`
		By        int64                `json:"by,omitzero"`
		Between   Between              `json:"between,omitempty"`
	}{c.Topic, c.Partition, c.Next, c.Committed, c.Relation, c.By, c.Between})
}

// hollow counts the partitions in the relation that no record is between.
func (c Comparison) hollow(r Relation) (n int) {
	for _, p := range c {
		if p.Relation == r && p.Between.Hollow() {
			n++
		}
	}
	return n
}

// Count returns how many partitions stand in the relation, and by how many
// offsets the farthest of them.
func (c Comparison) Count(r Relation) (partitions int, most int64) {
	for _, p := range c {
		if p.Relation == r {
			partitions++
			most = max(most, p.By)
		}
	}
	return partitions, most
}

// Lacking returns the partitions that the group has no offset of though the job had
// read from them, C being above 0: never committed, or expired.
func (c Comparison) Lacking() []Compared {
	var out []Compared
	for _, p := range c {
		if next, known := p.Next.Value(); p.Relation == Missing && known && next > 0 {
			out = append(out, p)
		}
	}
	return out
}

// String counts: "3 equal, 1 behind by at most 12, 1 missing", and of those behind
// and ahead the ones that no record is between: "2 behind by at most 1 (1 by
// transaction markers or aborted records only)".
func (c Comparison) String() string {
	var parts []string
	for _, r := range []Relation{Equal, Behind, Ahead, Missing, Unread} {
		switch n, most := c.Count(r); {
		case n == 0:
		case most > 0:
			part := fmt.Sprintf("%d %s by at most %d", n, r, most)
			if hollow := c.hollow(r); hollow > 0 {
				part += fmt.Sprintf(" (%d by transaction markers or aborted records only)", hollow)
			}
			parts = append(parts, part)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	if len(parts) == 0 {
		return "no partition"
	}
	return strings.Join(parts, ", ")
}
