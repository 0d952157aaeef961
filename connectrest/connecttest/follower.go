package connecttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"syscall"
)

// Follower is another worker of the same Connect cluster, which the [Worker]
// leads. It answers reads, pause and resume by itself and forwards everything
// else to the leader, over HTTP, as a real worker does: to the address that the
// leader advertises ([WithAdvertisedAddress]), with no header of the caller but Authorization, no more than two hops.
//
// Connectors and tasks all run on the leader. A follower stays one: while the
// leader is down, what must be forwarded fails, where a real cluster elects a
// new leader once the old one's session has timed out.
type Follower struct {
	// URL is the base URL of the REST API, http://HOST:PORT without a slash at
	// the end.
	URL string

	leader  *Worker
	faults  *faultSet
	levels  *logLevels
	process *process
	client  *http.Client
	once    sync.Once
}

// StartFollower starts another worker of w's cluster. It ends with
// [Follower.Close], at the latest with [Worker.Close]; [Worker.Kill] and
// [Worker.Restart] leave it alone.
func (w *Worker) StartFollower() (*Follower, error) {
	w.lifecycle.Lock()
	defer w.lifecycle.Unlock()
	if w.closed {
		return nil, errors.New("start a follower: the connect worker is closed")
	}
	l, err := w.opts.listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a follower: open the REST port: %w", err)
	}
	p := &process{}
	p.hard, p.kill = context.WithCancel(context.Background())
	p.live, p.stop = context.WithCancel(p.hard)
	f := &Follower{
		URL: "http://" + l.Addr().String(), leader: w, faults: newFaultSet(), levels: newLogLevels(), process: p,
		// A connection that is kept could break between two requests, and which of
		// them notices would be chance.
		client: &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.serveHTTP(p, f, rw, r)
	}))
	_ = p.server.Listener.Close() // the one that httptest opened for itself
	p.server.Listener = l
	p.server.Start()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followers = append(w.followers, f)
	return f, nil
}

// Inject switches a fault of requests on for this worker alone. Faults of the
// copy belong to the leader, where tasks run: here they never take effect.
func (f *Follower) Inject(fault Fault) *Injected { return f.faults.add(fault) }

// Close ends the follower. A second call does nothing.
func (f *Follower) Close() {
	f.once.Do(func() {
		f.process.stop()
		f.process.server.CloseClientConnections()
		f.process.server.Close()
		f.process.wait()
	})
}

// forward is HerderRequestHandler.completeOrForwardRequest: without a flag a
// request may take two hops, so that a worker that has just lost the leadership
// can pass it on.
func (f *Follower) forward(r *request) (answer, *restError) {
	next := "true"
	if r.query.Has("forward") {
		if !r.flag("forward") {
			return answer{}, conflict("Cannot complete request because of a conflicting operation (e.g. worker rebalance)")
		}
		next = "false"
	}
	query := maps.Clone(r.query)
	query.Set("forward", next)
	hr, err := http.NewRequestWithContext(r.ctx, r.method, "http://"+f.leader.advertised()+r.path+"?"+query.Encode(), bytes.NewReader(r.body))
	if err != nil {
		return answer{}, forwardingFailed(err.Error())
	}
	if len(r.body) > 0 {
		hr.Header.Set("Content-Type", contentJSON)
	}
	hr.Header.Set("Accept", contentJSON)
	if a, ok := r.header["Authorization"]; ok {
		hr.Header["Authorization"] = a
	}
	resp, err := f.client.Do(hr)
	if err != nil {
		return answer{}, forwardingFailed(javaNetworkError(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, forwardingFailed(javaNetworkError(err))
	}
	return f.relay(r, resp, body)
}

// relay makes the leader's answer this worker's own. Answers are read, not
// copied: a page of a proxy between the workers becomes a failure to forward.
func (f *Follower) relay(r *request, resp *http.Response, body []byte) (answer, *restError) {
	switch {
	case resp.StatusCode >= 400:
		v, err := f.leader.opts.version.readJSON(body)
		m, isObject := v.(javaMap)
		if err != nil || !isObject {
			if err == nil {
				err = wrongKind(entities+"ErrorMessage", v)
			}
			return answer{}, forwardingFailed(err.message)
		}
		return answer{}, &restError{status: resp.StatusCode, message: javaString(m["message"])}
	case resp.StatusCode >= 300:
		return answer{}, internalError("Unexpected status code when handling forwarded request: %d", resp.StatusCode)
	}
	a := answer{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), body: body}
	if resp.Header.Get("Location") != "" {
		a.location = "http://" + r.host + locationPath(resp.Header.Get("Location"))
	}
	return a, nil
}

func locationPath(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "/" // the leader's own Location is always a URL
	}
	return u.EscapedPath()
}

func forwardingFailed(cause string) *restError {
	return internalError("IO Error trying to forward REST request: %s", cause)
}

// javaNetworkError is what Jetty's client calls an error. Which words it has for
// a connection that breaks depends on the moment; these are one of them.
func javaNetworkError(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "java.net.ConnectException: Connection refused"
	}
	return "java.io.EOFException: HttpConnectionOverHTTP"
}
