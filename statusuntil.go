package flinkmm2

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// until says until when a start and each way back are possible.
func (m *Migration) until(ctx context.Context, s *Status, plan *offsetmap.Plan, facts preflight.Facts, seen engine.Observed) {
	probe := m.probe(facts.Topics)
	at := make([]offsetmap.Position, 0, len(plan.Body.Rows))
	for _, r := range plan.Body.Rows {
		at = append(at, offsetmap.Position{TopicPartition: r.TopicPartition, Next: r.Next})
	}
	question := preflight.Question{Origin: offsetmap.FromSavepoint, Positions: at, Attestations: plan.Body.Attestations}
	way := "savepoint"
	if plan.Body.Savepoint == nil {
		question.Origin, way = offsetmap.FromGroup, "committed offsets"
	}
	start, rollback := probe.Deadlines(ctx, facts, question)
	switch s.Stage {
	case StagePlanned, StageApplying, StageApplied, StageStarted:
		latest := sooner(preflight.LatestOf(start), plan.Body.ExpiresAt, "the plan expires")
		s.LatestStart = &latest
	case StageUnknown:
		latest := preflight.Latest{Unknown: "it is not seen whether the plan was started"}
		s.LatestStart = &latest
	}
	s.LatestRollback = append(s.LatestRollback, WayBack{way, preflight.LatestOf(rollback)})
	switch s.Stage {
	case StageRunning, StageProven, StageStopped, StageHalted, StageRollingBack, StageRolledBack, StageHandedBack, StageOvertaken:
		if back, ran := boundaryNow(plan, seen); ran {
			records, _ := probe.Deadlines(ctx, facts, preflight.Question{Origin: offsetmap.FromSavepoint, Positions: back})
			s.LatestRollback = append(s.LatestRollback, WayBack{"boundary", preflight.LatestOf(records)})
		}
		s.LatestRollback = append(s.LatestRollback, m.attestedWindow(ctx, plan)...)
		s.LatestRollback = append(s.LatestRollback, m.groupsUntil(ctx, plan)...)
	}
	slices.SortStableFunc(s.LatestRollback, nearest)
}

// sooner is the earlier of a deadline and a moment.
func sooner(l preflight.Latest, at offsetmap.Time, why string) preflight.Latest {
	if l.At != nil && l.At.Before(at.Time) {
		return l
	}
	return preflight.Latest{At: &at, Why: why, Unknown: l.Unknown}
}

// nearest puts what ends first in front, then what is not known, then what does not end.
func nearest(a, b WayBack) int {
	rank := func(w WayBack) int {
		switch {
		case w.At != nil:
			return 0
		case w.Unknown != "":
			return 1
		default:
			return 2
		}
	}
	if rank(a) == 0 && rank(b) == 0 {
		return a.At.Compare(b.At.Time)
	}
	return cmp.Compare(rank(a), rank(b))
}

// boundaryNow is C' of this moment, by what Connect holds, where the connector ran.
func boundaryNow(plan *offsetmap.Plan, seen engine.Observed) (at []offsetmap.Position, ran bool) {
	history, _ := seen.History.Get()
	stored, ok := seen.Stored.Get()
	if !ok || !history.Resumed && !history.Stopped {
		return nil, false
	}
	for _, r := range plan.Body.Rows {
		next := r.Next
		if m, there := stored.Offsets[r.TopicPartition]; there {
			next = m.Next()
		}
		at = append(at, offsetmap.Position{TopicPartition: r.TopicPartition, Next: next})
	}
	return at, true
}

// attestedWindow is how long the way back was to stay open, from the first resume on.
func (m *Migration) attestedWindow(ctx context.Context, plan *offsetmap.Plan) []WayBack {
	entries, _ := m.cfg.Journal.Read(ctx) // what it does not tell stands in Unknown
	i := slices.IndexFunc(entries, func(e Entry) bool {
		return e.Act == actResume && e.Phase == PhaseBegin && e.Plan == plan.Digest && e.Connector == m.cfg.Connector
	})
	word := plan.Body.Attestations.RollbackWindow
	if i < 0 || word == nil {
		return nil
	}
	window, err := time.ParseDuration(word.Value)
	if err != nil {
		return nil // attest/rollback-window has said so
	}
	end := offsetmap.At(entries[i].At.Add(window))
	return []WayBack{{"rollbackWindow", preflight.Latest{At: &end, Why: fmt.Sprintf("the window of %s that %s attested is over, from the resume on", word.Value, word.By)}}}
}

// groupsUntil is until when the groups to which C' was committed hold it.
func (m *Migration) groupsUntil(ctx context.Context, plan *offsetmap.Plan) []WayBack {
	entries, _ := m.cfg.Journal.Read(ctx)
	since := map[string]time.Time{}
	for _, i := range handBacks(entries) {
		if e := entries[i]; e.Plan == plan.Digest && e.Connector == m.cfg.Connector && e.Group != "" {
			since[e.Group] = e.At
		}
	}
	if len(since) == 0 {
		return nil
	}
	var out []WayBack
	settings := m.offsetSettings(ctx)
	for group, at := range since {
		kept := settings.expiry(at)
		w := WayBack{Way: "group " + group, Latest: preflight.Latest{Unknown: kept.Unknown}}
		if kept.Earliest != nil {
			w.At, w.Why = kept.Earliest, fmt.Sprintf("its offsets may be dropped: %s is %d", preflight.KeyOffsetsRetention, *kept.RetentionMinutes)
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b WayBack) int { return cmp.Or(nearest(a, b), cmp.Compare(a.Way, b.Way)) })
	return out
}
