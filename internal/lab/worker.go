package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Worker is a distributed Connect worker with MirrorMaker 2 on its class path.
type Worker struct {
	*Process
	// RESTURL is http://host:port without a path; it stays the same when the worker is started again.
	RESTURL string
	// Group is Connect's group.id and the prefix of its topics on the cluster of the worker's bootstrap.
	Group string
}

// StartWorker starts one more worker, which ends with the test. Workers that share a group share the
// connectors: they rebalance when one comes or goes.
func (l *Lab) StartWorker(t testing.TB, o WorkerOptions) *Worker {
	t.Helper()
	version := cmp.Or(o.Version, l.Version)
	require(t, JVM, version)
	rel, err := l.release(t.Context(), version)
	if err != nil {
		unavailable(t, JVM, err.Error())
	}
	w, err := l.startWorker(t.Context(), rel, o)
	t.Cleanup(func() {
		showLogIfFailed(t, w.Process, 0)
		w.leave()
		l.forget(w.Process)
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (l *Lab) startWorker(ctx context.Context, rel release, o WorkerOptions) (*Worker, error) {
	l.mu.Lock()
	l.numWorkers++
	name := fmt.Sprintf("worker-%d", l.numWorkers)
	l.mu.Unlock()
	w := &Worker{Process: l.newProcess(name), Group: cmp.Or(o.Group, defaultGroup)}
	bootstrap, flush := cmp.Or(o.Bootstrap, l.Target.Bootstrap), cmp.Or(o.OffsetFlushInterval, defaultFlushInterval)
	config := filepath.Join(l.dir, name+".properties")
	w.argv = l.java(rel, "org.apache.kafka.connect.cli.ConnectDistributed", config)
	w.configure = func() error {
		p, err := w.ports.take(1)
		if err != nil {
			return err
		}
		w.RESTURL = fmt.Sprintf("http://127.0.0.1:%d", p[0])
		return os.WriteFile(config, workerProperties(p[0], bootstrap, w.Group, flush, o.Properties).render(), 0o600)
	}
	w.probe = func(ctx context.Context) bool { return answersConnectors(ctx, w.RESTURL) }
	if err := w.configure(); err != nil {
		return w, fmt.Errorf("%s: %w", name, err)
	}
	return w, w.start(ctx)
}

// answersConnectors says whether the worker has joined its group: GET / answers before that, and still earlier Jetty
// answers every path with an HTML page.
func answersConnectors(ctx context.Context, url string) bool {
	// A worker that is still starting may take a request and leave it unanswered.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/connectors", nil)
	if err != nil {
		return false
	}
	// No connection is kept, and so no goroutine, which callers would take for a leak of theirs.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json")
}
