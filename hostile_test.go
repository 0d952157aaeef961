package flinkmm2_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
)

// gate stands before a worker, notes what is asked of it, and makes the answers
// to some reads hostile.
type gate struct {
	URL string

	mu     sync.Mutex
	reads  []string // each once, in order
	writes []string
}

// spoil returns what is answered in place of the worker's body.
type spoil func(body []byte) string

func newGate(t *testing.T, worker string, instead spoil, reads ...string) *gate {
	t.Helper()
	g := &gate{}
	transport := &http.Transport{DisableKeepAlives: true} // without which net/http may send a request again
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		g.note(req)
		forward, err := http.NewRequestWithContext(req.Context(), req.Method, worker+req.URL.RequestURI(), req.Body)
		if err != nil {
			panic(err)
		}
		forward.Header, forward.ContentLength = req.Header, req.ContentLength
		res, err := transport.RoundTrip(forward)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		status := res.StatusCode
		if slices.Contains(reads, req.Method+" "+req.URL.Path) {
			status, body = http.StatusOK, []byte(instead(body))
		}
		rw.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		rw.WriteHeader(status)
		_, _ = rw.Write(body)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

func (g *gate) note(req *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	what := req.Method + " " + req.URL.Path
	switch {
	case req.Method != http.MethodGet:
		g.writes = append(g.writes, what)
	case !slices.Contains(g.reads, what):
		g.reads = append(g.reads, what)
	}
}

// quick is a clock whose sleepers wake at once.
type quick struct{ *clock }

func (q quick) Now() time.Time { return q.now() }

func (q quick) Sleep(ctx context.Context, d time.Duration) error {
	q.mu.Lock()
	q.ahead += d
	q.mu.Unlock()
	return ctx.Err()
}

// through is a migration over the gate, with a journal of its own that begins as
// the world's stands now.
func (w *wayBack) through(g *gate) *flinkmm2.Migration {
	w.Helper()
	journal := flinkmm2.NewFileJournal(filepath.Join(w.TempDir(), "journal.jsonl"))
	entries, err := w.journal.Read(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		if err := journal.Append(w.Context(), e); err != nil {
			w.Fatal(err)
		}
	}
	return w.beyond(g, journal, connectrest.WithClock(quick{w.clock}))
}

// beyond is a migration over the gate and a journal.
func (w *wayBack) beyond(g *gate, journal flinkmm2.Journal, opts ...connectrest.Option) *flinkmm2.Migration {
	w.Helper()
	client, err := connectrest.New(g.URL, opts...)
	if err != nil {
		w.Fatal(err)
	}
	v := *w
	v.connect = client
	return v.over(w.source.admin, journal)
}

// sensible are those which have the form of an answer, of some reads.
var sensible = map[string]bool{"no member": true, "numbers for texts": true}

// answersSo reports whether the worker itself answers so, so that nothing would
// be hostile.
func (w *wayBack) answersSo(read string, instead spoil) bool {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.connect.String()+strings.TrimPrefix(read, "GET "), nil)
	if err != nil {
		w.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res.StatusCode == http.StatusOK && instead(body) == string(body)
}

var textMember = regexp.MustCompile(`:"[^"]*"`)

// hostile are answers with status 200 that no worker gives.
var hostile = map[string]spoil{
	"cut":            func(body []byte) string { return string(body[:len(body)-1]) },
	"nothing":        func([]byte) string { return "" },
	"a page":         func([]byte) string { return "<!DOCTYPE html><html><body>Sign in</body></html>" },
	"a number":       func([]byte) string { return "7" },
	"a text":         func([]byte) string { return `"STOPPED"` },
	"null":           func([]byte) string { return "null" },
	"a huge number":  func([]byte) string { return "1" + strings.Repeat("0", 400) },
	"10,000 deep":    func([]byte) string { return strings.Repeat(`[`, 10_000) + strings.Repeat("]", 10_000) },
	"10,000 objects": func([]byte) string { return strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000) },
	"two answers":    func(body []byte) string { return string(body) + string(body) },
	"another's":      func(body []byte) string { return string(bytes.ReplaceAll(body, []byte(`"mm2"`), []byte(`"other"`))) },
	"the other kind": func(body []byte) string {
		if bytes.HasPrefix(body, []byte("[")) {
			return "{}"
		}
		return "[]"
	},
	"no member": func(body []byte) string {
		if bytes.HasPrefix(body, []byte("[")) {
			return "[{}]"
		}
		return "{}"
	},
	"numbers for texts": func(body []byte) string { return string(textMember.ReplaceAll(body, []byte(`:17`))) },
}

type step struct {
	name string
	run  func(w *wayBack, m *flinkmm2.Migration) error
	// spared are reads that the step can do without: it goes on, and what it does
	// then is right whatever they would have said.
	spared []string
	// may are writes that do not need this read, or come before it.
	may map[string]string
	// undo takes them back, where they change what the next run is about.
	undo func(w *wayBack) error
}

