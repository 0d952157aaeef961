package flinkmm2_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
)

// hooked is an admin client with somebody who does something before or behind
// one call.
type hooked struct {
	flinkmm2.Admin
	describe func(group string)
	behind   func() error
	commit   func(group string, offsets kadm.Offsets) (kadm.OffsetResponses, error) // instead of the call
}

func (h *hooked) DescribeGroups(ctx context.Context, groups ...string) (kadm.DescribedGroups, error) {
	if h.describe != nil {
		h.describe(groups[0])
	}
	return h.Admin.DescribeGroups(ctx, groups...)
}

func (h *hooked) CommitOffsets(ctx context.Context, group string, offsets kadm.Offsets) (kadm.OffsetResponses, error) {
	if h.commit != nil {
		return h.commit(group, offsets)
	}
	answer, err := h.Admin.CommitOffsets(ctx, group, offsets)
	if h.behind != nil {
		if lost := h.behind(); lost != nil {
			return nil, lost
		}
	}
	return answer, err
}

// What can happen to the commit itself. Each run says what is known then, and a
// run without the fault finishes.
func TestTheCommitGoesWrong(t *testing.T) { //nolint:tparallel // its cases share a stage, one after the other
	t.Parallel()
	shared := rolledBack(t)
	fault := func(f kfake.Fault) func(*wayBack, *hooked, string) func() {
		return func(w *wayBack, _ *hooked, g string) func() {
			f.Group = g
			return w.source.Fault(f).Remove
		}
	}
	for _, c := range []struct {
		name   string
		group  string
		breaks func(w *wayBack, h *hooked, group string) (mend func())
		status int
		says   string
		acts   []string
		held   string // empty where nobody can see it
	}{
		{
			name: "a partition is refused", group: "refused", status: flinkmm2.ExitFailed, held: "50/-/0", acts: []string{"begin", "unknown"},
			breaks: fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "orders", Partitions: []int32{1}, Count: -1, Err: kerr.TopicAuthorizationFailed}),
			says:   "committed in part: the brokers did not take all offsets; group refused holds C' of 2 of 3 partitions, so do not start Flink from it: orders-1: TOPIC_AUTHORIZATION_FAILED",
		},
		{
			name: "the answer is lost, and read back", group: "lost", status: 0, held: "50/32/0", acts: []string{"begin", "done"},
			breaks: func(_ *wayBack, h *hooked, _ string) func() {
				h.behind = func() error { return io.ErrUnexpectedEOF }
				return func() { h.behind = nil }
			},
		},
		{
			name: "the answer is lost, and cannot be read back", group: "unreadable", status: flinkmm2.ExitUnknown, acts: []string{"begin", "unknown"},
			says: "outcome unknown: what group unreadable holds now could not be read back: unexpected EOF",
			breaks: func(w *wayBack, h *hooked, g string) func() {
				var hidden *kfake.FaultHandle
				h.behind = func() error {
					hidden = w.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: g, Count: -1, Err: kerr.GroupAuthorizationFailed})
					return io.ErrUnexpectedEOF
				}
				return func() { h.behind = nil; hidden.Remove() }
			},
		},
		{
			name: "the request is lost", group: "gone", status: flinkmm2.ExitUnknown, held: "-/-/-", acts: []string{"begin", "unknown"},
			says: "the answer to the commit was lost, and group gone holds C' of 0 of 3 partitions; the rest may still arrive",
			breaks: func(w *wayBack, _ *hooked, _ string) func() {
				broken := true
				w.source.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
					if broken {
						w.source.KeepControl()
						return nil, errors.New("cut"), true
					}
					return nil, nil, false
				})
				return func() { broken = false }
			},
		},
		{
			name: "somebody commits over it", group: "rival", status: flinkmm2.ExitMoved, held: "50/31/0", acts: []string{"begin", "unknown"},
			says: "somebody else commits to it",
			breaks: func(w *wayBack, h *hooked, g string) func() {
				h.behind = func() error { w.commit(g, 50, 31); return nil }
				return func() { h.behind = nil; w.forget(g) }
			},
		},
		{
			name: "the connector is resumed meanwhile", group: "resumed", status: flinkmm2.ExitMoved, held: "50/32/0", acts: []string{"begin", "done"},
			says: "the group holds C', but connector mm2 is RUNNING now",
			breaks: func(w *wayBack, h *hooked, _ string) func() {
				h.behind = func() error {
					defer w.await(connectrest.StateRunning)
					return w.connect.Resume(w.Context(), "mm2")
				}
				return func() { h.behind = nil; w.again() }
			},
		},
		{
			name: "somebody acts before it", group: "overtaken", status: flinkmm2.ExitMoved, held: "-/-/-",
			says: "nothing was committed: somebody else acts on the connector",
			breaks: func(w *wayBack, h *hooked, group string) func() {
				looks := 0
				h.describe = func(described string) {
					if described != group { // the plan's is looked at more often
						return
					}
					if looks++; looks == 2 {
						w.writeJournal(flinkmm2.Entry{Act: "apply", Phase: flinkmm2.PhaseBegin, Plan: "sha256:" + strings.Repeat("1", 64)})
					}
				}
				return func() { h.describe = nil }
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := shared.in(t)
			h := &hooked{Admin: w.source.admin}
			w.steps = w.migration(h)
			before := len(w.acts())
			mend := c.breaks(w, h, c.group)
			_, err := w.hand(c.group)
			if got := flinkmm2.ExitStatus(err); got != c.status || c.says != "" && !strings.Contains(err.Error(), c.says) {
				t.Errorf("exit status %d, want %d: %v\nwant: %s", got, c.status, err, c.says)
			}
			if acts := w.acts()[before:]; !slices.Equal(acts, c.acts) {
				t.Errorf("the journal has %v, want %v", acts, c.acts)
			}
			if c.held != "" {
				if held, _ := w.holds(c.group); held != c.held {
					t.Errorf("the group holds %s, want %s", held, c.held)
				}
			}
			mend()
			shared.boundary = w.boundary
			if _, err := w.hand(c.group); err != nil {
				t.Fatalf("run again: %v", err)
			}
			if held, _ := w.holds(c.group); held != "50/32/0" {
				t.Errorf("run again, the group holds %s", held)
			}
		})
	}
}

