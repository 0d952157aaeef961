package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Each case moves one thing of a world that is ready, and holds for every goal
// that it names.
func TestWorldThatMovedIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		goals  []Goal
		change func(t *testing.T, w *Observed)
		reason Reason
		check  string
	}{
		{"plan expired", []Goal{Apply, Start}, func(_ *testing.T, w *Observed) { w.Now = made.Add(time.Hour) }, Moved, "plan/expired"},
		{"other source cluster", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.SourceID = offsetmap.Known("x") }, Moved, "source/cluster"},
		{"other target cluster", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.TargetID = offsetmap.Known("x") }, Moved, "target/cluster"},
		{"worker on the source", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.ProducerID = offsetmap.Known("source-id") }, Moved, "worker/producer-cluster"},
		{"cluster id unknown", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.SourceID = offsetmap.NotKnown[string](errLost) }, Unknown, "source/cluster"},
		{"worker replaced", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			w.Worker = offsetmap.Known(Versions{Worker: "3.9.2", Plugin: "4.3.1"})
		}, Moved, "worker/version"},
		{"plugin replaced", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			w.Worker = offsetmap.Known(Versions{Worker: "4.3.1", Plugin: "3.9.2"})
		}, Moved, "worker/version"},
		{"versions unknown", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			w.Worker = offsetmap.NotKnown[Versions](errLost)
		}, Unknown, "worker/version"},
		{"config changed", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) { w.Config = offsetmap.Known("sha256:other") }, Moved, "connector/config"},
		{"another config given", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			w.OtherConfig = []offsetmap.Finding{{Check: "connector/other-config", Severity: offsetmap.Block, Scope: "tasks.max", Detail: "it differs", Acceptable: offsetmap.Never}}
		}, Moved, "connector/other-config"},
		{"connector paused", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) { w.Connector = offsetmap.Known(Connector{State: "PAUSED"}) }, Moved, "connector/state"},
		{"connector running", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) { w.Connector = offsetmap.Known(Connector{State: "RUNNING"}) }, Moved, "connector/state"},
		{"connector gone", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.Connector = offsetmap.Absent[Connector]() }, Moved, "connector/state"},
		{"connector unknown", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.Connector = offsetmap.NotKnown[Connector](errLost) }, Unknown, "connector/state"},
		{"partition added", []Goal{Apply, Verify, Start}, func(t *testing.T, w *Observed) {
			all, _ := w.Measured.Get()
			m := measured(t, 3)
			all[m.TopicPartition] = m
		}, Moved, "source/partition-added"},
		{"partition gone", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			all, _ := w.Measured.Get()
			delete(all, tp("orders", 2))
		}, Moved, "source/partition-missing"},
		{"topic created again, offsets in range", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			edit(w, 0, func(m *offsetmap.Measured) { m.TopicID = offsetmap.TopicID{9} })
		}, Moved, "source/topic-recreated"},
		{"records expired past C", []Goal{Apply, Verify, Start}, func(t *testing.T, w *Observed) {
			edit(w, 0, func(m *offsetmap.Measured) { m.Range.Start = next(t, 401) })
		}, Moved, "source/offset-expired"},
		{"log start of a clear moved from 0", []Goal{Apply, Verify, Start}, func(t *testing.T, w *Observed) {
			edit(w, 1, func(m *offsetmap.Measured) { m.Range.Start = next(t, 1) })
		}, Moved, "source/offset-expired"},
		{"log truncated", []Goal{Apply, Verify, Start}, func(t *testing.T, w *Observed) {
			edit(w, 0, func(m *offsetmap.Measured) { m.Range.End = next(t, 999) })
		}, Moved, "source/log-truncated"},
		{"range unknown", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			edit(w, 0, func(m *offsetmap.Measured) { m.Range.Start = offsetmap.NextOffset{} })
		}, Unknown, "source/range-unknown"},
		{"nothing measured", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) {
			w.Measured = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.Measured](errLost)
		}, Unknown, "source/range-unknown"},
		{"stored offset above the plan", []Goal{Apply, Verify, Start, Rollback}, func(t *testing.T, w *Observed) { store(w, 0, source(t, 500)) }, Moved, "offsets/changed"},
		{"stored offset below the plan", []Goal{Apply, Verify, Start, Rollback}, func(t *testing.T, w *Observed) { store(w, 0, source(t, 300)) }, Moved, "offsets/changed"},
		{"offset where the plan clears", []Goal{Apply, Verify, Start}, func(t *testing.T, w *Observed) { store(w, 1, source(t, 0)) }, Moved, "offsets/changed"},
		{"offset of a partition that no plan has", []Goal{Apply, Verify, Start, Rollback}, func(t *testing.T, w *Observed) { store(w, 9, source(t, 5)) }, Moved, "offsets/unplanned"},
		{"offset under another alias", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) {
			s, _ := w.Stored.Get()
			s.Foreign = []string{`{"cluster":"other"}`}
			w.Stored = offsetmap.Known(s)
		}, Moved, "offsets/foreign"},
		{"offsets unknown", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.Stored = offsetmap.NotKnown[Stored](errLost) }, Unknown, "offsets/unknown"},
		{"active topics unknown", []Goal{Rollback}, func(_ *testing.T, w *Observed) { w.Active = offsetmap.NotKnown[[]string](errLost) }, Unknown, "connector/active-topics"},
		{"another plan was started since", []Goal{Rollback}, func(_ *testing.T, w *Observed) {
			history(w, func(h *History) { h.Other = "sha256:other" })
		}, Moved, "journal/other-plan"},
		{"journal unreadable", []Goal{Apply, Verify, Start, Rollback}, func(_ *testing.T, w *Observed) { w.History = offsetmap.NotKnown[History](errLost) }, Unknown, "journal/unreadable"},
		{"rolled back", []Goal{Apply, Verify, Start}, func(_ *testing.T, w *Observed) { history(w, func(h *History) { h.RolledBack = true }) }, Moved, "journal/rolled-back"},
		{"started", []Goal{Apply, Verify}, func(t *testing.T, w *Observed) {
			history(w, func(h *History) { h.StartEnds = ends(t, plan(t, offsetmap.SourceOffset{})) })
		}, Moved, "journal/started"},
		{"resumed, start record lost", []Goal{Apply, Verify}, func(_ *testing.T, w *Observed) { history(w, func(h *History) { h.Resumed = true }) }, Moved, "journal/started"},
		{"not applied", []Goal{Verify, Start}, func(_ *testing.T, w *Observed) { store(w, 0, offsetmap.SourceOffset{}) }, Moved, "offsets/not-applied"},
		{"target end moved since the plan", []Goal{Start}, func(t *testing.T, w *Observed) {
			edit(w, 2, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) })
		}, Moved, "target/ends-moved"},
		{"target end moved since the recorded start", []Goal{Start}, func(t *testing.T, w *Observed) {
			history(w, func(h *History) { h.StartEnds = ends(t, plan(t, offsetmap.SourceOffset{})) })
			edit(w, 2, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) })
		}, Moved, "target/ends-moved"},
		{"target end unknown", []Goal{Start, Rollback}, func(_ *testing.T, w *Observed) {
			edit(w, 2, func(m *offsetmap.Measured) { m.TargetEnd = offsetmap.NextOffset{} })
		}, Unknown, "target/ends-moved"},
	} {
		for _, goal := range c.goals {
			t.Run(string(goal)+"/"+c.name, func(t *testing.T) {
				p := plan(t, offsetmap.SourceOffset{})
				w := applied(t, p)
				c.change(t, &w)
				refuse(t, Next(goal, p, w), c.reason, c.check)
			})
		}
	}
}

