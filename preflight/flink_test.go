package preflight_test

import (
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

const savepoints = "../flinkstate/testdata/savepoints/"

// read takes the warnings of a real savepoint or checkpoint.
func read(dir string) breakage {
	return func(l *lab) func() {
		snapshot, err := flinkstate.ReadDir(savepoints + dir)
		l.must(err)
		l.question.Warnings = snapshot.Warnings
		return func() {
			sound, err := flinkstate.ReadDir(savepoints + "flink-1.20-stop-p2/savepoint")
			l.must(err)
			l.question.Warnings = sound.Warnings
		}
	}
}

// kindOf reads what a real job was asked for.
func (l *lab) kindOf(dir string) flinkstate.SnapshotKind {
	l.t.Helper()
	snapshot, err := flinkstate.ReadDir(savepoints + dir)
	l.must(err)
	return snapshot.Kind
}

// Only what the file says for certain contradicts an attestation, and an
// attestation is corrected, not accepted.
func TestTheKindOfTheStateIsHeldAgainstTheAttestedStop(t *testing.T) {
	t.Parallel()
	const stop, canceled, failed = offsetmap.StoppedWithSavepoint, offsetmap.Canceled, offsetmap.Failed
	l := newLab(t, setup{})
	for _, c := range []struct {
		end  offsetmap.FlinkEnd
		kind flinkstate.SnapshotKind
		want string
	}{
		{stop, l.kindOf("flink-1.20-stop-p2/savepoint"), ""},
		{stop, l.kindOf("flink-1.20-drain-p1/savepoint"), ""},
		{stop, l.kindOf("flink-1.20-canonical-p1/savepoint"), "block flink/stop-contradicted"},
		{stop, l.kindOf("flink-1.20-unaligned-inflight/checkpoint/chk-1"), "block flink/stop-contradicted"},
		{stop, l.kindOf("flink-1.12-stop-p2/savepoint"), ""}, // metadata version 3 does not say
		{stop, "", ""},
		{stop, "of-a-later-version", ""},
		{canceled, flinkstate.KindStopWithSavepoint, "block flink/unclean-stop"}, // the stop may have failed after its savepoint
		{canceled, flinkstate.KindSavepoint, "block flink/unclean-stop"},
		{failed, flinkstate.KindCheckpoint, "block flink/unclean-stop"},
	} {
		l.question.Attestations.FlinkStopped, l.question.Kind = attest(c.end), c.kind
		l.question.Acceptances = nil
		r := l.judge()
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		l.want(r, want...)
		if c.want != "block flink/stop-contradicted" {
			continue
		}
		l.says(r.Findings[0], string(c.kind))
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "flink/stop-contradicted", By: "ann", Reason: "never mind"}}
		if r := l.judge(); r.Err() == nil {
			t.Errorf("%s, attested %s: accepted away", c.kind, c.end)
		}
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
			l.question.Kind = l.kindOf("flink-1.20-canonical-p1/savepoint")
			return func() { l.question.Kind = l.kindOf("flink-1.20-stop-p2/savepoint") }
		},
		"flink/group-only": func(l *lab) func() {
			l.question.Origin = offsetmap.FromGroup
			return func() {
				l.question.Acceptances = []offsetmap.Acceptance{{Check: "flink/group-only", By: "ann", Reason: "compared the last records"}}
			}
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
