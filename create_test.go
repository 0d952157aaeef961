package flinkmm2_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// withoutInitialStates is the newest line of Kafka that has none.
const withoutInitialStates = "3.6.2"

// on36 is a migration before its first step, on a worker without initial states.
func on36(t *testing.T) *wayBack {
	t.Helper()
	return preparedOn(t, withoutInitialStates, map[string]string{
		"emit.offset-syncs.enabled": "", "offset-syncs.topic.location": "target", "offset-syncs.topic.replication.factor": "1",
	})
}

// paced is a clock whose sleepers wake soon, but not before a worker in memory can
// have acted.
type paced struct{ *clock }

func (p paced) Now() time.Time                                   { return p.now() }
func (p paced) Sleep(ctx context.Context, d time.Duration) error { return p.sleep(ctx, d) }

var errGone = errors.New("the program is gone")

// lifeline is what a program can still send before it is killed: so many writes,
// the last of which is carried out or not. After it nothing goes through.
type lifeline struct {
	http.RoundTripper
	carryLast bool

	mu     sync.Mutex
	left   int
	dead   bool
	writes []string
}

func (l *lifeline) RoundTrip(req *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return nil, errGone
	}
	if req.Method == http.MethodGet {
		return l.RoundTripper.RoundTrip(req)
	}
	l.writes = append(l.writes, req.Method+" "+req.URL.Path)
	if l.left--; l.left > 0 {
		return l.RoundTripper.RoundTrip(req)
	}
	l.dead = true
	if l.carryLast {
		resp, err := l.RoundTripper.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	return nil, errGone
}

// living is a migration over the lifeline, with the world's journal.
func (w *wayBack) living(l *lifeline) *flinkmm2.Migration {
	w.Helper()
	l.RoundTripper = &http.Transport{DisableKeepAlives: true}
	client, err := connectrest.New(w.connect.String(), connectrest.WithTransport(l), connectrest.WithClock(paced{w.clock}))
	if err != nil {
		w.Fatal(err)
	}
	v := *w
	v.connect = client
	return v.over(w.source.admin, w.journal)
}

const always = 1 << 30

// created holds that the connector is as Create promises, and that nothing was
// copied on the way.
func (w *wayBack) created(what string) {
	w.Helper()
	ctx := w.Context()
	info, err := w.connect.Connector(ctx, "mm2")
	if err != nil || info.Config["topics"] != "orders" || info.Config["enabled"] != "" || len(info.Tasks) > 0 {
		w.Errorf("%s: the connector is %+v: %v", what, info, err)
	}
	if status, err := w.connect.Status(ctx, "mm2"); err != nil || status.Connector.State != connectrest.StateStopped || len(status.Tasks) > 0 {
		w.Errorf("%s: its status is %+v: %v", what, status, err)
	}
	if written, err := w.connect.ActiveTopics(ctx, "mm2"); err != nil || len(written) > 0 {
		w.Errorf("%s: it wrote to %q: %v", what, written, err)
	}
	ends, err := w.target.admin.ListEndOffsets(ctx, "orders")
	if err != nil {
		w.Fatal(err)
	}
	for p, want := range []int64{20, 32, 0} {
		if end, _ := ends.Lookup("orders", int32(p)); end.Offset != want {
			w.Errorf("%s: target partition %d ends at %d, want %d", what, p, end.Offset, want)
		}
	}
}

// Kafka 3.6 has no initial states: the connector starts idle, is stopped, and gets
// its config then. Whatever write the program is killed at, carried out or not, the
// next run finishes.
func TestCreateOnAWorkerWithoutInitialStatesIsKilledBetweenItsWrites(t *testing.T) {
	ways := []string{"POST /connectors", "PUT /connectors/mm2/stop", "PUT /connectors/mm2/config"}
	for n := 1; n <= len(ways); n++ {
		for _, carry := range []bool{false, true} {
			w := on36(t)
			what := fmt.Sprintf("killed at %s, carried out %t", ways[n-1], carry)
			doomed := &lifeline{left: n, carryLast: carry}
			_, err := w.living(doomed).Create(t.Context())
			if !errors.Is(err, errGone) || !slices.Equal(doomed.writes, ways[:n]) {
				t.Fatalf("%s: sent %q: %v", what, doomed.writes, err)
			}
			again := &lifeline{left: always}
			out, err := w.living(again).Create(t.Context())
			if err != nil {
				t.Errorf("%s: the next run: %v", what, err)
				continue
			}
			// Of what was done, only the stop is sent again, which changes nothing.
			done := n
			if !carry {
				done--
			}
			var want []string
			switch done {
			case 0:
				want = ways
			case 1, 2:
				want = ways[1:]
			}
			if diff := cmp.Diff(want, again.writes); diff != "" || out.Existed != (done == 3) {
				t.Errorf("%s: the next run finds it there %t, and sends (-want +got):\n%s", what, out.Existed, diff)
			}
			w.created(what)
			if out, err := w.living(again).Create(t.Context()); err != nil || !out.Existed {
				t.Errorf("%s: a run after that: %+v, %v", what, out, err)
			}
		}
	}
}

