package flinkstate_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// What each fixture was asked for is what the job that made it asked for.
func TestFixtureKindIsWhatTheJobAskedFor(t *testing.T) {
	kinds := map[string]flinkstate.SnapshotKind{
		"checkpoint":                  flinkstate.KindCheckpoint,
		"savepoint":                   flinkstate.KindSavepoint,
		"stop-with-savepoint":         flinkstate.KindStopWithSavepoint,
		"stop-with-savepoint (drain)": flinkstate.KindStopWithDrain,
	}
	seen := map[flinkstate.SnapshotKind]int{}
	for _, e := range fixtures(t) {
		snap, err := e.read()
		if errors.Is(err, flinkstate.ErrNoPosition) || errors.Is(err, flinkstate.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		want := flinkstate.KindUnknown
		if e.MetadataVersion >= 4 {
			if want = kinds[e.Kind]; want == "" {
				t.Fatalf("%s: the kind %q is not known to the test", e.Name, e.Kind)
			}
		}
		seen[want]++
		if snap.Kind != want {
			t.Errorf("%s: kind %q (%s), want %q", e.Name, snap.Kind, snap.KindReason, want)
		}
		if unknown := snap.Kind == flinkstate.KindUnknown; unknown != (snap.KindReason != "") {
			t.Errorf("%s: kind %q with the reason %q", e.Name, snap.Kind, snap.KindReason)
		}
		if snap.Kind.Stopped() != (e.MetadataVersion >= 4 && strings.HasPrefix(e.Kind, "stop-")) {
			t.Errorf("%s: Stopped says %v of a %s", e.Name, snap.Kind.Stopped(), e.Kind)
		}
	}
	for _, k := range append([]flinkstate.SnapshotKind{flinkstate.KindUnknown}, kinds["checkpoint"], kinds["savepoint"], kinds["stop-with-savepoint"], kinds["stop-with-savepoint (drain)"]) {
		if seen[k] == 0 {
			t.Errorf("no fixture is a %s", k)
		}
	}
}

// The kind comes from the field that Flink itself acts on. Names that stand
// elsewhere do not make it, and what is not known is never taken for the nearest.
func TestKindComesFromItsFieldAlone(t *testing.T) {
	stop := properties(t)
	change := func(from, to string) []byte {
		t.Helper()
		if len(from) != len(to) || bytes.Count(stop, []byte(from)) != 1 {
			t.Fatalf("%q cannot become %q", from, to)
		}
		return bytes.Replace(stop, []byte(from), []byte(to), 1)
	}
	resize := func(from, to string) []byte {
		t.Helper()
		if bytes.Count(stop, put(from)) != 1 {
			t.Fatalf("%q is there %d times", from, bytes.Count(stop, put(from)))
		}
		return bytes.Replace(stop, put(from), put(to), 1)
	}
	const pkg = "org.apache.flink.runtime.checkpoint."
	for _, tt := range []struct {
		name       string
		properties []byte
		want       flinkstate.SnapshotKind
		reason     string
	}{
		{"as Flink wrote it", stop, flinkstate.KindStopWithSavepoint, ""},
		{"a name that says otherwise", resize("Suspend Savepoint", "Savepoint"), flinkstate.KindStopWithSavepoint, ""},
		{"a field beside it that says otherwise", resize("CANONICAL", "TERMINATE"), flinkstate.KindStopWithSavepoint, ""},
		{"another action", resize("SUSPEND", "NONE"), flinkstate.KindSavepoint, ""},
		{"an action of the future", change("\x07SUSPEND", "\x07RESTART"), flinkstate.KindUnknown, `"RESTART"`},
		{"an action of another class", change("SavepointType$PostCheckpointAction\x00", "SavepointType$PostCheckpointOption\x00"), flinkstate.KindUnknown, "what was to follow"},
		{"no action", change("postCheckpointAction", "postCheckpointOption"), flinkstate.KindUnknown, "what was to follow"},
		{"another checkpoint type", change(pkg+"SavepointType\xa0", pkg+"Snapshotter__\xa0"), flinkstate.KindUnknown, pkg + "Snapshotter__"},
		{"no checkpoint type", change("checkpointType", "checkpointKind"), flinkstate.KindUnknown, "no field checkpointType"},
		{"another class", change(pkg+"CheckpointProperties", pkg+"CheckpointProper_ies"), flinkstate.KindUnknown, "CheckpointProper_ies"},
		{"no object", []byte("\xac\xed\x00\x05\x70"), flinkstate.KindUnknown, "hold no object"},
		{"a form that is not followed", []byte("\xac\xed\x00\x05\x77\x07SUSPEND"), flinkstate.KindUnknown, "hold no object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
			j.properties = tt.properties
			snap := read(t, j)
			if snap.Kind != tt.want {
				t.Errorf("kind %q (%s), want %q", snap.Kind, snap.KindReason, tt.want)
			}
			if !strings.Contains(snap.KindReason, tt.reason) || (tt.reason == "") != (snap.KindReason == "") {
				t.Errorf("the reason is %q, want one with %q", snap.KindReason, tt.reason)
			}
		})
	}
}

// A file of an older Flink says that it cannot say.
func TestKindOfOldMetadataIsUnknownWithItsVersion(t *testing.T) {
	for _, version := range []int{2, 3} {
		j := oneSource(t, nil, reader(split("orders", 0, 5, noStop)))
		j.version = version
		snap := read(t, j)
		if want := "metadata version " + string(rune('0'+version)); snap.Kind != flinkstate.KindUnknown || !strings.Contains(snap.KindReason, want) {
			t.Errorf("version %d: kind %q, reason %q", version, snap.Kind, snap.KindReason)
		}
	}
}
