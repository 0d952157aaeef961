package offsetmap

import "fmt"

// Row is the decision for one partition: what was found and what will be
// written.
type Row struct {
	TopicPartition
	TopicID     TopicID    `json:"topicId"`
	Found       *Found     `json:"found"`  // what the state says, raw; null when it never names the partition
	Origin      Origin     `json:"origin"` // where Found comes from
	Rule        Rule       `json:"rule"`   // how Next came out of Found
	Next        NextOffset `json:"next"`   // C
	Write       Write      `json:"write"`  // set M = C - 1, or clear
	LogStart    NextOffset `json:"logStart"`
	LogEnd      NextOffset `json:"logEnd"`
	LastStable  NextOffset `json:"lastStable"`
	TargetTopic string     `json:"targetTopic"`
	TargetEnd   NextOffset `json:"targetEnd"`
	Group       NextOffset `json:"group"` // the old group's committed offset, raw; null when none
	// Backup is the connector's stored offset when the plan was made; null when
	// absent, which restoring makes absent again.
	Backup SourceOffset `json:"backup"`
	// Lost counts the offsets of expired data that a person accepted to lose:
	// from the stored C to the log start.
	Lost int64 `json:"lost"`
}

// Found is what the old job's state says of one partition, as it says it: the
// fields of a Position without its name.
type Found struct {
	Next   NextOffset      `json:"next"`
	Unread Marker          `json:"unread"`
	Stop   NextOffset      `json:"stop"`
	State  AssignmentState `json:"state"`
	Start  NextOffset      `json:"start"`
}

// Origin names the evidence that a position comes from.
type Origin string

const (
	FromSavepoint Origin = "savepoint" // a reader's split
	FromGroup     Origin = "group"     // the group's committed offset
	FromNothing   Origin = "none"      // only the brokers know the partition, or the enumerator
)

var origins = []Origin{FromSavepoint, FromGroup, FromNothing}

// Rule names the way from a position to C. No other way exists.
type Rule string

const (
	// RuleStored: C as stored.
	RuleStored Rule = "stored"
	// RuleMarkedEmpty: a marker on a partition without records: C = log end.
	RuleMarkedEmpty Rule = "marked-empty"
	// RuleUnnamedEmpty: never named, log start = log end = 0: C = 0.
	RuleUnnamedEmpty Rule = "unnamed-empty"
	// RuleEarliestAccepted: the marker earliest, accepted: C = log start.
	RuleEarliestAccepted Rule = "earliest-accepted"
	// RuleUnnamedAccepted: never named, accepted as unread: C = log start.
	RuleUnnamedAccepted Rule = "unnamed-accepted"
	// RuleExpiredAccepted: C below the log start, the loss accepted: C = log
	// start, Lost > 0.
	RuleExpiredAccepted Rule = "expired-accepted"
)

var rules = []Rule{RuleStored, RuleMarkedEmpty, RuleUnnamedEmpty, RuleEarliestAccepted, RuleUnnamedAccepted, RuleExpiredAccepted}

// Range returns the row's bounds as measured when the plan was made.
func (r Row) Range() Range { return Range{Start: r.LogStart, End: r.LogEnd, Stable: r.LastStable} }

// Recheck holds a fresh measurement of the same partition against the row:
// the topic must be the same topic, C must still be readable, and the log must
// not have been cut. The findings are in the words of the rules; none means
// that the row still holds.
func (r Row) Recheck(now Measured) []Finding {
	var out []Finding
	block := func(check, format string, args ...any) {
		out = append(out, Finding{Check: check, Severity: Block, Scope: r.String(), Detail: fmt.Sprintf(format, args...), Acceptable: Never})
	}
	rg := now.Range
	switch {
	case now.TopicPartition != r.TopicPartition:
		block(checkRangeUnknown, "%s was measured instead", now)
		out[0].Unmade = true
		return out
	case now.TopicID != r.TopicID:
		block(checkRecreated, "the topic was created again since the plan was made: its id is %s, the plan has %s", now.TopicID, r.TopicID)
		return out // the numbers are those of another log
	case rg.Start.IsNone() || rg.End.IsNone():
		block(checkRangeUnknown, "log start %s and log end %s could not both be measured", rg.Start, rg.End)
		out[0].Unmade = true
		return out
	}
	if n, _ := rg.Start.Sub(r.Next); n > 0 {
		last, _ := rg.Start.Value()
		block(checkExpired, "%d offsets from C = %s to %d are gone since the plan was made: the log starts at %s now, it started at %s", n, r.Next, last-1, rg.Start, r.LogStart)
	}
	if rg.End.Compare(r.LogEnd) < 0 {
		block(checkTruncated, "the log ends at %s now, it ended at %s when the plan was made", rg.End, r.LogEnd)
	}
	return out
}
