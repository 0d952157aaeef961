package connecttest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// stopped starts a worker with a STOPPED connector mm2 that has the offset 5
// for orders-0.
func stopped(t *testing.T, opts ...connecttest.Option) (*stage, *connecttest.Worker) {
	t.Helper()
	s, w := embedded(t, opts...)
	s.create(t, "mm2", "STOPPED", s.config())
	s.patchOrders(t, 5)
	return s, w
}

func (s *stage) patchOrders(t *testing.T, m int64) {
	t.Helper()
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, m)))
}

const (
	offsetsPath  = "/connectors/*/offsets"
	storedOrders = "source/orders/0"
)

func TestRequestFaults(t *testing.T) {
	patches := connecttest.Requests{Method: "PATCH", Path: offsetsPath, Times: 1}
	const (
		before = `{"offset":5}`
		after  = `{"offset":9}`
	)
	for _, c := range []struct {
		name   string
		fault  connecttest.Fault
		status int // of the PATCH; 0: the connection breaks
		text   string
		stored string
	}{
		{"answer lost after the write", connecttest.LoseAnswer{Requests: patches}, 0, "", after},
		{"request lost", connecttest.LoseRequest{Requests: patches}, 0, "", before},
		{"answer cut", connecttest.CutAnswer{Requests: patches}, 0, "", after},
		{"rebalance", connecttest.Rebalance{Requests: patches}, 409, "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)", before},
		{"rebalance in other words", connecttest.Rebalance{Requests: patches, Message: "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"}, 409, "Cannot complete request because of a conflicting operation (e.g. worker rebalance)", before},
		{"forwarding fails", connecttest.ForwardingFailure{Requests: patches, Cause: "java.net.UnknownHostException: mm2-0.mm2.svc"}, 500, "IO Error trying to forward REST request: java.net.UnknownHostException: mm2-0.mm2.svc", before},
		{"forwarding fails on the way back", connecttest.ForwardingFailure{Requests: patches, AfterWork: true}, 500, "IO Error trying to forward REST request: java.net.UnknownHostException: leader", after},
		{"timeout", connecttest.RequestTimeout{Requests: patches}, 500, "Request timed out. The last operation the worker completed was modifying offsets for connector mm2, which began at ...", before},
		{"timeout and done", connecttest.RequestTimeout{Requests: patches, AfterWork: true}, 500, "Request timed out. The last operation the worker completed was modifying offsets for connector mm2, which began at ...", after},
		{"not stopped", connecttest.NotStopped{Requests: patches}, 400, "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector by issuing a 'PUT' request to the '/connectors/mm2/stop' endpoint", before},
		{"fixed answer", connecttest.Answer{Requests: patches, Status: 503, Body: `{"error_code":503,"message":"no"}`}, 503, "no", before},
		{"fixed answer after the work", connecttest.Answer{Requests: patches, AfterWork: true, Body: `{"error_code":500,"message":"no"}`}, 500, "no", after},
		{"late", connecttest.Delay{Requests: patches, For: 30 * time.Millisecond}, 200, "", after},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, w := stopped(t)
			injected := w.Inject(c.fault)
			r, err := s.try(t.Context(), "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9)))
			switch {
			case c.status == 0 && err == nil:
				t.Errorf("PATCH: %s, want a broken connection", r)
			case c.status != 0 && (err != nil || r.status != c.status || !r.says(c.text)):
				t.Errorf("PATCH: %s %v, want %d %q", r, err, c.status, c.text)
			}
			if injected.Hits() != 1 {
				t.Errorf("hits = %d, want 1", injected.Hits())
			}
			if got := s.offsets(t, "mm2")[storedOrders]; got != c.stored {
				t.Errorf("stored %s, want %s", got, c.stored)
			}
			s.patchOrders(t, 10) // the fault was for one request
		})
	}
}

func TestFaultsThatAreNoJSON(t *testing.T) {
	s, w := stopped(t)
	for _, c := range []struct {
		name   string
		fault  connecttest.Fault
		status int
		text   string
	}{
		{"proxy", connecttest.ProxyPage{}, 502, "Bad Gateway"},
		{"proxy of another kind", connecttest.ProxyPage{Status: 503}, 503, "Service Unavailable"},
		{"worker that starts", connecttest.Starting{}, 404, "HTTP ERROR 404 Not Found"},
	} {
		injected := w.Inject(c.fault)
		r := s.call(t, "GET", "/connectors/mm2", nil)
		if r.status != c.status || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || !strings.Contains(r.body, c.text) {
			t.Errorf("%s: %s, want %d and HTML with %q", c.name, r, c.status, c.text)
		}
		injected.Remove()
		s.must(t, http.StatusOK, "GET", "/connectors/mm2", nil)
	}
}

