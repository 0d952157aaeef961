package flinkmm2_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestSchemasAndTypesHaveTheSameMembers(t *testing.T) {
	positions, boundary, proofs := schematest.New(t, flinkmm2.PositionsSchema()), schematest.New(t, flinkmm2.BoundarySchema()), schematest.New(t, flinkmm2.ProofSchema())
	positions.SameMembers(t, "positions", reflect.TypeFor[flinkmm2.Positions](), positions.Def("ofSavepoint"))
	boundary.SameMembers(t, "boundary", reflect.TypeFor[flinkmm2.Boundary](), boundary.Root)
	proofs.SameMembers(t, "proof", reflect.TypeFor[flinkmm2.Proof](), proofs.Root)
	marks := schematest.New(t, flinkmm2.RestartMarkSchema())
	marks.SameMembers(t, "restart mark", reflect.TypeFor[flinkmm2.RestartMark](), marks.Root)
	backups := schematest.New(t, flinkmm2.OffsetsBackupSchema())
	backups.SameMembers(t, "backup", reflect.TypeFor[flinkmm2.OffsetsBackup](), backups.Root)
	lists := schematest.New(t, flinkmm2.AcceptanceListSchema())
	lists.SameMembers(t, "acceptance list", reflect.TypeFor[flinkmm2.AcceptanceList](), lists.Root)
	status := schematest.New(t, flinkmm2.StatusSchema())
	status.SameMembers(t, "status", reflect.TypeFor[flinkmm2.Status](), status.Root)
}

