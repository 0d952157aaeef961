package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// preflightKind is the kind of a findingsDocument.
const preflightKind = "Preflight"

// findingsDocument is what preflight prints as JSON, and what plan keeps of what it
// was made by.
type findingsDocument struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	CreatedAt  offsetmap.Time      `json:"createdAt"`
	Blocked    bool                `json:"blocked"`
	Findings   []offsetmap.Finding `json:"findings"`
	Rows       []offsetmap.Row     `json:"rows"` // empty when anything blocks
	// Results holds each check that was made, sorted by id.
	Results []preflight.Result `json:"results"`
	// Forecast is how many records will come twice; null when nobody looked for them.
	Forecast *preflight.Forecast `json:"forecast"`
	// Remedies says how to mend what was found beside what a reader should know.
	Remedies []preflight.Remedy `json:"remedies"`
	// LatestStart and LatestRollback are until when MirrorMaker 2 can be started without
	// loss, and the old job be restored where it stood.
	LatestStart    preflight.Latest `json:"latestStart"`
	LatestRollback preflight.Latest `json:"latestRollback"`
}

func (a *app) preflightCommand() *cobra.Command {
	show := false
	cmd := a.step("preflight", "Look for everything that is in the way",
		`preflight runs every check over both clusters, the worker, the connector, the
savepoint and, where flink names a server, the old job, and decides every
partition as plan would. It counts how the checks of each area ended, lists
everything that they found, says how to mend it, and how many records will come twice.
-o json also says of each check
what it has looked at.

It writes nothing, neither to a cluster nor to state.dir. It ends with 3 when
something blocks. runbook explain ID says more about a check.

With --show-records it also prints records around each C with their keys and values, and
whether the target has them. They are printed on stdout alone, and are in no file.`,
		"runbook -f migration.yaml plan",
		func(ctx context.Context) error {
			if show && a.output != "table" {
				return usagef("--show-records prints a table for a person, and none of -o %s", a.output)
			}
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			request, err := s.request(ctx)
			if err != nil {
				return err
			}
			var records samples
			if show {
				request.Sample = records.take
			}
			report, err := s.steps.Preflight(ctx, request)
			if err != nil {
				return fmt.Errorf("preflight: %w", err)
			}
			a.topics = report.Topics
			d := s.findingsOf(report)
			if err := a.printValue(d, func(w io.Writer) {
				preflightTable(w, d, report.Group != nil)
				if show {
					records.table(w)
				}
			}); err != nil {
				return err
			}
			if blocked := report.Err(); blocked != nil {
				return shownError{fmt.Errorf("preflight: %w", blocked)}
			}
			a.next("plan")
			return nil
		})
	cmd.Flags().BoolVar(&show, "show-records", false, "print records around each C, with their keys and values")
	return cmd
}

// findingsOf is the document of a report that was just made.
func (m *migration) findingsOf(r preflight.Report) findingsDocument {
	return findingsDocument{
		APIVersion: offsetmap.APIVersion, Kind: preflightKind, CreatedAt: offsetmap.At(time.Now()), Blocked: r.Err() != nil,
		Findings: append([]offsetmap.Finding{}, r.Findings...), Rows: append([]offsetmap.Row{}, r.Rows...),
		Results: append([]preflight.Result{}, r.Results...), Forecast: r.Forecast, Remedies: remedies(r.Findings, m.names(r.Topics)),
		LatestStart: preflight.LatestOf(r.LatestStart), LatestRollback: preflight.LatestOf(r.LatestRollback),
	}
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
