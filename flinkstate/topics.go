package flinkstate

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// topicTable numbers topic names, so that each is validated and kept once. It
// is a hash table of its own because it is asked twice for every split, which
// is most of the work that a split takes.
type topicTable struct {
	names []string
	keys  []topicKey // of the names
	seed  [2]uint64
	slots []topicSlot // a power of two, at most a quarter full

	// A topic of two clusters has two numbers. clusters holds that of each
	// number, in modified UTF-8, and is nil while there are none.
	clusters []string
	cluster  string // of the topics that are asked for
	salt     uint64 // its hash

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
	return &topicTable{seed: [2]uint64{rand.Uint64(), rand.Uint64()}} //nolint:gosec // seeded by the runtime as its own maps are
}

// topicKey is a name of up to keyWhole bytes, and most of a longer one, where it is
// compared without another look at memory.
type topicKey struct {
	head, middle, tail uint64
	size               int
}

const keyWhole = 24

func keyOf(name []byte) topicKey {
	k := topicKey{size: len(name)}
	if k.size < 8 {
		for _, c := range name {
			k.head = k.head<<8 | uint64(c)
		}
		return k
	}
	k.head = binary.LittleEndian.Uint64(name)
	k.tail = binary.LittleEndian.Uint64(name[k.size-8:])
	if k.size > 16 {
		k.middle = binary.LittleEndian.Uint64(name[8:])
	}
	return k
}

// hash depends on a seed that nobody knows who writes names.
func (t *topicTable) hash(k topicKey, name []byte) uint32 {
	h := mix(k.head^t.seed[0], k.tail^t.seed[1]) ^ t.salt
	if k.size > 16 {
		h = mix(h^k.middle, t.seed[0])
	}
	for i := 16; i < k.size-8; i += 8 {
		h = mix(h^binary.LittleEndian.Uint64(name[i:]), t.seed[1])
	}
	return uint32(mix(h^uint64(k.size), t.seed[0]))
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
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
		t.salt = uint64(t.hash(keyOf(cluster), cluster))
	}
}

// clusterOf returns the cluster of a number, empty when clusters have no names.
func (t *topicTable) clusterOf(id uint32) string {
	if t.clusters == nil {
		return ""
	}
	return t.clusters[id]
}

// is reports whether a number is that of a name.
func (t *topicTable) is(id uint32, k topicKey, name []byte) bool {
	return t.keys[id] == k && (k.size <= keyWhole || t.names[id] == string(name)) && (t.clusters == nil || t.clusters[id] == t.cluster)
}

// id returns the number of a topic, false for bytes that are no legal name.
func (t *topicTable) id(name []byte) (uint32, bool) {
	k := keyOf(name)
	if int(t.last) < len(t.after) {
		if n := t.after[t.last]; t.is(n, k, name) {
			t.last = n
			return n, true
		}
	}
	n, ok := t.look(k, name)
	if ok {
		t.after[t.last], t.last = n, n
	}
	return n, ok
}

// find is id for topics in no order.
func (t *topicTable) find(name []byte) (uint32, bool) { return t.look(keyOf(name), name) }

func (t *topicTable) look(k topicKey, name []byte) (uint32, bool) {
	h := t.hash(k, name)
	mask := uint32(len(t.slots) - 1)
	if len(t.slots) > 0 {
		for i := h & mask; t.slots[i].id != 0; i = (i + 1) & mask {
			if s := t.slots[i]; s.hash == h && t.is(s.id-1, k, name) {
				return s.id - 1, true
			}
		}
	}
	return t.add(k, h, string(name))
}

func (t *topicTable) add(k topicKey, h uint32, name string) (uint32, bool) {
	if offsetmap.ValidateTopic(name) != nil {
		return 0, false
	}
	t.names = append(t.names, name)
	t.keys = append(t.keys, k)
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

// join adds the topics of another table and returns their numbers here.
func (t *topicTable) join(other *topicTable) []uint32 {
	ids := make([]uint32, len(other.names))
	for i, name := range other.names {
		t.in([]byte(other.clusterOf(uint32(i))))
		ids[i], _ = t.id([]byte(name)) // legal, as the other table has it
	}
	return ids
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
