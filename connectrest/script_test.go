package connectrest_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// reply answers one request.
type reply func(w http.ResponseWriter, r *http.Request)

// status replies with a body, as JSON unless it begins with "<".
func status(code int, body string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(body, "<") {
			w.Header().Set("Content-Type", "text/html;charset=iso-8859-1")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// refuse replies as a worker refuses.
func refuse(code int, message string) reply {
	return status(code, fmt.Sprintf(`{"error_code":%d,"message":%q}`, code, message))
}

// broken reads the request and breaks the connection: what was sent may have
// been done.
func broken(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

// cut promises more than it sends.
func cut(code int, body string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		panic(http.ErrAbortHandler)
	}
}

// slow sends the body's beginning and then nothing until the client gives up.
func slow(code int, body string) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done()
	}
}

// script is a server that answers each kind of request in the given order; the
// last answer repeats. A request that it does not expect fails the test.
type script struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	replies  map[string][]reply
	prefixes map[string]reply
	requests []string // "METHOD /escaped/path"
	bodies   []string
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{t: t, replies: make(map[string][]reply)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *script) on(request string, replies ...reply) *script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[request] = replies
	return s
}

// any answers every request that begins with prefix and has no answer of its own.
func (s *script) any(prefix string, r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prefixes == nil {
		s.prefixes = make(map[string]reply)
	}
	s.prefixes[prefix] = r
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.EscapedPath()
	s.mu.Lock()
	s.requests, s.bodies = append(s.requests, key), append(s.bodies, string(body))
	list := s.replies[key]
	for prefix, r := range s.prefixes {
		if len(list) == 0 && strings.HasPrefix(key, prefix) {
			list = []reply{r}
		}
	}
	if len(list) == 0 {
		s.mu.Unlock()
		s.t.Errorf("unexpected request %s", key)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	answer := list[0]
	if len(list) > 1 {
		s.replies[key] = list[1:]
	}
	s.mu.Unlock()
	answer(w, r)
}

// sent counts the requests of one kind.
func (s *script) sent(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if r == request {
			n++
		}
	}
	return n
}

func (s *script) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *script) body(request string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.requests {
		if r == request {
			return s.bodies[i]
		}
	}
	return ""
}

// clock is a time that passes only while somebody sleeps.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	sleeps []time.Duration
	during func() // called in each sleep
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.sleeps = append(c.sleeps, d)
	during := c.during
	c.mu.Unlock()
	if during != nil {
		during()
	}
	return ctx.Err()
}

func (c *clock) slept() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.sleeps...)
}

// dial returns a client of url that never really sleeps and whose jitter takes
// each pause whole.
func dial(t *testing.T, url string, c *clock, opts ...connectrest.Option) *connectrest.Client {
	t.Helper()
	opts = append([]connectrest.Option{
		connectrest.WithClock(c),
		connectrest.WithJitter(func() float64 { return 1 }),
	}, opts...)
	client, err := connectrest.New(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func (s *script) client(opts ...connectrest.Option) *connectrest.Client {
	return dial(s.t, s.URL, newClock(), opts...)
}

// logTo logs everything, as JSON, to w.
func logTo(w io.Writer) connectrest.Option {
	return connectrest.WithLogger(slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

const (
	stopped       = `{"name":"mm2","connector":{"state":"STOPPED","worker_id":"w:8083"},"tasks":[],"type":"source"}`
	stoppedOne    = `{"name":"mm2","connector":{"state":"STOPPED","worker_id":"w:8083"},"tasks":[{"id":0,"state":"RUNNING","worker_id":"w:8083"}],"type":"source"}`
	pausedOne     = `{"name":"mm2","connector":{"state":"PAUSED","worker_id":"w:8083"},"tasks":[{"id":0,"state":"PAUSED","worker_id":"w:8083"}],"type":"source"}`
	running       = `{"name":"mm2","connector":{"state":"RUNNING","worker_id":"w:8083"},"tasks":[{"id":0,"state":"RUNNING","worker_id":"w:8083"}],"type":"source"}`
	runningNoTask = `{"name":"mm2","connector":{"state":"RUNNING","worker_id":"w:8083"},"tasks":[],"type":"source"}`
	created       = `{"name":"mm2","config":{"connector.class":"MirrorSourceConnector","topics":"orders","name":"mm2"},"tasks":[],"type":"source"}`
	withTask      = `{"name":"mm2","config":{"name":"mm2"},"tasks":[{"connector":"mm2","task":0}],"type":"source"}`
	worker39      = `{"version":"3.9.2","commit":"5e9866f43ab8e7e4","kafka_cluster_id":"dGFyZ2V0LWNsdXN0ZXItMQ"}`
	noStatus      = `No status found for connector mm2`
	stale         = `Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)`
	rebalance     = `Cannot complete request because of a conflicting operation (e.g. worker rebalance)`
	mustBeStopped = `Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector by issuing a 'PUT' request to the '/connectors/mm2/stop' endpoint`
	timedOut      = `Request timed out. The last operation the worker completed was modifying offsets for connector mm2`
	forwarding    = `IO Error trying to forward REST request: java.net.UnknownHostException: mm2-0.mm2.svc`
	jettyNotFound = "<html>\n<head><title>Error 404 Not Found</title></head>\n<body><h2>HTTP ERROR 404 Not Found</h2></body>\n</html>"
)

func createMM2() connectrest.CreateRequest {
	return connectrest.CreateRequest{
		Name:         "mm2",
		Config:       connectrest.Config{"connector.class": "MirrorSourceConnector", "topics": "orders"},
		InitialState: connectrest.StateStopped,
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// newPrivateWorker serves behind TLS of its own CA, and wants a client certificate
// and the user's password. What it refuses it repeats.
func newPrivateWorker(t *testing.T) *script {
	s := &script{t: t, replies: map[string][]reply{"GET /connectors": {func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			refuse(401, "no: "+r.Header.Get("Authorization"))(w, r)
			return
		}
		status(200, `[]`)(w, r)
	}}}}
	s.Server = httptest.NewUnstartedServer(s)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}
