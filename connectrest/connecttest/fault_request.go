package connecttest

import (
	"cmp"
	"net/http"
	"time"
)

// LoseAnswer does the work and then breaks the connection without an answer: the
// outcome is unknown to the caller. (A net/http client sends a GET again by
// itself when a connection that it used before breaks.)
type LoseAnswer struct{ Requests }

// LoseRequest breaks the connection before the request is read: nothing is done,
// which the caller cannot tell from [LoseAnswer].
type LoseRequest struct{ Requests }

// CutAnswer does the work, sends the headers and half of the body, and breaks
// the connection. Of an answer without a body nothing is sent.
type CutAnswer struct{ Requests }

// Delay answers late. The work is done at once.
type Delay struct {
	Requests
	For time.Duration
}

// Answer sends a fixed answer.
type Answer struct {
	Requests

	Status      int    // by default 500
	ContentType string // by default application/json
	Body        string

	// AfterWork does what was asked before the fixed answer is sent. By default
	// nothing is done.
	AfterWork bool
}

// Rebalance answers as a worker does that expects a rebalance of the group or has
// not read a change of configuration yet: a GET with 500 "Request cannot be
// completed because a rebalance is expected", which no forwarding turns into a
// 409 (ConnectorsResource.getConnector and the like), everything else with 409
// and Message. Nothing is done. A real worker refuses so GET of a connector, its
// config and its tasks, and what only the leader may do; it serves the list,
// status, offsets, pause and resume all the same, so let [Requests] leave those
// out where that matters.
type Rebalance struct {
	Requests

	// Message is the text of the 409. By default, "Cannot complete request
	// momentarily due to stale configuration (typically caused by a concurrent
	// config change)", a connectrest.ErrStaleConfig. The worker's other text,
	// "Cannot complete request because of a conflicting operation (e.g. worker
	// rebalance)", is a connectrest.ErrRebalance.
	Message string
}

// ForwardingFailure answers 500, as a worker does that cannot reach the leader
// at its advertised address.
type ForwardingFailure struct {
	Requests

	// Cause is the exception within the text. By default,
	// "java.net.UnknownHostException: leader".
	Cause string

	// AfterWork does what was asked first: the leader did the work, and its
	// answer to the forwarding worker was lost.
	AfterWork bool
}

// RequestTimeout answers 500 "Request timed out", as a worker does after 90 s,
// at once.
type RequestTimeout struct {
	Requests

	// AfterWork does what was asked first: the worker finished after it had given
	// the answer up. By default nothing is done.
	AfterWork bool

	// WorkAfter, if positive, does what was asked that long after the answer
	// instead, as the worker's thread does that was stuck in the target cluster when
	// the answer was given up: a read in between still shows the old state.
	WorkAfter time.Duration
}

// PartialWrite writes the first entries of a PATCH of offsets only and answers 500
// "Failed to modify offsets", as a worker does one of whose records the target
// cluster refuses: without exactly-once the entries are records of their own, and
// nothing takes back those that were written. Other requests pass unharmed.
type PartialWrite struct {
	Requests
	Entries int // how many are written, the first ones; at least 0
}

// NotStopped answers 400 to a change of offsets, as a worker does while the
// connector is not STOPPED or has tasks.
type NotStopped struct{ Requests }

// ProxyPage answers with the HTML page of a gateway before the worker. Nothing
// is done.
type ProxyPage struct {
	Requests
	Status int // by default 502
}

// Starting answers HTML 404, as a worker's HTTP server does before Connect has
// registered its resources. Nothing is done.
type Starting struct{ Requests }

// StaleOffsets answers GET offsets as they were before the connector's last
// write, as a worker that has not read that write yet. Other requests pass
// unharmed.
type StaleOffsets struct{ Requests }

// ShortOffsets answers GET offsets with 200 and without partitions that the
// connector's last write added, as a worker whose set of known partitions still
// grows. Other requests pass unharmed.
type ShortOffsets struct {
	Requests
	Keep int // how many of the added partitions the answer shows
}

// UnreadableOffsets answers 500 "Failed to retrieve offsets", as a worker does
// whose set of known partitions changes while it reads it.
type UnreadableOffsets struct{ Requests }

