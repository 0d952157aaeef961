package engine

import (
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// rolledBack is the world after the plan was started, stopped and rolled back.
func rolledBack(t *testing.T, p *offsetmap.Plan) Observed {
	t.Helper()
	w := applied(t, p)
	w.Settled = true
	history(&w, func(h *History) {
		*h = History{Planned: true, Written: true, Resumed: true, Stopped: true, RolledBack: true, RollbackDone: true, StartEnds: ends(t, p)}
	})
	return w
}

func TestABoundaryIsCommittedOnlyWhereTheRollbackStands(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	act(t, Next(CommitBoundary, p, rolledBack(t, p)), Reverse)
	act(t, Next(RewriteSavepoint, p, rolledBack(t, p)), Reverse)
	act(t, Next(HandBack, p, rolledBack(t, p)), Reverse)
	for _, c := range []struct {
		name   string
		change func(w *Observed)
		reason Reason
		check  string
	}{
		{"not rolled back", func(w *Observed) { history(w, func(h *History) { h.RollbackDone = false }) }, Blocked, "rollback/not-done"},
		{"never started", func(w *Observed) { history(w, func(h *History) { h.Stopped = false }) }, Blocked, "rollback/nothing-started"},
		{"another plan started since", func(w *Observed) { history(w, func(h *History) { h.Other = "sha256:other" }) }, Moved, "journal/other-plan"},
		{"journal unreadable", func(w *Observed) { w.History = offsetmap.NotKnown[History](errLost) }, Unknown, "journal/unreadable"},
		{"other source cluster", func(w *Observed) { w.SourceID = offsetmap.Known("x") }, Moved, "source/cluster"},
		{"other target cluster", func(w *Observed) { w.TargetID = offsetmap.Known("x") }, Moved, "target/cluster"},
		{"running", func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 1}) }, Moved, "connector/state"},
		{"paused", func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: "PAUSED"}) }, Moved, "connector/state"},
		{"gone", func(w *Observed) { w.Connector = offsetmap.Absent[Connector]() }, Moved, "connector/state"},
		{"state unknown", func(w *Observed) { w.Connector = offsetmap.NotKnown[Connector](errLost) }, Unknown, "connector/state"},
		{"offsets unknown", func(w *Observed) { w.Stored = offsetmap.NotKnown[Stored](errLost) }, Unknown, "offsets/unknown"},
		{"nothing measured", func(w *Observed) {
			w.Measured = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.Measured](errLost)
		}, Unknown, "source/range-unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := rolledBack(t, p)
			c.change(&w)
			refuse(t, Next(CommitBoundary, p, w), c.reason, c.check)
			refuse(t, Next(RewriteSavepoint, p, w), c.reason, c.check)
			refuse(t, Next(HandBack, p, w), c.reason, c.check)
		})
	}

	w := rolledBack(t, p)
	w.Settled = false
	act(t, Next(CommitBoundary, p, w), Settle)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 1})
	act(t, Next(CommitBoundary, p, w), AwaitTasks)
}

// Whoever committed the boundary of another plan was about to start Flink.
func TestNoPlanGoesForwardOnceFlinkHasTheBoundaryOfAnother(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	for _, goal := range []Goal{Apply, Verify, Start} {
		w := applied(t, p)
		history(&w, func(h *History) { h.HandedBack = "sha256:other" })
		refuse(t, Next(goal, p, w), Moved, "journal/handed-back")
	}
}

// Only what gives Flink the boundary hands it back.
func TestGoalsThatHandBack(t *testing.T) {
	for goal, want := range map[Goal]bool{CommitBoundary: true, RewriteSavepoint: true, Apply: false, Verify: false, Start: false, Rollback: false, "": false} {
		if goal.HandsBack() != want {
			t.Errorf("%s: hands back is %t", goal, !want)
		}
	}
}

// The old savepoint needs no C', but nobody else may write either.
func TestTheOldSavepointNeedsNoBoundary(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	for name, change := range map[string]func(w *Observed){
		"as it was":                  func(*Observed) {},
		"what moves does not matter": func(w *Observed) { w.Settled = false },
		"offsets unknown":            func(w *Observed) { w.Stored = offsetmap.NotKnown[Stored](errLost) },
		"the rollback found no C'":   func(w *Observed) { history(w, func(h *History) { h.RollbackDone = false }) },
		"never started":              func(w *Observed) { history(w, func(h *History) { h.Resumed, h.Stopped = false, false }) },
		"the connector is deleted": func(w *Observed) {
			history(w, func(h *History) { h.Resumed, h.Stopped, h.Deleted = false, false, true })
			w.Connector, w.ProducerID = offsetmap.Absent[Connector](), offsetmap.Absent[string]()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := rolledBack(t, p)
			change(&w)
			act(t, Next(OldSavepoint, p, w), Done)
		})
	}
	for _, c := range []struct {
		name   string
		change func(w *Observed)
		reason Reason
		check  string
	}{
		{"not rolled back", func(w *Observed) { history(w, func(h *History) { h.RolledBack = false }) }, Blocked, "rollback/not-done"},
		{"a resume may be on its way", func(w *Observed) { history(w, func(h *History) { h.Stopped = false }) }, Blocked, "rollback/not-done"},
		{"another plan started since", func(w *Observed) { history(w, func(h *History) { h.Other = "sha256:other" }) }, Moved, "journal/other-plan"},
		{"journal unreadable", func(w *Observed) { w.History = offsetmap.NotKnown[History](errLost) }, Unknown, "journal/unreadable"},
		{"running", func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 1}) }, Moved, "connector/state"},
		{"gone, by somebody else", func(w *Observed) { w.Connector = offsetmap.Absent[Connector]() }, Moved, "connector/state"},
		{"other target cluster", func(w *Observed) { w.TargetID = offsetmap.Known("x") }, Moved, "target/cluster"},
		{"nothing measured", func(w *Observed) {
			w.Measured = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.Measured](errLost)
		}, Unknown, "source/range-unknown"},
		{"Flink runs", func(w *Observed) {
			w.Flink = []offsetmap.Finding{{Check: "flink/job-running", Severity: offsetmap.Block, Detail: "it is RUNNING", Acceptable: offsetmap.Never}}
		}, Blocked, "flink/job-running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := rolledBack(t, p)
			c.change(&w)
			refuse(t, Next(OldSavepoint, p, w), c.reason, c.check)
		})
	}
	w := rolledBack(t, p)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 1})
	act(t, Next(OldSavepoint, p, w), AwaitTasks)
}
