package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// withPlan opens the migration and its plan for a step.
func (a *app) withPlan(do func(s *session, plan *offsetmap.Plan) error) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	defer s.close()
	plan, err := readPlan(s.dir)
	if err != nil {
		return err
	}
	return do(s, plan)
}

func (a *app) applyCommand() *cobra.Command {
	return a.step("apply", "Write the plan's offsets to Connect, and read them back",
		`apply makes Connect hold M = C - 1 for every partition of the plan: it measures
everything again, writes what is still as it was when the plan was made, and
reads everything back.

It keeps what Connect holds before the first write as state.dir/offsets-DIGEST.json,
writes offsets to Connect, and lines to state.dir/journal.jsonl. It starts
nothing: the connector stays STOPPED. It can be run again, by a person or by a
Job that retries: a second run changes nothing, and a plan that was started or
rolled back is refused, so that the clock is never turned back.`,
		"runbook -f migration.yaml verify",
		func(ctx context.Context) error {
			return a.withPlan(func(s *session, plan *offsetmap.Plan) error {
				applied, err := s.steps.Apply(ctx, plan)
				if err != nil {
					return err
				}
				if a.backup != "" {
					a.note("what Connect held before is kept as %s", a.backup)
				}
				if err := a.printValue(applied, func(w io.Writer) {
					fmt.Fprintf(w, "%d of %d partitions written, all read back\nplan %s\n", len(applied.Written), applied.Partitions, applied.Digest)
				}); err != nil {
					return err
				}
				a.next("verify")
				return nil
			})
		})
}

func (a *app) verifyCommand() *cobra.Command {
	return a.step("verify", "Read back that Connect holds exactly the plan",
		`verify reads back that Connect holds exactly the plan's offsets, for a connector
that is STOPPED with the planned config, and that the source still has every
record from C on.

It writes nothing but a line to state.dir/journal.jsonl.`,
		"runbook -f migration.yaml start --digest DIGEST",
		func(ctx context.Context) error {
			return a.withPlan(func(s *session, plan *offsetmap.Plan) error {
				verified, err := s.steps.Verify(ctx, plan)
				if err != nil {
					return err
				}
				if err := a.printValue(verified, func(w io.Writer) {
					fmt.Fprintf(w, "Connect holds exactly the plan: %d partitions, nothing runs yet\nplan %s\n", verified.Partitions, verified.Digest)
				}); err != nil {
					return err
				}
				a.next("start", "--digest", plan.Digest)
				return nil
			})
		})
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// approvalOf is a person's word for what has the digest. seen says where they read it.
func approvalOf(what, digest, by, seen string) (flinkmm2.Approval, error) {
	switch {
	case !digestForm.MatchString(digest):
		return flinkmm2.Approval{}, usagef("--digest %q: want the %s's whole digest, sha256: and 64 hex digits, as %s", digest, what, seen)
	case by == "":
		return flinkmm2.Approval{}, usagef("--by: whose word is it? the operating system names no user")
	}
	return flinkmm2.Approval{Digest: digest, By: by}, nil
}

func (a *app) startCommand() *cobra.Command {
	digest, by := "", osUser()
	cmd := a.step("start", "Resume the connector, on a person's word",
		`start resumes the connector. It is a person's act: --digest names the plan that
they have read (runbook show prints it), whole, and there is no default.
Directly before, it measures ranges, topic ids, partitions, stored offsets,
config and tasks again: all must equal the plan. Flink is asked again too, where
flink names a server: the job must not run.

It writes the target's ends to state.dir/journal.jsonl first, without which
nothing could be proven later, and then resumes the connector. It is the only
subcommand that makes anything run. RUNNING proves nothing: watch does.`,
		"runbook -f migration.yaml watch",
		func(ctx context.Context) error {
			approval, err := approvalOf("plan", digest, by, "runbook show prints it")
			if err != nil {
				return err
			}
			return a.withPlan(func(s *session, plan *offsetmap.Plan) error {
				started, err := s.steps.Start(ctx, plan, approval)
				if err != nil {
					return err
				}
				if err := a.printValue(started, func(w io.Writer) {
					fmt.Fprintf(w, "connector %s is RUNNING with %d tasks, which proves nothing yet\nplan %s, started by %s\n", s.Connector.Name, started.Tasks, started.Digest, by)
					for _, f := range started.Doubts {
						fmt.Fprintln(w, shown.Line(f.String()))
					}
				}); err != nil {
					return err
				}
				a.next("watch")
				return nil
			})
		})
	cmd.Flags().StringVar(&digest, "digest", "", "digest of the plan that is meant (required)")
	cmd.Flags().StringVar(&by, "by", by, "who gives the word")
	if err := cmd.MarkFlagRequired("digest"); err != nil {
		panic(errors.Join(errors.New("start has no flag digest"), err)) // a slip of this file
	}
	return cmd
}

func osUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
