package cutover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type topicPartition = offsetmap.TopicPartition

// forever keeps records whose timestamps are of another day: a broker deletes by
// the timestamps of records, and in the middle of a scenario.
func forever() map[string]*string { return map[string]*string{"retention.ms": new("-1")} }

// create makes topics with equal partition counts on both clusters.
func (w *world) create(ctx context.Context, partitions int32, topics ...string) error {
	return w.createWith(ctx, partitions, forever(), topics...)
}

// createWith returns when the brokers know what the controller has answered,
// which on a busy machine is some time later.
func (w *world) createWith(ctx context.Context, partitions int32, configs map[string]*string, topics ...string) error {
	for _, adm := range []*kadm.Client{w.admin.source, w.admin.target} {
		r, err := adm.CreateTopics(ctx, partitions, 1, configs, topics...)
		if err := errors.Join(err, r.Error()); err != nil {
			return err
		}
		var last error
		if err := w.until(ctx, func() (bool, error) {
			listed, err := adm.ListEndOffsets(ctx, topics...)
			n := 0
			listed.Each(func(kadm.ListedOffset) { n++ })
			last = errors.Join(err, listed.Error(), check(n == len(topics)*int(partitions), "%d partitions are known", n))
			return last == nil, nil
		}); err != nil {
			return fmt.Errorf("topics %v with %d partitions: %w: %w", topics, partitions, err, last)
		}
	}
	return nil
}

// record is record n of a source partition. What it carries changes with n:
// null keys, tombstones, null and binary headers, a timestamp of its own.
func record(tp topicPartition, n int) *kgo.Record {
	r := &kgo.Record{
		Topic: tp.Topic, Partition: tp.Partition,
		Key:       fmt.Appendf(nil, "key-%d", n%7),
		Value:     fmt.Appendf(nil, "%s/%d", tp, n),
		Timestamp: time.UnixMilli(1_790_000_000_000 + int64(n)),
		Headers:   []kgo.RecordHeader{{Key: "id", Value: fmt.Appendf(nil, "%s/%d", tp, n)}},
	}
	switch n % 10 {
	case 3:
		r.Key = nil
	case 5:
		r.Value = nil
	case 7:
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "binary", Value: []byte{0, 255, 1, 128}}, kgo.RecordHeader{Key: "null"})
	case 9:
		r.Key, r.Value = []byte{}, []byte{}
	}
	return r
}

// produce writes the records from..to-1 of a partition to one of the clusters.
func produce(ctx context.Context, c *kgo.Client, tp topicPartition, from, to int) error {
	batch := make([]*kgo.Record, 0, to-from)
	for n := from; n < to; n++ {
		batch = append(batch, record(tp, n))
	}
	return c.ProduceSync(ctx, batch...).FirstErr()
}

// flinkCopied writes to both clusters what the old job saw: the source has all
// records, the target those before c.
func (w *world) flinkCopied(ctx context.Context, tp topicPartition, all, c int) error {
	return errors.Join(produce(ctx, w.source, tp, 0, all), produce(ctx, w.target, tp, 0, c))
}

// expire deletes the source's records before the offset.
func (w *world) expire(ctx context.Context, tp topicPartition, before int64) error {
	offsets := kadm.Offsets{}
	offsets.AddOffset(tp.Topic, tp.Partition, before, -1)
	r, err := w.admin.source.DeleteRecords(ctx, offsets)
	return errors.Join(err, r.Error())
}

// ends lists the target's ends.
func (w *world) ends(ctx context.Context, topics ...string) (map[topicPartition]int64, error) {
	listed, err := w.admin.target.ListEndOffsets(ctx, topics...)
	if err := errors.Join(err, listed.Error()); err != nil {
		return nil, err
	}
	out := map[topicPartition]int64{}
	listed.Each(func(o kadm.ListedOffset) { out[topicPartition{Topic: o.Topic, Partition: o.Partition}] = o.Offset })
	return out, nil
}

// text is everything that a copy must keep of a record.
func text(r *kgo.Record) string {
	part := func(b []byte) string {
		if b == nil {
			return "null"
		}
		return fmt.Sprintf("%q", b)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "key=%s value=%s time=%d", part(r.Key), part(r.Value), r.Timestamp.UnixMilli())
	for _, h := range r.Headers {
		fmt.Fprintf(&b, " %s=%s", h.Key, part(h.Value))
	}
	return b.String()
}
