package flinkstate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Flink gives each subtask bytes of its own. Bytes that two share would be one
// position in two places, and a little file could be made to be read for ever.
func TestOverlappingStateIsCorrupt(t *testing.T) {
	a, atA := plainStream(split("orders", 0, 5, noStop))
	b, atB := plainStream(split("orders", 1, 6, noStop))
	both := append(append([]byte{}, a...), b...)
	subtask := func(stream []byte, at []int64) []byte { return handle(stream, listState{readerState, 0, at}) }
	merged := func(start, n int) []byte { return segment("file:/x/merged", start, n) }
	mapped := flinkstate.WithPathMap(map[string]string{"file:/x": "sp", "file:/y": "sp"})
	read := func(handles ...[]byte) error {
		j := oneSource(t, assigned("orders", 0, 1), handles...)
		_, err := flinkstate.Read(j.fsys(map[string][]byte{"sp/merged": both, "sp/a": a}), "sp", mapped)
		return err
	}
	if err := read(subtask(merged(0, len(a)), atA), subtask(merged(len(a), len(b)), atB)); err != nil {
		t.Errorf("side by side: %v", err)
	}
	for name, handles := range map[string][][]byte{
		"a byte":                      {subtask(merged(0, len(a)), atA), subtask(merged(len(a)-1, len(b)+1), atB)},
		"the same bytes":              {subtask(merged(0, len(a)), atA), subtask(merged(0, len(a)), atA)},
		"the smaller first":           {subtask(merged(len(a), len(b)), atB), subtask(merged(0, len(both)), atA)},
		"the whole file, twice":       {subtask(relative("a", len(a)), atA), subtask(relative("a", len(a)), atA)},
		"by two names":                {subtask(relative("a", len(a)), atA), subtask(absolute("file:/y/a", len(a)), atA)},
		"a file and a part of it":     {subtask(relative("merged", len(both)), atA), subtask(merged(len(a), len(b)), atB)},
		"a length beyond every count": {subtask(merged(0, 1<<62), atA), subtask(merged(len(a), 1<<62), atB)},
	} {
		err := read(handles...)
		if c, ok := errors.AsType[*flinkstate.CorruptError](err); !ok || !strings.Contains(c.Reason, "are in the state of subtask") || !strings.Contains(c.Structure, "subtask ") || c.File != "sp/_metadata" {
			t.Errorf("%s: got %v, want an ErrCorrupt that says which two", name, err)
		}
	}
}

// Several states of one subtask are one stream.
func TestStatesOfOneSubtaskShareTheirStream(t *testing.T) {
	stream := new(out).put(header(false, readerState, writerState))
	var states []listState
	for _, s := range []struct {
		name    string
		element []byte
	}{{readerState, split("orders", 0, 5, noStop)}, {writerState, sinkElement(1, "prefix")}} {
		states = append(states, listState{s.name, 0, []int64{int64(stream.Len())}})
		stream.put(sized(s.element))
	}
	j := oneSource(t, assigned("orders", 0), handle(relative("x", stream.Len()), states...))
	snap, err := flinkstate.Read(j.fsys(map[string][]byte{"sp/x": stream.Bytes()}), "sp")
	if err != nil || len(snap.Sinks) != 1 {
		t.Errorf("got %+v, %v, want a source and a sink", snap, err)
	}
}

// A sink's state that overlaps costs no positions: the inventory says so.
func TestOverlappingStateOfASinkIsNamed(t *testing.T) {
	stream := put(header(false, writerState), sized(sinkElement(1, "prefix")))
	at := []int64{int64(len(header(false, writerState)))}
	h := handle(relative("x", len(stream)), listState{writerState, 0, at})
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 2, subtasks: []jobSubtask{{managed: h}, {index: 1, managed: h}}})
	snap, err := flinkstate.Read(j.fsys(map[string][]byte{"sp/x": stream}), "sp", flinkstate.WithSinkFiles())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range snap.Operators {
		if o.ID == otherID && !strings.Contains(o.States[0].NotRead, "are in the state of subtask") {
			t.Errorf("the inventory has %+v", o)
		}
	}
}

