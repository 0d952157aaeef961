package flinkstate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// countingFS notes what is opened, folders too.
type countingFS struct {
	fs.FS
	mu     *sync.Mutex
	opened map[string]int
}

func counting(fsys fs.FS) countingFS {
	return countingFS{fsys, new(sync.Mutex), map[string]int{}}
}

func (c countingFS) Open(name string) (fs.File, error) {
	c.mu.Lock()
	c.opened[name]++
	c.mu.Unlock()
	return c.FS.Open(name)
}

// State files that hold only keyed state, a sink's state or channel state are
// never opened, and the others once.
func TestOnlyFilesWithSplitsAreOpened(t *testing.T) {
	files := 0
	for _, e := range fixtures(t) {
		if e.Source != "kafka" {
			continue
		}
		c := counting(os.DirFS(path.Join(fixtureDir, e.Name)))
		snap, err := flinkstate.Read(c, e.Pointer, flinkstate.WithPathMap(e.PathMap))
		if err != nil {
			continue
		}
		for name, n := range c.opened {
			if n != 1 {
				t.Errorf("%s: %s was opened %d times", e.Name, name, n)
			}
		}
		if len(c.opened) != len(snap.Files) {
			t.Errorf("%s: opened %v, but Files has %v", e.Name, c.opened, snap.Files)
		}
		files += len(c.opened) - 1
		for name := range c.opened {
			b, err := fs.ReadFile(c.FS, name)
			if err != nil {
				t.Fatal(err)
			}
			if path.Base(name) != "_metadata" && !strings.Contains(string(b), readerState) {
				t.Errorf("%s: %s was opened and holds no splits", e.Name, name)
			}
		}
	}
	if files < 20 {
		t.Errorf("only %d state files were opened", files)
	}
}

// Gigabytes of another operator's state cost nothing, not even a look.
func TestKeyedStateFilesNeedNotExist(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	j.operators[0].subtasks[0].keyed = put(int8(3), 0, 1, int64(0), relative("gone-keyed", 1<<40))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{
		managed: handle(absolute("s3://gone/list", 1<<40), listState{"window-contents", 0, []int64{0, 9}}),
	}}})
	snap, err := flinkstate.Read(j.fsys(nil), "sp")
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Files) != 1 {
		t.Errorf("files: %v", snap.Files)
	}
}

func TestFilesHoldNameSizeAndHash(t *testing.T) {
	e := fixture(t, "flink-1.20-checkpoint-file-merging")
	snap, err := e.read()
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Files) != 3 {
		t.Fatalf("files: %v", snap.Files)
	}
	for _, f := range snap.Files {
		name := path.Join(e.Pointer, f.Name)
		for from, to := range e.PathMap {
			if rest, ok := strings.CutPrefix(f.Name, from); ok {
				name = path.Join(to, rest)
			}
		}
		b, err := os.ReadFile(path.Join(fixtureDir, e.Name, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		want := flinkstate.File{Name: f.Name, Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:])}
		if f != want {
			t.Errorf("got %+v, want %+v", f, want)
		}
	}
	if !slices.IsSortedFunc(snap.Files, func(a, b flinkstate.File) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not sorted: %v", snap.Files)
	}
}

// memory copies a fixture into memory, where it can be damaged.
func memory(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	root := os.DirFS(path.Join(fixtureDir, name))
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, p)
		m[p] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func missingFiles(t *testing.T, err error) *flinkstate.MissingFilesError {
	t.Helper()
	var m *flinkstate.MissingFilesError
	if !errors.Is(err, flinkstate.ErrMissingFiles) || !errors.As(err, &m) {
		t.Fatalf("got %v, want an ErrMissingFiles", err)
	}
	return m
}

// A state file that is gone is an error, not fewer partitions; all that are
// gone are listed.
func TestMissingStateFilesAreAllListed(t *testing.T) {
	e := fixture(t, "flink-1.20-all-files-p2")
	snap, err := e.read()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range snap.Files {
		if f.Name != "_metadata" {
			names = append(names, f.Name)
		}
	}
	for _, gone := range [][]string{names[:1], names[1:], names} {
		m := memory(t, e.Name)
		for _, n := range gone {
			// A relative path is not looked for elsewhere: no map would help.
			m[n] = m[path.Join(e.Pointer, n)]
			delete(m, path.Join(e.Pointer, n))
		}
		snap, err := flinkstate.Read(m, e.Pointer)
		if snap != nil {
			t.Errorf("without %v: positions were given", gone)
		}
		var want []flinkstate.MissingFile
		for _, n := range gone {
			want = append(want, flinkstate.MissingFile{Name: n, Path: path.Join(e.Pointer, n), OperatorID: testSource})
			if !strings.Contains(err.Error(), n) {
				t.Errorf("error does not name %s: %v", n, err)
			}
		}
		if d := gocmp.Diff(want, missingFiles(t, err).Files); d != "" {
			t.Errorf("without %v (-want +got):\n%s", gone, d)
		}
	}
}

