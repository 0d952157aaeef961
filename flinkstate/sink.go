package flinkstate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// SinkKind names the kind of a sink.
type SinkKind string

const (
	// KafkaSink is the sink of flink-connector-kafka since Flink 1.14
	// (org.apache.flink.connector.kafka.sink.KafkaSink).
	KafkaSink SinkKind = "KafkaSink"
	// FlinkKafkaProducer is the sink that KafkaSink replaced.
	FlinkKafkaProducer SinkKind = "FlinkKafkaProducer"
)

// Sink is what the state of one operator says of transactions on the target. A
// KafkaSink has its writer and, from Flink 1.15 on, its committer in operators of
// their own; each is an entry.
type Sink struct {
	// OperatorID, UID and Name are those of the operator. Flink gives a
	// committer the uid "Sink Committer: " and that of its sink.
	OperatorID string   `json:"operatorId"`
	UID        string   `json:"uid,omitempty"`
	Name       string   `json:"name,omitempty"`
	Kind       SinkKind `json:"kind"`
	// TransactionalIDPrefixes holds the prefixes of the transactional ids that
	// writers of a KafkaSink use, sorted. An id is PREFIX-SUBTASK-N.
	TransactionalIDPrefixes []string `json:"transactionalIdPrefixes,omitempty"`
	// TransactionalIDs holds the ids in the pool of a FlinkKafkaProducer, sorted.
	TransactionalIDs []string `json:"transactionalIds,omitempty"`
	// Transactions holds those that were prepared or open when the state was
	// written, by transactional id. Whether they were committed afterwards the
	// state cannot say: after a stop with savepoint they are, after a savepoint
	// that is none they are not from Flink 1.15 on (FLIP-203).
	Transactions []Transaction `json:"transactions,omitempty"`
}

const (
	noProducerID   = -1 // RecordBatch.NO_PRODUCER_ID
	noEpoch        = -1 // RecordBatch.NO_PRODUCER_EPOCH
	unknownSubtask = -1
)

// Transaction is one transaction of a sink.
type Transaction struct {
	TransactionalID string `json:"transactionalId"`
	// ProducerID and Epoch are -1, Kafka's own value for none, where the state
	// holds the transactional id alone.
	ProducerID int64 `json:"producerId"`
	Epoch      int16 `json:"epoch"`
	// CheckpointID is the checkpoint that prepared the transaction, 0 where the
	// state does not say, and the largest int64 when the input had ended
	// (CommittableMessage.EOI).
	CheckpointID int64 `json:"checkpointId,omitempty"`
	// Subtask is that of the writer, -1 where the state does not say.
	Subtask int `json:"subtask"`
}

// maxSinkState is the size in bytes of the largest state of a sink that is read.
// A KafkaSink's takes some hundred bytes a subtask; other sinks may hold
// gigabytes under the same names.
const maxSinkState = 1 << 20

// sinkReader gathers what the subtasks of one operator hold. What it cannot read
// is no error, since no position is in it: the inventory names it.
type sinkReader struct {
	op   *operator
	sink Sink
	good map[string]bool   // states of which an element was understood
	bad  map[string]string // states that were not, and why
}

func newSinkReader(op *operator) *sinkReader {
	return &sinkReader{
		op: op, good: map[string]bool{}, bad: map[string]string{},
		sink: Sink{OperatorID: op.ID, UID: op.UID, Name: op.Name, Kind: KafkaSink},
	}
}

// fail notes why a state was not understood, the first reason for each.
func (r *sinkReader) fail(h *stateHandle, err error) error {
	if _, known := r.bad[h.name]; !known {
		r.bad[h.name] = err.Error()
	}
	return nil
}

func (r *sinkReader) fork(int) stateReader { return newSinkReader(r.op) }

func (r *sinkReader) join(fork stateReader) {
	f := fork.(*sinkReader)
	for state, why := range f.bad {
		if _, known := r.bad[state]; !known {
			r.bad[state] = why
		}
	}
	maps.Copy(r.good, f.good)
	if f.sink.Kind != KafkaSink {
		r.sink.Kind = f.sink.Kind
	}
	r.sink.TransactionalIDPrefixes = append(r.sink.TransactionalIDPrefixes, f.sink.TransactionalIDPrefixes...)
	r.sink.TransactionalIDs = append(r.sink.TransactionalIDs, f.sink.TransactionalIDs...)
	r.sink.Transactions = append(r.sink.Transactions, f.sink.Transactions...)
}

// read takes the elements of one state of one subtask.
func (r *sinkReader) read(h *stateHandle, src bytesAt) error {
	if isProducerHint(h.name) {
		r.good[h.name] = true // numbers only, of which nothing follows
		return nil
	}
	var failed error
	err := h.elements(r.op.ID, src, func(b []byte, at int64, i int) {
		c := newCursor(src.file, at, b)
		c.operator, c.subtask, c.within = r.op.ID, h.subtask, elementOf(h, i)
		s := parseSink(h.name, c)
		if c.err != nil {
			failed = cmp.Or(failed, c.err)
			return
		}
		r.take(h.name, s)
	})
	return cmp.Or(err, failed)
}

func (r *sinkReader) take(state string, s sinkState) {
	r.good[state] = true
	if state == producerState {
		r.sink.Kind = FlinkKafkaProducer
	}
	if s.prefix != "" {
		r.sink.TransactionalIDPrefixes = append(r.sink.TransactionalIDPrefixes, s.prefix)
	}
	r.sink.TransactionalIDs = append(r.sink.TransactionalIDs, s.ids...)
	r.sink.Transactions = append(r.sink.Transactions, s.transactions...)
}

// done says what the operator is once all was read. It returns nil for a sink
// of which nothing is known, and says in the inventory what each state holds.
func (r *sinkReader) done() *Sink {
	holds := map[string]string{
		writerState: "writers of a KafkaSink", committerState: "transactions that a KafkaSink has prepared",
		producerState: "transactions of a FlinkKafkaProducer", producerHint: "numbers for ids of a FlinkKafkaProducer",
		producerOldHint: "numbers for ids of a FlinkKafkaProducer", endOfInputState: "whether the input of a sink has ended",
	}
	for i := range r.op.States {
		s := &r.op.States[i]
		if s.NotRead = r.bad[s.Name]; s.NotRead == "" && r.good[s.Name] {
			s.Holds = holds[s.Name]
		}
	}
	sink := &r.sink
	slices.Sort(sink.TransactionalIDPrefixes)
	sink.TransactionalIDPrefixes = slices.Compact(sink.TransactionalIDPrefixes)
	slices.Sort(sink.TransactionalIDs)
	sink.TransactionalIDs = slices.Compact(sink.TransactionalIDs)
	slices.SortFunc(sink.Transactions, func(a, b Transaction) int {
		return cmp.Or(cmp.Compare(a.TransactionalID, b.TransactionalID), cmp.Compare(a.ProducerID, b.ProducerID),
			cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.CheckpointID, b.CheckpointID), cmp.Compare(a.Subtask, b.Subtask))
	})
	sink.Transactions = slices.Compact(sink.Transactions)
	if len(sink.TransactionalIDPrefixes)+len(sink.TransactionalIDs)+len(sink.Transactions) == 0 {
		return nil
	}
	return sink
}

// errNotOpened is why a state of a sink is not known by default.
var errNotOpened = errors.New("it is in a file of its own, which was not opened (WithSinkFiles)")

// tooLarge is why a state of a sink is not opened.
func tooLarge(size int64) error {
	return fmt.Errorf("it has %d bytes; states of sinks are read up to %d", size, maxSinkState)
}
