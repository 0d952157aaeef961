package flinkstate

import "fmt"

// Reasons for which an operator is not among the sources.
const (
	skippedNoSource     = "has no splits of a source"
	skippedFinished     = "has fully finished: nothing of it is stored, so it cannot be told whether it was a source"
	skippedOther        = "holds another source's splits"
	skippedHybrid       = "is a HybridSource that has come to Kafka, whose splits are not read"
	skippedUnknownEnum  = "holds no split, and its enumerator is none that is known, so its kind cannot be told"
	skippedUnidentified = "holds no split, and its enumerator names no partition, so its kind cannot be told"
	skippedDynamic      = "is a DynamicKafkaSource whose readers and enumerator name no partition"
	skippedBeam         = "is a reader of Apache Beam (%s), whose positions are not read"
	skippedNoEnum       = "holds no split and has no enumerator, so its kind cannot be told"
)

// source decides what the operator is when all its elements were seen. It
// returns nil for an operator that is passed over, with op.Skipped set.
func (r *sourceReader) source(m *metadata) (*Source, []Warning, error) {
	op := r.op
	switch {
	case op.FullyFinished:
		op.Skipped = skippedFinished
		return nil, []Warning{op.warn(OperatorFinished, "all subtasks have finished and nothing is stored; if it was a source, its positions are gone")}, nil
	case len(op.legacy) > 0:
		return r.legacySource(m)
	case len(op.readers) == 0 && op.coordinator == nil && op.beam != "":
		op.Skipped = fmt.Sprintf(skippedBeam, op.beam)
		return nil, nil, nil
	case len(op.readers) == 0 && op.coordinator == nil:
		op.Skipped = skippedNoSource
		return nil, nil, nil
	}
	kafka := r.splits.len() - r.dynamic
	switch {
	case kafka > 0 && r.dynamic+r.other > 0:
		return nil, nil, r.first.corrupt(op, fmt.Sprintf("not the split of a KafkaSource to its last byte, as %d others of the operator are", kafka))
	case r.dynamic > 0 && r.other > 0:
		return nil, nil, op.corrupt(fmt.Sprintf("%d of its splits are those of a DynamicKafkaSource to the last byte, %d are not", r.dynamic, r.other))
	}
	ix, err := r.index()
	if err != nil {
		return nil, nil, err
	}
	if r.other == 0 { // it is a source's, unless its enumerator says something else
		ix.begin()
		defer ix.wait()
	}
	e := r.enumerator(ix)
	known := e.kind == enumKafka || e.kind == enumDynamic
	switch {
	case r.newer != nil:
		return nil, nil, r.newer.unsupported(op, fmt.Sprintf("split serializer version %d, though it starts as a split of Kafka does (version 0 of the KafkaSource and 1 of the DynamicKafkaSource are read)", r.newer.version))
	case r.other > 0 && known:
		return nil, nil, r.first.corrupt(op, fmt.Sprintf("not a split that is known, version %d, though the enumerator is that of a Kafka source", r.first.version))
	case r.other > 0 && r.hybrid:
		op.Skipped = skippedHybrid
		return nil, []Warning{op.warn(SourceUnidentified, "the operator "+skippedHybrid)}, nil
	case r.other > 0:
		op.Skipped = skippedOther
		return nil, nil, nil
	case r.splits.len() > 0 && e.err != nil:
		return nil, nil, e.err
	case kafka > 0 && e.kind == enumDynamic, r.dynamic > 0 && e.kind == enumKafka:
		return nil, nil, op.corrupt("the readers hold splits of another kind of source than the enumerator knows")
	case r.dynamic > 0, e.kind == enumDynamic && len(e.splits) > 0:
		return r.enumeratedSource(DynamicKafkaSource, e, ix)
	case kafka > 0, e.kind == enumKafka:
		return r.enumeratedSource(KafkaSource, e, ix)
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
	case e.kind == enumDynamic:
		r.op.Skipped = skippedDynamic
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
	return parseEnumerator(c, r.topics, ix.holds, r.dynamic > 0)
}

// enumeratedSource joins what the readers hold with what the enumerator alone
// knows.
func (r *sourceReader) enumeratedSource(kind Kind, e enumState, ix *splitIndex) (*Source, []Warning, error) {
	held := r.splits.len()
	if len(e.splits) > 0 {
		for i := range e.splits {
			r.splits.add(&e.splits[i])
		}
		var err error
		if ix, err = r.index(); err != nil {
			return nil, nil, err
		}
	}
	op := r.op
	s := op.source(kind, ix)
	s.Discovery, s.Clusters = e.discovery, e.clusters
	return s, r.warnings(e, held), nil
}

func (op *operator) source(kind Kind, ix *splitIndex) *Source {
	return &Source{
		OperatorID:       op.ID,
		UID:              op.UID,
		Name:             op.Name,
		Kind:             kind,
		Parallelism:      op.Parallelism,
		FinishedSubtasks: op.FinishedSubtasks,
		Discovery:        DiscoveryUnknown,
		Partitions:       ix.positions(),
	}
}

// warnings says what bears on the positions of a source with an enumerator.
func (r *sourceReader) warnings(e enumState, held int) []Warning {
	op := r.op
	var ws []Warning
	add := func(code WarningCode, format string, args ...any) {
		ws = append(ws, op.warn(code, fmt.Sprintf(format, args...)))
	}
	gone, bounded := 0, 0
	for _, state := range r.splits.states {
		if state == splitAssigned {
			gone++
		}
	}
	for i, stop := range r.splits.stops {
		if stop != noStop && (i >= len(r.splits.states) || r.splits.states[i] == splitHeld) {
			bounded++
		}
	}
	foreign := ""
	if n := held - (e.listed - len(e.splits)); n > 0 && e.kind == enumKafka {
		foreign = fmt.Sprintf("; readers hold partitions that the enumerator does not know: %d, as when a state file is another source's or damaged", n)
	}
	switch {
	case gone > 0 && held == 0:
		add(SourceFinished, "no reader holds a split; partitions that the enumerator had assigned: %d; they reached their stopping offsets, or their readers finished, and where that was is not stored", gone)
	case gone > 0:
		add(SplitsFinished, "partitions that the enumerator had assigned and no reader holds: %d; they reached their stopping offsets, or their readers finished, and where that was is not stored%s", gone, foreign)
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

func (op *operator) corrupt(reason string) error {
	return &CorruptError{File: op.file, Offset: op.at, Structure: "operator " + label(op.ID, op.UID, op.Name), Reason: reason}
}
