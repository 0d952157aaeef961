package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
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
	deadlinesTable(w, d.LatestStart, d.LatestRollback)
	fmt.Fprintln(w)
	findings, left := folded(d.Findings)
	findingsTable(w, findings)
	for _, l := range left {
		fmt.Fprintln(w, l)
	}
	remediesTable(w, d.Remedies)
	forecastText(w, d.Forecast)
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
	all := map[string]map[string]int{}
	count := func(id, word string) {
		a := area(id)
		if all[a] == nil {
			all[a] = map[string]int{}
		}
		all[a][word]++
	}
	for _, r := range results {
		count(r.Check, string(r.State))
	}
	for _, f := range findings {
		count(f.Check, string(f.Severity))
	}
	areas := slices.Collect(maps.Keys(all))
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
		line(w, a, c[string(offsetmap.Block)], c[string(offsetmap.Warn)], c[string(offsetmap.Info)],
			c[string(preflight.Passed)], c[string(preflight.NotMade)], c[string(preflight.NotAsked)])
	}
}

// folded leaves the first findings of each check and severity, by which they are sorted,
// and says of how many it has left the rest out.
func folded(findings []offsetmap.Finding) (shown []offsetmap.Finding, left []string) {
	for len(findings) > 0 {
		f := findings[0]
		n := slices.IndexFunc(findings, func(o offsetmap.Finding) bool { return o.Severity != f.Severity || o.Check != f.Check })
		if n < 0 {
			n = len(findings)
		}
		shown = append(shown, findings[:min(n, mostOfACheck)]...)
		if more := n - mostOfACheck; more > 0 {
			left = append(left, fmt.Sprintf("and %d more of %s %s: -o json lists all", more, f.Severity, f.Check))
		}
		findings = findings[n:]
	}
	return shown, left
}

// deadlinesTable shows until when one can go on, and back, and why.
func deadlinesTable(w io.Writer, start, rollback preflight.Latest) {
	line(w, "POSSIBLE", "AT LEAST UNTIL")
	line(w, "start", start)
	line(w, "rollback", rollback)
}
