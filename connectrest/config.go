package connectrest

import (
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Config is a connector's configuration as the worker stores it: flat, all
// values strings, "name" among the keys. Config-provider references such as
// ${file:/run/secrets/mm2:password} are shown unresolved.
//
// Printed, logged or written as JSON, a Config shows [Config.Redacted]; a
// map[string]string made of it holds every value. A Config that was redacted is
// refused by the calls that send one: the worker would store the mark.
type Config map[string]string

// checkValues refuses a configuration whose secrets are gone.
func (c Config) checkValues() error {
	for k, v := range c {
		if strings.Contains(v, offsetmap.SecretMark) {
			return fmt.Errorf("the value of %s is redacted: it holds %s", k, offsetmap.SecretMark)
		}
	}
	return nil
}

// Redacted returns a copy without secrets: see [offsetmap.RedactConfig].
func (c Config) Redacted() Config {
	if c == nil {
		return nil
	}
	return offsetmap.RedactConfig(c)
}

// quotedText finds the quoted parts of a value such as sasl.jaas.config, of
// which an error text may repeat one alone.
var quotedText = regexp.MustCompile(`"([^"]*)"`)

// secrets returns the values that Redacted hides, as a worker's text may repeat
// them. Values such as "true", under a key that only looks secret, would leave
// no text readable.
func (c Config) secrets() []string {
	var s []string
	for k, v := range c {
		if !offsetmap.IsSecretSetting(k) || offsetmap.RedactSetting(k, v) == v || len(v) < 4 || v == "true" || v == "false" {
			continue
		}
		s = append(s, v)
		for _, m := range quotedText.FindAllStringSubmatch(v, -1) {
			if len(m[1]) >= 4 && offsetmap.RedactSetting(k, m[1]) != m[1] {
				s = append(s, m[1])
			}
		}
	}
	return s
}

// Scrub returns text without the values that Redacted hides: a worker's errors
// and traces may repeat them.
func (c Config) Scrub(text string) string { return restapi.NewScrubber(c.secrets()...)(text) }

// String returns the redacted configuration, sorted by key.
func (c Config) String() string {
	var b strings.Builder
	b.WriteString("{")
	for i, k := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%s=%q", k, offsetmap.RedactSetting(k, c[k]))
	}
	b.WriteString("}")
	return b.String()
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// LogValue returns the redacted configuration.
func (c Config) LogValue() slog.Value {
	// A plain map: a Config would be asked for its LogValue again.
	return slog.AnyValue(map[string]string(c.Redacted()))
}

// CreateRequest says what [Client.Create] creates. Printed, logged or written as
// JSON, it shows no secret of Config.
type CreateRequest struct {
	// Name is what [CheckName] allows, and the value of "name" in Config where
	// that has one.
	Name   string `json:"name"`
	Config Config `json:"config"`
	// InitialState is [StateStopped], [StatePaused] or [StateRunning] (Kafka
	// 3.7, KIP-980). Empty leaves it to the worker, which starts the connector
	// at once.
	InitialState State `json:"initial_state,omitempty"`
}

// createBody is the body of POST /connectors.
type createBody struct {
	Name         string            `json:"name"`
	Config       map[string]string `json:"config"`
	InitialState State             `json:"initial_state,omitempty"`
}

// LogValue returns the request with its configuration redacted.
func (r CreateRequest) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", r.Name), slog.Any("config", r.Config), slog.String("initial_state", string(r.InitialState)))
}
