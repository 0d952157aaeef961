package flinkstate

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// rewriting is the work on one savepoint.
type rewriting struct {
	store    *store
	snapshot *Snapshot
	src      *Source
	cluster  string // of src, where it has clusters
	request  Rewrite

	metadata []byte
	op       *operator
	places   []handlePlace
	handles  []int // those of them that are of operator state
	topics   *topicTable

	// What was decided: of partitions that have a split, what becomes of it, and those
	// that get one.
	splits map[offsetmap.TopicPartition]*SplitChange
	added  []offsetmap.TopicPartition

	states   []*rewrittenState
	changes  []SplitChange
	problems []RewriteProblem
	splices  []edit // of the metadata
	files    []copiedFile
	names    map[string]bool // of files, in the new folder
	dropped  []Transaction
	dropping map[string]bool // operators whose committables are left out
}

func newRewriting(s *store, snap *Snapshot, b []byte, src *Source, r Rewrite) (*rewriting, error) {
	w := &rewriting{
		store: s, snapshot: snap, src: src, request: r, metadata: b,
		splits: map[offsetmap.TopicPartition]*SplitChange{},
		names:  map[string]bool{metadataName: true},
		topics: newTopicTable(),
	}
	m, err := visitMetadata(snap.Location, b, func(p handlePlace) { w.places = append(w.places, p) })
	if err != nil {
		return nil, err
	}
	for i := range w.places {
		p := &w.places[i]
		if p.states != nil {
			w.handles = append(w.handles, i)
		}
		if p.stream.kind == streamRelative { // it keeps its name
			w.names[path.Clean(p.stream.path)] = true
		}
	}
	i := slices.IndexFunc(m.operators, func(op operator) bool { return op.ID == src.OperatorID })
	w.op = &m.operators[i]
	return w, nil
}

// decide says what becomes of each split, or why it cannot be.
func (w *rewriting) decide() {
	kept, addable := w.named()
	whole := offsetmap.TopicPartition{}
	for _, f := range w.snapshot.InFlight {
		w.problem(StateInFlight, whole, "operator %s has %d bytes of records that the sources have passed: rewrite a savepoint, or an aligned checkpoint", label(f.OperatorID, f.UID, f.Name), f.Bytes)
	}
	if w.src.Discovery == DiscoveryUnfinished {
		w.problem(DiscoveryNotOver, whole, "the first discovery of partitions had not finished, so the restored job takes each partition that the state lacks for new, and reads it from its first record")
	}
	there := map[offsetmap.TopicPartition]bool{}
	for _, p := range w.src.Partitions {
		if there[p.TopicPartition] || w.cluster != "" && p.Cluster != w.cluster {
			w.problem(RewriteContradicts, p.TopicPartition, "the source has it in several clusters: name one as Cluster")
			return
		}
		there[p.TopicPartition], w.cluster = true, p.Cluster
		w.position(p, kept[p.TopicPartition], addable[p.TopicPartition])
	}
	for tp := range w.request.Next {
		switch {
		case there[tp]:
		case addable[tp]:
			w.added = append(w.added, tp)
		default:
			w.problem(PartitionNotInState, tp, "the state has no split of it, so the restored job reads it from its first record: list it in Added to put it in")
		}
	}
	for tp := range kept {
		if !there[tp] {
			w.problem(PartitionNotInState, tp, "it is in Kept, and the state has no split of it, so the restored job reads it from its first record")
		}
	}
	slices.SortFunc(w.added, offsetmap.TopicPartition.Compare)
	w.shared()
}

// named checks what the Rewrite says of itself.
func (w *rewriting) named() (kept, addable map[offsetmap.TopicPartition]bool) {
	set := func(tps []offsetmap.TopicPartition) map[offsetmap.TopicPartition]bool {
		m := map[offsetmap.TopicPartition]bool{}
		for _, tp := range tps {
			m[tp] = true
		}
		return m
	}
	kept, addable = set(w.request.Kept), set(w.request.Added)
	for tp, c := range w.request.Next {
		if err := tp.Validate(); err != nil {
			w.problem(RewriteContradicts, offsetmap.TopicPartition{}, "Next: %v", err)
		}
		if c.IsNone() {
			w.problem(RewriteContradicts, tp, "Next has no offset for it: list it in Kept where it shall stay")
		}
		if kept[tp] {
			w.problem(RewriteContradicts, tp, "it is in Next and in Kept")
		}
	}
	for tp := range addable {
		if _, ok := w.request.Next[tp]; !ok {
			w.problem(RewriteContradicts, tp, "it is in Added, but Next has no offset for it")
		}
	}
	return kept, addable
}

