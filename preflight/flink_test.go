package preflight_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

const savepoints = "../flinkstate/testdata/savepoints/"

// read takes the warnings of a real savepoint or checkpoint.
func read(dir string) breakage {
	return func(l *lab) func() {
		l.question.Warnings = l.state(dir).Warnings
		return func() { l.question.Warnings = l.state(stoppedWith).Warnings }
	}
}

// stoppedWith is the savepoint of a stop.
const stoppedWith = "flink-1.20-stop-p2/savepoint"

func (l *lab) state(dir string) *flinkstate.Snapshot {
	l.t.Helper()
	snapshot, err := flinkstate.ReadDir(savepoints + dir)
	l.must(err)
	return snapshot
}

// written asks with what the snapshot says of why it was written.
func (l *lab) written(s *flinkstate.Snapshot) {
	l.question.Kind, l.question.KindReason, l.question.MetadataVersion = s.Kind, s.KindReason, s.MetadataVersion
}

// What the file says for certain contradicts an attestation, and an attestation is
// corrected, not accepted.
func TestTheKindOfTheStateIsHeldAgainstTheAttestedStop(t *testing.T) {
	t.Parallel()
	const stop, canceled, failed = offsetmap.StoppedWithSavepoint, offsetmap.Canceled, offsetmap.Failed
	l := newLab(t, setup{})
	l.probe.Flink = nil // the state speaks alone
	for _, c := range []struct {
		end  offsetmap.FlinkEnd
		dir  string
		want string
	}{
		{stop, stoppedWith, ""},
		{stop, "flink-1.20-drain-p1/savepoint", ""},
		{stop, "flink-1.20-canonical-p1/savepoint", "block flink/stop-contradicted"},
		{stop, "flink-1.20-unaligned-inflight/checkpoint/chk-1", "block flink/stop-contradicted"},
		{stop, "flink-1.12-stop-p2/savepoint", "warn flink/stop-contradicted"}, // metadata version 3 does not say
		{canceled, stoppedWith, "block flink/unclean-stop"},                    // the stop may have failed after its savepoint
		{canceled, "flink-1.20-canonical-p1/savepoint", "block flink/unclean-stop"},
		{canceled, "flink-1.12-stop-p2/savepoint", "block flink/unclean-stop"},
		{failed, "flink-1.20-unaligned-inflight/checkpoint/chk-1", "block flink/unclean-stop"},
	} {
		state := l.state(c.dir)
		l.written(state)
		l.question.Attestations.FlinkStopped, l.question.Acceptances = attest(c.end), nil
		r := l.judge()
		want := []string{"warn flink/rest-not-asked"}
		if c.want != "" {
			want = append(want, c.want)
		}
		l.want(r, want...)
		switch c.want {
		case "warn flink/stop-contradicted":
			l.says(found(r, "flink/stop-contradicted")[0], "metadata version 3 does not store")
		case "block flink/stop-contradicted":
			l.says(found(r, "flink/stop-contradicted")[0], string(state.Kind))
			for _, scope := range []string{"", "kind-unknown"} {
				l.question.Acceptances = []offsetmap.Acceptance{{Check: "flink/stop-contradicted", Scope: scope, By: "ann", Reason: "never mind"}}
				if r := l.judge(); r.Err() == nil {
					t.Errorf("%s, attested %s: accepted away by the scope %q", state.Kind, c.end, scope)
				}
			}
		}
	}
}

// Where a state that stores its kind does not show it, nothing holds the
// attestation up, and nothing may pass it over in silence.
func TestAStateWhoseKindIsNotKnownIsNotTakenForAStops(t *testing.T) {
	t.Parallel()
	const reason = `"NONF", which was to follow the savepoint, is none of NONE, SUSPEND and TERMINATE`
	l := newLab(t, setup{})
	l.probe.Flink = nil
	const unasked = "warn flink/rest-not-asked"
	for name, c := range map[string]struct {
		kind     flinkstate.SnapshotKind
		reason   string
		version  int
		evidence string
	}{
		"damaged":                 {flinkstate.KindUnknown, reason, 4, reason},
		"of a newer format":       {flinkstate.KindUnknown, reason, 7, reason},
		"without a reason":        {flinkstate.KindUnknown, "", 6, "the kind of the state was not given"},
		"not given":               {"", "", 4, "the kind of the state was not given"},
		"nothing is given":        {"", "", 0, "the kind of the state was not given"},
		"a version that is none":  {"", "", -1, "the kind of the state was not given"},
		"a kind of later readers": {"rescaled", "", 4, `the kind "rescaled" is none of this version`},
	} {
		l.question.Kind, l.question.KindReason, l.question.MetadataVersion = c.kind, c.reason, c.version
		l.question.Acceptances = nil
		r := l.judge()
		l.want(r, "block flink/stop-contradicted kind-unknown", unasked)
		f := r.Findings[0]
		l.says(f, c.evidence, "attested", "ann")
		if !f.Unmade || f.Acceptable != offsetmap.Exact || r.Rows != nil {
			t.Errorf("%s: %s, unmade %t, acceptable %q, %d rows", name, f, f.Unmade, f.Acceptable, len(r.Rows))
		}
		for _, scope := range []string{"", "*", "kind"} {
			l.question.Acceptances = []offsetmap.Acceptance{{Check: f.Check, Scope: scope, By: "ann", Reason: "compared the file"}}
			if r := l.judge(); r.Err() == nil {
				t.Errorf("%s: accepted by the scope %q", name, scope)
			}
		}
		l.question.Acceptances = []offsetmap.Acceptance{{Check: f.Check, Scope: f.Scope, By: "ann", Reason: "compared the file"}}
		l.want(l.judge(), "warn flink/stop-contradicted kind-unknown", unasked)

		l.question.Acceptances = nil
		l.question.Attestations.FlinkStopped.Value = offsetmap.Canceled
		l.want(l.judge(), "block flink/unclean-stop", unasked)
		l.question.Attestations.FlinkStopped.Value = offsetmap.StoppedWithSavepoint
	}
}

