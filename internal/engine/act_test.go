package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func writes(d Decision) map[string]string {
	out := map[string]string{}
	for _, c := range d.Writes {
		out[c.TopicPartition.String()] = c.Write.String()
	}
	return out
}

func TestApplyWritesOnceThenIsDone(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := world(t, p)
	d := act(t, Next(Apply, p, w), Write)
	// orders-1 is a clear of what is absent: nothing to write.
	if diff := cmp.Diff(map[string]string{"orders-0": "set 399", "orders-2": "set 999"}, writes(d)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	store(&w, 0, source(t, 399))
	d = act(t, Next(Apply, p, w), Write) // killed in between: only the rest is written
	if diff := cmp.Diff(map[string]string{"orders-2": "set 999"}, writes(d)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	act(t, Next(Apply, p, applied(t, p)), Done)
	act(t, Next(Verify, p, applied(t, p)), Done)
}

func TestApplyWaitsForTasksAndStragglers(t *testing.T) {
	p := plan(t, source(t, 10))
	w := world(t, p)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 2})
	act(t, Next(Apply, p, w), AwaitTasks)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED"})
	act(t, Next(Apply, p, w), Settle) // it ran: an offset of it is stored
	w.Settled = true
	act(t, Next(Apply, p, w), Write)

	fresh := plan(t, offsetmap.SourceOffset{})
	w = world(t, fresh)
	w.Active = offsetmap.Known([]string{"orders"}) // it ran, and committed nothing
	act(t, Next(Apply, fresh, w), Settle)
	w.Active = offsetmap.Absent[[]string]() // the worker does not say whether it ran
	act(t, Next(Apply, fresh, w), Settle)
}

func TestStartRecordsTheTargetsEndsBeforeItResumesOnce(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	act(t, Next(Start, p, w), RecordStart)
	history(&w, func(h *History) { h.StartEnds = ends(t, p) })
	act(t, Next(Start, p, w), Resume)
	history(&w, func(h *History) { h.Resumed = true })
	w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 2})
	act(t, Next(Start, p, w), Done)
}

// Killed between the intent and the call: the connector is still STOPPED, and
// everything equals the plan, so a person may start again.
func TestStartAfterALostResume(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	history(&w, func(h *History) { h.StartEnds, h.Resumed = ends(t, p), true })
	act(t, Next(Start, p, w), AwaitResume) // it may have been sent, and show in a moment
	w.StoodStill = true
	act(t, Next(Start, p, w), Resume)
	store(&w, 0, source(t, 450)) // it did run, and was stopped by somebody
	refuse(t, Next(Start, p, w), Moved, "offsets/changed")
}

func TestRunningWithoutOurResumeIsNotAStart(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 2})
	refuse(t, Next(Start, p, w), Moved, "connector/state")
}

func TestRollbackBeforeTheStartPutsBackAndDeletesItsOwn(t *testing.T) {
	p := plan(t, source(t, 10))
	w := applied(t, p)
	d := act(t, Next(Rollback, p, w), Write)
	want := map[string]string{"orders-0": "set 10", "orders-2": "clear"}
	if diff := cmp.Diff(want, writes(d)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	restored := world(t, p)
	act(t, Next(Rollback, p, restored), Delete)
	history(&restored, func(h *History) { h.Created = false })
	act(t, Next(Rollback, p, restored), Done)

	gone := world(t, p)
	gone.Connector = offsetmap.Absent[Connector]()
	gone.Stored, gone.Config = offsetmap.Absent[Stored](), offsetmap.Absent[string]()
	gone.ProducerID = offsetmap.NotKnown[string](errLost)
	for _, began := range []bool{false, true} { // a rollback that was begun does not explain it
		history(&gone, func(h *History) { h.RolledBack = began })
		refuse(t, Next(Rollback, p, gone), Moved, "connector/state", "worker/producer-cluster")
	}
	history(&gone, func(h *History) { h.Deleted = true })
	act(t, Next(Rollback, p, gone), Done)
}

func TestRollbackRefusesWhatSomebodyElseWrote(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	store(&w, 0, source(t, 200))
	refuse(t, Next(Rollback, p, w), Moved, "offsets/changed")
}

func TestRollbackAfterTheStartStopsSettlesReverses(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	history(&w, func(h *History) { h.StartEnds, h.Resumed = ends(t, p), true })
	w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 2})
	act(t, Next(Rollback, p, w), Stop)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED"})
	act(t, Next(Rollback, p, w), Stop) // STOPPED may be what was before a resume that is still on its way
	history(&w, func(h *History) { h.StoppedNow = true })
	w.Connector = offsetmap.Known(Connector{State: "RUNNING"})
	act(t, Next(Rollback, p, w), Stop)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 1})
	act(t, Next(Rollback, p, w), AwaitTasks)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED"})
	act(t, Next(Rollback, p, w), Settle)
	w.Settled = true
	act(t, Next(Rollback, p, w), Reverse)
	w.Connector = offsetmap.Absent[Connector]()
	refuse(t, Next(Rollback, p, w), Moved, "connector/state")
}

