package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the text, the file is taken or refused with its name in every line.
func FuzzReadMigration(f *testing.F) {
	for _, name := range []string{sample, "testdata/migration.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "null", "[]", "1", "source: null", "source: {bootstrap: null}", "topics: [null]", "accept: [null]", "attest: {copyOnly: null}",
		"attest: {maxDuplicates: {value: 1e3, by: a, reason: b}}", "connector: {config: {a: null}}", "? [a]\n: b", "a: &a [*a]", "1: 2", "\xff",
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "migration.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readMigration(path)
		if err == nil {
			if len(m.Source.Bootstrap) == 0 || m.State.Dir == "" || !filepath.IsAbs(m.State.Dir) || m.Positions.From == "" || len(m.config) == 0 {
				t.Errorf("taken with something missing: %+v", m.migrationFile)
			}
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n  ") {
			if !strings.HasPrefix(line, path+": ") {
				t.Errorf("a line without the file's name: %q in %v", line, err)
			}
		}
	})
}

func TestOfferedCommandsCanBeTyped(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"migration.yaml":          "runbook -f migration.yaml plan",
		"my plans/migration.yaml": "runbook -f 'my plans/migration.yaml' plan",
		"it's.yaml":               `runbook -f 'it'\''s.yaml' plan`,
		"":                        "runbook plan",
	} {
		if got := (&app{file: file}).command("plan"); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}
