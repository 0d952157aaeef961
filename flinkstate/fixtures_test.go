package flinkstate_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// offsets lets go-cmp compare offsets, which keep their number to themselves.
var offsets = cmpopts.EquateComparable(offsetmap.NextOffset{})

const fixtureDir = "testdata/savepoints"

// expected is what Flink's and the connector's own classes read in a fixture.
type expected struct {
	Name            string `json:"-"`
	Kind            string
	Source          string
	Pointer         string
	PathMap         map[string]string
	MetadataVersion int
	CheckpointID    int64
	Synthetic       bool
	Operators       []struct {
		OperatorID                  string
		UID, Name                   string
		Parallelism, MaxParallelism int
		FullyFinished               bool
		Keyed                       bool
		States                      []string
		ChannelStateHandles         int
		ChannelStateBytes           int64
		Coordinator                 *struct {
			Type                     string
			InitialDiscoveryFinished *bool
			Assigned, Unassigned     map[string]*int64
		}
	}
	Positions []struct {
		OperatorID, Topic string
		Partition         int32
		Next, Stopping    *int64
		Sentinel          string
	}
}

func fixtures(t testing.TB) []expected {
	t.Helper()
	entries, err := os.ReadDir(fixtureDir)
	if err != nil {
		t.Fatal(err)
	}
	var all []expected
	for _, e := range entries {
		all = append(all, fixture(t, e.Name()))
	}
	if len(all) < 99 {
		t.Fatalf("%d fixtures, want 99", len(all))
	}
	return all
}

func fixture(t testing.TB, name string) expected {
	t.Helper()
	b, err := os.ReadFile(path.Join(fixtureDir, name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	e := expected{Name: name}
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// read reads the fixture as a user would who has its folder somewhere else than
// the job had it.
func (e expected) read() (*flinkstate.Snapshot, error) {
	return flinkstate.Read(os.DirFS(path.Join(fixtureDir, e.Name)), e.Pointer, flinkstate.WithPathMap(e.PathMap))
}

// held returns the expected positions of one operator that readers hold.
func (e expected) held(t *testing.T, operator string) []offsetmap.Position {
	t.Helper()
	markers := map[string]offsetmap.Marker{
		"EARLIEST": offsetmap.Earliest, "LATEST": offsetmap.Latest, "COMMITTED": offsetmap.Committed, // KafkaPartitionSplit
		"EARLIEST_OFFSET": offsetmap.Earliest, "LATEST_OFFSET": offsetmap.Latest, "GROUP_OFFSET": offsetmap.Committed, "OFFSET_NOT_SET": offsetmap.Unset, // KafkaTopicPartitionStateSentinel
	}
	var ps []offsetmap.Position
	for _, x := range e.Positions {
		if x.OperatorID != operator {
			continue
		}
		p := offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: x.Topic, Partition: x.Partition}}
		if x.Next != nil {
			p.Next = next(t, *x.Next)
		} else if p.Unread = markers[x.Sentinel]; p.Unread == "" {
			t.Fatalf("sentinel %q is not known to the test", x.Sentinel)
		}
		if x.Stopping != nil {
			p.Stop = next(t, *x.Stopping)
		}
		ps = append(ps, p)
	}
	slices.SortFunc(ps, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
	return ps
}

func next(t testing.TB, v int64) offsetmap.NextOffset {
	t.Helper()
	n, err := offsetmap.Next(v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// withoutAny are the fixtures in which no position is stored.
var withoutAny = []string{
	"flink-1.16-legacy-stop-loses-positions", "flink-1.18-legacy-stop-loses-positions",
	"flink-1.20-legacy-stop-loses-positions", "flink-1.20-no-discovery-yet",
}

// Each Kafka source of each fixture has exactly the positions that Flink's own
// classes read, and beside them what the enumerator alone knows.
func TestFixturePositionsAreFlinksOwn(t *testing.T) {
	sources := 0
	for _, e := range fixtures(t) {
		if slices.Contains(withoutAny, e.Name) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			snap, err := e.read()
			if err != nil {
				t.Fatal(err)
			}
			if snap.MetadataVersion != e.MetadataVersion || snap.CheckpointID != e.CheckpointID {
				t.Errorf("version %d, checkpoint %d, want %d, %d", snap.MetadataVersion, snap.CheckpointID, e.MetadataVersion, e.CheckpointID)
			}
			read := map[string]bool{}
			for _, src := range snap.Sources {
				sources++
				read[src.OperatorID] = true
				if src.Kind != e.kind() {
					t.Errorf("operator %s is a %s, want a %s", src.OperatorID, src.Kind, e.kind())
				}
				var held, alone []offsetmap.Position
				for _, p := range src.Partitions {
					if p.State == "" {
						held = append(held, p)
					} else {
						p.Stop = offsetmap.NextOffset{} // which expected.json does not hold
						alone = append(alone, p)
					}
				}
				if d := gocmp.Diff(e.held(t, src.OperatorID), held, offsets, cmpopts.IgnoreFields(offsetmap.Position{}, "Cluster")); d != "" {
					t.Errorf("operator %s (-want +got):\n%s", src.OperatorID, d)
				}
				if d := gocmp.Diff(e.alone(t, src.OperatorID), alone, offsets, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("operator %s, known to the enumerator alone (-want +got):\n%s", src.OperatorID, d)
				}
				if !slices.IsSortedFunc(src.Partitions, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) }) {
					t.Errorf("operator %s: partitions are not sorted", src.OperatorID)
				}
			}
			for _, p := range e.Positions {
				if !read[p.OperatorID] {
					t.Errorf("operator %s with a position is not among the sources", p.OperatorID)
				}
			}
		})
	}
	if sources < 95 {
		t.Errorf("only %d sources were compared", sources)
	}
}

