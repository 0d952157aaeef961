package flinkstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var (
	// ErrNoGroup says that the brokers know no group of that name.
	ErrNoGroup = errors.New("no such consumer group")
	// ErrNoCommit says that a group exists and has no committed offset, of the
	// topics that were asked for.
	ErrNoCommit = errors.New("no committed offset")
	// ErrNotConsumerGroup says that a group of that name exists and is none whose
	// committed offsets say where a Flink job stood: a share group (KIP-932) has
	// none, those of a streams group (KIP-1071) are of Kafka Streams, and a group
	// of Connect workers holds no offsets.
	ErrNotConsumerGroup = errors.New("not a consumer group")
)

// The codes of warnings about a consumer group.
const (
	// CommitMissing: partitions have no committed offset. Flink leaves none for a
	// partition that it has not read from, and offsets expire.
	CommitMissing WarningCode = "commit-missing"
	// CommitWithoutTopic: the group has committed offsets of a topic that does
	// not exist, or that the client may not see.
	CommitWithoutTopic WarningCode = "commit-without-topic"
	// GroupAbsent: a group that positions were to be compared with does not exist,
	// or has no committed offset of their topics.
	GroupAbsent WarningCode = "group-absent"
	// DifferenceUnexplained: what lies between C and what the group has committed
	// could not be read.
	DifferenceUnexplained WarningCode = "difference-unexplained"
	// GroupJoined: members hold the group, or once did, so it is not that of a
	// KafkaSource alone, which never joins its group.
	GroupJoined WarningCode = "group-joined"
)

// OffsetExpiry says, for people, why a group may lack an offset that was committed, and
// what to use instead. For a group without members brokers count from each
// offset's own last commit (KIP-211, ClassicGroup.offsetExpirationCondition).
const OffsetExpiry = "a broker drops each offset of a group without members offsets.retention.minutes (by default 7 days) after that offset's own last commit; the savepoint, which does not expire, is the better source"

// GroupAdmin is what a GroupReader asks of a cluster. *kadm.Client satisfies it.
type GroupAdmin interface {
	FetchOffsets(ctx context.Context, group string) (kadm.OffsetResponses, error)
	DescribeGroups(ctx context.Context, groups ...string) (kadm.DescribedGroups, error)
	DescribeConsumerGroups(ctx context.Context, groups ...string) (kadm.DescribedConsumerGroups, error)
	ListGroups(ctx context.Context, filterStates ...string) (kadm.ListedGroups, error)
	Metadata(ctx context.Context, topics ...string) (kadm.Metadata, error)
}

