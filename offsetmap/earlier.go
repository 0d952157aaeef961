package offsetmap

import "slices"

// EarlierPlan names a plan that was applied to the same connector before, and how
// far its partitions had come when the later plan was made. They must still stand
// there or further on: where one was cleared or set back, the connector would copy
// records a second time that the later plan says nothing of.
type EarlierPlan struct {
	Digest     string             `json:"digest"`
	Partitions []EarlierPartition `json:"partitions"` // sorted
}

// EarlierPartition is one partition of an EarlierPlan.
type EarlierPartition struct {
	TopicPartition
	// Offset is M as the earlier plan wrote it, or as it was stored when the later plan
	// was made, whichever is higher; null when it was cleared and nothing is stored.
	Offset SourceOffset `json:"offset"`
}

// AsEarlier returns the plan as a later plan of the same connector names it, of
// which Connect holds the offsets when that one is made. A partition of its topics
// that it does not have was added since, and is named when it has an offset.
func (p *Plan) AsEarlier(stored map[TopicPartition]SourceOffset) EarlierPlan {
	e := EarlierPlan{Digest: p.Digest, Partitions: make([]EarlierPartition, 0, len(p.Body.Rows))}
	for _, r := range p.Body.Rows {
		e.Partitions = append(e.Partitions, EarlierPartition{r.TopicPartition, r.Write.Result()})
	}
	return e.CameTo(stored)
}

// CameTo returns e with what is stored where that is higher.
func (e EarlierPlan) CameTo(stored map[TopicPartition]SourceOffset) EarlierPlan {
	topics, named := map[string]bool{}, make(map[TopicPartition]bool, len(e.Partitions))
	e.Partitions = copied(e.Partitions)
	for i, p := range e.Partitions {
		topics[p.Topic], named[p.TopicPartition] = true, true
		if m := stored[p.TopicPartition]; m.Compare(p.Offset) > 0 {
			e.Partitions[i].Offset = m
		}
	}
	for tp, m := range stored {
		if topics[tp.Topic] && !named[tp] && !m.IsNone() {
			e.Partitions = append(e.Partitions, EarlierPartition{tp, m})
		}
	}
	slices.SortFunc(e.Partitions, func(a, b EarlierPartition) int { return a.Compare(b.TopicPartition) })
	return e
}
