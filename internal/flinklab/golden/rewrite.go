package golden

import (
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Beyond names a next offset behind the one that a source has, for each partition of a cluster, which is empty for sources
// of one. Where a marker stands it names one too; what no reader holds is kept, and what would end there.
func Beyond(src flinkstate.Source, cluster string) flinkstate.Rewrite {
	r := flinkstate.Rewrite{Source: src.OperatorID, Cluster: cluster, Next: map[offsetmap.TopicPartition]offsetmap.NextOffset{}}
	for i, p := range src.Partitions {
		if p.Cluster != cluster {
			continue
		}
		v := int64(i)
		if c, ok := p.Next.Value(); ok {
			v = c + 1 + int64(i*7919)%100_000
		}
		c, err := offsetmap.Next(v)
		if err != nil || !p.State.IsNone() || !p.Stop.IsNone() && p.Stop.Compare(c) <= 0 {
			r.Kept = append(r.Kept, p.TopicPartition)
			continue
		}
		r.Next[p.TopicPartition] = c
	}
	return r
}

// Clusters are those of which a source has partitions, the empty one for sources without.
func Clusters(src flinkstate.Source) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range src.Partitions {
		if !seen[p.Cluster] {
			seen[p.Cluster] = true
			out = append(out, p.Cluster)
		}
	}
	return out
}
