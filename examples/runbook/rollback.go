package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (a *app) rollbackCommand() *cobra.Command {
	var to handBack
	cmd := a.step("rollback", "Go back, all the way or not at all",
		`rollback goes back. Before the start it puts Connect's offsets back as they were
when the plan was made, reads them back, and deletes the connector if create
made it; Flink then goes on from its savepoint. After the start it stops the
connector, waits until nothing moves any more, compares the end of the target with
the source, and says where Flink goes on: C' = M + 1 of every partition, or beyond
that as far as the target has everything already. That takes at least connect.flushTimeout and a
second (by default 31 seconds), and again as long for each time that something
moved; it tells what it waits for.

With --commit-group it also commits C' to that consumer group on the source, for
a Flink job that starts from its group's offsets. A boundary that an earlier
rollback of this plan has written is taken as it is, as long as it still holds;
otherwise the rollback comes first. It refuses unless you say how Flink ended and
that nothing of it runs now (--flink-stopped, --reason): its source never joins
the group, so no broker can show it. Without your word nothing at all is done.
Where nothing had been started there is no C' to commit: the rollback is done,
and the exit status is 3, so that nobody starts Flink from its group then.

With --rewrite-savepoint it writes a savepoint that holds C': the one that the plan
was made from, which stays as it is, with other positions and nothing else changed.
Flink restores it with all state of the job, and each record comes once. The
same words are needed, and a boundary goes one way: from a group that has it
Flink may run, and from a savepoint too.

With --form it prints C' for a job that starts without a savepoint, as Java or as SQL
options, or, as old-savepoint, says that the savepoint of the plan is restored, which
needs no C' and repeats all that was copied. The same words are needed, the journal
keeps which form it was, and no plan can be made from that savepoint afterwards.

With --choices it writes and stops nothing. It counts, on the source and at the end of
the target, how many records each of these ways would repeat, and what has expired;
while the connector runs that is of the moment, and what it has copied since its last
commit is not known.

Otherwise it writes to Connect, to state.dir/journal.jsonl and, after a start, to
state.dir/boundary.json, beside which the boundary of another plan is kept. With
--commit-group it writes to the group, all partitions in one request, and reads
them back; brokers may take only some of them, and then it fails and says so:
start Flink only after a run that has committed all. It never starts Flink, and
never resumes the connector. The plan can then be neither applied nor started
again. Acceptances of checks that begin with rollback/ are its own; those of the
plan say nothing here.`,
		"start Flink as it says; or runbook -f migration.yaml plan --replace, to go forward again",
		func(ctx context.Context) error {
			if err := to.check(); err != nil {
				return err
			}
			err := a.withPlan(func(s *session, plan *offsetmap.Plan) error {
				switch {
				case to.choices:
					return a.choices(ctx, s, plan)
				case to.group != "":
					return a.handBack(ctx, s, plan, to)
				case to.savepoint != "":
					return a.rewriteSavepoint(ctx, s, plan, to)
				case to.form != "":
					return a.handForm(ctx, s, plan, to)
				}
				_, err := a.rollback(ctx, s, plan)
				return err
			})
			if errors.Is(err, errNoPlan) {
				return a.noWayBack(err)
			}
			return err
		})
	to.flags(cmd)
	return cmd
}

// noWayBack says what is left to whoever has lost the plan, or the folder that
// holds it: a new plan is of no use to them.
func (a *app) noWayBack(err error) error {
	return &blockedError{err: fmt.Errorf("%w; what was there before, and where Flink may go on, stand in the state.dir of the machine on which the plan was made: run rollback there, or bring that folder here. "+
		"If it is lost, stop the connector, wait until its status shows STOPPED and no task, and restore the job from its savepoint, which repeats all that was copied since and loses nothing that the source still has: curl -X PUT %s", err, shown.Argument(a.read.connectorURL()+"/stop"))}
}

// rollback goes back and writes the boundary, if there is one.
func (a *app) rollback(ctx context.Context, s *session, plan *offsetmap.Plan) (*flinkmm2.RolledBack, error) {
	path := filepath.Join(s.dir, boundaryFile)
	before, err := boundaryBefore(path, plan)
	if err != nil {
		return nil, err
	}
	back, err := s.steps.Rollback(ctx, plan, flinkmm2.RollbackOptions{Acceptances: s.acceptedBack()})
	if err != nil {
		return nil, err
	}
	if back.Boundary != nil {
		if before != nil {
			name := filepath.Join(s.dir, "boundary-"+short(before)+".json")
			if err := flinkmm2.WriteFile(name, before); err != nil {
				return nil, err
			}
			a.note("the boundary before is not of this plan, and kept as %s", name)
		}
		document, err := back.Boundary.Encode()
		if err != nil {
			return nil, err
		}
		if err := flinkmm2.WriteFile(path, document); err != nil {
			return nil, err
		}
		a.note("written: %s", path)
	}
	return back, a.printValue(back, func(w io.Writer) { a.rollbackTable(w, s, plan, back) })
}