// position decides about a partition that the state has.
func (w *rewriting) position(p offsetmap.Position, kept, addable bool) {
	to, named := w.request.Next[p.TopicPartition]
	from := p.Next
	if !p.State.IsNone() {
		from = p.Start // as its enumerator stores it
	}
	change := &SplitChange{TopicPartition: p.TopicPartition, Cluster: p.Cluster, From: from, Marker: p.Unread, To: to, Stop: p.Stop, Subtask: fromEnumerator}
	switch {
	case named && to.IsNone():
		return // said already
	case !named && !kept:
		w.problem(PartitionNotNamed, p.TopicPartition, "the source has it, %s: name its next offset, or list it in Kept", describe(p))
		return
	case !named:
		change.How, change.To = SplitKept, from
	case !from.IsNone() && to.Compare(from) < 0:
		w.problem(PositionRewound, p.TopicPartition, "the state stands at %v, behind C' = %v: C' is not the end of what followed this savepoint", from, to)
		return
	case p.State == offsetmap.Unassigned && w.enumeratorKeepsOffsets():
		change.How = SplitFromEnumerator
	case p.State == offsetmap.Unassigned:
		w.added = append(w.added, p.TopicPartition)
		return
	case !p.State.IsNone() && addable:
		w.added = append(w.added, p.TopicPartition)
		return
	case !p.State.IsNone():
		w.problem(SplitFinishedAlready, p.TopicPartition, "its enumerator had handed it out and no reader holds it, so it was finished (or never begun): list it in Added to let the job read it from %v on", to)
		return
	case p.Next.IsNone():
		change.How = SplitFromMarker
	case to == p.Next:
		change.How = SplitUnchanged
	default:
		change.How = SplitMoved
	}
	if named && !p.Stop.IsNone() && p.Stop.Compare(to) <= 0 {
		w.problem(SplitStops, p.TopicPartition, "the job ends it at its stopping offset %v, which is not above C' = %v", p.Stop, to)
	}
	w.splits[p.TopicPartition] = change
}

func describe(p offsetmap.Position) string {
	switch {
	case !p.Next.IsNone():
		return fmt.Sprintf("at %v", p.Next)
	case !p.Unread.IsNone():
		return "unread, " + p.Unread.String()
	default:
		return p.State.String()
	}
}

// shared refuses partitions that go on elsewhere in one source and stay in another.
func (w *rewriting) shared() {
	for _, other := range w.snapshot.Sources {
		if other.OperatorID == w.src.OperatorID {
			continue
		}
		for _, p := range other.Partitions {
			if _, named := w.request.Next[p.TopicPartition]; named && (w.cluster == "" || p.Cluster == "" || p.Cluster == w.cluster) {
				w.problem(PartitionShared, p.TopicPartition, "source %s of the job reads it too, and would stay where it stands", label(other.OperatorID, other.UID, other.Name))
			}
		}
	}
}

// met notes that the split of a partition stands in a subtask, and returns where it is
// to go on, none where it stays.
func (w *rewriting) met(tp offsetmap.TopicPartition, subtask int) offsetmap.NextOffset {
	change, ok := w.splits[tp]
	if !ok {
		return offsetmap.NextOffset{} // there is a problem with it
	}
	change.Subtask = subtask
	w.changes = append(w.changes, *change)
	if change.How == SplitKept || change.How == SplitUnchanged {
		return offsetmap.NextOffset{}
	}
	return change.To
}

// unmet are the partitions of decided splits that nothing in the state was found to be.
func (w *rewriting) unmet() []offsetmap.TopicPartition {
	left := maps.Clone(w.splits)
	for i := range w.changes {
		delete(left, w.changes[i].TopicPartition)
	}
	return slices.SortedFunc(maps.Keys(left), offsetmap.TopicPartition.Compare)
}
