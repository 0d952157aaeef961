package golden

import (
	"fmt"
	"maps"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// markers are the names of KafkaPartitionSplit, and of KafkaTopicPartitionStateSentinel for the legacy consumer.
func markers() map[string]offsetmap.Marker {
	return map[string]offsetmap.Marker{
		"EARLIEST": offsetmap.Earliest, "LATEST": offsetmap.Latest, "COMMITTED": offsetmap.Committed,
		"EARLIEST_OFFSET": offsetmap.Earliest, "LATEST_OFFSET": offsetmap.Latest, "GROUP_OFFSET": offsetmap.Committed, "OFFSET_NOT_SET": offsetmap.Unset,
	}
}

// Held returns the positions that the readers of an operator hold, in order.
func (f Fixture) Held(operator string) ([]offsetmap.Position, error) {
	var ps []offsetmap.Position
	for _, x := range f.Positions {
		if x.OperatorID != operator {
			continue
		}
		p := offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: x.Topic, Partition: x.Partition}, Cluster: x.Cluster}
		var err error
		if x.Next != nil {
			p.Next, err = offsetmap.Next(*x.Next)
		} else if p.Unread = markers()[x.Sentinel]; p.Unread.IsNone() {
			err = fmt.Errorf("%s: the sentinel %q is not known", f.Name, x.Sentinel)
		}
		if err == nil && x.Stopping != nil {
			p.Stop, err = offsetmap.Next(*x.Stopping)
		}
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	slices.SortFunc(ps, comparePositions)
	return ps, nil
}

// Alone returns what the enumerator of an operator knows and no reader holds, in order.
func (f Fixture) Alone(operator string) ([]offsetmap.Position, error) {
	held, err := f.Held(operator)
	if err != nil {
		return nil, err
	}
	var ps []offsetmap.Position
	for _, o := range f.Operators {
		if o.OperatorID != operator || o.Coordinator == nil {
			continue
		}
		enumerators := o.Coordinator.Clusters
		if enumerators == nil {
			enumerators = map[string]Enumerator{"": o.Coordinator.Enumerator}
		}
		for cluster, e := range enumerators {
			for state, parts := range map[offsetmap.AssignmentState]map[string]*int64{
				offsetmap.FinishedOrUnassigned: e.Assigned, offsetmap.Unassigned: e.Unassigned,
			} {
				for name, start := range parts {
					p := offsetmap.Position{Cluster: cluster, State: state}
					if p.TopicPartition, err = offsetmap.ParseTopicPartition(name); err != nil {
						return nil, err
					}
					if slices.ContainsFunc(held, func(h offsetmap.Position) bool { return comparePositions(h, p) == 0 }) {
						continue
					}
					if start != nil && *start >= 0 {
						if p.Start, err = offsetmap.Next(*start); err != nil {
							return nil, err
						}
					}
					ps = append(ps, p)
				}
			}
		}
	}
	slices.SortFunc(ps, comparePositions)
	return ps, nil
}

func comparePositions(a, b offsetmap.Position) int {
	if c := a.Compare(b.TopicPartition); c != 0 {
		return c
	}
	switch {
	case a.Cluster < b.Cluster:
		return -1
	case a.Cluster > b.Cluster:
		return 1
	default:
		return 0
	}
}

// CheckPositions says where the sources of a snapshot differ from what Flink's classes read: their kinds, the positions
// that readers hold, what an enumerator alone knows, and whether its first discovery had finished.
func (f Fixture) CheckPositions(snap *flinkstate.Snapshot) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if snap.MetadataVersion != f.MetadataVersion || snap.CheckpointID != f.CheckpointID {
		say("version %d, checkpoint %d, want %d, %d", snap.MetadataVersion, snap.CheckpointID, f.MetadataVersion, f.CheckpointID)
	}
	options := gocmp.Options{cmpopts.EquateComparable(offsetmap.NextOffset{}), cmpopts.EquateEmpty()}
	if !slices.ContainsFunc(f.Positions, func(p Position) bool { return p.Cluster != "" }) {
		options = append(options, cmpopts.IgnoreFields(offsetmap.Position{}, "Cluster"))
	}
	read := map[string]bool{}
	for _, src := range snap.Sources {
		read[src.OperatorID] = true
		if want := f.ExpectedKind(src.OperatorID); src.Kind != want {
			say("operator %s is a %s, want a %s", src.OperatorID, src.Kind, want)
		}
		var held, alone []offsetmap.Position
		for _, p := range src.Partitions {
			if p.State.IsNone() {
				held = append(held, p)
			} else {
				p.Stop = offsetmap.NextOffset{} // which expected.json does not hold
				alone = append(alone, p)
			}
		}
		wantHeld, err := f.Held(src.OperatorID)
		if err != nil {
			say("operator %s: %v", src.OperatorID, err)
		}
		if d := gocmp.Diff(wantHeld, held, options); d != "" {
			say("operator %s (-want +got):\n%s", src.OperatorID, d)
		}
		wantAlone, err := f.Alone(src.OperatorID)
		if err != nil {
			say("operator %s: %v", src.OperatorID, err)
		}
		if d := gocmp.Diff(wantAlone, alone, options); d != "" {
			say("operator %s, known to the enumerator alone (-want +got):\n%s", src.OperatorID, d)
		}
		if !slices.IsSortedFunc(src.Partitions, comparePositions) {
			say("operator %s: partitions are not sorted", src.OperatorID)
		}
		if want := f.discovery(src.OperatorID); src.Discovery != want && want != "" {
			say("operator %s: discovery %q, want %q", src.OperatorID, src.Discovery, want)
		}
	}
	missing := map[string]bool{}
	for _, p := range f.Positions {
		if !read[p.OperatorID] {
			missing[p.OperatorID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		say("operator %s with positions is not among the sources", id)
	}
	return out
}

// discovery is what the enumerator's state says, empty where the fixture does not. The classes that read a state of
// before version 2 say true, which it does not store.
func (f Fixture) discovery(operator string) flinkstate.Discovery {
	for _, o := range f.Operators {
		if o.OperatorID != operator || o.Coordinator == nil || o.Coordinator.Type != "KafkaSourceEnumState" {
			continue
		}
		finished := o.Coordinator.InitialDiscoveryFinished
		switch {
		case o.Coordinator.EnumeratorStateVersion < 2:
			return flinkstate.DiscoveryUnknown
		case finished != nil && *finished:
			return flinkstate.DiscoveryFinished
		case finished != nil:
			return flinkstate.DiscoveryUnfinished
		}
	}
	return ""
}