// An earlier wave's partition that was set back would be copied again, and no
// plan or proof would know.
func TestEarlierWaveSetBackIsRefused(t *testing.T) {
	earlier := offsetmap.EarlierPlan{Digest: "sha256:" + strings.Repeat("ea", 32), Partitions: []offsetmap.EarlierPartition{
		{TopicPartition: tp("audit", 0), Offset: source(t, 40)},
		{TopicPartition: tp("audit", 1)}, // cleared: an offset of the run, or none
	}}
	body := plan(t, offsetmap.SourceOffset{}).Body
	body.Earlier = []offsetmap.EarlierPlan{earlier}
	p, err := offsetmap.Seal(body)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		audit0 offsetmap.SourceOffset
		ok     bool
	}{
		"as written": {source(t, 40), true},
		"further on": {source(t, 41), true},
		"set back":   {source(t, 39), false},
		"cleared":    {offsetmap.SourceOffset{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := applied(t, p)
			s, _ := w.Stored.Get()
			if !c.audit0.IsNone() {
				s.Offsets[tp("audit", 0)] = c.audit0
			}
			for _, goal := range []Goal{Apply, Verify, Start} {
				if d := Next(goal, p, w); c.ok && d.Refusal != nil {
					t.Errorf("%s: refused: %v", goal, d.Refusal.Findings)
				} else if !c.ok {
					refuse(t, d, Moved, "offsets/earlier-rewound")
				}
			}
		})
	}
}

