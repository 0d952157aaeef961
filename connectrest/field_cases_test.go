package connectrest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// namedWorker holds connectors by the name in the path, decoded once, and the
// raw paths that it saw.
type namedWorker struct {
	mu     sync.Mutex
	state  map[string]string
	stored map[string]json.RawMessage
	paths  []string
}

func (w *namedWorker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	path, _, _ := strings.Cut(r.RequestURI, "?")
	w.paths = append(w.paths, path)
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if path == "/" {
		status(200, worker39)(rw, r)
		return
	}
	if r.Method == http.MethodPost {
		var req struct {
			Name  string            `json:"name"`
			Conf  map[string]string `json:"config"`
			State string            `json:"initial_state"`
		}
		_ = json.Unmarshal(body, &req)
		w.state[req.Name], w.stored[req.Name] = req.State, json.RawMessage(`[]`)
		req.Conf["name"] = req.Name
		config, err := json.Marshal(req.Conf)
		if err != nil {
			panic(err)
		}
		status(201, fmt.Sprintf(`{"name":%q,"config":%s,"tasks":[],"type":"source"}`, req.Name, config))(rw, r)
		return
	}
	name, _ := url.PathUnescape(segments[1])
	state, ok := w.state[name]
	if !ok {
		refuse(404, "Connector "+name+" not found")(rw, r)
		return
	}
	switch r.Method + " " + strings.Join(segments[2:], "/") {
	case "GET status":
		status(200, fmt.Sprintf(`{"name":%q,"connector":{"state":%q,"worker_id":"w:8083"},"tasks":[],"type":"source"}`, name, state))(rw, r)
	case "GET offsets":
		_, _ = fmt.Fprintf(rw, `{"offsets":%s}`, w.stored[name])
	case "PATCH offsets":
		var b struct{ Offsets json.RawMessage }
		_ = json.Unmarshal(body, &b)
		w.stored[name] = b.Offsets
		_, _ = io.WriteString(rw, `{"message":"altered"}`)
	case "PUT stop":
		w.state[name] = "STOPPED"
		rw.WriteHeader(http.StatusNoContent)
	case "PUT resume":
		w.state[name] = "RUNNING"
		rw.WriteHeader(http.StatusAccepted)
	case "DELETE ":
		delete(w.state, name)
		rw.WriteHeader(http.StatusNoContent)
	default:
		refuse(405, "HTTP 405 Method Not Allowed")(rw, r)
	}
}

func TestPC05ConnectorNamesThatAreNotPlainWords(t *testing.T) {
	for name, escaped := range map[string]string{
		"flink to mm2":               "flink%20to%20mm2",
		"a->b.MirrorSourceConnector": "a-%3Eb.MirrorSourceConnector",
		"50%":                        "50%25",
		"x+y":                        "x%2By",
		"订单复制":                       "%E8%AE%A2%E5%8D%95%E5%A4%8D%E5%88%B6",
	} {
		t.Run(name, func(t *testing.T) {
			w := &namedWorker{state: map[string]string{}, stored: map[string]json.RawMessage{}}
			srv := httptest.NewServer(w)
			defer srv.Close()
			c, ctx := dial(t, srv.URL, newClock()), t.Context()
			req := createMM2()
			req.Name = name
			info, err := c.Create(ctx, req)
			if err != nil || info.Name != name {
				t.Fatalf("create: %+v, %v", info, err)
			}
			offsets := []connectrest.Offset{{Partition: raw(`{"topic":"orders"}`), Offset: raw(`{"offset":7}`)}}
			if err := c.AlterOffsets(ctx, name, offsets); err != nil {
				t.Errorf("alter: %v", err)
			}
			got, err := c.Offsets(ctx, name)
			if err == nil {
				err = connectrest.DiffOffsets(offsets, got)
			}
			if err != nil {
				t.Errorf("offsets: %v", err)
			}
			for _, step := range []struct {
				call func(context.Context, string) error
				want connectrest.State
			}{{c.Resume, connectrest.StateRunning}, {c.Stop, connectrest.StateStopped}} {
				err := step.call(ctx, name)
				s, statusErr := c.Status(ctx, name)
				if err != nil || statusErr != nil || s.Name != name || s.Connector.State != step.want {
					t.Errorf("want %s: %+v, %v, %v", step.want, s, err, statusErr)
				}
			}
			if err := c.Delete(ctx, name); err != nil {
				t.Errorf("delete: %v", err)
			}
			if _, err := c.Connector(ctx, name); !errors.Is(err, connectrest.ErrNotFound) {
				t.Errorf("after the deletion: %v", err)
			}
			for _, p := range w.paths {
				if p != "/" && p != "/connectors" && p != "/connectors/"+escaped && !strings.HasPrefix(p, "/connectors/"+escaped+"/") {
					t.Errorf("the server saw %s, want the name as %s", p, escaped)
				}
			}
		})
	}
	for name, why := range map[string]string{"a/b": "slash", "": "empty", "..": "path segment"} {
		s := newScript(t) // fails the test upon any request
		for what, call := range publicCalls() {
			if slices.Contains(nameless, what) {
				continue
			}
			if _, err := call(t.Context(), s.client(), name); !errors.Is(err, connectrest.ErrName) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s of %q: got %v, want a reason that says %s", what, name, err, why)
			}
		}
	}
}

