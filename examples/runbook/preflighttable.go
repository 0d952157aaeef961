package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// mostOfACheck bounds how many findings of one check a table lists: of 10,000
// partitions each may have one.
const mostOfACheck = 10

func preflightTable(w io.Writer, d findingsDocument, group bool) {
	if len(d.Rows) > 0 {
		rowsTable(w, d.Rows, group)
		fmt.Fprintln(w)
	}
	areasTable(w, d.Results, d.Findings)
	fmt.Fprintln(w)
	findings, left := folded(d.Findings)
	findingsTable(w, findings)
	for _, l := range left {
		fmt.Fprintln(w, l)
	}
	remediesTable(w, d.Findings, d.Remedies)
}

// area is the part of a check's id before the slash.
func area(id string) string {
	a, _, _ := strings.Cut(id, "/")
	return a
}

// areaOrder is that in which a migration meets them; areas of a user's own checks come
// after these.
var areaOrder = []string{"source", "target", "worker", "connector", "config", "offsets", "flink", "boundary", "attest", "plan"}

// areasTable counts how the checks of each area ended.
func areasTable(w io.Writer, results []preflight.Result, findings []offsetmap.Finding) {
	type counts struct{ block, warn, info, passed, notMade, notAsked int }
	all := map[string]*counts{}
	of := func(id string) *counts {
		a := area(id)
		if all[a] == nil {
			all[a] = &counts{}
		}
		return all[a]
	}
	for _, r := range results {
		switch c := of(r.Check); r.State {
		case preflight.Passed:
			c.passed++
		case preflight.NotMade:
			c.notMade++
		case preflight.NotAsked:
			c.notAsked++
		case preflight.Found:
		}
	}
	for _, f := range findings {
		switch c := of(f.Check); f.Severity {
		case offsetmap.Block:
			c.block++
		case offsetmap.Warn:
			c.warn++
		case offsetmap.Info:
			c.info++
		}
	}
	areas := make([]string, 0, len(all))
	for a := range all {
		areas = append(areas, a)
	}
	place := func(a string) int {
		if i := slices.Index(areaOrder, a); i >= 0 {
			return i
		}
		return len(areaOrder)
	}
	slices.SortFunc(areas, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b)) })
	line(w, "AREA", "BLOCK", "WARN", "INFO", "PASSED", "NOT MADE", "NOT ASKED")
	for _, a := range areas {
		c := all[a]
		line(w, a, c.block, c.warn, c.info, c.passed, c.notMade, c.notAsked)
	}
}

// folded leaves the first findings of each check and severity, and says of how many
// it has left the rest out.
func folded(findings []offsetmap.Finding) (shown []offsetmap.Finding, left []string) {
	type key struct {
		severity offsetmap.Severity
		check    string
	}
	count := map[key]int{}
	var order []key
	for _, f := range findings {
		k := key{f.Severity, f.Check}
		if count[k] == 0 {
			order = append(order, k)
		}
		if count[k]++; count[k] <= mostOfACheck {
			shown = append(shown, f)
		}
	}
	for _, k := range order {
		if n := count[k] - mostOfACheck; n > 0 {
			left = append(left, fmt.Sprintf("and %d more of %s %s: -o json lists all", n, k.severity, k.check))
		}
	}
	return shown, left
}

// remedies are those of checks that have found something beside what a reader of the
// plan should know.
func remedies(findings []offsetmap.Finding) map[string]string {
	all := map[string]string{}
	for _, f := range findings {
		if check, known := preflight.Explain(f.Check); known && f.Severity != offsetmap.Info && check.Remedy != "" {
			all[f.Check] = check.Remedy
		}
	}
	return all
}

// remediesTable shows each remedy once, in the order in which findings name their checks.
func remediesTable(w io.Writer, findings []offsetmap.Finding, remedies map[string]string) {
	if len(remedies) == 0 {
		return
	}
	fmt.Fprintln(w)
	line(w, "CHECK", "TO MEND IT")
	told := map[string]bool{}
	for _, f := range findings {
		if remedy := remedies[f.Check]; remedy != "" && !told[f.Check] {
			told[f.Check] = true
			line(w, f.Check, remedy)
		}
	}
}
