package stores_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/stores"
)

// State files that hold no positions may be large: they are not asked for, and what
// goes over the network is what is needed, twice at most.
func TestLargeStateOfOtherOperatorsIsNotFetched(t *testing.T) {
	for fixture, dir := range map[string]string{
		"flink-1.20-all-files-p2":        "savepoint",
		"flink-2.2-checkpoint-all-files": "checkpoint/chk-2",
		"flink-2.2-all-files-p2":         "savepoint",
	} {
		want, err := flinkstate.ReadDir(fixtures + fixture + "/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		needed, size := map[string]bool{}, int64(0)
		for _, f := range want.Files {
			needed[f.Name], size = true, size+f.Size
		}
		for _, s := range stages(t) {
			t.Run(s.name+"/"+fixture, func(t *testing.T) {
				large := 0
				local := os.DirFS(fixtures + fixture)
				err := fs.WalkDir(local, ".", func(name string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					content, err := fs.ReadFile(local, name)
					if rest, in := strings.CutPrefix(name, dir+"/"); !in || !needed[rest] {
						content = make([]byte, 4<<20)
						large++
					}
					s.put(t, path.Join("flink", name), content)
					return err
				})
				if err != nil || large < 2 {
					t.Fatalf("%d files without positions: %v", large, err)
				}
				s.wire.reset(nil)
				got, err := stores.ReadSavepoint(t.Context(), s.at("flink/"+dir), nil, s.opts...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, snapshots); diff != "" {
					t.Errorf("(-local +store):\n%s", diff)
				}
				s.wire.mu.Lock()
				defer s.wire.mu.Unlock()
				if s.wire.bytes < size || s.wire.bytes > 2*size+16<<10 {
					t.Errorf("%d bytes were fetched for %d in %d files", s.wire.bytes, size, len(needed))
				}
				for _, r := range s.wire.requests {
					found := false
					for name := range needed {
						found = found || strings.Contains(r, name)
					}
					if !found {
						t.Errorf("asked for something else: %s", r)
					}
				}
			})
		}
	}
}
