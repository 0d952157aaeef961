package connecttest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// A worker on the source with names kept copies records into the topic they came
// from, for ever; the target stays empty and everything is RUNNING.
func TestWorkerOnTheSourceEchoes(t *testing.T) {
	s := &stage{source: broker(t, sourceID), target: broker(t, targetID), version: "4.3.1", client: httpClient(t)}
	w, err := connecttest.NewWorker(t.Context(), s.source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	topic(t, s.source, "orders", 1)
	topic(t, s.target, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 10)...)
	if info := decode[map[string]string](t, s.must(t, 200, "GET", "/", nil)); info["kafka_cluster_id"] != sourceID {
		t.Errorf("kafka_cluster_id = %s, want that of the worker's brokers", info["kafka_cluster_id"])
	}
	s.create(t, "mm2", "", s.config())
	await(t, "the echo", func() (any, bool) {
		end := ends(t, s.source, "orders")[0]
		return end, end >= 100
	})
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED")
	if end := ends(t, s.target, "orders")[0]; end != 0 {
		t.Errorf("the target has %d records, want none", end)
	}
}

// producer.override.bootstrap.servers sends the records elsewhere; the source
// offsets stay with the worker.
func TestProducerOverrideRedirects(t *testing.T) {
	s := &stage{source: broker(t, sourceID), target: broker(t, targetID), version: "4.3.1", client: httpClient(t)}
	third := broker(t, "dGhpcmQtY2x1c3Rlci0xMQ")
	w, err := connecttest.NewWorker(t.Context(), third)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 10)...)
	s.create(t, "mm2", "", s.config(conf{"producer.override.bootstrap.servers": strings.Join(s.target, ",")}))
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 10))
	if names := topics(t, third); slices.Contains(names, "orders") {
		t.Errorf("topics of the worker's own cluster: %v", names)
	}
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`})
}

func TestOverridePolicyNoneRefusesOverrides(t *testing.T) {
	s, _ := embedded(t, connecttest.WithOverridePolicy(connecttest.OverrideNone))
	s.check(t, "mm2", row{
		method: "POST", path: "/connectors", status: 400,
		body: map[string]any{"name": "mm2", "config": s.config(conf{"producer.override.bootstrap.servers": "x:1"})},
		message: "Connector configuration is invalid and contains the following 1 error(s):\n" +
			"The 'None' policy does not allow 'bootstrap.servers' to be overridden in the connector configuration." + alsoAt,
	})
}

// After a crash the copy goes on from the last offsets committed: what was
// written since is written again, and nothing is missing.
func TestKillRepeatsWhatWasNotCommitted(t *testing.T) {
	s, w := embedded(t, connecttest.WithOffsetFlushInterval(time.Hour))
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 20)...)
	s.create(t, "mm2", "STOPPED", s.config())
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 4)))
	s.must(t, http.StatusAccepted, "PUT", "/connectors/mm2/resume", nil)
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 5, 15))

	w.Kill()
	if _, err := s.try(t.Context(), "GET", "/", nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a worker that was killed: %v, want connection refused", err)
	}
	w.Kill() // does nothing
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	awaitValues(t, s.target, "orders", 0, slices.Concat(expected("orders", 0, 5, 15), expected("orders", 0, 5, 15)))
	if got := s.offsets(t, "mm2")["source/orders/0"]; got != `{"offset":4}` {
		t.Errorf("offset = %s, want that of the last commit", got)
	}
}

// A clean restart commits first, so the copy goes on exactly.
func TestRestartOfARunningWorkerRepeatsNothing(t *testing.T) {
	s, w := running(t, connecttest.WithOffsetFlushInterval(time.Hour))
	s.create(t, "other", "STOPPED", s.config())
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.url != w.URL {
		t.Errorf("URL = %s after the restart, want %s", w.URL, s.url)
	}
	produce(t, s.source, numbered("orders", 0, 10, 5)...)
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 15))
	s.awaitStates(t, "other", "STOPPED")
}

// After a clean shutdown the status topic says UNASSIGNED until the connector
// runs again.
func TestStatusAfterRestartIsOldForAMoment(t *testing.T) {
	s, w := running(t, connecttest.WithSettleTime(300*time.Millisecond))
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.status(t, "mm2").states(); got != "UNASSIGNED/UNASSIGNED" {
		t.Errorf("status after the restart = %s", got)
	}
	w.Kill()
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
}

func TestRestartAfterCloseIsRefused(t *testing.T) {
	_, w := embedded(t)
	w.Close()
	w.Close()
	if err := w.Restart(t.Context()); err == nil {
		t.Error("a closed worker was started again")
	}
	w.Kill()
}

func TestNewWorkerRefuses(t *testing.T) {
	b := broker(t, targetID)
	for _, c := range []struct {
		name    string
		brokers []string
		opt     connecttest.Option
		want    string
	}{
		{"a version that is none", b, connecttest.WithVersion("4.3"), `version "4.3": want three numbers, as in 4.3.1`},
		{"a vendor's version", b, connecttest.WithVersion("3.9.0-cp1"), "want three numbers"},
		{"a version that was never seen", b, connecttest.WithVersion("3.3.2"), "version 3.3.2: behaviour is known from 3.4.0 to the 4 line"},
		{"a version to come", b, connecttest.WithVersion("5.0.0"), "version 5.0.0"},
		{"topic tracking of another kind", b, connecttest.WithTopicTracking("off"), `topic tracking "off": want "enabled", "reset disabled" or "disabled"`},
		{"an empty version string", b, connecttest.WithVersionString(""), "version string: it is empty"},
		{"no flush interval", b, connecttest.WithOffsetFlushInterval(0), "offset flush interval 0s: it is not positive"},
		{"a negative refresh interval", b, connecttest.WithTopicRefreshInterval(-1), "topic refresh interval -1ns"},
		{"an unknown policy", b, connecttest.WithOverridePolicy("Some"), `override policy "Some"`},
		{"an advertised address without a port", b, connecttest.WithAdvertisedAddress("worker-1"), `advertised address "worker-1": want HOST:PORT`},
		{"an advertised address without a host", b, connecttest.WithAdvertisedAddress(":8083"), "want HOST:PORT"},
		{"an advertised port that is none", b, connecttest.WithAdvertisedAddress("worker-1:http"), "want HOST:PORT"},
		{"no logger", b, connecttest.WithLogger(nil), "logger: it is nil"},
		{"no listen function", b, connecttest.WithListen(nil), "listen function: it is nil"},
		{"no brokers", nil, connecttest.WithVersion("4.3.1"), "no brokers are given"},
		{"an empty broker", []string{""}, connecttest.WithVersion("4.3.1"), "no resolvable bootstrap urls"},
		{"an option that is nil", b, nil, "option 1 is nil"},
		{"a Kafka option that is nil", b, connecttest.WithKafkaOptions(nil), "kafka options: one of them is nil"},
		{"a broker without a port", []string{"localhost"}, connecttest.WithVersion("4.3.1"), "invalid url in bootstrap.servers: localhost"},
	} {
		w, err := connecttest.NewWorker(t.Context(), c.brokers, c.opt)
		if err == nil {
			w.Close()
			t.Errorf("%s: no error", c.name)
			continue
		}
		if !strings.HasPrefix(err.Error(), "start a connect worker: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestNewWorkerNeedsItsBrokers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if w, err := connecttest.NewWorker(ctx, []string{"127.0.0.1:1"}); err == nil {
		w.Close()
		t.Error("a worker started without brokers")
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestLoggerAndVersionString(t *testing.T) {
	var log lockedBuffer
	s, _ := embedded(t, connecttest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), connecttest.WithVersionString("4.3.1-vendor.7"))
	if info := decode[map[string]string](t, s.must(t, 200, "GET", "/", nil)); info["version"] != "4.3.1-vendor.7" {
		t.Errorf("version = %q", info["version"])
	}
	s.create(t, "mm2", "", s.config(conf{"topics": "["}))
	s.awaitStates(t, "mm2", "FAILED")
	if !strings.Contains(log.String(), "connector failed to start") {
		t.Errorf("log = %s", log.String())
	}
}

// Nothing is left when a worker was closed in the middle of its work.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	s := &stage{source: broker(t, sourceID), target: broker(t, targetID), version: "4.3.1", client: httpClient(t)}
	topic(t, s.source, "orders", 4)
	produce(t, s.source, numbered("orders", 0, 0, 1000)...)
	before := goleak.IgnoreCurrent()
	w, err := connecttest.NewWorker(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	s.url = w.URL
	w.Inject(connecttest.SlowStop{For: time.Hour})
	w.Inject(connecttest.StragglingCommit{Connector: "late", After: time.Hour})
	s.create(t, "mm2", "", s.config())
	s.create(t, "late", "", s.config())
	s.create(t, "unreachable", "", s.config(conf{"source.cluster.bootstrap.servers": "127.0.0.1:1", "admin.timeout.ms": "100"}))
	s.create(t, "off", "", s.config(conf{"enabled": "false"}))
	s.create(t, "bad", "", s.config(conf{"topics": "["}))
	s.must(t, http.StatusNoContent, "PUT", "/connectors/late/stop", nil)
	w.Kill()
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s.client.CloseIdleConnections()
	// The brokers start a goroutine for each read of the clients that this test has.
	brokers := goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*clientConn).read.func1")
	if err := goleak.Find(before, brokers); err != nil {
		t.Error(err)
	}
}

// Everything may be called at once.
func TestConcurrentUse(t *testing.T) {
	s, w := embedded(t, connecttest.WithOffsetFlushInterval(5*time.Millisecond), connecttest.WithTopicRefreshInterval(10*time.Millisecond), connecttest.WithSettleTime(time.Millisecond))
	topic(t, s.source, "orders", 3)
	produce(t, s.source, numbered("orders", 0, 0, 100)...)
	var all sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprintf("c%d", i%3)
		all.Go(func() {
			for j := range 15 {
				for _, r := range []row{
					{method: "PUT", path: "/connectors/" + name + "/config", body: s.config()},
					{method: "GET", path: "/connectors?expand=status&expand=info"},
					{method: "PUT", path: "/connectors/" + name + "/pause"},
					{method: "POST", path: "/connectors/" + name + "/restart?includeTasks=true"},
					{method: "PUT", path: "/connectors/" + name + "/resume"},
					{method: "PUT", path: "/connectors/" + name + "/stop"},
					{method: "PATCH", path: "/connectors/" + name + "/offsets", body: entries(at("orders", j%3, int64(j)))},
					{method: "GET", path: "/connectors/" + name + "/offsets"},
					{method: "GET", path: "/connectors/" + name + "/topics"},
					{method: "DELETE", path: "/connectors/" + name},
				} {
					if reply, err := s.try(t.Context(), r.method, r.path, r.body); err != nil || reply.status >= 500 {
						t.Errorf("%s %s: %s %v", r.method, r.path, reply, err)
					}
				}
			}
		})
	}
	all.Go(func() {
		for range 30 {
			injected := w.Inject(connecttest.DropRecord{Record: connecttest.Record{Topic: "orders"}})
			injected.Hits()
			injected.Remove()
		}
	})
	all.Wait()
}

func TestSecondWorkerIsIndependent(t *testing.T) {
	s, _ := running(t)
	w, err := connecttest.NewWorker(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other := &stage{url: w.URL, client: s.client}
	if r := other.call(t, "GET", "/connectors/mm2/offsets", nil); r.status != http.StatusNotFound {
		t.Errorf("a worker of its own knows the connector: %s", r)
	}
}
