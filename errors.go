package flinkmm2

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

var (
	// ErrMoved says that the world, or the plan file, no longer matches the plan.
	ErrMoved = errors.New("no longer matches the plan")
	// ErrNotKnown says that something that a decision needs could not be found
	// out.
	ErrNotKnown = errors.New("could not be found out")
	// ErrOutcomeUnknown says that what was written could not be read back, so that
	// nobody knows what stands there now.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrPartlyCommitted says that a group holds C' of some partitions only: Flink
	// must not start from it until all are committed.
	ErrPartlyCommitted = errors.New("committed in part")
	// ErrOvertaken says that somebody else wrote to the journal between the look
	// that an act was decided from and the act, which was therefore not done.
	ErrOvertaken = errors.New("somebody else acts on the connector at the same time")
	// ErrNotJournaled says that an act was done, and that its end could not be
	// written to the journal. Run it again.
	ErrNotJournaled = errors.New("the journal does not say so")
	// ErrNoProgress says that the connector runs and nothing moves although
	// records wait.
	ErrNoProgress = errors.New("running without progress")
	// ErrProgressWithoutRecords says that Connect stores source offsets of records
	// that the target does not have: a transform drops them, errors.tolerance skips
	// them, or the producer writes elsewhere. They are lost unless shown otherwise.
	ErrProgressWithoutRecords = errors.New("progress without records")
	// ErrProofFailed says that records are missing, altered or out of order.
	ErrProofFailed = errors.New("proof failed")
	// ErrNotProven says that the bound passed before everything was proven.
	ErrNotProven = errors.New("not proven")
	// ErrApproval says that a start was not approved for this plan.
	ErrApproval = errors.New("not approved")
)

// RefusedError says why an act was refused. It is an ErrMoved or an ErrNotKnown,
// from Watch an ErrNotProven.
type RefusedError struct {
	Act      string              // apply, verify, start, watch, rollback, commit-boundary, rewrite-savepoint, hand-back or old-savepoint
	Findings []offsetmap.Finding // every reason, sorted
	// Before lists what the same call had done before it was refused, such as
	// "write"; empty when nothing was changed.
	Before []string
	kind   error
}

// Error lists every reason on a line of its own, each with the way to mend it.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s refused", e.Act)
	if len(e.Before) == 0 {
		b.WriteString(", nothing was written")
	} else {
		fmt.Fprintf(&b, " after %s", strings.Join(e.Before, ", "))
	}
	fmt.Fprintf(&b, ": %v", e.kind)
	b.WriteString((&offsetmap.BlockedError{Findings: e.Findings, Remedies: preflight.Remedies(e.Findings)}).List())
	return b.String()
}

// Unwrap returns the kind of the refusal.
func (e *RefusedError) Unwrap() error { return e.kind }

func refused(goal engine.Goal, r *engine.Refusal, before []string) error {
	if r.Reason == engine.Blocked {
		return fmt.Errorf("%s: %w", goal, preflight.Blocked(r.Findings))
	}
	kind := ErrMoved
	if r.Reason == engine.Unknown {
		kind = ErrNotKnown
	}
	return &RefusedError{Act: string(goal), Findings: r.Findings, Before: before, kind: kind}
}

// Exit statuses of programs built on this package. Two more, for a wrong usage
// (2) and for success (0), are the program's own matter.
const (
	ExitFailed     = 1 // unreadable savepoint, no connection, disk full
	ExitBlocked    = 3 // a finding blocks; no position is stored, or it must be chosen whose
	ExitMoved      = 4 // the world, or the file, no longer matches the plan
	ExitUnknown    = 5 // a write's answer was lost and could not be read back
	ExitNoProgress = 6
	ExitProof      = 7 // missing, altered or reordered records, or progress without records
	ExitNotProven  = 8 // not proven within the bound
)

// ExitStatus returns the exit status that stands for err, 0 for nil.
func ExitStatus(err error) int {
	var blocked *offsetmap.BlockedError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrProofFailed), errors.Is(err, ErrProgressWithoutRecords):
		return ExitProof
	case errors.Is(err, ErrNoProgress):
		return ExitNoProgress
	case errors.Is(err, ErrNotProven):
		return ExitNotProven
	case errors.Is(err, ErrOutcomeUnknown), errors.Is(err, connectrest.ErrOutcomeUnknown), errors.Is(err, connectrest.ErrReadBack):
		return ExitUnknown
	case errors.Is(err, ErrMoved), errors.Is(err, offsetmap.ErrPlan), errors.Is(err, offsetmap.ErrEdited), errors.Is(err, offsetmap.ErrExpired), errors.Is(err, ErrApproval), errors.Is(err, ErrParts), errors.Is(err, ErrEvidence), errors.Is(err, ErrLocked), errors.Is(err, ErrLockLost):
		return ExitMoved
	case errors.As(err, &blocked), noPosition(err):
		return ExitBlocked
	default:
		return ExitFailed
	}
}

// noPosition says that what holds the positions was read, and that it has none
// to go on from, or several: nothing failed, and a person must decide.
func noPosition(err error) bool {
	return errors.Is(err, flinkstate.ErrNoPosition) || errors.Is(err, flinkstate.ErrSelector) ||
		errors.Is(err, flinkstate.ErrNoGroup) || errors.Is(err, flinkstate.ErrNoCommit) || errors.Is(err, flinkstate.ErrNotConsumerGroup)
}
