package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Created is the outcome of Create.
type Created struct {
	Name         string `json:"name"`
	ConfigDigest string `json:"configDigest"`
	Existed      bool   `json:"existed"` // it was there already, STOPPED, with the same config
}

// Create creates the connector in the state STOPPED and proves that it is:
// STOPPED, without a task, with the config as given. Nothing is copied, and no
// offset is touched.
//
// A connector of that name that is there already is left as it is. It is
// accepted when it is STOPPED with the same config, so that Create can be run
// again; any other is an offsetmap.BlockedError. A worker that starts the
// connector in spite of the initial state (before Kafka 3.7, KIP-980) is told
// to stop it at once, and the error says what may have been copied.
func (m *Migration) Create(ctx context.Context) (*Created, error) {
	config := maps.Clone(m.cfg.ConnectorConfig)
	if config == nil {
		return nil, errors.New("create: no connector config was given")
	}
	if n, ok := config["name"]; ok && n != m.cfg.Connector {
		return nil, fmt.Errorf("create: the config names the connector %q, the migration %q", n, m.cfg.Connector)
	}
	config["name"] = m.cfg.Connector // as the worker shows it
	want, err := offsetmap.ConfigDigest(config)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	out := &Created{Name: m.cfg.Connector, ConfigDigest: want}

	_, err = m.cfg.Connect.Connector(ctx, m.cfg.Connector)
	switch {
	case err == nil:
		out.Existed = true
	case !errors.Is(err, connectrest.ErrNotFound):
		return nil, fmt.Errorf("create: %w", err)
	default:
		err = m.act(ctx, Entry{Act: actCreate, Detail: want}, func(ctx context.Context) error {
			_, err := m.cfg.Connect.Create(ctx, connectrest.CreateRequest{
				Name: m.cfg.Connector, Config: config, InitialState: connectrest.StateStopped,
			})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("create: %w", err)
		}
	}
	if err := m.provenStopped(ctx, config, want, out.Existed); err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	return out, nil
}

// provenStopped reads back that the connector is STOPPED, has no task, and has
// the config with the digest want.
func (m *Migration) provenStopped(ctx context.Context, config connectrest.Config, want string, existed bool) error {
	if !existed {
		if err := m.awaitStopped(ctx); err != nil {
			return err
		}
	}
	status, err := m.firstStatus(ctx)
	if err != nil {
		return err
	}
	info, err := m.cfg.Connect.Connector(ctx, m.cfg.Connector)
	if err != nil {
		return err
	}
	got, err := offsetmap.ConfigDigest(info.Config)
	if err != nil {
		return err
	}
	var found []offsetmap.Finding
	block := func(check, format string, args ...any) {
		found = append(found, offsetmap.Finding{Check: check, Severity: offsetmap.Block, Detail: fmt.Sprintf(format, args...), Acceptable: offsetmap.Never})
	}
	if s := status.Connector.State; s != connectrest.StateStopped || len(status.Tasks) > 0 {
		block("connector/state", "connector %s is there already, and is %s with %d tasks left; it must be STOPPED with none", m.cfg.Connector, s, len(status.Tasks))
	}
	if got != want {
		block("connector/config", "connector %s is there already with another config: %s; delete it, or put the config that is wanted (PUT /connectors/%[1]s/config keeps it STOPPED)", m.cfg.Connector, configDifference(info.Config, config))
	}
	return preflight.Blocked(found)
}

// firstStatus waits for the status of a connector that may have been created a
// moment ago: until the worker has read it from its topic there is none.
func (m *Migration) firstStatus(ctx context.Context) (connectrest.Status, error) {
	const pause = 100 * time.Millisecond
	for deadline := m.now().Add(m.readBack); ; {
		status, err := m.cfg.Connect.Status(ctx, m.cfg.Connector)
		if !errors.Is(err, connectrest.ErrNoStatus) || !m.now().Before(deadline) {
			return status, err
		}
		if err := m.sleep(ctx, pause); err != nil {
			return status, err
		}
	}
}

// configDifference names the settings in which two configs differ, without
// secrets.
func configDifference(got, want connectrest.Config) string {
	got, want = got.Redacted(), want.Redacted()
	all := maps.Clone(got)
	maps.Copy(all, want)
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		g, has := got[k]
		w, wants := want[k]
		switch {
		case !has:
			parts = append(parts, fmt.Sprintf("%s is not set, want %q", k, w))
		case !wants:
			parts = append(parts, fmt.Sprintf("%s is %q, want none", k, g))
		case g != w:
			parts = append(parts, fmt.Sprintf("%s is %q, want %q", k, g, w))
		}
	}
	return strings.Join(parts, ", ")
}
