package flinkmm2

import (
	"context"
	"log/slog"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Option changes how a Migration works.
type Option func(*Migration)

// What the steps log at level Info, by its message. Everything else is of level
// Debug.
const (
	// LogAct comes before something is changed. Attributes: name, connector, plan,
	// detail.
	LogAct = "act"
	// LogWait comes before a step stands still on purpose, so that a program can say
	// so. Attributes: for (a text), duration, and connector where that is STOPPED
	// meanwhile.
	LogWait = "wait"
	// LogProgress comes now and then during long work. Attributes: what (a text),
	// done, total, connector.
	LogProgress = "progress"
)

// WithLogger gives the logger for what the steps do.
// By default, nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(m *Migration) { m.log = l } }

// WithActor says who acts, for the journal.
// By default, it is the name of the operating system's user.
func WithActor(by string) Option { return func(m *Migration) { m.by = by } }

// WithJob names the Kubernetes Job that acts, for the journal; see JobFromEnv.
// By default, or with nil, it is none.
func WithJob(job *JobIdentity) Option { return func(m *Migration) { m.job = job } }

// WithTool names the program and its version in plans and in the journal.
// By default, "flinkmm2" and "devel".
func WithTool(name, version string) Option {
	return func(m *Migration) { m.toolName, m.toolVersion = name, version }
}

// WithLifetime says how long a plan may be applied and started.
// By default, offsetmap.DefaultLifetime.
func WithLifetime(d time.Duration) Option { return func(m *Migration) { m.lifetime = d } }

// WithFlushTimeout says how long a task that was stopped may still commit an
// offset: the worker's offset.flush.timeout.ms, which its REST API does not
// show. Where the connector may have run, offsets count as settled only when
// they have not moved for longer than this.
// By default, 30 seconds.
func WithFlushTimeout(d time.Duration) Option { return func(m *Migration) { m.flushTimeout = d } }

// WithReadBackTimeout says how long a read-back is repeated until it equals
// what was written; a worker's first answer may be short.
// By default, one minute.
func WithReadBackTimeout(d time.Duration) Option { return func(m *Migration) { m.readBack = d } }

// WithStopTimeout says how long to wait until a stopped connector has no task
// left.
// By default, two minutes.
func WithStopTimeout(d time.Duration) Option { return func(m *Migration) { m.stopWait = d } }

// WithStartTimeout says how long a resumed connector may take to show its tasks.
// Seen: a fifth of a second; with a source that cannot be reached, 16 seconds,
// and then none. A start that was killed after its resume waits as long before
// it believes that the resume was never sent.
// By default, one minute.
func WithStartTimeout(d time.Duration) Option { return func(m *Migration) { m.startWait = d } }

// WithProducerResolver says how to find the cluster behind the connector's
// producer.override.bootstrap.servers.
// By default, it is asked with the options of Config.Target.
func WithProducerResolver(r preflight.Resolver) Option { return func(m *Migration) { m.producer = r } }

// WithSourceResolver says how to find the cluster behind the connector's
// source.cluster.bootstrap.servers, which may be addresses that only the worker
// can reach. With nil, the check is not made, and blocks until it is accepted.
// By default, it is asked with the options of Config.Source.
func WithSourceResolver(r preflight.Resolver) Option { return func(m *Migration) { m.source = r } }

// WithFlink says who knows the old job: *flinkrest.Client, of a JobManager or a
// history server. It is asked in Preflight, MakePlan and Start, and again directly
// before the resume, so that a job which was started since is found; the commit of
// a boundary is refused while it says that the job runs. The name of the job beside
// its id lets Start do with a server that has forgotten the job meanwhile.
// By default, nobody is asked, and a plan says that the job's end is not proven.
func WithFlink(server preflight.Flink, job flinkrest.Job) Option {
	return func(m *Migration) { m.flink, m.flinkJob = server, job }
}

// WithDeliveryBounds bounds how much of the records around each C is read in Preflight
// and MakePlan, on the source and on the target.
// By default, a field has the default that preflight.DeliveryBounds tells.
func WithDeliveryBounds(b preflight.DeliveryBounds) Option {
	return func(m *Migration) { m.deliveryBounds = b }
}

// WithDeliveryReader replaces what looks for the records around each C on the target.
// With nil nobody looks, for programs that may not read records: boundary/not-looked-at
// then warns in each plan that nothing shows what the old job has delivered.
// By default, they are read with the options of Config.Source and Config.Target.
func WithDeliveryReader(r preflight.DeliveryReader) Option {
	return func(m *Migration) { m.delivery, m.deliveryGiven = r, true }
}

// WithChecks adds checks of the user's own to those of package preflight.
// By default, there are none.
func WithChecks(checks ...preflight.Check) Option {
	return func(m *Migration) { m.checks = append(m.checks, checks...) }
}

// WithClock replaces the clock and the way to wait, for tests.
// By default, the time package's.
func WithClock(now func() time.Time, sleep func(context.Context, time.Duration) error) Option {
	return func(m *Migration) { m.now, m.sleep = now, sleep }
}