// What a worker was doing when it gave a request up is told since 3.7.
func TestRequestTimeoutOfAnOldWorkerNamesNoStage(t *testing.T) {
	s, w := embedded(t, connecttest.WithVersion("3.6.2"))
	w.Inject(connecttest.RequestTimeout{})
	r, err := s.try(t.Context(), "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9)))
	if err != nil || r.status != 500 || r.message() != "Request timed out" {
		t.Errorf("PATCH: %s %v", r, err)
	}
}

// A rebalance answers reads of the herder's state with 500.
func TestRebalanceAnswersReadsWith500(t *testing.T) {
	s, w := stopped(t)
	w.Inject(connecttest.Rebalance{Requests: connecttest.Requests{Method: "GET", Path: "/connectors/mm2/config", Times: 1}})
	r, err := s.try(t.Context(), "GET", "/connectors/mm2/config", nil)
	if err != nil || r.status != 500 || r.message() != "Request cannot be completed because a rebalance is expected" {
		t.Errorf("GET config: %s %v", r, err)
	}
}

func TestFaultSelectsRequests(t *testing.T) {
	s, w := stopped(t)
	for _, c := range []struct {
		name     string
		requests connecttest.Requests
		want     string // one letter for each of five GET offsets: . passes, x is hit
	}{
		{"every request", connecttest.Requests{}, "xxxxx"},
		{"another method", connecttest.Requests{Method: "PUT"}, "....."},
		{"another path", connecttest.Requests{Path: "/connectors/*/status"}, "....."},
		{"a longer path", connecttest.Requests{Path: "/connectors/*/offsets/*"}, "....."},
		{"a path with a star", connecttest.Requests{Path: "/*/mm2/*"}, "xxxxx"},
		{"the first two", connecttest.Requests{Times: 2}, "xx..."},
		{"the second and third", connecttest.Requests{Skip: 1, Times: 2}, ".xx.."},
		{"all but the first", connecttest.Requests{Skip: 1}, ".xxxx"},
	} {
		injected := w.Inject(connecttest.UnreadableOffsets{Requests: c.requests})
		var got strings.Builder
		for range 5 {
			r, err := s.try(t.Context(), "GET", "/connectors/mm2/offsets", nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case r.status == 500 && r.message() == "Failed to retrieve offsets for source connector mm2":
				got.WriteByte('x')
			case r.status == 200:
				got.WriteByte('.')
			default:
				t.Fatalf("%s: %s", c.name, r)
			}
		}
		if got.String() != c.want || injected.Hits() != strings.Count(c.want, "x") {
			t.Errorf("%s: %s with %d hits, want %s", c.name, got.String(), injected.Hits(), c.want)
		}
		injected.Remove()
	}
}

func TestFirstInjectedFaultWins(t *testing.T) {
	s, w := stopped(t)
	first := w.Inject(connecttest.Answer{Requests: connecttest.Requests{Times: 1}, Status: 418, Body: "first"})
	second := w.Inject(connecttest.Answer{Requests: connecttest.Requests{Times: 1}, Status: 418, Body: "second"})
	for _, want := range []string{"first", "second"} {
		if r := s.call(t, "GET", "/", nil); r.body != want {
			t.Errorf("answer %q, want %q", r.body, want)
		}
	}
	s.must(t, http.StatusOK, "GET", "/", nil)
	if first.Hits() != 1 || second.Hits() != 1 {
		t.Errorf("hits %d and %d, want 1 each", first.Hits(), second.Hits())
	}
}

// A stale read shows what was there before the last write: new partitions are
// missing, others have their old offset, deleted ones are there again.
func TestStaleOffsets(t *testing.T) {
	s, w := stopped(t)
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 1, 1), at("orders", 3, 3)))
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 6), at("orders", 1, -1), at("orders", 2, 2)))
	w.Inject(connecttest.StaleOffsets{Requests: connecttest.Requests{Times: 1}})
	old := s.offsets(t, "mm2")
	want := map[string]string{"source/orders/0": `{"offset":5}`, "source/orders/1": `{"offset":1}`, "source/orders/3": `{"offset":3}`}
	diff(t, "stale offsets", want, old)
	want = map[string]string{"source/orders/0": `{"offset":6}`, "source/orders/2": `{"offset":2}`, "source/orders/3": `{"offset":3}`}
	diff(t, "offsets", want, s.offsets(t, "mm2"))
}

