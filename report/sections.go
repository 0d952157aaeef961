package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// What a section lists before it refers to the JSON report: of one check there may be
// as many findings as partitions.
const (
	mostFindings = 100
	mostFaults   = 200
)

// findingGroup is what one check has found, of one kind.
type findingGroup struct {
	Check, Title   string
	Remedies       []remedy // the first that differ
	RemediesLeft   int
	Word, Class    string
	Accepted, Open bool
	Count, Left    int
	Shown          []Finding
}

// findingGroups folds sorted findings by check: what was accepted first, since a
// person answers for it.
func findingGroups(findings []Finding) []findingGroup {
	type key struct {
		check    string
		severity offsetmap.Severity
		accepted bool
	}
	at := map[key]int{}
	var out []findingGroup
	for _, f := range findings {
		k := key{f.Check, f.Severity, f.Accepted != nil}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			g := findingGroup{Check: f.Check, Title: f.Title, Word: string(f.Severity), Class: string(f.Severity), Accepted: k.accepted, Open: f.Severity != offsetmap.Info}
			if k.accepted {
				g.Word, g.Class = "accepted", "accepted"
			}
			out = append(out, g)
		}
		g := &out[i]
		g.Count++
		g.mend(f)
		if len(g.Shown) < mostFindings {
			g.Shown = append(g.Shown, f)
		} else {
			g.Left++
		}
	}
	rank := func(g findingGroup) int {
		if g.Accepted {
			return 0
		}
		return 1 + slices.Index([]string{"block", "warn", "info"}, g.Word)
	}
	slices.SortStableFunc(out, func(a, b findingGroup) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// remedy is how to mend findings.
type remedy struct {
	text  string
	About []string // the first scopes
	More  int      // scopes beside those
	Parts []remedyPart
}

// remedyPart is prose, or a command.
type remedyPart struct {
	Text    string
	Command bool
}

// mostRemedies bounds how many of a group are shown, mostAbout the scopes of each.
const (
	mostRemedies = 5
	mostAbout    = 3
)

// mend adds the remedy of a finding.
func (g *findingGroup) mend(f Finding) {
	if f.Remedy == "" {
		return
	}
	i := slices.IndexFunc(g.Remedies, func(r remedy) bool { return r.text == f.Remedy })
	if i < 0 && len(g.Remedies) == mostRemedies {
		g.RemediesLeft++
		return
	}
	if i < 0 {
		i = len(g.Remedies)
		g.Remedies = append(g.Remedies, remedy{text: f.Remedy, Parts: partsOf(f.Remedy)})
	}
	r := &g.Remedies[i]
	switch {
	case len(r.About) < mostAbout:
		r.About = append(r.About, cmp.Or(f.Scope, "the migration"))
	default:
		r.More++
	}
}

func partsOf(text string) []remedyPart {
	var out []remedyPart
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			out = append(out, remedyPart{part, i%2 == 1})
		}
	}
	return out
}

// For says which findings a remedy is for, where not for all of its group.
func (r remedy) For() string {
	text := strings.Join(r.About, ", ")
	if r.More > 0 {
		text += " and " + group(int64(r.More)) + " more"
	}
	return text
}

// duplicates says how many records were to come twice.
func (d *Document) duplicates() string {
	if d.Checks == nil {
		return "not kept when this plan was made"
	}
	return d.Forecast.String()
}

// twiceOf lists the first partitions with duplicates, and counts those that are left out.
func twiceOf(f *preflight.Forecast) (out []preflight.PartitionForecast, left int) {
	if f == nil {
		return nil, 0
	}
	n := min(len(f.Partitions), mostFindings)
	return f.Partitions[:n], len(f.Partitions) - n
}

// fault is a record that is not as it must be, or a partition that is not proven.
type fault struct{ Partition, Outcome, Fault, Source, Target, Differs string }

// faultsOf lists the first faults, and counts the partitions whose faults are left out.
func faultsOf(partitions []Partition) (out []fault, left int) {
	for _, p := range partitions {
		if p.Proof == nil || toneOf(p.Proof.Outcome) == plain || toneOf(p.Proof.Outcome) == good && len(p.Proof.Examples) == 0 {
			continue
		}
		if len(out)+max(1, len(p.Proof.Examples)) > mostFaults {
			left++
			continue
		}
		outcome := p.Proof.Outcome
		if p.Proof.Reason != "" {
			outcome += ": " + p.Proof.Reason
		}
		if len(p.Proof.Examples) == 0 {
			out = append(out, fault{Partition: p.String(), Outcome: outcome, Fault: "–", Source: "–", Target: "–"})
		}
		for _, e := range p.Proof.Examples {
			out = append(out, fault{p.String(), outcome, e.Fault, orDash(e.Source), orDash(e.Target), strings.Join(e.Differs, ", ")})
		}
	}
	return out, left
}

// area is the checks of one part of a migration.
type area struct {
	Name, About string
	Checks      []shownCheck
}

type shownCheck struct {
	Check
	Tone tone
	Word string
}

// areasOf groups checks by the part of their id before the slash.
func areasOf(c *Checks) []area {
	if c == nil {
		return nil
	}
	var out []area
	at := map[string]int{}
	for _, r := range c.Results {
		name, _, _ := strings.Cut(r.Check, "/")
		i, known := at[name]
		if !known {
			i = len(out)
			at[name] = i
			out = append(out, area{Name: name})
		}
		out[i].Checks = append(out[i].Checks, shownCheck{r, stateTone(r.Result), stateWord(r.Result)})
	}
	for i := range out {
		n := map[string]int64{}
		for _, r := range out[i].Checks {
			n[r.Word]++
		}
		var all []string
		for _, word := range []string{"block", "warn", "info", string(preflight.NotMade), string(preflight.Passed), string(preflight.NotAsked)} {
			if n[word] > 0 {
				all = append(all, group(n[word])+" "+word)
			}
		}
		out[i].About = strings.Join(all, " · ")
	}
	return out
}

// stateWord is how a check ended: the gravest that it found, or its state.
func stateWord(r preflight.Result) string {
	if r.State == preflight.Found {
		return string(r.Severity)
	}
	return string(r.State)
}

func stateTone(r preflight.Result) tone {
	switch {
	case r.State == preflight.Passed:
		return good
	case r.State == preflight.NotMade, r.Severity == offsetmap.Warn:
		return open
	case r.Severity == offsetmap.Block:
		return bad
	}
	return plain
}
