package cutover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// requestFault is what can happen to a request and its answer.
type requestFault struct {
	name  string
	done  bool // the worker does what was asked
	lasts bool // tried for as long as a step runs, too, and on reads
	make  func(connecttest.Requests) connecttest.Fault
}

const boom = `{"error_code":500,"message":"boom"}`

var requestFaults = []requestFault{
	{"answer lost", true, true, func(r connecttest.Requests) connecttest.Fault { return connecttest.LoseAnswer{Requests: r} }},
	{"answer cut", true, true, func(r connecttest.Requests) connecttest.Fault { return connecttest.CutAnswer{Requests: r} }},
	{"answer late", true, false, func(r connecttest.Requests) connecttest.Fault {
		return connecttest.Delay{Requests: r, For: time.Second}
	}},
	{"answer not forwarded", true, false, func(r connecttest.Requests) connecttest.Fault {
		return connecttest.ForwardingFailure{Requests: r, AfterWork: true}
	}},
	{"timed out, and done", true, false, func(r connecttest.Requests) connecttest.Fault {
		return connecttest.RequestTimeout{Requests: r, AfterWork: true}
	}},
	{"unknown 500, and done", true, false, func(r connecttest.Requests) connecttest.Fault {
		return connecttest.Answer{Requests: r, AfterWork: true, Body: boom}
	}},
	{"request lost", false, true, func(r connecttest.Requests) connecttest.Fault { return connecttest.LoseRequest{Requests: r} }},
	{"rebalance", false, true, func(r connecttest.Requests) connecttest.Fault { return connecttest.Rebalance{Requests: r} }},
	{"request not forwarded", false, false, func(r connecttest.Requests) connecttest.Fault { return connecttest.ForwardingFailure{Requests: r} }},
	{"timed out", false, false, func(r connecttest.Requests) connecttest.Fault { return connecttest.RequestTimeout{Requests: r} }},
	{"proxy page", false, true, func(r connecttest.Requests) connecttest.Fault { return connecttest.ProxyPage{Requests: r} }},
	{"worker starting", false, true, func(r connecttest.Requests) connecttest.Fault { return connecttest.Starting{Requests: r} }},
	{"unknown 500", false, false, func(r connecttest.Requests) connecttest.Fault { return connecttest.Answer{Requests: r, Body: boom} }},
}

// calls are the requests of a step that faults are tried on.
var writeCalls = []struct{ step, method, path string }{
	{"create", http.MethodPost, "/connectors"},
	{"apply", http.MethodPatch, "/connectors/*/offsets"},
	{"start", http.MethodPut, "/connectors/*/resume"},
	{"rollback", http.MethodPut, "/connectors/*/stop"},
	{"restore", http.MethodPatch, "/connectors/*/offsets"},
	{"restore", http.MethodDelete, "/connectors/*"},
}

var readCalls = []string{"/", "/connector-plugins", "/connectors/*", "/connectors/*/status", "/connectors/*/topics", "/connectors/*/offsets"}

// hit is one fault on one call of one step.
type hit struct {
	step   string
	name   string
	fault  connecttest.Fault
	want   []int         // exit statuses that the step may end with
	within time.Duration // of the step that is hit
	reads  bool          // the fault hits what changes nothing: the line ends with its step
}

// run carries a small migration through all steps, one of which the fault hits.
// A step that fails is run again without the fault and must finish. It returns
// what came of the step that was hit.
func (h hit) run(ctx context.Context, w *world, worker *connecttest.Worker, r *recorder) (error, error) {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return nil, err
	}
	before, err := w.ends(ctx, topic)
	if err != nil {
		return nil, err
	}
	var hitErr error
	step := func(name string, do func(context.Context) error) error {
		if name != h.step {
			return do(ctx)
		}
		fault := worker.Inject(h.fault)
		sent, resumes := r.all(), r.sent("/resume")
		short, cancel := sinceHit(ctx, h.within, fault) // a worker's own "momentarily" is believed until then
		hitErr = do(short)
		cancel()
		fault.Remove()
		switch {
		case fault.Hits() == 0:
			return fmt.Errorf("the fault never took effect: %w", hitErr)
		case r.sent("/resume")-resumes > 1:
			return fmt.Errorf("%d resumes were sent: %w", r.sent("/resume")-resumes, hitErr)
		case hitErr == nil:
			return nil
		case strings.Contains(hitErr.Error(), "nothing was written") && r.all() > sent:
			return fmt.Errorf("it says that nothing was written, and sent %d writes: %w", r.all()-sent, hitErr)
		}
		if err := do(ctx); err != nil {
			return fmt.Errorf("run again without the fault: %w; the first run: %w", err, hitErr)
		}
		return nil
	}
	var plan *offsetmap.Plan
	if err := step("create", func(ctx context.Context) error { _, err := mig.Create(ctx); return err }); err != nil {
		return hitErr, err
	}
	if err := step("plan", func(ctx context.Context) (err error) {
		plan, err = mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40))))
		return err
	}); err != nil {
		return hitErr, err
	}
	if err := step("apply", func(ctx context.Context) error { _, err := mig.Apply(ctx, plan); return err }); err != nil {
		return hitErr, err
	}
	if err := w.expectStored(ctx, map[topicPartition]string{{Topic: topic}: "49", {Topic: topic, Partition: 1}: "39"}); err != nil {
		return hitErr, err
	}
	if h.reads && (h.step == "create" || h.step == "plan" || h.step == "apply") {
		return hitErr, nil
	}
	if h.step == "restore" {
		if err := step("restore", func(ctx context.Context) error {
			_, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
			return err
		}); err != nil {
			return hitErr, err
		}
		if err := w.expectUntouched(ctx, before, topic); err != nil {
			return hitErr, err
		}
		if _, err := w.connect.Connector(ctx, w.connector); !errors.Is(err, connectrest.ErrNotFound) {
			return hitErr, fmt.Errorf("the connector is still there: %w", err)
		}
		if _, err := mig.Create(ctx); err != nil { // offsets outlive their connector
			return hitErr, err
		}
		return hitErr, w.expectStored(ctx, map[topicPartition]string{})
	}
	if err := step("start", func(ctx context.Context) error {
		_, err := mig.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
		return err
	}); err != nil {
		return hitErr, err
	}
	if h.reads && h.step != "rollback" {
		return hitErr, nil
	}
	if err := w.expectCopied(ctx, before, map[topicPartition][2]int{{Topic: topic}: {50, 100}, {Topic: topic, Partition: 1}: {40, 40}}); err != nil {
		return hitErr, err
	}
	if h.step != "rollback" {
		return hitErr, nil
	}
	return hitErr, step("rollback", func(ctx context.Context) error {
		back, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
		if err != nil {
			return err
		}
		return expectBoundary(back, "100", "40")
	})
}

