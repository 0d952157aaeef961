package connectrest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// RestartRequest says what [Client.Restart] restarts. The zero value is the
// connector alone, whatever its state.
type RestartRequest struct {
	// IncludeTasks restarts the tasks too.
	IncludeTasks bool
	// OnlyFailed restarts only what is FAILED.
	OnlyFailed bool
}

// Restart restarts a connector, its tasks, or what of them failed, and returns
// when the worker has taken the request. It does not leave STOPPED or PAUSED.
// With a part of r set it returns what the worker is going to restart, as
// RESTARTING; otherwise an empty Status. Those parts need Kafka 3.0 (KIP-745): an
// older worker would restart the connector alone without a word, and is an
// [ErrUnsupported].
//
// The status does not count restarts, and for a moment it may still be that from
// before. So no read-back shows whether a restart came through, and a lost answer
// is an [ErrOutcomeUnknown] at once.
func (c *Client) Restart(ctx context.Context, name string, r RestartRequest) (Status, error) {
	if err := CheckName(name); err != nil {
		return Status{}, err
	}
	req := request{method: http.MethodPost, path: []string{"connectors", name, "restart"}, mode: write, connector: name, unseen: true}
	if r == (RestartRequest{}) {
		return Status{}, c.do(ctx, req)
	}
	if err := c.require(ctx, featureRestart); err != nil {
		return Status{}, err
	}
	var out Status
	req.out, req.valid = &out, func() error { return out.check(name) }
	req.clean = cleanStatus(&out)
	req.query = url.Values{"includeTasks": {strconv.FormatBool(r.IncludeTasks)}, "onlyFailed": {strconv.FormatBool(r.OnlyFailed)}}
	err := c.do(ctx, req)
	return out, err
}

// RestartTask restarts one task and returns when the worker has taken the
// request. A task that does not exist is an [ErrNotFound]. What is said of lost
// answers of [Client.Restart] holds here too.
func (c *Client) RestartTask(ctx context.Context, name string, task int) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if task < 0 {
		return fmt.Errorf("%w: task %d of connector %q: tasks count from 0", ErrBadRequest, task, name)
	}
	id := strconv.Itoa(task)
	return c.do(ctx, request{
		method: http.MethodPost, path: []string{"connectors", name, "tasks", id, "restart"}, mode: write,
		connector: name, part: name + "-" + id, unseen: true,
	})
}
