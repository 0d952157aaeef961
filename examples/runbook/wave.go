package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (a *app) widenCommand() *cobra.Command {
	return a.step("widen", "Stop the connector and give it the config of another wave",
		`widen is the first step of another wave of topics under a connector that copies.
Put the new topics into connector.config (and topics) first. It checks that config,
stops the connector, waits until nothing has moved for connect.flushTimeout and a
second, gives it the config, and reads back that it has it and is STOPPED. The wave
before is the last plan of earlier, or state.dir/plan.json where the file has none; it
stands still until the next one is started. A config is never given to a connector that
runs: a topic that comes to it would be copied from its first record.

When the next wave is given up, put the config of the wave before into the file again:
widen gives the connector that one, once the next wave is rolled back; then continue.

It writes to Connect, and lines to state.dir/journal.jsonl. It can be run again, and
starts nothing.`,
		"name the plan before in earlier, then runbook -f migration.yaml plan --replace",
		func(ctx context.Context) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			return a.widen(ctx, s)
		})
}

func (a *app) widen(ctx context.Context, s *session) error {
	known, err := s.plans()
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, planFile)
	if n := len(s.Earlier); n > 0 {
		file = s.Earlier[n-1]
	}
	plan := known[file]
	if plan == nil {
		return &blockedError{err: fmt.Errorf("%w: %s", errNoPlan, file), next: []string{"plan"}}
	}
	beside, err := s.beside(ctx, plan, known)
	if err != nil {
		return err
	}
	done, err := s.steps.Widen(ctx, plan, beside)
	if err != nil {
		return err
	}
	if err := a.printValue(done, func(w io.Writer) {
		how := "has the config already"
		if done.Put {
			how = "has the config of the file now"
		}
		fmt.Fprintf(w, "connector %s %s\nconfig %s\n", s.Connector.Name, how, done.ConfigDigest)
		if len(done.Added) > 0 {
			fmt.Fprintf(w, "it copies besides, once their plan is started: %s\n", strings.Join(done.Added, ", "))
		}
		if len(done.Halted) > 0 {
			fmt.Fprintf(w, "it is STOPPED, and these stand still: %s\n", strings.Join(done.Halted, ", "))
		}
	}); err != nil {
		return err
	}
	switch {
	case done.ConfigDigest == plan.Body.Connector.Config:
		a.next("continue", "--digest", plan.Digest)
	case len(s.Earlier) > 0:
		a.next("plan", "--replace")
	default:
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		kept := filepath.Join(s.dir, "plan-"+short(content)+".json")
		if err := flinkmm2.WriteFile(kept, content); err != nil {
			return err
		}
		a.note("the plan before is kept as %s: name it in earlier", kept)
		a.next("plan", "--replace")
	}
	return nil
}

func (a *app) continueCommand() *cobra.Command {
	digest, by := "", osUser()
	cmd := a.step("continue", "Let a wave that stands still run again, on a person's word",
		`continue resumes the connector for a wave that was started before and stands still,
because the next wave was given up: widen had stopped it, or the rollback of that wave.
It is a person's act: --digest names the plan of the newest wave that goes on. The
connector must have the config of that plan again (widen), Connect must hold what it
held when the connector was stopped, and the source must still have what follows.
Plans of state.dir that were rolled back explain what Connect holds of their topics.

It writes lines to state.dir/journal.jsonl, and resumes the connector. RUNNING proves
nothing: watch does, from the start of that wave, with its plan as state.dir/plan.json.`,
		"runbook -f migration.yaml watch",
		func(ctx context.Context) error {
			approval, err := approvalOf("plan", digest, by, "runbook show prints it")
			if err != nil {
				return err
			}
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			return a.goOn(ctx, s, approval)
		})
	cmd.Flags().StringVar(&digest, "digest", "", "digest of the plan that is meant (required)")
	cmd.Flags().StringVar(&by, "by", by, "who gives the word")
	if err := cmd.MarkFlagRequired("digest"); err != nil {
		panic(errors.Join(errors.New("continue has no flag digest"), err)) // a slip of this file
	}
	return cmd
}

