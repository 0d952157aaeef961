package flinkstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var (
	// ErrNoGroup says that the brokers know no consumer group of that name.
	ErrNoGroup = errors.New("no such consumer group")
	// ErrNoCommit says that a group exists and has no committed offset, of the
	// topics that were asked for.
	ErrNoCommit = errors.New("no committed offset")
)

// The codes of warnings about a consumer group.
const (
	// CommitMissing: partitions have no committed offset. Flink leaves none for a
	// partition that it has not read from.
	CommitMissing WarningCode = "commit-missing"
	// CommitWithoutTopic: the group has committed offsets of a topic that does
	// not exist, or that the client may not see.
	CommitWithoutTopic WarningCode = "commit-without-topic"
	// GroupAbsent: a group that positions were to be compared with does not exist,
	// or has no committed offset of their topics.
	GroupAbsent WarningCode = "group-absent"
)

// GroupAdmin is what ReadGroup asks of a cluster. *kadm.Client satisfies it.
type GroupAdmin interface {
	FetchOffsets(ctx context.Context, group string) (kadm.OffsetResponses, error)
	DescribeGroups(ctx context.Context, groups ...string) (kadm.DescribedGroups, error)
	Metadata(ctx context.Context, topics ...string) (kadm.Metadata, error)
}

// Group is what a consumer group has committed.
type Group struct {
	ID string
	// Positions holds each partition with a committed offset, by topic and
	// number. A committed offset is the next one to read, C.
	Positions []offsetmap.Position
	// Missing holds the partitions of the topics without one, by topic and
	// number, as the client's metadata shows the topics: seconds old at worst.
	Missing []offsetmap.TopicPartition
	// Warnings holds what a reader of the positions must know, by topic.
	Warnings []Warning
}

// Committed returns the committed offsets by partition.
func (g *Group) Committed() map[offsetmap.TopicPartition]offsetmap.NextOffset {
	out := make(map[offsetmap.TopicPartition]offsetmap.NextOffset, len(g.Positions))
	for _, p := range g.Positions {
		out[p.TopicPartition] = p.Next
	}
	return out
}

// ReadGroup reads the offsets that a consumer group has committed for the
// topics, or for every topic that it has committed when none is named. Offsets
// of transactions that are still open are not taken (KIP-447): while there is
// one, the answer is the error UNSTABLE_OFFSET_COMMIT. What the group holds of
// topics that are not asked for is not judged, be it readable or not.
//
// A group cannot show that its job has stopped, nor that what it committed was
// delivered: after a stop with savepoint it usually lags behind the savepoint,
// and a group that commits by itself may be ahead of the target.
//
// A group that does not exist is an ErrNoGroup, and one without a committed
// offset an ErrNoCommit. A named topic that does not exist is an error too.
func ReadGroup(ctx context.Context, admin GroupAdmin, group string, topics ...string) (*Group, error) {
	if group == "" {
		return nil, errors.New("consumer group: no name was given")
	}
	fetched, err := admin.FetchOffsets(kadm.RequireStable(ctx), group)
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, fmt.Errorf("consumer group %s: %w", group, ErrNoGroup)
	case err != nil:
		return nil, fmt.Errorf("consumer group %s: %w", group, err)
	}
	out := &Group{ID: group, Warnings: []Warning{}}
	named := len(topics) > 0
	wanted := map[string]bool{}
	for _, t := range topics {
		wanted[t] = true
	}
	committed, others, err := committedOf(fetched, func(topic string) bool { return !named || wanted[topic] })
	if err != nil {
		return nil, fmt.Errorf("consumer group %s: %w", group, err)
	}
	for tp, next := range committed {
		wanted[tp.Topic] = true
		out.Positions = append(out.Positions, offsetmap.Position{TopicPartition: tp, Next: next})
	}
	if len(out.Positions) == 0 {
		return nil, noCommit(ctx, admin, group, topics, others)
	}
	slices.SortFunc(out.Positions, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
	return out, out.addMissing(ctx, admin, committed, slices.Sorted(maps.Keys(wanted)), named)
}

// committedOf returns the partitions of the wanted topics that have a committed
// offset, and an error that names every one that could not be read. Of other
// topics, which say nothing of the migration, it counts what was answered.
func committedOf(fetched kadm.OffsetResponses, wanted func(topic string) bool) (out map[offsetmap.TopicPartition]offsetmap.NextOffset, others int, err error) {
	const none = -1 // what brokers answer for a partition without one
	out = map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	var bad []error
	for _, o := range fetched.Sorted() {
		tp := offsetmap.TopicPartition{Topic: o.Topic, Partition: o.Partition}
		switch {
		case o.Err == nil && o.At == none:
			continue
		case !wanted(o.Topic):
			others++
			continue
		case o.Err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", tp, o.Err))
			continue
		}
		next, err := offsetmap.Next(o.At)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", tp, err))
			continue
		}
		out[tp] = next
	}
	return out, others, errors.Join(bad...)
}

// noCommit tells a group that does not exist from one without an offset.
func noCommit(ctx context.Context, admin GroupAdmin, group string, topics []string, others int) error {
	if others > 0 {
		return fmt.Errorf("consumer group %s: %w of %s, and %d of other topics", group, ErrNoCommit, strings.Join(topics, ", "), others)
	}
	described, err := admin.DescribeGroups(ctx, group)
	one := described[group]
	if err == nil {
		err = one.Err
	}
	switch {
	case errors.Is(err, kerr.GroupIDNotFound), err == nil && (one.State == "Dead" || one.State == ""):
		return fmt.Errorf("consumer group %s: %w", group, ErrNoGroup)
	case err != nil:
		return fmt.Errorf("consumer group %s: %w, and whether it exists could not be found out: %w", group, ErrNoCommit, err)
	default:
		return fmt.Errorf("consumer group %s: %w, though it exists and is %s", group, ErrNoCommit, one.State)
	}
}

// addMissing finds the partitions of the topics without a committed offset.
func (g *Group) addMissing(ctx context.Context, admin GroupAdmin, committed map[offsetmap.TopicPartition]offsetmap.NextOffset, topics []string, named bool) error {
	metadata, err := admin.Metadata(ctx, topics...)
	if err != nil {
		return fmt.Errorf("consumer group %s: its topics: %w", g.ID, err)
	}
	for _, topic := range topics {
		detail, ok := metadata.Topics[topic]
		switch {
		case ok && detail.Err == nil:
		case !named && (!ok || errors.Is(detail.Err, kerr.UnknownTopicOrPartition)):
			g.Warnings = append(g.Warnings, Warning{Code: CommitWithoutTopic, Text: fmt.Sprintf(
				"the group has committed offsets of topic %s, which does not exist, or may not be seen", topic)})
			continue
		case !ok:
			return fmt.Errorf("consumer group %s: topic %s: the brokers do not answer for it", g.ID, topic)
		default:
			return fmt.Errorf("consumer group %s: topic %s: %w", g.ID, topic, detail.Err)
		}
		var missing []string
		for _, p := range slices.Sorted(maps.Keys(detail.Partitions)) {
			tp := offsetmap.TopicPartition{Topic: topic, Partition: p}
			if _, there := committed[tp]; !there {
				g.Missing = append(g.Missing, tp)
				missing = append(missing, tp.String())
			}
		}
		if len(missing) > 0 {
			g.Warnings = append(g.Warnings, Warning{Code: CommitMissing, Text: fmt.Sprintf(
				"the group has no committed offset of %s: not read from, or never committed", strings.Join(missing, ", "))})
		}
	}
	return nil
}
