package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// handBack is the word of the person who lets C' be given to Flink, committed to a
// group or written into a savepoint. It is given with the command and not in
// migration.yaml, where the word of an earlier night would be found again.
type handBack struct {
	group, flinkStopped, by, reason string
	savepoint, from                 string // folders
	withoutCommittables             bool
	form                            string
	choices                         bool
	cmd                             *cobra.Command
}

func (h *handBack) flags(cmd *cobra.Command) {
	h.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&h.group, "commit-group", "", "commit C' to this consumer group, the group.id that Flink will have")
	f.StringVar(&h.savepoint, "rewrite-savepoint", "", "write the savepoint with C' in the place of its positions into this folder, which must not exist")
	f.StringVar(&h.from, "from", "", "the folder of the savepoint that the plan was made from, where it is not that of migration.yaml")
	f.BoolVar(&h.withoutCommittables, "without-committables", false, "leave out of the new savepoint the transactions that the sink had prepared, whose ids the brokers have dropped since")
	f.StringVar(&h.form, "form", "", "give out C' as starting offsets: initializer (Java, KafkaSource), legacy (Java, FlinkKafkaConsumer) or sql; or old-savepoint, to restore the savepoint of the plan")
	f.BoolVar(&h.choices, "choices", false, "change nothing: count what each way back would repeat and lose, at any time")
	f.StringVar(&h.flinkStopped, "flink-stopped", "", "attest how Flink ended: stopped-with-savepoint, canceled or failed")
	f.StringVar(&h.reason, "reason", "", "how you know that it ended so, and that nothing of it runs now")
	f.StringVar(&h.by, "by", osUser(), "who attests it")
}

// check refuses what says nothing without a way back to Flink, and several at once.
func (h *handBack) check() error {
	group, savepoint := h.cmd.Flags().Changed("commit-group"), h.cmd.Flags().Changed("rewrite-savepoint")
	for _, name := range []string{"from", "without-committables"} {
		if h.cmd.Flags().Changed(name) && !savepoint {
			return usagef("--%s is about a savepoint that is rewritten: give --rewrite-savepoint FOLDER too, or leave it out", name)
		}
	}
	form := h.cmd.Flags().Changed("form")
	switch {
	case h.choices && (group || savepoint || form):
		return usagef("--choices changes nothing, and --commit-group, --rewrite-savepoint and --form do: leave it out, or them")
	case group && savepoint, group && form, savepoint && form:
		return usagef("--commit-group, --rewrite-savepoint and --form are ways back, and Flink may go one alone: give one of them")
	case form:
		if !slices.Contains(theForms, h.form) {
			return usagef("--form %s: want one of %s", shown.Argument(h.form), strings.Join(theForms, ", "))
		}
		return nil
	case group:
		if err := flinkmm2.CheckGroup(h.group); err != nil {
			return usagef("--commit-group: %w", err)
		}
		return nil
	case savepoint:
		return h.checkFolders()
	}
	for _, name := range []string{"flink-stopped", "reason", "by"} {
		if h.cmd.Flags().Changed(name) {
			return usagef("--%s is about the way back to Flink: give --commit-group GROUP, --rewrite-savepoint FOLDER or --form FORM too, or leave it out", name)
		}
	}
	return nil
}

func (h *handBack) request(s *session) flinkmm2.GroupReturn {
	return flinkmm2.GroupReturn{Group: h.group, FlinkStopped: h.attested(), Acceptances: s.acceptedBack()}
}

// attested is the word, nil where none was given.
func (h *handBack) attested() *offsetmap.Attestation[offsetmap.FlinkEnd] {
	if h.flinkStopped == "" {
		return nil
	}
	return offsetmap.Attest(offsetmap.FlinkEnd(h.flinkStopped), h.by, h.reason)
}

// args are the arguments of the same command.
func (h *handBack) args() []string {
	return []string{"rollback", "--commit-group", h.group, "--flink-stopped", h.flinkStopped, "--reason", h.reason, "--by", h.by}
}

// acceptedBack are the acceptances of migration.yaml that are of the way back.
func (m *migration) acceptedBack() []offsetmap.Acceptance {
	return m.accepted(ofRollback)
}

// handBack commits the boundary to a group. What needs no cluster is asked
// first, before a rollback changes anything.
func (a *app) handBack(ctx context.Context, s *session, plan *offsetmap.Plan, to handBack) error {
	request := to.request(s)
	if err := request.Check(); err != nil {
		return &hintedError{err: fmt.Errorf("rollback refused, nothing was changed: %w", err), next: to.asked()}
	}
	boundary, err := a.boundaryOf(ctx, s, plan)
	if err != nil {
		return err
	}
	if boundary == nil {
		return &blockedError{err: fmt.Errorf("the rollback is done, and nothing was committed to group %s: the connector never ran, so there is no C'; start Flink from its savepoint, and not from its group", to.group)}
	}
	committed, err := s.steps.CommitBoundary(ctx, plan, boundary, request)
	if err != nil {
		return s.handBackAgain(err, to.args())
	}
	return a.printValue(committed, func(w io.Writer) { handBackTable(w, plan, committed) })
}

