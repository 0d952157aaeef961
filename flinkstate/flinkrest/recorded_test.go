package flinkrest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// recording is what a real server answered, by path.
type recording map[string]struct {
	Status int
	Body   json.RawMessage
}

func load(t testing.TB, name string) recording {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// job is the id of the one job of a recording.
func (r recording) job(t testing.TB) JobID {
	t.Helper()
	for path := range r {
		id, rest, _ := strings.Cut(strings.TrimPrefix(path, "/jobs/"), "/")
		if rest == "checkpoints" {
			return JobID(id)
		}
	}
	t.Fatal("the recording has no job")
	return ""
}

// stage is a server that answers as a real one did.
type stage struct {
	*httptest.Server
	mu    sync.Mutex
	now   recording
	asked []string
	// with may change an answer.
	with func(w http.ResponseWriter, r *http.Request) (done bool)
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	with, now := s.with, s.now
	s.mu.Unlock()
	if with != nil && with(w, r) {
		return
	}
	a, ok := now[r.URL.Path]
	if !ok {
		http.Error(w, `{"errors":["Not found: `+r.URL.Path+`"]}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}

func serve(t testing.TB, r recording) *stage {
	t.Helper()
	s := &stage{now: r}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// play changes what the server answers from now on.
func (s *stage) play(r recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = r
}

// fakeClock sleeps at once and remembers for how long.
type fakeClock struct {
	mu    sync.Mutex
	slept []time.Duration
	after func()
}

func (c *fakeClock) Now() time.Time { return time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC) }

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.slept = append(c.slept, d)
	c.mu.Unlock()
	if c.after != nil {
		c.after()
	}
	return ctx.Err()
}

func connect(t testing.TB, url string, opts ...Option) (*Client, *fakeClock) {
	t.Helper()
	clock := &fakeClock{}
	c, err := New(url, append([]Option{WithClock(clock), WithJitter(func() float64 { return 0.5 })}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c, clock
}

func ask(t testing.TB, c *Client, job Job) Evidence {
	t.Helper()
	e, err := c.Evidence(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
