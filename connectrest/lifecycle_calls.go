package connectrest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Stop asks for state STOPPED and returns when the worker has taken the request
// (KIP-875). The tasks may still run for a moment: see [Client.AwaitStopped]. It
// succeeds for a connector that is stopped.
func (c *Client) Stop(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return c.settle(ctx, 2, request{
		method: http.MethodPut, path: []string{"connectors", name, "stop"}, mode: write,
		connector: name, needs: featureStop,
	}, c.stateSeen(name, func(s Status) bool { return s.Connector.State == StateStopped }))
}

// Pause asks for state PAUSED and returns when the worker has taken the request.
// The tasks keep what they hold, so that offsets cannot be altered: for that,
// [Client.Stop] it. A STOPPED connector becomes PAUSED too.
func (c *Client) Pause(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return c.settle(ctx, 2, request{
		method: http.MethodPut, path: []string{"connectors", name, "pause"}, mode: write, connector: name,
	}, c.stateSeen(name, func(s Status) bool { return s.Connector.State == StatePaused }))
}

// Resume asks for state RUNNING and returns when the worker has taken the
// request; what comes of it is for [Client.Status] to tell. It is sent once,
// whatever the answer, and again only where no connection was made. When the
// answer is lost, the status is read back: if it does not show a start, the
// outcome is unknown, and the connector may start later.
func (c *Client) Resume(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return c.settle(ctx, 1, request{
		method: http.MethodPut, path: []string{"connectors", name, "resume"}, mode: sendOnce, connector: name, unseen: true,
	}, c.stateSeen(name, started))
}

// started reports whether s shows that a connector is to run. Its tasks show
// nothing: a PAUSED one keeps them, and right after a stop they are still there.
// Nor does RESTARTING, which a restart leaves in STOPPED too.
func started(s Status) bool {
	return s.Connector.State == StateRunning || s.Connector.State == StateFailed
}

// stateSeen is the read-back of a change of state, which is asynchronous.
func (c *Client) stateSeen(name string, is func(Status) bool) func(context.Context, time.Duration) error {
	return func(ctx context.Context, within time.Duration) error {
		var last State
		err := c.poll(ctx, within, func(ctx context.Context) (bool, error) {
			s, err := c.status(ctx, name, request{single: true})
			if err != nil {
				return false, err
			}
			last = s.Connector.State
			return is(s), nil
		})
		if errors.Is(err, errExpired) && last != "" {
			return fmt.Errorf("%w: the state is %s", errNotSeen, last)
		}
		return err
	}
}

// Delete deletes a connector. Its offsets stay, and a new connector of the same
// name goes on from them: see [Client.ResetOffsets], which must come before.
func (c *Client) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	lost := false
	err := c.settle(ctx, 2, request{
		method: http.MethodDelete, path: []string{"connectors", name}, mode: write, connector: name,
	}, func(ctx context.Context, within time.Duration) error {
		lost = true
		return c.absenceSeen(ctx, name, within)
	})
	if lost && errors.Is(err, ErrNotFound) {
		// The second request found what the first, whose answer was lost, did.
		return nil
	}
	return err
}

func (c *Client) absenceSeen(ctx context.Context, name string, within time.Duration) error {
	seen := false
	err := c.poll(ctx, within, func(ctx context.Context) (bool, error) {
		_, err := c.connectorInfo(ctx, name, request{single: true})
		if errors.Is(err, ErrNotFound) {
			return true, nil
		}
		seen = seen || err == nil
		return false, err
	})
	if errors.Is(err, errExpired) && seen {
		return fmt.Errorf("%w: the connector still exists", errNotSeen)
	}
	return err
}

// ResetActiveTopics empties the list of [Client.ActiveTopics]. A worker that
// does not allow it is an [ErrUnsupported].
func (c *Client) ResetActiveTopics(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return c.settle(ctx, 2, request{
		method: http.MethodPut, path: []string{"connectors", name, "topics", "reset"}, mode: write, connector: name,
	}, func(ctx context.Context, _ time.Duration) error {
		topics, err := c.ActiveTopics(ctx, name)
		if err == nil && len(topics) > 0 {
			err = fmt.Errorf("%w: %d topics are still listed", errNotSeen, len(topics))
		}
		return err
	})
}