// The whole line goes on from there as on any other worker, and the plan says which
// way the connector was made.
func TestMigrationOnAWorkerWithoutInitialStates(t *testing.T) {
	w := on36(t)
	ctx := t.Context()
	if _, err := w.living(&lifeline{left: always}).Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.created("created")
	w.makePlan()
	var found []string
	for _, f := range w.plan.Body.Findings {
		if f.Severity == offsetmap.Warn && (f.Check == "worker/version" || f.Check == "config/offset-syncs-unavoidable") {
			found = append(found, f.Check)
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff([]string{"config/offset-syncs-unavoidable", "worker/version"}, found); diff != "" {
		t.Errorf("warnings of the plan (-want +got):\n%s", diff)
	}
	if _, err := w.steps.Apply(ctx, w.plan); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.Start(ctx, w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "test"}); err != nil {
		t.Fatal(err)
	}
	proof, err := w.steps.Watch(ctx, w.plan, flinkmm2.WatchOptions{Within: time.Minute})
	if err != nil || proof.Missing != 0 || proof.Records != 30 {
		t.Errorf("%d records, missing %d: %v", proof.Records, proof.Missing, err)
	}
}

// unassigned shows the state that a worker shows between a change of the config and
// its acting upon it, for so many reads.
type unassigned struct {
	http.RoundTripper
	left int
}

func (u *unassigned) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, "/status") || u.left == 0 {
		return resp, err
	}
	u.left--
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	text := strings.Replace(string(body), `"STOPPED"`, `"UNASSIGNED"`, 1)
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	return resp, nil
}

// A run directly after one that gave the connector its config, and was killed, may
// come before the worker has acted upon it.
func TestCreateWaitsForTheStateOfAConnectorThatGotItsConfig(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	for left, works := range map[int]bool{3: true, always: false} {
		seen := &unassigned{RoundTripper: &http.Transport{DisableKeepAlives: true}, left: left}
		client, err := connectrest.New(w.connect.String(), connectrest.WithTransport(seen), connectrest.WithClock(paced{w.clock}))
		if err != nil {
			t.Fatal(err)
		}
		v := *w
		v.connect = client
		out, err := v.over(w.source.admin, w.journal).Create(t.Context())
		if works && (err != nil || !out.Existed || seen.left != 0) {
			t.Errorf("for %d reads: %+v, %v", left, out, err)
		}
		if !works && (err == nil || !strings.Contains(err.Error(), "is UNASSIGNED with 0 tasks left")) {
			t.Errorf("for ever: %v", err)
		}
	}
}

// What somebody has made of the connector meanwhile is not ours to change.
func TestCreateWithoutInitialStatesLeavesWhatIsNotItsOwn(t *testing.T) {
	w := on36(t)
	ctx := t.Context()
	doomed := &lifeline{left: 2} // at the stop, which is not carried out
	if _, err := w.living(doomed).Create(ctx); !errors.Is(err, errGone) {
		t.Fatal(err)
	}
	info, err := w.connect.Connector(ctx, "mm2")
	if err != nil {
		t.Fatal(err)
	}
	info.Config["tasks.max"] = "7"
	if _, err := w.connect.ReplaceConfig(ctx, "mm2", info.Config); err != nil {
		t.Fatal(err)
	}
	again := &lifeline{left: always}
	_, err = w.living(again).Create(ctx)
	blocked, ok := errors.AsType[*offsetmap.BlockedError](err)
	if !ok || len(again.writes) > 0 || !strings.Contains(blocked.Error(), "connector/other-config") || !strings.Contains(blocked.Error(), "connector/state") {
		t.Errorf("sent %q: %v", again.writes, err)
	}
}

// What a worker cannot do is known before it is sent anything that changes.
func TestCreateIsRefusedBeforeTheFirstWriteByVersion(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		changes map[string]string
		says    string
		is      func(error) bool
	}{
		"offsets cannot be altered": {"3.5.1", nil, "worker/version", func(err error) bool {
			_, ok := errors.AsType[*offsetmap.BlockedError](err)
			return ok && flinkmm2.ExitStatus(err) == flinkmm2.ExitBlocked
		}},
		"a class that may not be idle": {
			withoutInitialStates,
			map[string]string{"connector.class": "org.example.OtherConnector"},
			"in an initial state (KIP-980)",
			func(err error) bool { return errors.Is(err, connectrest.ErrUnsupported) },
		},
	} {
		w := preparedOn(t, c.version, c.changes)
		l := &lifeline{left: always}
		_, err := w.living(l).Create(t.Context())
		if err == nil || !c.is(err) || !strings.Contains(err.Error(), c.says) || len(l.writes) > 0 {
			t.Errorf("%s: sent %q: %v", name, l.writes, err)
		}
		if _, err := w.connect.Connector(t.Context(), "mm2"); !errors.Is(err, connectrest.ErrNotFound) {
			t.Errorf("%s: the connector is there: %v", name, err)
		}
	}
}

// A worker of a later version takes what a run on an older one has left.
func TestCreateGoesOnAfterTheWorkerWasUpgraded(t *testing.T) {
	w := prepared(t)
	config := w.config()
	if _, err := w.connect.Create(t.Context(), connectrest.CreateRequest{Name: "mm2", Config: connectrest.MirrorSourceIdle(config)}); err != nil {
		t.Fatal(err)
	}
	l := &lifeline{left: always}
	out, err := w.living(l).Create(t.Context())
	if err != nil || out.Existed || !slices.Equal(l.writes, []string{"PUT /connectors/mm2/stop", "PUT /connectors/mm2/config"}) {
		t.Errorf("%+v, sent %q: %v", out, l.writes, err)
	}
	w.created("upgraded")
}
