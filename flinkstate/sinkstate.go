package flinkstate

import "fmt"

// Names of the states of a FlinkKafkaProducer. Only a hint and the other together
// make one: that is the name of the state of every TwoPhaseCommitSinkFunction.
const (
	producerHint    = "next-transactional-id-hint-v2"
	producerOldHint = "next-transactional-id-hint" // of older releases, and of FlinkKafkaProducer011
	producerState   = "state"
)

// isProducerHint reports whether a state holds from where a FlinkKafkaProducer
// counts its transactional ids.
func isProducerHint(name string) bool { return name == producerHint || name == producerOldHint }

// endOfInputState is SinkWriterOperator.END_OF_INPUT_STATE_DESC: one boolean, which
// writers of sinks with a committer have in some releases (1.20.1 and 2.0.0 do,
// 1.20.0, 1.20.2 and 2.0.2 do not).
const endOfInputState = "end_of_input_state"

const committerMagic = 0xb91f252c // CommittableCollectorSerializer.MAGIC_NUMBER

// sinkState is what one element of a sink's state says.
type sinkState struct {
	prefix       string
	transactions []Transaction
	ids          []string // of a FlinkKafkaProducer's pool
}

// parseSink reads an element of the state of the name h to its last byte.
func parseSink(name string, c *cursor) sinkState {
	var s sinkState
	switch name {
	case writerState:
		s = c.writer()
	case committerState:
		s = c.committer()
	case producerState:
		s = c.producer()
	case endOfInputState:
		c.flag("end of input")
	}
	if c.err == nil && c.left() > 0 {
		c.corrupt(c.off, "end", "%d bytes follow", c.left())
	}
	return s
}

// versioned enters what SimpleVersionedSerialization wrote.
func (c *cursor) versioned(what string) int32 {
	v := c.i32(what)
	at := c.off
	if n := int(c.i32(what)); c.err == nil && n != c.left() {
		c.corrupt(at, what, "a length of %d, but %d bytes are left", n, c.left())
	}
	return v
}

// transactionalID reads one, which is never empty.
func (c *cursor) transactionalID(what string) string {
	at := c.off
	id := c.utf(what)
	if c.err == nil && id == "" {
		c.corrupt(at, what, "it is empty")
	}
	return id
}

// writer reads the state of a KafkaSink's writer (KafkaWriterStateSerializer).
func (c *cursor) writer() (s sinkState) {
	v := c.versioned("writer state")
	if v != 1 && v != 2 {
		c.unsupported(0, "writer state", "version %d (1 and 2 are read)", v)
	}
	s.prefix = c.transactionalID("prefix of transactional ids")
	if v != 2 {
		return s
	}
	subtask := c.i32("subtask")
	c.i32("number of subtasks")
	c.i32("ownership of transactional ids")
	for range c.count(10, "prepared transactions") {
		s.transactions = append(s.transactions, Transaction{
			TransactionalID: c.transactionalID("transactional id"), ProducerID: noProducerID, Epoch: noEpoch,
			CheckpointID: c.i64("checkpoint id"), Subtask: int(subtask),
		})
	}
	return s
}

// committer reads what a sink's committer holds, version 1 of Flink 1.14 and 2
// of later ones (CommittableCollectorSerializer).
func (c *cursor) committer() (s sinkState) {
	v := c.versioned("committer state")
	if magic := uint32(c.i32("committer state")); c.err == nil && magic != committerMagic {
		c.corrupt(c.off-4, "committer state", "%#08x is not its magic number", magic)
	}
	switch v {
	case 1:
		version := c.i32("version of committables")
		for range c.count(4, "committables") {
			s.transactions = append(s.transactions, c.committable(version, c.sized("committable")))
		}
	case 2:
		c.list("checkpoints", 1, func(version int32, c *cursor) {
			s.transactions = append(s.transactions, c.checkpoint(version)...)
		})
	default:
		c.unsupported(0, "committer state", "version %d (1 and 2 are read)", v)
	}
	return s
}