// sinceHit is a context that ends so long after the fault hit for the first
// time: how long a busy machine takes to get there is no part of it.
func sinceHit(ctx context.Context, within time.Duration, fault *connecttest.Injected) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for fault.Hits() == 0 && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		select {
		case <-time.After(within):
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Every fault on every write of the line, once and for as long as the step runs.
func TestFaultsOnWrites(t *testing.T) {
	t.Parallel()
	var all []hit
	for _, c := range writeCalls {
		for _, f := range requestFaults {
			for _, times := range []int{1, always} {
				if times == always && !f.lasts {
					continue
				}
				want := []int{0} // read back, or sent again
				if !f.done && (times == always || c.step == "start" || c.step == "rollback") {
					want = append(want, flinkmm2.ExitFailed, flinkmm2.ExitUnknown)
				}
				within := 20 * time.Second
				if times == always && !f.done {
					within = 3 * time.Second
				}
				all = append(all, hit{
					within: within,
					step:   c.step, name: fmt.Sprintf("%s %s %s %s %d", c.step, c.method, c.path, f.name, times), want: want,
					fault: f.make(connecttest.Requests{Method: c.method, Path: c.path, Times: times}),
				})
			}
		}
	}
	hitAll(t, all)
}

// Every fault on every read of every step. A step that reads its way through
// finishes; one that cannot refuses or fails, and writes nothing that it does
// not know of.
func TestFaultsOnReads(t *testing.T) {
	t.Parallel()
	var all []hit
	add := func(step, path, name string, times int, fault connecttest.Fault) {
		all = append(all, hit{
			within: 5 * time.Second, reads: true, step: step, name: fmt.Sprintf("%s GET %s %s %d", step, path, name, times), fault: fault,
			want: []int{0, flinkmm2.ExitFailed, flinkmm2.ExitBlocked, flinkmm2.ExitUnknown},
		})
	}
	for _, step := range []string{"create", "plan", "apply", "start", "rollback", "restore"} {
		for _, path := range readCalls {
			if step == "create" && (path == "/connector-plugins" || path == "/connectors/*/topics" || path == "/connectors/*/offsets") {
				continue // not asked
			}
			for _, f := range requestFaults {
				if f.name == "request lost" || f.name == "rebalance" {
					add(step, path, f.name, always, f.make(connecttest.Requests{Method: http.MethodGet, Path: path}))
				}
			}
		}
		if step != "create" {
			q := connecttest.Requests{Method: http.MethodGet, Path: "/connectors/*/offsets", Times: 4}
			add(step, q.Path, "unreadable", q.Times, connecttest.UnreadableOffsets{Requests: q})
		}
		if step == "apply" || step == "restore" {
			q := connecttest.Requests{Method: http.MethodGet, Path: "/connectors/*/offsets", Times: 4}
			add(step, q.Path, "stale", q.Times, connecttest.StaleOffsets{Requests: q})
			add(step, q.Path, "short", q.Times, connecttest.ShortOffsets{Requests: q, Keep: 1})
		}
	}
	hitAll(t, all)
}

const always = 0

func hitAll(t *testing.T, all []hit) {
	t.Helper()
	stage, _ := embedded(t)
	var group sync.WaitGroup
	slots := make(chan struct{}, 24) // they wait more than they work
	for _, h := range all {
		slots <- struct{}{}
		w, worker, r := cell(t, stage, h.name)
		group.Go(func() {
			defer func() { <-slots }()
			defer worker.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			hitErr, err := h.run(ctx, w, worker, r)
			if err != nil {
				t.Errorf("%s: %v", h.name, err)
			}
			if status := flinkmm2.ExitStatus(hitErr); !slices.Contains(h.want, status) {
				t.Errorf("%s: exit status %d, want one of %v: %v", h.name, status, h.want, hitErr)
			}
		})
	}
	group.Wait()
}
