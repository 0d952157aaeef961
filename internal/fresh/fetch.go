package fresh

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Leader is where a partition is fetched from.
type Leader struct {
	Broker int32
	Topic  [16]byte // the topic's id, by which newer brokers are asked
}

var errNotAnswered = errors.New("the broker did not answer for the partition")

// Fetch asks the leader of a partition once for what lies in the log from an
// offset on, without waiting for more: up to most bytes, but at least one batch.
// A consumer passes aborted records, markers and emptied batches without a word;
// here they can be seen.
func Fetch(ctx context.Context, client *kgo.Client, at Leader, tp offsetmap.TopicPartition, from int64, most int32, isolation kgo.IsolationLevel) (*kmsg.FetchResponseTopicPartition, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 0, 0, most
	req.SessionEpoch = -1 // no session
	if isolation == kgo.ReadCommitted() {
		req.IsolationLevel = 1
	}
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = tp.Topic, at.Topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = tp.Partition, from, most
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client.Broker(int(at.Broker)))
	if err != nil {
		return nil, fmt.Errorf("broker %d: fetch: %w", at.Broker, err)
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	for _, t := range resp.Topics {
		for i := range t.Partitions {
			if p := &t.Partitions[i]; p.Partition == tp.Partition {
				return p, kerr.ErrorForCode(p.ErrorCode)
			}
		}
	}
	return nil, errNotAnswered
}