// Group is what a consumer group has committed.
type Group struct {
	GroupDescription
	// At is when the offsets were asked for.
	At time.Time
	// Positions holds each partition with a committed offset, by topic and
	// number. A committed offset is the next one to read, C.
	Positions []offsetmap.Position
	// Missing holds the partitions of the topics without one, by topic and
	// number, as the client's metadata shows the topics: seconds old at worst.
	Missing []offsetmap.TopicPartition
	// Warnings holds what a reader of the positions must know, by code and topic.
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

// ReadGroup reads a group as [GroupReader.Read] does, with a reader of the
// default options.
func ReadGroup(ctx context.Context, admin GroupAdmin, group string, topics ...string) (*Group, error) {
	return NewGroupReader(admin).Read(ctx, group, topics...)
}

// Read reads the offsets that a consumer group has committed for the topics, or
// for every topic that it has committed when none is named. The number of
// requests does not grow with the topics or partitions.
//
// Offsets of transactions that are still open are not taken, nor are the older
// ones that they would replace (KIP-447): Read waits until the transactions have
// ended, up to [WithStableTimeout], and is then an *[UnstableOffsetsError]. What
// the group holds of topics that are not asked for is not judged, be it readable
// or not.
//
// A group cannot show that its job has stopped, in whatever state it is, nor that
// what it committed was delivered: after a stop with savepoint it usually lags
// behind the savepoint, and a group that commits by itself may be ahead of the
// target.
//
// A group that does not exist is an [ErrNoGroup], one of another kind an
// [ErrNotConsumerGroup], and one without a committed offset an [ErrNoCommit]:
// beside that alone the group is returned, without positions. A named topic that
// does not exist is an error too, and so is a group whose kind cannot be found out.
func (r *GroupReader) Read(ctx context.Context, group string, topics ...string) (*Group, error) {
	if group == "" {
		return nil, errNoGroupName
	}
	look, err := r.stableLook(ctx, group, topics)
	if err != nil {
		return nil, err
	}
	look.group.GroupDescription, err = r.Describe(ctx, group)
	switch {
	case errors.Is(err, ErrNoGroup) && len(look.committed)+look.others > 0:
		return nil, fmt.Errorf("consumer group %s: the brokers show offsets of it, and then none such: it is changing, ask again", group)
	case err != nil:
		return nil, err
	}
	if err := look.group.holdsOffsets(); err != nil {
		return nil, err
	}
	return look.finish(topics)
}

// stableLook looks until no offset is in an open transaction.
func (r *GroupReader) stableLook(ctx context.Context, group string, topics []string) (*groupLook, error) {
	for started := r.now(); ; {
		look := &groupLook{reader: r, named: len(topics) > 0, group: Group{GroupDescription: GroupDescription{ID: group}, At: r.now(), Warnings: []Warning{}}}
		if err := look.read(ctx, topics); err != nil {
			return nil, fmt.Errorf("consumer group %s: %w", group, err)
		}
		if len(look.unstable) == 0 {
			return look, nil
		}
		waited := r.now().Sub(started)
		over := waited+unstablePause > r.stableTimeout
		var err error
		if !over {
			err = r.sleep(ctx, unstablePause)
			waited = r.now().Sub(started)
		}
		if over || err != nil {
			return nil, &UnstableOffsetsError{Group: group, Partitions: look.unstable, Waited: waited, Cause: err}
		}
	}
}

// groupLook gathers what one look at a group's offsets shows.
type groupLook struct {
	reader *GroupReader
	named  bool // topics were
	group  Group

	committed map[offsetmap.TopicPartition]offsetmap.NextOffset
	others    int                        // what was answered of other topics
	unstable  []offsetmap.TopicPartition // sorted
	topics    []string                   // that were asked for, or that have an offset; sorted
}

func (l *groupLook) read(ctx context.Context, topics []string) error {
	fetched, err := l.reader.admin.FetchOffsets(kadm.RequireStable(ctx), l.group.ID)
	switch {
	case errors.Is(err, kerr.GroupIDNotFound): // Describe says more
	case err != nil:
		return err
	}
	wanted := map[string]bool{}
	for _, t := range topics {
		wanted[t] = true
	}
	if err := l.take(fetched, func(topic string) bool { return !l.named || wanted[topic] }); err != nil {
		return err
	}
	for tp := range l.committed {
		wanted[tp.Topic] = true
	}
	l.topics = slices.Sorted(maps.Keys(wanted))
	if err := l.addMissing(ctx); err != nil {
		return err
	}
	return l.askMissing(ctx)
}

// take sorts what was answered of the wanted topics; its error names every
// partition that could not be read. Of other topics, which say nothing of the
// migration, it counts what was answered.
func (l *groupLook) take(fetched kadm.OffsetResponses, wanted func(topic string) bool) error {
	l.committed = map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	var bad []error
	for _, o := range fetched.Sorted() {
		tp := offsetmap.TopicPartition{Topic: o.Topic, Partition: o.Partition}
		if !wanted(o.Topic) {
			if o.Err != nil || o.At != noOffset {
				l.others++
			}
			continue
		}
		if err := l.put(tp, o.At, o.Err); err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

// noOffset is what brokers answer for a partition without a committed offset.
const noOffset = -1

// put keeps what was answered for one partition.
func (l *groupLook) put(tp offsetmap.TopicPartition, at int64, err error) error {
	switch {
	case errors.Is(err, kerr.UnstableOffsetCommit):
		l.unstable = append(l.unstable, tp)
	case err != nil:
		return fmt.Errorf("%s: %w", tp, err)
	case at != noOffset:
		next, err := offsetmap.Next(at)
		if err != nil {
			return fmt.Errorf("%s: %w", tp, err)
		}
		l.committed[tp] = next
	}
	return nil
}

// addMissing finds the partitions of the topics without a committed offset.
func (l *groupLook) addMissing(ctx context.Context) error {
	if len(l.topics) == 0 { // kadm would ask for all
		return nil
	}
	metadata, err := l.reader.admin.Metadata(ctx, l.topics...)
	if err != nil {
		return fmt.Errorf("its topics: %w", err)
	}
	unstable := make(map[offsetmap.TopicPartition]bool, len(l.unstable))
	for _, tp := range l.unstable {
		unstable[tp] = true
	}
	for _, topic := range l.topics {
		detail, ok := metadata.Topics[topic]
		switch {
		case ok && detail.Err == nil:
		case !l.named && (!ok || errors.Is(detail.Err, kerr.UnknownTopicOrPartition)):
			l.group.Warnings = append(l.group.Warnings, Warning{Code: CommitWithoutTopic, Text: fmt.Sprintf(
				"the group has committed offsets of topic %s, which does not exist, or may not be seen", topic)})
			continue
		case !ok:
			return fmt.Errorf("topic %s: the brokers do not answer for it", topic)
		default:
			return fmt.Errorf("topic %s: %w", topic, detail.Err)
		}
		for _, p := range slices.Sorted(maps.Keys(detail.Partitions)) {
			tp := offsetmap.TopicPartition{Topic: topic, Partition: p}
			if _, there := l.committed[tp]; !there && !unstable[tp] {
				l.group.Missing = append(l.group.Missing, tp)
			}
		}
	}
	return nil
}

// finish makes the group of what was gathered.
func (l *groupLook) finish(topics []string) (*Group, error) {
	g := &l.group
	if len(l.committed) == 0 {
		if l.others > 0 {
			return g, fmt.Errorf("consumer group %s: %w of %s, and %d of other topics", g.ID, ErrNoCommit, strings.Join(topics, ", "), l.others)
		}
		return g, fmt.Errorf("consumer group %s: %w, though it exists and is %s; brokers leave out topics that the client may not describe", g.ID, ErrNoCommit, g.State)
	}
	for tp, next := range l.committed {
		g.Positions = append(g.Positions, offsetmap.Position{TopicPartition: tp, Next: next})
	}
	slices.SortFunc(g.Positions, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
	for rest := g.Missing; len(rest) > 0; {
		topic, n := rest[0].Topic, 1
		for n < len(rest) && rest[n].Topic == topic {
			n++
		}
		g.Warnings = append(g.Warnings, Warning{Code: CommitMissing, Text: fmt.Sprintf(
			"the group has no committed offset of %s: not read from, never committed, or expired: %s", joined(rest[:n]), OffsetExpiry)})
		rest = rest[n:]
	}
	slices.SortStableFunc(g.Warnings, func(a, b Warning) int { return strings.Compare(string(a.Code), string(b.Code)) })
	if g.joined() {
		g.Warnings = append(g.Warnings, Warning{Code: GroupJoined, Text: fmt.Sprintf(
			"%s; a KafkaSource never joins its group, so somebody else commits to it, or did", g.GroupDescription)})
	}
	return g, nil
}

func joined(partitions []offsetmap.TopicPartition) string {
	names := make([]string, len(partitions))
	for i, tp := range partitions {
		names[i] = tp.String()
	}
	return strings.Join(names, ", ")
}
