package connecttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
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
	var lost []topicPartition
	failing := false
	fetches.EachError(func(topic string, partition int32, err error) {
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return
		case errors.Is(err, kerr.OffsetOutOfRange), errors.Is(err, kerr.UnknownTopicID):
			lost = append(lost, topicPartition{topic, partition})
		}
		failing = true
		t.log.Warn("failure during poll", "topic", topic, "partition", partition, "error", err)
	})
	fetches.EachRecord(func(r *kgo.Record) {
		tp := topicPartition{r.Topic, r.Partition}
		t.next[tp] = r.Offset + 1
		if t.w.faults.silenced(tp) {
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
func (t *task) reset(parts []topicPartition) error {
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

// outgoing is one record on its way to the target. A source record may become
// none, when a fault drops it, or two.
type outgoing struct {
	source *kgo.Record
	out    *kgo.Record // nil: nothing is written, the offset counts as copied
	last   bool        // of its source record
}

func (o outgoing) from() topicPartition {
	return topicPartition{o.source.Topic, o.source.Partition}
}

// write sends records to the target and waits until all are acknowledged. The
// first failure fails the task.
func (t *task) write(records []*kgo.Record) error {
	var batch []outgoing
	var failed error
	for _, r := range records {
		out, err := t.prepare(r)
		if err != nil {
			failed = err // what came before it is still written
			break
		}
		batch = append(batch, out...)
	}
	if t.syncs.unproven() && len(batch) > 0 {
		// The callback of the first record waits for the syncs topic.
		if err := t.sendAll(batch[:1]); err != nil {
			return err
		}
		batch = batch[1:]
	}
	if err := t.sendAll(batch); err != nil {
		return err
	}
	return failed
}

// sendAll writes a batch and the offset syncs that are due after it.
func (t *task) sendAll(batch []outgoing) error {
	for len(batch) > 0 {
		batch = t.send(batch)
		if len(batch) == 0 {
			break
		}
		// KafkaProducer.send waits for a partition that is not there for
		// max.block.ms, which Connect sets to the largest long.
		t.log.Warn("target partition does not exist, waiting", "source topic", batch[0].source.Topic, "partition", batch[0].source.Partition)
		if err := sleep(t.writing, retryPause); err != nil {
			return err
		}
	}
	if err := t.failure(); err != nil {
		return err
	}
	if err := t.syncs.send(t.writing); err != nil {
		return err
	}
	return t.writing.Err()
}

// send writes a batch and waits for its end. It returns what has to be sent
// again: everything of a partition from the first record on that found no target
// partition.
func (t *task) send(batch []outgoing) []outgoing {
	var pending sync.WaitGroup
	var mu sync.Mutex
	again := make(map[int]bool)
	blocked := make(map[topicPartition]bool)
	written := make(map[string]bool)
	for i, o := range batch {
		if o.out == nil {
			continue
		}
		pending.Add(1)
		t.data.Produce(t.writing, o.out, func(produced *kgo.Record, err error) {
			defer pending.Done()
			mu.Lock()
			defer mu.Unlock()
			if noSuchPartition(err) || blocked[o.from()] {
				blocked[o.from()] = true
				again[i] = true
				return
			}
			if err == nil {
				written[produced.Topic] = true
				if o.last {
					t.syncs.observe(o.from(), o.source.Offset, produced.Offset)
				}
			}
			t.handled(o, err)
		})
	}
	pending.Wait()
	t.inst.c.markTopics(written)
	var rest []outgoing
	for i, o := range batch {
		switch {
		case again[i], o.out == nil && blocked[o.from()]:
			o.out = cleanRecord(o.out)
			rest = append(rest, o)
		case o.out == nil:
			t.handled(o, nil)
		}
	}
	return rest
}

// cleanRecord copies what can be sent again; the client has filled in the rest.
func cleanRecord(r *kgo.Record) *kgo.Record {
	if r == nil {
		return nil
	}
	return &kgo.Record{
		Topic: r.Topic, Partition: r.Partition, Timestamp: r.Timestamp,
		Key: r.Key, Value: r.Value, Headers: r.Headers,
	}
}

// noSuchPartition recognises what the client says of a partition that the topic
// does not have.
func noSuchPartition(err error) bool {
	return err != nil && strings.Contains(err.Error(), "invalid record partitioning choice")
}

// handled takes note of the end of one write. Offsets count up to the first
// record of a partition that failed, as SubmittedRecords counts them.
func (t *task) handled(o outgoing, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tp := o.from()
	switch {
	case errors.Is(err, context.Canceled):
		t.broken[tp] = true
	case err != nil && !t.mirror.toleratesErrors:
		t.broken[tp] = true
		if t.failed == nil {
			t.failed = &javaError{
				"org.apache.kafka.connect.errors.ConnectException",
				"Unrecoverable exception from producer send callback\nCaused by: " + err.Error(),
				"org.apache.kafka.connect.runtime.WorkerSourceTask.maybeThrowProducerSendException",
			}
		}
	case err != nil:
		t.log.Warn("ignoring failed record send", "error", err) // errors.tolerance=all skips the record
	}
	if o.last && !t.broken[tp] {
		t.acked[tp] = o.source.Offset
	}
}

func (t *task) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// markTopics records the target topics that were written, for GET topics.
func (c *connector) markTopics(topics map[string]bool) {
	if len(topics) == 0 {
		return
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	for topic := range topics {
		c.topics[topic] = true
	}
}

// prepare turns a source record into what is written, after the fault that hits
// it.
func (t *task) prepare(r *kgo.Record) ([]outgoing, error) {
	tp := topicPartition{r.Topic, r.Partition}
	out, err := t.convert(r)
	if err != nil {
		return nil, err
	}
	list := []outgoing{{r, out, true}}
	switch f := t.w.faults.recordFault(Record{r.Topic, r.Partition, r.Offset}).(type) {
	case DropRecord:
		list[0].out = nil
	case RepeatRecord:
		list = []outgoing{{r, cleanRecord(out), false}, {r, out, true}}
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
		list[len(list)-1].last = false
		list = append(list, outgoing{r, h, true})
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
