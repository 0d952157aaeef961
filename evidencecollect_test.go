package flinkmm2_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
)

func TestEvidenceIsCollectedOfOnePlan(t *testing.T) {
	w := rolledBack(t)
	dir := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := `"sha256:1111111111111111111111111111111111111111111111111111111111111111"`
	head := `{"apiVersion":"flinkmm2/v1","kind":`
	if _, _, err := flinkmm2.CollectEvidence(dir); err == nil {
		t.Error("there is no plan")
	}
	write("plan.json", encoded(t, w.plan))
	write("plan-before.json", []byte(head+`"Plan","digest":`+other+`}`))
	write("boundary.json", encoded(t, w.boundary))
	write("boundary-before.json", []byte(head+`"Boundary","plan":`+other+`}`))
	write("backup-before.json", []byte(head+`"ConnectOffsets","body":{"plan":`+other+`}}`))
	write("report.json", []byte(head+`"Report","plan":{"digest":`+other+`}}`))
	write("journal.jsonl", nil)
	write("positions.json", []byte(head+`"Positions"}`))
	write("proof.checkpoint.json", []byte(head+`"Checkpoint","plan":"`+w.plan.Digest+`"}`))
	write("proof.json", []byte(`{`))
	write("lock", nil)
	write(".plan.json.tmp", nil)
	if err := os.Mkdir(filepath.Join(dir, "a.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "report.md")); err != nil {
		t.Skip(err)
	}
	files, left, err := flinkmm2.CollectEvidence(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"boundary.json", "journal.jsonl", "plan-before.json", "plan.json", "positions.json"}, names); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	names = nil
	for _, l := range left {
		names = append(names, l.Name)
	}
	if diff := cmp.Diff([]string{"backup-before.json", "boundary-before.json", "lock", "proof.checkpoint.json", "proof.json", "report.json"}, names); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if _, err := flinkmm2.NewEvidence(packer, files...); err != nil {
		t.Error(err)
	}
}
