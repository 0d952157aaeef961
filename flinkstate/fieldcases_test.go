package flinkstate_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A partition that was found but not read yet is stored with a marker
// (apache/flink#14239, flink-connector-kafka 5).
func TestPC12SentinelsInsteadOfPositions(t *testing.T) {
	kafka := map[int64]offsetmap.Marker{
		-1: offsetmap.Latest, -2: offsetmap.Earliest, -3: offsetmap.Committed, math.MinInt64: offsetmap.Unset, -7: offsetmap.Unknown,
	}
	old := map[int64]offsetmap.Marker{
		-915623761773: offsetmap.Committed, -915623761774: offsetmap.Latest, -915623761775: offsetmap.Earliest, -915623761776: offsetmap.Unset, -7: offsetmap.Unknown,
	}
	for name, tt := range map[string]struct {
		stored map[int64]offsetmap.Marker
		job    func(number []int64) job
	}{
		"KafkaSource": {kafka, func(numbers []int64) job {
			var splits [][]byte
			var all []int
			for p, n := range numbers {
				splits, all = append(splits, split("orders", p, n, noStop)), append(all, p)
			}
			return oneSource(t, assigned("orders", all...), reader(splits...))
		}},
		"FlinkKafkaConsumer": {old, func(numbers []int64) job {
			var last [][]byte
			for p, n := range numbers {
				last = append(last, lastRead("orders", int32(p), n))
			}
			return oneSource(t, nil, legacy(last...))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			numbers := []int64{}
			for n := range tt.stored {
				numbers = append(numbers, n)
			}
			got := read(t, tt.job(numbers)).Sources[0].Partitions
			var want []offsetmap.Position
			for p, n := range numbers {
				pos := position("orders", int32(p))
				pos.Unread = tt.stored[n]
				want = append(want, pos)
			}
			if d := gocmp.Diff(want, got, offsets); d != "" {
				t.Fatalf("(-want +got):\n%s", d)
			}
			for p, pos := range got {
				planOf(t, numbers[p], pos)
			}
		})
	}
}

// planOf holds what becomes of one marker: with records in the partition nothing,
// or the log start where a person says so.
func planOf(t *testing.T, stored int64, pos offsetmap.Position) {
	t.Helper()
	check := map[offsetmap.Marker]string{
		offsetmap.Earliest: "source/unread-earliest", offsetmap.Unknown: "source/marker-unknown",
	}[pos.Unread]
	if check == "" {
		check = "source/unread"
	}
	in := offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted, Positions: []offsetmap.Position{pos},
		Measured: []offsetmap.Measured{{
			TopicPartition: pos.TopicPartition, TargetTopic: "orders", TargetEnd: next(t, 0),
			Range: offsetmap.Range{Start: next(t, 40), End: next(t, 90), Stable: next(t, 90)},
		}},
	}
	rows, findings := offsetmap.Resolve(in)
	err := offsetmap.Blocked(findings)
	if rows != nil || err == nil || !strings.Contains(err.Error(), check+" "+pos.String()) {
		t.Errorf("%d: got %v, %v, want a %s for %s", stored, rows, err, check, pos)
	}
	in.Acceptances = []offsetmap.Acceptance{{Check: check, Scope: pos.String(), By: "ana", Reason: "nothing of it is on the target"}}
	rows, findings = offsetmap.Resolve(in)
	if err := offsetmap.Blocked(findings); pos.Unread != offsetmap.Earliest {
		if rows != nil || err == nil {
			t.Errorf("%d: an acceptance makes %v of %s", stored, rows, pos)
		}
		return
	}
	if len(rows) != 1 || rows[0].Next != next(t, 40) || rows[0].Write.String() != "set 39" {
		t.Errorf("%d: accepted as earliest it becomes %+v, want the log start 40", stored, rows)
	}
}