// After the start as before it: on other clusters than the plan's, or once another
// plan was started, nothing is stopped, for it is not known whose connector that is.
func TestRollbackAfterTheStartOfWhatIsNotThePlansStopsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Observed)
		check  string
	}{
		"another source":  {func(w *Observed) { w.SourceID = offsetmap.Known("x") }, "source/cluster"},
		"another target":  {func(w *Observed) { w.TargetID = offsetmap.Known("x") }, "target/cluster"},
		"another plan":    {func(w *Observed) { history(w, func(h *History) { h.Other = "sha256:other" }) }, "journal/other-plan"},
		"another cluster": {func(w *Observed) { w.ProducerID = offsetmap.Known("source-id") }, "worker/producer-cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, offsetmap.SourceOffset{})
			w := applied(t, p)
			history(&w, func(h *History) { h.StartEnds, h.Resumed = ends(t, p), true })
			w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 2})
			c.change(&w)
			refuse(t, Next(Rollback, p, w), Moved, c.check)
		})
	}
}

// The offsets of a connector that has copied but not committed are the plan's;
// the journal, the state, the ends and the active topics tell.
func TestRollbackSeesThatTheConnectorRan(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, w *Observed){
		"it runs":         func(_ *testing.T, w *Observed) { w.Connector = offsetmap.Known(Connector{State: "RUNNING"}) },
		"resume begun":    func(_ *testing.T, w *Observed) { history(w, func(h *History) { h.Resumed = true }) },
		"stopped before":  func(_ *testing.T, w *Observed) { history(w, func(h *History) { h.Stopped = true }) },
		"active topics":   func(_ *testing.T, w *Observed) { w.Active = offsetmap.Known([]string{"orders"}) },
		"the target grew": func(t *testing.T, w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) }) },
		"the target grew, topics not tracked": func(t *testing.T, w *Observed) {
			w.Active = offsetmap.Absent[[]string]()
			edit(w, 0, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) })
		},
		"the target grew, journal gone": func(t *testing.T, w *Observed) {
			w.History = offsetmap.Known(History{})
			edit(w, 0, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, source(t, 10)) // it had run before: an offset is stored
			w := applied(t, p)
			change(t, &w)
			act(t, Next(Rollback, p, w), Stop)
		})
	}
}

// An offset above the plan's shows that somebody wrote it, not that anything
// was copied.
func TestRollbackDoesNotTakeAHandWrittenOffsetForARun(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	store(&w, 0, source(t, 700))
	refuse(t, Next(Rollback, p, w), Moved, "offsets/changed")
}

// Topics that were active when the plan was made are no news.
func TestRollbackOfAConnectorThatRanBeforeThePlan(t *testing.T) {
	body := plan(t, source(t, 10)).Body
	body.Connector.ActiveTopics = []string{"orders"}
	p, err := offsetmap.Seal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := world(t, p)
	w.Active = offsetmap.Known([]string{"orders"})
	history(&w, func(h *History) { h.Created = false })
	act(t, Next(Rollback, p, w), Done)
	w.Active = offsetmap.Known([]string{"orders", "payments"})
	act(t, Next(Rollback, p, w), Stop)
}

// A worker may answer with offsets older than the apply. They look like the
// backup, and the connector would be deleted with the plan's offsets left behind.
func TestRollbackPutsBackWhatWasWrittenThoughItDoesNotShow(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := world(t, p)
	history(&w, func(h *History) { h.Written = true })
	d := Next(Rollback, p, w)
	act(t, d, Write)
	if len(d.Writes) != 2 { // orders-1 is cleared by the plan too
		t.Errorf("%v is put back, want the two that the plan set", d.Writes)
	}
	history(&w, func(h *History) { h.Written = false })
	act(t, Next(Rollback, p, w), Delete)
}

func TestUnknownGoal(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	refuse(t, Next("launch", p, world(t, p)), Blocked, "engine/goal")
}