func (a *app) goOn(ctx context.Context, s *session, word flinkmm2.Approval) error {
	known, err := s.plans()
	if err != nil {
		return err
	}
	var plan *offsetmap.Plan
	for _, p := range known {
		if p.Digest == word.Digest {
			plan = p
		}
	}
	if plan == nil {
		return &blockedError{err: fmt.Errorf("no plan of %s, and none of earlier, has the digest %s", s.dir, word.Digest)}
	}
	beside, err := s.beside(ctx, plan, known)
	if err != nil {
		return err
	}
	started, err := s.steps.Continue(ctx, plan, word, beside)
	if err != nil {
		return err
	}
	return a.printValue(started, func(w io.Writer) {
		fmt.Fprintf(w, "connector %s is RUNNING with %d tasks, which proves nothing yet\nplan %s, continued by %s\n", s.Connector.Name, started.Tasks, started.Digest, word.By)
	})
}

// plans reads every plan of the state folder and of earlier, by file.
func (s *session) plans() (map[string]*offsetmap.Plan, error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "plan*.json"))
	if err != nil {
		return nil, err
	}
	out := map[string]*offsetmap.Plan{}
	for _, file := range slices.Concat(files, s.Earlier) {
		plan, err := flinkmm2.ReadPlan(file)
		if err != nil {
			return nil, err
		}
		out[file] = plan
	}
	return out, nil
}

// earlierPlans reads the plans that the file names.
func (s *session) earlierPlans() ([]*offsetmap.Plan, error) {
	var out []*offsetmap.Plan
	for i, file := range s.Earlier {
		plan, err := flinkmm2.ReadPlan(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("earlier[%d]: there is no file %s", i, file)
		}
		if err != nil {
			return nil, fmt.Errorf("earlier[%d]: %w", i, err)
		}
		out = append(out, plan)
	}
	return out, nil
}

// beside is what a step on the plan's wave is given: the other plans that were rolled
// back, as the library holds them to the journal, and acceptances.
func (s *session) beside(ctx context.Context, plan *offsetmap.Plan, known map[string]*offsetmap.Plan) (flinkmm2.WidenOptions, error) {
	o := flinkmm2.WidenOptions{Acceptances: s.accepted(func(a offsetmap.Acceptance) bool { return !ofRollback(a) && !ofRestore(a) })}
	entries, err := flinkmm2.NewFileJournal(filepath.Join(s.dir, journalFile)).Read(ctx)
	if err != nil {
		return o, err
	}
	back := map[string]bool{}
	for _, e := range entries {
		if e.Act == "rollback" {
			back[e.Plan] = e.Phase == flinkmm2.PhaseDone
		}
	}
	topics := map[string]bool{}
	for _, r := range plan.Body.Rows {
		topics[r.Topic] = true
	}
	for _, e := range plan.Body.Earlier {
		for _, p := range e.Partitions {
			topics[p.Topic] = true
		}
	}
	byDigest := map[string]*offsetmap.Plan{}
	for _, p := range known {
		ours := slices.ContainsFunc(p.Body.Rows, func(r offsetmap.Row) bool { return topics[r.Topic] })
		if p.Digest != plan.Digest && back[p.Digest] && !ours {
			byDigest[p.Digest] = p
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(byDigest)) {
		o.GivenUp = append(o.GivenUp, byDigest[digest])
	}
	return o, nil
}

// haltedText says which earlier waves stand still with a connector that a rollback has
// left STOPPED, and how they go on.
func (a *app) haltedText(w io.Writer, halted []string, plan *offsetmap.Plan) {
	if len(halted) == 0 {
		return
	}
	last := plan.Body.Earlier[len(plan.Body.Earlier)-1].Digest
	fmt.Fprintf(w, "\nthese topics of earlier waves stand still: %s\nput the config of their wave into the file again, then\n    %s\n    %s\n",
		strings.Join(halted, ", "), a.command("widen"), a.command("continue", "--digest", last))
}
