package flinkstate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// namedOffset is a broker's answer for one partition.
type namedOffset struct {
	at  int64
	err error
}

// fetchNamed asks for the offsets of partitions by name, in one request. Asked
// for all, a broker goes through the offsets that it holds and looks for open
// transactions there (OffsetMetadataManager.fetchAllOffsets, before it
// GroupMetadataManager.getOffsets); only where it is asked for a partition does it
// tell that the first offset of that one is pending.
func (r *GroupReader) fetchNamed(ctx context.Context, group string, partitions []offsetmap.TopicPartition) (map[offsetmap.TopicPartition]namedOffset, error) {
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group
	for _, tp := range partitions { // sorted
		if n := len(asked.Topics); n == 0 || asked.Topics[n-1].Topic != tp.Topic {
			topic := kmsg.NewOffsetFetchRequestGroupTopic()
			topic.Topic = tp.Topic
			asked.Topics = append(asked.Topics, topic)
		}
		last := &asked.Topics[len(asked.Topics)-1]
		last.Partitions = append(last.Partitions, tp.Partition)
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	req.Groups = append(req.Groups, asked)
	resp, err := req.RequestWith(ctx, r.requestor)
	if err != nil {
		return nil, err
	}
	if len(resp.Groups) != 1 || resp.Groups[0].Group != group {
		return nil, errors.New("the brokers do not answer for the group")
	}
	out := make(map[offsetmap.TopicPartition]namedOffset, len(partitions))
	switch err := kerr.ErrorForCode(resp.Groups[0].ErrorCode); {
	case errors.Is(err, kerr.GroupIDNotFound): // Describe says more
		for _, tp := range partitions {
			out[tp] = namedOffset{at: noOffset}
		}
		return out, nil
	case err != nil:
		return nil, err
	}
	for _, t := range resp.Groups[0].Topics {
		for _, p := range t.Partitions {
			out[offsetmap.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = namedOffset{p.Offset, kerr.ErrorForCode(p.ErrorCode)}
		}
	}
	return out, nil
}

// takeNamed sorts the missing partitions by what was answered for each by name.
func (l *groupLook) takeNamed(answered map[offsetmap.TopicPartition]namedOffset) error {
	var bad []error
	var missing []offsetmap.TopicPartition
	for _, tp := range l.group.Missing {
		o, there := answered[tp]
		switch {
		case !there:
			bad = append(bad, fmt.Errorf("%s: the brokers do not answer for it", tp))
		case o.err == nil && o.at == noOffset:
			missing = append(missing, tp)
		default:
			if err := l.put(tp, o.at, o.err); err != nil {
				bad = append(bad, err)
			}
		}
	}
	l.group.Missing = missing
	slices.SortFunc(l.unstable, offsetmap.TopicPartition.Compare)
	return errors.Join(bad...)
}
