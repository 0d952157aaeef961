package proof

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A consumer is told of records only. Where a log goes on with aborted records
// whose marker is beyond the last stable offset, or with batches that compaction
// emptied, it passes them without a word, and whoever waits for records to be
// sure that there are none waits for ever. So such a tail is fetched by hand.

// probeAfter is how long no record must have come before one is sent, which is
// longer than a broker holds a consumer's fetch.
const probeAfter = 2 * fetchWait

// Bounds of one probe. A fetch returns at least one batch, whatever its size.
const (
	probeBytes = 1 << 20
	probeSteps = 16
)

// probe returns up to where, but not above goal, nothing is readable from an
// offset on.
func (r *reader) probe(ctx context.Context, tp offsetmap.TopicPartition, from, goal int64, compacted bool) (int64, error) {
	leader, id, err := r.leader(ctx, tp)
	if err != nil {
		return from, err
	}
	for range probeSteps {
		got, err := r.fetch(ctx, tp, leader, id, from)
		if err != nil {
			return from, err
		}
		records, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
			Offset: from, IsolationLevel: r.isolation, Topic: tp.Topic, Partition: tp.Partition,
		}, got, kgo.DefaultDecompressor(), nil)
		switch {
		case records.Err != nil:
			return from, records.Err
		case len(records.Records) > 0:
			return min(records.Records[0].Offset, goal), nil
		case next > from:
			if from = next; from >= goal {
				return goal, nil
			}
		case len(got.RecordBatches) == 0 && compacted && r.readableEnd(got) >= goal:
			// Compaction can leave the end of a log without any batch. No other
			// log has such an end, and an empty answer may mean that tiered
			// storage was slow; it has no compacted topics.
			return goal, nil
		default:
			return from, nil
		}
	}
	return from, nil
}

func (r *reader) readableEnd(p *kmsg.FetchResponseTopicPartition) int64 {
	if r.isolation == kgo.ReadCommitted() {
		return p.LastStableOffset
	}
	return p.HighWatermark
}

func (r *reader) leader(ctx context.Context, tp offsetmap.TopicPartition) (int32, [16]byte, error) {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = new(tp.Topic)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, r.client)
	if err != nil {
		return 0, [16]byte{}, fmt.Errorf("read metadata: %w", err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return 0, [16]byte{}, err
		}
		for _, p := range t.Partitions {
			if p.Partition == tp.Partition {
				return p.Leader, t.TopicID, kerr.ErrorForCode(p.ErrorCode)
			}
		}
	}
	return 0, [16]byte{}, kerr.UnknownTopicOrPartition
}

var errNotAnswered = errors.New("the broker did not answer for the partition")

func (r *reader) fetch(ctx context.Context, tp offsetmap.TopicPartition, leader int32, id [16]byte, from int64) (*kmsg.FetchResponseTopicPartition, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis = 0
	req.MinBytes = 0
	req.MaxBytes = probeBytes
	req.SessionEpoch = -1 // no session
	if r.isolation == kgo.ReadCommitted() {
		req.IsolationLevel = 1
	}
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = tp.Topic, id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = tp.Partition, from, probeBytes
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)

	resp, err := req.RequestWith(ctx, r.client.Broker(int(leader)))
	if err != nil {
		return nil, fmt.Errorf("broker %d: fetch: %w", leader, err)
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
