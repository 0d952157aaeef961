package flinkstate_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// meteredFS counts the bytes that are read of each file, from 0 for one that is
// only opened.
type meteredFS struct {
	fs.FS
	mu   *sync.Mutex
	read map[string]int64
}

type meteredFile struct {
	fs.File
	count func(n int)
}

func metered(fsys fs.FS) meteredFS { return meteredFS{fsys, &sync.Mutex{}, map[string]int64{}} }

func (m meteredFS) Open(name string) (fs.File, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, err
	}
	count := func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.read[name] += int64(n)
	}
	count(0)
	return meteredFile{f, count}, nil
}

func (f meteredFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.count(n)
	return n, err
}

// windows is the state of an operator with windows in all the forms in which keyed
// and other large state is stored: every handle names a file of its own, of size
// bytes. The files' names are returned.
func windows(size int) (op jobOp, files []string) {
	file := func(stream func(name string, n int) []byte, name string) []byte {
		files = append(files, name)
		return stream(name, size)
	}
	gone := func(name string, n int) []byte { return absolute("file:/flink/shared/"+name, n) }
	segments := func(name string, n int) []byte { return segment("file:/flink/taskowned/"+name, 0, n) }
	keyGroups := func(stream []byte) []byte { return put(int8(3), 0, 1, int64(0), stream) }
	incremental := put(int8(11), int64(7), "backend", 0, 128, int64(size), file(relative, "incremental-meta"),
		1, "000042.sst", file(gone, "000042"), 1, "MANIFEST", file(relative, "manifest"), "id")
	keyed := [][]byte{
		keyGroups(file(relative, "keyed-savepoint")),
		keyGroups(file(gone, "keyed-absolute")),
		keyGroups(file(segments, "keyed-merged")),
		incremental,
		put(int8(14), 0, 128, int64(size), 1, incremental, 1, put(int8(13), 0, 128, 1, int64(0), file(relative, "changelog"), int64(size), int64(size), "id", "storage"), int64(1), int64(2), "id"),
	}
	op = jobOp{id: otherID, parallelism: len(keyed)}
	for i, k := range keyed {
		op.subtasks = append(op.subtasks, jobSubtask{index: i, keyed: k, managed: handle(file(relative, "lists-"+string(rune('a'+i))),
			listState{"window-contents", 0, []int64{0, 1 << 20}}, listState{"broadcast", 2, []int64{2 << 20}})})
	}
	return op, files
}

// A savepoint with gigabytes of window state is read in kilobytes: the files of
// such state are there, 2 GiB each, and none is opened.
func TestGigabytesOfWindowStateAreNotTouched(t *testing.T) {
	const size = 2 << 30
	dir := t.TempDir()
	stream, at := plainStream(split("orders", 0, 5, noStop), split("orders", 1, 6, noStop))
	j := oneSource(t, assigned("orders", 0, 1), handle(relative("splits", len(stream)), listState{readerState, 0, at}))
	op, files := windows(size)
	j.operators = append(j.operators, op)
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	metadata := j.bytes()
	write("_metadata", metadata)
	write("splits", stream)
	for _, name := range files {
		write(name, nil)
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
	}

	m := metered(os.DirFS(dir))
	snap, err := flinkstate.Read(m, ".", flinkstate.WithSinkFiles(), flinkstate.WithPathMap(map[string]string{"file:/flink/shared": ".", "file:/flink/taskowned": "."}))
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(map[string]int64{"_metadata": int64(len(metadata)), "splits": int64(len(stream))}, m.read); d != "" {
		t.Errorf("bytes read (-want +got):\n%s", d)
	}
	if n := len(snap.Sources[0].Partitions); n != 2 {
		t.Errorf("%d partitions, want 2", n)
	}
	i := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == otherID })
	if o := snap.Operators[i]; !o.Keyed || o.Bytes.Keyed < 8*size || o.Bytes.Operator != 5*size {
		t.Errorf("the inventory has %+v", o)
	}
	if _, err := flinkstate.ReadDir(dir); err != nil {
		t.Errorf("as a local folder: %v", err)
	}
	t.Logf("%d bytes read beside %d files of %d", slices.Max(slices.Collect(maps.Values(m.read))), len(files), int64(size))
}
