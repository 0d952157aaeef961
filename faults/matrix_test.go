package faults_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flinkmm2/flinkmm2/faults"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

var (
	which  = flag.String("faults.cells", "", "the cells to run, by a regular expression; by default, a sample")
	record = flag.String("faults.record", "", "the folder that keeps the records")
	seed   = flag.Uint64("faults.seed", 1, "picks the sample, and decides what a cell leaves to chance")
	sample = flag.Int("faults.sample", 1, "how many cells of each family the sample has")
	atOnce = flag.Int("faults.at-once", 3, "how many cells run at the same time")
)

var (
	network faults.Network
	stage   = lab.Shared{Options: faults.LabOptions(&network)}
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := stage.Main(m).Run()
	network.Close()
	os.Exit(code)
}

// TestMatrix runs cells on real brokers and a real worker.
func TestMatrix(t *testing.T) {
	l := stage.Get(t)
	s, err := faults.OnLab(l, &network)
	if err != nil {
		t.Fatal(err)
	}
	run(t, picked(t, faults.Cells()), s)
}

// picked returns the cells that were asked for, or those that the seed takes of what has
// a record.
func picked(t *testing.T, cells []faults.Cell) []faults.Cell {
	t.Helper()
	if *which == "" {
		random := rand.New(rand.NewPCG(*seed, 0))
		random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		recorded, err := faults.ReadRecords(filepath.Join("..", "docs", "faults"))
		if err != nil {
			t.Fatal(err)
		}
		cells = slices.DeleteFunc(cells, func(c faults.Cell) bool { return recorded[c.ID()].Cell == "" })
		of := map[string]int{}
		return slices.DeleteFunc(cells, func(c faults.Cell) bool { of[c.Family()]++; return of[c.Family()] > *sample })
	}
	want, err := regexp.Compile(*which)
	if err != nil {
		t.Fatal(err)
	}
	var some []faults.Cell
	for _, c := range cells {
		if want.MatchString(c.ID()) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		t.Fatalf("no cell is like %q", *which)
	}
	return some
}

// run runs cells, those that share the stage first and several at once.
func run(t *testing.T, cells []faults.Cell, s *faults.Stage) {
	equip(t, s)
	var mu sync.Mutex
	one := func(c faults.Cell) {
		t.Run(c.ID(), func(t *testing.T) {
			r, err := c.Run(t.Context(), t, s)
			if err != nil {
				t.Errorf("%v\n%s", err, strings.Join(r.Log, "\n"))
				return
			}
			if *record != "" && s.Lab != nil {
				mu.Lock()
				defer mu.Unlock()
				if err := faults.Keep(*record, c.Family(), r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	slots := make(chan struct{}, *atOnce)
	var together sync.WaitGroup
	for _, c := range cells {
		if !c.Alone() {
			slots <- struct{}{}
			together.Go(func() { defer func() { <-slots }(); one(c) })
		}
	}
	together.Wait()
	for _, c := range cells {
		if c.Alone() {
			one(c)
		}
	}
}

// equip builds the programs that a stage needs.
func equip(t *testing.T, s *faults.Stage) {
	t.Helper()
	var err error
	if s.Program, err = faults.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if s.Jumping, err = faults.BuildJumping(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	s.Tool = faults.Commit(t.Context())
	s.Savepoint, s.Seed = filepath.Join("..", "flinkstate", "testdata", "savepoints", "flink-1.20-stop-p2", "savepoint"), *seed
}
