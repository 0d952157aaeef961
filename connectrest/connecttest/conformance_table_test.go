package connecttest_test

import (
	"fmt"
	"maps"
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

// column returns the cells of one version by case. One that no run of a real
// worker and of connecttest has filled is an error.
func (c *cells) column(version string) (map[string]string, error) {
	column := make(map[string]string)
	for _, k := range conformanceCases() {
		key := cellKey{k.name, version}
		if c.of[key] == "" || c.of[key] != c.ofTwins[key] {
			return nil, fmt.Errorf("%s, %s: no run has filled the cell", version, k.name)
		}
		column[k.name] = c.of[key]
	}
	return column, nil
}

// table is Markdown of columns by version; an empty cell is an error.
func table(columns map[string]map[string]string) (string, error) {
	versions := slices.SortedFunc(maps.Keys(columns), func(a, b string) int {
		if (&stage{version: a}).atLeast(b) {
			return 1
		}
		return -1
	})
	var b strings.Builder
	b.WriteString("| case | " + strings.Join(versions, " | ") + " |\n|---|" + strings.Repeat("---|", len(versions)) + "\n")
	for _, k := range conformanceCases() {
		b.WriteString("| " + k.name + " |")
		for _, v := range versions {
			if columns[v][k.name] == "" {
				return "", fmt.Errorf("%s, %s: no run has filled the cell", v, k.name)
			}
			b.WriteString(" " + columns[v][k.name] + " |")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// readTable reads what table writes.
func readTable(text string) (cases []string, columns map[string]map[string]string) {
	columns = make(map[string]map[string]string)
	var versions []string
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var fields []string
		for f := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			fields = append(fields, strings.TrimSpace(f))
		}
		switch {
		case n == 0:
			versions = fields[1:]
			for _, v := range versions {
				columns[v] = make(map[string]string)
			}
		case n > 1:
			cases = append(cases, fields[0])
			for i, v := range versions[:min(len(versions), len(fields)-1)] {
				columns[v][fields[0]] = fields[i+1]
			}
		}
	}
	return cases, columns
}

// write puts the columns of this run, each complete, between the marks of a file.
// Columns of other versions stay, and must have all cases too.
func (c *cells) write(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin+"\n")
	old, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s: want the marks %s and %s, between which the table goes", file, tableBegin, tableEnd)
	}
	_, columns := readTable(old)
	for _, v := range c.versions {
		column, err := c.column(v)
		if err != nil {
			t.Errorf("%v; the column of %s stays as it was", err, v)
			continue
		}
		columns[v] = column
	}
	written, err := table(columns)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before+tableBegin+"\n"+written+tableEnd+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A cell that no run has filled, of a real worker or of connecttest, is no table.
func TestTableWithAnEmptyCellIsRefused(t *testing.T) {
	empty := cellKey{conformanceCases()[3].name, "4.3.1"}
	filled := func() *cells {
		c := newCells([]string{empty.version})
		for _, k := range conformanceCases() {
			c.real(empty.version, k.name, "pass")
			c.simulated(empty.version, k.name, "pass")
		}
		return c
	}
	want := "4.3.1, " + empty.name + ": no run has filled the cell"
	for name, leave := range map[string]func(*cells){
		"no real worker": func(c *cells) { delete(c.of, empty) },
		"no connecttest": func(c *cells) { delete(c.ofTwins, empty) },
		"they differ":    func(c *cells) { c.ofTwins[empty] = "not served" },
	} {
		c := filled()
		leave(c)
		if _, err := c.column(empty.version); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	column, err := filled().column(empty.version)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]map[string]string{"4.3.1": column, "4.0.2": maps.Clone(column), "3.10.0": maps.Clone(column)}
	text, err := table(columns)
	if err != nil || !strings.HasPrefix(text, "| case | 3.10.0 | 4.0.2 | 4.3.1 |\n") {
		t.Errorf("a full table: %v\n%s", err, text)
	}
	_, again := readTable(text)
	diff(t, "the table, read again", columns, again)
	delete(columns["4.3.1"], empty.name)
	if _, err := table(columns); err == nil || err.Error() != want {
		t.Errorf("a hole in a column that stays: %v, want %q", err, want)
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
	page, _, ok := strings.Cut(rest, tableEnd)
	if !ok {
		t.Fatalf("no table between %s and %s", tableBegin, tableEnd)
	}
	cases, columns := readTable(page)
	for _, line := range []string{"3.6", "3.7", "3.9", "4.0", "4.3"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(columns)), func(v string) bool { return strings.HasPrefix(v, line+".") }) {
			t.Errorf("no column of %s", line)
		}
	}
	for v, column := range columns {
		for name, cell := range column {
			if cell != "pass" && !strings.HasPrefix(cell, "not served by this version: ") {
				t.Errorf("%s, %s: %q", v, name, cell)
			}
		}
	}
	var want []string
	for _, c := range conformanceCases() {
		want = append(want, c.name)
	}
	diff(t, "cases of the page; make conformance writes them", want, cases)
	if again, err := table(columns); err != nil || again != page {
		t.Errorf("the table of the page is not the one that these cells make: %v", err)
	}
}