// Absolute paths to a place that is gone: each file is listed, and a file of
// the same name near the metadata is offered through the path map, which then works.
func TestAbsolutePathsToAGonePlaceAreOffered(t *testing.T) {
	e := fixture(t, "flink-1.20-checkpoint-s3-entropy")
	_, err := flinkstate.Read(os.DirFS(path.Join(fixtureDir, e.Name)), e.Pointer)
	m := missingFiles(t, err)
	if len(m.Files) != 2 {
		t.Fatalf("%d files, want 2: %v", len(m.Files), err)
	}
	for _, f := range m.Files {
		if !strings.HasPrefix(f.Name, "s3://my-bucket/") || f.Path != "" || f.From != "" {
			t.Errorf("got %+v, want a name on s3 that was looked for nowhere", f)
		}
	}

	// All files brought beside the metadata, as people do.
	fsys := memory(t, e.Name)
	for name := range maps.Clone(fsys) {
		fsys[path.Join(e.Pointer, path.Base(name))] = fsys[name]
	}
	_, err = flinkstate.Read(fsys, e.Pointer)
	offers := map[string]string{}
	for _, f := range missingFiles(t, err).Files {
		if !strings.Contains(err.Error(), f.From) {
			t.Errorf("the error does not offer %s: %v", f.From, err)
		}
		offers[f.From] = f.To
	}
	snap, err := flinkstate.Read(fsys, e.Pointer, flinkstate.WithPathMap(offers))
	if err != nil {
		t.Fatalf("with what was offered, %v: %v", offers, err)
	}
	if d := gocmp.Diff(e.held(t, testSource), snap.Sources[0].Partitions, offsets); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Files of a checkpoint with merged files lie beside its chk-N folder: the
// offer is the job's folder.
func TestMergedFilesOfAMovedCheckpointAreOffered(t *testing.T) {
	e := fixture(t, "flink-2.2-checkpoint-file-merging")
	dir := filepath.Join(fixtureDir, e.Name, filepath.FromSlash(e.Pointer))
	_, err := flinkstate.ReadDir(dir)
	offers := map[string]string{}
	for _, f := range missingFiles(t, err).Files {
		offers[f.From] = f.To
	}
	if len(offers) != 1 {
		t.Fatalf("offers: %v", offers)
	}
	if _, err := flinkstate.ReadDir(dir, flinkstate.WithPathMap(offers)); err != nil {
		t.Errorf("with what was offered, %v: %v", offers, err)
	}
}

func TestStateFileOfAnotherSizeIsCorrupt(t *testing.T) {
	e := fixture(t, "flink-1.20-all-files-p2")
	snap, err := e.read()
	if err != nil {
		t.Fatal(err)
	}
	name := path.Join(e.Pointer, snap.Files[0].Name)
	whole := memory(t, e.Name)[name].Data
	for _, b := range [][]byte{{}, whole[:len(whole)-1], append(slices.Clone(whole), 0)} {
		m := memory(t, e.Name)
		m[name].Data = b
		_, err := flinkstate.Read(m, e.Pointer)
		if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "the metadata says") {
			t.Errorf("%d bytes instead of %d: got %v, want an ErrCorrupt that names the file", len(b), len(whole), err)
		}
	}
}

// A file without elements is not opened: nothing of it is needed.
func TestFileWithoutSplitsNeedNotExist(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)),
		handle(relative("gone", 234), listState{readerState, 0, nil}))
	if snap, err := flinkstate.Read(j.fsys(nil), "sp"); err != nil || len(snap.Files) != 1 {
		t.Errorf("got %v, %v", snap, err)
	}
}

// Hashes are made beside the parsing, in buffers that are used again.
func TestHashesOfManyFiles(t *testing.T) {
	fsys, _ := bigJob(t, 20_000, 10, true, 0)
	snap, err := flinkstate.Read(fsys, "sp")
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Files) != 11 {
		t.Errorf("%d files, want 11", len(snap.Files))
	}
	for _, f := range snap.Files {
		if sum := sha256.Sum256(fsys["sp/"+f.Name].Data); f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: hash %s, want %x", f.Name, f.SHA256, sum)
		}
	}
}

// growingFS gives files that have more bytes, or fewer, than they say.
type growingFS struct {
	fs.FS
	by int64
}

type growingFile struct {
	fs.File
	by int64
}

type grownInfo struct {
	fs.FileInfo
	by int64
}

func (f growingFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	return growingFile{file, f.by}, err
}

func (f growingFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return grownInfo{info, f.by}, err
}

func (i grownInfo) Size() int64 { return i.FileInfo.Size() - i.by }

func TestFileThatChangesWhileItIsReadIsRefused(t *testing.T) {
	e := fixture(t, "flink-1.20-stop-p2")
	for _, by := range []int64{1, 100, -1} {
		_, err := flinkstate.Read(growingFS{os.DirFS(path.Join(fixtureDir, e.Name)), by}, e.Pointer)
		if err == nil || !strings.Contains(err.Error(), "its size is") {
			t.Errorf("%d bytes more: got %v, want an error about the size", by, err)
		}
	}
}

func TestFilesAboveTheLimitAreRefused(t *testing.T) {
	e := fixture(t, "flink-1.20-all-files-p2")
	fsys := os.DirFS(path.Join(fixtureDir, e.Name))
	if _, err := flinkstate.Read(fsys, e.Pointer, flinkstate.WithMaxFileSize(100)); err == nil || !strings.Contains(err.Error(), "limit of 100") {
		t.Errorf("got %v, want an error that names the limit", err)
	}
	if _, err := flinkstate.Read(fsys, e.Pointer, flinkstate.WithMaxFileSize(0)); err == nil {
		t.Error("a limit of 0 is taken")
	}
}
