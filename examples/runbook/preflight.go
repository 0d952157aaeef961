package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// findingsDocument is what preflight prints as JSON.
type findingsDocument struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Blocked    bool                `json:"blocked"`
	Findings   []offsetmap.Finding `json:"findings"`
	Rows       []offsetmap.Row     `json:"rows"` // empty when anything blocks
}

func (a *app) preflightCommand() *cobra.Command {
	return a.step("preflight", "Look for everything that is in the way",
		`preflight runs every check over both clusters, the worker, the connector, the
savepoint and, where flink names a server, the old job, and decides every
partition as plan would. It lists everything that it finds, with the way to mend
it.

It writes nothing, neither to a cluster nor to state.dir. It ends with 3 when
something blocks. runbook explain ID says more about a check.`,
		"runbook -f migration.yaml plan",
		func(ctx context.Context) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			request, err := s.request(ctx)
			if err != nil {
				return err
			}
			report, err := s.steps.Preflight(ctx, request)
			if err != nil {
				return fmt.Errorf("preflight: %w", err)
			}
			blocked := report.Err()
			d := findingsDocument{
				APIVersion: offsetmap.APIVersion, Kind: "Preflight", Blocked: blocked != nil,
				Findings: append([]offsetmap.Finding{}, report.Findings...), Rows: append([]offsetmap.Row{}, report.Rows...),
			}
			if err := a.printValue(d, func(w io.Writer) { preflightTable(w, d, report.Group != nil) }); err != nil {
				return err
			}
			if blocked != nil {
				return fmt.Errorf("preflight: %w", blocked)
			}
			a.next("plan")
			return nil
		})
}

func preflightTable(w io.Writer, d findingsDocument, group bool) {
	if len(d.Rows) > 0 {
		rowsTable(w, d.Rows, group)
		fmt.Fprintln(w)
	}
	findingsTable(w, d.Findings)
}

func findingsTable(w io.Writer, findings []offsetmap.Finding) {
	if len(findings) == 0 {
		fmt.Fprintln(w, "no findings")
		return
	}
	line(w, "FINDING", "CHECK", "ABOUT", "WHAT")
	for _, f := range findings {
		what := f.Detail
		if f.Accepted != nil {
			what = fmt.Sprintf("accepted by %s (%s): %s", f.Accepted.By, f.Accepted.Reason, what)
		}
		line(w, f.Severity, f.Check, dash(f.Scope), what)
	}
}
