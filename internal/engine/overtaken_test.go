package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestWhatConnectHoldsBehindTheResume(t *testing.T) {
	earlier := offsetmap.EarlierPlan{Digest: configDigest, Partitions: []offsetmap.EarlierPartition{{TopicPartition: tp("audit", 0), Offset: source(t, 40)}}}
	body := plan(t, source(t, 10)).Body // orders-0: 399, orders-1: cleared, orders-2: 999
	body.Earlier = []offsetmap.EarlierPlan{earlier}
	p, err := offsetmap.Seal(body)
	if err != nil {
		t.Fatal(err)
	}
	type offsets = map[offsetmap.TopicPartition]offsetmap.SourceOffset
	for name, c := range map[string]struct {
		change  func(s *Stored)
		found   []string // scopes
		further []string
	}{
		"as planned":          {func(*Stored) {}, nil, nil},
		"committed":           {func(s *Stored) { s.Offsets[tp("orders", 0)] = source(t, 400) }, nil, []string{"orders-0"}},
		"committed from 0 on": {func(s *Stored) { s.Offsets[tp("orders", 1)] = source(t, 0) }, nil, []string{"orders-1"}},
		"added and committed": {func(s *Stored) { s.Offsets[tp("orders", 3)] = source(t, 7) }, nil, []string{"orders-3"}},
		"one below":           {func(s *Stored) { s.Offsets[tp("orders", 0)] = source(t, 398) }, []string{"orders-0"}, nil},
		"as before the plan":  {func(s *Stored) { s.Offsets[tp("orders", 0)] = source(t, 10) }, []string{"orders-0"}, nil},
		"cleared":             {func(s *Stored) { delete(s.Offsets, tp("orders", 2)) }, []string{"orders-2"}, nil},
		"earlier further on":  {func(s *Stored) { s.Offsets[tp("audit", 0)] = source(t, 41) }, nil, nil},
		"earlier set back":    {func(s *Stored) { s.Offsets[tp("audit", 0)] = source(t, 39) }, []string{"audit-0"}, nil},
		"an entry that no connector of the plan writes": {func(s *Stored) { s.Foreign = []string{`{"cluster":"other"}`} }, []string{""}, nil},
		"all at once": {func(s *Stored) {
			s.Offsets = offsets{tp("orders", 0): source(t, 400), tp("orders", 1): source(t, 5)}
		}, []string{"audit-0", "orders-2"}, []string{"orders-0", "orders-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Stored{Offsets: plannedOffsets(p)}
			s.Offsets[tp("audit", 0)] = source(t, 40)
			c.change(&s)
			found, ahead := SinceResume(p, s)
			var scopes []string
			for _, f := range found {
				if f.Check != Overtaken || f.Severity != offsetmap.Block || f.Unmade {
					t.Errorf("%+v", f)
				}
				scopes = append(scopes, f.Scope)
			}
			if diff := cmp.Diff(c.found, scopes); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			want := offsets{}
			for _, scope := range c.further {
				at, err := offsetmap.ParseTopicPartition(scope)
				if err != nil {
					t.Fatal(err)
				}
				want[at] = s.Offsets[at]
			}
			if diff := cmp.Diff(len(want), len(ahead)); diff != "" {
				t.Errorf("ahead: %v", ahead)
			}
			for at, m := range want {
				if ahead[at] != m {
					t.Errorf("ahead: %v, want %s at %s", ahead, m, at)
				}
			}
		})
	}
}

// However the offsets look by then: what MirrorMaker 2 commits hides where it began.
func TestAStartThatWasOvertakenStaysSo(t *testing.T) {
	p := plan(t, offsetmap.SourceOffset{})
	w := applied(t, p)
	history(&w, func(h *History) { h.StartEnds, h.Resumed, h.Overtaken = ends(t, p), true, true })
	w.Connector = offsetmap.Known(Connector{State: "RUNNING", Tasks: 1})
	refuse(t, Next(Start, p, w), Moved, Overtaken)
	act(t, Next(Rollback, p, w), Stop)
	for _, goal := range []Goal{Widen, Continue} {
		w.Connector, w.Settled, w.StoodStill = offsetmap.Known(Connector{State: "STOPPED"}), true, true
		d := Next(goal, p, w)
		if d.Refusal == nil || !slices.ContainsFunc(d.Refusal.Findings, func(f offsetmap.Finding) bool { return f.Check == Overtaken }) {
			t.Errorf("%s: %+v", goal, d)
		}
	}
}
