package flinkmm2_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The table of what could have lost a record names tests that a whole run passes:
// one that was renamed or dropped leaves no row behind that nothing holds.
func TestLostRecordsAreHeldByTestsThatRun(t *testing.T) {
	page, err := os.ReadFile("docs/lost-records.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(".ci/tests.txt")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "/")
		runs[name] = true
	}
	test := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what happened") {
			continue
		}
		rows++
		named := test.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, m := range named {
			if !runs[m[1]] {
				t.Errorf("%s is none of the tests of .ci/tests.txt: %s", m[1], line)
			}
		}
	}
	if rows == 0 {
		t.Error("the table has no rows")
	}
}
