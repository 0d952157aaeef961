package flinkstate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// place copies a fixture to a local folder whose name has spaces.
func placed(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Platform Link Test", "savepoint-2b3ed0-f0c7ba51791f")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtureDir, name, "savepoint"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Paths as people have them: each reads the same (apache/streampark#3013).
func TestReadDirTakesEveryFormOfAPath(t *testing.T) {
	dir := placed(t, "flink-1.20-all-files-p2")
	want := fixture(t, "flink-1.20-all-files-p2").held(t, testSource)
	uri := filepath.ToSlash(dir)
	t.Chdir(filepath.Dir(dir))
	for _, form := range []string{
		dir,
		dir + "/",
		dir + "/_metadata",
		filepath.Base(dir),
		"./" + filepath.Base(dir) + "/",
		"file://" + strings.ReplaceAll(uri, " ", "%20"),
		"file:" + uri,
		"file:" + uri + "/_metadata",
		"file://localhost" + uri,
	} {
		snap, err := flinkstate.ReadDir(form)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if d := gocmp.Diff(want, snap.Sources[0].Partitions, offsets); d != "" {
			t.Errorf("%s (-want +got):\n%s", form, d)
		}
	}
	t.Chdir(dir)
	for _, form := range []string{".", "_metadata", "./"} {
		if _, err := flinkstate.ReadDir(form); err != nil {
			t.Errorf("%s inside the folder: %v", form, err)
		}
	}
}

func TestReadDirRefusesOtherSchemes(t *testing.T) {
	for _, form := range []string{"s3p://bucket/savepoint-1", "hdfs:///savepoints/savepoint-1", "file://host/savepoints"} {
		_, err := flinkstate.ReadDir(form)
		if !errors.Is(err, flinkstate.ErrUnsupported) {
			t.Errorf("%s: got %v, want an ErrUnsupported", form, err)
		}
	}
}

// Plans and positions name the savepoint in JSON, which holds no other bytes.
func TestPathsThatJSONCannotHoldAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sp\xff")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtureDir, "flink-1.20-stop-p2", "savepoint"))); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	for _, form := range []string{dir, "file:" + strings.ReplaceAll(dir, "\xff", "%FF")} {
		if _, err := flinkstate.ReadDir(form); err == nil || !strings.Contains(err.Error(), `sp\xff" is not UTF-8`) {
			t.Errorf("%q: got %v", form, err)
		}
	}
}

func TestReadTakesTheFolderOrTheFile(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	fsys := j.fsys(nil)
	fsys["renamed/metadata.bin"] = fsys["sp/_metadata"]
	for dir, want := range map[string]string{
		"sp": "sp/_metadata", "sp/": "sp/_metadata", "./sp": "sp/_metadata", "sp/_metadata": "sp/_metadata",
		"renamed/metadata.bin": "renamed/metadata.bin",
	} {
		snap, err := flinkstate.Read(fsys, dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		} else if snap.Location != want {
			t.Errorf("%s: location %s, want %s", dir, snap.Location, want)
		}
	}
	root := fstest.MapFS{"_metadata": fsys["sp/_metadata"]}
	for _, dir := range []string{"", ".", "_metadata"} {
		if _, err := flinkstate.Read(root, dir); err != nil {
			t.Errorf("%q: %v", dir, err)
		}
	}
	for _, dir := range []string{"/sp", "../sp", "sp/../../x"} {
		if _, err := flinkstate.Read(fsys, dir); err == nil {
			t.Errorf("%s is taken", dir)
		}
	}
}

func TestFolderWithoutMetadataIsListed(t *testing.T) {
	for want, fsys := range map[string]fstest.MapFS{
		"job/_metadata does not exist; in the folder there is notes.txt, shared/":           {"job/shared/x": {}, "job/notes.txt": {}},
		"job/_metadata does not exist; in the folder there is one in chk-10/, savepoint-1/": {"job/chk-10/_metadata": {}, "job/chk-9/x": {}, "job/shared/x": {}, "job/notes.txt": {}, "job/savepoint-1/_metadata": {}},
		"job/_metadata does not exist; in the folder there is chk-9/":                       {"job/chk-9/x": {}},
	} {
		_, err := flinkstate.Read(fsys, "job")
		if !errors.Is(err, flinkstate.ErrNoMetadata) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want an ErrNoMetadata that ends with %q", err, want)
		}
	}

	_, err := flinkstate.Read(fstest.MapFS{"job/chk-9/x": {}, "job/chk-x/y": {}}, "job/chk-9")
	if !errors.Is(err, flinkstate.ErrNoMetadata) || !strings.HasSuffix(err.Error(), "does not exist, so this checkpoint was not completed, or is not retained; in the folder there is x") {
		t.Errorf("a checkpoint that was not completed: %v", err)
	}
	_, err = flinkstate.Read(fstest.MapFS{"job/chk-x/y": {}}, "job/chk-x")
	if !errors.Is(err, flinkstate.ErrNoMetadata) || strings.Contains(err.Error(), "completed") {
		t.Errorf("a folder that Flink names no checkpoint so: %v", err)
	}

	t.Chdir(t.TempDir())
	here, _ := filepath.Abs(".")
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"empty", "nowhere", "nowhere/_metadata"} {
		_, err := flinkstate.ReadDir(dir)
		full := filepath.Join(here, strings.TrimSuffix(dir, "/_metadata"), "_metadata")
		if !errors.Is(err, flinkstate.ErrNoMetadata) || !strings.Contains(err.Error(), full) {
			t.Errorf("%s: got %v, want an ErrNoMetadata that names %s", dir, err, full)
		}
	}
}