// onDisk writes a savepoint with one state file, which the metadata calls name and
// of which it says n bytes, and returns its folder.
func onDisk(t *testing.T, name string) (dir string, stream []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "sp")
	stream, at := plainStream(split("orders", 0, 5, noStop))
	j := oneSource(t, assigned("orders", 0), handle(relative(name, len(stream)), listState{readerState, 0, at}))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "_metadata"), j.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, stream
}

// What lies where a state file should be is never waited for, followed out of the
// folder, or taken for fewer partitions.
func TestWhatIsNoStateFileIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path string, stream []byte) error
		want string
	}{
		{"nothing", func(string, []byte) error { return nil }, "state files are missing"},
		{"a folder", func(path string, _ []byte) error { return os.Mkdir(path, 0o700) }, "it is a folder"},
		{"an empty file", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) }, "the file has 0 bytes, the metadata says"},
		{"a link out of the folder", func(path string, stream []byte) error {
			other := filepath.Join(filepath.Dir(filepath.Dir(path)), "other")
			return errors.Join(os.WriteFile(other, stream, 0o600), os.Symlink(other, path))
		}, "escapes"},
		{"a link to itself", func(path string, _ []byte) error { return os.Symlink(filepath.Base(path), path) }, "levels of symbolic links"},
		{"a link to nothing", func(path string, _ []byte) error { return os.Symlink("nowhere", path) }, "state files are missing"},
		{"a file that may not be read", func(path string, stream []byte) error {
			if os.Geteuid() == 0 {
				return errors.ErrUnsupported // root may read it
			}
			return os.WriteFile(path, stream, 0)
		}, "permission denied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, stream := onDisk(t, "x")
			if err := tt.make(filepath.Join(dir, "x"), stream); errors.Is(err, errors.ErrUnsupported) {
				t.Log("not to be had here")
				return
			} else if err != nil {
				t.Fatal(err)
			}
			snap, err := flinkstate.ReadDir(dir)
			if snap != nil || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "x") || !strings.Contains(err.Error(), testSource) {
				t.Errorf("got %v, want an error that says %q, the file and the operator", err, tt.want)
			}
		})
	}
}

// The same in the place of the metadata.
func TestWhatIsNoMetadataFileIsRefused(t *testing.T) {
	for want, fsys := range map[string]fstest.MapFS{
		"it is a folder":                                 {"sp/_metadata/x": {}},
		"it is no file, but of mode p":                   {"sp/_metadata": {Mode: fs.ModeNamedPipe}},
		"it is no file, but of mode D":                   {"sp/_metadata": {Mode: fs.ModeDevice}},
		"byte 0: magic number: 0x00000005":               {"sp/_metadata": {Data: []byte("\x00\x00\x00\x05 and so on")}},
		"byte 0: magic number: 4 bytes are needed and 0": {"sp/_metadata": {}},
	} {
		if snap, err := flinkstate.Read(fsys, "sp"); snap != nil || err == nil || !strings.Contains(err.Error(), "sp/_metadata") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// sizedFS has one file, of which it says another size than it has, and which fails
// when all of it was read, unless fail is nil.
type sizedFS struct {
	content []byte
	says    int64
	fail    error
}

type sizedFile struct {
	fs.File
	of   sizedFS
	rest *bytes.Reader
}

func (s sizedFS) Open(name string) (fs.File, error) {
	if name != "sp/_metadata" {
		return nil, fs.ErrNotExist
	}
	f, err := fstest.MapFS{name: {Data: s.content}}.Open(name)
	return sizedFile{f, s, bytes.NewReader(s.content)}, err
}

func (f sizedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return sizedInfo{info, f.of.says}, err
}

func (f sizedFile) Read(p []byte) (int, error) {
	n, err := f.rest.Read(p)
	if err != nil && f.of.fail != nil {
		err = f.of.fail
	}
	return n, err
}

type sizedInfo struct {
	fs.FileInfo
	size int64
}

func (i sizedInfo) Size() int64 { return i.size }

// A store's word for a size is no reason to take that much memory.
func TestSizesThatAreNotTrueTakeNoMemory(t *testing.T) {
	content := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop))).bytes()
	for _, says := range []int64{-1, math.MinInt64, 0, 1, int64(len(content)) - 1, int64(len(content)) + 1, 1 << 30, math.MaxInt64} {
		before := allocated()
		_, err := flinkstate.Read(sizedFS{content, says, nil}, "sp")
		if err == nil || !strings.Contains(err.Error(), "its size is") && !strings.Contains(err.Error(), "more than the limit") {
			t.Errorf("a size of %d: got %v", says, err)
		}
		if n := allocated() - before; n > 64<<20 {
			t.Errorf("a size of %d, and %d bytes: took %d bytes of memory", says, len(content), n)
		}
	}
	// Files above the first guess are read whole.
	large := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	large.operators = append(large.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: handle(inline(make([]byte, 40<<20)), listState{"x", 0, nil})}}})
	snap, err := flinkstate.Read(large.fsys(nil), "sp")
	if err != nil || snap.Files[0].Size < 40<<20 {
		t.Errorf("of 40 MiB: %v", err)
	}
}

