package connectrest

import (
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Config is a connector's configuration as the worker stores it: flat, all
// values strings, "name" among the keys. Config-provider references such as
// ${file:/run/secrets/mm2:password} are shown unresolved.
//
// Printed or logged, a Config shows [Config.Redacted]. Its JSON is what goes
// over the wire and holds every value.
type Config map[string]string

// secretKey matches the keys whose value is taken for a secret: those of type
// PASSWORD of Kafka's clients, and what connectors name alike.
var secretKey = regexp.MustCompile(`(?i)password|passwd|passphrase|secret|token|credential|jaas\.config|basic\.auth|user\.info|keystore\.key$|(private|api|access|account|encryption|sas)[._-]?key|connection\.string`)

// publicKey matches keys that secretKey matches but that hold no secret.
var publicKey = regexp.MustCompile(`(?i)token\.endpoint\.url$|\.credentials\.source$|\.(class|provider|type)$`)

// providerReference is a value that consists of config-provider references and
// nothing else.
var providerReference = regexp.MustCompile(`^(\$\{[^{}]+\})+$`)

// Redacted returns a copy in which the value of every key that looks secret is
// "<secret>", and so is the user-info of URLs in other values. Config-provider
// references stay as they are. What looks secret is told by the key: it cannot
// be told from a worker.
func (c Config) Redacted() Config {
	if c == nil {
		return nil
	}
	r := make(Config, len(c))
	for k, v := range c {
		r[k] = redactValue(k, v)
	}
	return r
}

func redactValue(key, value string) string {
	switch {
	case value == "" || providerReference.MatchString(value):
		return value
	case secretKey.MatchString(key) && !publicKey.MatchString(key):
		return secretMark
	default:
		return userInfoText.ReplaceAllString(value, "${1}"+secretMark+"@")
	}
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
		if redactValue(k, v) != secretMark || len(v) < 4 || v == "true" || v == "false" {
			continue
		}
		s = append(s, v)
		for _, m := range quotedText.FindAllStringSubmatch(v, -1) {
			if len(m[1]) >= 4 && !providerReference.MatchString(m[1]) {
				s = append(s, m[1])
			}
		}
	}
	return s
}

// String returns the redacted configuration, sorted by key.
func (c Config) String() string {
	var b strings.Builder
	b.WriteString("{")
	for i, k := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%s=%q", k, redactValue(k, c[k]))
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

// CreateRequest is the body of POST /connectors.
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

// LogValue returns the request with its configuration redacted.
func (r CreateRequest) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", r.Name), slog.Any("config", r.Config), slog.String("initial_state", string(r.InitialState)))
}
