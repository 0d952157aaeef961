package connecttest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// outgoing is one record on its way to the target. A source record may become
// none, when a fault drops it, or two.
type outgoing struct {
	source *kgo.Record
	out    *kgo.Record // nil: nothing is written
	ack    *kgo.Record // the source record that is copied once this one is written; nil for none

	// What the producer said, once it has ended.
	ended  bool
	err    error
	offset int64 // on the target
}

func (o *outgoing) from() topicPartition {
	return topicPartition{o.source.Topic, o.source.Partition}
}

// write sends records to the target and waits until all are acknowledged. The
// first failure fails the task.
func (t *task) write(records []*kgo.Record) error {
	var batch []*outgoing
	var failed error
	for _, r := range records {
		out, err := t.prepare(r)
		if err != nil {
			failed = err // what came before it is still written
			break
		}
		batch = append(batch, out...)
	}
	batch = t.foldDropped(batch)
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

// foldDropped takes out what is not to be written. Its offset counts as copied
// once the record before it is, so that offsets are committed in order.
func (t *task) foldDropped(batch []*outgoing) []*outgoing {
	var kept []*outgoing
	last := make(map[topicPartition]*outgoing)
	for _, o := range batch {
		before := last[o.from()]
		switch {
		case o.out != nil:
			last[o.from()] = o
			kept = append(kept, o)
		case o.ack == nil:
		case before != nil:
			before.ack = o.ack
		default:
			t.acknowledge(o)
		}
	}
	return kept
}

// sendAll writes a batch and the offset syncs that are due after it.
func (t *task) sendAll(batch []*outgoing) error {
	for len(batch) > 0 {
		batch = t.send(batch)
		if err := firstError(t.failure(), t.writing.Err()); err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		// KafkaProducer.send waits for a partition that is not there for
		// max.block.ms, which Connect sets to the largest long.
		t.log.Warn("target partition does not exist, waiting", "topic", batch[0].out.Topic, "partition", batch[0].out.Partition)
		if err := sleep(t.writing, retryPause); err != nil {
			return err
		}
	}
	if err := t.syncs.send(t.writing); err != nil {
		return err
	}
	return t.writing.Err()
}

// send writes a batch and waits for its end. Offsets count as SubmittedRecords
// counts them: in each source partition up to the first record that is not
// acknowledged. What is left of a partition for which the target has none is
// returned, to be sent again.
func (t *task) send(batch []*outgoing) []*outgoing {
	var mu sync.Mutex
	queues := make(map[topicPartition][]*outgoing)
	for _, o := range batch {
		queues[o.from()] = append(queues[o.from()], o)
	}
	written := make(map[string]bool)
	var pending sync.WaitGroup
	for _, o := range batch {
		pending.Add(1)
		t.data.Produce(t.writing, o.out, func(produced *kgo.Record, err error) {
			defer pending.Done()
			mu.Lock()
			defer mu.Unlock()
			o.ended, o.err, o.offset = true, err, produced.Offset
			q := queues[o.from()]
			for len(q) > 0 && t.finish(q[0]) {
				written[q[0].out.Topic] = true
				q = q[1:]
			}
			queues[o.from()] = q
		})
	}
	pending.Wait()
	t.inst.c.markTopics(written)
	var rest []*outgoing
	for _, q := range queues {
		for _, o := range q {
			rest = append(rest, &outgoing{source: o.source, out: cleanRecord(o.out), ack: o.ack})
		}
	}
	return rest
}

// finish takes note of the end of one write, and reports whether those behind it
// count.
func (t *task) finish(o *outgoing) bool {
	switch {
	case !o.ended, noSuchPartition(o.err), errors.Is(o.err, context.Canceled):
		return false
	case o.err != nil && !t.mirror.toleratesErrors:
		t.fail(&javaError{
			"org.apache.kafka.connect.errors.ConnectException",
			"Unrecoverable exception from producer send callback\nCaused by: " + o.err.Error(),
			"org.apache.kafka.connect.runtime.WorkerSourceTask.maybeThrowProducerSendException",
		})
		return false
	case o.err != nil:
		// errors.tolerance=all skips the record, and commits past it.
		t.log.Warn("ignoring failed record send", "error", o.err)
	case o.ack != nil:
		t.syncs.observe(o.from(), o.source.Offset, o.offset)
	}
	t.acknowledge(o)
	return true
}

// acknowledge makes an offset one that may be committed.
func (t *task) acknowledge(o *outgoing) {
	if o.ack == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.acked[o.from()] = o.ack.Offset
}

func (t *task) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = err
	}
}

func (t *task) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// noSuchPartition recognises what the client says of a partition that the topic
// does not have.
func noSuchPartition(err error) bool {
	return err != nil && strings.Contains(err.Error(), "invalid record partitioning choice")
}

// cleanRecord copies what can be sent again; the client has filled in the rest.
func cleanRecord(r *kgo.Record) *kgo.Record {
	return &kgo.Record{
		Topic: r.Topic, Partition: r.Partition, Timestamp: r.Timestamp,
		Key: r.Key, Value: r.Value, Headers: r.Headers,
	}
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
