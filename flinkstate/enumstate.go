package flinkstate

import (
	"encoding/binary"
	"fmt"
)

const enumWhat = "enumerator state"

// enumKind says whose enumerator wrote a coordinator's state.
type enumKind uint8

const (
	enumNone    enumKind = iota // there is no state
	enumKafka                   // a KafkaSource's, which names a partition
	enumEmpty                   // names nothing, so that it may be anybody's
	enumDynamic                 // a DynamicKafkaSource's
	enumOther
)

// enumState is what a coordinator's state says.
type enumState struct {
	kind      enumKind
	discovery Discovery
	clusters  []Cluster // of a DynamicKafkaSource
	// splits holds what known did not know, with state splitAssigned or
	// splitUnassigned.
	splits []split
	listed int   // partitions that a KafkaSource's names, whoever holds them
	err    error // why it is neither enumKafka nor enumDynamic
}

// knownFunc says whether a reader holds a partition that the enumerator names.
type knownFunc func(topic uint32, partition int32) bool

// parseEnumerator reads the state of a source's coordinator
// (SourceCoordinator.writeCheckpointBytes): the enumerator's state behind the
// versions of both. Partitions for which known is true are left out. The
// enumerators of a KafkaSource and of a DynamicKafkaSource count their versions
// from 1 both; dynamic says that the readers hold splits of the latter.
func parseEnumerator(c *cursor, topics *topicTable, known knownFunc, dynamic bool) enumState {
	serde := c.i32("coordinator version")
	version := c.i32("enumerator version")
	e := enumState{discovery: DiscoveryUnknown}
	at := c.off + 4
	body := c.sized(enumWhat)
	if c.err == nil && (serde < 0 || serde > 1) {
		c.unsupported(0, "coordinator version", "version %d (0 and 1 are read)", serde)
	}
	// Version 0 has the state of Flink's own split assignment tracker at the
	// end, which repeats what the readers hold.
	if c.err == nil && serde == 1 && c.left() > 0 {
		c.corrupt(c.off, "coordinator state", "%d bytes follow the enumerator's", c.left())
	}
	if e.err = c.err; e.err != nil {
		e.kind = enumOther
		return e
	}
	in := *c
	in.buf, in.off, in.base = body, 0, c.base+int64(at)
	in.within = fmt.Sprintf("%s version %d", enumWhat, version)
	plain := func() enumState {
		topics.in(nil)
		return kafkaEnumerator(in, version, topics, known)
	}
	first, second := plain, func() enumState { return dynamicEnumerator(in, version, topics, known) }
	if dynamic {
		first, second = second, first
	}
	if e = first(); e.err == nil {
		return e
	}
	if other := second(); other.err == nil {
		return other
	}
	return e
}

// kafkaEnumerator reads the state of a KafkaSource's enumerator to its last byte
// (KafkaSourceEnumStateSerializer).
func kafkaEnumerator(c cursor, version int32, topics *topicTable, known knownFunc) enumState {
	e := enumState{discovery: DiscoveryUnknown}
	p := enumParser{cursor: &c, topics: topics, known: known, enum: &e}
	p.state(version)
	if p.err == nil && p.left() > 0 {
		p.corrupt(p.off, "end", "%d bytes follow", p.left())
	}
	switch e.err = p.err; {
	case e.err != nil:
		e.kind = enumOther
	case p.seen > 0:
		e.kind, e.listed = enumKafka, p.seen
	default:
		e.kind = enumEmpty
	}
	return e
}

// splitStored says that the state of each split follows it.
const splitStored splitState = 0

type enumParser struct {
	*cursor
	topics *topicTable
	known  knownFunc
	enum   *enumState
	seen   int
}

