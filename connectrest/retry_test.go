package connectrest_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// Two conflicts, then success: the conflict was a rebalance.
func TestRebalanceIsWaitedForWithGrowingJitteredPauses(t *testing.T) {
	s := newScript(t).on("PUT /connectors/mm2/stop", refuse(409, rebalance), refuse(409, rebalance), refuse(409, rebalance), status(204, ""))
	draws := []float64{0, 0.5, 1}
	c := newClock()
	client := dial(t, s.URL, c, connectrest.WithJitter(func() float64 {
		d := draws[0]
		draws = draws[1:]
		return d
	}))
	if err := client.Stop(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 800 * time.Millisecond}
	if diff := cmp.Diff(want, c.slept()); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if n := s.sent("PUT /connectors/mm2/stop"); n != 4 {
		t.Errorf("sent %d times, want 4", n)
	}
}

// The same status for a name that exists must not be tried again.
func TestExistingNameIsNoRebalance(t *testing.T) {
	s := newScript(t).
		on("GET /", status(200, worker39)).
		on("GET /connectors/mm2", refuse(404, "Connector mm2 not found")).
		on("POST /connectors", refuse(409, "Connector mm2 already exists"))
	c := newClock()
	_, err := dial(t, s.URL, c).Create(t.Context(), createMM2())
	checkMeanings(t, err, connectrest.ErrExists)
	if n := s.sent("POST /connectors"); n != 1 || len(c.slept()) != 0 {
		t.Errorf("sent %d times with pauses %v, want once", n, c.slept())
	}
}

func TestStaleConfigurationForEverEndsAtTheDeadlineWithTheLastText(t *testing.T) {
	s := newScript(t).on("PUT /connectors/mm2/stop", refuse(409, stale))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	deadline, stop := context.WithDeadline(ctx, time.Now().Add(time.Hour))
	defer stop()
	c := newClock()
	c.during = func() {
		if len(c.slept()) == 4 {
			cancel(nil)
		}
	}
	err := dial(t, s.URL, c).Stop(deadline, "mm2")
	checkMeanings(t, err, connectrest.ErrStaleConfig)
	e, ok := errors.AsType[*connectrest.Error](err)
	if !ok || e.Attempts != 4 || e.Message != stale || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := s.sent("PUT /connectors/mm2/stop"); n != 4 {
		t.Errorf("sent %d times after the context ended, want 4", n)
	}
}

// A live worker that asks for patience is asked until the deadline; a dead one
// is not.
func TestDeadlineAndNotTheBudgetEndsAConflict(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	s := newScript(t).on("GET /connectors", append(many(99, refuse(409, stale)), status(200, `[]`))...).
		on("GET /connector-plugins", status(503, ""))
	client := s.client(connectrest.WithRetry(connectrest.RetryPolicy{Budget: 10 * time.Second}))
	if _, err := client.Connectors(ctx); err != nil {
		t.Errorf("got %v", err)
	}
	_, err := client.Plugins(ctx)
	checkMeanings(t, err, connectrest.ErrNotReady)
	if n := s.sent("GET /connector-plugins"); n != 6 {
		t.Errorf("sent %d times, want 6: 0.2 0.4 0.8 1.6 3.2 and no 5 s", n)
	}
}

