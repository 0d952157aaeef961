package connectrest

import (
	"context"
	"errors"
	"net/http"
)

// Info asks which version the worker is and which cluster it belongs to. A
// worker answers it also when it can answer nothing else, so it is no check of
// readiness: [Client.Connectors] is.
func (c *Client) Info(ctx context.Context) (WorkerInfo, error) {
	var out WorkerInfo
	err := c.do(ctx, request{
		method: http.MethodGet, out: &out,
		valid: func() error { return missing(out.Version.text == "", "version") },
	})
	return out, err
}

// Plugins lists the connector classes that the worker can run. Their versions
// may differ from the worker's.
func (c *Client) Plugins(ctx context.Context) ([]PluginInfo, error) {
	var out []PluginInfo
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"connector-plugins"}, out: &out,
		valid: func() error { return missing(out == nil, "list") },
	})
	return out, err
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
	if !v.AtLeast(f.major, f.minor) {
		return &UnsupportedError{Feature: f.name, Needed: KafkaVersion(f.major, f.minor), Found: v}
	}
	return nil
}

func missing(is bool, what string) error {
	if is {
		return errors.New("it has no " + what)
	}
	return nil
}
