package flinkmm2

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// chained returns the lines of a journal, each with its newline.
func chained(t *testing.T, path string, acts ...string) [][]byte {
	t.Helper()
	j := NewFileJournal(path)
	for _, act := range acts {
		appendAll(t, j, entry(act))
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(bytes.Lines(raw))
}

func readRaw(t *testing.T, path string, raw []byte) error {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := NewFileJournal(path).Read(t.Context())
	return err
}

func TestJournalLineTakenOutPutInOrMovedShows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	lines := chained(t, path, "create", "plan", "apply", "verify", "start")
	whole := bytes.Join(lines, nil)
	if err := readRaw(t, path, whole); err != nil {
		t.Fatal(err)
	}
	for i := range len(lines) - 1 {
		cases := map[string][][]byte{
			"taken out": slices.Delete(slices.Clone(lines), i, i+1),
			"put in":    slices.Insert(slices.Clone(lines), i+1, lines[i]),
			"unchained": slices.Insert(slices.Clone(lines), i+1, []byte(`{"at":"2026-10-15T08:00:00Z","act":"plan","phase":"done","connector":"mm2","by":"li"}`+"\n")),
			"torn":      slices.Insert(slices.Clone(lines), i+1, []byte("{\n"), bytes.Replace(lines[i], []byte(`"by":"li"`), []byte(`"by":"li","afterTorn":true`), 1)),
		}
		swapped := slices.Clone(lines)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		cases["moved"] = swapped
		for name, altered := range cases {
			if err := readRaw(t, path, bytes.Join(altered, nil)); !errors.Is(err, ErrJournalAltered) {
				t.Errorf("line %d %s: %v", i+1, name, err)
			}
		}
	}
}

func TestJournalByteAlteredShows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	lines := chained(t, path, "create", "plan", "apply")
	whole := bytes.Join(lines, nil)
	for i := range len(whole) - len(lines[2]) {
		altered := slices.Clone(whole)
		altered[i] ^= 1
		if err := readRaw(t, path, altered); err == nil {
			t.Errorf("byte %d (%q to %q) was altered and the journal is read", i, whole[i], altered[i])
		}
	}
	altered := bytes.Replace(whole, []byte(`"act":"plan"`), []byte(`"act":"stop"`), 1)
	if err := readRaw(t, path, altered); !errors.Is(err, ErrJournalAltered) || !strings.Contains(err.Error(), "line 2 was altered") {
		t.Errorf("%v", err)
	}
}

// The journal of a migration that was begun with a program without digests goes on,
// and its lines are held from then on.
func TestJournalOfBeforeThereWereDigestsGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	old := `{"at":"2026-10-15T08:00:00Z","act":"create","phase":"begin","connector":"mm2","by":"li"}` + "\n" +
		`{"at":"2026-10-15T08:00:01Z","act":"create","phase":"done","connector":"mm2","by":"li"}` + "\n"
	if err := readRaw(t, path, []byte(old)); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Join(chained(t, path, "plan", "apply"), nil)
	if got := readAll(t, NewFileJournal(path)); !cmp.Equal(got, []string{"create", "create", "plan", "apply"}) {
		t.Fatalf("%v", got)
	}
	altered := bytes.Replace(whole, []byte(`"phase":"done"`), []byte(`"phase":"fail"`), 1)
	if err := readRaw(t, path, altered); !errors.Is(err, ErrJournalAltered) {
		t.Errorf("%v", err)
	}
}

// Pods on several nodes append to one volume.
func TestJournalAppendedToByManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	const writers, each = 8, 10
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := NewFileJournal(path).Append(t.Context(), entry("plan")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := readAll(t, NewFileJournal(path)); len(got) != writers*each {
		t.Errorf("%d entries", len(got))
	}
}

// A process that was stopped in the middle of an append holds the lock.
func TestJournalLockedByAnotherIsGivenUp(t *testing.T) {
	if !localfs.Locks {
		t.Skip("no file locks on this system")
	}
	path := filepath.Join(t.TempDir(), "journal")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := localfs.TryLock(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller has gone")
	cancel(gone)
	if err := NewFileJournal(path).Append(ctx, entry("plan")); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	second, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := lockFile(t.Context(), second, 1); err == nil || !strings.Contains(err.Error(), "another process has held its lock") {
		t.Errorf("%v", err)
	}
	if raw, err := os.ReadFile(path); err != nil || len(raw) > 0 {
		t.Errorf("%q was written without the lock, %v", raw, err)
	}
}