func TestRealDeadlineEndsTheRetries(t *testing.T) {
	s := newScript(t).on("PUT /connectors/mm2/stop", refuse(409, stale))
	client, err := connectrest.New(s.URL, connectrest.WithRetry(connectrest.RetryPolicy{MinPause: time.Millisecond, MaxPause: 5 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	err = client.Stop(ctx, "mm2")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestBudgetEndsTheRetries(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy connectrest.RetryPolicy
		sent   int
	}{
		{"default: 0.2 0.4 0.8 1.6 3.2 and 22 times 5 s", connectrest.RetryPolicy{}, 28},
		{"none", connectrest.RetryPolicy{Budget: -1}, 1},
		{"three pauses", connectrest.RetryPolicy{MinPause: time.Second, MaxPause: time.Second, Budget: 3 * time.Second}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on("GET /connectors", refuse(409, stale))
			_, err := s.client(connectrest.WithRetry(tt.policy)).Connectors(t.Context())
			checkMeanings(t, err, connectrest.ErrStaleConfig)
			if n := s.sent("GET /connectors"); n != tt.sent {
				t.Errorf("sent %d times, want %d", n, tt.sent)
			}
		})
	}
}

// A worker that cannot reach its leader needs a person, not patience.
func TestForwardingFailureIsTriedTwiceMore(t *testing.T) {
	s := newScript(t).on("GET /connectors", refuse(500, forwarding))
	_, err := s.client().Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrForwarding)
	if n := s.sent("GET /connectors"); n != 3 {
		t.Errorf("sent %d times, want 3", n)
	}
	for _, want := range []string{"rest.advertised.host.name", "NetworkPolicy", "java.net.UnknownHostException: mm2-0.mm2.svc"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %s: %v", want, err)
		}
	}
}

func TestForwardingFailureOnOneWorkerOfTwoSucceeds(t *testing.T) {
	s := newScript(t).on("GET /connectors", refuse(500, forwarding), status(200, `["b","a"]`))
	got, err := s.client().Connectors(t.Context())
	if err != nil || !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// roundTripper is a transport made of a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRefusedConnectionIsTriedAgainForReadsAndWrites(t *testing.T) {
	s := newScript(t).on("GET /connectors", status(200, `[]`)).
		on("PUT /connectors/mm2/stop", status(204, "")).on("PUT /connectors/mm2/resume", status(202, ""))
	var tries atomic.Int32
	client := dial(t, s.URL, newClock(), connectrest.WithTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		if tries.Add(1) < 3 {
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}
		return http.DefaultTransport.RoundTrip(r)
	})))
	for name, do := range map[string]func() error{
		"read":  func() error { _, err := client.Connectors(t.Context()); return err },
		"write": func() error { return client.Stop(t.Context(), "mm2") },
		// Nothing was sent, so this is no second resume.
		"resume": func() error { return client.Resume(t.Context(), "mm2") },
	} {
		tries.Store(0)
		if err := do(); err != nil || tries.Load() != 3 {
			t.Errorf("%s: %d tries: %v", name, tries.Load(), err)
		}
	}
}

func TestUnreachableWorkerIsNoUnknownOutcome(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	_ = l.Close()
	err = dial(t, base, newClock()).Stop(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnreachable)
}

// A port that takes connections and says nothing: TLS never begins.
func TestConnectionThatIsNeverMadeIsNoUnknownOutcome(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	timeout := connectrest.WithAttemptTimeout(50 * time.Millisecond)
	err = dial(t, "https://"+l.Addr().String(), newClock(), timeout).Resume(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnreachable, connectrest.ErrTimedOut)
	// Of another's transport nobody knows what it has sent.
	err = dial(t, "https://"+l.Addr().String(), newClock(), timeout, connectrest.WithTransport(&http.Transport{})).Resume(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer, connectrest.ErrTimedOut)
}

