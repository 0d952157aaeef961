package lab

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Broker is a Kafka cluster of one node, to which [Lab.StartNode] may have added others.
type Broker struct {
	*Process
	// Bootstrap is host:port; it stays the same when the broker is started again.
	Bootstrap string
	// Login is host:port of the listener for [Options.Users] (SASL_PLAINTEXT, PLAIN); empty without them.
	Login string
	// Front is what [Options.Front] has returned for this broker; empty without it.
	Front string
	// ClusterID is what the broker reports, [SourceClusterID] or [TargetClusterID].
	ClusterID string

	controllerPort int
	numNodes       int // that were added
}

// startBroker formats and starts a node.
func (l *Lab) startBroker(ctx context.Context, name, clusterID string, o Options, extra Properties) (*Broker, error) {
	b := &Broker{ClusterID: clusterID, Process: l.newProcess(name)}
	config := filepath.Join(l.dir, name+".properties")
	b.configure = func() error {
		p, err := b.ports.take(4)
		if err != nil {
			return err
		}
		b.Bootstrap = net.JoinHostPort("127.0.0.1", strconv.Itoa(p[0]))
		b.controllerPort = p[1]
		data := filepath.Join(l.dir, name+"-data")
		properties := brokerProperties(p[0], p[1], data, nil)
		if len(o.Users) > 0 {
			b.Login = net.JoinHostPort("127.0.0.1", strconv.Itoa(p[2]))
			properties.authorize(p[2], o.Users)
		}
		if o.Front != nil {
			address := net.JoinHostPort("127.0.0.1", strconv.Itoa(p[3]))
			if b.Front, err = o.Front(name, address); err != nil {
				return err
			}
			properties.front(address, b.Front)
		}
		if o.Tiered {
			properties.tier(l.tiered, filepath.Join(l.dir, name+"-remote"))
		}
		maps.Copy(properties, extra)
		return os.WriteFile(config, properties.render(), 0o600)
	}
	b.probe = func(ctx context.Context) bool { return b.serves(ctx, b.Bootstrap) }
	if err := b.configure(); err != nil {
		return b, fmt.Errorf("%s: %w", name, err)
	}
	if err := l.format(ctx, clusterID, config); err != nil {
		return b, fmt.Errorf("%s: %w", name, err)
	}
	b.argv = l.java(l.first, "kafka.Kafka", config)
	return b, b.start(ctx)
}

// serves says whether this run of a node takes connections.
func (p *Process) serves(ctx context.Context, address string) bool {
	// The log line alone comes from a node of before a restart as well; the open port alone comes too early.
	if !strings.Contains(p.log.from(p.since), "Kafka Server started") {
		return false
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func (l *Lab) format(ctx context.Context, clusterID, config string) error {
	format := l.java(l.first, "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", config)
	cmd := exec.CommandContext(ctx, format[0], format[1:]...)
	cmd.SysProcAttr = procAttr()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("formatting its storage: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
