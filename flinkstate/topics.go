package flinkstate

import (
	"hash/maphash"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// topicTable numbers topic names, so that each is validated and kept once. It
// is a hash table of its own because it is asked twice for every split, which
// is most of the work that a split takes.
type topicTable struct {
	names []string
	seed  maphash.Seed
	slots []topicSlot // a power of two, at most a quarter full

	// A topic of two clusters has two numbers. clusters holds that of each
	// number, in modified UTF-8, and is nil while there are none.
	clusters []string
	cluster  string // of the topics that are asked for
	salt     uint32 // its hash

	// Splits come in an order that repeats, by topic or in turn over all topics:
	// after[n] is the topic that came after topic n.
	after []uint32
	last  uint32
}

// topicSlot is free when id is 0.
type topicSlot struct {
	hash uint32
	id   uint32 // number + 1
}

func newTopicTable() *topicTable {
	return &topicTable{seed: maphash.MakeSeed()}
}

// in says of which cluster the topics are that are asked for next. Those of a
// KafkaSource are of the one without a name.
func (t *topicTable) in(cluster []byte) {
	switch {
	case t.cluster == string(cluster):
		return
	case t.clusters == nil:
		t.clusters = make([]string, len(t.names))
	}
	t.cluster, t.salt = string(cluster), 0
	if len(cluster) > 0 {
		t.salt = uint32(maphash.Bytes(t.seed, cluster))
	}
}

// clusterOf returns the cluster of a number, empty when clusters have no names.
func (t *topicTable) clusterOf(id uint32) string {
	if t.clusters == nil {
		return ""
	}
	return t.clusters[id]
}

// id returns the number of a topic, false for bytes that are no legal name.
func (t *topicTable) id(name []byte) (uint32, bool) {
	if int(t.last) < len(t.after) {
		n := t.after[t.last]
		if t.names[n] == string(name) && t.clusterOf(n) == t.cluster {
			t.last = n
			return n, true
		}
	}
	n, ok := t.find(name)
	if ok {
		t.after[t.last], t.last = n, n
	}
	return n, ok
}

// find is id for a topic that did not come where it was expected.
func (t *topicTable) find(name []byte) (uint32, bool) {
	h := uint32(maphash.Bytes(t.seed, name)) ^ t.salt
	mask := uint32(len(t.slots) - 1)
	if len(t.slots) > 0 {
		for i := h & mask; t.slots[i].id != 0; i = (i + 1) & mask {
			if s := t.slots[i]; s.hash == h && t.names[s.id-1] == string(name) && t.clusterOf(s.id-1) == t.cluster {
				return s.id - 1, true
			}
		}
	}
	s := string(name)
	if offsetmap.ValidateTopic(s) != nil {
		return 0, false
	}
	t.names = append(t.names, s)
	t.after = append(t.after, uint32(len(t.after)))
	if t.clusters != nil {
		t.clusters = append(t.clusters, t.cluster)
	}
	if 4*len(t.names) > len(t.slots) {
		t.grow()
	}
	t.put(topicSlot{h, uint32(len(t.names))})
	return uint32(len(t.names) - 1), true
}

func (t *topicTable) put(s topicSlot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *topicTable) grow() {
	old := t.slots
	t.slots = make([]topicSlot, max(32, 2*len(old)))
	for _, s := range old {
		if s.id != 0 {
			t.put(s)
		}
	}
}
