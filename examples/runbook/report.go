package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
	"github.com/flinkmm2/flinkmm2/report"
)

func (a *app) reportCommand() *cobra.Command {
	out := ""
	cmd := a.step("report", "Write what was decided, approved and proven into one page",
		`report joins the files of state.dir into one document: the plan, what the checks had
looked at, what was attested and accepted by whom, the journal with the word by
which it was started, the proof, the acceptance list, and C' after a rollback. A
person approves, audits or answers for a migration by it.

It writes report.html, report.md and report.json into state.dir, or into the folder
of --out. The page is one file: it needs no network, prints, and holds 100,000
partitions. It reaches no cluster and changes nothing else. A proof, a list or a
boundary of an earlier plan is left out, and the program says so.`,
		"open report.html; before the start, hand it to whoever approves the plan",
		func(context.Context) error {
			m, err := readMigration(a.file)
			if err != nil {
				return err
			}
			a.read = m
			if out == "" {
				out = m.State.Dir
			}
			return a.writeReport(m, out)
		})
	cmd.Flags().StringVar(&out, "out", "", "the folder for the three files (default state.dir)")
	return cmd
}

func (a *app) writeReport(m *migration, out string) error {
	d, err := a.documentOf(m)
	if err != nil {
		return err
	}
	var paths []string
	var document []byte // the last: that is the JSON
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{"report.html", d.WriteHTML}, {"report.md", d.WriteMarkdown}, {"report.json", d.WriteJSON}} {
		var text bytes.Buffer
		if err := file.write(&text); err != nil {
			return err
		}
		path := filepath.Join(out, file.name)
		if err := flinkmm2.WriteFile(path, text.Bytes()); err != nil {
			return err
		}
		paths, document = append(paths, path), text.Bytes()
	}
	if err := a.print(document, func(w io.Writer) {
		fmt.Fprintln(w, d.Summary)
		fmt.Fprintf(w, "plan %s\n", d.Plan.Digest)
	}); err != nil {
		return err
	}
	for _, path := range paths {
		a.note("written: %s", path)
	}
	return nil
}

// documentOf reads the files of a migration's state folder. All but the plan may be missing: then
// nothing was done, watched or rolled back yet.
func (a *app) documentOf(m *migration) (*report.Document, error) {
	dir := m.State.Dir
	plan, err := readPlan(dir)
	if err != nil {
		return nil, err
	}
	s := report.Sources{Plan: plan, Names: m.names(nil), At: time.Now(), Tool: offsetmap.Tool{Name: "runbook", Version: version()}}
	if s.Journal, err = flinkmm2.NewFileJournal(filepath.Join(dir, journalFile)).Read(context.Background()); err != nil {
		return nil, err
	}
	proof, err := readKind[flinkmm2.Proof](filepath.Join(dir, proofFile), flinkmm2.ProofKind)
	if err != nil {
		return nil, err
	}
	if proof != nil && a.isOf(plan, proof.Plan, proofFile) {
		s.Proof = proof
	}
	boundary, err := flinkmm2.ReadBoundary(filepath.Join(dir, boundaryFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && a.isOf(plan, boundary.Plan, boundaryFile) {
		s.Boundary = boundary
	}
	list, err := readKind[flinkmm2.AcceptanceList](filepath.Join(dir, acceptanceFile), flinkmm2.AcceptanceListKind)
	if err != nil {
		return nil, err
	}
	if list != nil && a.isOf(plan, list.Plan, acceptanceFile) {
		s.Acceptance = list
	}
	kept, err := readKind[findingsDocument](filepath.Join(dir, preflightFile), preflightKind)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		s.Preflight = &report.Preflight{At: kept.CreatedAt, Report: preflight.Report{Rows: kept.Rows, Findings: kept.Findings, Results: kept.Results, Forecast: kept.Forecast, LatestStart: kept.LatestStart.Fact(), LatestRollback: kept.LatestRollback.Fact()}}
	}
	return report.New(s)
}

// isOf says of a file of another plan, as an earlier one leaves behind that was
// replaced, that the report goes without it.
func (a *app) isOf(plan *offsetmap.Plan, digest, name string) bool {
	if digest == plan.Digest {
		return true
	}
	a.note("left out: %s is of another plan, %s", name, digest)
	return false
}

// readKind reads a file of one kind strictly; nil when there is none.
func readKind[T any](path, kind string) (*T, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file is no failure
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := offsetmap.DecodeKind(raw, kind, v); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// keepPreflight writes what the checks had looked at beside the plan that is made by it.
func keepPreflight(dir string, d findingsDocument) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return flinkmm2.WriteFile(filepath.Join(dir, preflightFile), append(text, '\n'))
}
