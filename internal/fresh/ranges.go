package fresh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// UnmeasuredError says which bounds were not measured, and why.
type UnmeasuredError struct {
	// Topics holds what concerns a topic as a whole, such as that it does not
	// exist.
	Topics map[string]error
	// Partitions holds what concerns one partition.
	Partitions map[offsetmap.TopicPartition]error
}

// Reason returns why a bound of tp was not measured, or nil.
func (e *UnmeasuredError) Reason(tp offsetmap.TopicPartition) error {
	if e == nil {
		return nil
	}
	switch topic, partition := e.Topics[tp.Topic], e.Partitions[tp]; {
	case topic != nil && partition != nil:
		return fmt.Errorf("%w; %w", topic, partition)
	case topic != nil:
		return topic
	default:
		return partition
	}
}

// Error counts what was not measured and names the first reasons.
func (e *UnmeasuredError) Error() string {
	const most = 3
	var first []string
	for _, t := range slices.Sorted(maps.Keys(e.Topics)) {
		first = append(first, fmt.Sprintf("%s: %v", t, e.Topics[t]))
	}
	for _, tp := range slices.SortedFunc(maps.Keys(e.Partitions), offsetmap.TopicPartition.Compare) {
		first = append(first, fmt.Sprintf("%s: %v", tp, e.Partitions[tp]))
	}
	more := ""
	if len(first) > most {
		first, more = first[:most], fmt.Sprintf("; and %d more", len(first)-most)
	}
	return fmt.Sprintf("not measured, %d topics and %d partitions: %s%s", len(e.Topics), len(e.Partitions), strings.Join(first, "; "), more)
}

// Unwrap returns the reasons.
func (e *UnmeasuredError) Unwrap() []error {
	return slices.AppendSeq(slices.Collect(maps.Values(e.Topics)), maps.Values(e.Partitions))
}

// Ranges measures log start, last stable offset and high watermark of every
// partition of the topics, with one ListOffsets of each kind for all of them
// (kadm splits it by leader). Naming no topic measures nothing.
//
// Every partition that exists stands in the map. A bound that could not be
// measured is none there, and the error, an *UnmeasuredError, says why; the
// rest of the map is valid all the same.
func Ranges(ctx context.Context, admin Admin, topics ...string) (map[offsetmap.TopicPartition]offsetmap.Range, error) {
	m := newMeasuring(topics)
	m.known(ctx, admin)
	// In this order, since stable <= end must hold although both grow meanwhile.
	m.list(ctx, "log start", admin.ListStartOffsets, func(r *offsetmap.Range, o offsetmap.NextOffset) { r.Start = o })
	m.list(ctx, "last stable offset", admin.ListCommittedOffsets, func(r *offsetmap.Range, o offsetmap.NextOffset) { r.Stable = o })
	m.list(ctx, "high watermark", admin.ListEndOffsets, func(r *offsetmap.Range, o offsetmap.NextOffset) { r.End = o })
	return m.ranges, m.err()
}

// Tail is where the log of one partition ended at one moment. A bound that was
// not measured is none.
type Tail struct {
	End offsetmap.NextOffset // the high watermark
	// Stable is the last stable offset, measured after End. So at End or above it
	// says that no transaction with a record before End is open, although others
	// may write meanwhile.
	Stable offsetmap.NextOffset
}

// Tails measures the high watermark and then the last stable offset of every
// partition of the topics. Map and error are as with Ranges.
func Tails(ctx context.Context, admin Admin, topics ...string) (map[offsetmap.TopicPartition]Tail, error) {
	m := newMeasuring(topics)
	m.known(ctx, admin)
	m.list(ctx, "high watermark", admin.ListEndOffsets, func(r *offsetmap.Range, o offsetmap.NextOffset) { r.End = o })
	m.list(ctx, "last stable offset", admin.ListCommittedOffsets, func(r *offsetmap.Range, o offsetmap.NextOffset) { r.Stable = o })
	tails := make(map[offsetmap.TopicPartition]Tail, len(m.ranges))
	for tp, r := range m.ranges {
		tails[tp] = Tail{End: r.End, Stable: r.Stable}
	}
	return tails, m.err()
}

// Listed is the record that one listing led to, in one partition.
type Listed struct {
	Offset    offsetmap.NextOffset // none where no record answers
	Timestamp int64                // of that record, in milliseconds; -1 where the listing tells none
}

// List measures one kind of offset of every partition of the topics by one listing,
// which is called what in errors. Map and error are as with Ranges, but a partition
// whose offset was not measured is not in the map.
func List(ctx context.Context, admin Admin, what string, list Listing, topics ...string) (map[offsetmap.TopicPartition]Listed, error) {
	m := newMeasuring(topics)
	m.known(ctx, admin)
	out := make(map[offsetmap.TopicPartition]Listed, len(m.ranges))
	// What known has just read is in the client's cache, so the listing need not ask again.
	cached := func(_ context.Context, topics ...string) (kadm.ListedOffsets, error) { return list(ctx, topics...) }
	m.each(ctx, what, cached, func(tp offsetmap.TopicPartition, o kadm.ListedOffset) error {
		found := Listed{Timestamp: o.Timestamp}
		if o.Offset >= 0 {
			next, err := offsetmap.Next(o.Offset)
			if err != nil {
				return err
			}
			found.Offset = next
		}
		out[tp] = found
		return nil
	})
	return out, m.err()
}