func TestPC06OneStatusCodeTwoMeanings409(t *testing.T) {
	t.Run("rebalance, then success", func(t *testing.T) {
		s := ready(t).on("POST /connectors", refuse(409, rebalance), refuse(409, rebalance), status(201, created)).
			on("GET /connectors/mm2/status", status(200, stopped))
		c, draws := newClock(), 0
		client := dial(t, s.URL, c, connectrest.WithJitter(func() float64 { draws++; return 0.5 }))
		if _, err := client.Create(t.Context(), createMM2()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]time.Duration{150 * time.Millisecond, 300 * time.Millisecond}, c.slept()); diff != "" || draws != 2 {
			t.Errorf("%d draws, pauses (-want +got):\n%s", draws, diff)
		}
	})
	t.Run("the name exists", func(t *testing.T) {
		s := ready(t).on("POST /connectors", refuse(409, "Connector flink-to-mm2-source already exists"))
		c := newClock()
		_, err := dial(t, s.URL, c).Create(t.Context(), createMM2())
		checkMeanings(t, err, connectrest.ErrExists)
		if n := s.sent("POST /connectors"); n != 1 || len(c.slept()) != 0 {
			t.Errorf("sent %d times with pauses %v", n, c.slept())
		}
	})
	t.Run("stale for ever", func(t *testing.T) {
		s := ready(t).on("POST /connectors", refuse(409, stale))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		c := newClock()
		c.during = func() {
			if len(c.slept()) == 5 {
				<-ctx.Done() // the deadline comes during a pause, and not during a write
			}
		}
		// A worker that says itself that it is momentary is asked past the budget.
		_, err := dial(t, s.URL, c, connectrest.WithRetry(connectrest.RetryPolicy{Budget: time.Nanosecond})).Create(ctx, createMM2())
		e, ok := errors.AsType[*connectrest.Error](err)
		if !ok || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, connectrest.ErrStaleConfig) ||
			e.Attempts != 5 || e.Attempts != s.sent("POST /connectors") || e.Message != stale {
			t.Errorf("sent %d: %+v", s.sent("POST /connectors"), err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		s := ready(t).on("POST /connectors", refuse(409, stale))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := newClock()
		c.during = cancel
		_, err := dial(t, s.URL, c).Create(ctx, createMM2())
		if n := s.sent("POST /connectors"); n != 1 || !errors.Is(err, context.Canceled) || errors.Is(err, connectrest.ErrOutcomeUnknown) {
			t.Errorf("sent %d times: %v", n, err)
		}
	})
}

