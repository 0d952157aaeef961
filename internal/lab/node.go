package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Node is one more broker of a cluster of the lab.
type Node struct {
	*Process
	// ID is its node id.
	ID int32
}

// StartNode adds a broker to a cluster of the lab, which ends with the test. The cluster's first node alone is its
// controller, and keeps what the node was given: what only the node holds has no leader once it is gone. Topics that are
// created while it runs may lie on it, those of the brokers among them.
func (l *Lab) StartNode(t testing.TB, cluster *Broker, extra Properties) *Node {
	t.Helper()
	n, err := l.startNode(t.Context(), cluster, extra)
	t.Cleanup(func() {
		showLogIfFailed(t, n.Process, 0)
		n.shut()
		l.forget(n.Process)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (l *Lab) startNode(ctx context.Context, cluster *Broker, extra Properties) (*Node, error) {
	l.mu.Lock()
	cluster.numNodes++
	id := 1 + cluster.numNodes
	l.mu.Unlock()
	name := fmt.Sprintf("%s-node-%d", cluster.name, id)
	n := &Node{Process: l.newProcess(name), ID: int32(id)}
	config := filepath.Join(l.dir, name+".properties")
	var address string
	n.configure = func() error {
		p, err := n.ports.take(1)
		if err != nil {
			return err
		}
		address = net.JoinHostPort("127.0.0.1", strconv.Itoa(p[0]))
		data := filepath.Join(l.dir, name+"-data")
		return os.WriteFile(config, nodeProperties(id, p[0], cluster.controllerPort, data, extra).render(), 0o600)
	}
	n.probe = func(ctx context.Context) bool { return n.serves(ctx, address) }
	if err := n.configure(); err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	if err := l.format(ctx, cluster.ClusterID, config); err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	n.argv = l.java(l.first, "kafka.Kafka", config)
	return n, n.start(ctx)
}
