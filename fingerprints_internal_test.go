package flinkmm2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFingerprintsNameWhatHasMoved(t *testing.T) {
	t.Parallel()
	was := map[string]string{"a": "1", "b": "2", "gone": "3"}
	now := map[string]string{"a": "1", "b": "4", "new": ""}
	f := newFingerprints(was, false)
	if diff := cmp.Diff([]string{"b", "gone", "new"}, f.moved(now)); diff != "" {
		t.Error(diff)
	}
	if moved := f.moved(was); len(moved) > 0 {
		t.Errorf("%q has moved, and nothing has", moved)
	}
}

// Of many things the fingerprints are a small file, and still none moves unseen.
func TestFingerprintsOfManyAreSmall(t *testing.T) {
	t.Parallel()
	contents := map[string]string{}
	for i := range 100_000 {
		contents[fmt.Sprintf("a-topic-with-a-name-of-some-length-%06d", i)] = strconv.Itoa(i)
	}
	f := newFingerprints(contents, true)
	raw, err := json.Marshal(f)
	if err != nil || len(raw) > 64<<10 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	if moved := f.moved(contents); len(moved) > 0 {
		t.Fatalf("%q has moved, and nothing has", moved)
	}
	one := "a-topic-with-a-name-of-some-length-004711"
	for name, change := range map[string]func(){
		"altered": func() { contents[one] = "other" },
		"gone":    func() { delete(contents, one) },
		"new":     func() { contents[one], contents["another"] = "4711", "" },
	} {
		change()
		if moved := f.moved(contents); len(moved) != 1 {
			t.Errorf("%s: %q", name, moved)
		}
		delete(contents, "another")
		contents[one] = "4711"
	}
	if group := f.moved(map[string]string{}); len(group) != fingerprintGroups || !slices.Contains(group, "one that is gone") {
		t.Errorf("%d groups are gone", len(group))
	}
}
