package proof

import (
	"maps"
	"slices"
)

// Snapshot returns what Result would return now, and leaves the comparison as it
// is. It takes the memory of the index, once more and for so long.
func (c *Comparer) Snapshot() Result {
	s := *c
	s.src = c.src.clone()
	s.gaps = c.gaps.clone()
	s.examples.named = make(map[Fault][]Example, len(c.examples.named))
	for f, named := range c.examples.named {
		s.examples.named[f] = slices.Clone(named)
	}
	return s.Result()
}

// clone returns what can be judged to the end without a change of the original.
// Nothing may be pushed to it: what the records are is shared.
func (s *source) clone() source {
	o := *s
	o.sums.chunks, o.parts.chunks = slices.Clone(s.sums.chunks), slices.Clone(s.parts.chunks)
	o.offsets.runs = slices.Clone(s.offsets.runs)
	o.index.slots = slices.Clone(s.index.slots)
	o.index.links = s.index.links.clone()
	return o
}

func (l *list[T]) clone() list[T] {
	o := *l
	o.spare = nil
	o.chunks = make([][]T, len(l.chunks))
	for i, c := range l.chunks {
		o.chunks[i] = append(make([]T, 0, cap(c)), c...)
	}
	return o
}

func (g *gaps) clone() gaps {
	o := *g
	o.all, o.unused = slices.Clone(g.all), slices.Clone(g.unused)
	o.bySum, o.byKey = maps.Clone(g.bySum), maps.Clone(g.byKey)
	return o
}
