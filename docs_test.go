package flinkmm2_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of what could have lost a record names tests that are there: one that
// was renamed or dropped leaves no row behind that nothing holds. That they run is
// held by .ci/tests.txt.
func TestLostRecordsAreHeldByTests(t *testing.T) {
	page, err := os.ReadFile("docs/lost-records.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOfAllModules(t)
	named := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what happened") {
			continue
		}
		rows++
		held := named.FindAllStringSubmatch(line, -1)
		if len(held) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, m := range held {
			if !tests[m[1]] {
				t.Errorf("there is no test %s, which is named in: %s", m[1], line)
			}
		}
	}
	if rows == 0 {
		t.Error("the table has no rows")
	}
}

func testsOfAllModules(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	tests := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
