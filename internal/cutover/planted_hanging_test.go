package cutover

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// hangs leaves a transaction that nobody will ever end. The broker takes a record
// of it without asking the coordinator, which therefore knows nothing of the
// partition when the id is fenced afterwards. Brokers verify since 3.6 (KIP-890),
// unless they are told not to.
func hangs(ctx context.Context, w *world, topic string) error {
	verify := func(value string) error {
		r, err := w.admin.target.AlterBrokerConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "transaction.partition.verification.enable", Value: &value}})
		for _, one := range r {
			err = errors.Join(err, one.Err)
		}
		return err
	}
	if err := verify("false"); err != nil {
		return err
	}
	return errors.Join(w.fencedUnknown(ctx, topic), verify("true"))
}

// fencedUnknown writes the record, fences its producer, and holds that the
// transaction is open all the same.
func (w *world) fencedUnknown(ctx context.Context, topic string) error {
	id := topic + "-hangs"
	old, err := w.transactional(ctx, id)
	if err != nil {
		return err
	}
	var last error
	if err := w.until(ctx, func() (bool, error) { // the broker heeds its new setting a moment later
		last = w.produceRaw(ctx, id, topic, old)
		return last == nil, nil
	}); err != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	now, err := w.transactional(ctx, id)
	if err := errors.Join(err, check(now != old, "%v was not fenced", old)); err != nil {
		return err
	}
	stable, err := w.admin.target.ListCommittedOffsets(ctx, topic)
	if err := errors.Join(err, stable.Error()); err != nil {
		return err
	}
	at, _ := stable.Lookup(topic, 0)
	return check(at.Offset == 50, "the last stable offset is %d, want 50: the transaction does not hang", at.Offset)
}

type producerID struct {
	id    int64
	epoch int16
}

// transactional has the coordinator give the id a producer. What it knows to be
// open of the one before is ended first.
func (w *world) transactional(ctx context.Context, id string) (out producerID, err error) {
	c, err := kgo.NewClient(append(clientOptions(w.Target), kgo.TransactionalID(id))...)
	if err != nil {
		return out, err
	}
	defer c.Close()
	out.id, out.epoch, err = c.ProducerID(ctx)
	return out, err
}

// produceRaw writes one record in a transaction as a client from before KIP-890,
// without having told the coordinator.
func (w *world) produceRaw(ctx context.Context, id, topic string, p producerID) error {
	r := record(topicPartition{Topic: topic}, 200)
	written := kmsg.Record{Key: r.Key, Value: r.Value}
	written.Length = int32(len(written.AppendTo(nil)) - 1) // of what follows it, now that it is 0 and takes one byte
	records := written.AppendTo(nil)
	const transactional = 1 << 4
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: transactional,
		FirstTimestamp: r.Timestamp.UnixMilli(), MaxTimestamp: r.Timestamp.UnixMilli(),
		ProducerID: p.id, ProducerEpoch: p.epoch, NumRecords: 1, Records: records,
	}
	raw := batch.AppendTo(nil)
	const length, crc, behindCRC = 8, 17, 21 // where they stand in a batch
	binary.BigEndian.PutUint32(raw[length:], uint32(len(raw)-length-4))
	binary.BigEndian.PutUint32(raw[crc:], crc32.Checksum(raw[behindCRC:], crc32.MakeTable(crc32.Castagnoli)))

	req := kmsg.NewPtrProduceRequest()
	req.TransactionID, req.Acks, req.TimeoutMillis = &id, -1, 5000
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = raw
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	c, err := kgo.NewClient(append(clientOptions(w.Target), kgo.MaxVersions(kversion.V3_5_0()))...)
	if err != nil {
		return err
	}
	defer c.Close()
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			err = errors.Join(err, kerr.ErrorForCode(p.ErrorCode))
		}
	}
	return err
}
