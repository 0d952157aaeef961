package connectrest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// listed is GET /connectors?expand=status&expand=info of one connector mm2 whose
// connector and tasks run on the given workers.
func listed(workers ...string) string {
	var tasks []string
	for i, w := range workers[1:] {
		tasks = append(tasks, fmt.Sprintf(`{"id":%d,"state":"RUNNING","worker_id":%q}`, i, w))
	}
	return fmt.Sprintf(`{"mm2":{"status":{"name":"mm2","connector":{"state":"RUNNING","worker_id":%q},"tasks":[%s],"type":"source"},"info":%s}}`,
		workers[0], strings.Join(tasks, ","), created)
}

// member is a worker of a cluster that agrees, unless told otherwise.
func member(t *testing.T) *script {
	return newScript(t).on("GET /", status(200, worker39)).
		on("GET /health", status(200, `{"status":"healthy","message":"Worker has completed startup and is ready to handle requests."}`)).
		on("GET /connectors", status(200, listed("a:8083", "b:8083", "a:8083")))
}

func TestProbeFindsWhatDiffersAmongWorkers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*script)
		other  func(*script) // nil for as it is
		kinds  []connectrest.ProbeKind
		says   string
	}{
		{"nothing", func(*script) {}, nil, nil, ""},
		{"a view that was behind for a moment", func(s *script) {
			s.on("GET /connectors", status(200, `{}`), status(200, listed("b:8083", "b:8083", "a:8083")), refuse(409, stale), status(200, listed("a:8083", "b:8083", "a:8083")))
		}, nil, nil, ""},
		{"a connector that one does not know", func(s *script) { s.on("GET /connectors", status(200, `{}`)) }, nil, []connectrest.ProbeKind{connectrest.ProbeOtherView}, `connector "mm2" is known at`},
		{"another state", func(s *script) { s.on("GET /connectors", status(200, listed("a:8083", "b:8083", "b:8083"))) }, nil, []connectrest.ProbeKind{connectrest.ProbeOtherView}, "task 1 RUNNING on b:8083"},
		{"another configuration", func(s *script) {
			s.on("GET /connectors", status(200, strings.Replace(listed("a:8083", "b:8083", "a:8083"), `"topics":"orders"`, `"topics":"others"`, 1)))
		}, nil, []connectrest.ProbeKind{connectrest.ProbeOtherView}, "another configuration"},
		{"another Kafka cluster", func(s *script) {
			s.on("GET /", status(200, `{"version":"3.9.2","commit":"c","kafka_cluster_id":"other"}`))
		}, nil, []connectrest.ProbeKind{connectrest.ProbeOtherCluster}, `"other" at`},
		{"another version", func(s *script) {
			s.on("GET /", status(200, strings.Replace(worker39, "3.9.2", "4.0.2", 1)))
		}, nil, []connectrest.ProbeKind{connectrest.ProbeOtherVersion}, `"4.0.2" at`},
		{"an old version without health", func(s *script) {
			s.on("GET /", status(200, strings.Replace(worker39, "3.9.2", "3.8.1", 1))).on("GET /health", refuse(404, "HTTP 404 Not Found"))
		}, nil, []connectrest.ProbeKind{connectrest.ProbeOtherVersion}, `"3.8.1" at`},
		{"unhealthy", func(s *script) {
			s.on("GET /health", status(500, `{"status":"unhealthy","message":"the herder hangs"}`))
		}, nil, []connectrest.ProbeKind{connectrest.ProbeUnhealthy}, "unhealthy: the herder hangs"},
		{"health that a gateway does not let through", func(s *script) { s.on("GET /health", status(403, "")) }, nil, []connectrest.ProbeKind{connectrest.ProbeUnhealthy}, "unknown: forbidden"},
		{"no answer, asked for once", func(s *script) { s.on("GET /", status(502, ""), status(200, worker39)) }, nil, []connectrest.ProbeKind{connectrest.ProbeNoAnswer}, "status 502"},
		{"connectors that may not be read", func(s *script) { s.on("GET /connectors", refuse(403, "")) }, nil, []connectrest.ProbeKind{connectrest.ProbeNoAnswer}, "forbidden"},
		{
			"a load balancer's address", func(s *script) { s.on("GET /connectors", status(200, listed("lb:80", "lb:80", "lb:80"))) },
			func(s *script) { s.on("GET /connectors", status(200, listed("lb:80", "lb:80", "lb:80"))) },
			[]connectrest.ProbeKind{connectrest.ProbeSharedAddress},
			"said to run on lb:80",
		},
		{
			"one task, which must run somewhere", func(s *script) { s.on("GET /connectors", status(200, listed("a:8083", "a:8083"))) },
			func(s *script) { s.on("GET /connectors", status(200, listed("a:8083", "a:8083"))) }, nil, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, two := member(t), member(t)
			tt.change(two)
			if tt.other != nil {
				tt.other(one)
			}
			report, err := cluster(t, newClock(), one.URL, two.URL).Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var kinds []connectrest.ProbeKind
			for _, f := range report.Findings {
				kinds = append(kinds, f.Kind)
				if f.Hint == "" || len(f.Workers) == 0 {
					t.Errorf("the finding has no hint or no worker: %+v", f)
				}
			}
			if diff := cmp.Diff(tt.kinds, kinds); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, report.Findings)
			}
			err = report.Err()
			if (err != nil) != (tt.kinds != nil) || err != nil && (!errors.Is(err, connectrest.ErrProbe) || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("want %q, got %v", tt.says, err)
			}
			if len(report.Workers) != 2 || report.Workers[0].URL != one.URL || report.Workers[1].URL != two.URL {
				t.Errorf("workers: %+v", report.Workers)
			}
			if n := two.sent("GET /health"); n > 1 {
				t.Errorf("health was asked for %d times", n)
			}
			for _, r := range append(one.all(), two.all()...) {
				if !strings.HasPrefix(r, "GET ") {
					t.Errorf("sent %s", r)
				}
			}
		})
	}
}

