package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
)

func (a *app) statusCommand() *cobra.Command {
	return a.step("status", "Where the migration stands, and what comes next",
		`status says where the migration stands, with the command that leads on: from what
clusters, worker, Flink and state.dir/journal.jsonl show at this moment, not from
what ran last. Without a plan in state.dir it says whether there is a connector.

It says until when the plan can be started without losing records, and until when
each way back is open, each with what ends it; what cannot be seen stands as such.

It writes nothing, starts nothing and refuses nothing. Its exit status is 0 where the
next command would do what it says, 4 where the world no longer matches the plan, and
1 where it cannot be seen where the migration stands.`,
		"the command that it prints",
		func(ctx context.Context) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			plan, err := readPlan(s.dir)
			if err != nil && !errors.Is(err, errNoPlan) {
				return err
			}
			status, err := s.steps.Status(ctx, plan)
			if err != nil {
				return err
			}
			if err := a.printValue(status, func(w io.Writer) { a.statusTable(w, status) }); err != nil {
				return err
			}
			if len(status.Next.Command) > 0 {
				a.next(status.Next.Command...)
			}
			return status.Err()
		})
}

func (a *app) statusTable(w io.Writer, s *flinkmm2.Status) {
	line(w, "connector", s.Connector)
	line(w, "plan", dash(s.Plan))
	line(w, "stage", s.Stage)
	for _, why := range s.Why {
		line(w, "seen", why)
	}
	next := s.Next.Why
	if len(s.Next.Command) > 0 {
		next = strings.Join(s.Next.Command, " ") + ": " + next
	}
	line(w, "next", next)
	for _, digest := range s.Earlier {
		line(w, "earlier wave", digest)
	}
	if s.LatestStart != nil || len(s.LatestRollback) > 0 {
		fmt.Fprintln(w)
		line(w, "POSSIBLE", "AT LEAST UNTIL")
	}
	if s.LatestStart != nil {
		line(w, "start", *s.LatestStart)
	}
	for _, way := range s.LatestRollback {
		line(w, "back by "+way.Way, way.Latest)
	}
	if len(s.Against) > 0 {
		fmt.Fprintf(w, "\nWhat stands against the next step:\n\n")
		findingsTable(w, s.Against)
		remediesTable(w, remedies(s.Against, a.names()))
	}
	if len(s.Unknown) > 0 {
		fmt.Fprintf(w, "\nWhat could not be seen:\n\n")
		findingsTable(w, s.Unknown)
	}
}