// Everything that is wrong is said at once, and a world that moved is called
// moved even when something else is unknown.
func TestAllReasonsTogether(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	w.SourceID = offsetmap.NotKnown[string](errLost)
	w.Config = offsetmap.Known("sha256:other")
	store(&w, 0, source(t, 1))
	edit(&w, 1, func(m *offsetmap.Measured) { m.Range.Start = next(t, 7) })
	refuse(t, Next(Start, p, w), Moved, "source/cluster", "connector/config", "offsets/changed", "source/offset-expired")
}

// Without the plan's own journal nothing says that the plan was never started:
// with C = end everywhere a run leaves the offsets as they were.
func TestJournalGoneLeavesTheTargetToDecide(t *testing.T) {
	for _, goal := range []Goal{Apply, Start} {
		t.Run(string(goal), func(t *testing.T) {
			p := plan(t, offsetmap.SourceOffset{})
			w := applied(t, p)
			w.History = offsetmap.Known(History{})
			if d := Next(goal, p, w); d.Refusal != nil {
				t.Fatalf("target as planned, refused: %v", d.Refusal.Findings)
			}
			moved := w
			edit(&moved, 2, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 71) })
			refuse(t, Next(goal, p, moved), Moved, "target/ends-moved")

			active := w
			active.Active = offsetmap.Known([]string{"orders"})
			refuse(t, Next(goal, p, active), Moved, "connector/active-topics")

			unknown := w
			unknown.Active = offsetmap.NotKnown[[]string](errLost)
			refuse(t, Next(goal, p, unknown), Unknown, "connector/active-topics")
		})
	}
}

func TestOtherWritersNeedAnAcceptance(t *testing.T) {
	accept := offsetmap.Acceptance{Check: OtherWriters, Scope: "orders", Reason: "audit writes too", By: "li"}
	for name, c := range map[string]struct {
		acceptance offsetmap.Acceptance
		refused    bool
	}{
		"accepted by topic": {accept, false},
		"another topic":     {offsetmap.Acceptance{Check: OtherWriters, Scope: "payments", Reason: "r", By: "li"}, true},
		"another check":     {offsetmap.Acceptance{Check: "source/unread", Scope: "*", Reason: "r", By: "li"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, offsetmap.SourceOffset{}, c.acceptance)
			w := applied(t, p)
			edit(&w, 2, func(m *offsetmap.Measured) { m.TargetEnd = next(t, 90) })
			d := Next(Start, p, w)
			if c.refused {
				refuse(t, d, Moved, OtherWriters)
				return
			}
			act(t, d, RecordStart)
			edit(&w, 2, func(m *offsetmap.Measured) { m.TargetEnd = offsetmap.NextOffset{} })
			refuse(t, Next(Start, p, w), Unknown, OtherWriters)
		})
	}
}

// Two plans of one connector exclude each other, also where everything else
// equals both.
func TestAnotherPlanAtWork(t *testing.T) {
	for name, change := range map[string]func(h *History){
		"started": func(h *History) { h.Other = "sha256:other" },
		"writing": func(h *History) { h.Writing = "sha256:other" },
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, offsetmap.SourceOffset{})
			w := world(t, p)
			history(&w, change)
			refuse(t, Next(Apply, p, w), Moved, "journal/other-plan")
			w = applied(t, p)
			history(&w, change)
			refuse(t, Next(Start, p, w), Moved, "journal/other-plan")
		})
	}
}

// That the connector runs is the doing of the plan that was started last.
func TestStartedByAnotherPlan(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	history(&w, func(h *History) { h.StartEnds, h.Resumed, h.Writing = ends(t, p), true, "sha256:other" })
	w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 2})
	act(t, Next(Start, p, w), Done)
	history(&w, func(h *History) { h.Other = "sha256:other" })
	refuse(t, Next(Start, p, w), Moved, "connector/state", "journal/other-plan")
}

