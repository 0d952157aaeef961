package flinkmm2

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The acts that a journal names.
const (
	actPositions = "positions"
	actCreate    = "create"
	actPlan      = "plan"
	actWrite     = "apply"
	actVerify    = "verify"
	actWatch     = "watch"
	actStart     = "start"
	actResume    = "resume"
	actStop      = "stop"
	actRestore   = "restore"
	actDelete    = "delete"
	actRollback  = "rollback"
	actPutBack   = "restore-backup"
	actHalt      = "widen-stop"
	actWiden     = "widen"
	actHandBack  = string(engine.HandBack)
	// actOvertaken is a finding of engine.Overtaken behind a resume.
	actOvertaken = "overtaken"
)

// history sums up what the journal holds of a plan, and how many entries that
// was.
func (m *Migration) history(ctx context.Context, digest string, halted bool, givenUp ...string) (offsetmap.Fact[engine.History], int) {
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return offsetmap.NotKnown[engine.History](err), 0
	}
	h := engine.History{StoppedNow: halted}
	// What a wave handed to Flink that was given up is no matter of another one.
	entries, all := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return isHandBack(e.Act) && slices.Contains(givenUp, e.Plan) }), len(entries)
	var others rivals
	var stood map[string]string // before a resume that may not have been sent
	begun := 0                  // resumes that the journal does not see the end of
	lost := 0                   // resumes of which nobody knows whether the worker has heard
	created, used := false, false
	handed := "" // the plan whose boundary Flink has, and whose savepoint is not older than this one's
	savepoint := ""
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
		if e.Act == actPutBack { // also one that failed may have written a part
			h.Restored, h.RollbackDone = true, false
		}
		switch {
		case e.Act == actResume && e.Phase == PhaseFailed:
			h.Again = false
			if h.Stood == nil {
				h.Stood = stood
			}
		case e.Act == actResume:
			if h.Stood != nil {
				stood, h.Stood = h.Stood, nil
			}
			h.Again = e.Plan == digest
		case e.Act == actStop, e.Act == actHalt:
			h.Again = false
		}
		if e.Plan == digest && e.Phase != PhaseFailed && (e.Act == actHalt || e.Act == actResume) {
			h.Halted = e.Act == actHalt
		}
		if len(e.Stood) > 0 {
			h.Stood = maps.Clone(h.Stood)
			if h.Stood == nil {
				h.Stood = map[string]string{}
			}
			maps.Copy(h.Stood, e.Stood)
		}
		if e.Plan != digest {
			if e.Plan != "" {
				others.see(e)
			}
			h.RollbackDone = h.RollbackDone && (e.Act != actResume || e.Phase == PhaseFailed)
			used = used || e.Plan != "" && (e.Act == actStart || e.Act == actResume || e.Act == actWrite)
			continue
		}
		switch e.Act {
		case actPlan:
			h.Planned = true
			h.Restored = false
			others, savepoint = rivals{}, e.Savepoint // what was done before this plan was made is no news to it
		case actWrite:
			h.Written = true
		case actRestore:
			h.Written = h.Written && e.Phase != PhaseDone
		case actStart:
			if h.StartEnds == nil { // once per plan: a second start reuses the first record
				h.StartEnds = endsOf(e.Ends)
			}
		case actResume:
			if e.Phase == PhaseBegin {
				begun++
			} else {
				begun--
			}
			if e.Phase == PhaseUnknown {
				lost++
			}
			h.Resumed = h.Resumed || e.Phase == PhaseDone || e.Phase == PhaseUnknown
			h.RollbackDone, h.Proven = false, false
		case actWatch:
			h.Proven = h.Proven || e.Shard == "" && e.Phase == PhaseDone
		case actStop:
			h.Stopped = true
		case actOvertaken:
			h.Overtaken = true
		case actDelete:
			h.Deleted = true
		case actRollback:
			h.RolledBack, h.RollbackDone = true, e.Phase == PhaseDone
		}
	}
	// Of every connector, and also while the plan was made: what Flink reads from
	// its group may be what this plan is about.
	if last := lastHandBack(entries); h.Planned && last.plan != digest && last.forbids(savepoint) {
		handed = last.plan
	}
	h.GaveBack = slices.ContainsFunc(handBacks(entries), func(i int) bool { return entries[i].Plan == digest && entries[i].Connector == m.cfg.Connector })
	h.Created = created && !used
	h.Resumed, h.ResumePending = h.Resumed || begun > 0, begun+lost > 0
	h.Other, h.Writing, h.HandedBack = others.resumes.last(), others.writes.last(), cmp.Or(others.handBacks.last(), handed)
	return offsetmap.Known(h), all
}

// rivals is what other plans did on the connector.
type rivals struct {
	resumes   openActs // never closed by their end: what was resumed ran
	writes    openActs
	handBacks openActs // never closed: Flink may run from then on
}

func (r *rivals) see(e Entry) {
	switch e.Act {
	case actResume:
		r.resumes.see(e)
	case actWrite, actRestore:
		r.writes.see(e)
		if e.Phase == PhaseDone { // all that the plan writes was read back
			r.writes.close(e.Plan)
		}
	case actHandBack, actCommit, actRewrite:
		r.handBacks.see(e)
	case actRollback:
		if e.Phase == PhaseDone {
			r.resumes.close(e.Plan)
			r.writes.close(e.Plan)
		}
	}
}

// openActs are plans whose acts were sent or may be yet, in the order in which
// they were begun. Several programs may have begun the same one.
type openActs []string

func (o *openActs) see(e Entry) {
	switch e.Phase {
	case PhaseBegin:
		*o = append(*o, e.Plan)
	case PhaseFailed: // one of them was not sent
		if i := slices.Index(*o, e.Plan); i >= 0 {
			*o = slices.Delete(*o, i, i+1)
		}
	}
}

func (o *openActs) close(plan string) {
	*o = slices.DeleteFunc(*o, func(p string) bool { return p == plan })
}

// last is empty when there is none.
func (o *openActs) last() string {
	if len(*o) == 0 {
		return ""
	}
	return (*o)[len(*o)-1]
}

func endsOf(list []PartitionEnd) endsByPartition {
	out := make(endsByPartition, len(list))
	for _, e := range list {
		out[e.TopicPartition] = e.End
	}
	return out
}
