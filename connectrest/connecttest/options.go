package connecttest

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Option configures a [Worker].
type Option func(*options) error

type options struct {
	version         version
	keys            []configKey // that the version knows
	shownVersion    string
	kafka           []kgo.Opt
	flushInterval   time.Duration
	refreshInterval time.Duration // 0: what the connector's configuration says
	settleTime      time.Duration
	gracefulTimeout time.Duration
	requestTimeout  time.Duration
	overridePolicy  OverridePolicy
	topicTracking   TopicTracking
	listen          func(network, address string) (net.Listener, error)
	advertised      string // empty: where it listens
	logger          *slog.Logger
}

func defaultOptions() *options {
	return &options{
		version:         version{4, 3, 1},
		flushInterval:   60 * time.Second,
		settleTime:      20 * time.Millisecond,
		gracefulTimeout: 5 * time.Second,
		requestTimeout:  90 * time.Second,
		overridePolicy:  OverrideAll,
		topicTracking:   TrackingEnabled,
		listen:          net.Listen,
		logger:          slog.New(slog.DiscardHandler),
	}
}

// WithVersion sets the Kafka version whose behaviour the worker shows, as three
// numbers. A version before 3.4.0 or after the 4 line is an error of
// [NewWorker].
//
// By default, 4.3.1.
func WithVersion(v string) Option {
	return func(o *options) (err error) {
		o.version, err = parseVersion(v)
		return err
	}
}

// WithVersionString sets the version that GET / and the plugins report, as
// vendors' builds do ("3.9.0.redhat-00001"). It changes nothing else.
//
// By default, the version of [WithVersion].
func WithVersionString(s string) Option {
	return func(o *options) error {
		if s == "" {
			return errors.New("version string: it is empty")
		}
		o.shownVersion = s
		return nil
	}
}

// WithKafkaOptions adds options to every Kafka client of the worker and of its
// connectors: a dialer, TLS, SASL, a logger. Addresses, partitions and whatever
// else a connector configures are set after them.
//
// By default, clients connect in plain text.
func WithKafkaOptions(opts ...kgo.Opt) Option {
	return func(o *options) error {
		if slices.Contains(opts, nil) {
			return errors.New("kafka options: one of them is nil")
		}
		o.kafka = append(o.kafka, opts...)
		return nil
	}
}

// WithOffsetFlushInterval sets how often running tasks commit source offsets,
// offset.flush.interval.ms. What was copied since the last flush is copied again
// after [Worker.Kill]. A stop always commits.
//
// By default, 60 s, as a real worker.
func WithOffsetFlushInterval(d time.Duration) Option {
	return positive("offset flush interval", d, func(o *options) { o.flushInterval = d })
}

// WithTopicRefreshInterval sets how often connectors look for new topics and
// partitions, whatever their refresh.topics.interval.seconds says, whose
// smallest value is too slow for a test. refresh.topics.enabled=false still
// switches it off.
//
// By default, the connector's configuration decides.
func WithTopicRefreshInterval(d time.Duration) Option {
	return positive("topic refresh interval", d, func(o *options) { o.refreshInterval = d })
}

// WithSettleTime sets how long the worker takes to act upon a change, which on a
// real worker is a rebalance: until then a new connector has no status, a
// stopped one shows its tasks, and a change of offsets waits.
//
// By default, 20 ms.
func WithSettleTime(d time.Duration) Option {
	return positive("settle time", d, func(o *options) { o.settleTime = d })
}

// WithGracefulTimeout sets how long the worker waits for a task that ends,
// task.shutdown.graceful.timeout.ms. A task that takes longer is abandoned: it
// leaves the status, and commits later.
//
// By default, 5 s, as a real worker.
func WithGracefulTimeout(d time.Duration) Option {
	return positive("graceful timeout", d, func(o *options) { o.gracefulTimeout = d })
}

// WithRequestTimeout sets after what time the worker gives up a request that
// waits for its connectors and answers 500 "Request timed out".
//
// By default, 90 s, as a real worker.
func WithRequestTimeout(d time.Duration) Option {
	return positive("request timeout", d, func(o *options) { o.requestTimeout = d })
}

// OverridePolicy is a connector.client.config.override.policy.
type OverridePolicy string

const (
	// OverrideAll lets connectors override every client setting.
	OverrideAll OverridePolicy = "All"
	// OverrideNone refuses connectors with producer.override.* and the like.
	OverrideNone OverridePolicy = "None"
)

// WithOverridePolicy sets the worker's connector.client.config.override.policy.
//
// By default, [OverrideAll], as a real worker since 3.0.
func WithOverridePolicy(p OverridePolicy) Option {
	return func(o *options) error {
		if p != OverrideAll && p != OverrideNone {
			return fmt.Errorf("override policy %q: want %s or %s", p, OverrideAll, OverrideNone)
		}
		o.overridePolicy = p
		return nil
	}
}

// TopicTracking says whether the worker tells which topics a connector has
// written (KIP-558).
type TopicTracking string

const (
	// TrackingEnabled tells, and forgets when asked to.
	TrackingEnabled TopicTracking = "enabled"
	// TrackingResetDisabled refuses to forget: topic.tracking.allow.reset=false.
	TrackingResetDisabled TopicTracking = "reset disabled"
	// TrackingDisabled refuses both: topic.tracking.enable=false.
	TrackingDisabled TopicTracking = "disabled"
)

// WithTopicTracking sets whether GET and reset of active topics are served; what
// is not is answered with 403.
//
// By default, [TrackingEnabled], as a real worker.
func WithTopicTracking(t TopicTracking) Option {
	return func(o *options) error {
		if t != TrackingEnabled && t != TrackingResetDisabled && t != TrackingDisabled {
			return fmt.Errorf("topic tracking %q: want %q, %q or %q", t, TrackingEnabled, TrackingResetDisabled, TrackingDisabled)
		}
		o.topicTracking = t
		return nil
	}
}

// WithListen sets the function that opens the REST port, so that a test may
// choose the address or stay off the network.
//
// By default, [net.Listen].
func WithListen(listen func(network, address string) (net.Listener, error)) Option {
	return func(o *options) error {
		if listen == nil {
			return errors.New("listen function: it is nil")
		}
		o.listen = listen
		return nil
	}
}

// WithAdvertisedAddress sets the HOST:PORT at which the worker tells others to reach
// it, rest.advertised.host.name and rest.advertised.port: its worker_id in statuses,
// and where a [Follower] forwards to. One at which nobody listens is the mistake that
// is made most: every worker serves reads, and what only the leader may do fails
// through all but the leader.
//
// By default, where it listens.
func WithAdvertisedAddress(hostPort string) Option {
	return func(o *options) error {
		host, port, err := net.SplitHostPort(hostPort)
		if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || host == "" || portErr != nil || n == 0 {
			return fmt.Errorf("advertised address %q: want HOST:PORT", hostPort)
		}
		o.advertised = hostPort
		return nil
	}
}

// WithLogger sets where the worker logs what a real one would: connectors and
// tasks that start, stop and fail, topics that are created, failures during
// poll.
//
// By default, nowhere.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) error {
		if l == nil {
			return errors.New("logger: it is nil")
		}
		o.logger = l
		return nil
	}
}

func positive(what string, d time.Duration, set func(*options)) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("%s %s: it is not positive", what, d)
		}
		set(o)
		return nil
	}
}
