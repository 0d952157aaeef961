package flinkmm2

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever a journal holds after a crash or an accident, reading it gives its
// entries or an error; an entry that was appended since is never lost; and what
// read once reads again with the new entry behind it.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"at":"2026-10-15T08:00:00Z","act":"create","phase":"begin","connector":"mm2","by":"li"}` + "\n"))
	f.Add([]byte(`{"at":"2026-10-15T08:00:00Z","act":"resume","ph`))
	f.Add([]byte("{}\n{}{}\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		j := NewFileJournal(path)
		before, err := j.Read(t.Context())
		if err := j.Append(t.Context(), entry("stop")); err != nil {
			t.Fatal(err)
		}
		after, errAfter := j.Read(t.Context())
		if err != nil {
			return // damaged in the middle: stays an error, or the end was torn and is now explained
		}
		if errAfter != nil || len(after) != len(before)+1 || after[len(before)].Act != "stop" {
			t.Fatalf("%d entries before, %d after one more: %v", len(before), len(after), errAfter)
		}
	})
}
