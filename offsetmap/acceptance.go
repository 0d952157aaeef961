package offsetmap

import (
	"fmt"
	"slices"
	"strings"
)

// Acceptance lets blocking findings of one check through, by name and with a
// reason. Without either it lets nothing through.
type Acceptance struct {
	Check  string `json:"check"`
	Scope  string `json:"scope"`
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// problems lists what keeps a from being an acceptance at all.
func (a Acceptance) problems() []string {
	var out []string
	for _, m := range []struct{ name, value string }{{"check", a.Check}, {"by", a.By}, {"reason", a.Reason}} {
		if strings.TrimSpace(m.value) == "" {
			out = append(out, m.name+" is empty")
		}
		if hasUser(m.value) {
			out = append(out, m.name+" holds an address with a user or a password, which a plan would keep")
		}
	}
	return out
}

// scopes lists the scopes under which f can be accepted.
func (f Finding) scopes() []string {
	switch f.Acceptable {
	case Exact:
		return []string{f.Scope}
	case ByScope:
		out := []string{f.Scope, "*"}
		if tp, err := ParseTopicPartition(f.Scope); err == nil {
			if _, err := ParseTopicPartition(tp.Topic); err != nil {
				out = append(out, tp.Topic)
			}
		}
		return out
	default:
		return nil
	}
}

// acceptanceIndex finds acceptances by check and scope, since there may be as
// many as partitions.
type acceptanceIndex map[[2]string][]int

func indexAcceptances(list []Acceptance) acceptanceIndex {
	index := make(acceptanceIndex, len(list))
	for i, a := range list {
		if len(a.problems()) == 0 {
			key := [2]string{a.Check, a.Scope}
			index[key] = append(index[key], i)
		}
	}
	return index
}

// covering returns the places of the acceptances that let f through, in order.
func (x acceptanceIndex) covering(f Finding) []int {
	var out []int
	for _, scope := range f.scopes() {
		out = append(out, x[[2]string{f.Check, scope}]...)
	}
	slices.Sort(out)
	return out
}

const (
	checkAcceptanceUnused     = "plan/acceptance-unused"
	checkAcceptanceIncomplete = "plan/acceptance-incomplete"
)

// Accept lets through what the acceptances cover: a covered blocking finding
// becomes a warning that names its acceptance. An acceptance that covers
// nothing is a finding of its own, a warning: it may be a typing error, or a
// count that has moved. One without a name or a reason blocks. The result is
// sorted; the input is not changed.
//
// Findings that went through Accept may go through it again together with
// others: everything is judged anew, by these acceptances alone.
func Accept(findings []Finding, acceptances []Acceptance) []Finding {
	out := make([]Finding, 0, len(findings))
	index, used := indexAcceptances(acceptances), make([]bool, len(acceptances))
	for _, f := range findings {
		if f.Check == checkAcceptanceUnused || f.Check == checkAcceptanceIncomplete {
			continue
		}
		if f.Accepted != nil {
			f.Severity, f.Accepted = Block, nil
		}
		if f.Severity == Block {
			for _, i := range index.covering(f) {
				used[i] = true
				if f.Accepted == nil {
					a := acceptances[i]
					f.Severity, f.Accepted = Warn, &a
				}
			}
		}
		out = append(out, f)
	}
	for i, a := range acceptances {
		bad := a.problems()
		switch {
		case len(bad) > 0:
			out = append(out, Finding{
				Check: checkAcceptanceIncomplete, Severity: Block, Scope: a.Scope, Acceptable: Never,
				Detail: fmt.Sprintf("the acceptance of %q for %q lets nothing through: %s", a.Check, a.Scope, strings.Join(bad, ", ")),
			})
		case !used[i]:
			out = append(out, Finding{
				Check: checkAcceptanceUnused, Severity: Warn, Scope: a.Scope, Acceptable: Never,
				Detail: fmt.Sprintf("the acceptance of %s for %q by %s covers no finding", a.Check, a.Scope, a.By),
			})
		}
	}
	slices.SortStableFunc(out, Finding.Compare)
	return out
}