// A worker of another host that advertises localhost is found, and one that is
// asked at localhost is not.
func TestProbeFindsALoopbackAddressThatOthersCannotReach(t *testing.T) {
	for host, want := range map[string]int{"127.0.0.1": 0, "mm2-0.mm2.svc:80": 1} {
		s := member(t).on("GET /connectors", status(200, listed("localhost:8083", "b:8083", "127.0.0.1:8083")))
		route := roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.URL.Host = strings.TrimPrefix(s.URL, "http://")
			return http.DefaultTransport.RoundTrip(r)
		})
		client, err := connectrest.NewCluster([]string{"http://" + host, "http://127.0.0.1:1"}, connectrest.WithClock(newClock()), connectrest.WithTransport(route))
		if err != nil {
			t.Fatal(err)
		}
		report, err := client.Probe(t.Context())
		if err != nil || len(report.Findings) != 2*want {
			t.Fatalf("%s: %v, %v", host, report.Findings, err)
		}
		for _, f := range report.Findings {
			if f.Kind != connectrest.ProbeLoopback {
				t.Errorf("%s: %v", host, f)
			}
		}
		if diff := cmp.Diff([]string{"127.0.0.1:8083", "b:8083", "localhost:8083"}, report.Advertised); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProbeForwardingAsksTheLeaderThroughEveryWorker(t *testing.T) {
	leader := func(r reply) func(*script) {
		return func(s *script) { s.any("DELETE /connectors/flinkmm2-probe-", r) }
	}
	notFound := func(w http.ResponseWriter, r *http.Request) {
		refuse(404, "Connector "+strings.Split(r.URL.Path, "/")[2]+" not found")(w, r)
	}
	tries := 0
	for _, tt := range []struct {
		name   string
		second func(*script)
		kinds  int
		says   string
	}{
		{"every worker reaches the leader", leader(notFound), 0, ""},
		{"a rebalance passes", leader(func(w http.ResponseWriter, r *http.Request) {
			if tries++; tries < 4 {
				refuse(409, rebalance)(w, r)
				return
			}
			notFound(w, r)
		}), 0, ""},
		{"the leader cannot be reached", leader(refuse(500, forwarding)), 1, "rest.advertised.host.name"},
		{"two hops and no leader, for ever", leader(refuse(409, rebalance)), 1, "conflicting operation"},
		{"an older worker has no such request", func(s *script) {
			s.any("DELETE /connectors/flinkmm2-probe-", refuse(405, "HTTP 405 Method Not Allowed"))
		}, 0, "not supported"},
		{"it is taken", leader(status(200, `{"message":"reset"}`)), 1, "that does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, two, c := member(t), member(t), newClock()
			leader(notFound)(one)
			tt.second(two)
			report, err := cluster(t, c, one.URL, two.URL).ProbeForwarding(t.Context())
			if waited := len(c.slept()) > 0; waited != strings.Contains(tt.name, "rebalance") && waited != strings.Contains(tt.name, "for ever") {
				t.Errorf("pauses: %v", c.slept())
			}
			if err != nil || len(report.Findings) != tt.kinds || report.Workers[0].ForwardErr != nil {
				t.Fatalf("got %v, %v", report, err)
			}
			for _, f := range report.Findings {
				if f.Kind != connectrest.ProbeForwarding || !cmp.Equal(f.Workers, []string{two.URL}) {
					t.Errorf("got %v", f)
				}
			}
			err = report.Err()
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("want %q, got %v", tt.says, err)
			}
		})
	}
}

func TestProbeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	one, two := member(t), member(t).on("GET /connectors", status(200, `{}`))
	c := newClock()
	c.during = cancel
	if report, err := cluster(t, c, one.URL, two.URL).Probe(ctx); !errors.Is(err, context.Canceled) || report.Workers != nil {
		t.Errorf("got %v, %v", report, err)
	}
}
