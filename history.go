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
func (m *Migration) history(ctx context.Context, digest string) offsetmap.Fact[engine.History] {
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return offsetmap.NotKnown[engine.History](err)
	}
	var h engine.History
	begun := false // a resume that the journal does not see the end of
	for _, e := range entries {
		if e.Connector != m.cfg.Connector {
			continue
		}
		switch {
		case e.Act == actCreate && e.Phase == Ended:
			h.Created = true
		case e.Act == actDelete && e.Phase == Ended:
			h.Created = false
		}
		if e.Plan != digest {
			continue
		}
		switch e.Act {
		case actPlan:
			h.Planned = true
		case actStart:
			if h.StartEnds == nil { // once per plan: a second start reuses the first record
				h.StartEnds = endsOf(e.Ends)
			}
		case actResume:
			begun = e.Phase == Begin
			h.Resumed = h.Resumed || e.Phase == Ended || e.Phase == Unclear
		case actRollback:
			h.RolledBack = true
		}
	}
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