// kind is that of the sources of a fixture.
func (e expected) kind() flinkstate.Kind {
	switch e.Source {
	case "legacy":
		return flinkstate.FlinkKafkaConsumer
	case "dynamic":
		return flinkstate.DynamicKafkaSource
	default:
		return flinkstate.KafkaSource
	}
}

// alone returns what the enumerator of an operator knows and no reader holds.
func (e expected) alone(t *testing.T, operator string) []offsetmap.Position {
	t.Helper()
	held := map[string]bool{}
	for _, p := range e.held(t, operator) {
		held[p.String()] = true
	}
	var ps []offsetmap.Position
	for _, o := range e.Operators {
		if o.OperatorID != operator || o.Coordinator == nil {
			continue
		}
		for state, parts := range map[offsetmap.AssignmentState]map[string]*int64{
			offsetmap.FinishedOrUnassigned: o.Coordinator.Assigned,
			offsetmap.Unassigned:           o.Coordinator.Unassigned,
		} {
			for _, name := range slices.Sorted(maps.Keys(parts)) {
				if held[name] {
					continue
				}
				tp, err := offsetmap.ParseTopicPartition(name)
				if err != nil {
					t.Fatal(err)
				}
				p := offsetmap.Position{TopicPartition: tp, State: state}
				if start := parts[name]; start != nil && *start >= 0 {
					p.Start = next(t, *start)
				}
				ps = append(ps, p)
			}
		}
	}
	slices.SortFunc(ps, func(a, b offsetmap.Position) int { return a.Compare(b.TopicPartition) })
	return ps
}

