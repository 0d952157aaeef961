package flinkstate_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

func TestWithoutHashesLeavesOutNothingElse(t *testing.T) {
	fsys, _ := bigJob(t, 500, 20, true, 2)
	hashed, err := flinkstate.Read(fsys, "sp")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := flinkstate.Read(fsys, "sp", flinkstate.WithoutHashes())
	if err != nil {
		t.Fatal(err)
	}
	if len(hashed.Files) != 21 {
		t.Fatalf("%d files were opened, want 21", len(hashed.Files))
	}
	for i := range hashed.Files {
		if len(hashed.Files[i].SHA256) != 64 || plain.Files[i].SHA256 != "" {
			t.Errorf("hashes %q and %q", hashed.Files[i].SHA256, plain.Files[i].SHA256)
		}
		hashed.Files[i].SHA256 = ""
	}
	if d := gocmp.Diff(hashed, plain, offsets); d != "" {
		t.Errorf("(-with hashes +without):\n%s", d)
	}
}
