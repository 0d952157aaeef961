package flinkmm2

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// auditSkew is how far the clocks of those who write to a journal may differ.
const auditSkew = 5 * time.Minute

// journalStory is what the journal tells of the plan.
type journalStory struct {
	// The last of each, start the first; nil when there was none.
	planned, start, applied, resumed, back *Entry
	restored                               *Entry // a backup was put back, by which the plan is spent
	writes                                 []Entry
	sent                                   map[string]string // acts whose last entry does not tell how they ended
	startedBefore                          bool              // the rollback began after a resume
	found                                  map[string]bool   // SHA-256 of files that entries name
}

// journalPoint reads the journal.
func (a *audit) journalPoint() AuditPoint {
	f := about(AuditJournal, "the journal is as it was written, line by line")
	content := a.file(RoleJournal)
	if content == nil {
		f.open("the bundle has no journal")
		return f.done()
	}
	entries, err := parseJournal(content)
	if err != nil {
		f.against("%v", err)
		return f.done()
	}
	a.entries = entries
	unchained := 0
	for i, e := range entries {
		if e.Prev == "" {
			unchained++
		}
		if i > 0 && entries[i-1].At.Sub(e.At) > auditSkew {
			f.open("entry %d is %s earlier than the one before it: a clock was wrong", i+1, entries[i-1].At.Sub(e.At).Round(time.Second))
		}
	}
	switch {
	case len(entries) == 0:
		f.open("the journal has no entry")
	case unchained > 0:
		f.open("nothing shows that its first %d of %d entries are as they were written: they have no digest of what stands before them", unchained, len(entries))
	default:
		f.shown("%d entries from %s to %s, each with the digest of all before it", len(entries), offsetmap.At(entries[0].At), offsetmap.At(entries[len(entries)-1].At))
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		f.open("its last line was cut short by a crash")
	}
	return f.done()
}

// storyPoint follows the acts of the plan, in the order in which the engine allows
// them.
func (a *audit) storyPoint() AuditPoint {
	f := about(AuditStory, "the acts were done in an order that leads from the plan to the start, and none after the way back began")
	s := &a.story
	s.sent, s.found = map[string]string{}, map[string]bool{}
	for i := range a.entries {
		e := &a.entries[i]
		if e.Connector != a.plan.Body.Connector.Name {
			continue
		}
		if e.File != "" {
			s.found[e.File] = true
		}
		if e.Act == actPutBack && s.planned != nil { // also one that failed may have written a part
			s.restored = e
		}
		if e.Plan == a.plan.Digest {
			s.see(f, a.plan, i+1, e)
		} else if e.Act == actResume && e.Phase != PhaseFailed && s.planned != nil && s.resumed == nil && s.back == nil {
			f.open("entry %d resumed the connector for plan %s after this plan was made, which a start then refuses", i+1, e.Plan)
		}
	}
	for _, act := range slices.Sorted(maps.Keys(s.sent)) {
		f.open("%s: %s", act, s.sent[act])
	}
	if s.planned == nil {
		f.open("the journal does not say that the plan was made")
	} else if want := savepointID(a.plan.Body.Savepoint); s.planned.Savepoint != want {
		f.against("by the journal the plan was made from the savepoint %q, by the plan from %q", s.planned.Savepoint, want)
	}
	for _, step := range []struct {
		what string
		e    *Entry
	}{{"planned", s.planned}, {"applied", s.applied}, {"ends of the target recorded", s.start}, {"resumed", s.resumed}, {"rolled back", s.back}} {
		if step.e != nil {
			f.shown("%s at %s by %s", step.what, offsetmap.At(step.e.At), who(step.e))
		}
	}
	return f.done()
}

// see holds the next act to those before it.
func (s *journalStory) see(f *finding, plan *offsetmap.Plan, n int, e *Entry) {
	switch e.Phase {
	case PhaseBegin:
		s.sent[e.Act] = fmt.Sprintf("entry %d begins it, and nothing says how it ended", n)
	case PhaseUnknown:
		s.sent[e.Act] = fmt.Sprintf("by entry %d its outcome is unknown", n)
	default:
		delete(s.sent, e.Act)
	}
	if quietActs[e.Act] && e.Act != actPlan || e.Phase == PhaseFailed {
		return
	}
	forward := e.Act == actWrite || e.Act == actStart || e.Act == actResume
	switch {
	case e.Act != actPlan && s.planned == nil:
		f.against("entry %d: %s under a plan that was not made before", n, e.Act)
	case forward && s.back != nil:
		f.against("entry %d: %s after the way back had begun at %s", n, e.Act, offsetmap.At(s.back.At))
	case forward && s.restored != nil:
		f.against("entry %d: %s after a backup had been put back at %s", n, e.Act, offsetmap.At(s.restored.At))
	case forward && e.Phase == PhaseBegin && !e.At.Before(plan.Body.ExpiresAt.Add(auditSkew)):
		f.against("entry %d: %s at %s, and the plan had ended at %s", n, e.Act, offsetmap.At(e.At), plan.Body.ExpiresAt)
	case e.Act == actWrite && s.resumed != nil:
		f.against("entry %d: apply after the start at %s", n, offsetmap.At(s.resumed.At))
	case e.Act == actStart && s.applied == nil:
		f.against("entry %d: start before the plan was applied", n)
	case e.Act == actResume && s.start == nil:
		f.against("entry %d: resume before the target's ends were recorded", n)
	case (e.Act == actRestore || e.Act == actDelete) && s.back == nil:
		f.against("entry %d: %s without a rollback", n, e.Act)
	case isHandBack(e.Act) && (s.back == nil || s.back.Phase != PhaseDone && e.Form != FormOldSavepoint):
		f.against("entry %d: %s before the rollback had ended", n, e.Act)
	}
	switch e.Act {
	case actPlan:
		s.planned = e
	case actWrite:
		if e.Phase == PhaseBegin {
			s.writes = append(s.writes, *e)
		} else {
			s.applied = e
		}
	case actStart:
		if s.start == nil { // a second start reuses the first record
			s.start = e
		}
	case actResume:
		s.resumed = e
	case actRollback:
		if s.back == nil {
			s.startedBefore = s.resumed != nil
		}
		s.back = e
	}
}

// who names everybody that an entry names.
func who(e *Entry) string {
	out := e.By
	if e.Host != "" {
		out += " on " + e.Host
	}
	if j := e.Job; j != nil {
		out += fmt.Sprintf(", Job %s/%s, pod %s", j.Namespace, j.Name, j.Pod)
		if j.Index != nil {
			out += fmt.Sprintf(", index %d", *j.Index)
		}
	}
	if e.Approved != "" {
		out += ", on the word of " + e.Approved
	}
	return out
}
