package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var (
	// ErrMoved says that the world, or the plan file, no longer matches the
	// plan. Nothing was written.
	ErrMoved = errors.New("no longer matches the plan")
	// ErrOutcomeUnknown says that something that a decision needs could not be
	// found out, or that the answer to a write was lost and could not be read
	// back.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrNoProgress says that the connector runs and nothing moves although
	// records wait.
	ErrNoProgress = errors.New("running without progress")
	// ErrProofFailed says that records are missing, altered or out of order.
	ErrProofFailed = errors.New("proof failed")
	// ErrNotProven says that the bound passed before everything was proven.
	ErrNotProven = errors.New("not proven")
	// ErrApproval says that a start was not approved for this plan.
	ErrApproval = errors.New("not approved")
)

// RefusedError says why an act was refused. It is an ErrMoved or an
// ErrOutcomeUnknown; Findings lists every reason, sorted.
type RefusedError struct {
	Act      string
	Findings []offsetmap.Finding
	kind     error
}

// Error lists every reason on a line of its own.
func (e *RefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s refused, nothing was written: %v", e.Act, e.kind)
	for _, f := range e.Findings {
		b.WriteString("\n  " + strings.TrimPrefix(f.String(), string(offsetmap.Block)+" "))
	}
	return b.String()
}

// Unwrap returns ErrMoved or ErrOutcomeUnknown.
func (e *RefusedError) Unwrap() error { return e.kind }

func refused(goal engine.Goal, r *engine.Refusal) error {
	if r.Reason == engine.Blocked {
		return offsetmap.Blocked(r.Findings)
	}
	kind := ErrMoved
	if r.Reason == engine.Unknown {
		kind = ErrOutcomeUnknown
	}
	return &RefusedError{Act: string(goal), Findings: r.Findings, kind: kind}
}

// Exit statuses of programs built on this package. Two more, for a wrong usage
// (2) and for success (0), are the program's own matter.
const (
	ExitFailed     = 1 // unreadable savepoint, no connection, disk full
	ExitBlocked    = 3 // a finding blocks
	ExitMoved      = 4 // the world, or the file, no longer matches the plan
	ExitUnknown    = 5 // a write's answer was lost and could not be read back
	ExitNoProgress = 6
	ExitProof      = 7 // missing, altered or reordered records
	ExitNotProven  = 8 // not proven within the bound
)

// ExitStatus returns the exit status that stands for err, 0 for nil.
func ExitStatus(err error) int {
	var blocked *offsetmap.BlockedError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrProofFailed):
		return ExitProof
	case errors.Is(err, ErrNoProgress):
		return ExitNoProgress
	case errors.Is(err, ErrNotProven):
		return ExitNotProven
	case errors.Is(err, ErrOutcomeUnknown), errors.Is(err, connectrest.ErrOutcomeUnknown):
		return ExitUnknown
	case errors.Is(err, ErrMoved), errors.Is(err, offsetmap.ErrPlan), errors.Is(err, offsetmap.ErrEdited), errors.Is(err, offsetmap.ErrExpired), errors.Is(err, ErrApproval):
		return ExitMoved
	case errors.As(err, &blocked):
		return ExitBlocked
	case errors.Is(err, context.Canceled):
		return ExitFailed
	default:
		return ExitFailed
	}
}
