package connectrest

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
)

// Client asks the workers of one Kafka Connect cluster: one of them, several, or
// a gateway before them. It may be used by several goroutines at once.
//
// Printed, logged or written as JSON, a Client is its base URLs.
type Client struct {
	workers *workers
	http    *http.Client
	traced  bool // http's transport is of our own making
	log     *slog.Logger
	retry   RetryPolicy
	clock   Clock

	jitter    func() float64
	userAgent string
	assumed   Version
	maxList   int64
	// askCapability is WithCapabilityQuestions.
	askCapability bool

	// Both hold secrets in closures: see restapi.NewScrubber.
	authorize authorizer
	headers   authorizer
}

// New returns a client of the worker at baseURL, such as
// "https://connect.example:8083" or, behind a gateway,
// "https://gateway.example/connect/mm2": the path is kept. User-info in the URL
// becomes basic authentication. Nothing is sent yet.
func New(baseURL string, opts ...Option) (*Client, error) {
	return NewCluster([]string{baseURL}, opts...)
}

// NewCluster returns a client of several workers of one Connect cluster, given
// as [New] takes them. Requests go to the first that answers, and on to the next
// when it cannot be reached, is not ready, or cannot forward to its leader; a
// write whose outcome is unknown is read back first, as always. User-info in a
// URL goes to that host alone; credentials given as options go to all.
//
// That the URLs lead to one cluster is not checked here: see [Client.Probe].
func NewCluster(baseURLs []string, opts ...Option) (*Client, error) {
	w, err := parseWorkers(baseURLs)
	if err != nil {
		return nil, err
	}
	s := settings{
		log:            slog.New(slog.DiscardHandler),
		attemptTimeout: DefaultAttemptTimeout,
		clock:          restapi.SystemClock{},
		jitter:         rand.Float64,
		userAgent:      "flinkmm2-connectrest",
		maxList:        maxList,
	}
	refuse := func(err error) error { return fmt.Errorf("client of Kafka Connect at %s: %w", w, err) }
	for i, o := range opts {
		if o == nil {
			return nil, refuse(fmt.Errorf("option %d is nil", i+1))
		}
		if err := o(&s); err != nil {
			return nil, refuse(err)
		}
	}
	if s.authorize != nil && slices.ContainsFunc(w.list, func(o worker) bool { return o.authorize != nil }) {
		return nil, refuse(errTwoCredentials)
	}
	hc, err := s.client()
	if err != nil {
		return nil, refuse(err)
	}
	if s.tls != nil && s.tls.InsecureSkipVerify {
		s.log.Warn("the certificate of Kafka Connect is not verified", "url", w.String())
	}
	return &Client{
		workers:   w,
		http:      hc,
		traced:    s.httpClient == nil && s.transport == nil,
		log:       s.log,
		retry:     s.retry.withDefaults(),
		clock:     s.clock,
		jitter:    s.jitter,
		userAgent: s.userAgent,
		assumed:   s.assumed,
		maxList:   s.maxList,

		askCapability: s.askCapability,

		authorize: s.authorize,
		headers:   s.headers(),
	}, nil
}

func (s *settings) client() (*http.Client, error) {
	if err := s.readTLS(); err != nil {
		return nil, err
	}
	given := 0
	for _, is := range []bool{s.httpClient != nil, s.transport != nil, s.tls != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return nil, errors.New("only one of WithHTTPClient, WithTransport and the options of TLS (WithTLSConfig, WithCAFile, WithClientCertificate) can be used")
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
		if t.OnProxyConnectResponse == nil {
			t.OnProxyConnectResponse = refusedByProxy
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

// String returns the base URLs, without credentials.
func (c *Client) String() string { return c.workers.String() }

// GoString returns String, so that %#v shows no more than %v does.
func (c *Client) GoString() string { return "connectrest.Client(" + c.String() + ")" }

// LogValue returns the base URLs.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns the base URLs.
func (c *Client) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
