package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
	"github.com/flinkmm2/flinkmm2/report"
)

// exitUsage is the one exit status that is not the library's matter.
const exitUsage = 2

// usageError says that a command or, where inFile is set, migration.yaml is not
// as it must be.
type usageError struct {
	err    error
	inFile bool
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// blockedError says that a step waits for something else, such as an earlier
// step or a person's choice, and what to run then.
type blockedError struct {
	err  error
	next []string // arguments of the next command; nil when there is none
}

func (e *blockedError) Error() string { return e.err.Error() }
func (e *blockedError) Unwrap() error { return e.err }

// hintedError is an error after which one command is the right one.
type hintedError struct {
	err  error
	next []string // its arguments
	when string   // what to do before, or what it does; empty when nothing
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// exitStatus adds to the library's statuses what only this program knows.
func exitStatus(err error) int {
	var usage *usageError
	var blocked *blockedError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &blocked):
		return flinkmm2.ExitBlocked
	case errors.Is(err, report.ErrSources):
		return flinkmm2.ExitMoved
	default:
		return flinkmm2.ExitStatus(err)
	}
}

// report writes an error for a person: what happened and how to mend it, which
// the library's findings say, and the exact next command.
func (a *app) report(w io.Writer, command string, err error) {
	fmt.Fprintf(w, "runbook: %s\n", shown.Text(a.filled(err)))
	if hint := a.hint(command, err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", shown.Line(hint))
	}
}

// hint returns the command to run next, or where to look.
func (a *app) hint(command string, err error) string {
	var usage *usageError
	var waits *blockedError
	var hinted *hintedError
	var blocked *offsetmap.BlockedError
	var refused *flinkmm2.RefusedError
	var missing *flinkstate.MissingFilesError
	var selector *flinkstate.SelectorError
	var unread *unreadGroupError
	var unreached *net.OpError
	switch {
	case errors.As(err, &hinted):
		return a.command(hinted.next...) + hinted.when
	case errors.As(err, &usage) && usage.inFile:
		return a.command(command) + ", once the file is mended; migration.sample.yaml says what each field means"
	case errors.As(err, &usage):
		return strings.TrimSpace("runbook "+command) + " --help"
	case errors.As(err, &waits):
		if waits.next == nil {
			return ""
		}
		return a.command(waits.next...)
	case errors.As(err, &selector):
		return a.selectorHint(command, selector)
	case errors.As(err, &missing):
		return a.missingFilesHint(command, missing)
	case errors.Is(err, flinkstate.ErrNoMetadata):
		return a.noMetadataHint(command)
	case errors.Is(err, flinkstate.ErrNoPosition):
		return a.noPositionHint()
	case errors.Is(err, flinkstate.ErrNoGroup), errors.Is(err, flinkstate.ErrNoCommit):
		return a.names().Fill("`kafka-consumer-groups.sh --bootstrap-server <SOURCE> --list`") + " shows the groups; if its offsets have expired: " + flinkstate.OffsetExpiry
	case errors.As(err, &unread):
		return a.names().Fill(unread.hint())
	case command == "audit": // the migration may be long gone
		return ""
	case errors.Is(err, flinkmm2.ErrLocked) && a.read.Lock.Kafka:
		return a.command(command) + ", once that has ended; if it was killed, first " + a.command("unlock")
	case errors.Is(err, flinkmm2.ErrLocked):
		return a.command(command) + ", once that has ended"
	case errors.Is(err, flinkmm2.ErrProofFailed), errors.Is(err, flinkmm2.ErrProgressWithoutRecords):
		return a.command("rollback")
	case errors.Is(err, flinkmm2.ErrNoProgress):
		return a.command("watch") + ", after a look into the worker's log; or " + a.command("rollback")
	case errors.Is(err, flinkmm2.ErrNotProven):
		return a.command("watch")
	case errors.Is(err, flinkmm2.ErrOutcomeUnknown), errors.Is(err, connectrest.ErrOutcomeUnknown), errors.Is(err, connectrest.ErrReadBack):
		return a.command("verify")
	case errors.Is(err, flinkmm2.ErrApproval):
		return a.command("show") + ", and start with the digest that it prints"
	case errors.Is(err, offsetmap.ErrPlan), errors.Is(err, offsetmap.ErrEdited), errors.Is(err, offsetmap.ErrExpired):
		return a.command("plan", "--replace")
	case errors.As(err, &blocked):
		if slices.ContainsFunc(blocked.Findings, func(f offsetmap.Finding) bool { return f.Check == "connector/topics-widened" }) {
			return a.command("widen")
		}
		for _, f := range blocked.Findings {
			switch f.Check {
			case "connector/absent":
				return a.command("create")
			case otherConfig:
				return a.holdHint()
			}
		}
		if isHandBack(blocked.Findings) {
			return "runbook explain " + blocked.Findings[0].Check
		}
		if command == "rollback" {
			return a.command(command) + ", after mending, or accepting in the migration file, what can be"
		}
		if _, known := preflight.Explain(blocked.Findings[0].Check); known {
			return "runbook explain " + blocked.Findings[0].Check
		}
		return a.command(command) + ", once that is mended"
	case errors.As(err, &refused):
		return a.refusalHint(command, refused)
	case errors.As(err, &unreached) && (command == "offsets" || command == "inspect"):
		return "runbook offsets --help, which says where the address of a store and its credentials come from"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of state.dir and of the savepoint"
	default:
		return ""
	}
}

