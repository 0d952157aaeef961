package offsetmap

import "fmt"

// Position is where the old job stood in one partition, as its state says it:
// a next offset, or the reason why there is none.
//
// Its JSON leaves out what is none, since a reader of a list of positions looks
// for "next" or "unread". What a plan or Connect gets is never left out: see
// Found and Write.
type Position struct {
	TopicPartition

	// Cluster is what a DynamicKafkaSource calls the cluster of the partition.
	// Empty for sources that read from one cluster.
	Cluster string `json:"cluster,omitempty"`

	// Next is C, the next offset to read, whatever the state itself stores.
	// It is none when Unread or State says why.
	Next NextOffset `json:"next,omitzero"`

	// Unread is the marker of a split that has not emitted a record yet.
	// None when Next is known.
	Unread Marker `json:"unread,omitzero"`

	// State says that no reader holds the partition and only the enumerator
	// knows it. None when a reader holds it.
	State AssignmentState `json:"state,omitzero"`

	// Stop is the exclusive stopping offset of a bounded split, none for the
	// usual unbounded one.
	Stop NextOffset `json:"stop,omitzero"`

	// Start is where an enumerator-only split would have started: a number
	// that must never be taken for C. None where the state has no number.
	Start NextOffset `json:"start,omitzero"`
}

// Validate reports whether p says one thing: a reader's next offset, a reader's
// marker, or that only the enumerator knows the partition.
func (p Position) Validate() error {
	if err := p.TopicPartition.Validate(); err != nil {
		return err
	}
	switch {
	case !p.Unread.legal():
		return fmt.Errorf("position of %s: marker %q is not one of %q", p, p.Unread, markerTexts[1:])
	case !p.State.legal():
		return fmt.Errorf("position of %s: state %q is not one of %q", p, p.State, assignmentTexts[1:])
	case !p.State.IsNone() && !p.Next.IsNone():
		return fmt.Errorf("position of %s: it has the next offset %s, although no reader holds it (%s)", p, p.Next, p.State)
	case !p.Unread.IsNone() && !p.Next.IsNone():
		return fmt.Errorf("position of %s: it has the next offset %s and the marker %q", p, p.Next, p.Unread)
	case p.State.IsNone() && !p.Start.IsNone():
		return fmt.Errorf("position of %s: it has a starting offset %s, although a reader holds it", p, p.Start)
	case p.State.IsNone() && p.Unread.IsNone() && p.Next.IsNone():
		return fmt.Errorf("position of %s: it has neither a next offset nor a reason why", p)
	}
	return nil
}
