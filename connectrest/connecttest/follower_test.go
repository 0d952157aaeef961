package connecttest_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// pair starts a leader with a STOPPED connector mm2, and a follower.
func pair(t *testing.T) (leader, follower *stage, w *connecttest.Worker, f *connecttest.Follower) {
	t.Helper()
	leader, w = stopped(t)
	f, err := w.StartFollower()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	other := *leader
	other.url = f.URL
	return leader, &other, w, f
}

// A view that is stale is one worker's, and the others' are not.
func TestStaleReadOfOneWorkerOnly(t *testing.T) {
	leader, follower, _, f := pair(t)
	injected := f.Inject(connecttest.StaleOffsets{})
	follower.patchOrders(t, 9)
	if got := follower.offsets(t, "mm2")[storedOrders]; got != `{"offset":5}` {
		t.Errorf("the follower shows %s, want what was there before", got)
	}
	if got := leader.offsets(t, "mm2")[storedOrders]; got != `{"offset":9}` {
		t.Errorf("the leader shows %s, want what was written", got)
	}
	injected.Remove()
	if got := follower.offsets(t, "mm2")[storedOrders]; got != `{"offset":9}` {
		t.Errorf("the follower shows %s without the fault", got)
	}
}

// What goes wrong between the workers reaches the caller as a failure to forward,
// whether the leader did the work or not.
func TestFaultBetweenTheWorkers(t *testing.T) {
	patches := connecttest.Requests{Method: "PATCH", Path: offsetsPath, Times: 1}
	for _, c := range []struct {
		name   string
		fault  connecttest.Fault
		status int
		text   string
		stored string
	}{
		{"answer lost after the write", connecttest.LoseAnswer{Requests: patches}, 500, "IO Error trying to forward REST request: java.io.EOFException...", `{"offset":9}`},
		{"request lost", connecttest.LoseRequest{Requests: patches}, 500, "IO Error trying to forward REST request: java.io.EOFException...", `{"offset":5}`},
		{"a proxy's page", connecttest.ProxyPage{Requests: patches}, 500, "IO Error trying to forward REST request: Un...", `{"offset":5}`},
		{"a redirect", connecttest.Answer{Requests: patches, Status: 307}, 500, "Unexpected status code when handling forwarded request: 307", `{"offset":5}`},
		{"an error without a body", connecttest.Answer{Requests: patches, Status: 502}, 500, "IO Error trying to forward REST request: ...", `{"offset":5}`},
		{"the leader refuses", connecttest.NotStopped{Requests: patches}, 400, "Connectors must be in the STOPPED state before their offsets can be modified...", `{"offset":5}`},
		{"the leader rebalances", connecttest.Rebalance{Requests: patches}, 409, "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)", `{"offset":5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			leader, follower, w, _ := pair(t)
			injected := w.Inject(c.fault)
			r, err := follower.try(t.Context(), "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9)))
			if err != nil || r.status != c.status || !r.says(c.text) {
				t.Errorf("PATCH: %s %v, want %d %q", r, err, c.status, c.text)
			}
			if injected.Hits() != 1 {
				t.Errorf("hits = %d, want 1", injected.Hits())
			}
			if got := leader.offsets(t, "mm2")[storedOrders]; got != c.stored {
				t.Errorf("stored %s, want %s", got, c.stored)
			}
			follower.patchOrders(t, 10)
		})
	}
}

// A follower's own faults hit what it is asked, not what the leader is asked.
func TestFaultOfTheFollowerOnly(t *testing.T) {
	leader, follower, _, f := pair(t)
	for _, c := range []struct {
		fault  connecttest.Fault
		stored string
	}{
		{connecttest.ForwardingFailure{}, `{"offset":5}`},
		{connecttest.ForwardingFailure{AfterWork: true}, `{"offset":9}`},
		{connecttest.PartialWrite{Entries: 1}, `{"offset":9}`},
	} {
		leader.patchOrders(t, 5)
		injected := f.Inject(c.fault)
		r, err := follower.try(t.Context(), "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9), at("orders", 1, 9)))
		if err != nil || r.status != http.StatusInternalServerError {
			t.Errorf("%T: %s %v", c.fault, r, err)
		}
		injected.Remove()
		if got := leader.offsets(t, "mm2")[storedOrders]; got != c.stored {
			t.Errorf("%+v: stored %s, want %s", c.fault, got, c.stored)
		}
	}
	if got := leader.offsets(t, "mm2"); got["source/orders/1"] != `{"offset":9}` {
		t.Errorf("offsets = %v, want the second entry by the forwarded request", got)
	}
}

// Of a request's headers a worker passes Authorization on, and no other.
func TestForwardPassesAuthorizationOnly(t *testing.T) {
	_, follower, w, _ := pair(t)
	w.Kill() // its address is free for a server that looks at what is sent
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan *http.Request, 1)
	leader := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen <- r
		rw.WriteHeader(http.StatusNoContent)
	}))
	_ = leader.Listener.Close()
	leader.Listener = l
	leader.Start()
	t.Cleanup(leader.Close)
	r, err := follower.try(t.Context(), "DELETE", "/connectors/mm2?x=y", nil, "Authorization", "Basic dTpw", "X-Team", "a", "Cookie", "c=d")
	if err != nil || r.status != http.StatusNoContent {
		t.Fatalf("DELETE: %s %v", r, err)
	}
	got := <-seen
	if got.Header.Get("Authorization") != "Basic dTpw" || got.Header.Get("X-Team") != "" || got.Header.Get("Cookie") != "" || got.URL.RawQuery != "forward=true&x=y" {
		t.Errorf("forwarded %s with %v", got.URL, got.Header)
	}
}

// The address that a worker advertises is its name in a status, and where others
// forward to.
func TestFollowerForwardsToTheAdvertisedAddress(t *testing.T) {
	var asked []string
	gateway := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		rw.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(gateway.Close)
	address := strings.TrimPrefix(gateway.URL, "http://")
	leader, w := stopped(t, connecttest.WithAdvertisedAddress(address))
	f, err := w.StartFollower()
	if err != nil {
		t.Fatal(err)
	}
	follower := *leader
	follower.url = f.URL
	follower.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	if want := []string{"PUT /connectors/mm2/stop"}; !slices.Equal(asked, want) {
		t.Errorf("the advertised address was asked %q, want %q", asked, want)
	}
	if id := leader.status(t, "mm2").Connector.WorkerID; id != address {
		t.Errorf("worker_id = %s, want %s", id, address)
	}
}

func TestLeaderComesBack(t *testing.T) {
	leader, follower, w, f := pair(t)
	w.Kill()
	gone := row{
		method: "PATCH", path: "/connectors/mm2/offsets", body: entries(at("orders", 0, 9)), status: 500,
		message: "IO Error trying to forward REST request: java.net.ConnectException: Connection refused",
	}
	follower.check(t, "mm2", gone)
	follower.check(t, "mm2", row{method: "GET", path: "/connectors/mm2/config", status: 200})
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	follower.patchOrders(t, 9)
	if got := leader.offsets(t, "mm2")[storedOrders]; got != `{"offset":9}` {
		t.Errorf("stored %s", got)
	}
	f.Close()
	f.Close() // does nothing
	if r, err := follower.try(t.Context(), "GET", "/", nil); err == nil {
		t.Errorf("a follower that is closed answers %s", r)
	}
	leader.must(t, http.StatusOK, "GET", "/", nil)
}

func TestNoFollowerOfAClosedWorker(t *testing.T) {
	_, w := embedded(t)
	w.Close()
	if _, err := w.StartFollower(); err == nil || !strings.Contains(err.Error(), "start a follower: the connect worker is closed") {
		t.Errorf("StartFollower after Close: %v", err)
	}
}