// The states of real jobs: what does not store the kind is told, and only what is
// no stop's blocks.
func TestNoSoundStateOfARealJobIsBlockedByItsKind(t *testing.T) {
	t.Parallel()
	dirs, err := os.ReadDir(savepoints)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, dir := range dirs {
		var e struct {
			Kind, Pointer   string
			MetadataVersion int
			PathMap         map[string]string
		}
		text, err := os.ReadFile(savepoints + dir.Name() + "/expected.json")
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := flinkstate.Read(os.DirFS(savepoints+dir.Name()), e.Pointer, flinkstate.WithPathMap(e.PathMap))
		if errors.Is(err, flinkstate.ErrNoPosition) || errors.Is(err, flinkstate.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := "" // of a stop, with or without drain
		switch {
		case e.MetadataVersion < 4:
			want = "warn"
		case !strings.HasPrefix(e.Kind, "stop-"):
			want = "block"
		}
		q := question()
		q.Kind, q.KindReason, q.MetadataVersion = snapshot.Kind, snapshot.KindReason, snapshot.MetadataVersion
		var got []string
		for _, f := range found(preflight.Judge(preflight.Facts{}, q), "flink/stop-contradicted") {
			got = append(got, string(f.Severity))
			if f.Unmade {
				t.Errorf("%s: %s", dir.Name(), f)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s, version %d, of a %s: %q, want %q", dir.Name(), e.MetadataVersion, e.Kind, got, want)
		}
		seen[want]++
	}
	if seen[""] < 20 || seen["warn"] < 10 || seen["block"] < 10 {
		t.Errorf("looked at %v", seen)
	}
}

// warned is for codes of which there is no savepoint of a real job.
func warned(code flinkstate.WarningCode) breakage {
	return func(l *lab) func() {
		l.question.Warnings = []flinkstate.Warning{{Code: code, OperatorID: "cbc357ccb763df2852fee8c4fc7d55f2", Text: "found in the state"}}
		return func() { l.question.Warnings = nil }
	}
}

func flinkBreakages() map[string]breakage {
	return map[string]breakage{
		"flink/records-in-flight":      read("flink-1.20-unaligned-inflight/checkpoint/chk-1"),
		"flink/source-finished":        read("flink-2.2-finished-source/savepoint"),
		"flink/splits-finished":        read("flink-2.2-stopping-offsets/savepoint"),
		"flink/splits-bounded":         read("flink-1.14-stopping-offsets/savepoint"),
		"flink/operator-finished":      warned(flinkstate.OperatorFinished),
		"flink/subtask-missing":        warned(flinkstate.SubtaskMissing),
		"flink/subtasks-finished":      warned(flinkstate.SubtasksFinished),
		"flink/discovery-not-finished": warned(flinkstate.DiscoveryNotFinished),
		"flink/enumerator-missing":     warned(flinkstate.EnumeratorMissing),
		"flink/source-unidentified":    warned(flinkstate.SourceUnidentified),
		"flink/partitions-shared":      warned(flinkstate.PartitionsShared),
		"flink/offsets-empty":          warned(flinkstate.OffsetsEmpty),
		"flink/offsets-may-be-stale":   read("flink-1.20-legacy-stop-stale/savepoint"),
		"flink/several-clusters":       warned(flinkstate.SeveralClusters),
		"flink/warning-unknown":        warned("of-a-later-version"),
		"flink/unclean-stop": func(l *lab) func() {
			l.question.Attestations.FlinkStopped.Value = offsetmap.Canceled
			return func() { l.question.Attestations.FlinkStopped.Value = offsetmap.StoppedWithSavepoint }
		},
		"flink/stop-contradicted": func(l *lab) func() {
			l.written(l.state("flink-1.20-canonical-p1/savepoint"))
			return func() { l.written(l.state(stoppedWith)) }
		},
		"flink/state-beyond-copying": func(l *lab) func() {
			before := l.question.Operators
			l.question.Operators = l.state("flink-1.20-checkpoint-hashmap/checkpoint/chk-1").Operators
			return func() { l.question.Operators = before }
		},
		"flink/state-evidence": func(l *lab) func() {
			before := l.question.Operators
			return func() { l.question.Operators = before[:0] }
		},
		"flink/group-only": func(l *lab) func() {
			l.question.Origin = offsetmap.FromGroup
			return func() { l.question.Origin = offsetmap.FromSavepoint }
		},
	}
}

func attestBreakages() map[string]breakage {
	missing := func(without func(a *offsetmap.Attestations)) breakage {
		return func(l *lab) func() {
			right := l.question.Attestations
			without(&l.question.Attestations)
			return func() { l.question.Attestations = right }
		}
	}
	return map[string]breakage{
		"attest/copy-only":        missing(func(a *offsetmap.Attestations) { a.CopyOnly = attest(false) }),
		"attest/flink-stopped":    missing(func(a *offsetmap.Attestations) { a.FlinkStopped = nil }),
		"attest/auto-restart-off": missing(func(a *offsetmap.Attestations) { a.AutoRestartOff = nil }),
		"attest/sink-guarantee":   missing(func(a *offsetmap.Attestations) { a.SinkGuarantee = nil }),
		"attest/sink-none":        missing(func(a *offsetmap.Attestations) { a.SinkGuarantee = attest(offsetmap.SinkNone) }),
		"attest/isolation":        missing(func(a *offsetmap.Attestations) { a.Isolation = nil }),
		"attest/rollback-window":  missing(func(a *offsetmap.Attestations) { a.RollbackWindow = attest("soon") }),
		"attest/max-duplicates":   missing(func(a *offsetmap.Attestations) { a.MaxDuplicates = attest(int64(-1)) }),
		"attest/checkpointing": func(l *lab) func() {
			l.question.Origin = offsetmap.FromGroup
			return func() { l.question.Attestations.Checkpointing = attest("1m") }
		},
		"plan/check-invalid": func(l *lab) func() {
			l.checks = []preflight.Check{{ID: "config/isolation", Judge: func(*preflight.Case, *preflight.Reporter) {}}}
			return func() { l.checks[0].ID = "ours/isolation" }
		},
	}
}

// How the job ended is a matter of a savepoint: a group has no state that could be behind.
func TestAnUncleanEndIsHeldAgainstASavepointAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		origin offsetmap.Origin
		end    *offsetmap.Attestation[offsetmap.FlinkEnd]
		want   int
	}{
		{offsetmap.FromSavepoint, attest(offsetmap.Canceled), 1},
		{offsetmap.FromSavepoint, attest(offsetmap.Failed), 1},
		{offsetmap.FromSavepoint, attest(offsetmap.StoppedWithSavepoint), 0},
		{offsetmap.FromSavepoint, nil, 0},
		{offsetmap.FromGroup, attest(offsetmap.Canceled), 0},
		{offsetmap.FromGroup, nil, 0},
	} {
		q := question()
		q.Origin, q.Attestations.FlinkStopped = c.origin, c.end
		if got := found(preflight.Judge(preflight.Facts{}, q), "flink/unclean-stop"); len(got) != c.want {
			t.Errorf("%s, %+v: %v, want %d", c.origin, c.end, got, c.want)
		}
	}
}