// boundaryBefore returns what lies where the boundary will, unless it is one of
// the plan, which a later one replaces.
func boundaryBefore(path string, plan *offsetmap.Plan) ([]byte, error) {
	if is, err := os.Stat(path); err == nil && is.IsDir() {
		return nil, &hintedError{err: fmt.Errorf("nothing was changed: %s is a folder, and the boundary is a file of that name", path), next: []string{"rollback"}, when: ", once the folder is moved away; it writes the boundary anew"}
	}
	before, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(before) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if written, err := flinkmm2.ReadBoundary(path); err == nil && written.Plan == plan.Digest {
		return nil, nil
	}
	return before, nil
}

func (a *app) rollbackTable(w io.Writer, s *session, plan *offsetmap.Plan, back *flinkmm2.RolledBack) {
	name := plan.Body.Connector.Name
	if !back.Started {
		fmt.Fprintf(w, "nothing had been started; %d stored offsets are as they were before\n", len(back.Restored))
		if back.Deleted {
			fmt.Fprintf(w, "connector %s is deleted: create had made it\n", name)
		}
		fmt.Fprintln(w, untouchedText(len(back.Untouched), len(plan.Body.Rows)))
		fmt.Fprintf(w, "\nin Flink: restore the job from its savepoint, %s\n", savepointOf(plan))
		a.haltedText(w, back.Halted, plan)
		return
	}
	fmt.Fprintf(w, "connector %s is STOPPED and stays; Flink goes on at C'\n\n", name)
	line(w, "PARTITION", "C'", "COPIED SINCE C", "LOST", "REPEATED")
	var copied, lost int64
	for i, r := range back.Boundary.Partitions {
		next := back.Boundary.Next(r.TopicPartition)
		beyond, _ := next.Sub(r.Next) // copied, and not committed
		copied += r.Copied + beyond
		lost += r.Lost
		line(w, r.TopicPartition, next, r.Copied+beyond, r.Lost, atLeast(back.Boundary.Delivered[i].Beyond, back.Boundary.Delivered[i].Doubt != ""))
	}
	fmt.Fprintf(w, `
%s
in Flink, one of the four:
  - restore a savepoint that holds C', with all state of the job; it is to be
    written first, once nothing of Flink runs:
    %s
  - start the job without a savepoint, at these offsets: as Java for a KafkaSource
    or a FlinkKafkaConsumer, or as SQL, for one topic a table:
    %s
  - start it without a savepoint from its group's offsets, which are to be
    committed first, once nothing of Flink runs:
    %s
  - restore its savepoint, %s: always safe
    while the source has the records from C on; all that was copied since C,
    %d offsets, is repeated; the journal is to know it: --form old-savepoint
restored state wins over starting offsets and a group's: never do both
`, atTheBoundary(back.Boundary, lost), a.command(rewriteArgs()...), a.command(formArgs()...), a.handBackCommand(s), savepointOf(plan), copied)
	a.haltedText(w, back.Halted, plan)
	if back.ResumePending {
		fmt.Fprintf(w, `
a resume was sent, and nobody knows whether the worker has heard of it: should it
still be on its way, it starts the connector beside Flink. When Flink has C', and
before it runs, delete the connector; its offsets stay:
    curl -X DELETE %s
`, shown.Argument(a.read.connectorURL()))
	}
}

func savepointOf(plan *offsetmap.Plan) string {
	if plan.Body.Savepoint == nil {
		return "the one it was stopped with"
	}
	return strings.TrimSuffix(plan.Body.Savepoint.Location, "/_metadata")
}

// untouchedText says that nothing was written to the target, and what shows it.
func untouchedText(untouched, partitions int) string {
	switch untouched {
	case partitions:
		return fmt.Sprintf("nothing was written to the target: all %d partitions end where the plan saw them", partitions)
	case 0:
		return "whether the target's ends stand where the plan saw them is not known: there is no connector that names its topics"
	default:
		return fmt.Sprintf("nothing was written to the target: %d of %d partitions end where the plan saw them, and others may write to the rest, as accepted in the plan", untouched, partitions)
	}
}

// atTheBoundary says what is lost of the records, and what comes twice, where Flink goes
// on at C'.
func atTheBoundary(b *flinkmm2.Boundary, lost int64) string {
	out := "at C' nothing is lost"
	if lost > 0 {
		out = fmt.Sprintf("at C' %d offsets are lost, as accepted", lost)
	}
	switch n, doubts := b.Repeated(); {
	case len(doubts) > 0:
		const most = 5
		out += fmt.Sprintf(", and records may come twice: %d are known to", n)
		out += "\n  " + strings.Join(doubts[:min(most, len(doubts))], "\n  ")
		if rest := len(doubts) - most; rest > 0 {
			out += fmt.Sprintf("\n  and %d partitions more, in the file", rest)
		}
		return out
	case n > 0:
		return out + fmt.Sprintf(", and %d records come twice", n)
	default:
		return out + ", and nothing comes twice: the end of the target was compared with the source"
	}
}
