package connectrest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// mirrorSourceClasses are the full name of MirrorSourceConnector, and the names
// without package and without "Connector" that a worker takes for it
// (PluginUtils.computeAliases).
var mirrorSourceClasses = []string{"org.apache.kafka.connect.mirror.MirrorSourceConnector", "MirrorSourceConnector", "MirrorSource"}

// IsMirrorSource reports whether a worker takes class, the value of
// connector.class, for MirrorMaker 2's MirrorSourceConnector.
func IsMirrorSource(class string) bool { return slices.Contains(mirrorSourceClasses, class) }

// MirrorSourceIdle returns a configuration for [Client.CreateThenStop] that
// a MirrorSourceConnector starts with and copies nothing: config with
// enabled=false, upon which its start() returns before it makes a client of
// either cluster (MirrorSourceConnector.start), and with topics that match none,
// since a slash is in no topic's name. Of what another class makes of these keys
// it says nothing: see [IsMirrorSource].
func MirrorSourceIdle(config Config) Config {
	idle := maps.Clone(config)
	if idle == nil {
		idle = Config{}
	}
	idle["enabled"], idle["topics"] = "false", "/"
	return idle
}

// CreateThenStop creates a STOPPED connector on a worker that has no initial
// states, Kafka 3.5 and 3.6: it creates the connector with the configuration
// idle, which must start and copy nothing ([MirrorSourceIdle]), stops it, waits
// until it has no task, and only then gives it req.Config, with which it stays
// STOPPED. InitialState must be [StateStopped].
//
// A worker of 3.7 or later is asked as [Client.Create] asks it, without the way.
// One that does not say its version, or is older, is an [*UnsupportedError] and
// nothing is sent. A task that is seen on the way, or a topic that was written to,
// is a [*StartedError]: idle was not idle. Where a step fails, the connector is
// left as the error says, with the idle configuration or STOPPED: it is not
// deleted, since somebody else may have made it his meanwhile.
//
// A connector of that name that has exactly the configuration idle is what such a
// call has left, on a worker of any version, and the same call goes on with it.
// Any other is an [ErrExists].
func (c *Client) CreateThenStop(ctx context.Context, req CreateRequest, idle Config) (ConnectorInfo, error) {
	if err := req.check(); err != nil {
		return ConnectorInfo{}, err
	}
	way := CreateRequest{Name: req.Name, Config: idle}
	if err := way.check(); err != nil {
		return ConnectorInfo{}, fmt.Errorf("idle configuration: %w", err)
	}
	switch {
	case req.InitialState != StateStopped:
		return ConnectorInfo{}, fmt.Errorf("%w: connector %q: initial state %q: only STOPPED can be had by way of an idle configuration", ErrBadRequest, req.Name, req.InitialState)
	case maps.Equal(named(idle, req.Name), named(req.Config, req.Name)):
		return ConnectorInfo{}, fmt.Errorf("%w: connector %q: the idle configuration is the real one, and would copy", ErrBadRequest, req.Name)
	case idle["connector.class"] != req.Config["connector.class"]:
		return ConnectorInfo{}, fmt.Errorf("%w: connector %q: the idle configuration is of class %q, not %q", ErrBadRequest, req.Name, idle["connector.class"], req.Config["connector.class"])
	}
	first := req
	if err := c.require(ctx, featureInitialState); err != nil {
		old, ok := errors.AsType[*UnsupportedError](err)
		switch {
		case !ok || !old.Found.Known():
			return ConnectorInfo{}, err
		case !old.Found.AtLeast(featureStop.major, featureStop.minor):
			return ConnectorInfo{}, &UnsupportedError{Feature: featureStop.name, Needed: KafkaVersion(featureStop.major, featureStop.minor), Found: old.Found}
		}
		first = way
	}
	info, err := c.createNew(ctx, first)
	if errors.Is(err, ErrExists) && !errors.Is(err, ErrOutcomeUnknown) {
		left, readErr := c.Connector(ctx, req.Name)
		switch {
		case readErr != nil:
			return ConnectorInfo{}, fmt.Errorf("%w; with which configuration could not be read: %w", err, readErr)
		case !maps.Equal(left.Config, named(idle, req.Name)):
			return ConnectorInfo{}, err
		}
		first, err = way, nil
	}
	if err != nil || first.InitialState != "" {
		return info, err
	}
	return c.stopThenConfigure(ctx, req, way)
}

// stopThenConfigure takes a connector that was created idle to the end of the way.
func (c *Client) stopThenConfigure(ctx context.Context, req, way CreateRequest) (ConnectorInfo, error) {
	if err := c.stopIdle(ctx, way); err != nil {
		return ConnectorInfo{}, err
	}
	info, err := c.ReplaceConfig(ctx, req.Name, req.Config)
	if err != nil {
		return ConnectorInfo{}, fmt.Errorf("connector %q exists with its idle configuration, STOPPED: %w", req.Name, err)
	}
	// The state may be that from before the change, which the workers act upon a
	// moment later: it is UNASSIGNED then (seen on 3.6.2).
	for range 2 {
		if err := c.clock.Sleep(ctx, maxPoll); err != nil {
			return info, fmt.Errorf("%w: connector %q has its configuration and was STOPPED, its state after that was not seen: %w", ErrOutcomeUnknown, req.Name, err)
		}
		if err := c.proveInitialState(ctx, req); err != nil {
			return info, err
		}
	}
	return info, nil
}

// stopIdle stops what was created idle, and proves that it was.
func (c *Client) stopIdle(ctx context.Context, way CreateRequest) error {
	var ran Status
	if err := c.Stop(ctx, way.Name); err != nil {
		return fmt.Errorf("connector %q exists with its idle configuration, and may run: %w", way.Name, err)
	}
	var last Status
	err := c.poll(ctx, c.retry.ReadBack, func(ctx context.Context) (bool, error) {
		s, err := c.status(ctx, way.Name, request{single: true})
		if err != nil {
			return false, err
		}
		if last = s; len(s.Tasks) > 0 {
			ran = s
		}
		info, err := c.connectorInfo(ctx, way.Name, request{single: true})
		return err == nil && s.Connector.State == StateStopped && len(s.Tasks) == 0 && len(info.Tasks) == 0, err
	})
	if err != nil {
		return fmt.Errorf("connector %q exists with its idle configuration: %w", way.Name,
			&NotStoppedError{Name: way.Name, State: last.Connector.State, Tasks: last.Tasks, Err: err})
	}
	written, err := c.ActiveTopics(ctx, way.Name)
	if errors.Is(err, ErrUnsupported) {
		err = nil // the worker does not track topics; no task was seen
	}
	if ran.Name != "" || len(written) > 0 {
		if ran.Name == "" {
			ran = last
		}
		return &StartedError{Name: way.Name, Asked: StateStopped, Status: ran, Topics: way.Config["topics"], Written: written, WrittenErr: err}
	}
	if err != nil {
		return fmt.Errorf("connector %q exists with its idle configuration, STOPPED; whether it wrote to a topic could not be read: %w", way.Name, err)
	}
	return nil
}