func TestPC07OldWorkerAndStoppedBeforeTasksAreGone(t *testing.T) {
	t.Run("an old worker is refused before the creation", func(t *testing.T) {
		s := newScript(t).on("GET /", status(200, `{"version":"3.5.1","commit":"c","kafka_cluster_id":"id"}`))
		_, err := s.client().Create(t.Context(), createMM2())
		checkMeanings(t, err, connectrest.ErrUnsupported)
		if !strings.Contains(err.Error(), "needs Kafka 3.7.0 or later") || !strings.Contains(err.Error(), "3.5.1") || len(s.all()) != 1 {
			t.Errorf("sent %v: %v", s.all(), err)
		}
	})
	t.Run("created, and seen RUNNING with a task", func(t *testing.T) {
		s := ready(t).on("POST /connectors", status(201, created)).on("GET /connectors/mm2/status", status(200, running)).
			on("PUT /connectors/mm2/stop", status(204, "")).on("GET /connectors/mm2/topics", status(200, `{"mm2":{"topics":["orders"]}}`))
		_, err := s.client().Create(t.Context(), createMM2())
		checkMeanings(t, err)
		if !errors.Is(err, connectrest.ErrStartedAnyway) || s.sent("PUT /connectors/mm2/stop") != 1 ||
			!strings.Contains(err.Error(), `records of topics "orders" may have been copied from the beginning`) {
			t.Errorf("sent %v: %v", s.all(), err)
		}
	})
	offsets := []connectrest.Offset{{Partition: raw(`{"topic":"orders"}`), Offset: raw(`{"offset":7}`)}}
	late := func(patches ...reply) *script {
		return newScript(t).on("GET /connectors/mm2/status", status(200, stoppedOne), status(200, stoppedOne), status(200, stopped)).
			on("GET /connectors/mm2", status(200, created)).on("PATCH /connectors/mm2/offsets", patches...)
	}
	t.Run("tasks are left for two polls, and for two refusals", func(t *testing.T) {
		s := late(refuse(400, mustBeStopped), refuse(400, mustBeStopped), status(200, `{"message":"ok"}`))
		if err := s.client().AlterOffsetsOnceStopped(t.Context(), "mm2", offsets, time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := s.sent("PATCH /connectors/mm2/offsets"); n != 3 {
			t.Errorf("the offsets were sent %d times, want 3", n)
		}
		first := slices.Index(s.all(), "PATCH /connectors/mm2/offsets")
		if n := len(s.all()[:first]); n < 5 {
			t.Errorf("the offsets were sent while a task was left: %v", s.all())
		}
	})
	t.Run("the bound passes with a task left", func(t *testing.T) {
		s := late(status(200, `{"message":"ok"}`)).on("GET /connectors/mm2/status", status(200, stoppedOne))
		err := s.client().AlterOffsetsOnceStopped(t.Context(), "mm2", offsets, time.Minute)
		checkMeanings(t, err, connectrest.ErrNotStopped)
		if !strings.Contains(err.Error(), "task 0 RUNNING on w:8083") || s.sent("PATCH /connectors/mm2/offsets") != 0 {
			t.Errorf("sent %v: %v", s.all(), err)
		}
	})
	t.Run("the bound passes with the refusals going on", func(t *testing.T) {
		s := late(refuse(400, mustBeStopped))
		err := s.client().AlterOffsetsOnceStopped(t.Context(), "mm2", offsets, time.Minute)
		checkMeanings(t, err, connectrest.ErrNotStopped)
		if e, ok := errors.AsType[*connectrest.NotStoppedError](err); !ok || e.State != connectrest.StateStopped {
			t.Errorf("got %v", err)
		}
	})
}

func TestPC08WorkersThatCannotReachOneAnother(t *testing.T) {
	pair := func(one, two *script, c *clock) *connectrest.Client {
		client, err := connectrest.NewCluster([]string{one.URL, two.URL}, connectrest.WithClock(c), connectrest.WithJitter(func() float64 { return 1 }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.CloseIdleConnections)
		return client
	}
	broken := func(s *script) *script {
		return s.on("GET /connectors", refuse(500, forwarding)).on("PUT /connectors/mm2/stop", refuse(500, forwarding)).
			on("GET /connectors/mm2/status", status(200, running))
	}
	t.Run("the next worker is asked, at once", func(t *testing.T) {
		one, two, c := broken(newScript(t)), newScript(t).on("GET /connectors", status(200, `["mm2"]`)), newClock()
		client := pair(one, two, c)
		for range 2 {
			if got, err := client.Connectors(t.Context()); err != nil || !cmp.Equal(got, []string{"mm2"}) {
				t.Fatalf("got %v, %v", got, err)
			}
		}
		if one.sent("GET /connectors") != 1 || two.sent("GET /connectors") != 2 || len(c.slept()) != 0 {
			t.Errorf("first %v, second %v, pauses %v: want the one that answers to be kept", one.all(), two.all(), c.slept())
		}
	})
	t.Run("a write is read back before the next worker is asked", func(t *testing.T) {
		one := broken(newScript(t))
		two := newScript(t).on("GET /connectors/mm2/status", status(200, running)).on("PUT /connectors/mm2/stop", status(204, ""))
		if err := pair(one, two, newClock()).Stop(t.Context(), "mm2"); err != nil {
			t.Fatal(err)
		}
		if n := one.sent("PUT /connectors/mm2/stop"); n != 1 {
			t.Errorf("the first was sent %d stops", n)
		}
		all := two.all()
		if all[0] != "GET /connectors/mm2/status" || all[len(all)-1] != "PUT /connectors/mm2/stop" || two.sent("PUT /connectors/mm2/stop") != 1 {
			t.Errorf("the second was sent %v, want a read-back and then one stop", all)
		}
	})
	t.Run("both fail: few quick tries, then the error", func(t *testing.T) {
		one, two, c := broken(newScript(t)), broken(newScript(t)), newClock()
		_, err := pair(one, two, c).Connectors(t.Context())
		checkMeanings(t, err, connectrest.ErrForwarding)
		for _, want := range []string{"rest.advertised.host.name", "NetworkPolicy", "mm2-0.mm2.svc"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("it does not name %s: %v", want, err)
			}
		}
		var waited time.Duration
		for _, d := range c.slept() {
			waited += d
		}
		if n := one.sent("GET /connectors") + two.sent("GET /connectors"); n > 4 || waited > 2*time.Second {
			t.Errorf("%d tries, waited %v", n, waited)
		}
	})
}

func TestPC09PrivateCABasicAuthSecretsInTheURL(t *testing.T) {
	s := newPrivateWorker(t)
	ca, key := pemFiles(t, s.TLS.Certificates[0])
	with := func(user, password string) string {
		return strings.Replace(s.URL, "https://", "https://"+url.UserPassword(user, password).String()+"@", 1)
	}
	certificate := connectrest.WithClientCertificate(ca, key)
	for _, tt := range []struct {
		name, base string
		opts       []connectrest.Option
		is         error
		says       []string // empty for success
	}{
		{"no CA", with(user, password), nil, connectrest.ErrUnreachable, []string{"unknown authority", "WithCAFile"}},
		{"CA file, no certificate", with(user, password), []connectrest.Option{connectrest.WithCAFile(ca)}, connectrest.ErrUnreachable, []string{"WithClientCertificate"}},
		{"CA file and certificate, no credentials", s.URL, []connectrest.Option{connectrest.WithCAFile(ca), certificate}, connectrest.ErrUnauthorized, []string{"WithBasicAuth"}},
		{"a 401 that repeats them", with("other", password), []connectrest.Option{certificate, connectrest.WithCAFile(ca)}, connectrest.ErrUnauthorized, []string{"status 401: no: Basic <secret>", "the credentials that were sent are not taken"}},
		{"all of them", with(user, password), []connectrest.Option{connectrest.WithCAFile(ca), certificate}, nil, nil},
		{"verification switched off by name", with(user, password), []connectrest.Option{connectrest.WithTLSConfig(&tls.Config{InsecureSkipVerify: true}), certificate}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			c := newClock()
			client := dial(t, tt.base, c, append(tt.opts, logTo(&log))...)
			_, err := client.Connectors(t.Context())
			if !errors.Is(err, tt.is) {
				t.Errorf("got %v", err)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it does not say %q: %v", want, err)
				}
			}
			if len(c.slept()) != 0 {
				t.Errorf("it was tried again after %v", c.slept())
			}
			if warned := strings.Contains(log.String(), "not verified"); warned != strings.HasPrefix(tt.name, "verification") {
				t.Errorf("log: %s", &log)
			}
			noSecret(t, "error", printed(err))
			noSecret(t, "log", log.String())
			noSecret(t, "client", printed(client))
			huntError(t, "error", err)
		})
	}
}

// pemFiles writes a certificate and its key.
func pemFiles(t *testing.T, c tls.Certificate) (cert, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", c.Certificate[0]), write("key.pem", "PRIVATE KEY", der)
}
