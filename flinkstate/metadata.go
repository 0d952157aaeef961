package flinkstate

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

const (
	metadataMagic    = 0x4960672d // Checkpoints.HEADER_MAGIC_NUMBER
	masterStateMagic = 0xc96b1696 // MetadataV2V3SerializerBase.MASTER_STATE_MAGIC_NUMBER
	oldestMetadata   = 2
	newestMetadata   = 6
)

// metadata is what a _metadata file holds, with slices into its bytes.
type metadata struct {
	version      int32
	checkpointID int64
	kind         SnapshotKind
	kindReason   string // why the kind is not known
	operators    []operator
}

// operator is one operator as the metadata describes it.
type operator struct {
	Operator
	file          string // path of the metadata file
	at            int64  // byte of the metadata file at which it starts
	coordinator   []byte // nil when there is none
	coordinatorAt int64  // byte of the metadata file at which it starts
	readers       []stateHandle
	legacy        []stateHandle // of a FlinkKafkaConsumer
	legacyOld     int           // elements of legacyOldState
	defaults      []stateHandle // likewise, what a reader of Beam may have stored
	beam          string        // the class of that, when it is one
	sinks         []stateHandle // what a sink of Kafka may have stored
	raw           bool          // raw operator state
	channels      int
}

// parseMetadata reads the bytes of a whole metadata file
// (org.apache.flink.runtime.checkpoint.Checkpoints.loadCheckpointMetadata).
func parseMetadata(file string, b []byte) (*metadata, error) { return visitMetadata(file, b, nil) }