// What the plan has demanded of the target holds at the start too: where others may
// move its ends, nothing else shows a transaction that was opened since.
func TestATransactionThatIsOpenAtTheStartIsRefused(t *testing.T) {
	open := offsetmap.Finding{Check: "target/open-transaction", Severity: offsetmap.Block, Scope: "orders-0:4711", Detail: "open", Acceptable: offsetmap.Exact}
	unmade := open
	unmade.Scope, unmade.Unmade = "orders-0:unmeasured", true
	others := offsetmap.Acceptance{Check: OtherWriters, Scope: "*", By: "ann", Reason: "audit"}
	accept := func(scope string) offsetmap.Acceptance {
		return offsetmap.Acceptance{Check: open.Check, Scope: scope, By: "ann", Reason: "audit"}
	}
	for name, c := range map[string]struct {
		accepted []offsetmap.Acceptance
		open     offsetmap.Finding
		want     Reason // empty: it starts
	}{
		"nothing is accepted":                {nil, open, Moved},
		"ends may move":                      {[]offsetmap.Acceptance{others}, open, Moved},
		"another partition's is accepted":    {[]offsetmap.Acceptance{others, accept("orders-1:4711")}, open, Moved},
		"another producer's is accepted":     {[]offsetmap.Acceptance{others, accept("orders-0:4712")}, open, Moved},
		"the partition is accepted":          {[]offsetmap.Acceptance{others, accept("orders-0")}, open, Moved},
		"all are accepted, by no name":       {[]offsetmap.Acceptance{accept("*")}, open, Moved},
		"accepted":                           {[]offsetmap.Acceptance{accept("orders-1:4711"), accept("orders-0:4711")}, open, ""},
		"could not be found out":             {nil, unmade, Unknown},
		"could not be found out, another":    {[]offsetmap.Acceptance{accept("orders-0:4711")}, unmade, Unknown},
		"could not be found out, if it were": {[]offsetmap.Acceptance{accept("orders-0:unmeasured")}, unmade, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, offsetmap.SourceOffset{}, c.accepted...)
			w := applied(t, p)
			w.Open = []offsetmap.Finding{c.open}
			if d := Next(Start, p, w); c.want != "" {
				refuse(t, d, c.want, open.Check)
			} else if d.Act != RecordStart {
				t.Errorf("%+v", d)
			}
			if d := Next(Verify, p, w); d.Act != Done { // nothing is started
				t.Errorf("verify: %+v", d)
			}
		})
	}
}

// What may hold up a start is a finding that no acceptance names, of whatever
// severity its check has given it.
func TestAWarningThatNobodyAcceptedHoldsUpTheStart(t *testing.T) {
	warning := offsetmap.Finding{Check: "flink/namesake-running", Severity: offsetmap.Warn, Scope: "copy", Detail: "a job of its name runs", Acceptable: offsetmap.Exact}
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	w.Flink = []offsetmap.Finding{warning}
	refuse(t, Next(Start, p, w), Moved, warning.Check)

	p = plan(t, offsetmap.SourceOffset{}, offsetmap.Acceptance{Check: warning.Check, Scope: warning.Scope, By: "ann", Reason: "another team's"})
	w = applied(t, p)
	w.Flink = []offsetmap.Finding{warning}
	act(t, Next(Start, p, w), RecordStart)
}

// A group that commits after the plan was made is read from: the old job runs
// again, and MirrorMaker 2 would be the second writer.
func TestAGroupThatHasMovedOnRefusesTheStart(t *testing.T) {
	type committed = map[offsetmap.TopicPartition]offsetmap.NextOffset
	body := plan(t, offsetmap.SourceOffset{}).Body
	body.Group = &offsetmap.Group{ID: "copy"}
	body.Rows = slices.Clone(body.Rows)
	body.Rows[0].Group = next(t, 390)
	p, err := offsetmap.Seal(body)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		group offsetmap.Fact[committed]
		want  Reason
		check string
	}{
		"stands":             {offsetmap.Known(committed{tp("orders", 0): next(t, 390)}), "", ""},
		"has expired":        {offsetmap.Absent[committed](), "", ""},
		"has expired partly": {offsetmap.Known(committed{}), "", ""},
		"has moved on":       {offsetmap.Known(committed{tp("orders", 0): next(t, 391)}), Moved, "source/group-moved"},
		"has moved back":     {offsetmap.Known(committed{tp("orders", 0): next(t, 3)}), Moved, "source/group-moved"},
		"begins to commit":   {offsetmap.Known(committed{tp("orders", 2): next(t, 0)}), Moved, "source/group-moved"},
		"cannot be read":     {offsetmap.NotKnown[committed](errors.New("denied")), Unknown, "source/group-unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := applied(t, p)
			w.Group = c.group
			if d := Next(Start, p, w); c.want != "" {
				refuse(t, d, c.want, c.check)
			} else if d.Act != RecordStart {
				t.Errorf("%+v", d)
			}
		})
	}
}
