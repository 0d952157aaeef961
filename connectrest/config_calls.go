package connectrest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"
)

// ReplaceConfig replaces the configuration of a connector that exists. A
// connector that runs restarts with it, a STOPPED or PAUSED one stays so. One
// that does not exist is an [ErrNotFound] and nothing is sent: the worker would
// create and start it at once. Should that happen all the same, since it is
// deleted at the same moment, it is stopped and reported as a [*StartedError].
//
// An invalid configuration is an [ErrBadRequest] that lists all of its errors.
func (c *Client) ReplaceConfig(ctx context.Context, name string, config Config) (ConnectorInfo, error) {
	if err := (CreateRequest{Name: name, Config: config}).check(); err != nil {
		return ConnectorInfo{}, err
	}
	if _, err := c.Connector(ctx, name); err != nil {
		return ConnectorInfo{}, err
	}
	return c.change(ctx, name, request{
		method: http.MethodPut, body: map[string]string(config), secrets: config.secrets(),
	}, func(Config) Config { return named(config, name) }, config)
}

// ConfigPatch changes some keys of a configuration. Printed, logged or written as
// JSON, it shows [Config.Redacted] of what it sets.
type ConfigPatch struct {
	Set    Config   `json:"set,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// LogValue returns the patch, redacted.
func (p ConfigPatch) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("set", p.Set), slog.Any("remove", p.Remove))
}

// body is what goes over the wire: the values that are set, and null for what is
// removed.
func (p ConfigPatch) body() (map[string]*string, error) {
	body := make(map[string]*string, len(p.Set)+len(p.Remove))
	for k, v := range p.Set {
		body[k] = &v
	}
	for _, k := range p.Remove {
		if _, ok := body[k]; ok {
			return nil, fmt.Errorf("key %q is set and removed, or removed twice", k)
		}
		body[k] = nil
	}
	if len(body) == 0 {
		return nil, errors.New("it changes nothing")
	}
	return body, p.Set.checkValues()
}

func (p ConfigPatch) apply(to Config) Config {
	out := maps.Clone(to)
	maps.Copy(out, p.Set)
	for _, k := range p.Remove {
		delete(out, k)
	}
	return out
}

// PatchConfig sets and removes keys of a connector's configuration and leaves
// the others as they are (Kafka 3.8, KIP-477). Otherwise it is as
// [Client.ReplaceConfig]. A worker before 3.8 is an [ErrUnsupported].
func (c *Client) PatchConfig(ctx context.Context, name string, patch ConfigPatch) (ConnectorInfo, error) {
	refuse := func(err error) (ConnectorInfo, error) {
		return ConnectorInfo{}, fmt.Errorf("%w: patch of connector %q: %w", ErrBadRequest, name, err)
	}
	if err := CheckName(name); err != nil {
		return ConnectorInfo{}, err
	}
	body, err := patch.body()
	if err != nil {
		return refuse(err)
	}
	if named, ok := patch.Set["name"]; ok && named != name || slices.Contains(patch.Remove, "name") {
		return refuse(errors.New("the name cannot be changed"))
	}
	if err := c.require(ctx, featurePatchConfig); err != nil {
		return ConnectorInfo{}, err
	}
	return c.change(ctx, name, request{
		method: http.MethodPatch, body: body, secrets: patch.Set.secrets(), needs: featurePatchConfig,
	}, patch.apply, patch.Set)
}

// change sends a change of configuration and reads it back where its answer was
// lost. want returns what the configuration is after it, from what is there.
func (c *Client) change(ctx context.Context, name string, r request, want func(Config) Config, config Config) (ConnectorInfo, error) {
	var out ConnectorInfo
	code := 0
	r.path, r.mode, r.connector = []string{"connectors", name, "config"}, write, name
	r.out, r.valid = &out, func() error { return out.check(name) }
	r.answered = func(status int) { code = status }
	err := c.settle(ctx, 2, r, func(ctx context.Context, _ time.Duration) (err error) {
		code = 0
		if out, err = c.Connector(ctx, name); err != nil {
			return err
		}
		if !maps.Equal(want(out.Config), out.Config) {
			return fmt.Errorf("%w: the configuration is not the one that was sent", errNotSeen)
		}
		return nil
	})
	if err != nil {
		return ConnectorInfo{}, err
	}
	if code == http.StatusCreated {
		return out, c.stopStarted(ctx, CreateRequest{Name: name, Config: config}, Status{Name: name})
	}
	return out, nil
}

// named returns a configuration as the worker stores it.
func named(config Config, name string) Config {
	out := maps.Clone(config)
	out["name"] = name
	return out
}
