package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/internal/delivery"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Cluster is one Kafka cluster: an admin client for its facts, and the options
// of a client that can read its records.
type Cluster struct {
	Admin Admin
	// Options connect to the same cluster: seed brokers, TLS, SASL, dialer.
	// Watch reads records with them, and Preflight and MakePlan those around each C;
	// they add the partitions, the offsets and the isolation level themselves.
	Options []kgo.Opt
}

// Admin is the part of a Kafka admin client that a migration needs.
// *kadm.Client satisfies it.
type Admin interface {
	preflight.Admin

	// What CommitBoundary asks of the source, and the one thing that it writes.
	FetchOffsets(ctx context.Context, group string) (kadm.OffsetResponses, error)
	DescribeGroups(ctx context.Context, groups ...string) (kadm.DescribedGroups, error)
	ListGroups(ctx context.Context, filterStates ...string) (kadm.ListedGroups, error)
	CommitOffsets(ctx context.Context, group string, offsets kadm.Offsets) (kadm.OffsetResponses, error)

	// What Start asks of the target for its baseline, and AcceptanceList again.
	DescribeACLs(ctx context.Context, filter *kadm.ACLBuilder) (kadm.DescribeACLsResults, error)
	FetchManyOffsets(ctx context.Context, groups ...string) kadm.FetchOffsetsResponses
}

// Connect is the part of a Connect REST client that a migration needs.
// *connectrest.Client satisfies it.
type Connect interface {
	preflight.Connect
	Create(ctx context.Context, req connectrest.CreateRequest) (connectrest.ConnectorInfo, error)
	CreateThenStop(ctx context.Context, req connectrest.CreateRequest, idle connectrest.Config) (connectrest.ConnectorInfo, error)
	AwaitStopped(ctx context.Context, name string) (connectrest.Status, error)
	AwaitOffsets(ctx context.Context, name string, want func([]connectrest.Offset) error, within time.Duration) ([]connectrest.Offset, error)
	AlterOffsetsInParts(ctx context.Context, name string, offsets []connectrest.Offset, opts ...connectrest.PartsOption) error
	ReplaceConfig(ctx context.Context, name string, config connectrest.Config) (connectrest.ConnectorInfo, error)
	Stop(ctx context.Context, name string) error
	Resume(ctx context.Context, name string) error
	ListConnectors(ctx context.Context, expand ...connectrest.Expansion) (connectrest.ConnectorList, error)
	Delete(ctx context.Context, name string) error
}

// Config says which clusters, which worker and which connector a migration is
// about.
type Config struct {
	Source  Cluster
	Target  Cluster
	Connect Connect

	// Connector is the connector's name: the namespace of its stored offsets.
	Connector string
	// ConnectorConfig is what Create creates it with, and what the steps forward
	// (Preflight, MakePlan, Apply, Verify, Start) hold it to: a connector with
	// another one, secrets aside, is refused. Nil is enough for all but Create, and
	// they then take the config that the worker has. Watch and the way back work
	// whatever it is.
	ConnectorConfig connectrest.Config

	// Topics are the source topics of the migration. Empty means those that the
	// old job's state names.
	Topics []string

	// Journal keeps what was done. It is required, and lies beside the plan.
	Journal Journal
}

// Migration joins the steps that carry a stopped Flink job's progress to
// MirrorMaker 2, and back: Create, MakePlan, Apply, Verify, Start, Watch,
// Rollback, CommitBoundary.
//
// Each step can be run again. A Migration holds no state of the migration
// itself: what a step decides, it decides from what it sees at that moment.
type Migration struct {
	cfg   Config
	given connectrest.Config // as the worker shows it; nil when none was given

	log           *slog.Logger
	now           func() time.Time
	sleep         func(context.Context, time.Duration) error
	by            string
	host          string
	job           *JobIdentity
	locks         []Lock
	toolName      string
	toolVersion   string
	lifetime      time.Duration
	flushTimeout  time.Duration
	readBack      time.Duration
	stopWait      time.Duration
	startWait     time.Duration
	groupWindow   time.Duration
	calm          time.Duration
	principals    preflight.Principals
	connectTopics preflight.ConnectTopics
	producer      preflight.Resolver
	source        preflight.Resolver
	flink         preflight.Flink
	flinkJob      flinkrest.Job
	checks        []preflight.Check
	keepBackup    func(context.Context, *OffsetsBackup) error

	see func(context.Context, *observer) engine.Observed // the world, for a decision

	delivery       preflight.DeliveryReader
	deliveryGiven  bool
	deliveryBounds preflight.DeliveryBounds
}

