package offsetmap

import (
	"errors"
	"fmt"
	"slices"
)

// Checks that more than one place names.
const (
	checkExpired           = "source/offset-expired"
	checkAboveStable       = "source/offset-above-stable"
	checkUnreadEarliest    = "source/unread-earliest"
	checkPositionMissing   = "source/position-missing"
	checkPartitionMissing  = "source/partition-missing"
	checkRangeUnknown      = "source/range-unknown"
	checkRangeInconsistent = "source/range-inconsistent"
	checkRecreated         = "source/topic-recreated"
	checkTruncated         = "source/log-truncated"
)

// needs returns the finding without whose acceptance the row must not stand,
// and false when its rule stands by itself.
func (r Row) needs() (Finding, bool) {
	f := Finding{Severity: Block, Scope: r.String(), Acceptable: ByScope}
	switch {
	case r.Rule == RuleExpiredAccepted:
		// The count is part of the scope: who accepted 200 has not accepted 300.
		f.Check, f.Scope, f.Acceptable = checkExpired, fmt.Sprintf("%s:%d", r, r.Lost), Exact
	case r.Rule == RuleEarliestAccepted:
		f.Check = checkUnreadEarliest
	case r.Rule == RuleUnnamedAccepted:
		f.Check = checkPositionMissing
	case r.Next.Compare(r.LastStable) > 0: // only by RuleStored: the others lead to the log start
		f.Check = checkAboveStable
	default:
		return Finding{}, false
	}
	return f, true
}

// Validate reports whether the row follows from what was found, by the rule
// that it names. The error joins every problem.
func (r Row) Validate() error {
	var errs []error
	for _, p := range r.problems() {
		errs = append(errs, fmt.Errorf("%s: %s", r, p))
	}
	return errors.Join(errs...)
}

// problems lists what is wrong with a row by itself.
func (r Row) problems() []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if err := r.TopicPartition.Validate(); err != nil {
		bad("%v", err)
	}
	if err := ValidateTopic(r.TargetTopic); err != nil {
		bad("targetTopic: %v", err)
	}
	if w, err := r.Next.Write(); err != nil {
		bad("next: %v", err)
	} else if w != r.Write {
		bad("write is %s, but C = %s asks for %s", r.Write, r.Next, w)
	}
	if r.Found != nil {
		p := Position{TopicPartition: r.TopicPartition, Next: r.Found.Next, Unread: r.Found.Unread, Stop: r.Found.Stop, State: r.Found.State, Start: r.Found.Start}
		if err := p.Validate(); err != nil {
			bad("found: %v", err)
		}
	}
	if !slices.Contains(rules, r.Rule) {
		bad("rule %q is not one of %q", r.Rule, rules)
	}
	if r.LogStart.IsNone() || r.LogEnd.IsNone() || r.LastStable.IsNone() || r.TargetEnd.IsNone() {
		bad("a bound is missing: log start %s, log end %s, last stable %s, target end %s", r.LogStart, r.LogEnd, r.LastStable, r.TargetEnd)
		return out
	}
	if r.Next.Compare(r.LogStart) < 0 || r.Next.Compare(r.LogEnd) > 0 {
		bad("C = %s lies outside the log, %s to %s", r.Next, r.LogStart, r.LogEnd)
	}
	if r.LastStable.Compare(r.LogStart) < 0 {
		bad("the last stable offset %s lies below the log start %s", r.LastStable, r.LogStart)
	}
	switch {
	case r.unread() != (r.Origin == FromNothing), !slices.Contains(origins, r.Origin):
		bad("origin %q does not fit what was found", r.Origin)
	case r.Origin == FromGroup && (r.Found.Next != r.Group || r.Group.IsNone()):
		bad("origin %q, but what was found, %s, is not what the group holds, %s", r.Origin, r.Found.Next, r.Group)
	}
	if !r.follows() {
		bad("C = %s does not follow by the rule %s from what was found", r.Next, r.Rule)
	}
	if r.Lost != r.gap() {
		bad("lost is %d, what was found makes it %d", r.Lost, r.gap())
	}
	return out
}

// unread reports whether no reader held the partition.
func (r Row) unread() bool { return r.Found == nil || !r.Found.State.IsNone() }

// gap returns the offsets from the C that was found to the C that was decided.
func (r Row) gap() int64 {
	if r.Found == nil {
		return 0
	}
	n, _ := r.Next.Sub(r.Found.Next)
	return n
}

// follows holds C to the rule that the row names.
func (r Row) follows() bool {
	stored := !r.unread() && !r.Found.Next.IsNone()
	marked := !r.unread() && r.Found.Next.IsNone()
	switch r.Rule {
	case RuleStored:
		return stored && r.gap() == 0
	case RuleExpiredAccepted:
		return stored && r.gap() > 0 && r.Next == r.LogStart
	case RuleMarkedEmpty:
		return marked && r.Found.Unread != Unknown && r.Range().Empty() && r.Next == r.LogEnd
	case RuleEarliestAccepted:
		return marked && r.Found.Unread == Earliest && !r.Range().Empty() && r.Next == r.LogStart
	case RuleUnnamedEmpty:
		return r.unread() && r.LogEnd == offset0
	case RuleUnnamedAccepted:
		return r.unread() && r.LogEnd != offset0 && r.Next == r.LogStart
	}
	return false
}
