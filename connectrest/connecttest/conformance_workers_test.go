package connecttest_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What two workers of one cluster do. The first case brings the second worker,
// the last ends the leader.
func workerCases() []conformanceCase {
	return []conformanceCase{
		{name: "a worker joins: calls are served, or refused as a rebalance", run: testJoin},
		{name: "tracking of active topics is off", run: testNoTracking},
		{name: "a follower forwards and answers as the leader", since: "3.6.0", run: testForwarding, before: lacksAlter},
		{name: "a follower refuses what it may not forward", run: testTwoHops},
		{name: "a probe finds that the advertised port is closed", since: "3.6.0", run: testAdvertisedPortIsClosed, before: lacksForwardedQuestion},
		{name: "log levels of all workers", since: "3.7.0", run: testClusterLogLevels, before: testScopeIgnored},
		{name: "the leader is gone: forwarding fails, the rest is served", run: testLeaderGone},
	}
}

// twoHops is how a follower refuses what it may not forward.
const twoHops = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"

// refusedAsRebalance are the answers of a worker that cannot act now. Nothing is
// done then.
var refusedAsRebalance = map[string]int{
	"Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)": http.StatusConflict,
	"Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.":        http.StatusConflict,
	twoHops: http.StatusConflict,
	"Request cannot be completed because a rebalance is expected": http.StatusInternalServerError,
	// It waits 3 s for that, which a machine under load may need.
	"Failed to read to end of config topic before modifying connector offsets": http.StatusInternalServerError,
}