// What ends a read is what the error says, not a size that was not reached.
func TestErrorsOfAReadAreKept(t *testing.T) {
	content := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop))).bytes()
	_, err := flinkstate.Read(sizedFS{content[:40], int64(len(content)), context.Canceled}, "sp")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want what ended the read", err)
	}
}

// No name in the state is shown as it is where it acts on a terminal or breaks a
// line, whatever becomes of it.
func TestNamesInErrorsAreQuoted(t *testing.T) {
	const name = "a\n\x1b[2J\u202e\x00b"
	at := func(what func(n int) []byte) fstest.MapFS { return withStateAt(t, "nowhere", what) }
	dir := filepath.Join(t.TempDir(), "sp\n\x1b[31m")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "note\x1b[2J\n"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inMetadata := func(vs ...any) fstest.MapFS {
		return oneSource(t, nil, put(vs...)).fsys(nil)
	}
	modified := "a\n\x1b[2J\xe2\x80\xae\xc0\x80b" // as Java writes it
	read := func(fsys fs.FS, opts ...flinkstate.Option) error {
		_, err := flinkstate.Read(fsys, "sp", opts...)
		return err
	}
	local := func(dir string, opts ...flinkstate.Option) error {
		_, err := flinkstate.ReadDir(dir, opts...)
		return err
	}
	for where, err := range map[string]error{
		"a file that is missing":      read(at(func(n int) []byte { return relative(modified, n) })),
		"a file without a map":        read(at(func(n int) []byte { return absolute("s3://b/"+modified, n) })),
		"a file out of the folder":    read(at(func(n int) []byte { return relative("../"+modified, n) })),
		"a file of negative size":     read(at(func(int) []byte { return relative(modified, -1) })),
		"a state twice":               read(inMetadata(int8(4), 2, modified, int8(0), 0, modified, int8(0), 0, int8(0))),
		"a state's mode":              read(inMetadata(int8(4), 1, modified, int8(9), 0, int8(0))),
		"the state of no source":      read(inMetadata(int8(4), 1, modified, int8(0), 0, int8(0))),
		"a file that cannot be named": local(func() string { d, _ := onDisk(t, modified); return d }()),
		"a folder without metadata":   local(dir),
		"a folder that is not there":  local(dir + name),
		"a URI":                       local("s3://b/" + name),
		"a file URI of a host":        local("file://host/" + name),
		"a path map":                  read(at(func(n int) []byte { return relative("x", n) }), flinkstate.WithPathMap(map[string]string{name: "sp"})),
		"a target of a path map":      local(dir, flinkstate.WithPathMap(map[string]string{"s3://b/" + name: dir + name})),
	} {
		if err == nil {
			t.Errorf("%s: no error", where)
			continue
		}
		text := err.Error()
		if !strings.Contains(text, `\x1b[`) || strings.ContainsAny(text, "\x00\n\x1b\u202e") {
			t.Errorf("%s: %q", where, text)
		}
	}
	sel := &flinkstate.SelectorError{Selector: name, Reason: name, Choices: []flinkstate.Source{{OperatorID: testSource, UID: name, Name: name}}}
	if text := fmt.Sprint(sel); strings.ContainsAny(text, "\x00\n\x1b\u202e") {
		t.Errorf("a selector: %q", text)
	}
}
