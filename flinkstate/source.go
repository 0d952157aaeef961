package flinkstate

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Reasons for which an operator is not among the sources.
const (
	skippedNoSource     = "has no splits of a source"
	skippedFinished     = "has fully finished: nothing of it is stored, so it cannot be told whether it was a source"
	skippedOther        = "holds another source's splits"
	skippedUnknownEnum  = "holds no split, and its enumerator is none that is known, so its kind cannot be told"
	skippedUnidentified = "holds no split, and its enumerator names no partition, so its kind cannot be told"
	skippedNoEnum       = "holds no split and has no enumerator, so its kind cannot be told"
)

// source decides what the operator is when all its elements were seen. It
// returns nil for an operator that is passed over, with op.Skipped set.
func (r *sourceReader) source() (*Source, []Warning, error) {
	op := r.op
	if op.FullyFinished {
		op.Skipped = skippedFinished
		return nil, []Warning{op.warn(OperatorFinished, "all subtasks have finished and nothing is stored; if it was a source, its positions are gone")}, nil
	}
	if len(op.readers) == 0 && op.coordinator == nil {
		op.Skipped = skippedNoSource
		return nil, nil, nil
	}
	kafka, foreigners := len(r.splits), r.dynamic+r.other
	if kafka > 0 && foreigners > 0 {
		return nil, nil, r.first.corrupt(op, fmt.Sprintf("not the split of a KafkaSource to its last byte, as %d others of the operator are", kafka))
	}
	ix, err := r.index()
	if err != nil {
		return nil, nil, err
	}
	e := r.enumerator(ix)
	switch {
	case foreigners > 0 && r.other == 0, foreigners == 0 && kafka == 0 && e.kind == enumDynamic:
		return nil, nil, op.unsupported("a DynamicKafkaSource, which is not read yet")
	case r.newer != nil:
		return nil, nil, r.newer.unsupported(op, fmt.Sprintf("split serializer version %d, though it starts as the split of a KafkaSource does (version 0 is read)", r.newer.version))
	case foreigners > 0 && (e.kind == enumKafka || e.kind == enumDynamic):
		return nil, nil, r.first.corrupt(op, fmt.Sprintf("not a split that is known, version %d, though the enumerator is that of a Kafka source", r.first.version))
	case foreigners > 0:
		op.Skipped = skippedOther
		return nil, nil, nil
	case kafka > 0 && e.err != nil:
		return nil, nil, e.err
	case kafka > 0 || e.kind == enumKafka:
		return r.kafkaSource(e, ix)
	case len(op.readers) == 0:
		op.Skipped = skippedNoSource
		return nil, nil, nil
	}
	return nil, []Warning{r.unidentified(e)}, nil
}

// unidentified is for a source that has found nothing to read.
func (r *sourceReader) unidentified(e enumState) Warning {
	switch {
	case e.kind == enumNone:
		r.op.Skipped = skippedNoEnum
	case e.kind == enumOther:
		r.op.Skipped = skippedUnknownEnum
	case e.discovery == DiscoveryUnfinished:
		r.op.Skipped = skippedUnidentified + "; if it is a KafkaSource, its initial discovery had not finished"
	default:
		r.op.Skipped = skippedUnidentified
	}
	return r.op.warn(SourceUnidentified, "the operator "+r.op.Skipped)
}

// enumerator reads the coordinator's state; what a reader holds is left out.
func (r *sourceReader) enumerator(ix *splitIndex) enumState {
	if r.op.coordinator == nil {
		return enumState{kind: enumNone, discovery: DiscoveryUnknown}
	}
	c := newCursor(r.op.file, r.op.coordinatorAt, r.op.coordinator)
	c.operator = r.op.ID
	return parseEnumerator(c, r.topics, ix.holds)
}

