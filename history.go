package flinkmm2

import (
	"context"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The acts that a journal names.
const (
	actCreate   = "create"
	actPlan     = "plan"
	actWrite    = "apply"
	actStart    = "start"
	actResume   = "resume"
	actStop     = "stop"
	actRestore  = "restore"
	actDelete   = "delete"
	actRollback = "rollback"
)

// history sums up what the journal holds of a plan.
func (m *Migration) history(ctx context.Context, digest string, halted bool) offsetmap.Fact[engine.History] {
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return offsetmap.NotKnown[engine.History](err)
	}
	h := engine.History{StoppedNow: halted}
	begun := false // a resume that the journal does not see the end of
	created, used := false, false
	for _, e := range entries {
		if e.Connector != m.cfg.Connector {
			continue
		}
		switch {
		case e.Act == actCreate && e.Phase == PhaseDone:
			created, used = true, false
		case e.Act == actDelete && e.Phase == PhaseDone:
			created = false
		}
		if e.Plan != digest {
			switch {
			case e.Plan == "":
			case e.Act == actStart, e.Act == actResume:
				h.Other, used = e.Plan, true
			case e.Act == actWrite:
				used = true
			case e.Act == actRollback && e.Phase == PhaseDone && e.Plan == h.Other:
				h.Other = ""
			}
			continue
		}
		switch e.Act {
		case actPlan:
			h.Planned = true
			h.Other = "" // what was started before this plan was made is no news to it
		case actWrite:
			h.Written = true
		case actRestore:
			h.Written = h.Written && e.Phase != PhaseDone
		case actStart:
			if h.StartEnds == nil { // once per plan: a second start reuses the first record
				h.StartEnds = endsOf(e.Ends)
			}
		case actResume:
			begun = e.Phase == PhaseBegin
			h.Resumed = h.Resumed || e.Phase == PhaseDone || e.Phase == PhaseUnknown
		case actStop:
			h.Stopped = true
		case actDelete:
			h.Deleted = true
		case actRollback:
			h.RolledBack = true
		}
	}
	h.Created = created && !used
	h.Resumed = h.Resumed || begun
	return offsetmap.Known(h)
}

func endsOf(list []PartitionEnd) endsByPartition {
	out := make(endsByPartition, len(list))
	for _, e := range list {
		out[e.TopicPartition] = e.End
	}
	return out
}