// What nothing shows must not be lost on a connection that the worker has closed:
// its outcome would be unknown for ever.
func TestCallsThatNothingShowsUseNoConnectionAgain(t *testing.T) {
	for name, call := range map[string]func(context.Context, *connectrest.Client) error{
		"resume":       func(ctx context.Context, c *connectrest.Client) error { return c.Resume(ctx, "mm2") },
		"restart task": func(ctx context.Context, c *connectrest.Client) error { return c.RestartTask(ctx, "mm2", 0) },
		"restart": func(ctx context.Context, c *connectrest.Client) error {
			_, err := c.Restart(ctx, "mm2", connectrest.RestartRequest{})
			return err
		},
	} {
		var mu sync.Mutex
		used := make(map[string]bool)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			again := used[r.RemoteAddr]
			used[r.RemoteAddr] = true
			mu.Unlock()
			switch {
			case again:
				broken(w, r)
			case r.Method == http.MethodGet:
				status(200, `[]`)(w, r)
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		client := dial(t, srv.URL, newClock())
		_, err := client.Connectors(t.Context())
		if err == nil {
			err = call(t.Context(), client)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		srv.Close()
	}
}

// A connection that was made may have brought the request there.
func TestWriteWithoutAnAnswerInTimeIsAnUnknownOutcome(t *testing.T) {
	s := newScript(t).on("PUT /connectors/mm2/resume", slow(202, "")).on("GET /connectors/mm2/status", status(200, stopped))
	client := s.client(connectrest.WithAttemptTimeout(400 * time.Millisecond))
	checkMeanings(t, client.Resume(t.Context(), "mm2"), connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer, connectrest.ErrTimedOut)
}

func TestProxyThatRefusesToConnectHasSentNothing(t *testing.T) {
	for code, want := range map[int]error{
		407: connectrest.ErrUnauthorized, 403: connectrest.ErrUnreachable, 503: connectrest.ErrUnreachable,
	} {
		connects := 0
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodConnect {
				t.Errorf("the proxy got %s %s", r.Method, r.URL)
			}
			connects++
			w.WriteHeader(code)
		}))
		to, err := url.Parse(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		standard := http.DefaultTransport
		http.DefaultTransport = &http.Transport{Proxy: http.ProxyURL(to)} // which a client clones
		client := dial(t, "https://connect.invalid:8083", newClock(), connectrest.WithRetry(connectrest.RetryPolicy{MinPause: 1, Budget: 1}))
		http.DefaultTransport = standard
		err = client.Resume(t.Context(), "mm2")
		proxy.Close()
		checkMeanings(t, err, want)
		if again := connects > 1; again == (code == 407) || !strings.Contains(err.Error(), strconv.Itoa(code)) {
			t.Errorf("%d: asked %d times: %v", code, connects, err)
		}
	}
}

func TestUnknownHostIsTriedTwiceMore(t *testing.T) {
	tries := 0
	client := dial(t, "http://connect.invalid", newClock(), connectrest.WithTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		tries++
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "connect.invalid", IsNotFound: true}}
	})))
	_, err := client.Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrUnreachable)
	if tries != 3 {
		t.Errorf("%d tries, want 3", tries)
	}
}

func TestSlowBodyPastTheAttemptTimeout(t *testing.T) {
	s := newScript(t).on("GET /connectors/mm2/offsets", slow(200, `{"offsets":[`), status(200, `{"offsets":[]}`))
	client := s.client(connectrest.WithAttemptTimeout(200 * time.Millisecond))
	if got, err := client.Offsets(t.Context(), "mm2"); err != nil || len(got) != 0 {
		t.Fatalf("got %v, %v", got, err)
	}
	s.on("GET /connectors/mm2/offsets", slow(200, `{"offsets":[`))
	_, err := client.Offsets(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrNoAnswer, connectrest.ErrTimedOut)
	e, ok := errors.AsType[*connectrest.Error](err)
	if !ok || e.Attempts != 3 || !strings.Contains(err.Error(), "WithAttemptTimeout") {
		t.Errorf("got %v", err)
	}
}

