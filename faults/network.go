package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Network carries the program's connections to the brokers of both clusters, through
// proxies that can be told to fail them. Its zero value has none yet.
type Network struct {
	Source, Target *Link
}

// Link is one proxy.
type Link struct{ proxy *toxiproxy.Proxy }

// Front is [lab.Options.Front]: it puts a link before the listener of a broker.
func (n *Network) Front(name, address string) (advertised string, err error) {
	l, err := NewLink(name, address)
	if err != nil {
		return "", err
	}
	switch name {
	case "source":
		n.Source.Close()
		n.Source = l
	case "target":
		n.Target.Close()
		n.Target = l
	default:
		return "", fmt.Errorf("no broker is named %q", name)
	}
	return l.Address(), nil
}

// Close ends both links.
func (n *Network) Close() {
	n.Source.Close()
	n.Target.Close()
}

// NewLink listens on a port of its own and forwards to an address.
func NewLink(name, address string) (*Link, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	l := &Link{toxiproxy.NewProxy(server, name, "127.0.0.1:0", address)}
	if err := l.proxy.Start(); err != nil {
		return nil, fmt.Errorf("proxy before %s: %w", name, err)
	}
	return l, nil
}

// Address is host:port.
func (l *Link) Address() string { return l.proxy.Listen }

// Close ends the link and its connections. A nil link has none.
func (l *Link) Close() {
	if l != nil {
		l.proxy.Stop()
	}
}

// Toxic is a fault of a connection, by the names of toxiproxy.
type Toxic struct {
	Type       string           `json:"type"`
	Stream     string           `json:"stream"` // upstream: what the program sends; downstream: what it gets
	Attributes map[string]int64 `json:"attributes"`
}

// Poison has all connections of the link suffer from now on.
func (l *Link) Poison(t Toxic) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
		return fmt.Errorf("toxic %s: %w", text, err)
	}
	return nil
}

// Heal takes away what Poison has done.
func (l *Link) Heal(ctx context.Context) { l.proxy.Toxics.ResetToxics(ctx) }