func rollback(w *wayBack, m *flinkmm2.Migration) error {
	_, err := m.Rollback(w.Context(), w.plan, flinkmm2.RollbackOptions{})
	return err
}

var (
	create = step{
		name: "create",
		run:  func(w *wayBack, m *flinkmm2.Migration) error { _, err := m.Create(w.Context()); return err },
		// Whether it is STOPPED can be seen of a connector that exists only.
		may: map[string]string{"GET /connectors/mm2/status": "POST /connectors"},
		undo: func(w *wayBack) error {
			if err := w.connect.Delete(w.Context(), "mm2"); !errors.Is(err, connectrest.ErrNotFound) {
				return err
			}
			return nil
		},
	}
	makePlan = step{
		name: "plan",
		run:  func(w *wayBack, m *flinkmm2.Migration) error { _, err := w.planFrom(m, "20", "32"); return err },
	}
	apply = step{
		name: "apply",
		run:  func(w *wayBack, m *flinkmm2.Migration) error { _, err := m.Apply(w.Context(), w.plan); return err },
		// Not known to have never run is taken for having run: apply waits until
		// nothing moves. Whether it was started is in the journal.
		spared: []string{"GET /connectors/mm2/topics"},
	}
	verify = step{
		name:   "verify",
		run:    func(w *wayBack, m *flinkmm2.Migration) error { _, err := m.Verify(w.Context(), w.plan); return err },
		spared: apply.spared,
	}
	start = step{
		name: "start",
		run: func(w *wayBack, m *flinkmm2.Migration) error {
			_, err := m.Start(w.Context(), w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "test"})
			return err
		},
		spared: apply.spared,
	}
	// Going back must not hang on a worker that was upgraded since.
	restore = step{name: "rollback before the start", run: rollback, spared: []string{"GET /connector-plugins"}}
	back    = step{
		name: "rollback after the start", run: rollback,
		spared: []string{"GET /connector-plugins", "GET /connectors/mm2/topics"},
		// A stop is right whatever the offsets are.
		may: map[string]string{"GET /connectors/mm2/offsets": "PUT /connectors/mm2/stop"},
	}
)

// TestHostileAnswers gives every read of every step every hostile answer. Which
// reads a step makes is seen from the step itself when all is well, so that none
// can be forgotten.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, way := range map[string][]step{
		"to the start and back": {create, makePlan, apply, verify, start, back},
		"back before the start": {create, makePlan, apply, restore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pilot, w := prepared(t), prepared(t)
			for _, s := range way {
				w.hostile(s, pilot.done(s))
				w.done(s)
			}
		})
	}
}

// done does the step, while its spared reads are answered with a page, and returns
// what it reads.
func (w *wayBack) done(s step) []string {
	w.Helper()
	g := newGate(w.T, w.connect.String(), hostile["a page"], s.spared...)
	steps := w.beyond(g, w.journal)
	if s.name == makePlan.name {
		steps = w.through(g)
	}
	if err := s.run(w, steps); err != nil {
		w.Fatalf("%s, when all that it needs is well: %v", s.name, err)
	}
	if s.name == makePlan.name {
		w.makePlan()
	}
	for _, read := range s.spared {
		if !slices.Contains(g.reads, read) {
			w.Errorf("%s does not %s", s.name, read)
		}
	}
	return g.reads
}

func (w *wayBack) hostile(s step, reads []string) {
	w.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, read := range reads {
		if slices.Contains(s.spared, read) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(hostile)) {
			if w.answersSo(read, hostile[name]) {
				continue
			}
			if s.may[read] != "" && s.undo != nil {
				w.hostileOnce(s, read, name)
				if err := s.undo(w); err != nil {
					w.Fatal(err)
				}
				continue
			}
			slots <- struct{}{}
			all.Go(func() {
				w.hostileOnce(s, read, name)
				<-slots
			})
		}
	}
	all.Wait()
}

func (w *wayBack) hostileOnce(s step, read, name string) {
	w.Helper()
	g := newGate(w.T, w.connect.String(), hostile[name], read)
	err := s.run(w, w.through(g))
	what := fmt.Sprintf("%s: %s answered with %s", s.name, read, name)
	if status := flinkmm2.ExitStatus(err); !slices.Contains([]int{flinkmm2.ExitFailed, flinkmm2.ExitBlocked, flinkmm2.ExitMoved, flinkmm2.ExitUnknown}, status) {
		w.Errorf("%s: exit status %d: %v", what, status, err)
	}
	// An answer that makes sense to JSON is refused for what it says.
	if url := strings.Replace(read, " ", " "+g.URL, 1); !sensible[name] && !strings.Contains(fmt.Sprint(err), url) {
		w.Errorf("%s: the error does not name %s: %v", what, url, err)
	}
	for _, write := range g.writes {
		if write != s.may[read] {
			w.Errorf("%s: %s was sent", what, write)
		}
	}
}
