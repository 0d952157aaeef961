package engine

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The stories tell how each stage is come to. Here stands what else may be seen in it.
func TestStageOf(t *testing.T) {
	is := func(state string, tasks int) func(*Observed) {
		return func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: state, Tasks: tasks}) }
	}
	did := func(f func(*History)) func(*Observed) { return func(w *Observed) { history(w, f) } }
	resumed := did(func(h *History) { h.StartEnds, h.Resumed = ends(t, plan(t, source(t, 10))), true })
	back := did(func(h *History) { h.RolledBack, h.RollbackDone, h.Stopped = true, true, true })
	grown := func(w *Observed) { edit(w, 1, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) }) }
	for _, c := range []struct {
		name string
		seen []func(*Observed)
		want Stage
		next Goal
		why  string
	}{
		{"journal unknown", []func(*Observed){func(w *Observed) { w.History = offsetmap.NotKnown[History](errLost) }}, StageUnknown, "", "journal could not be read: connection reset"},
		{"connector unknown", []func(*Observed){func(w *Observed) { w.Connector = offsetmap.NotKnown[Connector](errLost) }}, StageUnknown, "", "connection reset"},
		{"offsets unknown", []func(*Observed){func(w *Observed) { w.Stored = offsetmap.NotKnown[Stored](errLost) }}, StageUnknown, "", "offsets could not be found out: connection reset"},
		{"no offsets", []func(*Observed){func(w *Observed) { w.Stored = offsetmap.Absent[Stored]() }}, StageUnknown, "", "there are none"},
		{"target unknown", []func(*Observed){func(w *Observed) {
			w.Measured = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.Measured](errLost)
		}}, StageUnknown, "", "connection reset"},
		{"an end unknown", []func(*Observed){func(w *Observed) {
			edit(w, 1, func(m *offsetmap.Measured) { m.TargetEnd = offsetmap.NextOffset{} })
		}}, StageUnknown, "", "orders-1 could not be measured"},
		{"active topics unknown", []func(*Observed){func(w *Observed) { w.Active = offsetmap.NotKnown[[]string](errLost) }}, StageUnknown, "", "topics that it has written: connection reset"},

		{"as applied", nil, StageApplied, Start, "2 of 2"},
		{"in part", []func(*Observed){func(w *Observed) { store(w, 0, source(t, 10)) }}, StageApplying, Apply, "1 of 2"},
		{"nothing", []func(*Observed){func(w *Observed) {
			w.Stored = offsetmap.Known(Stored{Offsets: map[offsetmap.TopicPartition]offsetmap.SourceOffset{tp("orders", 0): source(t, 10)}})
		}}, StagePlanned, Apply, "0 of 2"},
		{"nothing, and an apply is in the journal", []func(*Observed){func(w *Observed) {
			w.Stored = offsetmap.Known(Stored{Offsets: map[offsetmap.TopicPartition]offsetmap.SourceOffset{tp("orders", 0): source(t, 10)}})
		}, did(func(h *History) { h.Written = true })}, StageApplying, Apply, "0 of 2"},
		{"changed", []func(*Observed){func(w *Observed) { store(w, 0, source(t, 11)) }}, StageAstray, "", "stored 11"},
		{"another alias", []func(*Observed){func(w *Observed) { w.Stored = offsetmap.Known(Stored{Foreign: []string{"{}"}}) }}, StageAstray, "", "source alias"},
		{"grown", []func(*Observed){grown}, StageAstray, Rollback, "orders-1 ends at 71, and ended at 70"},
		{"active", []func(*Observed){func(w *Observed) { w.Active = offsetmap.Known([]string{"orders"}) }}, StageAstray, Rollback, "[orders]"},
		{"active, not tracked", []func(*Observed){func(w *Observed) { w.Active = offsetmap.Absent[[]string]() }}, StageApplied, Start, ""},
		{"recorded", []func(*Observed){did(func(h *History) { h.StartEnds = ends(t, plan(t, source(t, 10))) })}, StageStarted, Start, "no resume begun"},
		{"recorded, and grown before", []func(*Observed){grown, did(func(h *History) {
			h.StartEnds = ends(t, plan(t, source(t, 10)))
			h.StartEnds[tp("orders", 1)] = next(t, 71)
		})}, StageStarted, Start, ""},
		{"runs by itself", []func(*Observed){is("RUNNING", 1)}, StageAstray, Rollback, "no resume"},

		{"running", []func(*Observed){resumed, is("RUNNING", 2)}, StageRunning, "", "tasks: 2"},
		{"running, no task", []func(*Observed){resumed, is("RUNNING", 0), did(func(h *History) { h.Proven = true })}, StageRunning, "", "may copy nothing"},
		{"paused", []func(*Observed){resumed, is("PAUSED", 2)}, StageRunning, "", "PAUSED"},
		{"proven", []func(*Observed){resumed, is("RUNNING", 2), did(func(h *History) { h.Proven = true })}, StageProven, "", "proof"},
		{"overtaken", []func(*Observed){resumed, is("RUNNING", 2), did(func(h *History) { h.Overtaken = true })}, StageOvertaken, Rollback, ""},
		{"resumed, nothing ran", []func(*Observed){resumed}, StageStarted, Start, "nothing shows that it ran"},
		{"resumed, ran", []func(*Observed){resumed, grown}, StageStopped, Rollback, "ends at 71"},
		{"resumed, committed", []func(*Observed){resumed, func(w *Observed) { store(w, 0, source(t, 400)) }}, StageStopped, Rollback, "stored 400"},
		{"resumed, offsets unknown", []func(*Observed){resumed, func(w *Observed) { w.Stored = offsetmap.NotKnown[Stored](errLost) }}, StageUnknown, "", "whether it ran could not be found out"},
		{"resumed, stopped for another wave", []func(*Observed){resumed, grown, did(func(h *History) { h.Halted = true })}, StageHalted, Continue, "for another wave"},
		{"resumed, restored over", []func(*Observed){resumed, did(func(h *History) { h.Restored = true })}, StageSpent, "", "a backup"},
		{"resumed, a stop was sent", []func(*Observed){resumed, did(func(h *History) { h.Stopped = true })}, StageStopped, Rollback, "a stop was sent"},
		{"resumed, deleted by somebody", []func(*Observed){resumed, func(w *Observed) { w.Connector = offsetmap.Absent[Connector]() }}, StageNoConnector, "", "no connector mm2"},

		{"rolled back", []func(*Observed){resumed, back}, StageRolledBack, "", "the connector ran"},
		{"rolled back before the start", []func(*Observed){back, did(func(h *History) { h.Stopped = false })}, StageRolledBack, "", "as they were"},
		{"rolled back, connector deleted", []func(*Observed){back, did(func(h *History) { h.Deleted = true }), func(w *Observed) { w.Connector = offsetmap.Absent[Connector]() }}, StageRolledBack, "", "gone"},
		{"rollback begun", []func(*Observed){back, did(func(h *History) { h.RollbackDone = false })}, StageRollingBack, Rollback, ""},
		{"rolled back, and running", []func(*Observed){back, is("RUNNING", 1)}, StageAstray, Rollback, "RUNNING"},
		{"handed back", []func(*Observed){back, did(func(h *History) { h.GaveBack = true })}, StageHandedBack, "", ""},
		{"handed back, and running", []func(*Observed){back, is("RUNNING", 1), did(func(h *History) { h.GaveBack = true })}, StageAstray, Rollback, "two may write"},

		{"another started", []func(*Observed){resumed, did(func(h *History) { h.Other = "sha256:other" })}, StageSpent, "", "sha256:other"},
		{"another writes", []func(*Observed){did(func(h *History) { h.Writing = "sha256:other" })}, StageSpent, "", "sha256:other"},
		{"another writes, this one runs", []func(*Observed){resumed, is("RUNNING", 1), did(func(h *History) { h.Writing = "sha256:other" })}, StageRunning, "", ""},
		{"a backup was restored", []func(*Observed){did(func(h *History) { h.Restored = true })}, StageSpent, "", "backup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(t, source(t, 10))
			w := applied(t, p)
			for _, change := range c.seen {
				change(&w)
			}
			got := StageOf(p, w)
			if got.Stage != c.want || got.Next != c.next {
				t.Errorf("%s, next %q; want %s, next %q: %v", got.Stage, got.Next, c.want, c.next, got.Why)
			}
			if why := strings.Join(got.Why, "; "); why == "" || !strings.Contains(why, c.why) || strings.Contains(why, "%!") {
				t.Errorf("why %q, want %q in it", why, c.why)
			}
		})
	}
}

// A stage names what its next step would be refused for, and stays what it is.
func TestAStageNamesWhatStandsAgainstItsNextStep(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	w.Config = offsetmap.Known("sha256:other")
	w.Now = made.Add(2 * 60 * 60 * 1e9)
	got := StageOf(p, w)
	var checks []string
	for _, f := range got.Against {
		checks = append(checks, f.Check)
	}
	if got.Stage != StageApplied || strings.Join(checks, " ") != "connector/config plan/expired" {
		t.Errorf("%s, against it %v", got.Stage, checks)
	}
}
