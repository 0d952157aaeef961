package flinkrest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// Option changes how a [Client] works.
type Option func(*settings) error

type settings struct {
	transport      http.RoundTripper
	tls            *tls.Config
	authorize      func(*http.Request)
	secrets        []string
	log            *slog.Logger
	attemptTimeout time.Duration
	retry          RetryPolicy
	clock          Clock
	jitter         func() float64
}

// RetryPolicy bounds how often a request is sent again. A zero field takes its
// default.
type RetryPolicy struct {
	// MinPause is the pause before the second attempt; each next one doubles.
	// Each pause is drawn between half of that and the whole. By default, 200 ms.
	MinPause time.Duration
	// MaxPause bounds one pause, and what a Retry-After header asks for. By
	// default, 5 s.
	MaxPause time.Duration
	// Budget bounds the sum of the pauses of one call. A negative Budget means
	// that no request is sent again. By default, 30 s.
	//
	// Failures that waiting seldom mends (an unknown host, an attempt that took
	// too long, a server error of unknown meaning) are tried twice more at most.
	Budget time.Duration
}

// Clock is the time by which a [Client] pauses and waits.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or ctx's error as soon as ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// WithTransport sends requests through t, which may add headers, tokens or
// tracing. By default, a clone of [http.DefaultTransport], which takes HTTP
// proxies from the environment.
func WithTransport(t http.RoundTripper) Option {
	return func(s *settings) error {
		if t == nil {
			return errors.New("the transport is nil")
		}
		s.transport = t
		return nil
	}
}

// WithTLSConfig connects by c: RootCAs for a server behind a private CA,
// Certificates for client certificates. It cannot be combined with
// [WithTransport], which has a TLS configuration of its own. By default, the
// system's CAs and no client certificate.
func WithTLSConfig(c *tls.Config) Option {
	return func(s *settings) error {
		if c == nil {
			return errors.New("the TLS configuration is nil")
		}
		s.tls = c.Clone()
		return nil
	}
}

// WithBasicAuth sends user and password with every request. By default, those
// of the base URL's user-info, or none.
func WithBasicAuth(user, password string) Option {
	return func(s *settings) error {
		if s.authorize != nil {
			return errors.New("credentials are given twice: by WithBasicAuth and by the URL, or by two options")
		}
		s.authorize = func(r *http.Request) { r.SetBasicAuth(user, password) }
		s.secrets = restapi.BasicAuthSecrets(user, password)
		return nil
	}
}

// WithLogger logs to l: each failed attempt as a warning, each request as debug.
// Nothing logged holds a secret. By default, nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) error {
		if l == nil {
			return errors.New("the logger is nil")
		}
		s.log = l
		return nil
	}
}

// DefaultAttemptTimeout is above the 10 s after which a JobManager itself gives
// up on one of its parts (web.timeout, ask.timeout).
const DefaultAttemptTimeout = 20 * time.Second

// WithAttemptTimeout bounds one request, from the connection to the last byte
// of the answer. By default, [DefaultAttemptTimeout].
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
		if p.MinPause < 0 || p.MaxPause < 0 {
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
