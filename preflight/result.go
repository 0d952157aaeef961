package preflight

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ResultState says how a check ended.
type ResultState string

// The states of results. A check that found something and could not be made in part
// is NotMade.
const (
	Passed   ResultState = "passed"
	Found    ResultState = "found"
	NotMade  ResultState = "not-made"
	NotAsked ResultState = "not-asked" // it had nothing to look at
)

// Result is one check as it was made.
type Result struct {
	Check string      `json:"check"`
	State ResultState `json:"state"`
	// Severity is the gravest that was found, after acceptances. Empty when nothing
	// was.
	Severity offsetmap.Severity `json:"severity,omitempty"`
	// Saw says what the check looked at, with values.
	Saw []string `json:"saw"`
	// Findings is how many it reported.
	Findings int `json:"findings"`
}

// result is what the reporter's check comes to while it has reported nothing.
func (r *Reporter) result() Result {
	out := Result{Check: r.check.ID, State: Passed, Saw: append([]string{}, r.saw...)}
	if more := len(r.noted) - len(r.saw); more > 0 {
		out.Saw = append(out.Saw, fmt.Sprintf("and %d more", more))
	}
	if r.notAsked {
		out.State = NotAsked
	}
	return out
}

// looksAtAttestations is what rules look at that need nothing but the question.
const looksAtAttestations = "the attestations"

// ruleResults are those of the rules of package offsetmap, which need the source, and
// of the attestations, which need nothing.
func (c *Case) ruleResults() []Result {
	_, read := c.Facts.Source.Get()
	var out []Result
	for _, check := range ruleChecks() {
		r := Reporter{check: check}
		if !read && check.Looks != looksAtAttestations {
			r.NotAsked()
		}
		out = append(out, r.result())
	}
	return out
}

// settle enters the findings, of which the gravest come first, in the results, and
// sorts these.
func settle(results []Result, findings []offsetmap.Finding) []Result {
	at := make(map[string]int, len(results))
	for i, r := range results {
		at[r.Check] = i
	}
	for _, f := range findings {
		i, known := at[f.Check]
		if !known { // a check of the user's own that is refused, or an acceptance
			i = len(results)
			at[f.Check] = i
			results = append(results, Result{Check: f.Check, Saw: []string{}})
		}
		r := &results[i]
		r.Findings++
		r.Severity = cmp.Or(r.Severity, f.Severity)
		switch {
		case f.Unmade:
			r.State = NotMade
		case r.State != NotMade:
			r.State = Found
		}
	}
	slices.SortFunc(results, func(a, b Result) int { return cmp.Compare(a.Check, b.Check) })
	return results
}