// withStateAt is a savepoint whose one state file is called name in the
// metadata and lies at where.
func withStateAt(t *testing.T, where string, stream func(n int) []byte) fstest.MapFS {
	b, offsets := plainStream(split("orders", 0, 5, noStop))
	j := oneSource(t, assigned("orders", 0), handle(stream(len(b)), listState{readerState, 0, offsets}))
	return j.fsys(map[string][]byte{where: b})
}

func TestPathMap(t *testing.T) {
	for _, tt := range []struct {
		name, uri, at string
		paths         map[string]string
		found         bool
	}{
		{"file with one slash, mapped with three", "file:/flink/sp/x", "here/x", map[string]string{"file:///flink/sp": "here"}, true},
		{"file with three slashes, mapped with one", "file:///flink/sp/x", "here/x", map[string]string{"file:/flink/sp/": "here"}, true},
		{"path without scheme, mapped with file", "/flink/sp/x", "here/x", map[string]string{"file:/flink/sp": "here"}, true},
		{"file, mapped without scheme", "file:/flink/sp/x", "here/x", map[string]string{"/flink/sp": "here/"}, true},
		{"longest prefix wins", "s3://b/a/c/x", "long/x", map[string]string{"s3://b/a": "short", "s3://b/a/c": "long"}, true},
		{"longest prefix wins though it is gone there", "s3://b/a/c/x", "short/c/x", map[string]string{"s3://b/a": "short", "s3://b/a/c": "long"}, false},
		{"prefix ends within a segment", "s3://b/abc/x", "here/c/x", map[string]string{"s3://b/ab": "here"}, false},
		{"prefix is the file", "s3://b/abc", "here", map[string]string{"s3://b/abc": "here"}, false},
		{"whole bucket to the root", "s3://b/a/x", "a/x", map[string]string{"s3://b": "."}, true},
		{"other scheme", "s3a://b/a/x", "a/x", map[string]string{"s3://b": "."}, false},
		{"spaces and percent signs are as they are", "file:/my dir/50%20/x", "here/50%20/x", map[string]string{"file:/my dir": "here"}, true},
		{"double slash", "s3://b//a//x", "here/a/x", map[string]string{"s3://b": "here"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, stream := range []func(int) []byte{
				func(n int) []byte { return absolute(tt.uri, n) },
				func(n int) []byte { return segment(tt.uri, 0, n) },
			} {
				snap, err := flinkstate.Read(withStateAt(t, tt.at, stream), "sp", flinkstate.WithPathMap(tt.paths))
				switch {
				case tt.found && err != nil:
					t.Errorf("%v", err)
				case tt.found && snap.Files[1].Name != tt.uri && snap.Files[0].Name != tt.uri:
					t.Errorf("files %v do not have the state's own name %s", snap.Files, tt.uri)
				case !tt.found && !errors.Is(err, flinkstate.ErrMissingFiles):
					t.Errorf("got %v, want an ErrMissingFiles", err)
				}
			}
		})
	}
}

