package flinkmm2

import (
	"context"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// sameClusters holds Cluster.Options to the cluster of Cluster.Admin. Two clients
// given side by side can lead to two clusters, and a target that is read from
// the source would be proven by comparing the source with itself.
func (m *Migration) sameClusters(ctx context.Context, f preflight.Facts) error {
	for _, side := range []struct {
		name    string
		cluster Cluster
		admin   offsetmap.Fact[preflight.Cluster]
	}{{"source", m.cfg.Source, f.Source}, {"target", m.cfg.Target, f.Target}} {
		admin, ok := side.admin.Get()
		if !ok {
			continue // a finding of its own
		}
		if err := m.readsFrom(ctx, side.name, side.cluster, admin.ClusterID); err != nil {
			return err
		}
	}
	return nil
}

// readsFrom holds the options of one side to a cluster id.
func (m *Migration) readsFrom(ctx context.Context, side string, c Cluster, want string) error {
	id, err := preflight.ClusterID(ctx, c.Options...)
	switch {
	case err != nil:
		return fmt.Errorf("the options of the %s: %w", side, err)
	case id != want:
		return fmt.Errorf("%w: the options of the %s lead to cluster %s, its records are on %s", ErrMoved, side, id, want)
	}
	return nil
}
