package preflight_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// checksPage is written by go test ./preflight -run TestTheChecksPage -update.
const checksPage = "../docs/checks.md"

// areasOfChecks are the parts of ids before the slash, with what they are about, in the
// order in which a migration meets them.
var areasOfChecks = []struct{ name, about string }{
	{"source", "The source cluster, its topics, and where the old job stood in them"},
	{"target", "The target cluster and its topics"},
	{"worker", "The Connect workers"},
	{"connector", "The connector, and others beside it"},
	{"config", "The connector's config"},
	{"driver", "The properties of connect-mirror-maker.sh"},
	{"offsets", "What Connect holds under the connector"},
	{"flink", "The old job: its state, and what Flink's REST API says of it"},
	{"boundary", "The records on both sides of C"},
	{"attest", "What a person states of the old job"},
	{"confirm", "The points that have to be settled before a migration"},
	{"plan", "The plan and its acceptances"},
	{"journal", "What was done before"},
	{"start", "What is looked at behind the resume"},
	{"rollback", "The way back"},
	{"widen", "Another wave of topics under the connector"},
	{"continue", "A wave that goes on"},
	{"restore", "A backup of the stored offsets that is put back"},
	{"engine", "The order of the acts"},
}

func TestTheChecksPage(t *testing.T) {
	t.Parallel()
	want := pageOfChecks(t)
	if *update {
		if err := os.WriteFile(checksPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(checksPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not of these checks: go test ./preflight -run TestTheChecksPage -update writes it (-checks +page)\n%s", checksPage, diff)
	}
}

func pageOfChecks(t *testing.T) string {
	t.Helper()
	byArea := map[string][]preflight.Check{}
	var b strings.Builder
	all := preflight.Checks()
	for _, c := range all {
		area, _, _ := strings.Cut(c.ID, "/")
		byArea[area] = append(byArea[area], c)
	}
	fmt.Fprintf(&b, `# Checks

Everything that preflight, a plan and the steps after it can find: %d checks. `+"`runbook explain ID`"+` says more about one: what it looks at, and what would happen without it.

Severity is the gravest that a check reports: `+"`block`"+`, and nothing goes on; `+"`warn`"+`, which goes on and stands in the plan; `+"`info`"+`. A check that could not be made blocks.
Acceptance says how a person lets a finding through that blocks: `+"`exact`"+` repeats its whole scope, a count included; `+"`scope`"+` names its scope, its topic, or `+"`*`"+`; `+"`never`"+`: none helps.
What stands between < and > in a remedy is filled in from the finding and the migration where preflight, plan and report print it; what they cannot know stays for whoever runs the command.
`, len(all))
	for _, area := range areasOfChecks {
		checks := byArea[area.name]
		if len(checks) == 0 {
			t.Errorf("area %q has no check: remove it from areasOfChecks", area.name)
		}
		delete(byArea, area.name)
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| check | severity | acceptance | demands | remedy |\n|---|---|---|---|---|\n", area.name, area.about)
		for _, c := range checks {
			acceptance := string(c.Acceptable)
			if c.Severity != offsetmap.Block {
				acceptance = "" // there is nothing to let through
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.ID, c.Severity, acceptance, cellOf(c.Title), cellOf(c.Remedy))
		}
	}
	for area := range byArea {
		t.Errorf("area %q has no place on the page: add it to areasOfChecks", area)
	}
	return b.String()
}

// cellOf keeps a text in its cell, and a placeholder such as <name> from being a tag.
// Between backticks nothing else is special.
func cellOf(s string) string {
	parts := strings.Split(s, "`")
	for i, part := range parts {
		if i%2 == 0 {
			part = strings.NewReplacer("<", `\<`, "*", `\*`, "\n", " ").Replace(part)
		}
		parts[i] = strings.ReplaceAll(part, "|", `\|`)
	}
	return strings.Join(parts, "`")
}

func TestEachAreaStandsOnceOnThePage(t *testing.T) {
	t.Parallel()
	var names []string
	for _, a := range areasOfChecks {
		if slices.Contains(names, a.name) {
			t.Errorf("%s is there twice", a.name)
		}
		names = append(names, a.name)
	}
}
