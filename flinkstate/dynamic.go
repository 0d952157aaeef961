package flinkstate

import (
	"fmt"
	"slices"
	"strings"
)

// parseDynamic reads what DynamicKafkaSourceSplitSerializer version 1 writes: a
// split of a KafkaSource behind the id of its cluster. It reports false unless
// the bytes are that to the last one.
func (s *split) parseDynamic(b []byte, topics *topicTable) bool {
	c := newCursor("", 0, b)
	cluster := c.raw("cluster id")
	if _, ok := decodeUTF(cluster); !ok || c.i32("split version") != 0 || c.err != nil {
		return false
	}
	topics.in(cluster)
	return s.parse(b[c.off:], topics)
}

// isNextDynamicSplit reports whether b is a split of version 2, which no release
// of the connector has written.
func isNextDynamicSplit(v int32, b []byte) bool {
	c := newCursor("", 0, b)
	c.utf("cluster id")
	if c.i8("flag") == 1 {
		c.i64("value")
	}
	return v == 2 && c.i32("split version") == 0 && c.err == nil && new(split).parse(b[c.off:], newTopicTable())
}

// dynamicEnumerator reads the state of a DynamicKafkaSource's enumerator to its
// last byte (DynamicKafkaSourceEnumStateSerializer versions 1 and 2): the streams
// with their clusters, then one state of a KafkaSource's enumerator for each
// cluster.
func dynamicEnumerator(c cursor, version int32, topics *topicTable, known knownFunc) enumState {
	e := enumState{discovery: DiscoveryUnknown}
	p := dynamicParser{cursor: &c, version: version, ids: map[string]int{}}
	switch version {
	case 1, 2:
		p.streams()
		p.states(&e, topics, known)
	default:
		p.unsupported(0, "version", "state version %d of a DynamicKafkaSource's enumerator (1 and 2 are read)", version)
	}
	if p.err == nil && p.left() > 0 {
		p.corrupt(p.off, "end", "%d bytes follow", p.left())
	}
	switch e.err = p.err; {
	case e.err != nil:
		e.kind = enumOther
	case len(p.clusters) > 0:
		e.kind, e.clusters = enumDynamic, p.sorted()
	default:
		e.kind = enumEmpty
	}
	return e
}

type dynamicParser struct {
	*cursor
	version  int32
	clusters []Cluster
	ids      map[string]int // of clusters
}

// cluster returns the cluster of an id, which may be new.
func (p *dynamicParser) cluster(id string) *Cluster {
	i, known := p.ids[id]
	if !known {
		i = len(p.clusters)
		p.ids[id] = i
		p.clusters = append(p.clusters, Cluster{ID: id})
	}
	return &p.clusters[i]
}

// streams reads which topics a stream has in which cluster.
func (p *dynamicParser) streams() {
	for range p.count(6, "streams") {
		p.utf("stream")
		for range p.count(8, "clusters") {
			cluster := p.cluster(p.utf("cluster"))
			for range p.count(2, "topics") {
				cluster.Topics = append(cluster.Topics, p.utf("topic"))
			}
			cluster.BootstrapServers = append(cluster.BootstrapServers, p.utf("bootstrap servers"))
			if p.version == 2 {
				p.initializer()
				p.initializer()
			}
			if p.err != nil {
				return
			}
		}
	}
}

// initializer skips a starting or stopping offsets initializer, which is an
// object of Java.
func (p *dynamicParser) initializer() {
	switch b := p.i8("offsets initializer"); {
	case p.err != nil || b == 0:
	case b == 1:
		p.sized("offsets initializer")
	default:
		p.corrupt(p.off-1, "offsets initializer", "%d is neither 0 nor 1", b)
	}
}

// states reads the enumerator's state of each cluster.
func (p *dynamicParser) states(e *enumState, topics *topicTable, known knownFunc) {
	version := p.i32("enumerator version of the clusters")
	seen := map[Discovery]int{}
	for range p.count(6, "states") {
		name := p.raw("cluster")
		at := p.off + 4
		body := p.sized("state")
		id, ok := decodeUTF(name)
		if !ok {
			p.corrupt(at-4, "cluster", "not modified UTF-8")
		}
		if p.err != nil {
			return
		}
		p.cluster(id)
		topics.in(name)
		in := *p.cursor
		in.buf, in.off, in.base = body, 0, p.base+int64(at)
		in.within += fmt.Sprintf(", cluster %q, %s version %d", id, enumWhat, version)
		one := kafkaEnumerator(in, version, topics, known)
		if p.err = one.err; p.err != nil {
			return
		}
		seen[one.discovery]++
		e.splits = append(e.splits, one.splits...)
	}
	switch {
	case seen[DiscoveryUnfinished] > 0:
		e.discovery = DiscoveryUnfinished
	case seen[DiscoveryUnknown] == 0 && seen[DiscoveryFinished] > 0:
		e.discovery = DiscoveryFinished
	}
}

// sorted returns the clusters by id, with what each has sorted and once.
func (p *dynamicParser) sorted() []Cluster {
	slices.SortFunc(p.clusters, func(a, b Cluster) int { return strings.Compare(a.ID, b.ID) })
	for i := range p.clusters {
		c := &p.clusters[i]
		slices.Sort(c.Topics)
		c.Topics = slices.Compact(c.Topics)
		slices.Sort(c.BootstrapServers)
		c.BootstrapServers = slices.Compact(c.BootstrapServers)
	}
	return p.clusters
}
