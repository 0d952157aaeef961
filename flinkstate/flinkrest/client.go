package flinkrest

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// Client asks one JobManager, or one history server. It may be used by several
// goroutines at once.
//
// Printed, logged or written as JSON, a Client is its base URL.
type Client struct {
	base   string // without user-info, query and trailing slash
	http   *http.Client
	log    *slog.Logger
	retry  RetryPolicy
	clock  Clock
	jitter func() float64

	// In closures, so that nothing that prints a Client prints the credentials.
	authorize func(*http.Request)
	scrub     func(string) string
}

// New returns a client of the server at baseURL, such as
// "http://jobmanager:8081" or, behind a reverse proxy,
// "https://gateway.example/flink/copy-orders": the path is kept. User-info in
// the URL becomes basic authentication. Nothing is sent yet.
func New(baseURL string, opts ...Option) (*Client, error) {
	s := settings{
		log:            slog.New(slog.DiscardHandler),
		attemptTimeout: DefaultAttemptTimeout,
		clock:          restapi.SystemClock{},
		jitter:         rand.Float64,
	}
	u, err := restapi.ParseBase(baseURL, " (of a page of Flink's web interface, take what stands before /#/)")
	if err != nil {
		return nil, fmt.Errorf("base URL of Flink: %w", err)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		opts = append([]Option{WithBasicAuth(u.User.Username(), password)}, opts...)
		u.User = nil
	}
	for _, o := range opts {
		if err := o(&s); err != nil {
			return nil, fmt.Errorf("client of Flink at %s: %w", u, err)
		}
	}
	transport, err := s.roundTripper()
	if err != nil {
		return nil, fmt.Errorf("client of Flink at %s: %w", u, err)
	}
	if s.tls != nil && s.tls.InsecureSkipVerify {
		s.log.Warn("the certificate of Flink is not verified", "url", u.String())
	}
	return &Client{
		base:      strings.TrimRight(u.String(), "/"),
		http:      &http.Client{Transport: transport, Timeout: s.attemptTimeout, CheckRedirect: restapi.CheckRedirect},
		log:       s.log,
		retry:     s.retry.withDefaults(),
		clock:     s.clock,
		jitter:    s.jitter,
		authorize: s.authorize,
		scrub:     restapi.NewScrubber(s.secrets...),
	}, nil
}

func (s *settings) roundTripper() (http.RoundTripper, error) {
	switch {
	case s.transport != nil && s.tls != nil:
		return nil, errors.New("only one of WithTransport and WithTLSConfig can be used")
	case s.transport != nil:
		return s.transport, nil
	}
	return restapi.Transport(s.tls)
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&p.MinPause, 200*time.Millisecond)
	set(&p.MaxPause, 5*time.Second)
	set(&p.Budget, 30*time.Second)
	return p
}

// CloseIdleConnections closes the connections that no request uses. A client
// needs no other closing.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// String returns the base URL, without credentials.
func (c *Client) String() string { return c.base }

// GoString returns String, so that %#v shows no more than %v does.
func (c *Client) GoString() string { return "flinkrest.Client(" + c.base + ")" }

// LogValue returns the base URL.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.base) }

// MarshalText returns the base URL.
func (c *Client) MarshalText() ([]byte, error) { return []byte(c.base), nil }
