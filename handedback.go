package flinkmm2

import (
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

// handBack is the last commit of a boundary that was sent, or may have been.
// Flink may run since.
type handBack struct {
	plan string // digest; empty when there was none
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
	sent := sentCommits(entries)
	if len(sent) == 0 {
		return handBack{}
	}
	last := sent[len(sent)-1]
	h := handBack{plan: entries[last].Plan, spent: map[string]bool{}}
	for _, i := range sent {
		h.unsaid = h.unsaid || entries[i].Savepoint == ""
	}
	for _, e := range entries[:last+1] {
		if e.Savepoint != "" {
			h.spent[e.Savepoint] = true
		}
	}
	return h
}

// sentCommits returns the places at which commits of boundaries were begun, less
// those that were certainly not sent.
func sentCommits(entries []Entry) []int {
	var sent []int
	for i, e := range entries {
		switch {
		case e.Act != actCommit:
		case e.Phase == PhaseBegin:
			sent = append(sent, i)
		case e.Phase == PhaseFailed:
			same := func(i int) bool {
				return entries[i].Plan == e.Plan && entries[i].Group == e.Group && entries[i].Connector == e.Connector
			}
			if at := slices.IndexFunc(sent, same); at >= 0 {
				sent = slices.Delete(sent, at, at+1)
			}
		}
	}
	return sent
}

// handed is what the journal says of the commits of one plan's boundary.
type handed struct {
	// since is the moment before the last commit to the group that was read back;
	// zero when there was none.
	since  time.Time
	sent   bool     // one to the group was sent, or may have been
	others []string // the other groups of which that is so, sorted
}

func (m *Migration) handedTo(ctx context.Context, digest, group string) (h handed, err error) {
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		return h, err
	}
	ours := func(e Entry) bool { return e.Act == actCommit && e.Plan == digest && e.Connector == m.cfg.Connector }
	for _, i := range sentCommits(entries) {
		switch e := entries[i]; {
		case !ours(e):
		case e.Group == group:
			h.sent = true
		default:
			h.others = append(h.others, e.Group)
		}
	}
	slices.Sort(h.others)
	h.others = slices.Compact(h.others)
	var begun time.Time
	for _, e := range entries {
		if !ours(e) || e.Group != group {
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

// findings holds that the boundary went to one group alone: from each Flink may
// run, and nothing shows whether it does.
func (h handed) findings(group string) []offsetmap.Finding {
	out := make([]offsetmap.Finding, 0, len(h.others))
	for _, other := range h.others {
		out = append(out, offsetmap.Finding{
			Check: "rollback/another-group", Severity: offsetmap.Block, Scope: other, Acceptable: offsetmap.Exact,
			Detail: fmt.Sprintf("the boundary of the plan was committed to group %s, or may have been, so Flink may run from that one; with one from group %s two would write", other, group),
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
		Detail: fmt.Sprintf("the boundary of plan %s was committed for Flink, so Flink may run, and %s", h.plan, why),
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
