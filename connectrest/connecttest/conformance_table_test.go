package connecttest_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// cells are what the runs have put into the table of cases and versions.
type cells struct {
	versions []string

	mu      sync.Mutex
	of      map[cellKey]string // real workers
	ofTwins map[cellKey]string // connecttest
}

type cellKey struct{ name, version string }

func newCells(versions []string) *cells {
	return &cells{versions: versions, of: make(map[cellKey]string), ofTwins: make(map[cellKey]string)}
}

func (c *cells) real(version, name, cell string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[cellKey{name, version}] = cell
}

func (c *cells) simulated(version, name, cell string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ofTwins[cellKey{name, version}] = cell
}

// compare demands that connecttest has said the same as the real worker, in every
// cell in which both have said something.
func (c *cells) compare(t *testing.T) {
	t.Helper()
	for key, want := range c.of {
		if got, ok := c.ofTwins[key]; ok && got != want {
			t.Errorf("%s, %s: connecttest %q, the worker %q", key.version, key.name, got, want)
		}
	}
}

const (
	tableBegin = "<!-- written by make conformance: begin -->"
	tableEnd   = "<!-- written by make conformance: end -->"
)

// table is Markdown; an empty cell is an error.
func (c *cells) table() (string, error) {
	var b strings.Builder
	b.WriteString("| case |")
	for _, v := range c.versions {
		b.WriteString(" " + v + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(c.versions)) + "\n")
	for _, k := range conformanceCases() {
		b.WriteString("| " + k.name + " |")
		for _, v := range c.versions {
			cell := c.of[cellKey{k.name, v}]
			if cell == "" || c.ofTwins[cellKey{k.name, v}] == "" {
				return "", fmt.Errorf("%s, %s: no run has filled the cell", v, k.name)
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// write puts the table between the marks of a file.
func (c *cells) write(t *testing.T, file string) {
	t.Helper()
	table, err := c.table()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s: want the marks %s and %s, between which the table goes", file, tableBegin, tableEnd)
	}
	if err := os.WriteFile(file, []byte(before+tableBegin+"\n"+table+tableEnd+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A cell that no run has filled, of a real worker or of connecttest, is no table.
func TestTableWithAnEmptyCellIsRefused(t *testing.T) {
	versions := []string{"3.9.2", "4.3.1"}
	filled := func(leave func(c *cells)) *cells {
		c := newCells(versions)
		for _, k := range conformanceCases() {
			for _, v := range versions {
				c.real(v, k.name, "pass")
				c.simulated(v, k.name, "pass")
			}
		}
		leave(c)
		return c
	}
	empty := cellKey{conformanceCases()[3].name, "4.3.1"}
	for name, leave := range map[string]func(*cells){
		"no real worker": func(c *cells) { delete(c.of, empty) },
		"no connecttest": func(c *cells) { delete(c.ofTwins, empty) },
	} {
		if _, err := filled(leave).table(); err == nil || !strings.Contains(err.Error(), "4.3.1, "+empty.name+": no run has filled the cell") {
			t.Errorf("%s: %v", name, err)
		}
	}
	table, err := filled(func(*cells) {}).table()
	if err != nil || strings.Count(table, "\n") != len(conformanceCases())+2 {
		t.Errorf("a full table: %v\n%s", err, table)
	}
}

// The page is of this suite: all its cases in their order, all versions that
// matter, no cell empty.
func TestConformancePageIsOfThisSuite(t *testing.T) {
	text, err := os.ReadFile("../../docs/connect-conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), tableBegin+"\n")
	table, _, ok := strings.Cut(rest, tableEnd)
	if !ok {
		t.Fatalf("no table between %s and %s", tableBegin, tableEnd)
	}
	split := func(line string) []string {
		var fields []string
		for f := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			fields = append(fields, strings.TrimSpace(f))
		}
		return fields
	}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	versions := split(lines[0])[1:]
	for _, line := range []string{"3.6", "3.7", "3.9", "4.0", "4.3"} {
		if !slices.ContainsFunc(versions, func(v string) bool { return strings.HasPrefix(v, line+".") }) {
			t.Errorf("no column of %s in %q", line, versions)
		}
	}
	var names, want []string
	for _, line := range lines[2:] {
		cells := split(line)
		names = append(names, cells[0])
		if len(cells) != len(versions)+1 || slices.Contains(cells, "") {
			t.Errorf("a cell is missing or empty: %s", line)
		}
		for i, cell := range cells[1:] {
			if cell != "pass" && !strings.HasPrefix(cell, "not served by this version: ") {
				t.Errorf("%s, %s: %q", versions[i], cells[0], cell)
			}
		}
	}
	for _, c := range conformanceCases() {
		want = append(want, c.name)
	}
	diff(t, "cases of the page; make conformance writes them", want, names)
}
