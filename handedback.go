package flinkmm2

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Acts of hand-backs in older journals.
const (
	actCommit  = "commit-boundary"
	actRewrite = "rewrite-savepoint"
)

// isHandBack reports whether an act gave Flink something to go on from.
func isHandBack(act string) bool { return act == actHandBack || act == actCommit || act == actRewrite }

// handBack is the last hand-back that was sent, or may have been. Flink may run since.
type handBack struct {
	plan string // digest; empty when there was none
	form handedForm
	// spent are the savepoints that plans had been made from by then: no job that
	// ran since has written one of them.
	spent map[string]bool
	// unsaid says that the journal does not tell which savepoint the plan was made
	// from, so that any may be spent.
	unsaid bool
}

// lastHandBack reads the entries of every connector: a savepoint is spent for
// all of them.
func lastHandBack(entries []Entry) handBack {
	sent := handBacks(entries)
	if len(sent) == 0 {
		return handBack{}
	}
	last := sent[len(sent)-1]
	h := handBack{plan: entries[last].Plan, form: entries[last].form(), spent: map[string]bool{}}
	for _, i := range sent {
		h.unsaid = h.unsaid || entries[i].Savepoint == ""
	}
	for _, e := range entries[:last+1] {
		for _, id := range []string{e.Savepoint, e.Rewritten} {
			if id != "" {
				h.spent[id] = true
			}
		}
	}
	return h
}

// handBacks returns the places at which Flink was given something to go on from, less
// those at which it certainly was not.
func handBacks(entries []Entry) []int {
	var sent []int
	for i, e := range entries {
		switch {
		case !isHandBack(e.Act):
		case e.Phase == PhaseBegin:
			sent = append(sent, i)
		case e.Phase == PhaseFailed:
			same := func(i int) bool {
				return entries[i].Plan == e.Plan && entries[i].form() == e.form() && entries[i].Connector == e.Connector
			}
			if at := slices.IndexFunc(sent, same); at >= 0 {
				sent = slices.Delete(sent, at, at+1)
			}
		}
	}
	return sent
}

// handedForm is what Flink goes on from: its form, and of which group, or of which
// savepoint the id, with a digest of its positions: where those lie in files of their
// own the id does not tell.
type handedForm struct {
	form                      HandBackForm
	group, savepoint, content string
}

func (e Entry) form() handedForm {
	f := handedForm{e.Form, e.Group, e.Rewritten, e.Content}
	switch e.Act {
	case actCommit:
		f.form = FormGroup
	case actRewrite:
		f.form = FormSavepoint
	}
	return f
}

// scope is what an acceptance names it by: a group and a savepoint with their ids.
func (f handedForm) scope() string {
	switch f.form {
	case FormGroup:
		return string(f.form) + ":" + f.group
	case FormSavepoint:
		return string(f.form) + ":" + f.savepoint
	default:
		return string(f.form)
	}
}

// String is what Flink goes on from, in a sentence.
func (f handedForm) String() string {
	switch f.form {
	case FormGroup:
		return "from the offsets of group " + f.group
	case FormSavepoint:
		return "from a savepoint with C' (its _metadata has " + f.savepoint + ")"
	case FormOldSavepoint:
		return "from the savepoint of the plan"
	default:
		return "from C' as starting offsets (" + string(f.form) + ")"
	}
}

// handed is what the journal says of the hand-backs of one plan.
type handed struct {
	// since is the moment before the last one in the form that is asked for which was
	// read back; zero when there was none.
	since  time.Time
	sent   bool         // one in that form was sent, or may have been
	others []handedForm // the other forms of which that is so, sorted, each once
}

