package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problems lists, sorted, what keeps the records from standing for the cells: a cell that
// has changed since, a record of no cell, and a record in which a record of the source is
// lost, an offset rewound, or more repeated than is allowed. A cell that was never run has
// no part in it: [Table] says so of it.
func Problems(cells []Cell, records map[string]Record) []string {
	var out []string
	known := map[string]bool{}
	for _, c := range cells {
		if known[c.ID()] {
			out = append(out, fmt.Sprintf("%s: two cells have this name", c.ID()))
		}
		known[c.ID()] = true
		r, ok := records[c.ID()]
		revision, err := c.Revision()
		switch {
		case err != nil:
			out = append(out, err.Error())
		case !ok:
		case r.Revision != revision:
			out = append(out, fmt.Sprintf("%s: is stale: it was recorded as revision %s and is %s now", c.ID(), r.Revision, revision))
		default:
			if err := r.check(); err != nil {
				out = append(out, fmt.Sprintf("%s: %v", c.ID(), err))
			}
		}
	}
	for id := range records {
		if !known[id] {
			out = append(out, id+": is a record of no cell")
		}
	}
	slices.Sort(out)
	return out
}

// Marks are the lines of a document between which the table stands.
const (
	From = "<!-- made by faults/cmd/faultmatrix from the records: do not edit -->"
	To   = "<!-- end of the table -->"
)

// NotRun stands in the table for the outcome of a cell that has no record.
const NotRun = "not run yet"

// Table renders the records of cells, one row for those that differ in a request alone.
func Table(cells []Cell, records map[string]Record) string {
	var b strings.Builder
	b.WriteString("| step | fault | when | cells | outcome | lost | rewound | repeated (allowed) |\n|---|---|---|---:|---|---:|---:|---:|\n")
	type row struct{ step, fault, when string }
	of := map[row][]Record{}
	var order []row
	for _, c := range cells {
		r, ok := records[c.ID()]
		if !ok {
			r.Ends = NotRun
		}
		at := row{c.Step, c.Fault, c.When}
		if c.At != "" {
			at.when = c.When + " a request"
			if c.When == during {
				at.when = "while a request is answered"
			}
		}
		if of[at] == nil {
			order = append(order, at)
		}
		of[at] = append(of[at], r)
	}
	for _, at := range order {
		var lost, rewound, repeated, allowed int
		ends := map[string]int{}
		for _, r := range of[at] {
			lost, rewound, repeated, allowed = lost+r.Lost, rewound+r.Rewound, repeated+r.Repeated, allowed+r.Allowed
			ends[r.Ends]++
		}
		var outcome []string
		for _, e := range slices.Sorted(maps.Keys(ends)) {
			if len(ends) > 1 {
				e = fmt.Sprintf("%d× %s", ends[e], e)
			}
			outcome = append(outcome, strings.ReplaceAll(e, "|", `\|`))
		}
		counted := fmt.Sprintf("%d | %d | %d (%d)", lost, rewound, repeated, allowed)
		if ends[NotRun] == len(of[at]) {
			counted = "– | – | –"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s |\n", at.step, at.fault, at.when, len(of[at]), strings.Join(outcome, "; "), counted)
	}
	return b.String()
}

// Insert puts a table between the marks of a document.
func Insert(document, table string) (string, error) {
	head, rest, ok := strings.Cut(document, From+"\n")
	_, tail, closed := strings.Cut(rest, To+"\n")
	if !ok || !closed {
		return "", errors.New("the document lacks the marks of the table")
	}
	return head + From + "\n\n" + table + "\n" + To + "\n" + tail, nil
}
