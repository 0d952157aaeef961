package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModulesAreFoundWhereTheGoCommandLooks(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".", "docker", "examples/runbook", "testdata/m", ".cache/m", "_old", "vendor/m"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "go.mod"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := findModules(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{root, filepath.Join(root, "docker"), filepath.Join(root, "examples", "runbook")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := findModules(filepath.Join(root, "docker", "..", "testdata")); err != nil {
		t.Errorf("a root named testdata: %v", err)
	}
	if _, err := findModules(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no go.mod under") {
		t.Errorf("no module: %v", err)
	}
}

func TestPackagesAreSplitByTheLab(t *testing.T) {
	const list = `
{"ImportPath":"m/p","Deps":["fmt"]}
{"ImportPath":"m/p.test","Deps":["fmt","github.com/flinkmm2/flinkmm2/internal/lab"]}
{"ImportPath":"m/p [m/p.test]","Deps":["github.com/flinkmm2/flinkmm2/internal/lab"]}
{"ImportPath":"github.com/flinkmm2/flinkmm2/internal/lab.test","Deps":["github.com/flinkmm2/flinkmm2/internal/lab [github.com/flinkmm2/flinkmm2/internal/lab.test]"]}
{"ImportPath":"m/q.test","Deps":["github.com/flinkmm2/flinkmm2/internal/label"]}
`
	got, err := testPrograms(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	for which, want := range map[selection][]string{
		selectLab:   {"m/p", "github.com/flinkmm2/flinkmm2/internal/lab"},
		selectPlain: {"m/q"},
		selectAll:   {"m/p", "github.com/flinkmm2/flinkmm2/internal/lab", "m/q"},
	} {
		if diff := cmp.Diff(want, got.of(which)); diff != "" {
			t.Errorf("%s: %s", which, diff)
		}
	}
}

func TestCommandLinesThatMakeNoSense(t *testing.T) {
	for line, want := range map[string]string{
		"-packages jvm":                          "want all, lab or plain",
		"-check-list -update-list":               "want one of them",
		"-check-list -- -run TestA":              "-run leaves tests out",
		"-update-list -- -race -test.skip=B":     "-test.skip=B leaves tests out",
		"-update-list -- --short":                "--short leaves tests out",
		"-none-left f -packages lab":             "goes with no other flag",
		"-none-left=f -check-list -packages=lab": "goes with no other flag",
	} {
		var out, errs strings.Builder
		code, err := run(t.Context(), t.TempDir(), strings.Fields(line), &out, &errs)
		if code != 2 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d, %v", line, code, err)
		}
	}
}
