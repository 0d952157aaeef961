package flinkstate

import (
	"encoding/binary"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// enumPlaces says where in a coordinator's state the partitions of a KafkaSource's
// enumerator stand, in a form that was read before (KafkaSourceEnumStateSerializer).
type enumPlaces struct {
	version int32
	body    int // byte at which the enumerator's state starts, behind its length
	count   int // byte of the number of partitions
	entries map[offsetmap.TopicPartition]enumEntry
	end     int // behind the last of them
}

type enumEntry struct {
	start  int // byte of the starting offset, -1 where there is none
	status int // byte of the assignment, -1 where there is none
}

// The versions of an enumerator's state that differ for who writes.
const (
	enumBySubtask  = 0 // splits by subtask, last written by flink-connector-kafka 1.12
	enumPartitions = 1
	enumStatus     = 2 // partitions with their assignment
	enumSplits     = 3 // splits with their assignment
)

func (w *rewriting) enumVersion() int32 {
	if len(w.op.coordinator) < 12 {
		return -1
	}
	return int32(binary.BigEndian.Uint32(w.op.coordinator[4:]))
}

// enumeratorKeepsOffsets reports whether a partition that is not handed out yet has an
// offset in the enumerator's state, at which a restored job begins with it.
func (w *rewriting) enumeratorKeepsOffsets() bool {
	return w.src.Kind == KafkaSource && w.enumVersion() == enumSplits
}

// enumerator finds the places in the state of a KafkaSource's enumerator.
func (w *rewriting) enumerator() (*enumPlaces, error) {
	c := newCursor(w.op.file, w.op.coordinatorAt, w.op.coordinator)
	c.operator, c.within = w.op.ID, enumWhat
	c.i32("coordinator version")
	p := &enumPlaces{version: c.i32("enumerator version"), entries: map[offsetmap.TopicPartition]enumEntry{}}
	c.i32("length")
	p.body, p.count = c.off, c.off
	n := c.count(6, "partitions")
	if p.version == enumSplits {
		c.i32("split version")
	}
	for range n {
		e := enumEntry{-1, -1}
		if p.version == enumSplits {
			c.i32("split length")
		}
		tp := offsetmap.TopicPartition{Topic: c.utf("topic"), Partition: c.i32("partition")}
		if p.version == enumSplits {
			e.start = c.off
			c.i64("starting offset")
			c.i64("stopping offset")
		}
		if p.version != enumPartitions {
			e.status = c.off
			c.i32("assignment")
		}
		p.entries[tp] = e
	}
	p.end = c.off
	return p, c.err
}

// entry returns what stands for a partition that a reader holds.
func (p *enumPlaces) entry(tp offsetmap.TopicPartition, split []byte) []byte {
	o := appendUTF(nil, tp.Topic)
	o = binary.BigEndian.AppendUint32(o, uint32(tp.Partition))
	switch p.version {
	case enumPartitions:
		return o
	case enumStatus:
		return append(o, 0, 0, 0, 0)
	default:
		o = binary.BigEndian.AppendUint32(nil, uint32(len(split)))
		return append(append(o, split...), 0, 0, 0, 0)
	}
}

// rewriteEnumerator sets the offsets that the enumerator keeps, and tells it of what is
// added to readers. What readers hold already it needs no offset of: those of a restored
// job bring their splits themselves.
func (w *rewriting) rewriteEnumerator() error {
	var fromHere []*SplitChange
	for _, change := range w.splits {
		switch {
		case change.How == SplitFromEnumerator:
			fromHere = append(fromHere, change)
			w.changes = append(w.changes, *change)
		case change.How == SplitKept && w.unheld(change.TopicPartition):
			w.changes = append(w.changes, *change)
		}
	}
	if len(w.problems) > 0 || len(fromHere)+len(w.added) == 0 {
		return nil
	}
	if len(w.added) > 0 && !w.addToReaders() {
		return nil
	}
	if w.src.Kind != KafkaSource {
		return nil
	}
	p, err := w.enumerator()
	if err != nil {
		return err
	}
	state := slices.Clone(w.op.coordinator)
	for _, change := range fromHere {
		to, _ := change.To.Value()
		binary.BigEndian.PutUint64(state[p.entries[change.TopicPartition].start:], uint64(to))
	}
	var more []byte
	n := 0
	for _, tp := range w.added {
		e, there := p.entries[tp]
		switch {
		case !there:
			more = append(more, p.entry(tp, splitBytes(tp, w.request.Next[tp]))...)
			n++
		case e.status >= 0:
			binary.BigEndian.PutUint32(state[e.status:], 0) // assigned
		}
	}
	grow := func(at, by int) {
		binary.BigEndian.PutUint32(state[at:], binary.BigEndian.Uint32(state[at:])+uint32(by))
	}
	grow(p.count, n)
	grow(p.body-4, len(more))
	state = slices.Insert(state, p.end, more...)
	at := int(w.op.coordinatorAt)
	w.splices = append(w.splices, edit{at - 4, at + len(w.op.coordinator), lengthAnd(state)})
	return nil
}

// unheld reports whether only the enumerator has a partition.
func (w *rewriting) unheld(tp offsetmap.TopicPartition) bool {
	i, found := slices.BinarySearchFunc(w.src.Partitions, tp, func(p offsetmap.Position, tp offsetmap.TopicPartition) int {
		return p.TopicPartition.Compare(tp)
	})
	return found && !w.src.Partitions[i].State.IsNone()
}
