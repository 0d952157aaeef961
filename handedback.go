package flinkmm2

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

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
	var sent []int // begun commits, less those that were certainly not sent
	for i, e := range entries {
		switch {
		case e.Act != actCommit:
		case e.Phase == PhaseBegin:
			sent = append(sent, i)
		case e.Phase == PhaseFailed:
			if at := slices.IndexFunc(sent, func(i int) bool { return entries[i].Plan == e.Plan && entries[i].Group == e.Group }); at >= 0 {
				sent = slices.Delete(sent, at, at+1)
			}
		}
	}
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
	never := offsetmap.Finding{Severity: offsetmap.Block, Acceptable: offsetmap.Never}
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		never.Check, never.Unmade, never.Detail = "journal/unreadable", true, fmt.Sprintf("journal could not be found out: %v", err)
		return []offsetmap.Finding{never}
	}
	h := lastHandBack(entries)
	if !h.forbids(savepointID(s)) {
		return nil
	}
	never.Check = "journal/handed-back"
	never.Detail = fmt.Sprintf("the boundary of plan %s was committed for Flink, so Flink may run, and this savepoint is older than that", h.plan)
	if h.unsaid {
		never.Detail = fmt.Sprintf("the boundary of plan %s was committed for Flink, so Flink may run, and the journal does not tell which savepoints are older than that", h.plan)
	}
	return []offsetmap.Finding{never}
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
