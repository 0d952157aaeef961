package connectrest_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// closedPort is a base URL at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return "http://" + l.Addr().String()
}

func cluster(t *testing.T, c *clock, urls ...string) *connectrest.Client {
	t.Helper()
	client, err := connectrest.NewCluster(urls, connectrest.WithClock(c), connectrest.WithJitter(func() float64 { return 1 }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestWorkerThatCannotBeReachedIsLeftForTheNext(t *testing.T) {
	for name, call := range map[string]func(context.Context, *connectrest.Client) error{
		"read":  func(ctx context.Context, c *connectrest.Client) error { _, err := c.Connectors(ctx); return err },
		"write": func(ctx context.Context, c *connectrest.Client) error { return c.Stop(ctx, "mm2") },
		// Nothing was sent, so this is no second resume.
		"resume": func(ctx context.Context, c *connectrest.Client) error { return c.Resume(ctx, "mm2") },
		"delete": func(ctx context.Context, c *connectrest.Client) error { return c.Delete(ctx, "mm2") },
	} {
		s := newScript(t).on("GET /connectors", status(200, `[]`)).on("PUT /connectors/mm2/stop", status(204, "")).
			on("PUT /connectors/mm2/resume", status(202, "")).on("DELETE /connectors/mm2", status(204, ""))
		c := newClock()
		if err := call(t.Context(), cluster(t, c, closedPort(t), s.URL)); err != nil || len(s.all()) != 1 || len(c.slept()) != 0 {
			t.Errorf("%s: sent %v with pauses %v: %v", name, s.all(), c.slept(), err)
		}
	}
}

// A resume whose answer was lost may have been done: the next worker is asked
// for the status alone.
func TestLostResumeIsNotSentToTheNextWorker(t *testing.T) {
	one := newScript(t).on("PUT /connectors/mm2/resume", broken)
	two := newScript(t).on("GET /connectors/mm2/status", status(200, running))
	if err := cluster(t, newClock(), one.URL, two.URL).Resume(t.Context(), "mm2"); err != nil {
		t.Error(err)
	}
	two = newScript(t).on("GET /connectors/mm2/status", status(200, stopped))
	err := cluster(t, newClock(), one.URL, two.URL).Resume(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer)
	if slices.Contains(two.all(), "PUT /connectors/mm2/resume") {
		t.Errorf("the second was sent %v", two.all())
	}
}

func TestPolicyWithoutRetriesAsksNoOtherWorker(t *testing.T) {
	one, two := newScript(t).on("GET /connectors", status(502, "")), newScript(t)
	client, err := connectrest.NewCluster([]string{one.URL, two.URL}, connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	_, err = client.Connectors(t.Context())
	checkMeanings(t, err, connectrest.ErrNotReady)
	if one.sent("GET /connectors") != 1 || len(two.all()) != 0 {
		t.Errorf("sent %v, and to the second %v", one.all(), two.all())
	}
}

// The loggers are those of one worker: another one must neither be changed in its
// place, nor tell whether the change was done.
func TestLoggerOfOneWorkerIsChangedAndReadBackThere(t *testing.T) {
	one := newScript(t).on("GET /", status(200, worker39)).on("GET /admin/loggers/a.b", status(200, `{"level":"INFO"}`)).
		on("PUT /admin/loggers/a.b", broken, status(200, `["a.b"]`))
	two := newScript(t)
	got, err := cluster(t, newClock(), one.URL, two.URL).SetLogger(t.Context(), "a.b", "DEBUG", connectrest.ScopeWorker)
	if err != nil || !cmp.Equal(got, []string{"a.b"}) || one.sent("PUT /admin/loggers/a.b") != 2 || len(two.all()) != 0 {
		t.Errorf("got %v, %v; sent %v, and to the second %v", got, err, one.all(), two.all())
	}
	// One that is down is not the one that is asked.
	two = newScript(t).on("GET /", status(200, worker39)).on("PUT /admin/loggers/a.b", status(200, `["a.b"]`))
	if _, err := cluster(t, newClock(), closedPort(t), two.URL).SetLogger(t.Context(), "a.b", "DEBUG", connectrest.ScopeWorker); err != nil {
		t.Error(err)
	}
}

// A refusal is the cluster's, and no other worker says otherwise.
func TestRefusalIsNotTakenToTheNextWorker(t *testing.T) {
	for _, r := range []reply{refuse(404, absent), refuse(400, "bad"), refuse(401, ""), refuse(403, ""), refuse(409, "Connector mm2 already exists")} {
		one, two := newScript(t).on("GET /connectors/mm2", r), newScript(t)
		if _, err := cluster(t, newClock(), one.URL, two.URL).Connector(t.Context(), "mm2"); err == nil || one.sent("GET /connectors/mm2") != 1 {
			t.Errorf("sent %v: %v", one.all(), err)
		}
	}
}

func TestErrorNamesTheWorkerThatWasAskedLast(t *testing.T) {
	var host string
	one, two := newScript(t).on("GET /connectors", status(502, "")), newScript(t).on("GET /connectors", func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		refuse(400, "no")(w, r)
	})
	_, err := cluster(t, newClock(), one.URL, two.URL).Connectors(t.Context())
	if "http://"+host != two.URL {
		t.Errorf("the second was asked as %s", host)
	}
	e, ok := errors.AsType[*connectrest.Error](err)
	if !ok || e.URL != two.URL+"/connectors" || e.Attempts != 2 {
		t.Errorf("got %v", err)
	}
}

func TestURLsOfAClusterThatAreRefused(t *testing.T) {
	for _, urls := range [][]string{nil, {"http://a", "http://a/"}, {"http://a", "http://u:hunter2@a"}, {"http://a", "b"}} {
		_, err := connectrest.NewCluster(urls)
		if err == nil {
			t.Errorf("%v: accepted", urls)
			continue
		}
		noSecret(t, "error", err.Error())
	}
	c, err := connectrest.NewCluster([]string{"http://u:hunter2@a", "http://b/x/"})
	if err != nil || c.String() != "http://a, http://b/x" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestWorkersAreLeftByManyGoroutinesAtOnce(t *testing.T) {
	s := newScript(t).on("GET /connectors", status(200, `[]`))
	client := cluster(t, newClock(), closedPort(t), closedPort(t), s.URL)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := client.Connectors(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestGzippedAnswersAreReadUpToTheirSizeUnpacked(t *testing.T) {
	const entry = `{"partition":{"p":1},"offset":{"o":1}}`
	packed := func(write func(io.Writer)) reply {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				refuse(406, "gzip was not asked for")(w, r)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			write(z)
			_ = z.Close()
		}
	}
	s := newScript(t).on("GET /connectors/mm2/offsets",
		packed(func(w io.Writer) { _, _ = io.WriteString(w, `{"offsets":[`+entry+`]}`) }))
	if got, err := s.client().Offsets(t.Context(), "mm2"); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	s.on("GET /connectors/mm2/offsets", packed(func(w io.Writer) {
		_, _ = io.WriteString(w, `{"offsets":[`)
		_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20))
		_, _ = io.WriteString(w, `]}`)
	}))
	_, err := s.client(connectrest.WithMaxAnswer(1<<20)).Offsets(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnexpected)
	if !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
	// What is no list has a bound of its own.
	s.on("GET /connectors/mm2/status", packed(func(w io.Writer) { _, _ = io.WriteString(w, strings.Repeat(" ", 33<<20)) }))
	_, err = s.client().Status(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnexpected)
	if !strings.Contains(err.Error(), "longer than 33554432 bytes") {
		t.Errorf("got %v", err)
	}
}

// The environment is read once in a process, so it needs one of its own.
func TestProxyOfTheEnvironmentIsUsed(t *testing.T) {
	const inside = "CONNECTREST_BEHIND_A_PROXY"
	if os.Getenv(inside) != "" {
		c, err := connectrest.New("http://connect.invalid:8083", connectrest.WithBasicAuth(user, password))
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdleConnections()
		if got, err := c.Connectors(t.Context()); err != nil || !cmp.Equal(got, []string{"mm2"}) {
			t.Errorf("got %v, %v", got, err)
		}
		return
	}
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.String())
		status(200, `["mm2"]`)(w, r)
	}))
	defer proxy.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyOfTheEnvironmentIsUsed$", "-test.count=1")
	cmd.Env = append(os.Environ(), inside+"=1", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if diff := cmp.Diff([]string{"GET http://connect.invalid:8083/connectors"}, seen); diff != "" {
		t.Errorf("requests through the proxy (-want +got):\n%s", diff)
	}
}
