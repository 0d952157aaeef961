package engine

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var none offsetmap.SourceOffset

// backup is what stands in the place of a plan: orders-0 was at M = 399 and orders-1 at
// M = 9.
func backup(t testing.TB, acceptances ...offsetmap.Acceptance) *offsetmap.Plan {
	p := &offsetmap.Plan{Digest: "sha256:backup", Body: offsetmap.Body{
		Source: offsetmap.Cluster{ID: "source-id"}, Target: offsetmap.Cluster{ID: "target-id"},
		Worker:      offsetmap.Worker{ProducerClusterID: "target-id"},
		Connector:   offsetmap.Connector{Name: "mm2", SourceAlias: "source"},
		Acceptances: acceptances,
	}}
	for n, m := range []int64{399, 9} {
		p.Body.Rows = append(p.Body.Rows, offsetmap.Row{TopicPartition: tp("orders", int32(n)), TopicID: topicID, Write: source(t, m).Restore()})
	}
	return p
}

// holding is a settled world in which Connect holds the offsets, of orders by partition.
func holding(t testing.TB, at ...offsetmap.SourceOffset) Observed {
	w := world(t, plan(t, none))
	stored := map[offsetmap.TopicPartition]offsetmap.SourceOffset{}
	for p, m := range at {
		if !m.IsNone() {
			stored[tp("orders", int32(p))] = m
		}
	}
	w.Stored, w.Settled = offsetmap.Known(Stored{Offsets: stored}), true
	return w
}

func TestRestoreWritesWhatStandsElsewhereThenIsDone(t *testing.T) {
	p := backup(t)
	w := holding(t, none, source(t, 5))
	w.Settled = false
	act(t, Next(Restore, p, w), Settle)
	w.Connector = offsetmap.Known(Connector{State: "STOPPED", Tasks: 1})
	act(t, Next(Restore, p, w), AwaitTasks)

	d := act(t, Next(Restore, p, holding(t, none, source(t, 5))), Write)
	want := []Change{{tp("orders", 0), source(t, 399).Restore()}, {tp("orders", 1), source(t, 9).Restore()}}
	if !slices.Equal(d.Writes, want) {
		t.Errorf("writes %v, want %v", d.Writes, want)
	}
	act(t, Next(Restore, p, holding(t, source(t, 399), source(t, 9))), Done)
}

func TestRestoreSetsNothingBackUnasked(t *testing.T) {
	accept := func(scopes ...string) (out []offsetmap.Acceptance) {
		for _, s := range scopes {
			out = append(out, offsetmap.Acceptance{Check: "restore/rewind", Scope: s, By: "test", Reason: "so"})
		}
		return out
	}
	ran := holding(t, source(t, 450), source(t, 9), source(t, 70))
	refuse(t, Next(Restore, backup(t), ran), Blocked, "restore/rewind")
	for name, scopes := range map[string][]string{
		"one of two":           {"orders-0:51"},
		"by another count":     {"orders-0:50", "orders-2:71"},
		"by its topic":         {"orders", "orders-2:71"},
		"what became absent":   {"orders-0:51", "orders-2:70"},
		"everything unlooked":  {"*"},
		"of another partition": {"orders-1:51", "orders-2:71"},
	} {
		t.Run(name, func(t *testing.T) {
			refuse(t, Next(Restore, backup(t, accept(scopes...)...), ran), Blocked, "restore/rewind")
		})
	}
	d := act(t, Next(Restore, backup(t, accept("orders-0:51", "orders-2:71")...), ran), Write)
	want := []Change{{tp("orders", 0), source(t, 399).Restore()}, {tp("orders", 2), none.Restore()}}
	if !slices.Equal(d.Writes, want) {
		t.Errorf("writes %v, want %v: what was absent becomes absent", d.Writes, want)
	}
	far := holding(t, source(t, 399), source(t, 9), source(t, math.MaxInt64))
	act(t, Next(Restore, backup(t, accept("orders-2:9223372036854775808")...), far), Write)
}

func TestRestoreRefusesWhatIsOfAnotherLog(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Observed)
		reason Reason
	}{
		"the topic was created again": {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.TopicID = offsetmap.TopicID{9} }) }, Moved},
		"the log was cut":             {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.Range.End = next(t, 399) }) }, Moved},
		"its end is not known":        {func(w *Observed) { edit(w, 0, func(m *offsetmap.Measured) { m.Range.End = offsetmap.NextOffset{} }) }, Unknown},
		"the partition is gone": {func(w *Observed) {
			all, _ := w.Measured.Get()
			all = maps.Clone(all)
			delete(all, tp("orders", 0))
			w.Measured = offsetmap.Known(all)
		}, Moved},
	} {
		t.Run(name, func(t *testing.T) {
			w := holding(t, source(t, 100), source(t, 9))
			c.change(&w)
			refuse(t, Next(Restore, backup(t), w), c.reason, "restore/other-log")
			w = holding(t, source(t, 399), source(t, 9))
			c.change(&w)
			act(t, Next(Restore, backup(t), w), Done) // nothing is put back
		})
	}
	w := holding(t, source(t, 100), source(t, 9))
	edit(&w, 0, func(m *offsetmap.Measured) { m.Range.End = next(t, 400) })
	act(t, Next(Restore, backup(t), w), Write)
}

func TestRestoreHoldsTheWorldToItsBackup(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Observed)
		reason Reason
		check  string
	}{
		"it runs":                {func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 1}) }, Moved, "connector/state"},
		"it is paused":           {func(w *Observed) { w.Connector = offsetmap.Known(Connector{State: "PAUSED"}) }, Moved, "connector/state"},
		"no connector":           {func(w *Observed) { w.Connector = offsetmap.Absent[Connector]() }, Moved, "connector/state"},
		"another source":         {func(w *Observed) { w.SourceID = offsetmap.Known("other") }, Moved, "source/cluster"},
		"another target":         {func(w *Observed) { w.TargetID = offsetmap.Known("other") }, Moved, "target/cluster"},
		"the producer elsewhere": {func(w *Observed) { w.ProducerID = offsetmap.Known("other") }, Moved, "worker/producer-cluster"},
		"offsets not known":      {func(w *Observed) { w.Stored = offsetmap.NotKnown[Stored](errLost) }, Unknown, "offsets/unknown"},
		"source not measured": {func(w *Observed) {
			w.Measured = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.Measured](errLost)
		}, Unknown, "source/range-unknown"},
		"journal not read":           {func(w *Observed) { w.History = offsetmap.NotKnown[History](errors.New("input/output error")) }, Unknown, "journal/unreadable"},
		"an entry of nobody's alias": {func(w *Observed) { w.Stored = offsetmap.Known(Stored{Foreign: []string{"{}"}}) }, Moved, "offsets/foreign"},
	} {
		t.Run(name, func(t *testing.T) {
			w := holding(t, none, source(t, 9))
			c.change(&w)
			refuse(t, Next(Restore, backup(t), w), c.reason, c.check)
		})
	}
}

func TestNothingGoesBackByAPlanFromBeforeARestore(t *testing.T) {
	p := plan(t, none)
	w := applied(t, p)
	history(&w, func(h *History) { h.Resumed, h.Stopped, h.RollbackDone, h.Restored = true, true, true, true })
	for _, goal := range []Goal{Rollback, CommitBoundary, RewriteSavepoint} {
		refuse(t, Next(goal, p, w), Moved, "journal/restored")
	}
}
