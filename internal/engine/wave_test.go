package engine

import (
	"maps"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var wider = "sha256:" + "c1"

// copying is the world of a plan that was started and has copied orders-0 up to 450,
// while another config is wanted.
func copying(t testing.TB, p *offsetmap.Plan) Observed {
	w := applied(t, p)
	w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 1})
	w.Wanted = wider
	store(&w, 0, source(t, 450))
	history(&w, func(h *History) { h.Written, h.Resumed, h.StartEnds = true, true, ends(t, p) })
	return w
}

// halted is the same, once it was stopped and nothing moves.
func halted(t testing.TB, p *offsetmap.Plan) Observed {
	w := copying(t, p)
	w.Connector, w.Settled = offsetmap.Known(Connector{State: "STOPPED"}), true
	s, _ := w.Stored.Get()
	history(&w, func(h *History) { h.StoppedNow, h.Stood = true, StoodAt(s.Offsets) })
	return w
}

func TestAConfigIsPutOnlyToAStoppedConnector(t *testing.T) {
	p := plan(t, none)
	for _, state := range []string{"RUNNING", "PAUSED", "UNASSIGNED", "FAILED", "RESTARTING", "STOPPED"} {
		w := copying(t, p)
		w.Connector = offsetmap.Known(Connector{State: state})
		w.Settled = true
		act(t, Next(Widen, p, w), Stop) // also STOPPED: a resume may be on its way
		w.Config = offsetmap.Known(wider)
		if state != "STOPPED" {
			refuse(t, Next(Widen, p, w), Moved, "connector/topics-widened")
		}
	}
	w := halted(t, p)
	act(t, Next(Widen, p, w), PutConfig)
	w.Settled = false
	act(t, Next(Widen, p, w), Settle)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 2})
	act(t, Next(Widen, p, w), AwaitTasks)
	w.Config = offsetmap.Known(wider)
	act(t, Next(Widen, p, w), AwaitTasks)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED"})
	act(t, Next(Widen, p, w), Done)

	w = copying(t, p)
	w.Wanted = configDigest // the plan's own: nothing to do
	act(t, Next(Widen, p, w), Done)
}

func TestAWaveComesOnlyToOneThatWasStarted(t *testing.T) {
	p := plan(t, none)
	for name, c := range map[string]struct {
		change func(*History)
		reason Reason
		check  string
	}{
		"not started":              {func(h *History) { h.StartEnds, h.Resumed = nil, false }, Blocked, "widen/not-started"},
		"recorded and not resumed": {func(h *History) { h.Resumed = false }, Blocked, "widen/not-started"},
		"rolled back":              {func(h *History) { h.RolledBack = true }, Moved, "journal/rolled-back"},
		"restored over":            {func(h *History) { h.Restored = true }, Moved, "journal/restored"},
		"another was started":      {func(h *History) { h.Other = "sha256:other" }, Moved, "journal/other-plan"},
		"another is written":       {func(h *History) { h.Writing = "sha256:other" }, Moved, "journal/other-plan"},
	} {
		t.Run(name, func(t *testing.T) {
			w := copying(t, p)
			history(&w, c.change)
			refuse(t, Next(Widen, p, w), c.reason, c.check)
		})
	}
	w := copying(t, p)
	w.SourceID = offsetmap.Known("other")
	refuse(t, Next(Widen, p, w), Moved, "source/cluster")
	w = copying(t, p)
	store(&w, 0, source(t, 398))
	refuse(t, Next(Widen, p, w), Moved, "offsets/earlier-rewound")
}

func TestAWaveGoesOnFromWhereItStood(t *testing.T) {
	p := plan(t, none)
	w := halted(t, p)
	act(t, Next(Continue, p, w), Resume)
	w.Settled = false
	act(t, Next(Continue, p, w), Settle)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 2})
	act(t, Next(Continue, p, w), AwaitTasks)
	act(t, Next(Continue, p, copying(t, p)), Done)
	history(&w, func(h *History) { h.Again = true })
	act(t, Next(Continue, p, w), AwaitResume)
	w.StoodStill, w.Settled = true, true
	w.Connector = offsetmap.Known(Connector{State: "STOPPED"})
	act(t, Next(Continue, p, w), Resume)
}

