package connecttest_test

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// The conformance suite is one table of cases that knows only a base URL and
// two clusters. It runs on connecttest always, and on a real worker where one
// can run. Where they differ, connecttest is wrong.

// conformanceVersion chooses the real worker:
//
//	go test ./connectrest/connecttest -run TestConformance -conformance.version 3.7.2
var conformanceVersion = flag.String("conformance.version", lab.DefaultVersion, "Kafka version of the conformance suite")

var realWorker lab.Shared

func TestMain(m *testing.M) {
	flag.Parse()
	realWorker.Options = lab.Options{Version: *conformanceVersion, OffsetFlushInterval: time.Second}
	goleak.VerifyTestMain(realWorker.Main(m))
}

// conformanceCase is one thing that every worker does.
type conformanceCase struct {
	name  string
	since string // first version that does; empty: all
	run   func(*testing.T, *stage)
}

func conformanceCases() []conformanceCase {
	var all []conformanceCase
	all = append(all, restCases()...)
	all = append(all, offsetCases()...)
	all = append(all, lifecycleCases()...)
	all = append(all, copyCases()...)
	return all
}

func TestConformance(t *testing.T) {
	t.Run("connecttest", func(t *testing.T) {
		s, _ := embedded(t, connecttest.WithVersion(*conformanceVersion), connecttest.WithOffsetFlushInterval(200*time.Millisecond))
		s.version = *conformanceVersion
		conform(t, s)
	})
	t.Run("worker", func(t *testing.T) {
		l := realWorker.Get(t)
		conform(t, &stage{
			url: l.Worker.RESTURL, source: []string{l.Source.Bootstrap}, target: []string{l.Target.Bootstrap},
			version: l.Version, client: httpClient(t),
		})
	})
}

func conform(t *testing.T, s *stage) {
	for _, c := range conformanceCases() {
		if s.atLeast(c.since) {
			t.Run(c.name, func(t *testing.T) { c.run(t, s) })
		}
	}
}

func (s *stage) atLeast(version string) bool {
	var have, want [3]int
	_, _ = fmt.Sscanf(s.version, "%d.%d.%d", &have[0], &have[1], &have[2])
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &want[0], &want[1], &want[2])
	for i := range have {
		if have[i] != want[i] {
			return have[i] > want[i]
		}
	}
	return true
}

var names atomic.Int64

// name returns a name that no other case has, for a connector or a topic. It
// has no character that a regular expression reads.
func (s *stage) name(base string) string { return fmt.Sprintf("%s%d", base, names.Add(1)) }

// row is one request and its answer.
type row struct {
	name         string
	method, path string
	body         any
	header       []string // pairs that replace what the request would have
	status       int
	message      string // the text of the error; with ... at the end, how it begins
	is           string // the body as it is, where it is no error
	since, until string // versions; until is exclusive
}

// check sends the request of a row and compares. NAME in path and texts stands
// for name.
func (s *stage) check(t *testing.T, name string, r row) {
	t.Helper()
	if !s.atLeast(r.since) || (r.until != "" && s.atLeast(r.until)) {
		return
	}
	insert := func(text string) string { return strings.ReplaceAll(text, "NAME", name) }
	if b, ok := r.body.(string); ok {
		r.body = insert(b)
	}
	got := s.call(t, r.method, insert(r.path), r.body, r.header...)
	if got.status != r.status {
		t.Errorf("%s: %s %s: %s, want %d", r.name, r.method, insert(r.path), got, r.status)
		return
	}
	if r.message != "" && !got.says(insert(r.message)) {
		t.Errorf("%s: %s %s: text %q, want %q", r.name, r.method, insert(r.path), got.message(), insert(r.message))
	}
	if r.is != "" && got.body != insert(r.is) {
		t.Errorf("%s: %s %s: %s, want %s", r.name, r.method, insert(r.path), got.body, insert(r.is))
	}
}