func TestSchemasListTheConstants(t *testing.T) {
	positions, boundary, proofs := schematest.New(t, flinkmm2.PositionsSchema()), schematest.New(t, flinkmm2.BoundarySchema()), schematest.New(t, flinkmm2.ProofSchema())
	lists := schematest.New(t, flinkmm2.AcceptanceListSchema())
	member := func(n schematest.Object, name string) schematest.Object {
		return n["properties"].(schematest.Object)[name].(schematest.Object)
	}
	for name, c := range map[string]struct {
		node schematest.Object
		want []string
	}{
		"kind of snapshot": {positions.Def("snapshotKind"), texts(
			flinkstate.KindUnknown, flinkstate.KindCheckpoint, flinkstate.KindSavepoint, flinkstate.KindStopWithSavepoint, flinkstate.KindStopWithDrain)},
		"kind of source": {member(positions.Def("source"), "kind"), texts(flinkstate.KafkaSource, flinkstate.DynamicKafkaSource, flinkstate.FlinkKafkaConsumer)},
		"discovery": {member(positions.Def("source"), "discovery"), texts(
			flinkstate.DiscoveryUnknown, flinkstate.DiscoveryFinished, flinkstate.DiscoveryUnfinished)},
		"unread": {member(positions.Def("position"), "unread"), []string{
			offsetmap.Earliest.String(), offsetmap.Latest.String(), offsetmap.Committed.String(), offsetmap.Unset.String(), offsetmap.Unknown.String(),
		}},
		"state": {member(positions.Def("position"), "state"), []string{offsetmap.Unassigned.String(), offsetmap.FinishedOrUnassigned.String()}},
		"relation": {member(positions.Def("relation"), "relation"), texts(
			flinkstate.Equal, flinkstate.Behind, flinkstate.Ahead, flinkstate.Missing, flinkstate.Unread)},
		"point of the acceptance list": {member(lists.Def("point"), "id"), texts(
			flinkmm2.AcceptImported, flinkmm2.AcceptFirstRecord, flinkmm2.AcceptNothingMissing, flinkmm2.AcceptRunning, flinkmm2.AcceptImage,
			flinkmm2.AcceptRestart, flinkmm2.AcceptNoCompanions, flinkmm2.AcceptNoSynchronisation, flinkmm2.AcceptAsBefore)},
		"stage": {member(schematest.New(t, flinkmm2.StatusSchema()).Root, "stage"), texts(
			flinkmm2.StageNoConnector, flinkmm2.StageCreated, flinkmm2.StagePlanned, flinkmm2.StageApplying, flinkmm2.StageApplied, flinkmm2.StageStarted,
			flinkmm2.StageRunning, flinkmm2.StageProven, flinkmm2.StageOvertaken, flinkmm2.StageStopped, flinkmm2.StageHalted, flinkmm2.StageRollingBack, flinkmm2.StageRolledBack,
			flinkmm2.StageHandedBack, flinkmm2.StageSpent, flinkmm2.StageAstray, flinkmm2.StageUnknown)},
		"state of a point": {member(lists.Def("point"), "state"), texts(flinkmm2.Shown, flinkmm2.Attested, flinkmm2.NotProven)},
		"outcome":          {proofs.Def("outcome"), texts(proof.Proven, proof.Failed, proof.NotProven, proof.NoProgress, proof.NothingToCopy, proof.ProgressWithoutRecords)},
		"outcome of a partition": {member(proofs.Def("partitionProof"), "outcome"), texts(
			proof.PartitionProven, proof.PartitionFailed, proof.PartitionNothingToCopy, proof.PartitionPending,
			proof.PartitionUnread, proof.PartitionUnprovable, proof.PartitionHidden, proof.PartitionWaiting, proof.PartitionWithoutRecords)},
		"fault": {member(proofs.Def("example"), "fault"), texts(
			proof.Missing, proof.Altered, proof.OutOfOrder, proof.Early, proof.Unprovable, proof.Repeated, proof.Foreign, proof.Older)},
	} {
		var got []string
		values, _ := c.node["enum"].([]any)
		for _, v := range values {
			got = append(got, v.(string))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for kind, n := range map[string]schematest.Object{
		flinkmm2.OffsetsBackupKind: schematest.New(t, flinkmm2.OffsetsBackupSchema()).Root,
		flinkmm2.PositionsKind:     positions.Def("ofSavepoint"), flinkmm2.BoundaryKind: boundary.Root, flinkmm2.ProofKind: proofs.Root,
	} {
		if v, k := member(n, "apiVersion")["const"], member(n, "kind")["const"]; v != offsetmap.APIVersion || k != kind {
			t.Errorf("the schema of %s is of %v %v", kind, v, k)
		}
	}
}

func texts[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}

func TestPositionsOfEverySavepointFollowTheSchema(t *testing.T) {
	s := schematest.New(t, flinkmm2.PositionsSchema())
	dirs, err := filepath.Glob("flinkstate/testdata/savepoints/*/*/_metadata")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, metadata := range dirs {
		snapshot, err := flinkstate.ReadDir(filepath.Dir(metadata))
		if err != nil {
			continue // what must be read, and what not, is the matter of flinkstate's own tests
		}
		raw, err := flinkmm2.Export(snapshot).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if p := s.Problem(metadata, schematest.Decode(t, raw)); p != "" {
			t.Error(p)
		}
		checked++
	}
	if checked < 50 {
		t.Errorf("only %d of %d savepoints were read", checked, len(dirs))
	}
}

func TestBoundaryAndProofOfARealMigrationFollowTheirSchemas(t *testing.T) {
	w := started(t)
	proofs := schematest.New(t, flinkmm2.ProofSchema())
	whole, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	follows := func(s schematest.Schema, v interface{ Encode() ([]byte, error) }) {
		t.Helper()
		raw, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if p := s.Problem("file", schematest.Decode(t, raw)); p != "" {
			t.Errorf("%s\n%s", p, raw)
		}
	}
	follows(proofs, whole)

	// Now with records that wait, and one of another writer, which is named.
	if err := w.connect.Stop(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await("STOPPED")
	w.source.produce(t, 0, 2)
	w.target.produce(t, 2, 1)
	failed, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Second})
	if err == nil || failed == nil {
		t.Fatalf("%v, %v", failed, err)
	}
	follows(proofs, failed)

	back, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	follows(schematest.New(t, flinkmm2.BoundarySchema()), back.Boundary)
}

func TestSchemasRefuseWhatNoFileHolds(t *testing.T) {
	boundary := schematest.New(t, flinkmm2.BoundarySchema())
	const whole = `{"apiVersion":"flinkmm2/v1","kind":"Boundary","createdAt":"2026-01-02T03:04:05Z",
		"plan":"sha256:0000000000000000000000000000000000000000000000000000000000000000","sourceClusterId":"c","connector":"mm2",
		"partitions":[{"topic":"orders","partition":0,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","next":0,"stored":null,"added":false,"copied":0,"lost":0}]}`
	if p := boundary.Problem("boundary", schematest.Decode(t, []byte(whole))); p != "" {
		t.Fatal(p)
	}
	for _, c := range [][2]string{
		{`"next":0`, `"next":null`},
		{`"next":0`, `"next":-1`},
		{`"stored":null`, `"stored":-1`},
		{`"stored":null,`, ``},
		{`"Boundary"`, `"Plan"`},
		{`/v1`, `/v2`},
		{`:05Z`, `:05.5Z`},
		{`"lost":0`, `"lost":0,"more":0`},
		{`"lost":0`, `"lost":1.5`},
	} {
		text := strings.Replace(whole, c[0], c[1], 1)
		if p := boundary.Problem("boundary", schematest.Decode(t, []byte(text))); p == "" {
			t.Errorf("%s for %s follows the schema", c[1], c[0])
		}
		path := filepath.Join(t.TempDir(), "boundary.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c[1] != `` && !strings.Contains(c[0], "stored") {
			if _, err := flinkmm2.ReadBoundary(path); err == nil {
				t.Errorf("%s for %s is read", c[1], c[0])
			}
		}
	}
}

func TestSchemasAreCopies(t *testing.T) {
	for _, schema := range []func() []byte{flinkmm2.PositionsSchema, flinkmm2.BoundarySchema, flinkmm2.ProofSchema, flinkmm2.CheckpointSchema, flinkmm2.RestartMarkSchema, flinkmm2.PreflightSchema, flinkmm2.AcceptanceListSchema, flinkmm2.OffsetsBackupSchema} {
		schema()[0] = 'x'
		if schema()[0] != '{' {
			t.Error("a caller can change the schema")
		}
	}
}
