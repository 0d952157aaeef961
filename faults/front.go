package faults

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Front stands before a worker: each request passes it, and may be held there. Where it
// does nothing it changes nothing.
type Front struct {
	// URL is where the program finds the worker.
	URL string

	server    *httptest.Server
	upstream  string
	connector string

	mu    sync.Mutex
	seen  []string       // kinds, in their order
	times map[string]int // how many of each kind
	meet  func(*Exchange) bool
}

// Exchange is a request that has come to a [Front], and how it can be answered.
type Exchange struct {
	// Kind is the method and the path, with {name} for the connector's and {other} for
	// that of another one.
	Kind string
	// Nth counts the requests of the kind, from 1 on.
	Nth int

	front *Front
	w     http.ResponseWriter
	r     *http.Request
	body  []byte
}

// Answer is what a worker said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// newFront forwards to the base URL of a worker.
func newFront(upstream, connector string) *Front {
	f := &Front{upstream: upstream, connector: connector, times: map[string]int{}}
	f.server = httptest.NewServer(f)
	f.URL = f.server.URL
	return f
}

func (f *Front) close() { f.server.Close() }

// Meet lets meet see every request from now on, and counts anew. It answers true for one
// that it has answered, or left without an answer.
func (f *Front) Meet(meet func(*Exchange) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.times, f.meet = nil, map[string]int{}, meet
}

// Seen returns the kinds of the requests since Meet, in their order.
func (f *Front) Seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.seen...)
}

func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the program is gone
	}
	e := &Exchange{Kind: r.Method + " " + f.path(r), front: f, w: w, r: r, body: body}
	f.mu.Lock()
	f.times[e.Kind]++
	e.Nth = f.times[e.Kind]
	f.seen = append(f.seen, e.Kind)
	meet := f.meet
	f.mu.Unlock()
	if meet != nil && meet(e) {
		return
	}
	a, err := e.Forward()
	if err != nil {
		e.Cut() // as a connection to a worker that is gone
	}
	e.Reply(a)
}

// ofConnector matches the path of one connector.
var ofConnector = regexp.MustCompile(`^/connectors/[^/]+`)

func (f *Front) path(r *http.Request) string {
	return ofConnector.ReplaceAllStringFunc(r.URL.Path, func(path string) string {
		if path == "/connectors/"+f.connector {
			return "/connectors/{name}"
		}
		return "/connectors/{other}"
	})
}

// Forward has the worker carry the request out, whether or not the program still waits.
func (e *Exchange) Forward() (*Answer, error) {
	req, err := http.NewRequest(e.r.Method, e.front.upstream+e.r.URL.RequestURI(), strings.NewReader(string(e.body))) //nolint:noctx // outlives who asked
	if err != nil {
		return nil, err
	}
	req.Header = e.r.Header.Clone()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return &Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, err
}

// Gone is closed when the program waits for the answer no more.
func (e *Exchange) Gone() <-chan struct{} { return e.r.Context().Done() }

// Reply gives the program the whole answer.
func (e *Exchange) Reply(a *Answer) { e.write(a, len(a.Body)) }

// Half gives the program the beginning of the answer, and no end.
func (e *Exchange) Half(a *Answer) { e.write(a, len(a.Body)/2) }

func (e *Exchange) write(a *Answer, n int) {
	maps.Copy(e.w.Header(), a.Header)
	if a.Status != http.StatusNoContent {
		e.w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	e.w.WriteHeader(a.Status)
	_, _ = e.w.Write(a.Body[:n])                // fails only if nobody reads it
	_ = http.NewResponseController(e.w).Flush() // likewise
}

// Cut ends the connection without an answer. It does not return.
func (*Exchange) Cut() { panic(http.ErrAbortHandler) }
