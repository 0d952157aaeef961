package cutover

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// recorder stands between a migration and its worker and keeps what reaches the
// worker.
type recorder struct {
	URL string

	mu      sync.Mutex
	writes  []string // "PUT /connectors/NAME/resume", in order
	instead func(http.ResponseWriter, *http.Request) bool
}

func newRecorder(t testing.TB, worker string) *recorder {
	t.Helper()
	to, err := url.Parse(worker)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	// Without connections that are kept, no request is sent again by net/http.
	transport := &http.Transport{DisableKeepAlives: true}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(p *httputil.ProxyRequest) { p.SetURL(to) },
		Transport:    transport,
		ErrorLog:     log.New(io.Discard, "", 0), // of answers that a fault cuts
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		if req.Method != http.MethodGet {
			r.writes = append(r.writes, req.Method+" "+req.URL.Path)
		}
		instead := r.instead
		r.mu.Unlock()
		if instead != nil && instead(rw, req) {
			return
		}
		proxy.ServeHTTP(rw, req)
	}))
	t.Cleanup(s.Close)
	r.URL = s.URL
	return r
}

// answer lets f answer in the worker's place what it returns true for. With nil
// the worker answers everything again.
func (r *recorder) answer(f func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instead = f
}

// sent counts the writes that ended so.
func (r *recorder) sent(suffix string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.writes {
		if strings.HasSuffix(w, suffix) {
			n++
		}
	}
	return n
}

func (r *recorder) all() int { return r.sent("") }

// cell is a world with a worker of its own, which a fault may hit without
// hitting others, and short waits, on brokers that it shares.
func cell(t testing.TB, shared Stage, name string, opts ...connecttest.Option) (*world, *connecttest.Worker, *recorder) {
	t.Helper()
	opts = append([]connecttest.Option{
		connecttest.WithOffsetFlushInterval(100 * time.Millisecond), connecttest.WithTopicRefreshInterval(time.Second),
	}, opts...)
	worker, err := connecttest.NewWorker(context.WithoutCancel(t.Context()), strings.Split(shared.Target, ","), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	shared.Connect = worker.URL
	w := newWorld(t, shared)
	w.prefix += "-" + strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	w.connector = w.prefix
	r := newRecorder(t, worker.URL)
	w.client = impatient(t, r.URL)
	return w, worker, r
}

// impatient is a client whose pauses fit a test; what it may send again is as
// ever.
func impatient(t testing.TB, base string, opts ...connectrest.Option) *connectrest.Client {
	t.Helper()
	c, err := connectrest.New(base, append([]connectrest.Option{connectrest.WithRetry(connectrest.RetryPolicy{
		MinPause: 5 * time.Millisecond, MaxPause: 50 * time.Millisecond, Budget: 300 * time.Millisecond, ReadBack: time.Second,
	})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