// kafkaSource joins what the readers hold with what the enumerator alone knows.
func (r *sourceReader) kafkaSource(e enumState, ix *splitIndex) (*Source, []Warning, error) {
	held := len(r.splits)
	if len(e.splits) > 0 {
		r.splits = append(r.splits, e.splits...)
		var err error
		if ix, err = r.index(); err != nil {
			return nil, nil, err
		}
	}
	op := r.op
	s := &Source{
		OperatorID:       op.ID,
		UID:              op.UID,
		Name:             op.Name,
		Kind:             KafkaSource,
		Parallelism:      op.Parallelism,
		FinishedSubtasks: op.FinishedSubtasks,
		Discovery:        e.discovery,
		Partitions:       ix.positions(),
	}
	return s, r.warnings(e, held), nil
}

// warnings says what bears on the positions of a KafkaSource.
func (r *sourceReader) warnings(e enumState, held int) []Warning {
	op := r.op
	var ws []Warning
	add := func(code WarningCode, format string, args ...any) {
		ws = append(ws, op.warn(code, fmt.Sprintf(format, args...)))
	}
	gone, bounded := 0, 0
	for i := range r.splits {
		if r.splits[i].state == splitAssigned {
			gone++
		}
		if r.splits[i].state == splitHeld && r.splits[i].stop != noStop {
			bounded++
		}
	}
	switch {
	case gone > 0 && held == 0:
		add(SourceFinished, "no reader holds a split; partitions that the enumerator had assigned: %d; they reached their stopping offsets, or their readers finished, and where that was is not stored", gone)
	case gone > 0:
		add(SplitsFinished, "partitions that the enumerator had assigned and no reader holds: %d; they reached their stopping offsets, or their readers finished, and where that was is not stored", gone)
	}
	if bounded > 0 {
		add(SplitsBounded, "splits with a stopping offset, at which the job would have ended: %d", bounded)
	}
	if n := len(op.FinishedSubtasks); n > 0 {
		add(SubtasksFinished, "finished subtasks, which hold no split any more: %d of %d", n, op.Parallelism)
	}
	if n := op.Parallelism - len(op.FinishedSubtasks) - len(op.readers); n > 0 {
		add(SubtaskMissing, "subtasks that have neither finished nor stored which splits they hold: %d of %d", n, op.Parallelism)
	}
	switch {
	case e.kind == enumNone:
		add(EnumeratorMissing, "there is no enumerator state, so partitions that no reader holds are not known")
	case e.discovery == DiscoveryUnfinished:
		add(DiscoveryNotFinished, "the initial discovery of partitions had not finished, so more may exist than the state names")
	}
	return ws
}

func (op *operator) warn(code WarningCode, text string) Warning {
	return Warning{Code: code, OperatorID: op.ID, UID: op.UID, Name: op.Name, Text: text}
}

func (op *operator) unsupported(what string) error {
	return &UnsupportedError{File: op.file, Offset: op.at, Structure: "operator " + label(op.ID, op.UID, op.Name), What: what}
}

// sharedPartitions warns of partitions that two sources hold. The job copied
// them twice, to two places of which neither is the boundary.
func sharedPartitions(sources []Source) []Warning {
	var ws []Warning
	for i := range sources {
		for j := i + 1; j < len(sources); j++ {
			a, b := &sources[i], &sources[j]
			n, first := commonPartitions(a.Partitions, b.Partitions)
			if n == 0 {
				continue
			}
			ws = append(ws, Warning{
				Code: PartitionsShared, OperatorID: a.OperatorID, UID: a.UID, Name: a.Name,
				Text: fmt.Sprintf("it shares %d partitions with operator %s, the first being %s; the two are not merged", n, label(b.OperatorID, b.UID, b.Name), first),
			})
		}
	}
	return ws
}

// commonPartitions counts what two sorted lists share.
func commonPartitions(a, b []offsetmap.Position) (n int, first offsetmap.TopicPartition) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch d := a[i].Compare(b[j].TopicPartition); {
		case d < 0:
			i++
		case d > 0:
			j++
		default:
			if n++; n == 1 {
				first = a[i].TopicPartition
			}
			i++
			j++
		}
	}
	return n, first
}
