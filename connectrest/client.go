package connectrest

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

// Client asks one Kafka Connect worker, or a gateway before several. It may be
// used by several goroutines at once.
//
// Printed, logged or written as JSON, a Client is its base URL.
type Client struct {
	base  string // without user-info, query and trailing slash
	http  *http.Client
	log   *slog.Logger
	retry RetryPolicy
	clock Clock

	jitter    func() float64
	userAgent string
	assumed   Version

	// Both hold the credentials in closures: see restapi.NewScrubber.
	authorize   func(*http.Request)
	authSecrets func() []string
}

// New returns a client of the worker at baseURL, such as
// "https://connect.example:8083" or, behind a gateway,
// "https://gateway.example/connect/mm2": the path is kept. User-info in the URL
// becomes basic authentication. Nothing is sent yet.
func New(baseURL string, opts ...Option) (*Client, error) {
	s := settings{
		log:            slog.New(slog.DiscardHandler),
		attemptTimeout: DefaultAttemptTimeout,
		clock:          restapi.SystemClock{},
		jitter:         rand.Float64,
		userAgent:      "flinkmm2-connectrest",
	}
	u, err := restapi.ParseBase(baseURL, "")
	if err != nil {
		return nil, fmt.Errorf("base URL of Kafka Connect: %w", err)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		opts = append([]Option{WithBasicAuth(u.User.Username(), password)}, opts...)
		u.User = nil
	}
	for _, o := range opts {
		if err := o(&s); err != nil {
			return nil, fmt.Errorf("client of Kafka Connect at %s: %w", u, err)
		}
	}
	hc, err := s.client()
	if err != nil {
		return nil, fmt.Errorf("client of Kafka Connect at %s: %w", u, err)
	}
	if s.tls != nil && s.tls.InsecureSkipVerify {
		s.log.Warn("the certificate of Kafka Connect is not verified", "url", u.String())
	}
	secrets := s.authSecrets
	return &Client{
		base:        strings.TrimRight(u.String(), "/"),
		http:        hc,
		log:         s.log,
		retry:       s.retry.withDefaults(),
		clock:       s.clock,
		jitter:      s.jitter,
		userAgent:   s.userAgent,
		assumed:     s.assumed,
		authorize:   s.authorize,
		authSecrets: func() []string { return secrets },
	}, nil
}

func (s *settings) client() (*http.Client, error) {
	given := 0
	for _, is := range []bool{s.httpClient != nil, s.transport != nil, s.tls != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return nil, errors.New("only one of WithHTTPClient, WithTransport and WithTLSConfig can be used")
	}
	c := new(http.Client)
	switch {
	case s.httpClient != nil:
		*c = *s.httpClient
	case s.transport != nil:
		c.Transport = s.transport
	default:
		t, err := restapi.Transport(s.tls)
		if err != nil {
			return nil, err
		}
		c.Transport = t
	}
	c.Timeout = s.attemptTimeout
	c.CheckRedirect = restapi.CheckRedirect
	return c, nil
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&p.MinPause, 200*time.Millisecond)
	set(&p.MaxPause, 5*time.Second)
	set(&p.Budget, 2*time.Minute)
	set(&p.ReadBack, 30*time.Second)
	return p
}

// CloseIdleConnections closes the connections that no request uses. A client
// needs no other closing.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// String returns the base URL, without credentials.
func (c *Client) String() string { return c.base }

// GoString returns String, so that %#v shows no more than %v does.
func (c *Client) GoString() string { return "connectrest.Client(" + c.base + ")" }

// LogValue returns the base URL.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.base) }

// MarshalText returns the base URL.
func (c *Client) MarshalText() ([]byte, error) { return []byte(c.base), nil }
