package preflight

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Keys of the connector's config that more than one place reads.
const (
	keySourceAlias       = "source.cluster.alias"
	keyTargetAlias       = "target.cluster.alias"
	keySourceBootstrap   = "source.cluster.bootstrap.servers"
	keyTargetBootstrap   = "target.cluster.bootstrap.servers"
	keyProducerBootstrap = "producer.override.bootstrap.servers"
	keyReset             = "auto.offset.reset"
	keyIsolation         = "isolation.level"
	keyGroup             = "group.id"
	keyExactlyOnce       = "exactly.once.support"
	keyIdempotence       = producerPrefix + "enable.idempotence"
)

// settings reads a connector's config as Kafka's ConfigDef does.
type settings struct{ m connectrest.Config }

// reference returns what of a value only the worker resolves: its references to
// config providers, which are what stays of it when it is redacted.
func reference(value string) string {
	const secret = "password"
	return strings.ReplaceAll(offsetmap.RedactSetting(secret, value), offsetmap.RedactSetting(secret, "x"), "")
}

// get returns the value of a key, trimmed (ConfigDef.parseType), and whether
// the key is there. A value that refers to a config provider is known to the
// worker alone, and an error.
func (s settings) get(key string) (string, bool, error) {
	v, set := s.m[key]
	if ref := reference(v); ref != "" {
		return "", true, fmt.Errorf("%s refers to a config provider (%s), which only the worker resolves", key, ref)
	}
	return strings.TrimSpace(v), set, nil
}

// or returns the value of a key, or its default when the key is not there.
func (s settings) or(key, def string) (string, error) {
	v, set, err := s.get(key)
	if !set {
		v = def
	}
	return v, err
}

// flag returns a BOOLEAN, by default def.
func (s settings) flag(key, def string) (bool, error) {
	v, err := s.or(key, def)
	if err != nil {
		return false, err
	}
	return parseFlag(key, v)
}

// parseFlag reads a BOOLEAN as ConfigDef.parseType does.
func parseFlag(key, v string) (bool, error) {
	switch {
	case strings.EqualFold(v, "true"):
		return true, nil
	case strings.EqualFold(v, "false"):
		return false, nil
	}
	return false, fmt.Errorf("%s is %q, neither true nor false", key, v)
}

// exactlyOnce reports whether the config demands transactions, which a worker
// without them refuses. By default it does as the workers do
// (SourceConnectorConfig.ExactlyOnceSupportLevel).
func (s settings) exactlyOnce() (bool, error) {
	v, err := s.or(keyExactlyOnce, "requested")
	return err == nil && strings.EqualFold(v, "required"), err
}

// producerPrefix leads to the producer of the copies
// (ConnectorConfig.CONNECTOR_CLIENT_PRODUCER_OVERRIDES_PREFIX).
const producerPrefix = "producer.override."

// consumer returns a setting of the replication consumer and the key that it
// comes from: source.consumer. wins over consumer., and nothing else is read
// (MirrorConnectorConfig.sourceConsumerConfig). The key is empty when neither
// is there.
func (s settings) consumer(name string) (value, key string, err error) {
	for _, prefix := range []string{"source.consumer.", "consumer."} {
		v, set, err := s.get(prefix + name)
		if set {
			return v, prefix + name, err
		}
	}
	return "", "", nil
}
