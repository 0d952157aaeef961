package flinkstate

import (
	"fmt"
	"slices"
)

// InCluster returns the snapshot as it is for one cluster of its
// DynamicKafkaSources: their partitions of other clusters are left out, and so
// is a source that holds none of id. Other sources stay, since their state does
// not say which cluster they read. The snapshot itself is not changed.
//
// id is what the job's KafkaMetadataService calls the cluster ([Cluster]). The
// error is an ErrSelector when no source has partitions of such a cluster.
func (s *Snapshot) InCluster(id string) (*Snapshot, error) {
	out := *s
	out.Sources = nil
	out.Operators = slices.Clone(s.Operators)
	found := false
	for _, src := range s.Sources {
		if src.Kind == DynamicKafkaSource {
			if src = src.in(id); len(src.Partitions) == 0 {
				out.leaveOut(src.OperatorID, fmt.Sprintf("is a DynamicKafkaSource without partitions of cluster %q", id))
				continue
			}
			found = true
		}
		out.Sources = append(out.Sources, src)
	}
	if !found {
		return nil, s.noCluster(id)
	}
	out.Warnings = slices.DeleteFunc(slices.Clone(s.Warnings), func(w Warning) bool {
		return w.Code == SeveralClusters || w.Code == PartitionsShared
	})
	out.Warnings = append(out.Warnings, amongSources(out.Sources)...)
	sortWarnings(out.Warnings)
	return &out, nil
}

// in returns the source with what it has of one cluster.
func (s *Source) in(id string) Source {
	out := *s
	out.Partitions, out.Clusters = nil, nil
	for _, p := range s.Partitions {
		if p.Cluster == id {
			out.Partitions = append(out.Partitions, p)
		}
	}
	for _, c := range s.Clusters {
		if c.ID == id {
			out.Clusters = append(out.Clusters, c)
		}
	}
	return out
}

// leaveOut says of an operator why it is not among the sources.
func (s *Snapshot) leaveOut(operator, why string) {
	for i := range s.Operators {
		if s.Operators[i].ID == operator {
			s.Operators[i].Skipped = why
		}
	}
}

func (s *Snapshot) noCluster(id string) error {
	e := s.selectorError(id, fmt.Sprintf("no DynamicKafkaSource holds partitions of cluster %q", id))
	var ids []string
	for i := range s.Sources {
		ids = append(ids, s.Sources[i].clusterIDs()...)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		e.Reason = fmt.Sprintf("cluster %q was asked for, but only a DynamicKafkaSource has clusters, and there is none", id)
		e.Choices = nil
		return e
	}
	e.Reason += fmt.Sprintf(" (there are %q)", ids)
	e.Clusters = ids
	return e
}

// clusterIDs returns the clusters of which the source has partitions, sorted.
func (s *Source) clusterIDs() []string {
	if s.Kind != DynamicKafkaSource {
		return nil
	}
	seen := map[string]bool{}
	var ids []string
	for i := range s.Partitions {
		if id := s.Partitions[i].Cluster; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
