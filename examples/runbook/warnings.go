package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// warningLines writes warnings, each with its operator where it is about one: a
// job may have several sources.
func warningLines(w io.Writer, all []flinkstate.Warning) {
	for _, warning := range all {
		about := ""
		if warning.OperatorID != "" {
			about = ", operator " + called(warning.OperatorID, cmp.Or(warning.UID, warning.Name))
		}
		fmt.Fprintf(w, "\nwarning %s%s: %s\n", warning.Code, about, shown.Line(warning.Text))
	}
}

// explainWarnings names the command that says what follows from each kind of
// warning, and how to mend it: a warning has room for what was found.
func (a *app) explainWarnings(all []flinkstate.Warning) {
	var ids []string
	for _, warning := range all {
		if c, known := warningCheck(warning.Code); known {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		a.note("hint: runbook explain %s", id)
	}
}

// warningCheck is the check that judges warnings of a code when a plan is made.
func warningCheck(code flinkstate.WarningCode) (preflight.Check, bool) {
	return preflight.Explain("flink/" + string(code))
}
