package golden_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/internal/flinklab/golden"
)

const fixtures = "../../../flinkstate/testdata/savepoints"

func load(t *testing.T, name string) golden.Fixture {
	t.Helper()
	f, err := golden.Load(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A comparison that lets a difference pass would let every bug of the reader pass.
func TestEachDifferenceIsSaid(t *testing.T) {
	source := func(f *golden.Fixture) *golden.Operator {
		i := slices.IndexFunc(f.Operators, func(o golden.Operator) bool { return o.Coordinator != nil })
		return &f.Operators[i]
	}
	number := int64(12345)
	for _, tc := range []struct {
		name, fixture string
		change        func(*golden.Fixture)
		want          string
	}{
		{"nothing", "flink-1.20-stop-p2", func(*golden.Fixture) {}, ""},
		{"another next offset", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions[1].Next = &number }, "12345"},
		{"a next offset for a marker", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions[0].Next = &number }, "12345"},
		{"another marker", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions[0].Sentinel = "LATEST" }, "latest"},
		{"an unknown marker", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions[0].Sentinel = "NEVER" }, "NEVER"},
		{"a stopping offset", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions[1].Stopping = &number }, "12345"},
		{"one partition less", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions = f.Positions[1:] }, "orders"},
		{"one partition more", "flink-1.20-stop-p2", func(f *golden.Fixture) {
			f.Positions = append(f.Positions, golden.Position{OperatorID: f.Positions[0].OperatorID, Topic: "payments", Next: &number})
		}, "payments"},
		{"positions of another operator", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Positions[0].OperatorID = strings.Repeat("0", 32) }, "not among the sources"},
		{"another kind of source", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Source = "legacy" }, "want a FlinkKafkaConsumer"},
		{"another version", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.MetadataVersion++ }, "version 4"},
		{"another checkpoint", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.CheckpointID++ }, "checkpoint 1"},
		{"another kind of snapshot", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Kind = "savepoint" }, "kind"},
		{"a partition that the enumerator alone knows", "flink-1.20-stop-p2", func(f *golden.Fixture) {
			source(f).Coordinator.Assigned["payments-0"] = nil
		}, "known to the enumerator alone"},
		{"an unfinished discovery", "flink-1.20-stop-p2", func(f *golden.Fixture) {
			*source(f).Coordinator.InitialDiscoveryFinished = false
		}, "discovery"},
		{"another parallelism", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Operators[1].Parallelism++ }, "Parallelism"},
		{"a keyed operator", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Operators[1].Keyed = true }, "Keyed"},
		{"a finished operator", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Operators[1].FullyFinished = true }, "FullyFinished"},
		{"another state", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Operators[1].States = []string{"windows"} }, "windows"},
		{"one operator less", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Operators = f.Operators[:3] }, "operators"},
		{"records in flight", "flink-1.20-stop-p2", func(f *golden.Fixture) { f.Operators[1].ChannelStateHandles = 1 }, "in flight"},
		{"no position at all", "flink-1.20-stop-p2", func(f *golden.Fixture) {
			f.Positions, source(f).Coordinator.Assigned = nil, nil
		}, "want no position"},
		{"positions where the state has none", "flink-1.20-no-discovery-yet", func(f *golden.Fixture) {
			f.Positions = []golden.Position{{OperatorID: f.Operators[0].OperatorID, Topic: "orders", Next: &number}}
		}, "want 1 positions"},
		{"another cluster", clusters, func(f *golden.Fixture) { f.Positions[0].Cluster = "cluster-z" }, "cluster-z"},
		{"another prefix", sinks, func(f *golden.Fixture) {
			f.Operators[writer(f)].Subtasks[0].KafkaWriterStates[0].TransactionalIDPrefix = "tx-z"
		}, "tx-z"},
		{"one transaction less", sinks, func(f *golden.Fixture) {
			for i := range f.Operators {
				for k := range f.Operators[i].Subtasks {
					f.Operators[i].Subtasks[k].Committables = nil
				}
			}
		}, "Transactions"},
		{"a state that Flink could not read", sinks, func(f *golden.Fixture) {
			f.Operators[writer(f)].Subtasks[0].KafkaWriterStates[0].Error = "java.io.IOException"
		}, "java.io.IOException"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := load(t, tc.fixture)
			tc.change(&f)
			got := strings.Join(f.Check(), "\n")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q in it", got, tc.want)
			}
		})
	}
}

// Fixtures with what most have not.
const (
	clusters = "flink-2.3-kafka-and-dynamic-checkpoint"
	sinks    = "flink-2.3-kafka-and-dynamic-checkpoint"
)

func writer(f *golden.Fixture) int {
	return slices.IndexFunc(f.Operators, func(o golden.Operator) bool { return slices.Contains(o.States, "writer_raw_states") })
}

func TestLoadSaysWhichFileIsBroken(t *testing.T) {
	dir := t.TempDir()
	if _, err := golden.Load(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("without expected.json: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "expected.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := golden.Load(dir); err == nil || !strings.Contains(err.Error(), "expected.json") {
		t.Errorf("half a file: %v", err)
	}
	if _, err := golden.LoadAll(filepath.Dir(dir)); err == nil {
		t.Error("no error for a folder with a broken fixture")
	}
}

// What stands in a fixture with subtasks and in one with their sum is the same.
func TestSubtasksAreSummedUp(t *testing.T) {
	f := load(t, sinks)
	states := map[string]bool{}
	for _, o := range f.Operators {
		for _, s := range o.States {
			states[s] = true
		}
	}
	if got := slices.Sorted(maps.Keys(states)); !slices.Equal(got, []string{"SourceReaderState", "streaming_committer_raw_states", "writer_raw_states"}) {
		t.Errorf("states %q", got)
	}
}
