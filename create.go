package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
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
// A worker of Kafka 3.6 has no initial states (KIP-980): there the connector
// starts with a config that copies nothing (connectrest.MirrorSourceIdle), is
// stopped, and gets its own only then. A run that ended on this way leaves a
// connector with that config, and the next one goes on with it. A worker before
// 3.6, whose offsets cannot be altered, is an offsetmap.BlockedError before
// anything is written.
//
// Any other connector of that name that is there already is left as it is. It is
// accepted when it is STOPPED with the same config, so that Create can be run
// again; else it is an offsetmap.BlockedError. A worker that starts the connector
// in spite of all that is told to stop it at once, and the error says what may
// have been copied.
func (m *Migration) Create(ctx context.Context) (*Created, error) {
	return locked(ctx, m, "create", func(ctx context.Context) (*Created, error) { return m.createLocked(ctx) })
}

func (m *Migration) createLocked(ctx context.Context) (*Created, error) {
	config := m.given
	if config == nil {
		return nil, errors.New("create: no connector config was given")
	}
	want, err := offsetmap.ConfigDigest(config)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	if err := m.canBeAltered(ctx); err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	out := &Created{Name: m.cfg.Connector, ConfigDigest: want}

	info, err := m.cfg.Connect.Connector(ctx, m.cfg.Connector)
	switch {
	case err == nil && !leftIdle(config, info.Config):
		out.Existed = true
	case err != nil && !errors.Is(err, connectrest.ErrNotFound):
		return nil, fmt.Errorf("create: %w", err)
	default:
		err = m.act(ctx, Entry{Act: actCreate, Detail: want, Request: &Request{Method: http.MethodPost, Path: "/connectors", BodyDigest: want}}, func(ctx context.Context) error { return m.createStopped(ctx, config) })
		if err != nil {
			return nil, fmt.Errorf("create: %w", err)
		}
	}
	if err := m.provenStopped(ctx, config, out.Existed); err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	return out, nil
}

// canBeAltered blocks on a worker whose offsets can never be altered. Of a version
// that says nothing it is for the client to know more.
func (m *Migration) canBeAltered(ctx context.Context) error {
	worker, err := m.cfg.Connect.Info(ctx)
	if err != nil {
		return err
	}
	found := preflight.Facts{Worker: offsetmap.Known(worker)}.WorkerVersion()
	return preflight.Blocked(slices.DeleteFunc(found, func(f offsetmap.Finding) bool { return f.Unmade || f.Severity != offsetmap.Block }))
}

// createStopped goes by way of an idle config where the worker has no initial
// states, and the class of the connector is the one that is known to be idle then.
func (m *Migration) createStopped(ctx context.Context, config connectrest.Config) error {
	req := connectrest.CreateRequest{Name: m.cfg.Connector, Config: config, InitialState: connectrest.StateStopped}
	if connectrest.IsMirrorSource(config["connector.class"]) {
		_, err := m.cfg.Connect.CreateThenStop(ctx, req, connectrest.MirrorSourceIdle(config))
		return err
	}
	_, err := m.cfg.Connect.Create(ctx, req)
	return err
}

// leftIdle reports whether a connector has the config that createStopped goes by,
// and so was left by a run that ended there.
func leftIdle(config, has connectrest.Config) bool {
	idle := connectrest.MirrorSourceIdle(config)
	return connectrest.IsMirrorSource(config["connector.class"]) && maps.Equal(idle, has) && !maps.Equal(idle, config)
}

// provenStopped reads back that the connector is STOPPED, has no task, and has
// the config.
func (m *Migration) provenStopped(ctx context.Context, config connectrest.Config, existed bool) error {
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
	found := preflight.Facts{Connector: offsetmap.Known(info)}.OtherConfig(config)
	if s := status.Connector.State; s != connectrest.StateStopped || len(status.Tasks) > 0 {
		found = append(found, offsetmap.Finding{
			Check: "connector/state", Severity: offsetmap.Block, Acceptable: offsetmap.Never,
			Detail: fmt.Sprintf("connector %s is there already, and is %s with %d tasks left; it must be STOPPED with none", m.cfg.Connector, s, len(status.Tasks)),
		})
	}
	slices.SortFunc(found, offsetmap.Finding.Compare)
	return preflight.Blocked(found)
}

// firstStatus waits for the status of a connector that may have been created or
// given its config a moment ago: until the worker has read it from its topic there
// is none, and until it acts upon a new config it is UNASSIGNED.
func (m *Migration) firstStatus(ctx context.Context) (connectrest.Status, error) {
	const pause = 100 * time.Millisecond
	for deadline := m.now().Add(m.readBack); ; {
		status, err := m.cfg.Connect.Status(ctx, m.cfg.Connector)
		early := errors.Is(err, connectrest.ErrNoStatus) || err == nil && status.Connector.State == connectrest.StateUnassigned
		if !early || !m.now().Before(deadline) {
			return status, err
		}
		if err := m.sleep(ctx, pause); err != nil {
			return status, err
		}
	}
}

// otherConfig says how the connector differs from the config that was given.
func (m *Migration) otherConfig(f preflight.Facts) []offsetmap.Finding {
	if m.given == nil {
		return nil
	}
	return f.OtherConfig(m.given)
}
