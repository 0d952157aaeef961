package flinkstate_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// crowdFS counts how many state files are open at once.
type crowdFS struct {
	fs.FS
	open, most *atomic.Int32
}

func (c crowdFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	n := c.open.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	return crowdFile{f, c.open}, nil
}

type crowdFile struct {
	fs.File
	open *atomic.Int32
}

func (f crowdFile) Close() error {
	f.open.Add(-1)
	return f.File.Close()
}

// Buffers are used again while other files are parsed and hashed: what comes out
// has to be what one file at a time gives.
func TestReadersChangeNothingButTheTime(t *testing.T) {
	fsys, _ := bigJob(t, 1000, 37, true, 0)
	alone, err := flinkstate.Read(fsys, "sp", flinkstate.WithReaders(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3, 4, 36, 37, 1000} {
		c := crowdFS{fsys, new(atomic.Int32), new(atomic.Int32)}
		snap, err := flinkstate.Read(c, "sp", flinkstate.WithReaders(n))
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(alone, snap, offsets); d != "" {
			t.Errorf("%d readers (-1 reader +%d):\n%s", n, n, d)
		}
		if most := int(c.most.Load()); most > n {
			t.Errorf("%d files were open at once with %d readers", most, n)
		}
	}
}

// Whatever source or sink a state is of, each lane may see some of it only.
func TestReadersChangeNothingOfAnyState(t *testing.T) {
	for _, e := range fixtures(t) {
		alone, wrong := e.Open(flinkstate.WithSinkFiles(), flinkstate.WithReaders(1))
		for _, n := range []int{2, 3, 100} {
			snap, err := e.Open(flinkstate.WithSinkFiles(), flinkstate.WithReaders(n))
			if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
				t.Errorf("%s: %d readers: got %v, want %v", e.Name, n, err, wrong)
			}
			if d := gocmp.Diff(alone, snap, offsets); d != "" {
				t.Errorf("%s (-1 reader +%d):\n%s", e.Name, n, d)
			}
		}
	}
}

func TestOneReaderOpensOneFileAtATime(t *testing.T) {
	fsys, _ := bigJob(t, 500, 20, true, 0)
	c := crowdFS{fsys, new(atomic.Int32), new(atomic.Int32)}
	if _, err := flinkstate.Read(c, "sp", flinkstate.WithReaders(1)); err != nil {
		t.Fatal(err)
	}
	if most := c.most.Load(); most != 1 {
		t.Errorf("%d files were open at once", most)
	}
}

// The first file in order is reported, whichever was read first.
func TestErrorDoesNotDependOnTheReaders(t *testing.T) {
	for name, damage := range map[string]func(m fstest.MapFS, file string){
		"corrupt": func(m fstest.MapFS, file string) {
			b := []byte(strings.Clone(string(m[file].Data)))
			b[0] = 9
			m[file] = &fstest.MapFile{Data: b}
		},
		"truncated": func(m fstest.MapFS, file string) {
			m[file] = &fstest.MapFile{Data: m[file].Data[:len(m[file].Data)/2]}
		},
		"missing": func(m fstest.MapFS, file string) { delete(m, file) },
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := bigJob(t, 500, 20, true, 0)
			for _, i := range []int{5, 6, 17} {
				damage(m, fmt.Sprintf("sp/c0ffee00-0000-4000-8000-%012d", i))
			}
			_, want := flinkstate.Read(m, "sp", flinkstate.WithReaders(1))
			if want == nil || !strings.Contains(want.Error(), "000000000005") {
				t.Fatalf("got %v, want an error that names the first damaged file", want)
			}
			for _, n := range []int{2, 4, 20} {
				if _, err := flinkstate.Read(m, "sp", flinkstate.WithReaders(n)); err == nil || err.Error() != want.Error() {
					t.Errorf("%d readers: got %v, want %v", n, err, want)
				}
			}
		})
	}
}

func TestFewerThanOneReaderIsRefused(t *testing.T) {
	fsys, _ := bigJob(t, 1, 1, true, 0)
	for _, n := range []int{0, -1} {
		if _, err := flinkstate.Read(fsys, "sp", flinkstate.WithReaders(n)); err == nil || !strings.Contains(err.Error(), "WithReaders") {
			t.Errorf("%d readers: got %v, want an error that names the option", n, err)
		}
	}
}
