package flinkmm2

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Started is the outcome of Start.
type Started struct {
	Digest string `json:"digest"`
	Tasks  int    `json:"tasks"`
	// Doubts are warnings of start/overtaken: an offset that is above the plan's already,
	// of which it could not be told whether MirrorMaker 2 has copied that far. Watch
	// tells. Sorted.
	Doubts []offsetmap.Finding `json:"doubts"`
}

// Start resumes the connector, on a person's word. Directly before it, ranges,
// topic ids, partition sets, stored offsets, config and tasks must all equal
// the plan, no transaction may be open on the target but those that the plan
// accepts, the plan's group must not have moved, and Flink, where WithFlink
// gives somebody to ask, must not say that the job runs, or ended otherwise
// than the plan has it. The target's ends are then recorded durably, once per
// plan; Watch proves from there. Nothing else in this package ever resumes a
// connector.
//
// Start returns when the connector is RUNNING and has tasks, and its offsets are
// the plan's, or further on with the records copied: an offset that somebody wrote
// between the last look and the resume is refused as start/overtaken, an ErrMoved,
// while the connector runs; roll back then. That proves nothing yet: see Watch. A connector that runs without a task, or with a task
// that failed, is an ErrNoProgress.
func (m *Migration) Start(ctx context.Context, plan *offsetmap.Plan, approval Approval) (*Started, error) {
	return locked(ctx, m, "start", func(ctx context.Context) (*Started, error) { return m.startLocked(ctx, plan, approval) })
}

func (m *Migration) startLocked(ctx context.Context, plan *offsetmap.Plan, approval Approval) (*Started, error) {
	if err := approval.check(plan); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if _, err := m.reach(ctx, engine.Start, plan, approval.By); err != nil {
		return nil, err
	}
	status, err := m.awaitRunning(ctx)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	doubts, err := m.overtakenSinceResume(ctx, plan)
	if err != nil {
		return nil, err
	}
	return &Started{Digest: plan.Digest, Tasks: len(status.Tasks), Doubts: append([]offsetmap.Finding{}, doubts...)}, nil
}

// awaitRunning waits until the connector is RUNNING with every task RUNNING.
func (m *Migration) awaitRunning(ctx context.Context) (connectrest.Status, error) {
	const pause = 200 * time.Millisecond
	deadline := m.now().Add(m.startWait)
	for {
		status, err := m.cfg.Connect.Status(ctx, m.cfg.Connector)
		if err == nil && running(status) {
			return status, nil
		}
		if trace := m.failure(ctx, status); err == nil && trace != "" {
			return status, fmt.Errorf("%w: %s", ErrNoProgress, trace)
		}
		if !m.now().Before(deadline) {
			if err != nil {
				return status, err
			}
			return status, fmt.Errorf("%w: connector %s is %s with %d tasks, %s after its resume", ErrNoProgress, m.cfg.Connector, status.Connector.State, len(status.Tasks), m.startWait)
		}
		if err := m.sleep(ctx, pause); err != nil {
			return status, err
		}
	}
}

func running(s connectrest.Status) bool {
	for _, t := range s.Tasks {
		if t.State != connectrest.StateRunning {
			return false
		}
	}
	return s.Connector.State == connectrest.StateRunning && len(s.Tasks) > 0
}

// failure returns what FAILED and why, or nothing: the first line of the trace
// and its last cause, which is the one that a person can mend. Values of the
// connector's secret settings, which a trace may repeat, are taken out.
func (m *Migration) failure(ctx context.Context, s connectrest.Status) string {
	var what, trace string
	if s.Connector.State == connectrest.StateFailed {
		what, trace = "the connector", s.Connector.Trace
	}
	for _, t := range s.Tasks {
		if what == "" && t.State == connectrest.StateFailed {
			what, trace = fmt.Sprintf("task %d", t.ID), t.Trace
		}
	}
	if what == "" {
		return ""
	}
	info, err := m.cfg.Connect.Connector(ctx, m.cfg.Connector)
	if err != nil {
		return what + " FAILED; its trace is not shown, since the config that says what is secret in it could not be read"
	}
	line, rest, _ := strings.Cut(trace, "\n")
	if _, cause, more := cutLast(rest, "Caused by: "); more {
		cause, _, _ = strings.Cut(cause, "\n")
		line += ": " + cause
	}
	return what + " FAILED: " + info.Config.Scrub(line)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