func (m *Migration) handedTo(ctx context.Context, digest string, to handedForm) (h handed, err error) {
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return h, err
	}
	ours := func(e Entry) bool { return isHandBack(e.Act) && e.Plan == digest && e.Connector == m.cfg.Connector }
	for _, i := range handBacks(entries) {
		switch e := entries[i]; {
		case !ours(e):
		case e.form() == to:
			h.sent = true
		default:
			h.others = append(h.others, e.form())
		}
	}
	slices.SortFunc(h.others, func(a, b handedForm) int {
		return cmp.Or(strings.Compare(a.scope(), b.scope()), strings.Compare(a.content, b.content))
	})
	h.others = slices.CompactFunc(h.others, func(a, b handedForm) bool { return a.scope() == b.scope() })
	var begun time.Time
	for _, e := range entries {
		if !ours(e) || e.form() != to {
			continue
		}
		switch e.Phase {
		case PhaseBegin:
			begun = e.At
		case PhaseDone:
			h.since = begun
		}
	}
	return h, nil
}

// toGroup reports whether C' went, or may have gone, to a group.
func (h handed) toGroup(id string) bool {
	return slices.ContainsFunc(h.others, func(f handedForm) bool { return f.form == FormGroup && f.group == id })
}

// findings holds that Flink was given one thing alone to go on from: it may run from
// each, and nothing shows whether it does.
func (h handed) findings(to handedForm) []offsetmap.Finding {
	var out []offsetmap.Finding
	for _, other := range h.others {
		out = append(out, offsetmap.Finding{
			Check: "rollback/another-form", Severity: offsetmap.Block, Scope: other.scope(), Acceptable: offsetmap.Exact,
			Detail: fmt.Sprintf("the plan was handed back to Flink, or may have been, so that it goes on %s; with a job that goes on %s two would write", other, to),
		})
	}
	return out
}

// forbids reports whether a plan from the savepoint, empty where that is not
// known, may start a second writer.
func (h handBack) forbids(savepoint string) bool {
	return h.plan != "" && (h.unsaid || savepoint == "" || h.spent[savepoint])
}

// savepointID names a savepoint by its content, wherever it lies: the SHA-256 of
// its _metadata, which holds the checkpoint id and the names of all other files.
// Without a file of that name it is a digest over all of them.
func savepointID(s *offsetmap.Savepoint) string {
	if s == nil {
		return ""
	}
	all := make([]string, 0, len(s.Files))
	for _, f := range s.Files {
		if path.Base(f.Name) == "_metadata" {
			return "sha256:" + f.SHA256
		}
		all = append(all, f.SHA256)
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// notHandedBack is what the journal says against a new plan from the savepoint.
// The attestation that Flink has ended cannot stand against it: that may be the
// one of the night before.
func (m *Migration) notHandedBack(ctx context.Context, s *offsetmap.Savepoint) []offsetmap.Finding {
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return []offsetmap.Finding{unreadable(err)}
	}
	h := lastHandBack(entries)
	if !h.forbids(savepointID(s)) {
		return nil
	}
	why := "this savepoint is older than that"
	if s == nil {
		why = "a group does not tell whether what it holds is older than that; plan from a savepoint that Flink has written since"
	} else if h.unsaid {
		why = "the journal does not tell which savepoints are older than that"
	}
	return []offsetmap.Finding{{
		Check: "journal/handed-back", Severity: offsetmap.Block, Acceptable: offsetmap.Never,
		Detail: fmt.Sprintf("plan %s was handed back to Flink, which was to go on %s, so Flink may run, and %s", h.plan, h.form, why),
	}}
}

func unreadable(err error) offsetmap.Finding {
	return offsetmap.Finding{
		Check: "journal/unreadable", Severity: offsetmap.Block, Acceptable: offsetmap.Never, Unmade: true,
		Detail: fmt.Sprintf("journal could not be found out: %v", err),
	}
}

// withFindings adds findings to a report, which has no rows when one blocks.
func withFindings(r preflight.Report, more []offsetmap.Finding) preflight.Report {
	r.Findings = slices.Concat(r.Findings, more)
	slices.SortStableFunc(r.Findings, offsetmap.Finding.Compare)
	if r.Err() != nil {
		r.Rows = nil
	}
	return r
}