// New returns a migration over the parts of cfg.
func New(cfg Config, opts ...Option) (*Migration, error) {
	var errs []error
	missing := func(absent bool, what string) {
		if absent {
			errs = append(errs, errors.New("no "+what))
		}
	}
	missing(cfg.Source.Admin == nil, "source admin client")
	missing(cfg.Target.Admin == nil, "target admin client")
	missing(len(cfg.Source.Options) == 0, "source client options, with which Watch reads records")
	missing(len(cfg.Target.Options) == 0, "target client options, with which Watch reads records")
	missing(cfg.Connect == nil, "Connect client")
	missing(cfg.Journal == nil, "journal")
	if err := connectrest.CheckName(cfg.Connector); err != nil {
		errs = append(errs, err)
	}
	given, err := namedConfig(cfg.Connector, cfg.ConnectorConfig)
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("new migration: %w", errors.Join(errs...))
	}
	m := &Migration{
		cfg:          cfg,
		given:        given,
		log:          slog.New(slog.DiscardHandler),
		now:          time.Now,
		sleep:        sleep,
		by:           osUser(),
		host:         hostname(),
		toolName:     "flinkmm2",
		toolVersion:  "devel",
		lifetime:     0,
		flushTimeout: 30 * time.Second,
		readBack:     time.Minute,
		stopWait:     2 * time.Minute,
		startWait:    time.Minute,
		see:          func(ctx context.Context, o *observer) engine.Observed { return o.world(ctx) },
		producer:     preflight.ReachedBy("producer.override.bootstrap.servers", cfg.Target.Options...),
		source:       preflight.ReachedBy("source.cluster.bootstrap.servers", cfg.Source.Options...),
	}
	for _, o := range opts {
		o(m)
	}
	if !m.deliveryGiven {
		m.delivery = delivery.New(cfg.Source.Options, cfg.Target.Options, m.deliveryBounds)
	}
	if m.flink != nil {
		if err := m.flinkJob.Check(); err != nil {
			return nil, fmt.Errorf("new migration: the job of WithFlink: %w", err)
		}
	}
	if err := errors.Join(m.checkGroupWindow(), m.checkCalm(), m.principals.Check(), m.connectTopics.Check()); err != nil {
		return nil, fmt.Errorf("new migration: %w", err)
	}
	return m, nil
}

// namedConfig is a config as the worker shows it: with the connector's name in it.
func namedConfig(name string, config connectrest.Config) (connectrest.Config, error) {
	if config == nil {
		return nil, nil
	}
	if n, ok := config["name"]; ok && n != name {
		return nil, fmt.Errorf("the config names the connector %q, the migration %q", n, name)
	}
	named := maps.Clone(config)
	named["name"] = name
	return named, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func osUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid()) // images often have no list of users
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "" // it decides nothing
	}
	return name
}

// journal appends an entry with what all entries have.
func (m *Migration) journal(ctx context.Context, e Entry) error {
	return m.cfg.Journal.Append(ctx, m.stamp(e))
}

func (m *Migration) stamp(e Entry) Entry {
	e.At, e.Connector, e.By, e.Host, e.Job = m.now().UTC(), m.cfg.Connector, m.by, m.host, m.job
	e.Tool = &offsetmap.Tool{Name: m.toolName, Version: m.toolVersion}
	return e
}

// act writes the intent e to the journal, does the act, and writes how it ended.
// An act whose outcome is unknown stays in the journal as that.
func (m *Migration) act(ctx context.Context, e Entry, do func(context.Context) error) error {
	return m.actAfter(ctx, -1, e, do)
}

// actAfter is act for what was decided when the journal had so many entries. Of
// several that decide at once, the one whose intent is written first acts.
func (m *Migration) actAfter(ctx context.Context, entries int, e Entry, do func(context.Context) error) error {
	ctx, release, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.Phase = PhaseBegin
	begin := m.stamp(e)
	// Asked before as well, so that those who come too late write nothing, by which
	// they would overtake others.
	if err := m.notOvertaken(ctx, entries, begin); err != nil {
		return err
	}
	if err := m.cfg.Journal.Append(ctx, begin); err != nil {
		return err
	}
	if err = m.notOvertaken(ctx, entries, begin); err == nil {
		err = m.stillLocked(ctx)
	}
	if err == nil {
		m.log.InfoContext(ctx, LogAct, "name", e.Act, "connector", m.cfg.Connector, "plan", e.Plan, "detail", e.Detail)
		err = do(ctx)
	}
	e.Phase, e.Request = PhaseDone, nil
	if err != nil {
		e.Phase, e.Detail = PhaseFailed, err.Error()
		if unclear(err) {
			e.Phase = PhaseUnknown
		}
	}
	// The outcome is written even when the caller has given up: it happened.
	return errors.Join(err, m.journal(context.WithoutCancel(ctx), e))
}

// notOvertaken holds that nothing was written to the journal since it had so
// many entries, or the intent first.
func (m *Migration) notOvertaken(ctx context.Context, entries int, intent Entry) error {
	if entries < 0 {
		return nil
	}
	all, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return err
	}
	for _, e := range all[min(entries, len(all)):] {
		switch {
		case e.Act == intent.Act && e.Plan == intent.Plan && e.By == intent.By && e.Phase == intent.Phase && e.At.Equal(intent.At) && e.Host == intent.Host && e.Job.equal(intent.Job):
			return nil
		case (e.Connector == intent.Connector || isHandBack(e.Act)) && e.Phase != PhaseFailed && !quietActs[e.Act]:
			return ErrOvertaken
		}
	}
	return nil
}

func unclear(err error) bool {
	if _, sent := errors.AsType[*sentError](err); sent {
		return true
	}
	return errors.Is(err, ErrOutcomeUnknown) || errors.Is(err, connectrest.ErrOutcomeUnknown) || errors.Is(err, connectrest.ErrReadBack) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
