package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// create makes a topic with equal partition counts on both clusters.
func (w *world) create(ctx context.Context, partitions int32, topics ...string) error {
	for _, adm := range []*kadm.Client{w.admin.source, w.admin.target} {
		r, err := adm.CreateTopics(ctx, partitions, 1, forever(), topics...)
		if err := errors.Join(err, r.Error()); err != nil {
			return err
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

// read reads target partitions, each from an offset on, until n records have
// come in all, then for another second, in which none may.
func (w *world) read(ctx context.Context, from map[topicPartition]int64, n int) (map[topicPartition][]string, error) {
	at := map[string]map[int32]kgo.Offset{}
	for tp, offset := range from {
		if at[tp.Topic] == nil {
			at[tp.Topic] = map[int32]kgo.Offset{}
		}
		at[tp.Topic][tp.Partition] = kgo.NewOffset().At(offset)
	}
	c, err := kgo.NewClient(append(clientOptions(w.Target), kgo.ConsumePartitions(at))...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	got := map[topicPartition][]string{}
	for read, deadline := 0, time.Now().Add(w.Patience); ; {
		poll, cancel := context.WithTimeout(ctx, time.Second)
		fetches := c.PollFetches(poll)
		cancel()
		if err := fetches.Err0(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return got, err
		}
		before := read
		fetches.EachRecord(func(r *kgo.Record) {
			tp := topicPartition{Topic: r.Topic, Partition: r.Partition}
			got[tp] = append(got[tp], text(r))
			read++
		})
		if read == before && (read >= n || time.Now().After(deadline)) {
			return got, nil
		}
	}
}

// expectCopied holds the target, from each partition's end before the start, to
// the source's records from..to-1: each once, in order, unaltered. Nothing of
// the library takes part.
func (w *world) expectCopied(ctx context.Context, before map[topicPartition]int64, want map[topicPartition][2]int) error {
	from, n := map[topicPartition]int64{}, 0
	for tp, span := range want {
		from[tp] = before[tp]
		n += span[1] - span[0]
	}
	all, err := w.read(ctx, from, n)
	if err != nil {
		return err
	}
	var errs []error
	for tp, span := range want {
		got, expected := all[tp], []string(nil)
		for n := span[0]; n < span[1]; n++ {
			expected = append(expected, text(record(tp, n)))
		}
		for i := range max(len(got), len(expected)) {
			if at(got, i) != at(expected, i) {
				errs = append(errs, fmt.Errorf("%s: copied record %d is %s, want source record %d: %s (%d copied, %d expected)",
					tp, i, at(got, i), span[0]+i, at(expected, i), len(got), len(expected)))
				break
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}