// Every operator of every fixture is listed as Flink's own classes see it.
func TestFixtureOperatorsAreFlinksOwn(t *testing.T) {
	for _, e := range fixtures(t) {
		if len(e.Operators) == 0 {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			var ops []flinkstate.Operator
			var inFlight []flinkstate.InFlight
			snap, err := e.read()
			if none := (*flinkstate.NoPositionError)(nil); errors.As(err, &none) {
				ops = none.Operators
			} else if err != nil {
				t.Fatal(err)
			} else {
				ops, inFlight = snap.Operators, snap.InFlight
			}
			var want []flinkstate.Operator
			var wantInFlight []flinkstate.InFlight
			for _, o := range e.Operators {
				op := flinkstate.Operator{
					ID: o.OperatorID, UID: o.UID, Name: o.Name, Parallelism: o.Parallelism, MaxParallelism: o.MaxParallelism,
					Keyed: o.Keyed, FullyFinished: o.FullyFinished,
				}
				for _, name := range slices.Sorted(slices.Values(o.States)) {
					op.States = append(op.States, flinkstate.State{Name: name})
				}
				want = append(want, op)
				if o.ChannelStateHandles > 0 {
					wantInFlight = append(wantInFlight, flinkstate.InFlight{OperatorID: o.OperatorID, UID: o.UID, Name: o.Name, Handles: o.ChannelStateHandles, Bytes: o.ChannelStateBytes})
				}
			}
			slices.SortFunc(want, func(a, b flinkstate.Operator) int { return cmp.Compare(a.ID, b.ID) })
			slices.SortFunc(wantInFlight, func(a, b flinkstate.InFlight) int { return cmp.Compare(a.OperatorID, b.OperatorID) })
			opts := gocmp.Options{
				cmpopts.IgnoreFields(flinkstate.Operator{}, "Skipped", "Bytes", "BeyondCopying"),
				cmpopts.IgnoreFields(flinkstate.State{}, "Kind", "Elements", "Holds", "NotRead"),
			}
			if d := gocmp.Diff(want, ops, opts, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("operators (-want +got):\n%s", d)
			}
			if d := gocmp.Diff(wantInFlight, inFlight, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("in flight (-want +got):\n%s", d)
			}
		})
	}
}

// What the state says of the first discovery is what Flink's classes say.
func TestFixtureDiscoveryIsFlinksOwn(t *testing.T) {
	seen := map[flinkstate.Discovery]int{}
	for _, e := range fixtures(t) {
		snap, err := e.read()
		if err != nil {
			continue
		}
		for _, o := range e.Operators {
			if o.Coordinator == nil || o.Coordinator.Type != "KafkaSourceEnumState" {
				continue
			}
			src, err := snap.Source(o.OperatorID)
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			want := flinkstate.DiscoveryUnknown
			if f := o.Coordinator.InitialDiscoveryFinished; f != nil && e.storesDiscovery() {
				want = map[bool]flinkstate.Discovery{true: flinkstate.DiscoveryFinished, false: flinkstate.DiscoveryUnfinished}[*f]
			}
			seen[src.Discovery]++
			if src.Discovery != want {
				t.Errorf("%s, operator %s: discovery %q, want %q", e.Name, o.OperatorID, src.Discovery, want)
			}
		}
	}
	if seen[flinkstate.DiscoveryFinished] == 0 || seen[flinkstate.DiscoveryUnknown] == 0 {
		t.Errorf("the fixtures show too little: %v", seen)
	}
}

// storesDiscovery reports whether the connector is 3.1 or later. The classes
// of those read true where an older one stored nothing.
func (e expected) storesDiscovery() bool {
	_, version, _ := strings.Cut(e.Name, "flink-")
	return version >= "1.18"
}

func TestFixtureWithoutDiscoveryHasNoPosition(t *testing.T) {
	_, err := fixture(t, "flink-1.20-no-discovery-yet").read()
	if !errors.Is(err, flinkstate.ErrNoPosition) {
		t.Fatalf("got %v, want ErrNoPosition", err)
	}
	for _, want := range []string{"30198ea1e33432d6307d761dd131f28a", "SourceReaderState", "initial discovery had not finished", "KafkaSource, DynamicKafkaSource and FlinkKafkaConsumer of flink-connector-kafka"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q: %v", want, err)
		}
	}
}
