package connecttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// copy polls and writes until the task is asked to stop. What was polled is
// written and acknowledged before the next poll, so that a stop finds nothing in
// flight but one batch.
func (t *task) copy() error {
	if err := t.open(); err != nil {
		return err
	}
	for {
		if err := t.awaitUnpause(); err != nil {
			return err
		}
		records, err := t.poll()
		if err != nil {
			return err
		}
		if err := t.write(records); err != nil {
			return err
		}
	}
}

// poll returns the next records in the order of their partitions. Errors of the
// cluster are swallowed, as MirrorSourceTask.poll does: the task stays RUNNING
// and asks again.
func (t *task) poll() ([]*kgo.Record, error) {
	records := t.releaseSilent()
	if t.source == nil {
		if err := sleep(t.polling, t.mirror.pollTimeout); err != nil {
			return nil, err
		}
		return records, nil
	}
	timeout := t.mirror.pollTimeout
	if len(records) > 0 {
		timeout = time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.polling, timeout)
	fetches := t.source.PollFetches(ctx)
	cancel()
	if err := t.polling.Err(); err != nil {
		return nil, err
	}
	lost := make(map[topicPartition]bool)
	failing := false
	fetches.EachError(func(topic string, partition int32, err error) {
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return
		case errors.Is(err, kerr.OffsetOutOfRange):
			lost[topicPartition{topic, partition}] = true
		case errors.Is(err, kerr.UnknownTopicID):
			// The topic was created again. The client would never read the new one;
			// the Java consumer goes on at its old position.
			t.source.PurgeTopicsFromConsuming(topic)
			for tp := range t.next {
				if tp.topic == topic {
					lost[tp] = true
				}
			}
		}
		failing = true
		t.log.Warn("failure during poll", "topic", topic, "partition", partition, "error", err)
	})
	fetches.EachRecord(func(r *kgo.Record) {
		tp := topicPartition{r.Topic, r.Partition}
		t.next[tp] = r.Offset + 1
		if len(t.silent[tp]) > 0 || t.w.faults.silenced(tp) {
			t.silent[tp] = append(t.silent[tp], r)
			return
		}
		records = append(records, r)
	})
	if len(lost) > 0 {
		if err := t.reset(lost); err != nil {
			return nil, err
		}
	} else if failing && len(records) == 0 {
		if err := sleep(t.polling, retryPause); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// releaseSilent returns what was held of partitions that are silent no more.
func (t *task) releaseSilent() []*kgo.Record {
	var records []*kgo.Record
	for tp, held := range t.silent {
		if !t.w.faults.silenced(tp) {
			records = append(records, held...)
			delete(t.silent, tp)
		}
	}
	return records
}

// reset applies auto.offset.reset to partitions whose position left the log.
func (t *task) reset(lost map[topicPartition]bool) error {
	parts := slices.Collect(maps.Keys(lost))
	remove := make(map[string][]int32)
	at := make(map[topicPartition]int64)
	for _, tp := range parts {
		remove[tp.topic] = append(remove[tp.topic], tp.partition)
		at[tp] = t.next[tp]
	}
	t.source.RemoveConsumePartitions(remove)
	for {
		found, err := positions{t, kadm.NewClient(t.source)}.inRange(t.polling, parts, at)
		if err == nil {
			maps.Copy(t.next, found)
			t.source.AddConsumePartitions(startOffsets(found))
			return nil
		}
		t.log.Warn("failure during poll", "error", err)
		if err := sleep(t.polling, retryPause); err != nil {
			return err
		}
	}
}

// prepare turns a source record into what is written, after the fault that hits
// it.
func (t *task) prepare(r *kgo.Record) ([]*outgoing, error) {
	tp := topicPartition{r.Topic, r.Partition}
	out, err := t.convert(r)
	switch {
	case err != nil && t.mirror.toleratesErrors:
		// It is left out, and its offset is not committed by itself.
		t.log.Warn("ignoring a record that cannot be converted", "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	list := []*outgoing{{source: r, out: out, ack: r}}
	switch f := t.w.faults.recordFault(Record{r.Topic, r.Partition, r.Offset}).(type) {
	case DropRecord:
		list[0].out = nil
	case RepeatRecord:
		list = []*outgoing{{source: r, out: cleanRecord(out)}, {source: r, out: out, ack: r}}
	case AlterRecord:
		if f.Change != nil {
			f.Change(out)
		} else {
			out.Value = append(slices.Clone(out.Value), '~')
		}
	case SwapRecords:
		t.held[tp] = out
		return nil, nil
	case FailTask:
		return nil, &javaError{
			"org.apache.kafka.connect.errors.ConnectException",
			fmt.Sprintf("injected failure at %s-%d offset %d", r.Topic, r.Partition, r.Offset),
			mirrorPackage + "MirrorSourceTask.poll",
		}
	}
	if h := t.held[tp]; h != nil {
		delete(t.held, tp)
		list[len(list)-1].ack = nil
		list = append(list, &outgoing{source: r, out: h, ack: r})
	}
	return list, nil
}

// convert is MirrorSourceTask.convertRecord and the converters behind it.
func (t *task) convert(r *kgo.Record) (*kgo.Record, error) {
	out := &kgo.Record{
		Topic:     t.mirror.policy.remoteTopic(r.Topic),
		Partition: r.Partition,
		Timestamp: r.Timestamp,
	}
	var err error
	if out.Key, err = t.converters.key.data(r.Key, true); err != nil {
		return nil, err
	}
	if out.Value, err = t.converters.value.data(r.Value, false); err != nil {
		return nil, err
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, kgo.RecordHeader{Key: h.Key, Value: t.converters.header.header(h.Value)})
	}
	return out, nil
}