// state reads what KafkaSourceEnumStateSerializer writes.
func (p *enumParser) state(version int32) {
	switch version {
	case 0: // SerdeUtils.serializeSplitAssignments: splits by subtask
		n := p.count(8, "subtasks")
		p.splitVersion()
		for range n {
			p.i32("subtask")
			for range p.count(4+splitFixed, "splits") {
				p.split(splitAssigned)
			}
		}
	case 1: // assigned partitions
		for range p.count(6, "partitions") {
			if !p.usual(false) {
				p.partition(splitAssigned)
			}
		}
	case 2: // partitions with their state
		for range p.count(10, "partitions") {
			if !p.usual(true) {
				p.partition(splitStored)
			}
		}
		p.discovery()
	case 3: // splits with their state
		n := p.count(4+splitFixed+4, "splits")
		p.splitVersion()
		for range n {
			p.split(splitStored)
		}
		p.discovery()
	default:
		p.unsupported(0, "version", "enumerator state version %d (0 to 3 are read)", version)
	}
}

func (p *enumParser) splitVersion() {
	if v := p.i32("split version"); v != 0 {
		p.unsupported(p.off-4, "split version", "split serializer version %d (0 is read)", v)
	}
}

func (p *enumParser) discovery() {
	switch b := p.i8("initial discovery"); {
	case p.err != nil:
	case b == 0:
		p.enum.discovery = DiscoveryUnfinished
	case b == 1:
		p.enum.discovery = DiscoveryFinished
	default:
		p.corrupt(p.off-1, "initial discovery", "%d is neither 0 nor 1", b)
	}
}

// usual steps over a partition that is assigned and that a reader holds, which
// nearly all are, and reports whether it is one. It leaves all others, and every
// error, to partition.
func (p *enumParser) usual(stored bool) bool {
	b := p.buf[p.off:]
	if p.err != nil || len(b) < 2 {
		return false
	}
	n := 2 + int(binary.BigEndian.Uint16(b))
	end := n + 4
	if stored {
		end += 4
	}
	if len(b) < end || stored && binary.BigEndian.Uint32(b[n+4:]) != 0 {
		return false
	}
	partition := int32(binary.BigEndian.Uint32(b[n:]))
	topic, ok := p.topics.find(b[2:n]) // the order is that of a Java hash set
	if !ok || partition < 0 || !p.known(topic, partition) {
		return false
	}
	p.off += end
	p.seen++
	return true
}

// partition reads a partition without offsets, and its state unless that is
// given.
func (p *enumParser) partition(st splitState) {
	at := p.off
	name := p.raw("partition")
	partition := p.i32("partition")
	if st == splitStored {
		st = p.assignment()
	}
	if p.err != nil {
		return
	}
	id, ok := p.topics.id(name)
	if !ok || partition < 0 {
		p.corrupt(at, "partition", "no legal topic name and partition number")
		return
	}
	p.keep(split{topic: id, partition: partition, start: noStart, stop: noStop, subtask: fromEnumerator, state: st})
}

// split reads a partition with its starting and stopping offsets.
func (p *enumParser) split(st splitState) {
	at := p.off
	b := p.sized("split")
	if st == splitStored {
		st = p.assignment()
	}
	if p.err != nil {
		return
	}
	var s split
	if !s.parse(b, p.topics) {
		p.corrupt(at, "split", "not a split of a KafkaSource to its last byte")
		return
	}
	s.subtask, s.state = fromEnumerator, st
	p.keep(s)
}

func (p *enumParser) assignment() splitState {
	switch v := p.i32("assignment"); v {
	case 0:
		return splitAssigned
	case 1:
		return splitUnassigned
	default:
		p.corrupt(p.off-4, "assignment", "status %d is neither assigned (0) nor unassigned (1)", v)
		return splitAssigned
	}
}

func (p *enumParser) keep(s split) {
	p.seen++
	held := p.known(s.topic, s.partition)
	switch {
	case !held:
		p.enum.splits = append(p.enum.splits, s)
	case s.state == splitUnassigned:
		p.corrupt(p.off, "assignment", "%s-%d is unassigned, yet a reader holds it", p.topics.names[s.topic], s.partition)
	}
}