// list reads what SimpleVersionedSerialization.writeVersionAndSerializeList
// wrote, of versions up to newest.
func (c *cursor) list(what string, newest int32, each func(version int32, c *cursor)) {
	version := c.i32(what)
	if version < 0 || version > newest {
		c.unsupported(c.off-4, what, "version %d (0 to %d are read)", version, newest)
	}
	for range c.count(4, what) {
		at := c.off + 4
		in := *c
		in.buf, in.off, in.base = c.sized(what), 0, c.base+int64(at)
		if in.err = c.err; in.err == nil {
			each(version, &in)
		}
		if in.err == nil && in.left() > 0 {
			in.corrupt(in.off, what, "%d bytes follow", in.left())
		}
		if c.err = in.err; c.err != nil {
			return
		}
	}
}

// checkpoint reads the committables of one checkpoint, by subtask.
func (c *cursor) checkpoint(version int32) (all []Transaction) {
	id := c.i64("checkpoint id")
	if version >= 1 {
		c.i32("number of subtasks")
	}
	c.list("subtasks", 2, func(version int32, c *cursor) {
		subtask := unknownSubtask
		if version >= 1 {
			subtask = int(c.i32("subtask"))
		}
		c.list("requests", 0, func(_ int32, c *cursor) {
			version := c.i32("version of the committable")
			t := c.committable(version, c.sized("committable"))
			t.CheckpointID, t.Subtask = id, subtask
			all = append(all, t)
			c.i32("retries")
			c.i32("state of the request")
		})
		c.i32("committables")
		if version < 2 {
			c.i32("drained committables")
		}
		c.i32("failed committables")
	})
	return all
}

// committable reads a transaction that is prepared and not committed
// (KafkaCommittableSerializer).
func (c *cursor) committable(version int32, b []byte) Transaction {
	in := *c
	in.buf, in.off, in.base = b, 0, c.base+int64(c.off-len(b))
	if version != 1 {
		in.unsupported(0, "committable", "version %d (1 is read)", version)
	}
	t := Transaction{Epoch: in.i16("epoch"), ProducerID: in.i64("producer id"), TransactionalID: in.transactionalID("transactional id"), Subtask: unknownSubtask}
	if in.err == nil && (t.Epoch < 0 || t.ProducerID < 0 || in.left() > 0) {
		in.corrupt(0, "committable", "not that of a KafkaSink to its last byte")
	}
	c.err = in.err
	return t
}

// producer reads the state of a FlinkKafkaProducer
// (TwoPhaseCommitSinkFunction.StateSerializer). From Flink 1.15 on a byte says
// first whether a transaction is open.
func (c *cursor) producer() sinkState {
	older := *c
	s := c.producerState(true)
	if c.err != nil || c.left() > 0 {
		if t := older.producerState(false); older.err == nil && older.left() == 0 {
			*c = older
			return t
		}
	}
	return s
}

func (c *cursor) producerState(optional bool) (s sinkState) {
	if !optional || c.flag("open transaction") {
		c.producerTransaction(&s)
	}
	for range c.count(19, "transactions to commit") {
		c.producerTransaction(&s)
	}
	if !c.flag("context") {
		return s
	}
	for range c.count(3, "transactional ids") {
		s.ids = append(s.ids, c.transactionalID("transactional id"))
	}
	return s
}

// producerTransaction reads a transaction and when it began. A producer without
// transactions has neither id.
func (c *cursor) producerTransaction(s *sinkState) {
	t := Transaction{Subtask: unknownSubtask}
	if c.flag("transactional id") {
		t.TransactionalID = c.transactionalID("transactional id")
	}
	t.ProducerID = c.i64("producer id")
	t.Epoch = c.i16("epoch")
	c.i64("start")
	if t.TransactionalID != "" {
		s.transactions = append(s.transactions, t)
	}
}

func (c *cursor) flag(what string) bool {
	b := c.i8(what)
	if c.err == nil && b != 0 && b != 1 {
		c.corrupt(c.off-1, what, "%d is neither 0 nor 1", b)
	}
	return b == 1
}

// elementOf names an element for an error.
func elementOf(h *stateHandle, i int) string { return fmt.Sprintf("%s element %d", h.name, i) }
