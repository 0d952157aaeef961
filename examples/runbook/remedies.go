package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// names are what the migration calls the things that remedies speak of. Its topics are
// those that were looked at, or else those of the file.
func (m *migration) names(topics map[string]string) preflight.Names {
	n := preflight.Names{
		Source: preflight.Brokers{Servers: strings.Join(m.Source.Bootstrap, ",")}, Target: preflight.Brokers{Servers: strings.Join(m.Target.Bootstrap, ",")},
		Worker: m.Connect.URLs[0], Connector: m.Connector.Name, Alias: m.config["source.cluster.alias"],
		Group: m.Positions.Group, Job: string(m.job.ID), Migration: m.path, Topics: topics,
	}
	if topics == nil {
		n.Topics = map[string]string{}
		for _, topic := range m.Topics {
			n.Topics[topic] = "" // the connector's policy names it
		}
	}
	return n
}

// names are those of the migration file that was read, if one was, and of its plan.
func (a *app) names() preflight.Names {
	if a.read == nil {
		return preflight.Names{}
	}
	if a.topics == nil {
		if plan, err := readPlan(a.read.State.Dir); err == nil { // else the file's do
			a.topics = map[string]string{}
			for _, r := range plan.Body.Rows {
				a.topics[r.Topic] = r.TargetTopic
			}
		}
	}
	return a.read.names(a.topics)
}

// remedies are those of findings beside what a reader of the plan should know.
func remedies(findings []offsetmap.Finding, n preflight.Names) []preflight.Remedy {
	return preflight.RemediesFor(slices.DeleteFunc(slices.Clone(findings), func(f offsetmap.Finding) bool { return f.Severity == offsetmap.Info }), n)
}

// mostRemedies bounds how many of one check a table shows: each topic, or partition, may
// have one of its own. Those without a command differ by what is to be accepted alone.
func mostRemedies(r preflight.Remedy) int {
	if len(r.Commands) == 0 {
		return 1
	}
	return 3
}

// remediesTable shows how to mend what was found, in the order of the findings.
func remediesTable(w io.Writer, all []preflight.Remedy) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w)
	line(w, "CHECK", "ABOUT", "TO MEND IT")
	told := map[string]int{}
	for _, r := range all {
		if told[r.Check]++; told[r.Check] <= mostRemedies(r) {
			line(w, r.Check, about(r.Scopes), r.Text)
		}
	}
	for _, r := range all {
		if more := told[r.Check] - mostRemedies(r); more > 0 {
			fmt.Fprintf(w, "and %d more to mend %s likewise: -o json lists all\n", more, r.Check)
			told[r.Check] = 0
		}
	}
}

// about names the first of the scopes.
func about(scopes []string) string {
	const most = 3
	var first []string
	for _, scope := range scopes[:min(len(scopes), most)] {
		first = append(first, cmp.Or(scope, "-"))
	}
	text := strings.Join(first, ", ")
	if more := len(scopes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// filled is an error's text whose commands have the migration's names in them. Where the
// findings of a check are mended by several commands, a placeholder stays for what they
// differ in.
func (a *app) filled(err error) string {
	text := err.Error()
	var findings []offsetmap.Finding
	if blocked, ok := errors.AsType[*offsetmap.BlockedError](err); ok {
		findings = blocked.Findings
	} else if refused, ok := errors.AsType[*flinkmm2.RefusedError](err); ok {
		findings = refused.Findings
	}
	n := a.names()
	all := preflight.RemediesFor(findings, n)
	count := map[string]int{}
	for _, r := range all {
		count[r.Check]++
	}
	templates := preflight.Remedies(findings)
	for _, r := range all {
		if count[r.Check] > 1 {
			r.Text = n.Fill(templates[r.Check])
		}
		text = strings.ReplaceAll(text, "-> "+templates[r.Check], "-> "+r.Text)
	}
	for _, f := range findings {
		if detail := n.Fill(f.Detail); detail != f.Detail {
			text = strings.ReplaceAll(text, f.Detail, detail)
		}
	}
	return text
}
