package connecttest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// request is one HTTP request, read.
type request struct {
	ctx       context.Context //nolint:containedctx // a request is one call: it lives as long as its context
	process   *process
	method    string
	path      string   // as sent
	segments  []string // unescaped
	query     url.Values
	header    http.Header
	body      []byte
	host      string
	follower  *Follower    // that was asked, nil for the leader
	readFault requestFault // StaleOffsets or ShortOffsets, nil for none
	partial   *PartialWrite
}

// name is the connector's name in paths that have one.
func (r *request) name() string {
	if len(r.segments) < 2 {
		return ""
	}
	return r.segments[1]
}

// task is the task number in paths that have one; the route made sure of it.
func (r *request) task() int {
	n, err := strconv.Atoi(r.segments[3])
	if err != nil {
		return -1
	}
	return n
}

// flag reads a boolean query parameter as JAX-RS does: anything but true is
// false.
func (r *request) flag(name string) bool { return strings.EqualFold(r.query.Get(name), "true") }

// sleep waits, and reports false when the caller or the worker went away first.
func (r *request) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// route is one resource method. A segment * is a connector or plugin name, # a
// task number.
type route struct {
	method, path string
	available    func(version) bool // nil: in every version
	takesBody    bool               // the method has an entity parameter
	handle       func(*Worker, *request) (answer, *restError)
}

var routes = []route{
	{"GET", "", nil, false, (*Worker).getRoot},
	{"GET", "health", version.hasHealth, false, (*Worker).getHealth},
	{"GET", "connectors", nil, false, (*Worker).listConnectors},
	{"POST", "connectors", nil, true, (*Worker).createConnector},
	{"GET", "connectors/*", nil, false, (*Worker).getConnector},
	{"DELETE", "connectors/*", nil, false, (*Worker).deleteConnector},
	{"GET", "connectors/*/config", nil, false, (*Worker).getConfig},
	{"PUT", "connectors/*/config", nil, true, (*Worker).putConfig},
	{"PATCH", "connectors/*/config", version.hasPatchConfig, true, (*Worker).patchConfig},
	{"GET", "connectors/*/status", nil, false, (*Worker).getStatus},
	{"GET", "connectors/*/tasks", nil, false, (*Worker).getTasks},
	{"GET", "connectors/*/tasks-config", version.hasTasksConfig, false, (*Worker).getTasksConfig},
	{"GET", "connectors/*/tasks/#/status", nil, false, (*Worker).getTaskStatus},
	{"POST", "connectors/*/tasks/#/restart", nil, false, (*Worker).restartTask},
	{"POST", "connectors/*/restart", nil, false, (*Worker).restartConnector},
	{"PUT", "connectors/*/pause", nil, false, (*Worker).pauseConnector},
	{"PUT", "connectors/*/resume", nil, false, (*Worker).resumeConnector},
	{"PUT", "connectors/*/stop", version.hasStop, false, (*Worker).stopConnector},
	{"GET", "connectors/*/offsets", version.hasStop, false, (*Worker).getOffsets},
	{"PATCH", "connectors/*/offsets", version.hasAlterOffsets, true, (*Worker).alterOffsets},
	{"DELETE", "connectors/*/offsets", version.hasAlterOffsets, false, (*Worker).resetOffsets},
	{"GET", "connectors/*/topics", nil, false, (*Worker).getTopics},
	{"PUT", "connectors/*/topics/reset", nil, false, (*Worker).resetTopics},
	{"POST", "connectors/*/tasks", nil, true, (*Worker).internalOnly},
	{"PUT", "connectors/*/fence", nil, false, (*Worker).internalOnly},
	{"GET", "admin/loggers", nil, false, (*Worker).listLoggers},
	{"GET", "admin/loggers/*", nil, false, (*Worker).getLogger},
	{"PUT", "admin/loggers/*", nil, true, (*Worker).setLogger},
	{"GET", "connector-plugins", nil, false, (*Worker).listPlugins},
	{"GET", "connector-plugins/*/config", nil, false, (*Worker).getPluginConfig},
	{"PUT", "connector-plugins/*/config/validate", nil, true, (*Worker).validatePlugin},
}

func (rt route) matches(segments []string) bool {
	want := strings.Split(rt.path, "/")
	if rt.path == "" {
		want = nil
	}
	return slices.EqualFunc(want, segments, func(w, s string) bool {
		if w == "#" {
			_, err := strconv.ParseInt(s, 10, 32)
			return err == nil
		}
		return w == "*" && s != "" || w == s
	})
}

// serveHTTP reads a request to the leader or to a follower, lets faults have it,
// and answers.
func (w *Worker) serveHTTP(p *process, f *Follower, rw http.ResponseWriter, hr *http.Request) {
	ctx, cancel := context.WithCancel(hr.Context())
	defer cancel()
	defer context.AfterFunc(p.live, cancel)()
	r := &request{
		ctx: ctx, process: p, method: hr.Method, path: hr.URL.EscapedPath(), query: hr.URL.Query(),
		header: hr.Header, host: hr.Host, follower: f,
	}
	faults := w.faults
	if f != nil {
		faults = f.faults
	}
	if refused := w.opts.readPath(r); refused != nil {
		refused.send(rw, false)
		return
	}
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller went away
	}
	r.body = body
	if fault := faults.request(r); fault != nil {
		w.serveFault(fault, rw, r)
		return
	}
	w.dispatch(r).send(rw, false)
}

// dispatch does what the request asks for and returns the answer.
func (w *Worker) dispatch(r *request) answer {
	a, err := w.route(r)
	if err != nil {
		return err.answer()
	}
	return a
}

func (w *Worker) route(r *request) (answer, *restError) {
	method := r.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var allowed []string
	for _, rt := range routes {
		if !rt.matches(r.segments) || rt.available != nil && !rt.available(w.opts.version) {
			continue
		}
		if rt.method != method {
			allowed = append(allowed, rt.method)
			continue
		}
		if refused, err := r.negotiate(rt.takesBody); err != nil || refused.status != 0 {
			return refused, err
		}
		return rt.handle(w, r)
	}
	switch {
	case len(allowed) == 0:
		return answer{}, routeError(http.StatusNotFound)
	case method == http.MethodOptions:
		return optionsAnswer(allowed), nil
	default:
		return answer{}, routeError(http.StatusMethodNotAllowed)
	}
}

// waitFailed turns the end of a wait into what a worker answers.
func (w *Worker) waitFailed(ctx context.Context, r *request) *restError {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return w.requestTimedOut(r)
	}
	return internalError("Request interrupted")
}

// requestTimedOut names the stage that the worker is in.
func (w *Worker) requestTimedOut(r *request) *restError {
	if !w.opts.version.tellsStage() {
		return internalError("Request timed out")
	}
	stage := "The worker is currently flushing updates to the status topic"
	if len(r.segments) == 3 && r.segments[2] == "offsets" && r.method != http.MethodGet {
		stage = "The last operation the worker completed was modifying offsets for connector " + r.name()
	}
	return internalError("Request timed out. %s, which began at %s", stage, time.Now().UTC().Format(time.RFC3339))
}

func mustBeStopped(name string) *restError {
	return badRequest("Connectors must be in the STOPPED state before their offsets can be modified. This can be done "+
		"for the specified connector by issuing a 'PUT' request to the '/connectors/%s/stop' endpoint", name)
}