// A short read misses partitions that are new; what was known is current.
func TestShortOffsets(t *testing.T) {
	s, w := stopped(t)
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 6), at("orders", 1, 1), at("orders", 2, 2), at("orders", 3, 3)))
	w.Inject(connecttest.ShortOffsets{Requests: connecttest.Requests{Times: 1}})
	diff(t, "short read", map[string]string{"source/orders/0": `{"offset":6}`}, s.offsets(t, "mm2"))
	w.Inject(connecttest.ShortOffsets{Requests: connecttest.Requests{Times: 1}, Keep: 2})
	if got := s.offsets(t, "mm2"); len(got) != 3 || got["source/orders/0"] != `{"offset":6}` {
		t.Errorf("short read that keeps two of three new ones: %v", got)
	}
	if got := s.offsets(t, "mm2"); len(got) != 4 {
		t.Errorf("offsets after the faults: %v", got)
	}
}

// Of a PATCH whose records the target refuses in the middle, what came before is
// written and stays.
func TestPartialWrite(t *testing.T) {
	s, w := stopped(t)
	injected := w.Inject(connecttest.PartialWrite{Requests: connecttest.Requests{Method: "PATCH", Path: offsetsPath, Times: 1}, Entries: 2})
	body := entries(at("orders", 0, 7), at("orders", 1, 7), at("orders", 2, 7))
	s.check(t, "mm2", row{method: "PATCH", path: "/connectors/NAME/offsets", body: body, status: 500, message: "Failed to modify offsets for source connector NAME"})
	diff(t, "offsets", map[string]string{"source/orders/0": `{"offset":7}`, "source/orders/1": `{"offset":7}`}, s.offsets(t, "mm2"))
	if injected.Hits() != 1 {
		t.Errorf("hits = %d, want 1", injected.Hits())
	}
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", body)
	if got := s.offsets(t, "mm2"); len(got) != 3 {
		t.Errorf("offsets after the same request again: %v", got)
	}
}

// A worker that gave the answer up may still do the work: a read in between shows
// nothing of it.
func TestTimedOutWriteArrivesLater(t *testing.T) {
	s, w := stopped(t)
	w.Inject(connecttest.RequestTimeout{Requests: connecttest.Requests{Method: "PATCH", Times: 1}, WorkAfter: 300 * time.Millisecond})
	r := s.call(t, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9)))
	if r.status != http.StatusInternalServerError || !r.says("Request timed out. ...") {
		t.Errorf("PATCH: %s", r)
	}
	seen := make(map[string]bool)
	await(t, "the late write", func() (any, bool) {
		got := s.offsets(t, "mm2")[storedOrders]
		seen[got] = true
		return got, got == `{"offset":9}`
	})
	if !seen[`{"offset":5}`] {
		t.Error("the write was there before the answer")
	}
}

// Late work ends with the worker.
func TestCloseEndsLateWork(t *testing.T) {
	s, w := stopped(t)
	w.Inject(connecttest.RequestTimeout{Requests: connecttest.Requests{Method: "PATCH", Times: 1}, WorkAfter: time.Hour})
	if r := s.call(t, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9))); r.status != http.StatusInternalServerError {
		t.Errorf("PATCH: %s", r)
	}
	w.Close()
}

// A handler that waits is released when the worker goes away.
func TestCloseEndsDelayedRequests(t *testing.T) {
	s, w := stopped(t)
	injected := w.Inject(connecttest.Delay{Requests: connecttest.Requests{Path: "/"}, For: time.Hour})
	failed := make(chan error, 1)
	go func() {
		_, err := s.try(t.Context(), "GET", "/", nil)
		failed <- err
	}()
	await(t, "the request", func() (any, bool) { return injected.Hits(), injected.Hits() > 0 })
	w.Close()
	if err := <-failed; err == nil {
		t.Error("a request that was never answered succeeded")
	}
}

// A worker that takes initial_state and does not heed it copies at once.
func TestIgnoreInitialState(t *testing.T) {
	s, w := embedded(t)
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 3)...)
	injected := w.Inject(connecttest.IgnoreInitialState{})
	s.create(t, "mm2", "STOPPED", s.config())
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 3))
	if injected.Hits() != 1 {
		t.Errorf("hits = %d, want 1", injected.Hits())
	}
}
