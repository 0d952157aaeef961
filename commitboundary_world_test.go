package flinkmm2_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The boundary must be what a rollback finds now. Each case is refused with the
// group as it was, and mended passes.
func TestTheBoundaryMustStillBeTheBoundary(t *testing.T) { //nolint:tparallel // its cases share a stage, one after the other
	t.Parallel()
	edit := func(f func(b *flinkmm2.Boundary)) func(w *wayBack) func() {
		return func(w *wayBack) func() {
			was := w.boundary
			edited := *was
			edited.Partitions = slices.Clone(was.Partitions)
			f(&edited)
			w.boundary = &edited
			return func() { w.boundary = was }
		}
	}
	shared := rolledBack(t)
	for _, c := range []struct {
		name   string
		breaks func(w *wayBack) (mend func())
		status int
		want   []string
	}{
		{"of another plan", edit(func(b *flinkmm2.Boundary) { b.Plan = "sha256:" + strings.Repeat("0", 64) }), flinkmm2.ExitMoved, []string{"rollback/boundary-changed"}},
		{"of another cluster", edit(func(b *flinkmm2.Boundary) { b.SourceID = "elsewhere" }), flinkmm2.ExitMoved, []string{"rollback/boundary-changed"}},
		{"of another connector", edit(func(b *flinkmm2.Boundary) { b.Connector = "mm3" }), flinkmm2.ExitMoved, []string{"rollback/boundary-changed"}},
		{"edited", edit(func(b *flinkmm2.Boundary) { b.Partitions[0].Next = offset(t, "49") }), flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-0"}},
		{"without a partition", edit(func(b *flinkmm2.Boundary) { b.Partitions, b.Delivered = b.Partitions[:2], b.Delivered[:2] }), flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-2"}},
		{"with a partition more", edit(func(b *flinkmm2.Boundary) {
			more := b.Partitions[2]
			more.Partition = 3
			b.Partitions, b.Delivered = append(b.Partitions, more), nil
		}), flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-3"}},
		{"a partition was added", func(w *wayBack) func() {
			if _, err := w.source.admin.CreatePartitions(t.Context(), 1, "orders"); err != nil {
				t.Fatal(err)
			}
			return w.again
		}, flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-3"}},
		{"an offset was written", func(w *wayBack) func() {
			w.alter(0, 39)
			return func() { w.alter(0, 49) }
		}, flinkmm2.ExitMoved, []string{"rollback/boundary-changed orders-0"}},
		{"an offset was cleared", func(w *wayBack) func() {
			w.alter(0, -1)
			return func() { w.alter(0, 49) }
		}, flinkmm2.ExitBlocked, []string{"rollback/offset-absent orders-0"}},
		{"the connector runs", func(w *wayBack) func() {
			if err := w.connect.Resume(t.Context(), "mm2"); err != nil {
				t.Fatal(err)
			}
			w.await(connectrest.StateRunning)
			return w.again
		}, flinkmm2.ExitMoved, []string{"connector/state"}},
		{"the records at C' have expired", func(w *wayBack) func() {
			w.source.produce(t, 0, 5)
			if err := w.source.DeleteRecords("orders", 0, 55); err != nil {
				t.Fatal(err)
			}
			return nil // see below
		}, flinkmm2.ExitBlocked, []string{"rollback/offset-expired orders-0:5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := shared.in(t)
			mend := c.breaks(w)
			_, err := w.hand("g")
			w.refused(err, c.status, c.want...)
			if held, _ := w.holds("g"); held != "-/-/-" || len(w.acts()) > 0 {
				t.Errorf("the group holds %s, journal %v", held, w.acts())
			}
			if mend == nil {
				return
			}
			mend()
			shared.boundary = w.boundary
			if err := w.boundaryStands(); err != nil {
				t.Errorf("mended: %v", err)
			}
		})
	}
	// Expired records are accepted where the boundary is made, and again here.
	w, lost := shared, accept("rollback/offset-expired", "orders-0:5")
	back, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{Acceptances: []offsetmap.Acceptance{lost}})
	if err != nil {
		t.Fatal(err)
	}
	w.boundary = back.Boundary
	_, err = w.hand("g")
	w.refused(err, flinkmm2.ExitBlocked, "rollback/offset-expired orders-0:5")
	if _, err := w.hand("g", lost); err != nil {
		t.Fatal(err)
	}
	if held, _ := w.holds("g"); held != "55/32/0" {
		t.Errorf("the group holds %s", held)
	}
}

// boundaryStands hands the boundary to a group of no account and takes it away.
func (w *wayBack) boundaryStands() error {
	defer w.forget("trial")
	steps := w.steps
	defer func() { w.steps = steps }()
	w.steps = w.over(w.source.admin, dry{w.journal})
	_, err := w.hand("trial")
	return err
}

// dry is a journal that keeps nothing.
type dry struct{ flinkmm2.Journal }

func (dry) Append(context.Context, flinkmm2.Entry) error { return nil }

// again rolls back again.
func (w *wayBack) again() {
	w.Helper()
	back, err := w.steps.Rollback(w.Context(), w.plan, flinkmm2.RollbackOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.boundary = back.Boundary
}

// alter writes Connect's offset of a partition past the library; -1 clears it.
func (w *wayBack) alter(partition int32, m int64) {
	w.Helper()
	o := connectrest.Offset{Partition: json.RawMessage(`{"cluster":"source","partition":` + offsetText(int64(partition)) + `,"topic":"orders"}`), Offset: json.RawMessage("null")}
	if m >= 0 {
		o.Offset = json.RawMessage(`{"offset":` + offsetText(m) + `}`)
	}
	if err := w.connect.AlterOffsets(w.Context(), "mm2", []connectrest.Offset{o}); err != nil {
		w.Fatal(err)
	}
}

func (w *wayBack) await(state connectrest.State) {
	w.Helper()
	for {
		status, err := w.connect.Status(w.Context(), "mm2")
		if err != nil {
			w.Fatal(err)
		}
		if status.Connector.State == state {
			return
		}
	}
}

func TestNothingIsCommittedWithoutARollback(t *testing.T) {
	t.Parallel()
	w := started(t)
	b := rolledBackLike(w)
	_, err := w.steps.CommitBoundary(t.Context(), w.plan, nil, flinkmm2.GroupReturn{Group: "g"})
	w.refused(err, flinkmm2.ExitFailed)
	w.boundary = b
	_, err = w.hand("")
	w.refused(err, flinkmm2.ExitFailed)
	_, err = w.hand("g")
	w.refused(err, flinkmm2.ExitMoved, "rollback/not-done", "connector/state")
	w.again()
	if _, err := w.hand("g"); err != nil {
		t.Fatal(err)
	}

	// Another plan is started on the connector: this boundary is history.
	newer := strings.Replace(w.plan.Digest, w.plan.Digest[7:11], "beef", 1)
	w.writeJournal(flinkmm2.Entry{Act: "resume", Phase: flinkmm2.PhaseBegin, Plan: newer})
	_, err = w.hand("g")
	w.refused(err, flinkmm2.ExitMoved, "journal/other-plan")
	w.writeJournal(flinkmm2.Entry{Act: "rollback", Phase: flinkmm2.PhaseDone, Plan: newer})
	_, err = w.hand("g")
	w.refused(err, flinkmm2.ExitBlocked, "rollback/not-done")
	w.again()
	if _, err := w.hand("g"); err != nil {
		t.Fatal(err)
	}
}

// From each group that holds the boundary a job may run, so a second one needs a
// person's word, group by group.
func TestTheBoundaryGoesToOneGroupAlone(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	if _, err := w.hand("g"); err != nil {
		t.Fatal(err)
	}
	_, err := w.hand("h")
	w.refused(err, flinkmm2.ExitBlocked, "rollback/another-form group:g")
	_, err = w.hand("h", accept("rollback/another-form", "*"))
	w.refused(err, flinkmm2.ExitBlocked, "rollback/another-form group:g")
	if held, _ := w.holds("h"); held != "-/-/-" {
		t.Errorf("group h holds %s", held)
	}
	if _, err := w.hand("g"); err != nil {
		t.Errorf("the same group again: %v", err)
	}
	for _, phase := range []flinkmm2.Phase{flinkmm2.PhaseBegin, flinkmm2.PhaseFailed} { // begun, then known not to have been sent
		w.writeJournal(flinkmm2.Entry{Act: "commit-boundary", Phase: phase, Plan: w.plan.Digest, Group: "killed"})
		want := []string{"rollback/another-form group:g", "rollback/another-form group:killed"}
		if phase == flinkmm2.PhaseFailed {
			want = want[:1]
		}
		_, err = w.hand("h")
		w.refused(err, flinkmm2.ExitBlocked, want...)
	}
	got, err := w.hand("h", accept("rollback/another-form", "group:g"))
	if err != nil || len(got.Findings) != 1 || got.Findings[0].Accepted == nil {
		t.Fatalf("accepted: %+v, %v", got, err)
	}
	_, err = w.hand("g")
	w.refused(err, flinkmm2.ExitBlocked, "rollback/another-form group:h")
	if _, err := w.over(w.source.admin, unreadable{w.journal}).CommitBoundary(t.Context(), w.plan, w.boundary, flinkmm2.GroupReturn{Group: "g"}); !errors.Is(err, flinkmm2.ErrNotKnown) {
		t.Errorf("without a journal that tells: %v", err)
	}
}

// rolledBackLike is a boundary as a rollback of the plan would make it.
func rolledBackLike(w *wayBack) *flinkmm2.Boundary {
	b := &flinkmm2.Boundary{APIVersion: offsetmap.APIVersion, Kind: flinkmm2.BoundaryKind, Plan: w.plan.Digest, SourceID: "the-source", Connector: "mm2"}
	for _, r := range w.plan.Body.Rows {
		b.Partitions = append(b.Partitions, offsetmap.Reverse{TopicPartition: r.TopicPartition, TopicID: r.TopicID, Next: r.Next})
	}
	return b
}

func (w *wayBack) writeJournal(e flinkmm2.Entry) {
	w.Helper()
	e.At, e.Connector, e.By = w.now(), "mm2", "somebody"
	if err := w.journal.Append(w.Context(), e); err != nil {
		w.Fatal(err)
	}
}

// A plan that was made before the boundary was committed knows nothing of the
// Flink job that runs since. One that is made from a savepoint of that job does.
func TestNoOlderPlanStartsOnceFlinkHasTheBoundary(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	first, boundary := w.plan, w.boundary
	w.makePlanFrom("50", "32") // as somebody would who wants to go forward again
	second := w.plan
	w.plan, w.boundary = first, boundary
	if _, err := w.hand(oldGroup); err != nil {
		t.Fatal(err)
	}
	if err := w.forward(second); !errors.Is(err, flinkmm2.ErrMoved) || strings.Count(err.Error(), "journal/handed-back: plan "+first.Digest) != 2 {
		t.Errorf("the older plan: %v", err)
	}
	w.checkpoint++
	w.makePlanFrom("50", "32")
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Errorf("a plan that was made since: %v", err)
	}
}

// forward is why neither Apply nor Start take the plan, nil when one does.
func (w *wayBack) forward(plan *offsetmap.Plan) error {
	w.Helper()
	_, applied := w.steps.Apply(w.Context(), plan)
	_, started := w.steps.Start(w.Context(), plan, flinkmm2.Approval{Digest: plan.Digest, By: "test"})
	if applied == nil || started == nil {
		return nil
	}
	return errors.Join(applied, started)
}

// Flink runs from its group. The savepoint that the migration began with, and
// any that had been planned from since, and the word of then that Flink has
// ended, are all still there, and a new plan from them would be a second writer.
func TestNoPlanIsMadeFromASavepointThatIsOlderThanTheHandBack(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	first, boundary := w.plan, w.boundary
	w.makePlanFrom("50", "32")
	w.plan, w.boundary = first, boundary
	if _, err := w.planFrom(w.steps, "50", "32"); err != nil {
		t.Fatalf("before the hand-back: %v", err)
	}
	if _, err := w.hand(oldGroup); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"20", "50"} {
		plan, err := w.planFrom(w.steps, at, "32")
		var blocked *offsetmap.BlockedError
		if plan != nil || !errors.As(err, &blocked) || !strings.Contains(err.Error(), "journal/handed-back: plan "+first.Digest) {
			t.Errorf("from %s: plan %t, %v", at, plan != nil, err)
		}
	}
	w.checkpoint++ // the job is stopped again: the very same offsets in another savepoint
	if _, err := w.planFrom(w.steps, "50", "32"); err != nil {
		t.Errorf("from a savepoint of the job that ran since: %v", err)
	}
	if _, err := w.planFrom(w.over(w.source.admin, unreadable{w.journal}), "50", "32"); err == nil || !strings.Contains(err.Error(), "journal/unreadable: ") {
		t.Errorf("without a journal that tells: %v", err)
	}
}

// unreadable is a journal that cannot be read.
type unreadable struct{ flinkmm2.Journal }

func (unreadable) Read(context.Context) ([]flinkmm2.Entry, error) { return nil, io.ErrUnexpectedEOF }