// handBackAgain says when the command of these arguments may be given again after an
// error of a hand-back.
func (s *session) handBackAgain(err error, args []string) error {
	switch {
	case errors.Is(err, flinkmm2.ErrOutcomeUnknown), errors.Is(err, flinkmm2.ErrNotJournaled): // it reads back first, and sends what is missing
		return &hintedError{err: err, next: args}
	case errors.Is(err, flinkmm2.ErrPartlyCommitted):
		return &hintedError{err: err, next: args, when: ", once the brokers take the rest; do not start Flink before"}
	case errors.Is(err, flinkmm2.ErrOvertaken):
		return &hintedError{err: err, next: args, when: ", once you know who acts there: " + filepath.Join(s.dir, journalFile) + " says it"}
	case errors.Is(err, flinkmm2.ErrNotKnown):
		return &hintedError{err: err, next: args, when: ", once that can be read"}
	default:
		return err
	}
}

// boundaryOf returns the boundary that an earlier rollback of the plan has
// written and a person may have read, or that of a rollback now. It is nil where
// nothing had been started.
func (a *app) boundaryOf(ctx context.Context, s *session, plan *offsetmap.Plan) (*flinkmm2.Boundary, error) {
	path := filepath.Join(s.dir, boundaryFile)
	if _, err := boundaryBefore(path, plan); err != nil {
		return nil, err
	}
	written, err := flinkmm2.ReadBoundary(path)
	switch {
	case err == nil && written.Plan == plan.Digest:
		a.note("taken: %s", path)
		return written, nil
	case err == nil:
		a.note("not taken: %s, which is of plan %s", path, written.Plan)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &hintedError{err: fmt.Errorf("nothing was changed: %w", err), next: []string{"rollback"}, when: ", which writes the boundary anew; then commit that one"}
	}
	quiet := *a // one document to stdout: the one of the commit
	quiet.out = io.Discard
	back, err := quiet.rollback(ctx, s, plan)
	if err != nil {
		return nil, err
	}
	if back.Boundary == nil { // then there will be no other
		return nil, a.printValue(back, func(w io.Writer) { a.rollbackTable(w, s, plan, back) })
	}
	a.note("rolled back: connector %s is STOPPED and stays", plan.Body.Connector.Name)
	return back.Boundary, nil
}

func handBackTable(w io.Writer, plan *offsetmap.Plan, c *flinkmm2.CommittedBoundary) {
	how := "committed and read back"
	if !c.Written {
		how = "as committed before; nothing was written"
	}
	fmt.Fprintf(w, "group %s holds C' of %d partitions, %s\n\n", c.Group, len(c.Partitions), how)
	line(w, "PARTITION", "C'", "BEFORE")
	for _, p := range c.Partitions {
		line(w, p.TopicPartition, p.Next, dash(p.Before))
	}
	fmt.Fprintln(w)
	for _, f := range c.Findings {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, "Flink %s, attested by %s: %s\n%s\n", c.FlinkStopped.Value, c.FlinkStopped.By, c.FlinkStopped.Reason, expiryText(c.Expiry))
	fmt.Fprintf(w, `
in Flink, start the job without a savepoint, with group.id %s, and
  - DataStream: OffsetsInitializer.committedOffsets(), without a reset strategy,
    so that a partition without an offset fails the job and none is skipped
  - SQL: 'scan.startup.mode' = 'group-offsets'
  - FlinkKafkaConsumer: setStartFromGroupOffsets(), and the property
    auto.offset.reset=none; by default it would go on at the latest record
restored state wins over a group's offsets: a job that restores a savepoint goes
on at C, and repeats all that was copied since
leave connector %s STOPPED: two would write
`, c.Group, plan.Body.Connector.Name)
}

func expiryText(e flinkmm2.OffsetExpiry) string {
	if e.Earliest == nil {
		return "when the brokers drop these offsets is not known: " + e.Unknown
	}
	return fmt.Sprintf("the brokers may drop these offsets from %s on (offsets.retention.minutes = %d): start Flink before", e.Earliest, *e.RetentionMinutes)
}

// theEnds are what --flink-stopped attests, for a person to choose from.
const theEnds = string(offsetmap.StoppedWithSavepoint + "|" + offsetmap.Canceled + "|" + offsetmap.Failed)

// asked are the arguments of the same command, with what it lacks for a person to
// fill in.
func (h *handBack) asked() []string {
	return append([]string{"rollback", "--commit-group", h.group}, h.word()...)
}

// word are the flags of what a person attests, with what is missing to be filled in.
func (h *handBack) word() []string {
	end := h.flinkStopped
	if !slices.Contains(strings.Split(theEnds, "|"), end) {
		end = theEnds
	}
	args := []string{"--flink-stopped", end, "--reason", cmp.Or(strings.TrimSpace(h.reason), "TEXT")}
	if h.cmd != nil && h.cmd.Flags().Changed("by") {
		args = append(args, "--by", cmp.Or(strings.TrimSpace(h.by), "NAME"))
	}
	return args
}

// handBackArgs are the arguments of the command that commits C', with what nobody
// but a person knows for them to fill in.
func (a *app) handBackArgs(s *session) []string {
	to := handBack{group: cmp.Or(s.Positions.Group, "GROUP")}
	return to.asked()
}

func (a *app) handBackCommand(s *session) string { return a.command(a.handBackArgs(s)...) }