// visitMetadata is parseMetadata for who needs to know where the handles stand.
func visitMetadata(file string, b []byte, visit func(handlePlace)) (*metadata, error) {
	c := newCursor(file, 0, b)
	if m := c.i32("magic number"); m != metadataMagic {
		c.corrupt(0, "magic number", "%#08x, but a metadata file starts with %#08x", uint32(m), metadataMagic)
	}
	m := &metadata{version: c.i32("version")}
	switch {
	case c.err != nil:
	case m.version < oldestMetadata:
		c.unsupported(4, "version", "metadata version %d, which Flink 1.3 and later refuse too (versions %d to %d are read)", m.version, oldestMetadata, newestMetadata)
	case m.version > newestMetadata:
		c.unsupported(4, "version", "metadata version %d is newer than what is known (versions %d to %d are read)", m.version, oldestMetadata, newestMetadata)
	}
	if m.checkpointID = c.i64("checkpoint id"); m.checkpointID < 0 {
		c.corrupt(c.off-8, "checkpoint id", "%d is negative", m.checkpointID)
	}
	for range c.count(8, "master states") {
		if v := uint32(c.i32("master state")); c.err == nil && v != masterStateMagic {
			c.corrupt(c.off-4, "master state", "%#08x is not its magic number", v)
		}
		c.sized("master state")
	}
	n := c.count(28, "operators")
	m.operators = make([]operator, 0, n)
	p := metadataParser{cursor: c, version: m.version, visit: visit}
	for range n {
		op := p.operatorState()
		if c.err != nil {
			break
		}
		m.operators = append(m.operators, op)
	}
	c.operator = ""
	m.kind, m.kindReason = p.end()
	if c.err != nil {
		return nil, c.err
	}
	slices.SortStableFunc(m.operators, func(a, b operator) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(m.operators); i++ {
		if id := m.operators[i].ID; id == m.operators[i-1].ID {
			c.corrupt(int(m.operators[i].at), "operators", "operator %s is there twice", id)
			return nil, c.err
		}
	}
	return m, nil
}

// end reads what follows the operators: nothing, or from version 4 on the
// checkpoint's properties, which say the kind.
func (p *metadataParser) end() (kind SnapshotKind, reason string) {
	kind, reason = KindUnknown, fmt.Sprintf("metadata version %d does not store it (Flink 1.16, version %d, is the first that does)", p.version, KindVersion)
	if p.err == nil && p.version >= KindVersion {
		kind, reason = snapshotKind(p.javaStream("checkpoint properties"))
	}
	if p.err == nil && p.left() > 0 {
		p.corrupt(p.off, "end of the metadata", "%d bytes follow that do not belong there", p.left())
	}
	return kind, reason
}

// metadataParser is a cursor that knows the metadata version
// (MetadataV2Serializer to MetadataV6Serializer).
type metadataParser struct {
	*cursor
	version int32
	names   []string  // state names met so far
	states  []opState // of the handle that is being read
	number  uint32    // of the operator that is being read, from 1
	seen    []uint32  // by subtask, the last operator that has it
	bytes   int64     // of the streams that were read since addBytes
	visit   func(handlePlace)
}

func (p *metadataParser) operatorState() operator {
	op := operator{file: p.file, at: int64(p.off)}
	if p.version >= 5 {
		op.Name = p.utf("operator name")
		op.UID = p.utf("operator uid")
	}
	if id := p.take(16, "operator id"); id != nil {
		op.ID = hex.EncodeToString(id)
	}
	p.operator = op.ID
	op.Parallelism = int(p.i32("parallelism"))
	if p.err == nil && (op.Parallelism < 0 || op.Parallelism > maxParallelism) {
		p.corrupt(p.off-4, "parallelism", "%d is not between 0 and %d", op.Parallelism, maxParallelism)
	}
	op.MaxParallelism = int(p.i32("max parallelism"))
	if p.version == 2 {
		p.i32("chain length")
	} else {
		p.coordinator(&op)
	}
	at := p.off
	n := int(p.i32("number of subtasks"))
	switch {
	case p.err != nil:
		return op
	case n == -1 && p.version > 2:
		op.FullyFinished = true
		if op.coordinator != nil {
			p.corrupt(at, "number of subtasks", "a fully finished operator has coordinator state")
		}
		return op
	case n < 0 || n > p.left()/4:
		p.corrupt(at, "number of subtasks", "%d do not fit into the %d bytes that are left", n, p.left())
		return op
	}
	p.number++
	if more := op.Parallelism - len(p.seen); more > 0 {
		p.seen = append(p.seen, make([]uint32, more)...)
	}
	for range n {
		p.subtaskState(&op)
		if p.err != nil {
			break
		}
	}
	p.subtask = -1
	slices.Sort(op.FinishedSubtasks)
	slices.SortFunc(op.States, func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	return op
}

// maxParallelism is the most subtasks that an operator of Flink can have
// (KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM).
const maxParallelism = 1 << 15

// coordinator reads the state of the operator's coordinator, which Flink writes
// inline however big it is.
func (p *metadataParser) coordinator(op *operator) {
	at := p.off
	s := p.streamHandle("coordinator state", 0)
	switch {
	case p.err != nil || s.kind == streamNull:
	case s.kind != streamBytes:
		p.unsupported(at, "coordinator state", "handle type %d (Flink writes it inline)", s.kind)
	default:
		op.coordinator = s.inline
		op.coordinatorAt = s.at
		op.Bytes.Coordinator = int64(len(s.inline))
	}
}

func (p *metadataParser) subtaskState(op *operator) {
	at := p.off
	i := p.i32("subtask index")
	finished := i < 0 && p.version > 2
	if finished {
		i = -(i + 1)
	}
	if p.err != nil {
		return
	}
	switch {
	case i < 0 || int(i) >= op.Parallelism:
		p.corrupt(at, "subtask index", "subtask %d is not one of the %d subtasks", i, op.Parallelism)
		return
	case p.seen[i] == p.number:
		p.corrupt(at, "subtask index", "subtask %d is there twice", i)
		return
	}
	p.seen[i] = p.number
	if finished {
		op.FinishedSubtasks = append(op.FinishedSubtasks, int(i))
		return
	}
	p.subtask = int(i)
	if p.version == 2 {
		p.i64("duration")
		if n := p.i32("legacy states"); n != 0 {
			p.unsupported(p.off-4, "legacy states", "state of Flink 1.1, which Flink itself no longer reads")
		}
	}
	p.bytes = 0
	if p.i32("managed operator state") != 0 {
		p.managedState(op)
	}
	p.addBytes(&op.Bytes.Operator)
	if p.i32("raw operator state") != 0 {
		if s := p.operatorHandle("raw operator state"); s.kind != streamNull && s.kind != streamEmptySegment {
			op.raw = true
		}
	}
	p.addBytes(&op.Bytes.Raw)
	for _, what := range []string{"managed keyed state", "raw keyed state"} {
		if p.keyedHandle(what, 0) {
			op.Keyed = true
		}
	}
	p.addBytes(&op.Bytes.Keyed)
	if p.version >= 3 {
		for _, what := range []string{"input channel state", "result subpartition state"} {
			for range p.count(1, what) {
				size := p.channelHandle(what)
				if p.err != nil {
					return
				}
				op.channels++
				op.Bytes.Channels = saturate(op.Bytes.Channels, size)
			}
		}
	}
}

// managedState keeps what may hold positions and skips the rest.
func (p *metadataParser) managedState(op *operator) {
	stream := p.operatorHandle("managed operator state")
	if p.err != nil {
		return
	}
	hint := slices.ContainsFunc(p.states, func(s opState) bool { return isProducerHint(s.name) })
	for i, s := range p.states {
		op.list(s)
		if len(op.States) > maxStates {
			p.unsupported(s.at, s.name, "more than %d states in one operator", maxStates)
			return
		}
		switch s.name {
		case readerState:
			p.mode(s, splitDistribute, "the splits of a source are SPLIT_DISTRIBUTE")
			op.readers = append(op.readers, p.stateHandle(i, stream))
		case legacyState:
			p.mode(s, union, "the offsets of a FlinkKafkaConsumer are UNION")
			op.legacy = append(op.legacy, p.stateHandle(i, stream))
		case legacyOldState:
			op.legacyOld += len(s.offsets) / 8
			op.defaults = append(op.defaults, p.stateHandle(i, stream))
		case writerState, committerState, endOfInputState:
			op.sinks = append(op.sinks, p.stateHandle(i, stream))
		case producerHint, producerOldHint, producerState:
			if hint {
				op.sinks = append(op.sinks, p.stateHandle(i, stream))
			}
		}
	}
}

// list adds what one subtask has of a state to the inventory.
func (op *operator) list(s opState) {
	i := slices.IndexFunc(op.States, func(o State) bool { return o.Name == s.name })
	if i < 0 {
		i = len(op.States)
		op.States = append(op.States, State{Name: s.name, Kind: stateKinds[s.mode]})
	}
	op.States[i].Elements += len(s.offsets) / 8
}

var stateKinds = [...]StateKind{splitDistribute: ListState, union: UnionListState, broadcast: BroadcastState}

// addBytes adds what the handles since the last call state to a size.
func (p *metadataParser) addBytes(to *int64) {
	*to, p.bytes = saturate(*to, p.bytes), 0
}

// saturate adds two sizes, of which a hostile file can make any number.
func saturate(a, b int64) int64 { return min(a, math.MaxInt64-b) + b }

func (p *metadataParser) mode(s opState, want int8, why string) {
	if s.mode != want {
		p.corrupt(s.at, s.name, "distribution mode %d, but %s (%d)", s.mode, why, want)
	}
}

// stateHandle makes a handle of one of the states that were read last, whose
// elements are in stream.
func (p *metadataParser) stateHandle(i int, stream stream) stateHandle {
	s := p.states[i]
	h := stateHandle{name: s.name, subtask: p.subtask, at: int64(s.at), offsets: s.offsets, stream: stream}
	for j, o := range p.states {
		if j != i && len(o.offsets) > 0 {
			h.others = append(h.others, o.offsets)
		}
	}
	return h
}
