package connecttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Worker is a Kafka Connect worker. Its methods may be called concurrently.
type Worker struct {
	// URL is the base URL of the REST API, http://HOST:PORT without a slash at
	// the end. It stays the same over Kill and Restart.
	URL string

	opts      *options
	bootstrap string
	address   string // of the REST port
	clusterID string
	faults    *faultSet
	offsets   *offsetStore
	levels    *logLevels

	lifecycle sync.Mutex // held by Close, Kill and Restart
	closed    bool
	process   *process // nil while the worker is down

	// What a worker keeps in its config and status topics: it outlives the
	// process.
	mu         sync.Mutex
	connectors map[string]*connector
	followers  []*Follower
	changed    chan struct{} // closed and replaced when anything under mu changed
}

// process is one life of the worker, from a start to a shutdown or a kill.
type process struct {
	// live ends when the worker is asked to stop, hard when nothing may be written
	// any more.
	live context.Context //nolint:containedctx // the process is what lives that long
	stop context.CancelFunc
	hard context.Context //nolint:containedctx // see above
	kill context.CancelFunc

	server *httptest.Server

	connectors sync.WaitGroup // their drivers
	tasks      sync.WaitGroup // and what they leave behind

	// ending holds, under the worker's mu, what still ends of deleted connectors:
	// one that is created again under the same name waits for it.
	ending map[string]<-chan struct{}
}

// wait ends what is left once the drivers have ended: tasks that were abandoned
// do not commit any more when the process exits.
func (p *process) wait() {
	p.connectors.Wait()
	p.kill()
	p.tasks.Wait()
}

// connectTimeout bounds how long NewWorker waits for the brokers.
const connectTimeout = 10 * time.Second

// NewWorker starts a worker whose bootstrap.servers are the given brokers, each
// HOST:PORT. It asks them for their cluster id, so they must be reachable. The
// caller must call [Worker.Close].
func NewWorker(ctx context.Context, bootstrap []string, opts ...Option) (*Worker, error) {
	o := defaultOptions()
	if len(bootstrap) == 0 {
		return nil, errors.New("start a connect worker: no brokers are given")
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("start a connect worker: option %d is nil", i+1)
		}
		if err := opt(o); err != nil {
			return nil, fmt.Errorf("start a connect worker: %w", err)
		}
	}
	if o.shownVersion == "" {
		o.shownVersion = o.version.String()
	}
	keys, err := o.version.configKeys()
	if err != nil {
		return nil, fmt.Errorf("start a connect worker: %w", err)
	}
	o.keys = keys
	w := &Worker{
		opts:       o,
		bootstrap:  strings.Join(bootstrap, ","),
		faults:     newFaultSet(),
		offsets:    newOffsetStore(),
		levels:     newLogLevels(),
		connectors: make(map[string]*connector),
		changed:    make(chan struct{}),
	}
	if w.clusterID, err = o.clusterID(ctx, w.bootstrap); err != nil {
		return nil, fmt.Errorf("start a connect worker: read the cluster id from %s: %w", w.bootstrap, err)
	}
	l, err := o.listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a connect worker: open the REST port: %w", err)
	}
	w.address = l.Addr().String()
	w.URL = "http://" + w.address
	w.start(l)
	return w, nil
}

// advertised is where others are to reach the worker, and its id.
func (w *Worker) advertised() string { return cmp.Or(w.opts.advertised, w.address) }

// clusterID asks the brokers for the id of their cluster.
func (o *options) clusterID(ctx context.Context, bootstrap string) (string, error) {
	cl, err := o.newClient(bootstrap, "connecttest", kgo.RetryTimeout(connectTimeout))
	if err != nil {
		return "", err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none: only the cluster
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return "", err
	}
	if resp.ClusterID == nil {
		return "", errors.New("the brokers name no cluster id")
	}
	return *resp.ClusterID, nil
}

// start begins a new process on an open port.
func (w *Worker) start(l net.Listener) {
	p := &process{ending: make(map[string]<-chan struct{})}
	p.hard, p.kill = context.WithCancel(context.Background())
	p.live, p.stop = context.WithCancel(p.hard)
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.serveHTTP(p, nil, rw, r)
	}))
	_ = p.server.Listener.Close() // the one that httptest opened for itself
	p.server.Listener = l
	w.process = p
	w.mu.Lock()
	for _, c := range w.connectors {
		w.run(p, c, nil)
	}
	w.mu.Unlock()
	p.server.Start()
}

// run begins to drive a connector, once prev has ended. The caller holds w.mu.
func (w *Worker) run(p *process, c *connector, prev <-chan struct{}) {
	c.done = make(chan struct{})
	done := c.done
	p.connectors.Go(func() {
		defer close(done)
		c.drive(p, prev)
	})
}

// Close shuts the worker down as SIGTERM does: running tasks finish what they
// are about to write and commit. Its followers end before it. When it returns,
// no goroutine of the worker is left. A second call does nothing.
func (w *Worker) Close() {
	w.lifecycle.Lock()
	defer w.lifecycle.Unlock()
	w.closed = true
	w.mu.Lock()
	followers := w.followers
	w.followers = nil
	w.mu.Unlock()
	for _, f := range followers {
		f.Close()
	}
	w.shutDown()
}

// Kill ends the worker as SIGKILL does: nothing is committed any more, and
// connections break. What tasks wrote since their last flush of offsets will be
// written again after [Worker.Restart]. It does nothing to a worker that is
// down.
func (w *Worker) Kill() {
	w.lifecycle.Lock()
	defer w.lifecycle.Unlock()
	if w.process == nil {
		return
	}
	w.process.kill()
	w.closeServer()
	w.process.wait()
	w.process = nil
}

// restartTimeout bounds how long Restart waits for the port, which is free
// unless another program took it meanwhile.
const restartTimeout = 5 * time.Second

// Restart starts a worker again that was killed, under the same URL: connectors,
// their target states and offsets are as they were, and connectors that were to
// run go on from the last offsets committed. A worker that still runs is shut
// down first, as by [Worker.Close].
func (w *Worker) Restart(ctx context.Context) error {
	w.lifecycle.Lock()
	defer w.lifecycle.Unlock()
	if w.closed {
		return errors.New("restart the connect worker: it is closed")
	}
	w.shutDown()
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	for {
		l, err := w.opts.listen("tcp", w.address)
		if err == nil {
			w.start(l)
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("restart the connect worker: open %s again: %w", w.address, err)
		}
	}
}

func (w *Worker) shutDown() {
	p := w.process
	if p == nil {
		return
	}
	p.stop()
	w.closeServer()
	p.wait()
	w.process = nil
}

// closeServer ends all requests. Connections are broken first: a handler may
// wait for a body that never comes.
func (w *Worker) closeServer() {
	w.process.server.CloseClientConnections()
	w.process.server.Close()
}

// notify wakes everybody who waits for a change. The caller holds w.mu.
func (w *Worker) notify() {
	close(w.changed)
	w.changed = make(chan struct{})
}
