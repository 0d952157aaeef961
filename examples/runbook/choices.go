package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// choices says what each way back would cost, and changes nothing.
func (a *app) choices(ctx context.Context, s *session, plan *offsetmap.Plan) error {
	found, err := s.steps.RollbackChoices(ctx, plan, flinkmm2.ChoicesOptions{})
	if err != nil {
		return err
	}
	return a.printValue(found, func(w io.Writer) { choicesTable(w, plan, found) })
}

func choicesTable(w io.Writer, plan *offsetmap.Plan, c *flinkmm2.RollbackChoices) {
	fmt.Fprintf(w, "connector %s is %s at %s; nothing was changed\n\n", plan.Body.Connector.Name, c.State, c.At)
	if len(c.Partitions) > 0 {
		line(w, "PARTITION", "C", "M + 1", "C'", "SINCE C", "SINCE M + 1", "BEYOND C'", "EXPIRED")
		for _, p := range c.Partitions {
			line(w, p.TopicPartition, dash(p.C), p.Committed, p.Next, atLeast(p.SinceC, p.Uncounted > 0), p.SinceCommit, atLeast(p.Beyond, p.Doubt != ""), p.Expired)
		}
		fmt.Fprintln(w)
	}
	line(w, "FORM", "POSSIBLE", "REPEATED", "LOST", "WHY")
	for _, f := range c.Forms {
		possible := "yes"
		if !f.Possible {
			possible = "no"
		}
		line(w, f.Form, possible, atLeast(f.Repeated, !f.Certain), f.Lost, cmp.Or(f.Why, "-"))
	}
	fmt.Fprintln(w)
	doubts := map[string]bool{}
	for _, p := range c.Partitions {
		if p.Doubt != "" && !doubts[p.Doubt] {
			doubts[p.Doubt] = true
			fmt.Fprintf(w, "more may come again than is counted, as of %s: %s\n", p.TopicPartition, p.Doubt)
		}
	}
	for _, f := range c.Findings {
		fmt.Fprintln(w, f)
	}
	fmt.Fprint(w, `records are counted on the source: since C those that the old savepoint repeats;
since M + 1 those that Connect had not committed, and C' leaves behind
`)
}

// atLeast is a count that may be too low.
func atLeast(n int64, more bool) string {
	if more {
		return fmt.Sprintf("%d or more", n)
	}
	return strconv.FormatInt(n, 10)
}