// measuring gathers what several listings say of the same partitions.
type measuring struct {
	topics  []string
	ranges  map[offsetmap.TopicPartition]offsetmap.Range
	reasons UnmeasuredError
}

func newMeasuring(topics []string) *measuring {
	return &measuring{
		topics:  slices.Compact(slices.Sorted(slices.Values(topics))),
		ranges:  map[offsetmap.TopicPartition]offsetmap.Range{},
		reasons: UnmeasuredError{Topics: map[string]error{}, Partitions: map[offsetmap.TopicPartition]error{}},
	}
}

// known puts every partition that exists into the map: a listing leaves out
// those whose leader did not answer.
func (m *measuring) known(ctx context.Context, admin Admin) {
	if len(m.topics) == 0 {
		return
	}
	c, err := Topics(ctx, admin, m.topics...)
	if err != nil && !errors.Is(err, ErrNoClusterID) {
		m.failTopics(err)
		return
	}
	m.topics = slices.DeleteFunc(m.topics, func(name string) bool {
		if err := c.Topics[name].Err; err != nil {
			m.reasons.Topics[name] = err
			return true
		}
		for _, p := range c.Topics[name].Partitions {
			m.ranges[offsetmap.TopicPartition{Topic: name, Partition: p}] = offsetmap.Range{}
		}
		return false
	})
}

func (m *measuring) failTopics(err error) {
	for _, name := range m.topics {
		m.reasons.Topics[name] = err
	}
	m.topics = nil
}

// Listing asks for an offset of every partition of the topics.
type Listing func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)

func (m *measuring) list(ctx context.Context, kind string, list Listing, set func(*offsetmap.Range, offsetmap.NextOffset)) {
	m.each(ctx, kind, list, func(tp offsetmap.TopicPartition, o kadm.ListedOffset) error {
		next, err := offsetmap.Next(o.Offset)
		if err != nil {
			return fmt.Errorf("the broker answered %d", o.Offset)
		}
		r := m.ranges[tp]
		set(&r, next)
		m.ranges[tp] = r
		return nil
	})
}

// each calls take for every partition that the listing has an answer for.
func (m *measuring) each(ctx context.Context, kind string, list Listing, take func(offsetmap.TopicPartition, kadm.ListedOffset) error) {
	if len(m.topics) == 0 { // kadm would list all topics
		return
	}
	listed, err := list(uncached(ctx), m.topics...)
	measured := make(map[offsetmap.TopicPartition]bool, len(m.ranges))
	listed.Each(func(o kadm.ListedOffset) {
		tp := offsetmap.TopicPartition{Topic: o.Topic, Partition: o.Partition}
		if o.Partition < 0 { // kadm's place for what is wrong with the topic
			if o.Err != nil {
				m.reasons.Topics[o.Topic] = fmt.Errorf("%s: %w", kind, o.Err)
			}
			return
		}
		if _, known := m.ranges[tp]; !known { // it came into being since
			m.ranges[tp] = offsetmap.Range{}
		}
		measured[tp] = true
		err := o.Err
		if err == nil {
			err = take(tp, o)
		}
		if err != nil {
			m.fail(tp, fmt.Errorf("%s: %w", kind, err))
		}
	})
	reasons, other := shardReasons(err)
	if other == nil {
		other = errors.New("the brokers did not answer for the partition")
	}
	for tp := range m.ranges {
		if !measured[tp] && m.reasons.Topics[tp.Topic] == nil {
			reason := reasons[tp]
			if reason == nil {
				reason = other
			}
			m.fail(tp, fmt.Errorf("%s: %w", kind, reason))
		}
	}
}

func (m *measuring) fail(tp offsetmap.TopicPartition, err error) {
	if before := m.reasons.Partitions[tp]; before != nil {
		err = fmt.Errorf("%w; %w", before, err)
	}
	m.reasons.Partitions[tp] = err
}

func (m *measuring) err() error {
	if len(m.reasons.Topics) == 0 && len(m.reasons.Partitions) == 0 {
		return nil
	}
	return &m.reasons
}

// shardReasons takes apart what kadm says of the brokers that failed: why each
// partition that they lead is missing. An error of any other kind concerns all
// partitions and is returned as such.
func shardReasons(err error) (map[offsetmap.TopicPartition]error, error) {
	var shards *kadm.ShardErrors
	if !errors.As(err, &shards) {
		return nil, err
	}
	reasons := map[offsetmap.TopicPartition]error{}
	for _, s := range shards.Errs {
		req, ok := s.Req.(*kmsg.ListOffsetsRequest)
		if !ok {
			continue
		}
		reason := s.Err
		if s.Broker.NodeID >= 0 {
			reason = fmt.Errorf("broker %d: %w", s.Broker.NodeID, s.Err)
		}
		for _, t := range req.Topics {
			for _, p := range t.Partitions {
				reasons[offsetmap.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = reason
			}
		}
	}
	return reasons, nil
}
