package flinkmm2

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func entry(act string) Entry {
	return Entry{At: time.Date(2026, 10, 15, 8, 0, 0, 0, time.UTC), Act: act, Phase: PhaseBegin, Connector: "mm2", By: "li"}
}

func appendAll(t *testing.T, j *FileJournal, entries ...Entry) {
	t.Helper()
	for _, e := range entries {
		if err := j.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t *testing.T, j *FileJournal) []string {
	t.Helper()
	entries, err := j.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var acts []string
	for _, e := range entries {
		acts = append(acts, e.Act)
	}
	return acts
}

func TestJournalKeepsOrderAndEveryField(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := NewFileJournal(path)
	if got := readAll(t, j); got != nil {
		t.Fatalf("a journal never written has %v", got)
	}
	end, err := offsetmap.Next(0)
	if err != nil {
		t.Fatal(err)
	}
	full := entry("start")
	full.Plan, full.Detail = "sha256:x", "a\nline"
	index := 3
	full.Host, full.Job = "node-7", &JobIdentity{Namespace: "kafka", Name: "start", Pod: "start-3-x", UID: "u", Index: &index}
	full.Tool = &offsetmap.Tool{Name: "runbook", Version: "v1"}
	full.Request = &Request{Method: "PUT", Path: "/connectors/mm2/resume", BodyDigest: "sha256:y", Partitions: 2}
	full.File = "sha256:z"
	full.Ends = []PartitionEnd{{TopicPartition: offsetmap.TopicPartition{Topic: "orders", Partition: 3}, End: end}}
	appendAll(t, j, entry("create"), full)
	got, err := NewFileJournal(path).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Entry{entry("create"), full}, got, cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b }), cmpopts.IgnoreFields(Entry{}, "Prev")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// A crash inside an append leaves half a line. What it would announce was never
// done, and the journal goes on.
func TestJournalTornByACrash(t *testing.T) {
	whole := `{"at":"2026-10-15T08:00:00Z","act":"resume","phase":"begin","connector":"mm2","by":"li"}`
	for n := range len(whole) {
		path := filepath.Join(t.TempDir(), "journal")
		j := NewFileJournal(path)
		appendAll(t, j, entry("create"))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(whole[:n]); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := readAll(t, j); !cmp.Equal(got, []string{"create"}) {
			t.Fatalf("cut at %d: %v", n, got)
		}
		appendAll(t, j, entry("plan"), entry("apply"))
		if got := readAll(t, j); !cmp.Equal(got, []string{"create", "plan", "apply"}) {
			t.Fatalf("cut at %d, then appended: %v", n, got)
		}
	}
}

// A disk that is full, or a second crash, cuts one append after the other. The
// journal can be read meanwhile, and goes on once there is room.
func TestJournalTornTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := NewFileJournal(path)
	appendAll(t, j, entry("create"))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, half := range []string{`{"at":"2026-1`, "\n" + `{"at":"2026-10-15T08`, "\n"} {
		if _, err := f.WriteString(half); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString(`{"a`); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, j); !cmp.Equal(got, []string{"create"}) {
		t.Fatalf("torn three times: %v", got)
	}
	appendAll(t, j, entry("plan"), entry("apply"))
	if got := readAll(t, j); !cmp.Equal(got, []string{"create", "plan", "apply"}) {
		t.Fatalf("torn three times, then appended: %v", got)
	}
}

// A line that only lacks its newline is whole, and a resume that may have been
// sent must count.
func TestJournalLineWithoutNewlineCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := NewFileJournal(path)
	appendAll(t, j, entry("create"), entry("resume"))
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"create", "resume"}
	if got := readAll(t, j); !cmp.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	appendAll(t, j, entry("stop"))
	if got := readAll(t, j); !cmp.Equal(got, append(want, "stop")) {
		t.Fatalf("%v", got)
	}
}

func TestJournalDamagedInTheMiddleIsNotRead(t *testing.T) {
	for name, damage := range map[string]string{
		"not JSON":      "garbage\n",
		"unknown field": `{"act":"resume","colour":"red"}` + "\n",
		"empty line":    "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			j := NewFileJournal(path)
			appendAll(t, j, entry("create"))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, j, entry("plan"))
			both, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			next := string(both[len(raw):])
			unchained := `{"at":"2026-10-15T08:00:00Z","act":"create","phase":"begin","connector":"mm2","by":"li"}` + "\n"
			for place, content := range map[string]string{
				"line 2": unchained + damage + unchained,
				"line 3": string(raw) + next + damage,
			} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := j.Read(t.Context()); err == nil || !strings.Contains(err.Error(), place) {
					t.Errorf("want an error at %s, got %v", place, err)
				}
			}
		})
	}
}

func TestWriteFileIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.json")
	for _, content := range []string{"one", "two"} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "taken", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "taken"), []byte("x")); err == nil {
		t.Error("a folder was overwritten")
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 {
		t.Errorf("temporary files were left: %v", left)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
