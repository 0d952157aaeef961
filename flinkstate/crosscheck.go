package flinkstate

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// amongSources returns the warnings that come from looking at all sources.
func amongSources(sources []Source) []Warning {
	ws := sharedPartitions(sources)
	for i := range sources {
		s := &sources[i]
		if ids := s.clusterIDs(); len(ids) > 1 {
			ws = append(ws, s.warn(SeveralClusters, "it holds partitions of %d clusters, %q; positions are of one", len(ids), ids))
		}
	}
	return ws
}

func (s *Source) warn(code WarningCode, format string, args ...any) Warning {
	return Warning{Code: code, OperatorID: s.OperatorID, UID: s.UID, Name: s.Name, Text: fmt.Sprintf(format, args...)}
}

// sharedPartitions warns of partitions that two sources hold. The job copied
// them twice, to two places of which neither is the boundary.
func sharedPartitions(sources []Source) []Warning {
	var ws []Warning
	for i := range sources {
		for j := i + 1; j < len(sources); j++ {
			a, b := &sources[i], &sources[j]
			if n, first := commonPartitions(a.Partitions, b.Partitions); n > 0 {
				ws = append(ws, a.warn(PartitionsShared, "it shares %d partitions with operator %s, the first being %s; the two are not merged",
					n, label(b.OperatorID, b.UID, b.Name), first))
			}
		}
	}
	return ws
}

// commonPartitions counts what two sorted lists share. Names of clusters tell
// partitions apart only where both lists have them.
func commonPartitions(a, b []offsetmap.Position) (n int, first offsetmap.TopicPartition) {
	for len(a) > 0 && len(b) > 0 {
		switch d := a[0].Compare(b[0].TopicPartition); {
		case d < 0:
			a = a[1:]
		case d > 0:
			b = b[1:]
		default:
			k, l := sameTopicPartition(a), sameTopicPartition(b)
			if shareCluster(a[:k], b[:l]) {
				if n++; n == 1 {
					first = a[0].TopicPartition
				}
			}
			a, b = a[k:], b[l:]
		}
	}
	return n, first
}

// sameTopicPartition counts how many positions at the start of a sorted list
// have one topic and number, which only their clusters tell apart.
func sameTopicPartition(ps []offsetmap.Position) int {
	n := 1
	for n < len(ps) && ps[n].TopicPartition == ps[0].TopicPartition {
		n++
	}
	return n
}

func shareCluster(a, b []offsetmap.Position) bool {
	seen := make(map[string]bool, len(a))
	for i := range a {
		seen[a[i].Cluster] = true
	}
	for i := range b {
		if b[i].Cluster == "" || seen[""] || seen[b[i].Cluster] {
			return true
		}
	}
	return false
}
