package connectrest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// WithCapabilityQuestions asks a worker whose report does not say its Kafka
// version by its behaviour, where the version would decide and behaviour shows
// it: by requests that no worker can fulfil, since they name a connector that
// does not exist, drawn from 128 random bits, and a state or a change that is
// none. They change nothing, but an audit log may show them as writes.
//
// [WithAssumedVersion] wins. By default, such a worker is refused and asked
// nothing.
func WithCapabilityQuestions() Option {
	return func(s *settings) error {
		s.askCapability = true
		return nil
	}
}

// errNoQuestion says that no behaviour shows whether a worker has a feature.
var errNoQuestion = errors.New("no answer of the worker shows it")

// capable asks the worker itself for f.
func (c *Client) capable(ctx context.Context, f feature) (bool, error) {
	name := "flinkmm2-question-" + rand.Text()
	switch f {
	case featureInitialState:
		return c.knowsInitialState(ctx, name)
	case featurePatchConfig:
		// 3.8 and later look for the connector, older ones have no such method.
		err := c.do(ctx, request{
			method: http.MethodPatch, path: []string{"connectors", name, "config"}, mode: write, connector: name,
			body: map[string]string{},
		})
		switch {
		case errors.Is(err, ErrNotFound):
			return true, nil
		case errors.Is(err, ErrUnsupported):
			return false, nil
		default:
			return false, unclear(name, err)
		}
	default:
		return false, errNoQuestion
	}
}

// knowsInitialState sends a creation whose initial state is none and whose
// configuration is empty. A worker that knows the field names its values' class
// in the refusal (CreateConnectorRequest.InitialState), one that does not names
// the field (recorded from 3.5 to 4.3), and one that passes over unknown fields
// refuses the configuration.
func (c *Client) knowsInitialState(ctx context.Context, name string) (bool, error) {
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"connectors"}, mode: write, connector: name,
		body: createBody{Name: name, Config: map[string]string{}, InitialState: "NONE_SUCH"},
	})
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e.Code != 0 && strings.Contains(e.Message, "InitialState.NONE_SUCH"):
		return true, nil
	case ok && e.Code != 0 && (strings.Contains(e.Message, `Unrecognized field "initial_state"`) || strings.Contains(e.Message, "contains no connector type")):
		return false, nil
	default:
		return false, unclear(name, err)
	}
}

func unclear(name string, err error) error {
	if err == nil {
		return fmt.Errorf("the worker fulfilled a request that cannot be fulfilled: look for connector %q, which nobody asked for", name)
	}
	return fmt.Errorf("the worker's answer is not clear: %w", err)
}
