package stores_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/stores"
)

// Paths as people have them (apache/streampark#3013), in every store: with spaces or
// encoded, with a slash, as folder or file.
func TestPC13SavepointPathsAsPeopleHaveThem(t *testing.T) {
	const (
		fixture = "flink-1.20-all-files-p2/savepoint"
		folder  = "Platform Link Test/savepoint-2b3ed0-f0c7ba51791f"
	)
	want, err := flinkstate.ReadDir(fixtures + fixture)
	if err != nil {
		t.Fatal(err)
	}
	same := func(t *testing.T, at string, opts ...stores.Option) {
		t.Helper()
		got, err := stores.ReadSavepoint(t.Context(), at, nil, opts...)
		if err != nil {
			t.Errorf("%s: %v", at, err)
		} else if diff := cmp.Diff(want, got, snapshots); diff != "" {
			t.Errorf("%s (-local +store):\n%s", at, diff)
		}
	}
	without := func(t *testing.T, at, full string, opts ...stores.Option) {
		t.Helper()
		_, err := stores.ReadSavepoint(t.Context(), at, nil, opts...)
		if !errors.Is(err, flinkstate.ErrNoMetadata) || !strings.Contains(err.Error(), full+"/_metadata does not exist; in the folder there is ") || !strings.Contains(err.Error(), "0840b077-c1e9-4a48-a3a8-47795669a797") {
			t.Errorf("%s: got %v, want an ErrNoMetadata that names %s and what is there", at, err, full)
		}
	}
	encoded := strings.ReplaceAll(folder, " ", "%20")

	t.Run("local", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(fixtures+fixture)); err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		for _, at := range []string{
			folder, folder + "/", folder + "/_metadata", filepath.Join(dir, folder), "./" + folder + "/",
			"file://" + dir + "/" + encoded, "file://" + dir + "/" + encoded + "/", "file:" + dir + "/" + folder, "file:" + dir + "/" + encoded + "/_metadata",
		} {
			same(t, at)
			// With a place in another store in the path map it goes through a Store.
			s := s3Stage(t)
			got, err := stores.ReadSavepoint(t.Context(), at, map[string]string{"s3://other": s.at("nothing")}, s.opts...)
			if err != nil {
				t.Errorf("%s: %v", at, err)
			} else if diff := cmp.Diff(want, got, snapshots); diff != "" {
				t.Errorf("%s (-local +store):\n%s", at, diff)
			}
		}
		if err := os.Remove(filepath.Join(folder, "_metadata")); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{folder, "file:" + dir + "/" + encoded + "/", filepath.Join(dir, folder, "_metadata")} {
			without(t, at, filepath.Join(dir, folder))
		}
	})
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.upload(t, fixtures+fixture, folder)
			for _, at := range []string{folder, folder + "/", folder + "/_metadata", encoded, encoded + "/", encoded + "/_metadata"} {
				same(t, s.at("")+"/"+at, s.opts...)
			}
			if s.name == "s3" {
				for _, scheme := range []string{"s3p", "s3a", "s3n", "S3"} {
					same(t, strings.Replace(s.at(encoded), "s3", scheme, 1), s.opts...)
				}
			}
			f, err := os.ReadFile(fixtures + fixture + "/0840b077-c1e9-4a48-a3a8-47795669a797")
			if err != nil {
				t.Fatal(err)
			}
			s.put(t, "left behind/0840b077-c1e9-4a48-a3a8-47795669a797", f)
			for _, at := range []string{"left behind", "left%20behind/", "left behind/_metadata"} {
				without(t, s.root+"/"+at, s.root+"/left behind", s.opts...)
			}
		})
	}
	_, err = stores.ReadSavepoint(t.Context(), "oss://bucket/"+encoded, nil)
	for _, part := range []string{"local paths", "file:", "s3:", "gs:", "webhdfs:", "hdfs:", "oss:", "local copy", "fs.FS"} {
		if !errors.Is(err, flinkstate.ErrUnsupported) || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want an ErrUnsupported that says %q", err, part)
		}
	}
}

// A state file that is not there is an error in every store, and what the error
// says and holds are locations as a person writes them.
func TestPC14SavepointCopiedToAnotherPlace(t *testing.T) {
	const fixture = "flink-1.10-legacy-savepoint"
	const written = "file:/flink/flink-1.10-legacy-savepoint/savepoints/savepoint-49aed4-0eafc997ac1d"
	for _, s := range stages(t) {
		t.Run(s.name, func(t *testing.T) {
			s.upload(t, fixtures+fixture+"/savepoint", "copies/sp")
			snap, err := stores.ReadSavepoint(t.Context(), s.at("copies/sp"), nil, s.opts...)
			m, ok := errors.AsType[*flinkstate.MissingFilesError](err)
			if snap != nil || !ok {
				t.Fatalf("got %v, want an ErrMissingFiles", err)
			}
			if m.Metadata != s.at("copies/sp/_metadata") || len(m.Files) != 1 || m.Files[0].From != written || m.Files[0].To != s.at("copies/sp") || !strings.Contains(err.Error(), written+" is mapped to "+s.at("copies/sp")) {
				t.Errorf("got %+v in %v", m, err)
			}
			offers := map[string]string{m.Files[0].From: m.Files[0].To}
			if _, err := stores.ReadSavepoint(t.Context(), s.at("copies/sp"), offers, s.opts...); err != nil {
				t.Errorf("with what was offered, %v: %v", offers, err)
			}
			content, err := os.ReadFile(fixtures + "flink-1.20-all-files-p2/savepoint/_metadata")
			if err != nil {
				t.Fatal(err)
			}
			s.put(t, "metadata alone/_metadata", content)
			snap, err = stores.ReadSavepoint(t.Context(), s.at("metadata alone"), nil, s.opts...)
			if m, ok = errors.AsType[*flinkstate.MissingFilesError](err); snap != nil || !ok {
				t.Fatalf("got %v, want an ErrMissingFiles", err)
			}
			for _, f := range m.Files {
				if f.Path != s.at("metadata alone/"+f.Name) || !strings.Contains(err.Error(), f.Path) {
					t.Errorf("got %+v in %v", f, err)
				}
			}
		})
	}
}
