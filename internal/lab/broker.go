package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Broker is a Kafka cluster of one node.
type Broker struct {
	*Process
	// Bootstrap is host:port; it stays the same when the broker is started again.
	Bootstrap string
	// ClusterID is what the broker reports, [SourceClusterID] or [TargetClusterID].
	ClusterID string
}

// startBroker formats and starts a node.
func (l *Lab) startBroker(ctx context.Context, name, clusterID string, extra Properties) (*Broker, error) {
	b := &Broker{ClusterID: clusterID, Process: l.newProcess(name)}
	config := filepath.Join(l.dir, name+".properties")
	b.configure = func() error {
		p, err := b.ports.take(2)
		if err != nil {
			return err
		}
		b.Bootstrap = net.JoinHostPort("127.0.0.1", strconv.Itoa(p[0]))
		data := filepath.Join(l.dir, name+"-data")
		return os.WriteFile(config, brokerProperties(p[0], p[1], data, extra).render(), 0o600)
	}
	b.probe = func(ctx context.Context) bool {
		// The log line alone comes from a broker of before a restart as well; the open port alone comes too early.
		if !strings.Contains(b.log.from(b.since), "Kafka Server started") {
			return false
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", b.Bootstrap)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}
	if err := b.configure(); err != nil {
		return b, fmt.Errorf("%s: %w", name, err)
	}
	format := l.java(l.first, "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", config)
	cmd := exec.CommandContext(ctx, format[0], format[1:]...)
	cmd.SysProcAttr = procAttr()
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("%s: formatting its storage: %w\n%s", name, err, strings.TrimSpace(string(out)))
	}
	b.argv = l.java(l.first, "kafka.Kafka", config)
	return b, b.start(ctx)
}
