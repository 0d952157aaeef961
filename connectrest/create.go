package connectrest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// ErrStartedAnyway says that a connector that was created STOPPED or PAUSED was
// seen running or with tasks.
var ErrStartedAnyway = errors.New("connector started although it was created not to")

// StartedError is an emergency: a connector that must not run did, with no
// offsets to start from. Stop was sent at once. It is an [ErrStartedAnyway].
type StartedError struct {
	Name string
	// Asked is the initial state that was asked for. Empty for
	// [Client.ReplaceConfig], which asks for none.
	Asked State
	// Status is what was seen.
	Status Status
	// Topics is the value of "topics" in the connector's configuration: what may
	// have been copied. Empty where the configuration has none.
	Topics string
	// Written are the topics that the worker says were written to, and
	// WrittenErr why it could not be asked. The list may lag.
	Written    []string
	WrittenErr error
	// StopErr is nil when the worker took the stop.
	StopErr error
}

// Error says what was seen, what may have been copied and whether the stop was
// taken.
func (e *StartedError) Error() string {
	var b strings.Builder
	how := "was created " + string(e.Asked)
	if e.Asked == "" {
		how = "had been deleted, was created anew by the change of its configuration,"
	}
	seen := string(e.Status.Connector.State)
	if seen == "" {
		seen = "in no state yet"
	}
	fmt.Fprintf(&b, "%v: connector %q %s and was seen %s with %s; records of topics %q may have been copied from the beginning",
		ErrStartedAnyway, e.Name, how, seen, describeTasks(e.Status.Tasks, nil), e.Topics)
	switch {
	case e.WrittenErr != nil:
		fmt.Fprintf(&b, "; which topics it wrote to could not be read: %v", e.WrittenErr)
	case len(e.Written) > 0:
		fmt.Fprintf(&b, "; the worker lists as written to: %s", restapi.Bound(strings.Join(e.Written, ", "), 512))
	}
	if e.StopErr != nil {
		fmt.Fprintf(&b, "; STOP IT BY HAND, the stop that was sent failed: %v", e.StopErr)
	} else {
		b.WriteString("; it was sent a stop")
	}
	return b.String()
}

// Unwrap returns ErrStartedAnyway and the failures.
func (e *StartedError) Unwrap() []error {
	all := []error{ErrStartedAnyway}
	for _, err := range []error{e.WrittenErr, e.StopErr} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Create creates a connector. With an InitialState it returns only once the
// status shows that state, and for STOPPED and PAUSED no task.
//
//   - A worker before Kafka 3.7 is an [*UnsupportedError] and nothing is sent: the
//     way to a STOPPED connector is [Client.CreateThenStop] there.
//   - A connector of that name is an [ErrExists].
//   - An invalid request or configuration is an [ErrBadRequest] or [ErrName].
//   - A connector that runs anyway is stopped at once: [*StartedError].
//   - A status that never showed is an [ErrOutcomeUnknown]: the connector exists,
//     and may run.
//
// It never replaces a connector, and offsets that an earlier connector of that
// name left are still there: see [Client.Offsets].
func (c *Client) Create(ctx context.Context, req CreateRequest) (ConnectorInfo, error) {
	if err := req.check(); err != nil {
		return ConnectorInfo{}, err
	}
	if req.InitialState != "" {
		if err := c.require(ctx, featureInitialState); err != nil {
			return ConnectorInfo{}, err
		}
	}
	return c.createNew(ctx, req)
}

// createNew is Create on a worker that has what req asks for.
func (c *Client) createNew(ctx context.Context, req CreateRequest) (ConnectorInfo, error) {
	// Asked first, so that after a lost answer a connector of this name and
	// configuration is this one, and not another that runs on purpose.
	switch _, err := c.Connector(ctx, req.Name); {
	case err == nil:
		return ConnectorInfo{}, fmt.Errorf("%w: connector %q at %s", ErrExists, req.Name, c)
	case !errors.Is(err, ErrNotFound):
		return ConnectorInfo{}, err
	}
	info, err := c.create(ctx, req)
	if err != nil || req.InitialState == "" {
		return info, err
	}
	return info, c.proveInitialState(ctx, req)
}

func (r CreateRequest) check() error {
	if err := CheckName(r.Name); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: connector %q: %s", ErrBadRequest, r.Name, fmt.Sprintf(format, args...))
	}
	if r.Config["connector.class"] == "" {
		return refuse("the configuration has no connector.class")
	}
	if name, ok := r.Config["name"]; ok && name != r.Name {
		return refuse("the configuration names it %q", name)
	}
	if err := r.Config.checkValues(); err != nil {
		return refuse("%v", err)
	}
	switch r.InitialState {
	case "", StateRunning, StatePaused, StateStopped:
		return nil
	default:
		return refuse("%q is no initial state: want STOPPED, PAUSED or RUNNING", r.InitialState)
	}
}

