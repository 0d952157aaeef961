package proof

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
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
	leader, err := r.leader(ctx, tp)
	if err != nil {
		return from, err
	}
	for range probeSteps {
		got, err := fresh.Fetch(ctx, r.client, leader, tp, from, probeBytes, r.isolation)
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

func (r *reader) leader(ctx context.Context, tp offsetmap.TopicPartition) (fresh.Leader, error) {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = new(tp.Topic)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, r.client)
	if err != nil {
		return fresh.Leader{}, fmt.Errorf("read metadata: %w", err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fresh.Leader{}, err
		}
		for _, p := range t.Partitions {
			if p.Partition == tp.Partition {
				return fresh.Leader{Broker: p.Leader, Topic: t.TopicID}, kerr.ErrorForCode(p.ErrorCode)
			}
		}
	}
	return fresh.Leader{}, kerr.UnknownTopicOrPartition
}
