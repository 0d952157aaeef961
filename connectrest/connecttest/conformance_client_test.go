package connecttest_test

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// What this project's client makes of the answers, where it does more than ask.
func clientCases() []conformanceCase {
	return []conformanceCase{
		{name: "the client creates STOPPED, by the way that the version has", run: testClientCreatesStopped},
		{name: "the client goes on with a creation that was cut off", run: testClientGoesOnCreating},
	}
}

// sent notes the requests that change something.
type sent struct {
	http.RoundTripper
	mu     sync.Mutex
	writes []string
}

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		s.mu.Lock()
		s.writes = append(s.writes, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
	}
	return s.RoundTripper.RoundTrip(r)
}

// connect is this project's client of workers, each with its own base URL.
func (s *stage) connect(t *testing.T, urls ...string) (*connectrest.Client, *sent) {
	t.Helper()
	noted := &sent{RoundTripper: s.client.Transport}
	client, err := connectrest.NewCluster(urls, connectrest.WithTransport(noted))
	if err != nil {
		t.Fatal(err)
	}
	return client, noted
}

// toCreate is a connector that would copy records if it ran.
func (s *stage) toCreate(t *testing.T, base string) (orders string, req connectrest.CreateRequest, idle connectrest.Config) {
	t.Helper()
	orders = s.name("orders")
	topic(t, s.source, orders, 2)
	produce(t, s.source, numbered(orders, 0, 0, 3)...)
	config := connectrest.Config(s.config(conf{"topics": orders}))
	return orders, connectrest.CreateRequest{Name: s.name(base), Config: config, InitialState: connectrest.StateStopped}, connectrest.MirrorSourceIdle(config)
}

// isAsAsked holds a connector to be STOPPED with its own configuration, and to have
// copied nothing on the way.
func (s *stage) isAsAsked(t *testing.T, orders string, req connectrest.CreateRequest, info connectrest.ConnectorInfo) {
	t.Helper()
	want := maps.Clone(req.Config)
	want["name"] = req.Name
	for what, got := range map[string]connectrest.Config{
		"returned": info.Config,
		"read":     decode[connectrest.Config](t, s.must(t, http.StatusOK, "GET", "/connectors/"+req.Name+"/config", nil)),
	} {
		diff(t, "configuration, "+what, want, got)
	}
	if got := s.status(t, req.Name).states(); got != "STOPPED" {
		t.Errorf("states %s, want STOPPED without tasks", got)
	}
	s.check(t, req.Name, row{method: "GET", path: "/connectors/NAME/tasks", status: 200, is: `[]`})
	s.check(t, req.Name, row{method: "GET", path: "/connectors/NAME/topics", status: 200, is: `{"NAME":{"topics":[]}}`})
	if names := topics(t, s.target); slices.Contains(names, orders) {
		t.Errorf("the target has topic %s: something was copied", orders)
	}
}

func testClientCreatesStopped(t *testing.T, s *stage) {
	orders, req, idle := s.toCreate(t, "byclient")
	client, noted := s.connect(t, s.url)
	info, err := client.CreateThenStop(t.Context(), req, idle)
	if err != nil {
		t.Fatal(err)
	}
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+req.Name, nil)
	want := []string{"POST /connectors"}
	if !s.atLeast("3.7.0") {
		want = append(want, "PUT /connectors/"+req.Name+"/stop", "PUT /connectors/"+req.Name+"/config")
	}
	diff(t, "writes", want, slices.Compact(noted.writes)) // one that was refused as a rebalance was sent again
	s.isAsAsked(t, orders, req, info)
	if _, err := client.CreateThenStop(t.Context(), req, idle); !errors.Is(err, connectrest.ErrExists) {
		t.Errorf("the same again: %v, want that it exists", err)
	}
	// It starts with what it was given, and not with what it was created with.
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+req.Name+"/resume", nil)
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 3))
}

func testClientGoesOnCreating(t *testing.T, s *stage) {
	for _, stop := range []bool{false, true} {
		orders, req, idle := s.toCreate(t, "cutoff")
		s.must(t, http.StatusCreated, "POST", "/connectors", map[string]any{"name": req.Name, "config": map[string]string(idle)})
		if stop {
			s.must(t, http.StatusNoContent, "PUT", "/connectors/"+req.Name+"/stop", nil)
		}
		client, noted := s.connect(t, s.url)
		info, err := client.CreateThenStop(t.Context(), req, idle)
		if err != nil {
			t.Fatalf("stopped before %t: %v", stop, err)
		}
		diff(t, "writes", []string{"PUT /connectors/" + req.Name + "/stop", "PUT /connectors/" + req.Name + "/config"}, slices.Compact(noted.writes))
		s.isAsAsked(t, orders, req, info)
		s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+req.Name, nil)
	}
}

// Both workers advertise an address at which nobody listens, so whichever leads, the
// other cannot pass on what only the leader may do; reads look sound.
func testAdvertisedPortIsClosed(t *testing.T, s *stage) {
	sound, _ := s.connect(t, s.url, s.second(t).url)
	report, err := sound.ProbeForwarding(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range report.Workers {
		if w.Err != nil || w.ForwardErr != nil {
			t.Errorf("workers that reach one another: %s: %v, %v", w.URL, w.Err, w.ForwardErr)
		}
	}

	pair := s.misadvertised(t)
	leader, follower := pair.roles(t)
	client, noted := s.connect(t, leader.url, follower.url)
	if report, err := client.Probe(t.Context()); err != nil || len(report.Findings) > 0 || len(noted.writes) > 0 {
		t.Errorf("the probe of reads sent %q and finds %v, %v", noted.writes, report.Findings, err)
	}
	report, err = client.ProbeForwarding(t.Context())
	if err != nil || len(report.Findings) != 1 || report.Workers[0].ForwardErr != nil {
		t.Fatalf("findings %v, of the leader %v: %v", report.Findings, report.Workers[0].ForwardErr, err)
	}
	f := report.Findings[0]
	if f.Kind != connectrest.ProbeForwarding || !slices.Equal(f.Workers, []string{follower.url}) ||
		!strings.Contains(f.Detail, "IO Error trying to forward REST request: java.net.ConnectException: Connection refused") || !strings.Contains(f.Hint, "rest.advertised") {
		t.Errorf("found %+v, want that %s cannot forward", f, follower.url)
	}
	if !errors.Is(report.Workers[1].ForwardErr, connectrest.ErrForwarding) || !errors.Is(report.Err(), connectrest.ErrProbe) {
		t.Errorf("the follower's error is %v, all of them %v", report.Workers[1].ForwardErr, report.Err())
	}
}

// Before 3.6 nothing that only the leader may do is harmless, so nothing is asked.
func lacksForwardedQuestion(t *testing.T, s *stage) string {
	client, _ := s.connect(t, s.url, s.second(t).url)
	report, err := client.ProbeForwarding(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range report.Workers {
		if w.Err != nil || !errors.Is(w.ForwardErr, connectrest.ErrUnsupported) {
			t.Errorf("%s: %v, %v", w.URL, w.Err, w.ForwardErr)
		}
	}
	return lacksAlter(t, s)
}
