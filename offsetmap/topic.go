package offsetmap

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxTopicLength is Kafka's limit on a topic name, in bytes
// (org.apache.kafka.common.internals.Topic.MAX_NAME_LENGTH).
const maxTopicLength = 249

// TopicPartition names one partition of one topic of the source cluster.
type TopicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// ErrTopicName says that a string cannot be the name of a Kafka topic.
var ErrTopicName = errors.New("not a legal topic name")

// ParseTopicPartition reads the form that String writes, "orders-2024-01-0":
// the last dash parts the topic from the partition, since topic names may hold
// dashes themselves. A bad topic name is an ErrTopicName.
func ParseTopicPartition(s string) (TopicPartition, error) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return TopicPartition{}, fmt.Errorf("topic partition %q: want TOPIC-PARTITION", s)
	}
	p, err := strconv.ParseInt(s[i+1:], 10, 32)
	if err != nil || s[i+1:] != strconv.FormatInt(p, 10) {
		return TopicPartition{}, fmt.Errorf("topic partition %q: %q is not a partition number", s, s[i+1:])
	}
	tp := TopicPartition{Topic: s[:i], Partition: int32(p)}
	if err := tp.Validate(); err != nil {
		return TopicPartition{}, fmt.Errorf("topic partition %q: %w", s, err)
	}
	return tp, nil
}

// Validate reports whether tp can exist: a legal topic name
// (org.apache.kafka.common.internals.Topic.validate) and a partition that is
// not negative. A bad name is an ErrTopicName.
func (tp TopicPartition) Validate() error {
	if err := ValidateTopic(tp.Topic); err != nil {
		return err
	}
	if tp.Partition < 0 {
		return fmt.Errorf("topic %s: partition %d is negative", tp.Topic, tp.Partition)
	}
	return nil
}

// ValidateTopic reports whether name is legal for a Kafka topic: 1 to 249 of
// ASCII letters, digits, '.', '_' and '-', and neither "." nor "..".
// The error is an ErrTopicName.
func ValidateTopic(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrTopicName)
	case name == "." || name == "..":
		return fmt.Errorf("%w: %q", ErrTopicName, name)
	case len(name) > maxTopicLength:
		return fmt.Errorf("%w: %q... has %d bytes, at most %d are allowed", ErrTopicName, name[:32], len(name), maxTopicLength)
	}
	for i, c := range name {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-' {
			continue
		}
		return fmt.Errorf("%w: %q has %q at byte %d", ErrTopicName, name, c, i)
	}
	return nil
}

// String returns "topic-partition", as Kafka's own tools write it.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.FormatInt(int64(tp.Partition), 10)
}

// Compare orders by topic, then by partition number.
func (tp TopicPartition) Compare(o TopicPartition) int {
	return cmp.Or(strings.Compare(tp.Topic, o.Topic), cmp.Compare(tp.Partition, o.Partition))
}
