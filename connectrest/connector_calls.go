package connectrest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// get reads a part of a connector. A name that cannot be addressed is refused
// before any request.
func (c *Client) get(ctx context.Context, name string, r request, under ...string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	r.method, r.connector = http.MethodGet, name
	r.path = append([]string{"connectors", name}, under...)
	return c.do(ctx, r)
}

// Connectors lists the names of all connectors, sorted.
func (c *Client) Connectors(ctx context.Context) ([]string, error) {
	var out []string
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"connectors"}, out: &out,
		valid: func() error { return missing(out == nil, "list") },
	})
	slices.Sort(out)
	return out, err
}

// Connector returns a connector's configuration and the ids of its tasks. It is
// how to ask whether the connector exists: [ErrNotFound] is the worker's word
// that it does not.
func (c *Client) Connector(ctx context.Context, name string) (ConnectorInfo, error) {
	return c.connectorInfo(ctx, name, request{})
}

func (c *Client) connectorInfo(ctx context.Context, name string, r request) (ConnectorInfo, error) {
	var out ConnectorInfo
	r.out, r.valid = &out, func() error { return out.check(name) }
	err := c.get(ctx, name, r)
	return out, err
}

func (c ConnectorInfo) check(name string) error {
	if c.Name != name {
		return fmt.Errorf("it is about connector %q, not %q", c.Name, name)
	}
	if err := missing(c.Config == nil, "config"); err != nil {
		return err
	}
	return missing(c.Tasks == nil, "list of tasks") // which would read as none
}

// Config returns a connector's configuration.
func (c *Client) Config(ctx context.Context, name string) (Config, error) {
	var out storedConfig
	err := c.get(ctx, name, request{out: &out, valid: func() error { return missing(out == nil, "object") }}, "config")
	return Config(out), err
}

// Status returns the states of a connector and its tasks, as the worker that
// was asked last read them. [ErrNoStatus] comes right after a creation or a
// worker's restart, and also for a name that does not exist: ask
// [Client.Connector] for existence.
func (c *Client) Status(ctx context.Context, name string) (Status, error) {
	return c.status(ctx, name, request{})
}

func (c *Client) status(ctx context.Context, name string, r request) (Status, error) {
	var out Status
	r.out, r.valid, r.clean = &out, func() error { return out.check(name) }, cleanStatus(&out)
	err := c.get(ctx, name, r, "status")
	return out, err
}

func (s Status) check(name string) error {
	if s.Name != name {
		return fmt.Errorf("it is about connector %q, not %q", s.Name, name)
	}
	if err := missing(s.Connector.State == "", "connector state"); err != nil {
		return err
	}
	return missing(s.Tasks == nil, "list of tasks") // which would read as none
}

// TaskStatus returns the state of one task, as the worker that was asked last
// read it. A connector or a task that has none is an [ErrNoStatus].
func (c *Client) TaskStatus(ctx context.Context, name string, task int) (TaskStatus, error) {
	if task < 0 {
		return TaskStatus{}, fmt.Errorf("%w: task %d of connector %q: tasks count from 0", ErrBadRequest, task, name)
	}
	var out TaskStatus
	err := c.get(ctx, name, request{
		out: &out,
		valid: func() error {
			if err := missing(out.State == "", "state"); err != nil || out.ID == task {
				return err
			}
			return fmt.Errorf("it is about task %d, not %d", out.ID, task)
		},
		clean: out.clean,
	}, "tasks", strconv.Itoa(task), "status")
	return out, err
}

// Tasks returns the configurations of a connector's tasks. For a
// MirrorSourceConnector they say which partitions are copied: see
// [MirrorSourceAssigned].
func (c *Client) Tasks(ctx context.Context, name string) ([]TaskInfo, error) {
	var out []TaskInfo
	err := c.get(ctx, name, request{out: &out, valid: func() error { return missing(out == nil, "list") }}, "tasks")
	return out, err
}

// ActiveTopics returns the topics that a connector wrote to since it was created
// or they were last reset, sorted (KIP-558). They may lag what was written. A
// name that does not exist has none. A worker that does not track them is an
// [ErrUnsupported].
func (c *Client) ActiveTopics(ctx context.Context, name string) ([]string, error) {
	var out map[string]struct {
		Topics []string `json:"topics"`
	}
	err := c.get(ctx, name, request{out: &out, valid: func() error {
		return missing(out[name].Topics == nil, "topics of "+name)
	}}, "topics")
	topics := out[name].Topics
	slices.Sort(topics)
	return topics, err
}