// What brokers took, or may still take, lets Flink run, whatever their answer
// was: an older plan must not start then. Only a commit that was refused for good
// leaves no trace.
func TestACommitHasFailedOnlyWhereNothingOfItCanArrive(t *testing.T) { //nolint:tparallel // its cases share a stage, one after the other
	t.Parallel()
	shared := rolledBack(t)
	shared.commit(oldGroup, 18, 32) // orders-1 is at C' already
	first, boundary := shared.plan, shared.boundary
	shared.makePlanFrom("50", "32")
	older := shared.plan
	shared.plan, shared.boundary = first, boundary
	answer := func(offsets kadm.Offsets, reasons ...error) kadm.OffsetResponses { // one for all partitions, or one for each
		out := kadm.OffsetResponses{}
		offsets.Each(func(o kadm.Offset) {
			out.Add(kadm.OffsetResponse{Offset: o, Err: reasons[int(o.Partition)%len(reasons)]})
		})
		return out
	}
	for _, c := range []struct {
		name    string
		take    int32 // of the partitions, the first so many
		reasons []error
		status  int
		phase   string
	}{
		{"a partition is refused", 1, []error{nil, kerr.TopicAuthorizationFailed, kerr.TopicAuthorizationFailed}, flinkmm2.ExitFailed, "unknown"},
		{"all are refused, and one was taken", 1, []error{kerr.GroupAuthorizationFailed}, flinkmm2.ExitFailed, "unknown"},
		{"it may have been written", 0, []error{kerr.CoordinatorNotAvailable}, flinkmm2.ExitUnknown, "unknown"},
		{"the coordinator has moved", 0, []error{kerr.NotCoordinator}, flinkmm2.ExitUnknown, "unknown"},
		{"a server error", 0, []error{kerr.UnknownServerError}, flinkmm2.ExitUnknown, "unknown"},
		{"it took too long", 0, []error{kerr.RequestTimedOut}, flinkmm2.ExitUnknown, "unknown"},
		{"one may arrive, the others are refused", 0, []error{kerr.TopicAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.RequestTimedOut}, flinkmm2.ExitUnknown, "unknown"},
		{"taken, and committed over", 0, []error{nil}, flinkmm2.ExitMoved, "unknown"},
		{"all were taken, whatever is said", 3, []error{kerr.UnknownServerError}, 0, "done"},
		{"all are refused for good", 0, []error{kerr.GroupAuthorizationFailed}, flinkmm2.ExitFailed, "failed"}, // the last: the older plan goes
	} {
		t.Run(c.name, func(t *testing.T) {
			w := shared.in(t)
			w.steps = w.migration(&hooked{Admin: w.source.admin, commit: func(group string, offsets kadm.Offsets) (kadm.OffsetResponses, error) {
				w.commit(group, []int64{50, 32, 0}[:c.take]...)
				return answer(offsets, c.reasons...), nil
			}})
			_, err := w.hand(oldGroup)
			if got := flinkmm2.ExitStatus(err); got != c.status || !slices.Equal(w.acts(), []string{"begin", c.phase}) {
				t.Errorf("exit status %d, want %d, journal %v: %v", got, c.status, w.acts(), err)
			}
			if errors.Is(err, flinkmm2.ErrPartlyCommitted) != (c.take == 1) {
				t.Errorf("committed in part: %v", err)
			}
			err = w.forward(older)
			if goes := err == nil; goes != (c.phase == "failed") || !goes && !strings.Contains(err.Error(), "journal/handed-back: ") {
				t.Errorf("the older plan: %v", err)
			}
			w.forget(oldGroup)
			w.commit(oldGroup, 18, 32)
		})
	}
}

