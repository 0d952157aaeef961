package preflight_test

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	jvm "github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// hanging makes a breakage by a transaction that its coordinator knows nothing of: a
// producer writes to the partition as one of before KIP-890 could, by a late request
// after its transaction had ended. Brokers take it while they do not ask the coordinator.
func hanging(on *jvm.Broker, of func(*lab) preflight.Admin, topic string, partition int32) breakage {
	return func(l *lab) func() {
		admin := of(l).(*kadm.Client)
		off := "false"
		_, err := admin.AlterBrokerConfigs(l.t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "transaction.partition.verification.enable", Value: &off}})
		l.must(err)
		old := kversion.Stable()
		old.SetMaxKeyVersion(int16(kmsg.Produce), 11) // from 12 on brokers add the partition to the transaction
		client := l.dial(on.Bootstrap, kgo.MaxVersions(old))
		begin := kmsg.NewPtrInitProducerIDRequest()
		id := topic + "-late"
		begin.TransactionalID, begin.TransactionTimeoutMillis = &id, 60_000
		producer, err := begin.RequestWith(l.t.Context(), client)
		l.must(err)
		l.must(kerr.ErrorForCode(producer.ErrorCode))
		l.eventually(func() bool { return late(l, client, producer, topic, partition) == nil }, "the broker asks no coordinator")
		return func() {
			for _, open := range l.openNow(admin, topic, partition) {
				of := kadm.TopicsSet{}
				of.Add(topic, partition)
				_, err := admin.WriteTxnMarkers(l.t.Context(), kadm.TxnMarkers{ProducerID: open.ProducerID, ProducerEpoch: open.ProducerEpoch, CoordinatorEpoch: max(0, open.CoordinatorEpoch), Topics: of})
				l.must(err)
				// Real brokers list the producer also now that it is idle.
				described, err := admin.DescribeProducers(l.t.Context(), of)
				l.must(err)
				idle := false
				described.EachProducer(func(p kadm.DescribedProducer) {
					idle = idle || p.ProducerID == open.ProducerID && p.CurrentTxnStartOffset < 0
				})
				if !idle {
					l.t.Errorf("the producer is not listed as idle: %v", described)
				}
			}
		}
	}
}

// late writes one record of a transaction of which the coordinator is not told.
func late(l *lab, client *kgo.Client, producer *kmsg.InitProducerIDResponse, topic string, partition int32) error {
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, transactional(producer.ProducerID, producer.ProducerEpoch, []byte("late"))
	of := kmsg.NewProduceRequestTopic()
	of.Topic, of.Partitions = topic, []kmsg.ProduceRequestTopicPartition{part}
	req := kmsg.NewPtrProduceRequest()
	id := topic + "-late"
	req.TransactionID, req.Acks, req.TimeoutMillis, req.Topics = &id, -1, 10_000, []kmsg.ProduceRequestTopic{of}
	resp, err := req.RequestWith(l.t.Context(), client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// transactional is the first batch of a producer, with one record.
func transactional(producerID int64, epoch int16, value []byte) []byte {
	const headOfBatch, beforeCRC = 12, 21
	record := (&kmsg.Record{Value: value}).AppendTo(nil)
	record = (&kmsg.Record{Value: value, Length: int32(len(record) - 1)}).AppendTo(nil) // its length has one byte
	now := time.Now().UnixMilli()
	batch := (&kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: 0x10, FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: producerID, ProducerEpoch: epoch, NumRecords: 1, Records: record,
	}).AppendTo(nil)
	binary.BigEndian.PutUint32(batch[headOfBatch-4:], uint32(len(batch)-headOfBatch))
	binary.BigEndian.PutUint32(batch[beforeCRC-4:], crc32.Checksum(batch[beforeCRC:], crc32.MakeTable(crc32.Castagnoli)))
	return batch
}