// Paths as people have them (apache/streampark#3013).
func TestPC13SavepointPathsAsPeopleHaveThem(t *testing.T) {
	dir := placed(t, "flink-1.20-all-files-p2") // in "Platform Link Test"
	want := fixture(t, "flink-1.20-all-files-p2").held(t, testSource)
	t.Chdir(filepath.Dir(filepath.Dir(dir)))
	slashed := filepath.ToSlash(dir)
	relative := "Platform Link Test/" + filepath.Base(dir)
	for _, form := range []string{
		dir, dir + "/", dir + "/_metadata",
		"file://" + strings.ReplaceAll(slashed, " ", "%20"),
		"file://" + strings.ReplaceAll(slashed, " ", "%20") + "/",
		"file://" + strings.ReplaceAll(slashed, " ", "%20") + "/_metadata",
		"file:" + slashed, "file:" + strings.ReplaceAll(slashed, " ", "%20"),
		relative, "./" + relative + "/", relative + "/_metadata",
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

	if err := os.Remove(filepath.Join(dir, "_metadata")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{dir, dir + "/", dir + "/_metadata", relative, "file:" + slashed} {
		_, err := flinkstate.ReadDir(form)
		if !errors.Is(err, flinkstate.ErrNoMetadata) || !strings.Contains(err.Error(), filepath.Join(dir, "_metadata")+" does not exist") {
			t.Errorf("%s: got %v, want an ErrNoMetadata with the full path", form, err)
			continue
		}
		for _, e := range entries {
			if !strings.Contains(err.Error(), e.Name()) {
				t.Errorf("%s: the error does not list %s: %v", form, e.Name(), err)
			}
		}
	}

	_, err = flinkstate.ReadDir("s3p://bucket/savepoint-2b3ed0-f0c7ba51791f")
	for _, part := range []string{"s3p:", "local paths and file: URIs", "fs.FS", "local copy", "package stores"} {
		if !errors.Is(err, flinkstate.ErrUnsupported) || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want an ErrUnsupported that says %q", err, part)
		}
	}
}

// Some handles are relative to the metadata file, some absolute to a place that is
// gone (apache/flink#11722, #11015, #28709).
func TestPC14SavepointCopiedToAnotherPlace(t *testing.T) {
	moved := func(name string) (dir string, files []string) {
		dir = placed(t, name)
		snap, err := fixture(t, name).read()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range snap.Files {
			if f.Name != "_metadata" {
				files = append(files, filepath.Base(f.Name))
			}
		}
		return dir, files
	}
	refused := func(t *testing.T, dir string, opts ...flinkstate.Option) *flinkstate.MissingFilesError {
		t.Helper()
		snap, err := flinkstate.ReadDir(dir, opts...)
		if snap != nil {
			t.Fatalf("%d sources were read", len(snap.Sources))
		}
		return missingFiles(t, err)
	}
	remove := func(t *testing.T, dir string, names ...string) {
		t.Helper()
		for _, n := range names {
			if err := os.Remove(filepath.Join(dir, n)); err != nil {
				t.Fatal(err)
			}
		}
	}

	t.Run("relative", func(t *testing.T) {
		const name = "flink-1.20-all-files-p2"
		dir, files := moved(name)
		snap, err := flinkstate.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(fixture(t, name).held(t, testSource), snap.Sources[0].Partitions, offsets); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		remove(t, dir, files[0])
		m := refused(t, dir)
		if len(m.Files) != 1 || m.Files[0].Path != filepath.Join(dir, files[0]) || !strings.Contains(m.Error(), m.Files[0].Path) {
			t.Errorf("got %v, want %s alone, with where it was looked for", m, files[0])
		}
	})

	offered := func(t *testing.T, dir, gone string, names ...string) map[string]string {
		t.Helper()
		m := refused(t, dir)
		offers := map[string]string{}
		for _, f := range m.Files {
			if f.From != gone || f.To != dir || !slices.Contains(names, filepath.Base(f.Name)) {
				t.Errorf("got %+v, want %s mapped to %s for one of %v", f, gone, dir, names)
			}
			for _, want := range []string{f.Name, f.From + " is mapped to " + f.To} {
				if !strings.Contains(m.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, m)
				}
			}
			offers[f.From] = f.To
		}
		if len(m.Files) != len(names) {
			t.Fatalf("%d files are listed, want %v: %v", len(m.Files), names, m)
		}
		return offers
	}

	t.Run("absolute, of Flink 1.10", func(t *testing.T) {
		const name = "flink-1.10-legacy-savepoint"
		e := fixture(t, name)
		dir, files := moved(name)
		offers := offered(t, dir, "file:/flink/"+name+"/savepoints/savepoint-49aed4-0eafc997ac1d", files...)
		snap, err := flinkstate.ReadDir(dir, flinkstate.WithPathMap(offers))
		if err != nil {
			t.Fatalf("with what was offered, %v: %v", offers, err)
		}
		if d := gocmp.Diff(e.held(t, e.Positions[0].OperatorID), snap.Sources[0].Partitions, offsets); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})

	t.Run("absolute, in several files", func(t *testing.T) {
		const gone = "file:/flink/savepoints/savepoint-2b3ed0-f0c7ba51791f"
		dir := t.TempDir()
		var handles [][]byte
		names := []string{"c36acb92", "e4536d07", "f1a0b2c3"}
		for i, name := range names {
			stream, at := plainStream(split("orders", i, int64(10*i), noStop))
			handles = append(handles, handle(absolute(gone+"/"+name, len(stream)), listState{readerState, 0, at}))
			if err := os.WriteFile(filepath.Join(dir, name), stream, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "_metadata"), oneSource(t, assigned("orders", 0, 1, 2), handles...).bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		offers := offered(t, dir, gone, names...)
		snap, err := flinkstate.ReadDir(dir, flinkstate.WithPathMap(offers))
		if err != nil || len(snap.Sources[0].Partitions) != 3 {
			t.Fatalf("with what was offered, %v: %v", offers, err)
		}

		// One file missing, with the option and without: no fewer partitions.
		remove(t, dir, names[1])
		if m := refused(t, dir, flinkstate.WithPathMap(offers)); len(m.Files) != 1 || m.Files[0].Path != filepath.Join(dir, names[1]) {
			t.Errorf("got %v, want %s alone", m, names[1])
		}
		m := refused(t, dir)
		if len(m.Files) != 3 {
			t.Errorf("%d files are listed, want all: %v", len(m.Files), m)
		}
		for _, f := range m.Files {
			if found := f.From != ""; found == (filepath.Base(f.Name) == names[1]) {
				t.Errorf("%s is not beside the metadata, the others are: %+v", names[1], f)
			}
		}
	})
}
