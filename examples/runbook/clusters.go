package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// clientOptions connect to a cluster, in PLAINTEXT. A person waits for an
// answer, so brokers that cannot be reached are given up sooner than a service
// would.
func clientOptions(bootstrap []string) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(bootstrap...), kgo.ClientID("flinkmm2-runbook"),
		kgo.DialTimeout(5 * time.Second), kgo.RetryTimeout(15 * time.Second),
	}
}

// session is a migration with open clients.
type session struct {
	*migration
	dir   string // state.dir, which exists
	steps *flinkmm2.Migration
	close func()
}

// open reads migration.yaml and makes clients. Nothing is connected yet.
func (a *app) open() (*session, error) {
	m, err := readMigration(a.file)
	if err != nil {
		return nil, err
	}
	a.read = m
	dir, err := m.openState()
	if err != nil {
		return nil, err
	}
	source, err := kgo.NewClient(clientOptions(m.Source.Bootstrap)...)
	if err != nil {
		return nil, fmt.Errorf("source.bootstrap: %w", err)
	}
	target, err := kgo.NewClient(clientOptions(m.Target.Bootstrap)...)
	if err != nil {
		source.Close()
		return nil, fmt.Errorf("target.bootstrap: %w", err)
	}
	s := &session{migration: m, dir: dir, close: func() { source.Close(); target.Close() }}
	connect, err := connectrest.NewCluster(m.Connect.URLs, connectrest.WithUserAgent("flinkmm2-runbook"),
		connectrest.WithLogger(slog.New(newPatience(a.errs, time.Now))))
	if err != nil {
		s.close()
		return nil, fmt.Errorf("connect.urls: %w", err)
	}
	job, err := flinkmm2.JobFromEnv(os.Getenv)
	if err != nil {
		s.close()
		return nil, err
	}
	locks, err := m.locks(dir)
	if err != nil {
		s.close()
		return nil, err
	}
	options := []flinkmm2.Option{flinkmm2.WithJob(job), flinkmm2.WithLock(locks...), flinkmm2.WithTool("runbook", version()), flinkmm2.WithLogger(slog.New(waits{a.note})), flinkmm2.WithDeliveryBounds(m.bounds)}
	if m.flushTimeout > 0 {
		options = append(options, flinkmm2.WithFlushTimeout(m.flushTimeout))
	}
	if m.calm > 0 {
		options = append(options, flinkmm2.WithCalm(m.calm))
	}
	options = append(options, flinkmm2.WithPrincipals(preflight.Principals{
		Source: cmp.Or(m.Connect.SourcePrincipal, m.Connect.Principal), Target: m.Connect.Principal,
	}))
	options = append(options, flinkmm2.WithConnectTopics(preflight.ConnectTopics(m.Connect.Topics)))
	options = append(options, flinkmm2.WithBackup(a.keepBackup(dir)))
	if m.groupWindow > 0 {
		options = append(options, flinkmm2.WithGroupWindow(m.groupWindow))
	}
	if m.Flink.REST != "" {
		flink, err := flinkrest.New(m.Flink.REST, flinkrest.WithLogger(slog.New(newPatience(a.errs, time.Now))))
		if err != nil {
			s.close()
			return nil, fmt.Errorf("flink.rest: %w", err)
		}
		options = append(options, flinkmm2.WithFlink(flink, m.job))
	}
	s.steps, err = flinkmm2.New(flinkmm2.Config{
		Source:          flinkmm2.Cluster{Admin: kadm.NewClient(source), Options: clientOptions(m.Source.Bootstrap)},
		Target:          flinkmm2.Cluster{Admin: kadm.NewClient(target), Options: clientOptions(m.Target.Bootstrap)},
		Connect:         connect,
		Connector:       m.Connector.Name,
		ConnectorConfig: m.config,
		Topics:          m.Topics,
		Journal:         flinkmm2.NewFileJournal(filepath.Join(dir, journalFile)),
	}, options...)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// holdCommand is what gives the connector the config of migration.yaml. It
// leaves a STOPPED connector STOPPED.
func (m *migration) holdCommand() string {
	file := "FILE, with connector.config in FILE as one JSON object"
	if filepath.Ext(m.Connector.File) == ".json" {
		file = shown.Argument(m.Connector.File)
	}
	return "curl -X PUT -H 'Content-Type: application/json' " + shown.Argument(m.connectorURL()+"/config") + " -d @" + file
}

// connectorURL is where the worker has the connector, for a person to use.
func (m *migration) connectorURL() string {
	return offsetmap.RedactSetting("location", strings.TrimSuffix(m.Connect.URLs[0], "/")) + "/connectors/" + url.PathEscape(m.Connector.Name)
}

// request is what a plan is made from, beside the clusters.
func (s *session) request(ctx context.Context) (flinkmm2.PlanRequest, error) {
	p := s.Positions
	request := flinkmm2.PlanRequest{Group: p.Group, Source: p.Operator, Attestations: s.Attest}
	if p.From == "group" {
		request.Origin = offsetmap.FromGroup
	} else {
		snapshot, err := readSavepoint(ctx, p.Savepoint, p.PathMap, p.Cluster, flinkstate.WithSinkFiles())
		if err != nil {
			return flinkmm2.PlanRequest{}, fmt.Errorf("positions.savepoint: %w", err)
		}
		request.Snapshot = snapshot
	}
	earlier, err := s.earlierPlans()
	if err != nil {
		return flinkmm2.PlanRequest{}, err
	}
	request.Earlier = earlier
	request.Acceptances = s.accepted(func(a offsetmap.Acceptance) bool { return !ofRollback(a) && !ofRestore(a) })
	return request, nil
}