// refusalHint says how to go on when the world no longer fits the plan. Where
// nothing better is known, that takes a new plan.
func (a *app) refusalHint(command string, e *flinkmm2.RefusedError) string {
	has := map[string]bool{}
	runs := "" // the check by which the old job runs, or has run again
	for _, f := range e.Findings {
		has[f.Check] = true
		switch f.Check {
		case "flink/job-running", "flink/namesake-running", "flink/namesake-ran":
			runs = f.Check
		}
	}
	switch {
	case errors.Is(e, flinkmm2.ErrNotKnown) && has["flink/job-unknown"]:
		return a.command(command) + ", once Flink tells; if it never will again, accept flink/job-unknown in the file, and " + a.command("plan", "--replace")
	case errors.Is(e, flinkmm2.ErrNotKnown):
		return a.command(command) + ", once that can be read"
	case has["start/overtaken"]:
		return a.command("rollback") + " now, since the connector runs; then runbook explain start/overtaken"
	case isHandBack(e.Findings):
		return "runbook explain " + e.Findings[0].Check
	case runs != "":
		return "runbook explain " + runs
	case has["journal/other-plan"] && slices.Contains([]string{"rollback", "commit-boundary", "hand-back", "old-savepoint"}, e.Act):
		return a.command("rollback") + ", once " + filepath.Join(a.read.State.Dir, planFile) + " is the plan that the finding names; those that plan --replace has replaced lie beside it"
	case e.Act == "commit-boundary":
		return a.command("rollback") + ", which finds the boundary anew; then commit that one"
	case e.Act == "hand-back":
		return a.command("rollback") + ", which finds the boundary anew; then hand that one back"
	case e.Act == "old-savepoint":
		return a.command("rollback") + ", which stops the connector; then run this again"
	case command == "continue" && has["connector/config"]:
		return a.command("widen") + ", with the config of that wave in the file"
	case command == "widen", command == "continue", command == "restore":
		return "runbook explain " + e.Findings[0].Check
	case has["journal/started"]:
		return a.command("watch")
	case has["journal/rolled-back"]:
		return a.command("plan", "--replace")
	case has[otherConfig] && len(has) == 1:
		return a.holdHint() + ", and make a new plan: " + a.command("plan", "--replace")
	case has["connector/state"]:
		return "runbook explain connector/state"
	case has["offsets/not-applied"] && len(has) == 1:
		return a.command("apply")
	case command == "rollback", command == "watch":
		return a.command("show")
	default:
		return a.command("plan", "--replace")
	}
}

// otherConfig is the check that holds the connector to migration.yaml.
const otherConfig = "connector/other-config"

func (a *app) holdHint() string {
	return "mend " + shown.Argument(a.file) + "; or, while the connector is STOPPED, " + a.read.holdCommand()
}

// command is what a person types to run a subcommand on the same file.
func (a *app) command(args ...string) string {
	parts := []string{"runbook"}
	if a.file != "" {
		parts = append(parts, "-f", shown.Argument(a.file))
	}
	for _, arg := range args {
		parts = append(parts, shown.Argument(arg))
	}
	return strings.Join(parts, " ")
}

// isHandBack reports whether a finding is about the group or the savepoint that C' is
// given to, which another rollback does not mend.
func isHandBack(findings []offsetmap.Finding) bool {
	return slices.ContainsFunc(findings, func(f offsetmap.Finding) bool {
		return strings.HasPrefix(f.Check, "rollback/group-") || strings.HasPrefix(f.Check, "rollback/another-") ||
			f.Check == "rollback/savepoint-changed" || f.Check == "rollback/savepoint-expired" || f.Check == "rollback/partition-kept"
	})
}

// shownError is of findings that the output has shown already, all of them and how to mend
// them: said again they would only push that off the screen.
type shownError struct{ error }

func (e shownError) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), "\n")
	return text
}

func (e shownError) Unwrap() error { return e.error }
