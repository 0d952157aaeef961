package connectrest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Info asks which version the worker is and which cluster it belongs to. A
// worker answers it also when it can answer nothing else, so it is no check of
// readiness: [Client.Connectors] is.
func (c *Client) Info(ctx context.Context) (WorkerInfo, error) {
	var out WorkerInfo
	err := c.do(ctx, request{
		method: http.MethodGet, out: &out,
		valid: func() error { return missing(out.Version.text == "", "version") },
		// Errors name it.
		clean: func(scrub func(string) string) { out.Version.text = word(scrub(out.Version.text)) },
	})
	return out, err
}

// Health asks whether the worker works (Kafka 3.9, KIP-1017): one that starts,
// or says itself that it is not healthy, is an answer and no error. A worker
// before 3.9 is an [ErrUnsupported]; ask [Client.Connectors] there. It may take
// the worker 10 s to find that it is not healthy.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var out Health
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"health"}, out: &out, needs: featureHealth,
		alsoOK: []int{http.StatusInternalServerError, http.StatusServiceUnavailable},
		valid:  func() error { return missing(out.Status == "", "status") },
		clean:  func(scrub func(string) string) { out.Message = plainText(scrub(out.Message)) },
	})
	return out, err
}

// Plugins lists the connector classes that the worker can run, in its order.
// Their versions may differ from the worker's.
func (c *Client) Plugins(ctx context.Context) ([]PluginInfo, error) {
	return c.plugins(ctx, nil)
}

// AllPlugins lists connectors, converters, transformations and predicates
// (Kafka 3.2, KIP-769). An older worker, which would list connectors alone
// without a word, is an [ErrUnsupported].
func (c *Client) AllPlugins(ctx context.Context) ([]PluginInfo, error) {
	if err := c.require(ctx, featurePlugins); err != nil {
		return nil, err
	}
	return c.plugins(ctx, url.Values{"connectorsOnly": {"false"}})
}

func (c *Client) plugins(ctx context.Context, query url.Values) ([]PluginInfo, error) {
	var out []PluginInfo
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"connector-plugins"}, query: query, out: &out,
		valid: func() error { return missing(out == nil, "list") },
	})
	return out, err
}

// PluginConfig lists the keys that a plugin defines (Kafka 3.2, KIP-769), in the
// worker's order; of a connector without those that every connector has. A class
// that the worker does not have is an [ErrNotFound].
func (c *Client) PluginConfig(ctx context.Context, class string) ([]ConfigKey, error) {
	if err := CheckName(class); err != nil {
		return nil, fmt.Errorf("plugin class: %w", err)
	}
	var out []keyDefinition
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"connector-plugins", class, "config"}, out: &out,
		needs: featurePlugins, part: class,
		valid: func() error { return missing(out == nil, "list") },
	})
	keys := make([]ConfigKey, 0, len(out))
	for _, d := range out {
		keys = append(keys, ConfigKey{Name: d.Name, Type: d.Type, Required: d.Required, Default: d.Default})
	}
	return keys, err
}

// Version returns the Kafka version of the worker as decisions need it:
// what it reports, or else the one of [WithAssumedVersion]. A report that says
// nothing is an [ErrVersion].
func (c *Client) Version(ctx context.Context) (Version, error) {
	info, err := c.Info(ctx)
	switch {
	case err != nil:
		return Version{}, err
	case info.Version.Known():
		return info.Version, nil
	case c.assumed.Known():
		return c.assumed, nil
	default:
		_, err := ParseVersion(info.Version.String())
		return info.Version, err
	}
}

// require refuses a worker that lacks f, before anything is written.
func (c *Client) require(ctx context.Context, f feature) error {
	v, err := c.Version(ctx)
	if err != nil && !errors.Is(err, ErrVersion) {
		return err
	}
	if v.AtLeast(f.major, f.minor) {
		return nil
	}
	refusal := &UnsupportedError{Feature: f.name, Needed: KafkaVersion(f.major, f.minor), Found: v}
	if v.Known() || !c.askCapability {
		return refusal
	}
	has, err := c.capable(ctx, f)
	if has {
		return nil
	}
	refusal.Err = err
	return refusal
}

func missing(is bool, what string) error {
	if is {
		return errors.New("it has no " + what)
	}
	return nil
}
