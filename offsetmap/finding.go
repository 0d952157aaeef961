package offsetmap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Severity says what a finding means for the migration.
type Severity string

const (
	Block Severity = "block" // nothing goes on
	Warn  Severity = "warn"  // goes on, stands in the plan
	Info  Severity = "info"
)

// Acceptable says whether and how precisely a person can accept a finding that
// blocks.
type Acceptable string

const (
	// Never: no acceptance helps.
	Never Acceptable = "never"
	// Exact: the acceptance repeats the finding's whole scope, count included.
	// What can lose records is accepted in no other way.
	Exact Acceptable = "exact"
	// ByScope: the acceptance names the scope, its topic, or "*". A topic whose
	// name reads as a partition ("orders-0") cannot be named: "orders-0" is
	// partition 0 of orders.
	ByScope Acceptable = "scope"
)

// Finding is one thing that a check found, or that it could not find out.
type Finding struct {
	Check      string     `json:"check"` // id, such as "source/offset-expired"
	Severity   Severity   `json:"severity"`
	Scope      string     `json:"scope"`  // what it is about: "orders-0", "orders-0:200", "" for the whole migration
	Detail     string     `json:"detail"` // what was found, with values
	Acceptable Acceptable `json:"acceptable"`
	// Unmade says that the check could not be made. Unknown is not fine: an
	// unmade check blocks like a failed one.
	Unmade bool `json:"unmade"`
	// Accepted says by whom and why a blocking finding was let through; its
	// Severity is then Warn.
	Accepted *Acceptance `json:"accepted"`
}

// Compare orders findings by severity (block first), check, scope and detail.
// Scopes that name partitions come after the others, ordered by number.
func (f Finding) Compare(o Finding) int {
	return cmp.Or(
		cmp.Compare(severityRank(f.Severity), severityRank(o.Severity)),
		strings.Compare(f.Check, o.Check),
		compareScope(f.Scope, o.Scope),
		strings.Compare(f.Detail, o.Detail),
	)
}

func severityRank(s Severity) int { return slices.Index([]Severity{Block, Warn, Info}, s) }

// compareScope orders partitions by number. What is no partition parses to the
// zero value, which comes first.
func compareScope(a, b string) int {
	ta, _ := ParseTopicPartition(withoutCount(a))
	tb, _ := ParseTopicPartition(withoutCount(b))
	return cmp.Or(ta.Compare(tb), strings.Compare(a, b))
}

func withoutCount(scope string) string {
	s, _, _ := strings.Cut(scope, ":")
	return s
}

// String returns one line: "block source/offset-expired orders-0:200: detail".
func (f Finding) String() string {
	s := string(f.Severity) + " " + f.Check
	if f.Scope != "" {
		s += " " + f.Scope
	}
	s += ": " + f.Detail
	if f.Accepted != nil {
		s += fmt.Sprintf(" (accepted by %s: %s)", f.Accepted.By, f.Accepted.Reason)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// BlockedError says that nothing goes on, and why: every finding that blocks,
// not the first.
//
// A caller finds it with errors.AsType.
type BlockedError struct {
	Findings []Finding // sorted, all of Severity Block
	// Remedies says by check what to do. It may be nil.
	Remedies map[string]string
}

// Blocked returns a *BlockedError over the findings that block, or nil when
// none does.
func Blocked(findings []Finding) error {
	var blocks []Finding
	for _, f := range findings {
		if f.Severity == Block {
			blocks = append(blocks, f)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	slices.SortStableFunc(blocks, Finding.Compare)
	return &BlockedError{Findings: blocks}
}

// Error counts the findings and lists every one, as List does.
func (e *BlockedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "blocked by %d %s", len(e.Findings), plural(len(e.Findings), "finding"))
	b.WriteString(e.List())
	return b.String()
}

// List returns the findings, a line each, with the remedy behind the last one of
// a check. Each line begins with its line end.
func (e *BlockedError) List() string {
	var b strings.Builder
	for i, f := range e.Findings {
		b.WriteString("\n  ")
		b.WriteString(strings.TrimPrefix(f.String(), string(Block)+" "))
		last := i == len(e.Findings)-1 || e.Findings[i+1].Check != f.Check
		if remedy := e.Remedies[f.Check]; last && remedy != "" {
			b.WriteString("\n    -> " + remedy)
		}
	}
	return b.String()
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
