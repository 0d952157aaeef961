package fresh

import (
	"cmp"
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Reading is how a log is read by hand.
type Reading struct {
	Isolation kgo.IsolationLevel
	// Compacted says that the end of the log may be without a batch.
	Compacted bool
	// Bytes is asked of one fetch, which brings at least one batch.
	Bytes int32
	// Ahead is asked before each fetch; an error of it ends the reading.
	Ahead func() error
	// Fetched is told what each fetch brought.
	Fetched func(bytes int)
}

// Read calls each with the readable records of from..to-1, in order, and returns up to
// where everything was read: to, or less with the error that says why. Each may return
// false to stop.
func Read(ctx context.Context, client *kgo.Client, at Leader, tp offsetmap.TopicPartition, from, to int64, r Reading, each func(*kgo.Record) bool) (int64, error) {
	for from < to {
		if err := r.Ahead(); err != nil {
			return from, err
		}
		got, err := Fetch(ctx, client, at, tp, from, r.Bytes, r.Isolation)
		if err != nil {
			return from, fmt.Errorf("%s from offset %d: %w", tp, from, err)
		}
		r.Fetched(len(got.RecordBatches))
		records, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
			Offset: from, IsolationLevel: r.Isolation, Topic: tp.Topic, Partition: tp.Partition,
		}, got, kgo.DefaultDecompressor(), nil)
		if records.Err != nil {
			return from, fmt.Errorf("%s from offset %d: %w", tp, from, records.Err)
		}
		for _, record := range records.Records {
			if record.Offset >= to {
				return to, nil
			}
			if !each(record) {
				return record.Offset + 1, nil
			}
		}
		switch {
		case next > from:
			from = next
		case len(got.RecordBatches) == 0 && r.Compacted:
			return to, nil // compaction can leave the end of a log without a batch
		default:
			return from, fmt.Errorf("%s: the broker gave nothing from offset %d on, below %d", tp, from, to)
		}
	}
	return to, nil
}

// Led is the leader of a partition, or why there is none.
type Led struct {
	Leader
	Err error
}

// Leaders asks for the leader of every partition of the topics at once.
func Leaders(ctx context.Context, client *kgo.Client, topics ...string) (map[offsetmap.TopicPartition]Led, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	out := map[offsetmap.TopicPartition]Led{}
	if len(topics) == 0 {
		return out, nil // no topic would be all of them
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("read metadata: %w", err)
	}
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		for _, p := range t.Partitions {
			led := Led{Leader{Broker: p.Leader, Topic: t.TopicID}, cmp.Or(kerr.ErrorForCode(t.ErrorCode), kerr.ErrorForCode(p.ErrorCode))}
			if led.Err == nil && p.Leader < 0 {
				led.Err = kerr.LeaderNotAvailable
			}
			out[offsetmap.TopicPartition{Topic: *t.Topic, Partition: p.Partition}] = led
		}
	}
	return out, nil
}

// FirstSince returns the offset of the first record of a partition that is stamped as
// late as a moment or later, in milliseconds, and none where there is no such record.
func FirstSince(ctx context.Context, client *kgo.Client, tp offsetmap.TopicPartition, moment int64) (offsetmap.NextOffset, error) {
	none := offsetmap.NextOffset{}
	if moment < 0 { // -1 and below ask for the ends of a log
		return none, fmt.Errorf("%s: there is no time %d", tp, moment)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = tp.Topic
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp, part.CurrentLeaderEpoch = tp.Partition, moment, -1
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return none, fmt.Errorf("%s: list offsets: %w", tp, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			switch err := kerr.ErrorForCode(p.ErrorCode); {
			case p.Partition != tp.Partition:
			case err != nil:
				return none, fmt.Errorf("%s: list offsets: %w", tp, err)
			case p.Offset < 0:
				return none, nil
			default:
				return offsetmap.Next(p.Offset)
			}
		}
	}
	return none, fmt.Errorf("%s: list offsets: %w", tp, errNotAnswered)
}
