package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestExitStatusOfEveryError(t *testing.T) {
	blocking := []offsetmap.Finding{{Check: "source/unread", Severity: offsetmap.Block, Detail: "d"}}
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"anything else", errors.New("disk full"), ExitFailed},
		{"given up", context.Canceled, ExitFailed},
		{"blocked", offsetmap.Blocked(blocking), ExitBlocked},
		{"no position stored", &flinkstate.NoPositionError{}, ExitBlocked},
		{"none or several sources", &flinkstate.SelectorError{}, ExitBlocked},
		{"no such group", flinkstate.ErrNoGroup, ExitBlocked},
		{"a group of another kind", flinkstate.ErrNotConsumerGroup, ExitBlocked},
		{"a group without a commit", flinkstate.ErrNoCommit, ExitBlocked},
		{"no savepoint there", flinkstate.ErrNoMetadata, ExitFailed},
		{"savepoint that is cut", &flinkstate.CorruptError{}, ExitFailed},
		{"savepoint not read yet", &flinkstate.UnsupportedError{}, ExitFailed},
		{"savepoint without its files", &flinkstate.MissingFilesError{}, ExitFailed},
		{"moved", ErrMoved, ExitMoved},
		{"edited plan", offsetmap.ErrEdited, ExitMoved},
		{"expired plan", offsetmap.ErrExpired, ExitMoved},
		{"not a plan", offsetmap.ErrPlan, ExitMoved},
		{"another plan approved", ErrApproval, ExitMoved},
		{"refused by the world", refused(engine.Apply, &engine.Refusal{Reason: engine.Moved, Findings: blocking}, nil), ExitMoved},
		{"refused for want of facts", refused(engine.Apply, &engine.Refusal{Reason: engine.Unknown, Findings: blocking}, nil), ExitFailed},
		{"refused by the plan", refused(engine.Apply, &engine.Refusal{Reason: engine.Blocked, Findings: blocking}, nil), ExitBlocked},
		{"written, read-back never equal", connectrest.ErrReadBack, ExitUnknown},
		{"answer lost", connectrest.ErrOutcomeUnknown, ExitUnknown},
		{"no progress", ErrNoProgress, ExitNoProgress},
		{"progress without records", ErrProgressWithoutRecords, ExitProof},
		{"proof failed", ErrProofFailed, ExitProof},
		{"not proven", ErrNotProven, ExitNotProven},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, err := range []error{c.err, wrap(c.err)} {
				if got := ExitStatus(err); got != c.want {
					t.Errorf("ExitStatus(%v) = %d, want %d", err, got, c.want)
				}
			}
		})
	}
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("step: %w", err)
}

func TestRefusalListsEveryReason(t *testing.T) {
	err := refused(engine.Start, &engine.Refusal{Reason: engine.Moved, Findings: []offsetmap.Finding{
		{Check: "source/offset-expired", Severity: offsetmap.Block, Scope: "orders-0", Detail: "200 offsets are gone"},
		{Check: "connector/state", Severity: offsetmap.Block, Detail: "PAUSED"},
	}}, nil)
	for _, part := range []string{"start refused, nothing was written", "source/offset-expired orders-0: 200 offsets are gone", "connector/state: PAUSED"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
}

func TestRefusalAfterAWriteDoesNotDenyIt(t *testing.T) {
	err := refused(engine.Rollback, &engine.Refusal{Reason: engine.Moved, Findings: []offsetmap.Finding{
		{Check: "offsets/changed", Severity: offsetmap.Block, Scope: "orders-0", Detail: "d"},
	}}, []string{"stop"})
	if text := err.Error(); strings.Contains(text, "nothing was written") || !strings.Contains(text, "rollback refused after stop") {
		t.Error(text)
	}
}

func TestNewNamesEverythingThatIsMissing(t *testing.T) {
	_, err := New(Config{Connector: "a/b"})
	for _, part := range []string{"source admin", "target admin", "source client options", "target client options", "Connect client", "journal", "a/b"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

func TestApprovalNamesThePlanAndAPerson(t *testing.T) {
	plan := &offsetmap.Plan{Digest: "sha256:aa"}
	for name, c := range map[string]struct {
		approval Approval
		ok       bool
	}{
		"this plan":    {Approval{"sha256:aa", "li"}, true},
		"another plan": {Approval{"sha256:bb", "li"}, false},
		"no plan":      {Approval{"", "li"}, false},
		"a prefix":     {Approval{"sha256:a", "li"}, false},
		"nobody":       {Approval{"sha256:aa", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.approval.check(plan); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrApproval) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A trace of the worker may repeat a value of the config.
func TestFailureDoesNotRepeatSecrets(t *testing.T) {
	m := &Migration{cfg: Config{Connect: secretive{}}}
	status := connectrest.Status{
		Connector: connectrest.ConnectorStatus{State: connectrest.StateRunning},
		Tasks:     []connectrest.TaskStatus{{ID: 3, State: connectrest.StateFailed, Trace: "ConnectException: it failed\n\tat X\nCaused by: Y: jaas password=\"hunter22\" is wrong\n\tat Z"}},
	}
	text := m.failure(t.Context(), status)
	if strings.Contains(text, "hunter22") || !strings.Contains(text, "task 3 FAILED: ConnectException: it failed: Y: jaas") {
		t.Error(text)
	}
}

type secretive struct{ Connect }

func (secretive) Connector(context.Context, string) (connectrest.ConnectorInfo, error) {
	return connectrest.ConnectorInfo{Config: connectrest.Config{"producer.override.sasl.jaas.config": `X required password="hunter22";`}}, nil
}
