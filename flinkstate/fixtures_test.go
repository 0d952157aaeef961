package flinkstate_test

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/flinklab/golden"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// offsets lets go-cmp compare offsets, which keep their number to themselves.
var offsets = cmpopts.EquateComparable(offsetmap.NextOffset{})

const fixtureDir = "testdata/savepoints"

// expected is what Flink's and the connector's own classes read in a fixture.
type expected struct{ golden.Fixture }

func fixtures(t testing.TB) []expected {
	t.Helper()
	loaded, err := golden.LoadAll(fixtureDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) < 117 {
		t.Fatalf("%d fixtures, want 117", len(loaded))
	}
	var all []expected
	for _, f := range loaded {
		all = append(all, expected{f})
	}
	return all
}

func fixture(t testing.TB, name string) expected {
	t.Helper()
	f, err := golden.Load(path.Join(fixtureDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return expected{f}
}

// read reads the fixture as a user would who has its folder somewhere else than
// the job had it.
func (e expected) read() (*flinkstate.Snapshot, error) {
	snap, err := e.Open()
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// held returns the expected positions of one operator that readers hold.
func (e expected) held(t *testing.T, operator string) []offsetmap.Position {
	t.Helper()
	ps, err := e.Held(operator)
	if err != nil {
		t.Fatal(err)
	}
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
	"flink-1.19-hybrid-source", "flink-1.20-legacy-stop-loses-positions", "flink-1.20-no-discovery-yet",
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
			sources += len(snap.Sources)
			for _, d := range e.CheckPositions(snap) {
				t.Error(d)
			}
		})
	}
	if sources < 95 {
		t.Errorf("only %d sources were compared", sources)
	}
}

// Every operator of every fixture is listed as Flink's own classes see it.
func TestFixtureOperatorsAreFlinksOwn(t *testing.T) {
	for _, e := range fixtures(t) {
		if len(e.Operators) == 0 {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			snap := e.readSinks(t)
			for _, d := range slices.Concat(e.CheckOperators(snap), e.CheckSinks(snap)) {
				t.Error(d)
			}
		})
	}
}

// The fixtures show both that the first discovery had finished, and that the
// state does not say; what each shows is compared with the positions.
func TestFixtureDiscoveryIsFlinksOwn(t *testing.T) {
	seen := map[flinkstate.Discovery]int{}
	for _, e := range fixtures(t) {
		snap, err := e.read()
		if err != nil {
			continue
		}
		for _, src := range snap.Sources {
			seen[src.Discovery]++
		}
	}
	if seen[flinkstate.DiscoveryFinished] == 0 || seen[flinkstate.DiscoveryUnknown] == 0 {
		t.Errorf("the fixtures show too little: %v", seen)
	}
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