// json decodes into what is there: a map keeps its keys, a list its elements.
func TestAnswerLeavesNothingInTheNextOne(t *testing.T) {
	whole := func(body string) reply { return cut(200, body) } // all of the JSON, and no end of the answer
	s := newScript(t).on("GET /admin/loggers", whole(`{"root":{"level":"INFO","last_modified":7},"gone":{"level":"WARN"}}`), status(200, `{"root":{"level":"INFO"}}`)).
		on("GET /connectors/mm2/status", whole(strings.Replace(running, `"state"`, `"trace":"of the first answer","state"`, 2)), status(200, running))
	levels, err := s.client().Loggers(t.Context())
	if diff := cmp.Diff(connectrest.LoggerLevels{"root": {Level: "INFO"}}, levels); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err := s.client().Status(t.Context(), "mm2")
	if err != nil || got.Connector.Trace != "" || got.Tasks[0].Trace != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	// The old configuration is read back before the new one is sent again.
	s.on("GET /connectors/mm2", status(200, strings.Replace(created, `"topics"`, `"gone":"x","topics"`, 1))).
		on("PUT /connectors/mm2/config", broken, status(200, newConfig))
	info, err := s.client().ReplaceConfig(t.Context(), "mm2", replaced())
	want := replaced()
	want["name"] = "mm2"
	if diff := cmp.Diff(want, info.Config); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestBodiesAreRewound(t *testing.T) {
	s := newScript(t).on("PATCH /connectors/mm2/offsets", refuse(409, stale), refuse(409, stale), status(200, `{"message":"ok"}`))
	offsets := []connectrest.Offset{{Partition: raw(`{"a":1}`), Offset: raw(`{"b":2}`)}}
	if err := s.client().AlterOffsets(t.Context(), "mm2", offsets); err != nil {
		t.Fatal(err)
	}
	want := `{"offsets":[{"partition":{"a":1},"offset":{"b":2}}]}`
	if diff := cmp.Diff([]string{want, want, want}, s.bodies); diff != "" {
		t.Error(diff)
	}
}

func TestRetryAfterIsHonouredUpToTheLongestPause(t *testing.T) {
	after := func(seconds string) reply {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", seconds)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	s := newScript(t).on("GET /connectors", after("3"), after("3600"), after("-1"), after("soon"), status(200, `[]`))
	c := newClock()
	if _, err := dial(t, s.URL, c).Connectors(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{3 * time.Second, 5 * time.Second, 800 * time.Millisecond, 1600 * time.Millisecond}
	if diff := cmp.Diff(want, c.slept()); diff != "" {
		t.Error(diff)
	}
}

func TestEndedContextSendsNothing(t *testing.T) {
	s := newScript(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.client().Stop(ctx, "mm2")
	if !errors.Is(err, context.Canceled) || errors.Is(err, connectrest.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestContextThatEndsDuringAWriteLeavesTheOutcomeUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newScript(t).on("PUT /connectors/mm2/stop", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	err := s.client().Stop(ctx, "mm2")
	checkMeanings(t, err, connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := len(s.all()); n != 1 {
		t.Errorf("sent %v", s.all())
	}
}

func TestRedirects(t *testing.T) {
	to := func(code int, url string) reply {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", url)
			w.WriteHeader(code)
		}
	}
	other := newScript(t)
	t.Run("a read follows within the host", func(t *testing.T) {
		s := newScript(t).on("GET /connectors", to(307, "/elsewhere")).on("GET /elsewhere", status(200, `["x"]`))
		if got, err := s.client().Connectors(t.Context()); err != nil || len(got) != 1 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := newScript(t).
			on("GET /connectors", to(code, other.URL+"/x?token=hidden-token")).
			on("PUT /connectors/mm2/stop", to(code, "/connectors/mm2/stop2")).
			on("GET /connectors/mm2/status", refuse(404, noStatus))
		client := s.client(connectrest.WithBasicAuth("u", "hidden-password"), connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: 1}))
		_, err := client.Connectors(t.Context())
		checkMeanings(t, err, connectrest.ErrUnexpected)
		if !strings.Contains(err.Error(), other.URL+"/x,") || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%d: %v", code, err)
		}
		err = client.Stop(t.Context(), "mm2")
		if !errors.Is(err, connectrest.ErrUnexpected) || s.sent("GET /connectors/mm2/stop2")+s.sent("PUT /connectors/mm2/stop2") != 0 {
			t.Errorf("%d: a write was redirected: %v", code, err)
		}
	}
	if got := other.all(); len(got) != 0 {
		t.Errorf("the other host was asked: %v", got)
	}
}

func TestSchemeMismatch(t *testing.T) {
	s := newScript(t)
	_, err := dial(t, "https"+strings.TrimPrefix(s.URL, "http"), newClock(), connectrest.WithTLSConfig(&tls.Config{})).Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrUnreachable)
	if !strings.Contains(err.Error(), "use http://") {
		t.Errorf("no hint: %v", err)
	}
}
