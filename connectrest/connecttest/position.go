package connecttest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// resetPolicy is a consumer's auto.offset.reset.
type resetPolicy string

const (
	resetEarliest resetPolicy = "earliest"
	resetLatest   resetPolicy = "latest"
	resetNone     resetPolicy = "none"
)

// consumerSettings are those of the replication consumer's settings that are
// read.
type consumerSettings struct {
	bootstrap string
	reset     resetPolicy
	committed bool // isolation.level=read_committed
	group     string
}

// readConsumer checks what KafkaConsumer's constructor would: a bad value fails
// the task, not the connector.
func (m *mirrorConfig) readConsumer() (consumerSettings, error) {
	s := consumerSettings{bootstrap: m.consumer["bootstrap.servers"], reset: resetEarliest, group: m.consumer["group.id"]}
	switch level, ok := m.consumer["isolation.level"]; {
	case !ok || level == readUncommitted:
	case level == readCommitted:
		s.committed = true
	default:
		return s, configException("Invalid value %s for configuration isolation.level: String must be one of: read_committed, read_uncommitted", level)
	}
	if reset, ok := m.consumer["auto.offset.reset"]; ok {
		s.reset = resetPolicy(reset)
		if !slices.Contains([]resetPolicy{resetEarliest, resetLatest, resetNone}, s.reset) {
			return s, configException("Invalid value %s for configuration auto.offset.reset: connecttest knows earliest, latest and none", reset)
		}
	}
	return s, nil
}

func configException(format string, args ...any) error {
	return &javaError{"org.apache.kafka.common.config.ConfigException", fmt.Sprintf(format, args...), "org.apache.kafka.common.config.ConfigDef.parseValue"}
}

// positions finds where each partition of a task starts
// (MirrorSourceTask.initializeConsumer). A partition that is missing in the
// result stands still: auto.offset.reset is none and it has no valid position.
type positions struct {
	task  *task
	admin *kadm.Client
}

func (p positions) start(ctx context.Context) (map[topicPartition]int64, error) {
	t := p.task
	stored := t.storedOffsets()
	for tp, m := range stored {
		if m == math.MaxInt64 {
			return nil, &javaError{
				"java.lang.IllegalArgumentException", "seek offset must not be a negative number",
				"org.apache.kafka.clients.consumer.KafkaConsumer.seek",
			}
		}
		stored[tp] = m + 1 + t.seekBy
	}
	if t.mirror.version.seeksZero() {
		for _, tp := range t.partitions {
			if _, ok := stored[tp]; !ok {
				stored[tp] = 0
			}
		}
	} else if t.consumer.group != "" {
		if err := p.addCommitted(ctx, stored); err != nil {
			return nil, err
		}
	}
	return p.inRange(ctx, t.partitions, stored)
}

// addCommitted adds the offsets that the configured consumer group committed.
func (p positions) addCommitted(ctx context.Context, at map[topicPartition]int64) error {
	committed, err := p.admin.FetchOffsets(ctx, p.task.consumer.group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return nil // a group without commits
	}
	if err != nil {
		return fmt.Errorf("fetch the offsets of group %s: %w", p.task.consumer.group, err)
	}
	for _, tp := range p.task.partitions {
		if _, ok := at[tp]; ok {
			continue
		}
		if o, ok := committed.Lookup(tp.topic, tp.partition); ok && o.Err == nil && o.At >= 0 {
			at[tp] = o.At
		}
	}
	return nil
}

// inRange applies auto.offset.reset to partitions without a position, or with
// one outside the log. A position above the last stable offset is inside.
func (p positions) inRange(ctx context.Context, parts []topicPartition, at map[topicPartition]int64) (map[topicPartition]int64, error) {
	topics := topicsOf(parts)
	starts, err := p.admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, err
	}
	ends, err := p.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return nil, err
	}
	latest := ends
	if p.task.consumer.committed {
		if latest, err = p.admin.ListCommittedOffsets(ctx, topics...); err != nil {
			return nil, err
		}
	}
	result := make(map[topicPartition]int64, len(parts))
	for _, tp := range parts {
		start, _ := starts.Lookup(tp.topic, tp.partition)
		end, _ := ends.Lookup(tp.topic, tp.partition)
		last, ok := latest.Lookup(tp.topic, tp.partition)
		if err := firstError(start.Err, end.Err, last.Err); err != nil || !ok {
			return nil, fmt.Errorf("list the offsets of %s-%d: %w", tp.topic, tp.partition, err)
		}
		pos, known := at[tp]
		if known && pos >= start.Offset && pos <= end.Offset {
			result[tp] = pos
			continue
		}
		p.task.log.WarnContext(ctx, "no valid position, resetting", "topic", tp.topic, "partition", tp.partition,
			"position", pos, "known", known, "start", start.Offset, "end", end.Offset, "reset", string(p.task.consumer.reset))
		switch p.task.consumer.reset {
		case resetEarliest:
			result[tp] = start.Offset
		case resetLatest:
			result[tp] = last.Offset
		case resetNone:
			// The consumer throws in every poll and MirrorSourceTask swallows it.
		}
	}
	return result, nil
}

func topicsOf(parts []topicPartition) []string {
	var topics []string
	for _, tp := range parts {
		if !slices.Contains(topics, tp.topic) {
			topics = append(topics, tp.topic)
		}
	}
	return topics
}

// retryPause is how long a task waits before it asks the brokers again.
const retryPause = 100 * time.Millisecond

// findStart asks until the brokers answer: a real consumer retries for ever, and
// the task is RUNNING meanwhile.
func (p positions) findStart(ctx context.Context) (map[topicPartition]int64, error) {
	for {
		at, err := p.start(ctx)
		if err == nil {
			return at, nil
		}
		if _, fatal := errors.AsType[*javaError](err); fatal {
			return nil, err
		}
		p.task.log.WarnContext(ctx, "failure during start, trying again", "error", err)
		if err := sleep(ctx, retryPause); err != nil {
			return nil, err
		}
	}
}
