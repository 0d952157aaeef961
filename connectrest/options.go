package connectrest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Option changes how a [Client] works.
type Option func(*settings) error

type settings struct {
	httpClient     *http.Client
	transport      http.RoundTripper
	tls            *tls.Config
	caFiles        []string
	certFile       string
	keyFile        string
	authorize      authorizer
	extra          []header
	log            *slog.Logger
	attemptTimeout time.Duration
	retry          RetryPolicy
	clock          Clock
	jitter         func() float64
	userAgent      string
	assumed        Version
	maxList        int64
	askCapability  bool
}

// RetryPolicy bounds how often a request is sent again, and how long a write
// whose answer was lost is read back. What may be sent again at all is not a
// matter of policy: see the package comment. A zero field takes its default.
type RetryPolicy struct {
	// MinPause is the pause before the second attempt; each next one doubles.
	// Each pause is drawn between half of that and the whole. By default, 200 ms.
	MinPause time.Duration
	// MaxPause bounds one pause, and what a Retry-After header asks for. By
	// default, 5 s.
	MaxPause time.Duration
	// Budget bounds the sum of the pauses of one call. A negative Budget means
	// that no request is sent again, to another worker neither, and a write whose
	// outcome is unknown is read back and left at that. By default, 2 min.
	//
	// A worker that says itself that the conflict is momentary (a rebalance, a
	// stale configuration) is asked until the context's deadline, where it has
	// one. Failures that waiting seldom mends (an unknown host, a worker that
	// cannot reach its leader, an attempt that took too long, a server error of
	// unknown meaning) are tried twice more at most.
	Budget time.Duration
	// ReadBack bounds how long a call reads back after a write whose outcome is
	// unknown, and how long Create waits for the status of what it created. A
	// write that never came to be is sent again, also to another worker, only once
	// this has passed; or, where the context's deadline is nearer, half of the time
	// that is left. By default, 30 s.
	ReadBack time.Duration
}

// Clock is the time by which a [Client] pauses and waits.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or ctx's error as soon as ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// WithHTTPClient sends requests by c: its Transport and its Jar. Its Timeout
// and its CheckRedirect are not used: see [WithAttemptTimeout], and reads alone
// follow redirects, within the same scheme and host. c is not changed.
// By default, a client with its own clone of [http.DefaultTransport], which
// takes HTTP proxies from the environment.
func WithHTTPClient(c *http.Client) Option {
	return func(s *settings) error {
		if c == nil {
			return errors.New("the HTTP client is nil")
		}
		s.httpClient = c
		return nil
	}
}

// WithTransport sends requests through t, which may add headers, tokens or
// tracing. A t that sends a write twice breaks what this package guarantees.
// By default, a clone of [http.DefaultTransport].
func WithTransport(t http.RoundTripper) Option {
	return func(s *settings) error {
		if t == nil {
			return errors.New("the transport is nil")
		}
		s.transport = t
		return nil
	}
}

// WithLogger logs to l: each failed attempt and each unknown outcome as a
// warning, each request as debug. Nothing logged holds a secret. By default,
// nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) error {
		if l == nil {
			return errors.New("the logger is nil")
		}
		s.log = l
		return nil
	}
}

// DefaultAttemptTimeout is above the 90 s after which a worker itself gives up
// (RestServer.DEFAULT_REST_REQUEST_TIMEOUT_MS) and says how far it came.
const DefaultAttemptTimeout = 100 * time.Second

// WithAttemptTimeout bounds one request, from the connection to the last byte
// of the answer. Below 90 s, slow answers turn into unknown outcomes. By
// default, [DefaultAttemptTimeout].
func WithAttemptTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return fmt.Errorf("the attempt timeout is %v, it must be positive", d)
		}
		s.attemptTimeout = d
		return nil
	}
}

// WithRetry sets the bounds of p. By default, those that [RetryPolicy] names.
func WithRetry(p RetryPolicy) Option {
	return func(s *settings) error {
		if p.MinPause < 0 || p.MaxPause < 0 || p.ReadBack < 0 {
			return errors.New("a pause of the retry policy is negative")
		}
		s.retry = p
		return nil
	}
}

// WithClock pauses and waits by c. By default, the system's clock.
func WithClock(c Clock) Option {
	return func(s *settings) error {
		if c == nil {
			return errors.New("the clock is nil")
		}
		s.clock = c
		return nil
	}
}

// WithJitter draws the pauses by f, which returns numbers from 0 to below 1 and
// may be called from several goroutines. By default, [math/rand/v2.Float64].
func WithJitter(f func() float64) Option {
	return func(s *settings) error {
		if f == nil {
			return errors.New("the source of jitter is nil")
		}
		s.jitter = f
		return nil
	}
}

// WithUserAgent sends name as User-Agent. By default, "flinkmm2-connectrest".
func WithUserAgent(name string) Option {
	return func(s *settings) error {
		if hasControl(name) {
			return errors.New("the user agent holds a control character")
		}
		s.userAgent = name
		return nil
	}
}

// WithAssumedVersion takes a worker whose report does not say its Kafka version
// for v: a vendor build with a numbering of its own. A report that is understood
// wins. By default, such a worker is refused wherever the version decides.
func WithAssumedVersion(v Version) Option {
	return func(s *settings) error {
		if !v.Known() {
			return fmt.Errorf("%w: assumed version %q", ErrVersion, v.String())
		}
		s.assumed = v
		return nil
	}
}
