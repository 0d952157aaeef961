package preflight

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
)

// ClusterID returns the id of the Kafka cluster that a client with the options
// reaches.
func ClusterID(ctx context.Context, opts ...kgo.Opt) (string, error) {
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return "", err
	}
	defer client.Close()
	meta, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if err != nil {
		return "", err
	}
	if meta.Cluster == "" {
		return "", fresh.ErrNoClusterID
	}
	return meta.Cluster, nil
}
