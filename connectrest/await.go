package connectrest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

const (
	minPoll = 100 * time.Millisecond
	maxPoll = time.Second
	// forever stands for a bound that only the context sets.
	forever = time.Duration(math.MaxInt64)
)

// errExpired ends a poll whose bound passed.
var errExpired = errors.New("the time for it has passed")

// poll calls probe, with growing pauses, until it is done. A transient failure
// of the probe counts as not done; any other ends the poll. Past the bound,
// poll returns errExpired with the last failure, if the last probe failed.
func (c *Client) poll(ctx context.Context, within time.Duration, probe func(context.Context) (bool, error)) error {
	start := c.clock.Now()
	left := within
	for pause := minPoll; ; pause = min(2*pause, maxPoll) {
		done, err := bounded(ctx, left, probe)
		switch {
		case err == nil && done:
			return nil
		case ctx.Err() != nil:
			return ended(ctx.Err(), err)
		case err != nil && !transient(err) && !errors.Is(err, ErrNoStatus) && !errors.Is(err, context.DeadlineExceeded):
			return err
		}
		if within != forever {
			if left = within - c.clock.Now().Sub(start); left <= 0 {
				return expired(err)
			}
		}
		if sleepErr := c.clock.Sleep(ctx, min(pause, left)); sleepErr != nil {
			return ended(sleepErr, err)
		}
	}
}

// bounded calls probe for at most the time that is left, and for a second at
// least, so that the last answer is not cut short.
func bounded(ctx context.Context, left time.Duration, probe func(context.Context) (bool, error)) (bool, error) {
	if left == forever {
		return probe(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, max(left, time.Second))
	defer cancel()
	return probe(ctx)
}

// ended is the end of the caller's context, with what failed last.
func ended(ctxErr, last error) error {
	if last == nil || errors.Is(last, ctxErr) {
		return cmp.Or(last, ctxErr)
	}
	return fmt.Errorf("%w: last: %w", ctxErr, last)
}

// expired does not wrap err's own deadline: what passed is the poll's bound,
// and not the caller's context.
func expired(err error) error {
	if err == nil {
		return errExpired
	}
	return fmt.Errorf("%w: last: %s", errExpired, err.Error())
}

// NotStoppedError says that a connector was not seen without tasks in state
// STOPPED. It is an [ErrNotStopped].
type NotStoppedError struct {
	Name string
	// State is empty when no status was seen.
	State State
	// Tasks are those of the last status, Configured those of the last answer
	// of GET /connectors/NAME.
	Tasks      []TaskStatus
	Configured []TaskID
	// Err says why the wait ended.
	Err error
}

// Error names the state and the tasks that are left.
func (e *NotStoppedError) Error() string {
	state := e.State
	if state == "" {
		state = "unknown"
	}
	return fmt.Sprintf("%v: connector %q has state %s and %s: %v", ErrNotStopped, e.Name, state, describeTasks(e.Tasks, e.Configured), e.Err)
}

// Unwrap returns ErrNotStopped and the reason.
func (e *NotStoppedError) Unwrap() []error { return []error{ErrNotStopped, e.Err} }

func describeTasks(tasks []TaskStatus, configured []TaskID) string {
	var parts []string
	for _, t := range tasks {
		parts = append(parts, fmt.Sprintf("task %d %s on %s", t.ID, t.State, t.WorkerID))
	}
	if len(parts) == 0 {
		for _, t := range configured {
			parts = append(parts, fmt.Sprintf("task %d configured", t.Task))
		}
	}
	if len(parts) == 0 {
		return "no task"
	}
	return restapi.Bound(strings.Join(parts, ", "), 512)
}

// AwaitStopped waits until the connector is STOPPED and has no task left,
// neither in its status nor in its configuration, which is what a worker
// demands before it alters offsets. It sends no stop, and waits until ctx ends:
// give it a deadline. What it saw last is in the [*NotStoppedError]. A connector
// that does not exist, or an answer that waiting cannot mend, ends the wait at
// once.
//
// A task that overran task.shutdown.graceful.timeout.ms may still commit an
// offset after that, for up to offset.flush.timeout.ms: see
// [Client.AwaitStableOffsets].
func (c *Client) AwaitStopped(ctx context.Context, name string) (Status, error) {
	return c.awaitStopped(ctx, name, forever)
}

func (c *Client) awaitStopped(ctx context.Context, name string, within time.Duration) (Status, error) {
	var status Status
	var info ConnectorInfo
	err := c.poll(ctx, within, func(ctx context.Context) (bool, error) {
		s, err := c.status(ctx, name, request{single: true})
		if err != nil {
			if !errors.Is(err, ErrNoStatus) {
				return false, err
			}
			// Whether the connector exists is not for the status to tell.
			if _, existsErr := c.connectorInfo(ctx, name, request{single: true}); existsErr != nil {
				err = existsErr
			}
			return false, err
		}
		status = s
		i, err := c.connectorInfo(ctx, name, request{single: true})
		if err != nil {
			return false, err
		}
		info = i
		return status.Connector.State == StateStopped && len(status.Tasks) == 0 && len(info.Tasks) == 0, nil
	})
	switch {
	case err == nil:
		return status, nil
	case ctx.Err() == nil && !errors.Is(err, errExpired):
		return status, err
	default:
		return status, &NotStoppedError{Name: name, State: status.Connector.State, Tasks: status.Tasks, Configured: info.Tasks, Err: err}
	}
}
