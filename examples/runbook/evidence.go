package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (a *app) evidenceCommand() *cobra.Command {
	out := ""
	cmd := a.step("evidence", "Pack all files of the migration into one archive",
		`evidence packs what state.dir holds of the plan into one archive: plan, positions,
journal, what Connect held before, proof, acceptance list, boundary and report, and
the plans of before. What is of another plan, or none of these, is left out, and said.
The savepoint itself is not packed: the plan has the SHA-256 of its files.

It writes state.dir/evidence.tar, or the file of --out, reads state.dir alone and
changes nothing else. The same files give the same bytes. It prints a digest: note it
in a ticket, so that later nobody can give you another bundle for this one.`,
		"runbook audit state/evidence.tar --digest DIGEST",
		func(context.Context) error {
			m, err := readMigration(a.file)
			if err != nil {
				return err
			}
			a.read = m
			if out == "" {
				out = filepath.Join(m.State.Dir, evidenceFile)
			}
			return a.packEvidence(m.State.Dir, out)
		})
	cmd.Flags().StringVar(&out, "out", "", "the archive (default state.dir/evidence.tar)")
	return cmd
}

func (a *app) packEvidence(dir, out string) error {
	if _, err := readPlan(dir); err != nil { // says what to do when there is none
		return err
	}
	files, left, err := flinkmm2.CollectEvidence(dir)
	if err != nil {
		return err
	}
	e, err := flinkmm2.NewEvidence(offsetmap.Tool{Name: "runbook", Version: version()}, files...)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := e.Encode(&archive); err != nil {
		return err
	}
	if err := flinkmm2.WriteFile(out, archive.Bytes()); err != nil {
		return err
	}
	if err := a.printValue(e, func(w io.Writer) {
		line(w, "FILE", "IS", "BYTES", "SHA-256")
		for _, f := range e.Body.Files {
			line(w, f.Name, f.Role, f.Size, f.SHA256)
		}
		fmt.Fprintf(w, "\nplan     %s\nevidence %s\n", e.Body.Plan, e.Digest)
	}); err != nil {
		return err
	}
	for _, f := range left {
		a.note("left out: %s: %s", f.Name, f.Why)
	}
	a.note("written: %s", out)
	a.note("next: runbook audit %s --digest %s", out, e.Digest)
	return nil
}

func (a *app) auditCommand() *cobra.Command {
	digest := ""
	cmd := a.step("audit FILE", "Say offline what an archive of evidence shows",
		`audit reads an archive that evidence has packed, and says point by point what it
shows: that the journal is as it was written and its acts in an order that is allowed,
that positions, backup, requests, start, proof, acceptance list, boundary and report
are of the plan and of each other, who did what when, and on whose word.

It takes no archive of which a single byte was changed. With --digest, the one that was
noted when it was packed, it takes no other archive either. What no file can show is
not said: that all clocks were right, and that the journal was not cut off at its end
before it was packed.

It needs no migration file, reaches no cluster, unpacks and writes nothing. It ends with
0 when every point that was reached is shown, with 4 when the archive is not what was
packed or its files contradict each other, and with 8 when a point is not shown.`,
		"keep the archive until the rollback window and your own retention have passed", nil)
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVar(&digest, "digest", "", "the digest that evidence has printed")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		a.reached = true
		if a.file != "" {
			return usagef("audit reads the archive alone: leave -f out")
		}
		return a.audit(args[0], digest)
	}
	return cmd
}

func (a *app) audit(path, digest string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	e, err := flinkmm2.ReadEvidence(f)
	_ = f.Close() // it was only read
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if digest != "" && digest != e.Digest {
		return fmt.Errorf("%s: %w: its digest is %s, and not %q", path, flinkmm2.ErrEvidence, e.Digest, digest)
	}
	report, verdict := e.Audit()
	if report == nil {
		return verdict
	}
	if err := a.printValue(report, func(w io.Writer) { auditTable(w, report) }); err != nil {
		return err
	}
	if digest == "" {
		a.note("with --digest, the one that was noted when it was packed, this is known to be the archive of that day")
	}
	return verdict
}

func auditTable(w io.Writer, r *flinkmm2.AuditReport) {
	fmt.Fprintf(w, "evidence %s\nplan     %s of connector %s\n", r.Evidence, r.Plan, r.Connector)
	for _, p := range r.Points {
		fmt.Fprintf(w, "\n%s: %s: %s\n", p.ID, p.State, p.Title)
		for _, list := range []struct {
			mark  string
			texts []string
		}{{"  ", p.Evidence}, {"  not shown: ", p.Open}, {"  against it: ", p.Against}} {
			for _, text := range list.texts {
				line(w, list.mark+text)
			}
		}
	}
}
