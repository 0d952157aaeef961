package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// sameHead holds a file of a migration to its plan.
func (s Sources) sameHead(what, digest, connector string) error {
	if want := s.Plan.Digest; digest != want {
		return fmt.Errorf("%w: the %s is of plan %q, not of %s", ErrSources, what, digest, want)
	}
	if want := s.Plan.Body.Connector.Name; connector != want {
		return fmt.Errorf("%w: the %s is of connector %q, the plan of %q", ErrSources, what, connector, want)
	}
	return nil
}

// samePartitions holds the partitions of a file, with C of each, to those of the plan.
func (s Sources) samePartitions(what string, got map[offsetmap.TopicPartition]offsetmap.NextOffset) error {
	planned := map[offsetmap.TopicPartition]bool{}
	for _, r := range s.Plan.Body.Rows {
		planned[r.TopicPartition] = true
		switch next, there := got[r.TopicPartition]; {
		case !there:
			return fmt.Errorf("%w: the %s has %d of the plan's %d partitions and lacks %s", ErrSources, what, len(got), len(s.Plan.Body.Rows), r.TopicPartition)
		case next != r.Next:
			return fmt.Errorf("%w: the %s has C = %s of %s, the plan %s", ErrSources, what, next, r.TopicPartition, r.Next)
		}
	}
	if len(got) > len(planned) {
		for _, tp := range slices.SortedFunc(maps.Keys(got), offsetmap.TopicPartition.Compare) {
			if !planned[tp] {
				return fmt.Errorf("%w: the %s has %s, which the plan does not have", ErrSources, what, tp)
			}
		}
	}
	return nil
}

func (s Sources) checkProof() error {
	if s.Proof == nil {
		return nil
	}
	if err := s.sameHead("proof", s.Proof.Plan, s.Proof.Connector); err != nil {
		return err
	}
	got := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, p := range s.Proof.Partitions {
		got[p.TopicPartition] = p.Next
	}
	return s.samePartitions("proof", got)
}

func (s Sources) checkPreflight() error {
	if s.Preflight == nil {
		return nil
	}
	if err := s.Preflight.Report.Err(); err != nil {
		return fmt.Errorf("%w: the preflight of %s is not the one that the plan was made after, since it was blocked", ErrSources, s.Preflight.At)
	}
	got := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, r := range s.Preflight.Report.Rows {
		got[r.TopicPartition] = r.Next
	}
	return s.samePartitions(fmt.Sprintf("preflight of %s", s.Preflight.At), got)
}

func (s Sources) checkBoundary() error {
	if s.Boundary == nil {
		return nil
	}
	if err := s.sameHead("boundary", s.Boundary.Plan, s.Boundary.Connector); err != nil {
		return err
	}
	back := map[offsetmap.TopicPartition]bool{}
	for _, p := range s.Boundary.Partitions {
		back[p.TopicPartition] = true
	}
	for _, r := range s.Plan.Body.Rows {
		if !back[r.TopicPartition] {
			return fmt.Errorf("%w: the boundary lacks %s, which the plan has", ErrSources, r.TopicPartition)
		}
	}
	return nil
}

func (s Sources) checkLag() error {
	for i, p := range s.Lag {
		switch {
		case p.Lag < 0 || p.Unread < 0:
			return fmt.Errorf("%w: lag[%d]: %d records, %d offsets", ErrSources, i, p.Lag, p.Unread)
		case i > 0 && p.At.Before(s.Lag[i-1].At.Time):
			return fmt.Errorf("%w: lag[%d]: %s comes before %s, which stands ahead of it", ErrSources, i, p.At, s.Lag[i-1].At)
		}
	}
	return nil
}

// lagOf is the series of a proof.
func lagOf(p *flinkmm2.Proof) []LagPoint {
	if p == nil {
		return nil
	}
	out := make([]LagPoint, 0, len(p.Lag))
	for _, l := range p.Lag {
		out = append(out, LagPoint{At: l.At, Lag: l.Lag, Unread: l.Unread})
	}
	return out
}

func proofsOf(p *flinkmm2.Proof) map[offsetmap.TopicPartition]*PartitionProof {
	out := map[offsetmap.TopicPartition]*PartitionProof{}
	if p == nil {
		return out
	}
	for _, one := range p.Partitions {
		out[one.TopicPartition] = &PartitionProof{
			Outcome: one.Outcome, Reason: clean(one.Reason), First: one.First, End: one.End, Lag: one.Lag, Unread: one.Unread, ProofCounts: one.ProofCounts,
			Examples: append([]flinkmm2.ProofExample{}, one.Examples...),
		}
	}
	return out
}

func proofOf(p *flinkmm2.Proof) *Proof {
	if p == nil {
		return nil
	}
	out := &Proof{CreatedAt: p.CreatedAt, Outcome: p.Outcome, ProofCounts: p.ProofCounts, Outcomes: []OutcomeCount{}}
	count := map[string]int{}
	for _, one := range p.Partitions {
		count[one.Outcome]++
		out.Lag += one.Lag
		out.Unread += one.Unread
	}
	for _, outcome := range slices.Sorted(maps.Keys(count)) {
		out.Outcomes = append(out.Outcomes, OutcomeCount{outcome, count[outcome]})
	}
	return out
}

// returnOf enters C' in the partitions.
func returnOf(b *flinkmm2.Boundary, partitions []Partition) *Return {
	if b == nil {
		return nil
	}
	at := make(map[offsetmap.TopicPartition]int, len(partitions))
	for i, p := range partitions {
		at[p.TopicPartition] = i
	}
	out := &Return{CreatedAt: b.CreatedAt, Added: []ReturnedPartition{}}
	for _, r := range b.Partitions {
		out.Copied += r.Copied
		out.Lost += r.Lost
		next := b.Next(r.TopicPartition)
		if i, planned := at[r.TopicPartition]; planned {
			partitions[i].Returned = next
		} else {
			out.Added = append(out.Added, ReturnedPartition{r.TopicPartition, next})
		}
	}
	return out
}
