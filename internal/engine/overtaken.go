package engine

import (
	"fmt"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Overtaken is the check that nobody wrote Connect's offsets between the last look of
// a start and its resume. Connect has no conditional write, and a journal of their own
// hides two plans from each other: only what the connector began at can show it.
const Overtaken = "start/overtaken"

// SinceResume judges the offsets of a connector that was just resumed. MirrorMaker 2
// goes on behind the plan's M and commits what it has copied, so what is below, or
// absent, is not its own: that is found. What lies above may be, and is returned, as is
// what the plan does not have, since a partition may have been added: whether it was
// copied decides.
func SinceResume(plan *offsetmap.Plan, stored Stored) (found []offsetmap.Finding, ahead map[offsetmap.TopicPartition]offsetmap.SourceOffset) {
	ahead = map[offsetmap.TopicPartition]offsetmap.SourceOffset{}
	for _, f := range stored.Foreign {
		found = append(found, OvertakenAt("", fmt.Sprintf("Connect holds an entry that is none of source alias %q: %s", plan.Body.Connector.SourceAlias, f)))
	}
	for _, r := range plan.Diff(stored.Offsets).Rows {
		switch {
		case r.Standing == offsetmap.AsPlanned:
		case r.Standing == offsetmap.Rewound, r.Stored.Compare(r.Planned) < 0:
			found = append(found, OvertakenAt(r.TopicPartition.String(), fmt.Sprintf("Connect holds %s, the plan %s", r.Stored, r.Planned)))
		default:
			ahead[r.TopicPartition] = r.Stored
		}
	}
	slices.SortStableFunc(found, offsetmap.Finding.Compare)
	return found, ahead
}

// OvertakenAt is the finding for one partition, or for none.
func OvertakenAt(scope, detail string) offsetmap.Finding {
	return offsetmap.Finding{
		Check: Overtaken, Severity: offsetmap.Block, Scope: scope, Acceptable: offsetmap.Never,
		Detail: detail + ": the connector may not have begun at C, as when somebody writes between the last look and the resume; stop it now",
	}
}
