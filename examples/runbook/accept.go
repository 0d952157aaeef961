package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// acceptanceSection holds a person's words for points of the acceptance list.
type acceptanceSection map[flinkmm2.AcceptanceID]offsetmap.Attestation[string]

func (m *migration) checkAcceptance(p *problems) {
	for _, id := range slices.Sorted(maps.Keys(m.Acceptance)) {
		field := fmt.Sprintf("acceptance.%s", id)
		if !id.Attestable() {
			p.add(field, "no word stands for it: it is seen or not proven, or it is no point; runbook accept lists them")
			continue
		}
		a := m.Acceptance[id]
		p.require(field+".value", a.Value, "what is stated")
		if err := a.Check(); err != nil {
			p.add(field, "%w", err)
		}
	}
}

func (a *app) acceptCommand() *cobra.Command {
	between, proofPath := 10*time.Second, ""
	cmd := a.step("accept", "Show point by point whether the migration is done",
		`accept holds the migration that was started against the list by which it is accepted:
everything imported and read back, read from C on, nothing missing, running and
caught up, the image as agreed, a restart survived, no companion connectors, nothing
synchronised beside the records, topics and records as before. Each point is shown by
what was seen, attested by a person (acceptance in the migration file), or not proven;
nothing is shown that was not seen.

It looks at the connector twice, --between apart, takes the proofs that watch and watch
--after-restart have left (proof.json, restart-proof.json), and holds settings, rights,
groups and MirrorMaker's own topics against the baseline that start has written to the
journal. It writes state.dir/acceptance.json and changes nothing anywhere. It ends with
8 while a point is not proven.`,
		"runbook -f migration.yaml report",
		func(ctx context.Context) error {
			if between <= 0 {
				return usagef("--between %s: want a duration above 0", between)
			}
			return a.withPlan(func(s *session, plan *offsetmap.Plan) error {
				path := proofPath
				if path == "" {
					path = filepath.Join(s.dir, proofFile)
				}
				proof, err := flinkmm2.ReadProof(path)
				switch {
				case errors.Is(err, fs.ErrNotExist) && proofPath == "": // nothing was watched
				case err != nil:
					return err
				case proofPath == "" && !a.isOf(plan, proof.Plan, proofFile):
					proof = nil
				}
				after, err := flinkmm2.ReadProof(filepath.Join(s.dir, afterRestartFile))
				switch {
				case errors.Is(err, fs.ErrNotExist): // no restart was proven
				case err != nil:
					return err
				case !a.isOf(plan, after.Plan, afterRestartFile):
					after = nil
				}
				list, verdict := s.steps.AcceptanceList(ctx, plan, flinkmm2.AcceptanceRequest{Proof: proof, AfterRestart: after, Attested: s.Acceptance, Between: between})
				if list == nil {
					return verdict
				}
				return a.accepted(filepath.Join(s.dir, acceptanceFile), list, verdict)
			})
		})
	cmd.Flags().DurationVar(&between, "between", between, "the time between the two looks at the connector")
	cmd.Flags().StringVar(&proofPath, "proof", "", "another proof of the plan than state.dir/proof.json; proof merge joins those of shards")
	return cmd
}

// accepted prints and keeps a list, and returns what is not proven.
func (a *app) accepted(path string, list *flinkmm2.AcceptanceList, verdict error) error {
	names := a.names()
	for i, p := range list.Points {
		list.Points[i].Next = names.Fill(p.Next)
	}
	document, err := list.Encode()
	if err != nil {
		return err
	}
	if err := flinkmm2.WriteFile(path, document); err != nil {
		return err
	}
	if err := a.print(document, func(w io.Writer) { acceptanceTable(w, list) }); err != nil {
		return err
	}
	a.note("written: %s", path)
	if errors.Is(verdict, flinkmm2.ErrNotProven) { // the table has said why
		return acceptanceHint(list, fmt.Errorf("accept: %w: %d of %d points", flinkmm2.ErrNotProven, len(notProven(list)), len(list.Points)))
	}
	if verdict == nil {
		a.next("report")
	}
	return verdict
}

// notProven are the points that are not.
func notProven(list *flinkmm2.AcceptanceList) (out []flinkmm2.AcceptanceID) {
	for _, p := range list.Points {
		if p.State == flinkmm2.NotProven {
			out = append(out, p.ID)
		}
	}
	return out
}

// acceptanceHint names the next command: the step that is missing, or the words that a
// person has to add.
func acceptanceHint(list *flinkmm2.AcceptanceList, err error) error {
	open := notProven(list)
	var words []string
	for _, id := range open {
		if id.Attestable() {
			words = append(words, string(id))
		}
	}
	first := list.Points[slices.IndexFunc(list.Points, func(p flinkmm2.AcceptancePoint) bool { return p.State == flinkmm2.NotProven })]
	switch {
	case first.ID == flinkmm2.AcceptImported && len(first.Evidence) == 0:
		return &hintedError{err: err, next: []string{"start", "--digest", list.Plan}}
	case slices.Contains(open, flinkmm2.AcceptNothingMissing), slices.Contains(open, flinkmm2.AcceptRunning):
		return &hintedError{err: err, next: []string{"watch", "--until", "caught-up"}}
	case len(open) == 1 && open[0] == flinkmm2.AcceptRestart:
		return &hintedError{err: err, next: []string{"watch", "--mark-restart"}, when: ", then restart the workers, and prove it with --after-restart; or state in acceptance what is known of the restart"}
	case len(words) == len(open):
		return &hintedError{err: err, next: []string{"accept"}, when: ", once acceptance in the file states what is known of " + strings.Join(words, ", ")}
	default:
		return &hintedError{err: err, next: []string{"accept"}, when: ", once what the points say next is done"}
	}
}

func acceptanceTable(w io.Writer, list *flinkmm2.AcceptanceList) {
	line(w, "STATE", "POINT", "WHAT")
	for _, p := range list.Points {
		line(w, p.State, p.ID, p.Title)
		for _, e := range p.Evidence {
			line(w, "", "", "seen: "+e)
		}
		for _, o := range p.Open {
			line(w, "", "", "open: "+o)
		}
		if p.Attested != nil {
			line(w, "", "", fmt.Sprintf("attested by %s: %s (%s)", p.Attested.By, p.Attested.Value, p.Attested.Reason))
		}
		if p.Next != "" {
			line(w, "", "", "next: "+p.Next)
		}
	}
	fmt.Fprintf(w, "\n%d of %d points are shown or attested\nplan %s\n", len(list.Points)-len(notProven(list)), len(list.Points), list.Plan)
}