func (LoseAnswer) fault()        {}
func (LoseRequest) fault()       {}
func (CutAnswer) fault()         {}
func (Delay) fault()             {}
func (Answer) fault()            {}
func (Rebalance) fault()         {}
func (ForwardingFailure) fault() {}
func (RequestTimeout) fault()    {}
func (PartialWrite) fault()      {}
func (NotStopped) fault()        {}
func (ProxyPage) fault()         {}
func (Starting) fault()          {}
func (StaleOffsets) fault()      {}
func (ShortOffsets) fault()      {}
func (UnreadableOffsets) fault() {}

// IgnoreInitialState creates connectors RUNNING whatever initial_state says, as
// no worker of Apache Kafka does: one without it refuses the request.
type IgnoreInitialState struct{}

func (IgnoreInitialState) fault() {}

func (s *faultSet) ignoresInitialState() bool {
	_, i := find(s, func(IgnoreInitialState) bool { return true })
	if i == nil {
		return false
	}
	i.hits.Add(1)
	return true
}

func (q Requests) requests() Requests { return q }

// passesUnharmed reports whether a fault has no effect on a request that it selects,
// which then counts neither as a hit nor as one of its Times.
func passesUnharmed(f requestFault, r *request) bool {
	ofOffsets := len(r.segments) == 3 && r.segments[0] == "connectors" && r.segments[2] == "offsets"
	switch f.(type) {
	case StaleOffsets, ShortOffsets:
		return !ofOffsets || r.method != http.MethodGet
	case PartialWrite:
		return !ofOffsets || r.method != http.MethodPatch
	default:
		return false
	}
}

// serveFault answers a request that a fault hits.
func (w *Worker) serveFault(f requestFault, rw http.ResponseWriter, r *request) {
	var fixed answer
	afterWork := false
	switch f := f.(type) {
	case LoseRequest:
		panic(http.ErrAbortHandler)
	case LoseAnswer:
		w.dispatch(r)
		panic(http.ErrAbortHandler)
	case CutAnswer:
		w.dispatch(r).send(rw, true)
		return
	case Delay:
		a := w.dispatch(r)
		if !r.sleep(f.For) {
			panic(http.ErrAbortHandler)
		}
		a.send(rw, false)
		return
	case StaleOffsets, ShortOffsets:
		r.readFault = f
		w.dispatch(r).send(rw, false)
		return
	case PartialWrite:
		r.partial = &f
		r.follower = nil // a follower would forward the request without its fault
		w.dispatch(r).send(rw, false)
		return
	case Answer:
		fixed = answer{status: cmp.Or(f.Status, http.StatusInternalServerError), contentType: cmp.Or(f.ContentType, contentJSON), body: []byte(f.Body)}
		afterWork = f.AfterWork
	case Rebalance:
		if r.method == http.MethodGet {
			fixed = internalError("Request cannot be completed because a rebalance is expected").answer()
			break
		}
		fixed = conflict("%s", cmp.Or(f.Message,
			"Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)")).answer()
	case ForwardingFailure:
		fixed = internalError("IO Error trying to forward REST request: %s", cmp.Or(f.Cause, "java.net.UnknownHostException: leader")).answer()
		afterWork = f.AfterWork
	case RequestTimeout:
		fixed = w.requestTimedOut(r).answer()
		afterWork = f.AfterWork && f.WorkAfter <= 0
		if f.WorkAfter > 0 {
			w.workLater(r, f.WorkAfter)
		}
	case NotStopped:
		fixed = mustBeStopped(r.name()).answer()
	case ProxyPage:
		status := cmp.Or(f.Status, http.StatusBadGateway)
		fixed = answer{status: status, contentType: "text/html", body: []byte(
			"<html>\r\n<head><title>" + http.StatusText(status) + "</title></head>\r\n<body>\r\n<center><h1>" +
				http.StatusText(status) + "</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n")}
	case Starting:
		fixed = jettyPage(http.StatusNotFound, r.path, "Not Found")
	case UnreadableOffsets:
		fixed = internalError("Failed to retrieve offsets for source connector %s", r.name()).answer()
	}
	if afterWork {
		w.dispatch(r)
	}
	fixed.send(rw, false)
}

// workLater does what a request asks for once it has its answer. It ends with the
// process.
func (w *Worker) workLater(r *request, after time.Duration) {
	late := *r
	late.ctx = r.process.live
	r.process.tasks.Go(func() {
		if late.sleep(after) {
			w.dispatch(&late)
		}
	})
}
