package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What the first page tells a newcomer to write and to type must be right.
func TestTheReadmeOfTheProjectIsRight(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(start string) string {
		_, after, found := strings.Cut(string(raw), start)
		text, _, closed := strings.Cut(after, "\n```\n")
		if !found || !closed {
			t.Fatalf("the README has no block that begins with %q", start)
		}
		return text + "\n"
	}
	path := filepath.Join(t.TempDir(), "migration.yaml")
	if err := os.WriteFile(path, []byte(block("```yaml\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := readMigration(path)
	if err != nil {
		t.Fatal(err)
	}
	attestsNothing(t, m)

	var a app
	known := map[string]*cobra.Command{}
	for _, c := range a.root().Commands() {
		known[c.Name()] = c
	}
	words := regexp.MustCompile(`(?m)^([a-z]+)(?: --([a-z-]+))?`).FindAllStringSubmatch(block("```sh\noffsets"), -1)
	for _, w := range append(words, []string{"", "offsets", ""}) {
		switch c := known[w[1]]; {
		case c == nil:
			t.Errorf("there is no command %s", w[1])
		case w[2] != "" && c.Flag(w[2]) == nil:
			t.Errorf("%s has no flag --%s", w[1], w[2])
		}
	}
	if len(words) < 9 {
		t.Errorf("%d commands", len(words))
	}
}