// Connect has no lock: somebody resumes the connector behind the last look and
// stops it again before the next one. It is STOPPED then as it was before, and
// has copied beyond C'.
func TestAConnectorThatRanWhileTheBoundaryWasCommittedIsSeen(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	h := &hooked{Admin: w.source.admin}
	w.steps = w.migration(h)
	h.behind = func() error {
		h.behind = nil
		w.source.produce(t, 0, 10)
		if err := w.connect.Resume(t.Context(), "mm2"); err != nil {
			return err
		}
		for end := int64(0); end < 60; {
			ends, err := w.target.admin.ListEndOffsets(t.Context(), "orders")
			if err != nil {
				return err
			}
			one, _ := ends.Lookup("orders", 0)
			end = one.Offset
		}
		if err := w.connect.Stop(t.Context(), "mm2"); err != nil {
			return err
		}
		_, err := w.connect.AwaitStopped(t.Context(), "mm2")
		return err
	}
	_, err := w.hand(oldGroup)
	w.refused(err, flinkmm2.ExitMoved, "rollback/boundary-changed", "rollback/boundary-changed")
	if err == nil || !strings.Contains(err.Error(), "refused after commit") || strings.Count(err.Error(), "do not start Flink") != 2 ||
		!strings.Contains(err.Error(), "Connect's offset of orders-0 went from 49 to 59") || !strings.Contains(err.Error(), "the target's end of orders-0 went from 50 to 60") {
		t.Errorf("it says %v", err)
	}
	_, err = w.hand(oldGroup)
	w.refused(err, flinkmm2.ExitMoved, "rollback/boundary-changed orders-0")
	w.again()
	if _, err = w.hand(oldGroup, accept("rollback/group-moved", "orders-0:10")); err != nil {
		t.Fatal(err)
	}

	// What cannot be seen any more is not taken for unchanged.
	h.behind = func() error {
		h.behind = nil
		w.target.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Count: -1, Err: kerr.TopicAuthorizationFailed})
		return nil
	}
	_, err = w.hand("hidden", accept("rollback/another-form", "group:"+oldGroup))
	if !errors.Is(err, flinkmm2.ErrNotKnown) || !strings.Contains(err.Error(), "refused after commit") || !strings.Contains(err.Error(), "do not start Flink before") {
		t.Errorf("the target hides its ends: %v", err)
	}
}

// failing is a journal that cannot be written at times.
type failing struct {
	flinkmm2.Journal
	full func(e flinkmm2.Entry) bool
}

func (f failing) Append(ctx context.Context, e flinkmm2.Entry) error {
	if f.full(e) {
		return errors.New("no space left on device")
	}
	return f.Journal.Append(ctx, e)
}

// Whether anything was committed is said, whatever the journal takes.
func TestTheJournalIsFullWhenTheBoundaryIsCommitted(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	on := func(phase flinkmm2.Phase) func(flinkmm2.Entry) bool {
		return func(e flinkmm2.Entry) bool { return e.Act == "hand-back" && e.Phase == phase }
	}
	w.steps = w.over(w.source.admin, failing{w.journal, on(flinkmm2.PhaseBegin)})
	_, err := w.hand("g")
	held, _ := w.holds("g")
	if err == nil || !strings.Contains(err.Error(), "nothing was committed: no space left") || held != "-/-/-" || len(w.acts()) > 0 {
		t.Errorf("before: %v; group holds %s, journal %v", err, held, w.acts())
	}
	w.steps = w.over(w.source.admin, failing{w.journal, on(flinkmm2.PhaseDone)})
	_, err = w.hand("g")
	held, _ = w.holds("g")
	if !errors.Is(err, flinkmm2.ErrNotJournaled) || !strings.Contains(err.Error(), "group g holds C' of all partitions, but the journal does not say so: run this again") || held != "50/32/0" {
		t.Errorf("behind: %v; group holds %s", err, held)
	}
	w.steps = w.migration(w.source.admin)
	got, err := w.hand("g")
	if err != nil || !got.Written || !slices.Equal(w.acts(), []string{"begin", "begin", "done"}) {
		t.Errorf("again: %+v, %v, journal %v", got, err, w.acts())
	}
}

// What could not be read because the caller has given up is not said to be
// missing rights of the brokers.
func TestWhoeverGivesUpIsToldThat(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	h := &hooked{Admin: w.source.admin}
	for _, look := range []int{1, 2} {
		looks := 0
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h.describe = func(string) {
			if looks++; looks == look {
				cancel()
			}
		}
		_, err := w.migration(h).CommitBoundary(ctx, w.plan, w.boundary, flinkmm2.GroupReturn{Group: "g", FlinkStopped: w.plan.Body.Attestations.FlinkStopped})
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "Grant Describe") || looks != look || len(w.acts()) > 0 {
			t.Errorf("at look %d of %d: %v, journal %v", look, looks, err, w.acts())
		}
	}
}
