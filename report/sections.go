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
	Check, Title, Remedy string
	Word, Class          string
	Accepted, Open       bool
	Count, Left          int
	Shown                []Finding
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
			g := findingGroup{Check: f.Check, Title: f.Title, Remedy: f.Remedy, Word: string(f.Severity), Class: string(f.Severity), Accepted: k.accepted, Open: f.Severity != offsetmap.Info}
			if k.accepted {
				g.Word, g.Class = "accepted", "accepted"
			}
			out = append(out, g)
		}
		g := &out[i]
		g.Count++
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
