package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// checkFolders refuses folders that can never be read or written.
func (h *handBack) checkFolders() error {
	for _, f := range []struct{ flag, dir string }{{"rewrite-savepoint", h.savepoint}, {"from", h.from}} {
		switch {
		case f.flag == "rewrite-savepoint" && strings.TrimSpace(f.dir) == "":
			return usagef("--rewrite-savepoint: no folder is named")
		case inAStore(f.dir):
			return usagef("--%s %s: a local folder is wanted; copy the savepoint from there, or to there", f.flag, shown.Argument(f.dir))
		}
	}
	if _, err := os.Stat(h.savepoint); err == nil {
		// It may be what an earlier run has written; that is found out later.
		if _, err := os.Stat(filepath.Join(h.savepoint, "_metadata")); err != nil {
			return usagef("--rewrite-savepoint %s: it is there already, and is no savepoint: name a folder that is not", shown.Argument(h.savepoint))
		}
	}
	return nil
}

// inAStore reports whether a location is none of this machine.
func inAStore(location string) bool {
	u, err := url.Parse(location)
	return err == nil && len(u.Scheme) > 1 && u.Scheme != "file"
}

// rewriteArgs are the arguments of the command that writes a savepoint, with what
// nobody but a person knows for them to fill in.
func rewriteArgs() []string {
	h := handBack{savepoint: "FOLDER"}
	return h.askedForSavepoint()
}

func (h *handBack) askedForSavepoint() []string {
	args := []string{"rollback", "--rewrite-savepoint", h.savepoint}
	if h.from != "" {
		args = append(args, "--from", h.from)
	}
	if h.withoutCommittables {
		args = append(args, "--without-committables")
	}
	return append(args, h.word()...)
}

// rewriteSavepoint writes the boundary into a savepoint. What needs no cluster is asked
// first, before a rollback changes anything.
func (a *app) rewriteSavepoint(ctx context.Context, s *session, plan *offsetmap.Plan, to handBack) error {
	request := flinkmm2.SavepointReturn{
		From: cmp.Or(to.from, s.Positions.Savepoint), To: to.savepoint, Acceptances: s.acceptedBack(),
		Read:                []flinkstate.Option{flinkstate.WithPathMap(s.Positions.PathMap)},
		WithoutCommittables: to.withoutCommittables,
		FlinkStopped:        to.attested(),
	}
	if plan.Body.Savepoint == nil {
		return &hintedError{
			err:  &blockedError{err: errors.New("rollback refused, nothing was changed: the plan was made from a group alone, so no savepoint is known to be of its job")},
			next: (&handBack{group: plan.Body.Group.ID, flinkStopped: to.flinkStopped, reason: to.reason, by: to.by, cmd: to.cmd}).asked(),
			when: ", to commit C' to that group",
		}
	}
	again := to.askedForSavepoint()
	if err := request.Check(); err != nil {
		return &hintedError{err: fmt.Errorf("rollback refused, nothing was changed: %w", err), next: again}
	}
	if inAStore(request.From) {
		to.from = "FOLDER"
		return &hintedError{err: fmt.Errorf("nothing was changed: the savepoint lies at %s, and is rewritten in a local folder: copy it, all of its files", shown.Argument(request.From)), next: to.askedForSavepoint()}
	}
	boundary, err := a.boundaryOf(ctx, s, plan)
	if err != nil {
		return err
	}
	if boundary == nil {
		return &blockedError{err: errors.New("the rollback is done, and no savepoint was written: the connector never ran, so there is no C'; start Flink from the savepoint as it is")}
	}
	written, err := s.steps.RewriteSavepoint(ctx, plan, boundary, request)
	if err != nil {
		return s.handBackAgain(err, again)
	}
	return a.printValue(written, func(w io.Writer) { rewrittenTable(w, plan, written) })
}

func rewrittenTable(w io.Writer, plan *offsetmap.Plan, s *flinkmm2.RewrittenSavepoint) {
	how := "written and read back"
	if !s.Written {
		how = "as written before; nothing was written"
	}
	fmt.Fprintf(w, "savepoint %s holds C' of %d partitions, %s\n\n", s.Location, len(s.Splits), how)
	line(w, "PARTITION", "C'", "BEFORE", "SPLIT")
	for _, c := range s.Splits {
		before := dash(c.From)
		if !c.Marker.IsNone() {
			before = c.Marker.String()
		}
		line(w, c.TopicPartition, c.To, before, c.How)
	}
	fmt.Fprintln(w)
	for _, f := range s.Findings {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, `Flink %s, attested by %s: %s

in Flink, restore the job from it: flink run -s %s ...
the folder is whole by itself, and may be copied to where Flink reads it
the job is to have the uid of its source, and the topics that it had
%s
leave connector %s STOPPED: two would write
`, s.FlinkStopped.Value, s.FlinkStopped.By, s.FlinkStopped.Reason, shown.Argument(s.Location), committablesText(s), plan.Body.Connector.Name)
}

// committablesText says what a restored exactly-once sink does with its transactions.
func committablesText(s *flinkmm2.RewrittenSavepoint) string {
	if n := len(s.Committables); n > 0 {
		return fmt.Sprintf("%d transactions that its sink had prepared are left out of it", n)
	}
	return `an exactly-once sink commits again what it had prepared; where the job fails there
with InvalidPidMappingException, the brokers have dropped the transactional ids
(7 days by default): write it again, --without-committables, into another folder`
}