// What the file does not say is not called unknown, and the other way round.
func TestTheStateIsDescribedByWhatItHolds(t *testing.T) {
	t.Parallel()
	const version = flinkstate.KindVersion
	l := newLab(t, setup{})
	operators := []flinkstate.Operator{{ID: "a1", UID: "from-orders"}, {ID: "b2"}, {ID: "c3", Name: "to-orders"}}
	for _, c := range []struct {
		kind      flinkstate.SnapshotKind
		version   int
		operators []flinkstate.Operator
		want      string
	}{
		{"", version - 1, operators, "what it was written for is not stored; 3 operators: from-orders, to-orders"},
		{flinkstate.KindUnknown, version - 1, operators, "what it was written for is not stored; 3 operators"},
		{flinkstate.KindUnknown, version, operators, "what it was written for is not known; 3 operators"},
		{"", version + 1, operators, "what it was written for is not known; 3 operators"},
		{flinkstate.KindSavepoint, version, operators[1:2], "written for a savepoint; 1 operators"},
	} {
		q := l.question
		q.Kind, q.MetadataVersion, q.Operators = c.kind, c.version, c.operators
		said := found(preflight.Judge(preflight.Facts{}, q), "flink/state-evidence")
		if len(said) != 1 || !strings.Contains(said[0].Detail, c.want) || strings.Contains(said[0].Detail, "operators:") != (len(c.operators) > 1) || strings.Contains(said[0].Detail, "the positions are of") {
			t.Errorf("%q, version %d: %v, want %q", c.kind, c.version, said, c.want)
		}
	}
}
