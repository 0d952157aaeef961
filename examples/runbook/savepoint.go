package main

import (
	"context"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/stores"
)

// readSavepoint reads a savepoint for its positions, of one cluster of its
// DynamicKafkaSources when that is named.
func readSavepoint(ctx context.Context, at string, pathMap map[string]string, cluster string, opts ...flinkstate.Option) (*flinkstate.Snapshot, error) {
	snapshot, err := stores.ReadSavepoint(ctx, at, pathMap, stores.WithReadOptions(opts...))
	if err != nil || cluster == "" {
		return snapshot, err
	}
	return snapshot.InCluster(cluster)
}
