package connecttest

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Fault is something that goes wrong until it is removed. The types of this
// package that implement it are all there are.
type Fault interface{ fault() }

// Injected is a fault that was switched on.
type Injected struct {
	fault Fault
	seen  atomic.Int64 // requests that matched, those that were let through too
	hits  atomic.Int64
	off   func()
}

// Hits returns how often the fault took effect. A test whose fault never did has
// shown nothing.
func (i *Injected) Hits() int { return int(i.hits.Load()) }

// Remove switches the fault off. Requests and records that it holds go on.
func (i *Injected) Remove() { i.off() }

// Inject switches a fault on. Of several that match a request the one injected
// first takes effect. It panics for a fault that could never take effect, or not as it
// says: nil or a pointer, a negative number, a status that no answer has.
func (w *Worker) Inject(f Fault) *Injected { return w.faults.add(f) }

// Requests selects requests by method and path, and counts them.
// The zero value is every request.
type Requests struct {
	// Method is an HTTP method. Empty: every method.
	Method string

	// Path is a path without query, in which * stands for one segment, as in
	// /connectors/*/offsets. Segments are compared unescaped. Empty: every path.
	Path string

	// Skip is how many matching requests pass before the fault begins.
	Skip int

	// Times is how many requests the fault hits. 0: all, until it is removed.
	Times int
}

func (q Requests) matches(r *request) bool {
	if q.Method != "" && q.Method != r.method {
		return false
	}
	if q.Path == "" {
		return true
	}
	var want []string
	if trimmed := strings.Trim(q.Path, "/"); trimmed != "" {
		want = strings.Split(trimmed, "/")
	}
	return slices.EqualFunc(want, r.segments, func(w, s string) bool { return w == "*" || w == s })
}

// requestFault is a fault of the REST API.
type requestFault interface {
	Fault
	requests() Requests
}

// faultSet holds the faults that are on.
type faultSet struct {
	mu  sync.Mutex
	all []*Injected
	// changed is closed and replaced when a fault is added or removed.
	changed chan struct{}
}

func newFaultSet() *faultSet { return &faultSet{changed: make(chan struct{})} }

func (s *faultSet) add(f Fault) *Injected {
	if err := checkFault(f); err != nil {
		panic("connecttest: inject a fault: " + err.Error())
	}
	i := &Injected{fault: f}
	i.off = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = slices.DeleteFunc(s.all, func(o *Injected) bool { return o == i })
		s.notify()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, i)
	s.notify()
	return i
}

func (s *faultSet) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// request returns the fault that this request hits, nil for none, and counts.
func (s *faultSet) request(r *request) requestFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.all {
		f, ok := i.fault.(requestFault)
		if !ok {
			continue
		}
		q := f.requests()
		if !q.matches(r) || passesUnharmed(f, r) {
			continue
		}
		seen := int(i.seen.Add(1))
		if seen <= q.Skip || (q.Times > 0 && seen > q.Skip+q.Times) {
			continue
		}
		i.hits.Add(1)
		return f
	}
	return nil
}

// snapshot returns the faults that are on.
func (s *faultSet) snapshot() []*Injected {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// find returns the first fault of type F for which match is true.
func find[F Fault](s *faultSet, match func(F) bool) (F, *Injected) {
	for _, i := range s.snapshot() {
		if f, ok := i.fault.(F); ok && match(f) {
			return f, i
		}
	}
	var none F
	return none, nil
}
