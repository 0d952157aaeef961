package flinkstate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// The shapes for which the fixtures' generator times Flink's own reading (lean:
// metadata, then a seek to each split).
func BenchmarkReadDir(b *testing.B) {
	for _, bb := range []struct {
		name        string
		n, subtasks int
		inFiles     bool
		noise       int
	}{
		{"splits=1", 1, 1, false, 0},
		{"splits=100/inline", 100, 4, false, 0},
		{"splits=10000/inline", 10_000, 64, false, 0},
		{"splits=10000/one-file", 10_000, 1, true, 0},
		{"splits=100000/files", 100_000, 128, true, 0},
		{"splits=100000/files-and-keyed-operators", 100_000, 128, true, 30},
	} {
		b.Run(bb.name, func(b *testing.B) {
			m, size := bigJob(b, bb.n, bb.subtasks, bb.inFiles, bb.noise)
			dir := b.TempDir()
			for name, f := range m {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(path, f.Data, fs.FileMode(0o644)); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				snap, err := flinkstate.ReadDir(filepath.Join(dir, "sp"))
				if err != nil || len(snap.Sources[0].Partitions) != bb.n {
					b.Fatal(err)
				}
			}
		})
	}
}

// A split costs no allocation of its own.
func TestAllocationsDoNotGrowWithSplits(t *testing.T) {
	allocs := func(n int) float64 {
		fsys, _ := bigJob(t, n, 1, true, 0)
		return testing.AllocsPerRun(5, func() {
			if _, err := flinkstate.Read(fsys, "sp"); err != nil {
				t.Fatal(err)
			}
		})
	}
	// 2,000 splits more are 20 topics more, and tables that grow twice.
	if few, many := allocs(100), allocs(2100); many-few > 60 {
		t.Errorf("%v allocations for 100 splits, %v for 2,100", few, many)
	}
}