// s3n: URIs hold the keys of the bucket. Neither the list of files nor any error
// shows them, and an entry offered without them is taken.
func TestUserInfoOfStateFilesIsNotShown(t *testing.T) {
	const uri, shown = "s3n://AKIDKEY:sesame@b/a/x", "s3n://<secret>@b/a/x"
	hides := func(t *testing.T, what any) {
		t.Helper()
		if text := fmt.Sprintf("%v %+v %#v", what, what, what); strings.Contains(text, "sesame") || strings.Contains(text, "AKIDKEY") {
			t.Errorf("the keys are in %s", text)
		}
	}
	for name, stream := range map[string]func(uri string, n int) []byte{
		"file":    absolute,
		"segment": func(uri string, n int) []byte { return segment(uri, 0, n) },
	} {
		t.Run(name, func(t *testing.T) {
			at := func(uri string) func(int) []byte { return func(n int) []byte { return stream(uri, n) } }
			_, err := flinkstate.Read(withStateAt(t, "sp/x", at(uri)), "sp")
			hides(t, err)
			gone := missingFiles(t, err)
			hides(t, *gone)
			if f := gone.Files[0]; f.Name != shown || f.From != "s3n://<secret>@b/a" || f.To != "sp" {
				t.Fatalf("got %+v", f)
			}
			for _, from := range []string{"s3n://AKIDKEY:sesame@b/a", gone.Files[0].From} {
				snap, err := flinkstate.Read(withStateAt(t, "sp/x", at(uri)), "sp", flinkstate.WithPathMap(map[string]string{from: "sp"}))
				if err != nil {
					t.Fatalf("%s: %v", from, err)
				}
				hides(t, snap.Files)
				if !slices.ContainsFunc(snap.Files, func(f flinkstate.File) bool { return f.Name == shown }) {
					t.Errorf("%s: files %v", from, snap.Files)
				}
			}
			mapped := flinkstate.WithPathMap(map[string]string{"s3n://AKIDKEY:sesame@b/a": "sp"})
			_, err = flinkstate.Read(withStateAt(t, "sp/x", at(uri+"/../../y")), "sp", mapped)
			if hides(t, err); !errors.Is(err, flinkstate.ErrCorrupt) {
				t.Errorf("out of the folder: %v", err)
			}
			if _, err = flinkstate.Read(withStateAt(t, "sp/x", func(int) []byte { return stream(uri, -1) }), "sp", mapped); !errors.Is(err, flinkstate.ErrCorrupt) {
				t.Errorf("negative size: %v", err)
			}
			hides(t, err)
		})
	}
	_, err := flinkstate.Read(withStateAt(t, "x", func(n int) []byte { return relative(uri, n) }), "sp")
	if hides(t, err); !errors.Is(err, flinkstate.ErrCorrupt) {
		t.Errorf("relative: %v", err)
	}
	for _, to := range []string{"/out", "../out"} {
		_, err := flinkstate.Read(withStateAt(t, "x", func(n int) []byte { return absolute(uri, n) }), "sp", flinkstate.WithPathMap(map[string]string{"s3n://AKIDKEY:sesame@b": to}))
		if hides(t, err); err == nil {
			t.Errorf("the target %s is taken", to)
		}
	}
}

func TestBadPathMapIsRefused(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	for _, m := range []map[string]string{
		{"relative": "here"},
		{"": "here"},
		{"file:/a": "../out"},
		{"file:/a": "/out"},
		{"file:/a": "x", "file:///a/": "y"},
	} {
		if _, err := flinkstate.Read(j.fsys(nil), "sp", flinkstate.WithPathMap(m)); err == nil || !strings.Contains(err.Error(), "path map") {
			t.Errorf("%v: got %v, want an error about the path map", m, err)
		}
	}
	if _, err := flinkstate.ReadDir(placed(t, "flink-1.20-stop-p2"), flinkstate.WithPathMap(map[string]string{"s3://b": filepath.Join(t.TempDir(), "nowhere")})); err == nil {
		t.Error("a target that does not exist is taken")
	}
}

// No name in the state leads out of the folder or of a target of the map.
func TestPathsDoNotEscape(t *testing.T) {
	inside := map[string]string{"s3://b/in": "in"}
	for _, tt := range []struct {
		name   string
		stream func(n int) []byte
	}{
		{"relative with dots", func(n int) []byte { return relative("../secret", n) }},
		{"relative with dots inside", func(n int) []byte { return relative("a/../../secret", n) }},
		{"relative that is absolute", func(n int) []byte { return relative("/secret", n) }},
		{"relative that is a URI", func(n int) []byte { return relative("file:/secret", n) }},
		{"relative that names nothing", func(n int) []byte { return relative("./", n) }},
		{"mapped with dots", func(n int) []byte { return absolute("s3://b/in/../secret", n) }},
		{"mapped segment with dots", func(n int) []byte { return segment("s3://b/in/x/../../secret", 0, n) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap, err := flinkstate.Read(withStateAt(t, "secret", tt.stream), "sp", flinkstate.WithPathMap(inside))
			if snap != nil || !errors.Is(err, flinkstate.ErrCorrupt) {
				t.Errorf("got %v, want an ErrCorrupt", err)
			}
		})
	}
}

// A symbolic link in a local folder leads nowhere else either.
func TestSymbolicLinksDoNotEscape(t *testing.T) {
	dir := t.TempDir()
	for name, f := range withStateAt(t, "secret", func(n int) []byte { return relative("x", n) }) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sp := filepath.Join(dir, "sp")
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(sp, "x")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if snap, err := flinkstate.ReadDir(sp); snap != nil || err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("got %v, %v; want an error", snap, err)
	}
	// The folder itself may be a link.
	if err := os.Rename(filepath.Join(dir, "secret"), filepath.Join(sp, "real")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return os.Remove(filepath.Join(sp, "x")) },
		func() error { return os.Symlink("real", filepath.Join(sp, "x")) },
		func() error { return os.Symlink(sp, filepath.Join(dir, "latest")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := flinkstate.ReadDir(filepath.Join(dir, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	want := []offsetmap.Position{{TopicPartition: offsetmap.TopicPartition{Topic: "orders"}, Next: next(t, 5)}}
	if d := gocmp.Diff(want, snap.Sources[0].Partitions, offsets); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