func (c *Client) create(ctx context.Context, req CreateRequest) (ConnectorInfo, error) {
	var out ConnectorInfo
	var needs feature
	if req.InitialState != "" {
		needs = featureInitialState
	}
	lost := false
	err := c.settle(ctx, 2, request{
		method: http.MethodPost, path: []string{"connectors"}, mode: write, connector: req.Name,
		body: createBody{req.Name, req.Config, req.InitialState}, secrets: req.Config.secrets(), needs: needs,
		out: &out, valid: func() error { return out.check(req.Name) },
	}, func(ctx context.Context, _ time.Duration) (err error) {
		lost = true
		out, err = c.createdSeen(ctx, req)
		return err
	})
	if lost && errors.Is(err, ErrExists) {
		// The second request was refused: the first, whose answer was lost, may
		// have come through after it was read back.
		var seenErr error
		if out, seenErr = c.createdSeen(ctx, req); seenErr != nil {
			return ConnectorInfo{}, fmt.Errorf("%w; read back: %w", err, seenErr)
		}
		return out, nil
	}
	if err != nil {
		return ConnectorInfo{}, err
	}
	return out, nil
}

// createdSeen reads back whether the connector exists as it was asked for.
func (c *Client) createdSeen(ctx context.Context, req CreateRequest) (ConnectorInfo, error) {
	info, err := c.Connector(ctx, req.Name)
	if errors.Is(err, ErrNotFound) {
		return info, fmt.Errorf("%w: %w", errNotSeen, err)
	}
	if err != nil {
		return info, err
	}
	if !maps.Equal(named(req.Config, req.Name), info.Config) {
		return info, errors.New("a connector of that name exists with another configuration")
	}
	return info, nil
}

// proveInitialState reads the status, which the answer of the creation does not
// hold, until it shows the state that was asked for.
func (c *Client) proveInitialState(ctx context.Context, req CreateRequest) error {
	var last Status
	idle := req.InitialState != StateRunning
	err := c.poll(ctx, c.retry.ReadBack, func(ctx context.Context) (bool, error) {
		s, err := c.status(ctx, req.Name, request{single: true})
		if err != nil {
			return false, err
		}
		last = s
		if idle && (len(s.Tasks) > 0 || s.Connector.State == StateRunning || s.Connector.State == StateRestarting) {
			return false, ErrStartedAnyway
		}
		return s.Connector.State == req.InitialState, nil
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrStartedAnyway):
		return c.stopStarted(ctx, req, last)
	case last.Connector.Trace != "":
		line, _, _ := strings.Cut(last.Connector.Trace, "\n")
		err = fmt.Errorf("its state is %s (%s): %w", last.Connector.State, plainText(restapi.NewScrubber(req.Config.secrets()...)(line)), err)
	case last.Connector.State != "":
		err = fmt.Errorf("its state is %s: %w", last.Connector.State, err)
	}
	return fmt.Errorf("%w: connector %q was created, but was not seen in state %s: %w", ErrOutcomeUnknown, req.Name, req.InitialState, err)
}

// stopStarted stops at once what must not run, also when ctx has ended.
func (c *Client) stopStarted(ctx context.Context, req CreateRequest, seen Status) error {
	c.log.ErrorContext(ctx, "kafka connect started a connector that was created not to run; it is sent a stop",
		"connector", req.Name, "state", string(seen.Connector.State), "tasks", len(seen.Tasks))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), DefaultAttemptTimeout)
	defer cancel()
	cleanStatus(&seen)(req.Config.Scrub) // a trace may repeat a value of the configuration
	e := &StartedError{Name: req.Name, Asked: req.InitialState, Status: seen, Topics: req.Config["topics"]}
	e.StopErr = c.Stop(ctx, req.Name)
	e.Written, e.WrittenErr = c.ActiveTopics(ctx, req.Name)
	return e
}
