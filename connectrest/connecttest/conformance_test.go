package connecttest_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// The conformance suite is one table of cases that knows only base URLs and two
// clusters. It runs on connecttest always, and on real workers where they can
// run. Where they differ, connecttest is wrong.

var (
	conformanceVersions = flag.String("conformance.versions", lab.Newest3+","+lab.DefaultVersion, "Kafka versions of the workers of the conformance suite, by commas")
	conformanceTable    = flag.String("conformance.table", "", "write the table of cases and versions into this `file` of Markdown")
	conformanceAtOnce   = flag.Int("conformance.at-once", 2, "how many versions run at a time")
)

// realWorkers are brokers of the newest release for the workers of all versions.
var realWorkers = lab.Shared{Options: lab.Options{OffsetFlushInterval: time.Second}}

func TestMain(m *testing.M) { goleak.VerifyTestMain(realWorkers.Main(m)) }

// conformanceCase is one thing that every worker does.
type conformanceCase struct {
	name  string
	since string // first version that does; empty: all
	run   func(*testing.T, *stage)
	// before says what an older version does instead, having seen it.
	before func(*testing.T, *stage) string
	// alone is set for a case whose topics would get into those of others.
	alone bool
}

func conformanceCases() []conformanceCase {
	var all []conformanceCase
	all = append(all, restCases()...)
	all = append(all, httpCases()...)
	all = append(all, bodyCases()...)
	all = append(all, offsetCases()...)
	all = append(all, lifecycleCases()...)
	all = append(all, copyCases()...)
	all = append(all, clientCases()...)
	all = append(all, workerCases()...) // last: the leader does not survive them
	return all
}

const oldestConforming = "3.5.0" // GET offsets, PUT stop

func TestConformance(t *testing.T) {
	versions := strings.Split(*conformanceVersions, ",")
	for _, v := range versions {
		if s := (&stage{version: v}); !s.atLeast(oldestConforming) {
			t.Fatalf("-conformance.versions: %s is older than %s, where GET offsets and PUT stop begin", v, oldestConforming)
		}
	}
	results := newCells(versions)
	t.Run("connecttest", func(t *testing.T) {
		eachVersion(t, versions, func(t *testing.T, v string) { conform(t, embeddedPair(t, v), results.simulated) })
	})
	t.Run("worker", func(t *testing.T) {
		l := realWorkers.Get(t)
		eachVersion(t, versions, func(t *testing.T, v string) { conform(t, realPair(t, l, v), results.real) })
		results.compare(t)
	})
	if *conformanceTable != "" {
		results.write(t, *conformanceTable)
	}
}

// eachVersion runs several versions at a time, since most of a case is waiting.
func eachVersion(t *testing.T, versions []string, run func(*testing.T, string)) {
	var wg sync.WaitGroup
	free := make(chan struct{}, max(1, *conformanceAtOnce))
	for _, v := range versions {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			t.Run(v, func(t *testing.T) { run(t, v) })
		})
	}
	wg.Wait()
}

// sharing lets a case that must be alone wait for those of other versions, which
// may share its brokers.
var sharing sync.RWMutex

func conform(t *testing.T, s *stage, record func(version, name, cell string)) {
	for _, c := range conformanceCases() {
		cell := ""
		done := t.Run(c.name, func(t *testing.T) {
			if c.alone {
				sharing.Lock()
				defer sharing.Unlock()
			} else {
				sharing.RLock()
				defer sharing.RUnlock()
			}
			switch {
			case s.atLeast(c.since):
				c.run(t, s)
				cell = "pass"
			case c.before == nil:
				t.Fatalf("begins with %s, and nothing says what %s does instead", c.since, s.version)
			default:
				cell = c.before(t, s)
			}
		})
		if done {
			record(s.version, c.name, cell)
		}
	}
}

// embeddedPair is connecttest, with a follower when one is asked for.
func embeddedPair(t *testing.T, version string) *stage {
	s, w := embedded(t, connecttest.WithVersion(version), connecttest.WithOffsetFlushInterval(200*time.Millisecond))
	s.version = version
	s.kill = func(*testing.T) { w.Kill() }
	s.join = func() *stage {
		// A rebalance takes a moment, and the new worker is ready in the middle of it.
		rebalance := w.Inject(connecttest.Rebalance{Requests: connecttest.Requests{Path: "/connectors/*/config"}})
		defer rebalance.Remove()
		f, err := w.StartFollower()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		second := *s
		second.url, second.kill = f.URL, nil
		return &second
	}
	s.untracked = func() *stage {
		w, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithVersion(version), connecttest.WithTopicTracking(connecttest.TrackingDisabled))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		other := *s
		other.url = w.URL
		return &other
	}
	s.misadvertised = func(t *testing.T) *stage {
		w, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithVersion(version), connecttest.WithAdvertisedAddress("127.0.0.1:1"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		f, err := w.StartFollower()
		if err != nil {
			t.Fatal(err)
		}
		first, second := *s, *s
		first.url, second.url = w.URL, f.URL
		first.joined = &second
		return &first
	}
	return s
}

