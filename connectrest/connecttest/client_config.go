package connecttest

import (
	"fmt"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producerOverride is the prefix of the connector's keys that reach the data
// producer.
const producerOverride = "producer.override."

const (
	readCommitted   = "read_committed"
	readUncommitted = "read_uncommitted"
)

// clientConfig returns the configuration of one of MirrorMaker's own clients
// (MirrorConnectorConfig): of "source.cluster." only addresses and security,
// then "consumer.", then "source.consumer.", later ones win. Everything else is
// not read: not source.cluster.auto.offset.reset, not consumer.override.*.
func clientConfig(c config, side, role string) map[string]string {
	props := make(map[string]string)
	for k, v := range c {
		setting, ok := strings.CutPrefix(k, side+".cluster.")
		if ok && v != nil && (setting == "bootstrap.servers" || setting == "security.protocol" ||
			strings.HasPrefix(setting, "ssl.") || strings.HasPrefix(setting, "sasl.")) {
			props[setting] = *v
		}
	}
	for _, prefix := range []string{role + ".", side + "." + role + "."} {
		for k, v := range c {
			if setting, ok := strings.CutPrefix(k, prefix); ok && v != nil {
				props[setting] = *v
			}
		}
	}
	return props
}

// overrides returns the connector's producer.override.* settings.
func (c config) overrides() map[string]string {
	props := make(map[string]string)
	for k, v := range c {
		if setting, ok := strings.CutPrefix(k, producerOverride); ok && v != nil {
			props[setting] = *v
		}
	}
	return props
}

// javaError is an exception as the trace of a FAILED connector or task shows it.
type javaError struct {
	class, message, thrower string
}

func (e *javaError) Error() string { return e.class + ": " + e.message }

// trace is the text that a real worker shows, without the frames.
func (e *javaError) trace() string {
	return fmt.Sprintf("%s: %s\n\tat %s(connecttest)\n", e.class, e.message, e.thrower)
}

// parseBootstrap reads a bootstrap.servers list as ClientUtils does: every entry
// needs a port, and at least one entry must be there.
func parseBootstrap(s string) ([]string, error) {
	var addresses []string
	for _, a := range splitList(s) {
		if a == "" {
			continue
		}
		a = strings.TrimPrefix(a, "PLAINTEXT://")
		if _, port, err := net.SplitHostPort(a); err != nil || port == "" {
			return nil, fmt.Errorf("invalid url in bootstrap.servers: %s", a)
		}
		addresses = append(addresses, a)
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("no resolvable bootstrap urls given in bootstrap.servers")
	}
	return addresses, nil
}

// newClient opens a Kafka client on a bootstrap.servers list. The connector's
// options come after the worker's, so that they win.
func (o *options) newClient(bootstrap, clientID string, opts ...kgo.Opt) (*kgo.Client, error) {
	addresses, err := parseBootstrap(bootstrap)
	if err != nil {
		return nil, err
	}
	all := append([]kgo.Opt{}, o.kafka...)
	all = append(all,
		kgo.SeedBrokers(addresses...),
		kgo.ClientID(clientID),
		kgo.MetadataMinAge(metadataMinAge),
	)
	return kgo.NewClient(append(all, opts...)...)
}
