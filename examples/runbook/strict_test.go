package main

import (
	"fmt"
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
		"---\nsource: {}\n---\ntopics: [a]", "{}\nsource: {}", "topics: [a]\n...\n# end\n", "%YAML 1.1\n--- {}\n...",
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

// What stands behind the first document would be read by nobody.
func TestTextAfterTheFirstDocumentIsRefused(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{ // 0: it is one document
		"":                              0,
		"a: b\n":                        0,
		"# why\n---\na: b\n":            0,
		"\ufeff---\na: b\n":             0,
		"%YAML 1.1\n---\na: b\n":        0,
		"--- {a: b}\n":                  0,
		"a: b\n...\n":                   0,
		"a: b\n...\n\n  # the end\n":    0,
		"a: |\n  ---\n  ...\n":          0,
		"a: b # ---\n#---\n":            0,
		"{\n\"a\": \"--- b\"\n}\n\n":    0,
		"a: b\n---\nc: d\n":             2,
		"a: b\n---":                     2,
		"a: b\n---\nc: [\n":             2,
		"---\na: b\n# why\n---\nc: d\n": 4,
		"---\n---\na: b\n":              2,
		"a: b\r\n---\r\nc: d\r\n":       2,
		"a: b\n...\ngarbage: [":         3,
		"a: b\n...\n\n---\nc: d\n":      4,
		"...\na: b\n":                   0, // what is read
		"{a: b}\nc: d\n":                2,
		"{a: b}\n\n{c: d}\n":            3,
		"  a: b\n# why\nc: d\n":         3,
	} {
		err := oneDocument([]byte(text))
		if line == 0 && err != nil || line > 0 && (err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", line))) {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
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