// realPair is a real worker, with a second one when one is asked for. The second
// does not track topics, which is a worker's own setting.
func realPair(t *testing.T, l *lab.Lab, version string) *stage {
	group := ""
	w := l.Worker
	if version != l.Version {
		group = "connect-" + version
		w = l.StartWorker(t, lab.WorkerOptions{Version: version, Group: group, OffsetFlushInterval: time.Second})
	}
	// Jetty 12 closes some connections after their answer without a word, and a POST
	// that is sent on one of them is lost.
	client := httpClient(t)
	client.Transport = &http.Transport{DisableKeepAlives: true}
	s := &stage{
		url: w.RESTURL, source: []string{l.Source.Bootstrap}, target: []string{l.Target.Bootstrap},
		version: version, client: client, kill: func(t *testing.T) { w.Kill(t) },
	}
	s.join = func() *stage {
		w := l.StartWorker(t, lab.WorkerOptions{
			Version: version, Group: group, OffsetFlushInterval: time.Second, Properties: lab.Properties{"topic.tracking.enable": "false"},
		})
		second := *s
		second.url, second.kill = w.RESTURL, func(t *testing.T) { w.Kill(t) }
		return &second
	}
	s.untracked = func() *stage { return s.second(t) }
	s.misadvertised = func(t *testing.T) *stage {
		var pair [2]stage
		for i, port := range []string{"1", "2"} { // at which nobody listens
			pair[i] = *s
			pair[i].url = l.StartWorker(t, lab.WorkerOptions{
				Version: version, Group: "misadvertised-" + version, Properties: lab.Properties{"rest.advertised.port": port},
			}).RESTURL
		}
		pair[0].joined = &pair[1]
		return &pair[0]
	}
	return s
}

// second returns the second worker, which joins when it is asked for first.
func (s *stage) second(t *testing.T) *stage {
	t.Helper()
	if s.joined == nil {
		s.joined = s.join()
	}
	return s.joined
}

func (s *stage) atLeast(version string) bool {
	var have, want [3]int
	_, _ = fmt.Sscanf(s.version, "%d.%d.%d", &have[0], &have[1], &have[2])
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &want[0], &want[1], &want[2])
	for i := range have {
		if have[i] != want[i] {
			return have[i] > want[i]
		}
	}
	return true
}

var names atomic.Int64

// name returns a name that no other case has, for a connector or a topic. It
// has no character that a regular expression reads.
func (s *stage) name(base string) string { return fmt.Sprintf("%s%d", base, names.Add(1)) }

// row is one request and its answer.
type row struct {
	name         string
	method, path string
	body         any
	header       []string // pairs that replace what the request would have; without a value, take away
	status       int
	message      string // the text of the error; with ... at the end, how it begins
	is           string // the body as it is, where it is no error
	page         string // a part of a page of the HTTP server
	since, until string // versions; until is exclusive
}

// check sends the request of a row and compares. NAME in path and texts stands
// for name.
func (s *stage) check(t *testing.T, name string, r row) {
	t.Helper()
	if !s.atLeast(r.since) || (r.until != "" && s.atLeast(r.until)) {
		return
	}
	insert := func(text string) string { return strings.ReplaceAll(text, "NAME", name) }
	if b, ok := r.body.(string); ok {
		r.body = insert(b)
	}
	got := s.call(t, r.method, insert(r.path), r.body, r.header...)
	if got.status != r.status {
		t.Errorf("%s: %s %s: %s, want %d", r.name, r.method, insert(r.path), got, r.status)
		return
	}
	if r.message != "" && !got.says(insert(r.message)) {
		t.Errorf("%s: %s %s: text %q, want %q", r.name, r.method, insert(r.path), got.message(), insert(r.message))
	}
	if r.is != "" && got.body != insert(r.is) {
		t.Errorf("%s: %s %s: %s, want %s", r.name, r.method, insert(r.path), got.body, insert(r.is))
	}
	if r.page != "" && (!strings.HasPrefix(got.header.Get("Content-Type"), "text/html") || !strings.Contains(got.body, r.page)) {
		t.Errorf("%s: %s %s: %s, want a page with %q", r.name, r.method, insert(r.path), got, r.page)
	}
}

// lacks is what a version does that does not serve something: it answers the
// request of the row so.
func lacks(r row) func(*testing.T, *stage) string {
	return func(t *testing.T, s *stage) string {
		s.check(t, s.name("none"), r)
		return fmt.Sprintf("not served by this version: %d `%s`", r.status, strings.TrimSuffix(r.message, "..."))
	}
}

// What versions answer that came before a call.
var (
	lacksAlter = lacks(row{
		method: "PATCH", path: "/connectors/NAME/offsets", body: entries(at("a", 0, 1)),
		status: http.StatusMethodNotAllowed, message: "HTTP 405 Method Not Allowed",
	})
	lacksInitialState = lacks(row{
		method: "POST", path: "/connectors", body: `{"name":"NAME","config":{},"initial_state":"STOPPED"}`,
		status: http.StatusInternalServerError, message: `Unrecognized field "initial_state"...`,
	})
	lacksPatchConfig = lacks(row{
		method: "PATCH", path: "/connectors/NAME/config", body: `{"a":"b"}`,
		status: http.StatusMethodNotAllowed, message: "HTTP 405 Method Not Allowed",
	})
	lacksHealth = lacks(row{method: "GET", path: "/health", status: http.StatusNotFound, message: "HTTP 404 Not Found"})
)