func testJoin(t *testing.T, s *stage) {
	name := s.name("joined")
	s.create(t, name, "STOPPED", s.config())
	s.awaitStates(t, name, "STOPPED")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var (
		wg   sync.WaitGroup
		odd  = make(map[string]bool)
		last int // the offset that was accepted last
	)
	path := "/connectors/" + name
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			for _, c := range []struct {
				method, path string
				body         any
			}{
				{"GET", path, nil},
				{"GET", path + "/config", nil},
				{"GET", path + "/status", nil},
				{"GET", path + "/offsets", nil},
				{"PUT", path + "/config", s.config()},
				{"PATCH", path + "/offsets", entries(at("orders", 0, int64(n)))},
			} {
				if c.method == "PATCH" && !s.atLeast("3.6.0") {
					continue
				}
				r, err := s.try(t.Context(), c.method, c.path, c.body)
				switch {
				case err == nil && r.status == http.StatusOK:
					if c.method == "PATCH" {
						last = n
					}
				case err != nil || refusedAsRebalance[r.message()] != r.status:
					odd[fmt.Sprintf("%s %s: %s %v", c.method, c.path, r, err)] = true
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	second := s.second(t)
	stop()
	wg.Wait()
	for _, o := range slices.Sorted(maps.Keys(odd)) {
		t.Error(o)
	}
	for _, w := range []*stage{s, second} {
		// A worker that has just started may not have read the status topic yet.
		w.awaitStatus(t, name)
		w.awaitStates(t, name, "STOPPED")
		if s.atLeast("3.6.0") {
			w.awaitOffsets(t, name, map[string]string{"source/orders/0": fmt.Sprintf(`{"offset":%d}`, last)})
		}
	}
	s.must(t, http.StatusNoContent, "DELETE", path, nil)
}

// leads asks for something that a follower must forward, and forbids it.
func (s *stage) leads(t *testing.T) bool {
	t.Helper()
	r, err := s.try(t.Context(), "DELETE", "/connectors/nobody?forward=false", nil)
	switch {
	case err == nil && r.status == http.StatusNotFound:
		return true
	case err == nil && r.message() == twoHops:
		return false
	}
	t.Fatalf("does %s lead? %s %v", s.url, r, err)
	return false
}

// roles returns the two workers, the leader first.
func (s *stage) roles(t *testing.T) (leader, follower *stage) {
	t.Helper()
	second := s.second(t)
	await(t, "one leader", func() (any, bool) {
		first, other := s.leads(t), second.leads(t)
		return [2]bool{first, other}, first != other
	})
	if s.leads(t) {
		return s, second
	}
	return second, s
}

// calmRoles is roles once the rebalances are over that a change of connectors brings:
// a leader that is killed in one is replaced by what the follower waits for anyway.
func (s *stage) calmRoles(t *testing.T) (leader, follower *stage) {
	t.Helper()
	const looks = 10
	for same := 0; same < looks; same++ {
		l, f := s.roles(t)
		if l != leader {
			same = 0
		}
		leader, follower = l, f
		time.Sleep(200 * time.Millisecond)
	}
	return leader, follower
}

func testForwarding(t *testing.T, s *stage) {
	leader, follower := s.roles(t)
	name := s.name("forwarded")
	c := s.config(conf{"topics": "nothing-of-that-name"})
	r := follower.must(t, http.StatusCreated, "POST", "/connectors", map[string]any{"name": name, "config": c})
	if want := follower.url + "/connectors/" + name; r.header.Get("Location") != want {
		t.Errorf("Location = %q, want that of the worker that was asked, %q", r.header.Get("Location"), want)
	}
	follower.must(t, http.StatusNoContent, "PUT", "/connectors/"+name+"/stop", nil)
	for _, w := range []*stage{leader, follower} {
		w.awaitStatus(t, name)
		w.awaitStates(t, name, "STOPPED")
	}
	for i, w := range []*stage{leader, follower} {
		w.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(at("orders", i, int64(i))))
	}
	follower.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets?forward=true", entries(at("orders", 2, 2)))
	for _, w := range []*stage{leader, follower} {
		w.awaitOffsets(t, name, map[string]string{"source/orders/0": `{"offset":0}`, "source/orders/1": `{"offset":1}`, "source/orders/2": `{"offset":2}`})
	}
	for _, r := range []row{
		{name: "refused by the connector", method: "PATCH", path: "/connectors/NAME/offsets", body: patched(orders0, `{"offset":-5}`), status: 500, message: "Source offset {offset=-5} for source partition {cluster=source, partition=0, topic=orders} has an invalid value -5 for the 'offset' key, which cannot be negative"},
		{name: "not JSON", method: "PATCH", path: "/connectors/NAME/offsets", body: `x`, status: 500, message: "Unrecognized token 'x': was expecting..."},
		{name: "no entries", method: "PATCH", path: "/connectors/NAME/offsets", body: `{"offsets":[]}`, status: 400, message: "Partitions / offsets need to be provided for an alter offsets request"},
		{name: "unknown", method: "PATCH", path: "/connectors/NAMEx/offsets", body: patched(orders0, `{"offset":5}`), status: 404, message: "Connector NAMEx not found"},
		{name: "unknown", method: "DELETE", path: "/connectors/NAMEx", status: 404, message: "Connector NAMEx not found"},
		{name: "unknown", method: "PUT", path: "/connectors/NAMEx/stop", status: 404, message: "Unknown connector NAMEx"},
		{name: "unknown", method: "POST", path: "/connectors/NAMEx/restart", status: 404, message: "Unknown connector: NAMEx"},
		{name: "exists", method: "POST", path: "/connectors", body: map[string]any{"name": name, "config": c}, status: 409, message: "Connector NAME already exists"},
		{name: "invalid", method: "POST", path: "/connectors", body: map[string]any{"name": name + "y", "config": s.config(conf{"tasks.max": "0"})}, status: 400, message: "Connector configuration is invalid and contains the following 1 error(s):\nInvalid value 0 for configuration tasks.max: Value must be at least 1" + alsoAt},
		{name: "no task", method: "POST", path: "/connectors/NAME/tasks/0/restart", status: 404, message: "Unknown task: NAME-0"},
		{name: "restart", method: "POST", path: "/connectors/NAME/restart", status: 204},
		{name: "reset", method: "DELETE", path: "/connectors/NAME/offsets", status: 200, is: `{"message":"The offsets for this connector have been reset successfully"}`},
	} {
		follower.check(t, name, r)
	}
	leader.awaitOffsets(t, name, map[string]string{})
	follower.must(t, http.StatusOK, "PUT", "/connectors/"+name+"/config", c)
	follower.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	leader.check(t, name, row{method: "GET", path: "/connectors/NAME", status: 404, message: "Connector NAME not found"})
}

func testTwoHops(t *testing.T, s *stage) {
	leader, follower := s.roles(t)
	name := s.name("hops")
	// What both know not to be there tells which of them leads.
	for path, since := range map[string]string{"/connectors/NAME?forward=false": "", "/connectors/NAME/offsets?forward=false": "3.6.0"} {
		leader.check(t, name, row{method: "DELETE", path: path, status: 404, message: "Connector NAME not found", since: since})
		r, err := follower.try(t.Context(), "DELETE", strings.ReplaceAll(path, "NAME", name), nil)
		if s.atLeast(since) && (err != nil || r.status != http.StatusConflict || r.message() != twoHops) {
			t.Errorf("DELETE %s of the follower: %s %v", path, r, err)
		}
	}
	for _, flag := range []string{"false", "maybe"} {
		r, err := follower.try(t.Context(), "DELETE", "/connectors/"+name+"?forward="+flag, nil)
		if err != nil || r.status != http.StatusConflict || r.message() != twoHops {
			t.Errorf("DELETE with forward=%s: %s %v", flag, r, err)
		}
	}
	// Reads, pause and resume are the asked worker's own, and it knows by itself
	// which connectors there are to stop and restart.
	for _, r := range []row{
		{method: "GET", path: "/connectors/NAME?forward=false", status: 404, message: "Connector NAME not found"},
		{method: "PUT", path: "/connectors/NAME/stop?forward=false", status: 404, message: "Unknown connector NAME"},
		{method: "POST", path: "/connectors/NAME/restart?forward=false", status: 404, message: "Unknown connector: NAME"},
		{method: "PUT", path: "/connectors/NAME/pause?forward=false", status: 404, message: "Unknown connector NAME"},
		{method: "PUT", path: "/connectors/NAME/resume?forward=false", status: 404, message: "Unknown connector NAME"},
	} {
		follower.check(t, name, r)
	}
}

func testNoTracking(t *testing.T, s *stage) {
	other := s.untracked()
	for _, r := range []row{
		{method: "GET", path: "/connectors/NAME/topics", status: 403, message: "Topic tracking is disabled."},
		{method: "PUT", path: "/connectors/NAME/topics/reset", status: 403, message: "Topic tracking is disabled."},
	} {
		other.check(t, s.name("nobody"), r)
	}
}

func testClusterLogLevels(t *testing.T, s *stage) {
	second := s.second(t)
	name := s.name("flinkmm2.cluster")
	s.check(t, name, row{method: "PUT", path: "/admin/loggers/NAME?scope=CLUSTER", body: `{"level":"ERROR"}`, status: 204})
	for _, w := range []*stage{s, second} {
		await(t, "the level on "+w.url, func() (any, bool) {
			r := w.call(t, "GET", "/admin/loggers/"+name, nil)
			return r, r.status == http.StatusOK && decode[struct{ Level string }](t, r).Level == "ERROR"
		})
	}
	own := s.name("flinkmm2.own")
	second.check(t, own, row{method: "PUT", path: "/admin/loggers/NAME", body: `{"level":"ERROR"}`, status: 200})
	s.check(t, own, row{method: "GET", path: "/admin/loggers/NAME", status: 404, message: "Logger NAME not found."})
}

// Before 3.7 the scope is not looked at, and the level is the worker's own.
func testScopeIgnored(t *testing.T, s *stage) string {
	second := s.second(t)
	name := s.name("flinkmm2.cluster")
	s.check(t, name, row{method: "PUT", path: "/admin/loggers/NAME?scope=cluster", body: `{"level":"ERROR"}`, status: 200, is: `["NAME"]`})
	second.check(t, name, row{method: "GET", path: "/admin/loggers/NAME", status: 404, message: "Logger NAME not found."})
	return "not served by this version: 200, and the level is that of the asked worker alone"
}

// Until the cluster has noticed that its leader is gone, which takes as long as
// the leader's session.
func testLeaderGone(t *testing.T, s *stage) {
	_, follower := s.roles(t)
	name := s.name("orphan")
	follower.must(t, http.StatusCreated, "POST", "/connectors", map[string]any{"name": name, "config": s.config(conf{"topics": "nothing-of-that-name"})})
	follower.must(t, http.StatusNoContent, "PUT", "/connectors/"+name+"/stop", nil)
	follower.awaitStatus(t, name)
	follower.awaitStates(t, name, "STOPPED")
	leader, follower := s.calmRoles(t)
	leader.kill(t)
	const unreachable = "IO Error trying to forward REST request: java.net.ConnectException: Connection refused"
	for _, r := range []row{
		{method: "PATCH", path: "/connectors/NAME/offsets", body: patched(orders0, `{"offset":5}`), status: 500, message: unreachable, since: "3.6.0"},
		{method: "DELETE", path: "/connectors/NAME/offsets", status: 500, message: unreachable, since: "3.6.0"},
		{method: "PUT", path: "/connectors/NAME/stop", status: 500, message: unreachable},
		{method: "POST", path: "/connectors", body: map[string]any{"name": name + "x", "config": s.config()}, status: 500, message: unreachable},
		{method: "DELETE", path: "/connectors/NAMEx", status: 500, message: unreachable},
		{method: "POST", path: "/connectors/NAME/restart?includeTasks=true", status: 500, message: unreachable},
		{name: "bodies are read before", method: "PATCH", path: "/connectors/NAME/offsets", body: `x`, status: 500, message: "Unrecognized token 'x': was expecting...", since: "3.6.0"},
		{method: "GET", path: "/connectors/NAME/config", status: 200},
		{method: "GET", path: "/connectors/NAME/status", status: 200},
		{method: "GET", path: "/connectors/NAME/offsets", status: 200, is: `{"offsets":[]}`},
		{name: "this takes the connector out of STOPPED", method: "PUT", path: "/connectors/NAME/pause", status: 202},
	} {
		follower.check(t, name, r)
	}
}