func TestAWaveDoesNotGoOnFromElsewhere(t *testing.T) {
	p := plan(t, none)
	for name, c := range map[string]struct {
		change func(*Observed)
		reason Reason
		check  string
	}{
		"never started":   {func(w *Observed) { history(w, func(h *History) { h.Resumed = false }) }, Blocked, "continue/not-started"},
		"another config":  {func(w *Observed) { w.Config = offsetmap.Known(wider) }, Moved, "connector/config"},
		"paused":          {func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: "PAUSED"}) }, Moved, "connector/state"},
		"raised by hand":  {func(w *Observed) { store(w, 0, source(t, 451)) }, Moved, "continue/offsets-changed"},
		"of another wave": {func(w *Observed) { storeTopic(w, tp("pay", 0), source(t, 7)) }, Moved, "offsets/unplanned"},
		"expired":         {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.Range.Start = next(t, 452) }) }, Moved, "continue/offset-expired"},
		"expired unread": {func(w *Observed) {
			edit(w, 1, func(m *offsetmap.Measured) { m.Range.Start, m.Range.End = next(t, 100), next(t, 120) })
		}, Moved, "continue/offset-expired"},
		"cut":           {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.Range.End = next(t, 450) }) }, Moved, "continue/other-log"},
		"created again": {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.TopicID = offsetmap.TopicID{9} }) }, Moved, "continue/other-log"},
		"not measured":  {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.Range.Start = offsetmap.NextOffset{} }) }, Unknown, "source/range-unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := halted(t, p)
			c.change(&w)
			refuse(t, Next(Continue, p, w), c.reason, c.check)
		})
	}
	w := halted(t, p)
	edit(&w, 0, func(m *offsetmap.Measured) { m.Range.Start = next(t, 452) })
	for scope, passes := range map[string]bool{"orders-0:1": true, "orders-0:2": false, "*": false} {
		w.Acceptances = []offsetmap.Acceptance{{Check: "continue/offset-expired", Scope: scope, By: "test", Reason: "so"}}
		if d := Next(Continue, p, w); (d.Act == Resume) != passes {
			t.Errorf("accepted for %s: %+v", scope, d)
		}
	}
	w = halted(t, p)
	storeTopic(&w, tp("pay", 0), source(t, 7))
	w.GivenUp = []string{"pay"}
	act(t, Next(Continue, p, w), Resume)
	storeTopic(&w, tp("refunds", 0), source(t, 7))
	refuse(t, Next(Continue, p, w), Moved, "offsets/unplanned")
}

func storeTopic(w *Observed, at offsetmap.TopicPartition, m offsetmap.SourceOffset) {
	s, _ := w.Stored.Get()
	s.Offsets = maps.Clone(s.Offsets)
	s.Offsets[at] = m
	w.Stored = offsetmap.Known(s)
}

func TestWhatStandsIsSummedUpByTopic(t *testing.T) {
	stored := map[offsetmap.TopicPartition]offsetmap.SourceOffset{tp("orders", 0): source(t, 1), tp("orders", 1): source(t, 2), tp("pay", 0): source(t, 3)}
	before := StoodAt(stored)
	if len(before) != 2 || before["orders"] == before["pay"] {
		t.Fatalf("%v", before)
	}
	stored[tp("orders", 1)] = source(t, 3)
	after := StoodAt(stored)
	if after["orders"] == before["orders"] || after["pay"] != before["pay"] {
		t.Errorf("%v, then %v", before, after)
	}
	delete(stored, tp("orders", 1))
	if sum := StoodAt(stored)["orders"]; sum == before["orders"] || sum == after["orders"] {
		t.Error("what is absent counts as what was there")
	}
}
