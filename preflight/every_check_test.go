package preflight_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// breakage makes one check fire on a sound lab, by changing what the brokers
// hold, what the worker holds or answers, or what a person says, and returns
// how to mend that.
type breakage func(l *lab) (mend func())

// breakages holds one for every check of the catalogue.
func breakages() map[string]breakage {
	all := map[string]breakage{}
	for _, area := range []map[string]breakage{
		brokerBreakages(), workerBreakages(), configBreakages(), lintBreakages(), offsetBreakages(), flinkBreakages(), flinkJobBreakages(), ruleBreakages(), attestBreakages(), confirmBreakages(), sinkBreakages(), workersBreakages(),
		brokerSurveyBreakages(), hangingBreakages(), deadlineBreakages(), compactionBreakages(), rightsBreakages(),
		boundaryBreakages(),
	} {
		maps.Copy(all, area)
	}
	return all
}

// outside are the ids of the rules that Judge cannot report, with the reason.
// What only later steps report has no test here either.
var outside = map[string]string{
	"driver/clusters":               "Lint alone reports it, of a file of the driver: see TestLintDriver",
	"driver/flow":                   "Lint alone reports it, of a file of the driver: see TestLintDriver",
	"driver/loop":                   "Lint alone reports it, of a file of the driver: see TestLintDriver",
	"driver/unknown-key":            "Lint alone reports it, of a file of the driver: see TestLintDriver",
	"driver/default-on":             "Lint alone reports it, of a file of the driver: see TestLintDriver",
	"driver/no-rest":                "Lint alone reports it, of a file of the driver: see TestLintDriver",
	"config/identity-loop":          "Lint alone reports it, see TestLintSaysThatALoopCannotBeSeen",
	"config/refused":                "Lint alone reports it, see TestLintReportsWhatTheWorkerRefuses",
	"config/heartbeats-replication": "Lint alone reports it, see TestLintOneByOne",
	"source/topic-recreated":        "Row.Recheck reports it, see TestPC03TopicDeletedAndCreatedAgain",
	"source/log-truncated":          "Row.Recheck reports it, and an embedded broker never loses records",
	"plan/duplicate-partition":      "Facts hold each partition once",
	"plan/topic-ambiguous":          "Kafka's policies give each topic a name of its own, and one Metadata answer one id",
}

func TestEveryCheckFiresAndPasses(t *testing.T) {
	t.Parallel()
	all, others := breakages(), later(t)
	for _, check := range preflight.Checks() {
		if outside[check.ID] != "" || others[check.ID] {
			continue
		}
		t.Run(check.ID, func(t *testing.T) {
			t.Parallel()
			broken, ok := all[check.ID]
			if !ok {
				t.Fatal("no test makes the check fire")
			}
			l := newLab(t, setup{})
			mend := broken(l)
			fired := found(l.whole(), check.ID)
			if len(fired) == 0 {
				t.Fatalf("the check does not fire: %v", l.whole().Findings)
			}
			for _, f := range l.whole().Findings {
				if of, known := preflight.Explain(f.Check); known {
					agrees(t, of, f)
				} else {
					t.Errorf("%s is not in the catalogue", f)
				}
			}
			mend()
			for _, f := range found(l.whole(), check.ID) {
				if f.Accepted == nil {
					t.Errorf("mended, and still %s", f)
				}
			}
		})
	}
	for id := range all {
		if _, known := preflight.Explain(id); !known {
			t.Errorf("%s is not in the catalogue", id)
		}
	}
}

// agrees holds a finding against what the catalogue says of its check.
func agrees(t *testing.T, check preflight.Check, f offsetmap.Finding) {
	t.Helper()
	grave := []offsetmap.Severity{offsetmap.Block, offsetmap.Warn, offsetmap.Info}
	switch {
	case slices.Index(grave, f.Severity) < slices.Index(grave, check.Severity):
		t.Errorf("%s is graver than the catalogue says: %s", f, check.Severity)
	case f.Severity != offsetmap.Block:
	case f.Unmade && f.Acceptable != offsetmap.Exact && f.Acceptable != offsetmap.Never:
		t.Errorf("%s was not made and can be accepted by %q", f, f.Acceptable)
	case !f.Unmade && f.Acceptable != check.Acceptable && check.Acceptable != offsetmap.ByScope:
		t.Errorf("%s can be accepted by %q, the catalogue says %q", f, f.Acceptable, check.Acceptable)
	}
	if strings.Contains(f.Detail+f.Scope, password) {
		t.Errorf("%s shows a secret: %s", f.Check, f.Detail)
	}
	if f.Detail == "" || strings.Contains(f.Detail, "%!") || strings.Contains(f.Detail, "\n") {
		t.Errorf("%s: the detail %q does not read well", f.Check, f.Detail)
	}
}

func TestTheCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range preflight.Checks() {
		if seen[c.ID] {
			t.Errorf("%s stands twice", c.ID)
		}
		seen[c.ID] = true
		for what, text := range map[string]string{"title": c.Title, "looks": c.Looks, "why": c.Why, "remedy": c.Remedy} {
			if len(text) < 10 {
				t.Errorf("%s: %s is %q", c.ID, what, text)
			}
		}
		if area, rest, ok := strings.Cut(c.ID, "/"); !ok || area == "" || !regexp.MustCompile(`^[a-z][a-z-]+$`).MatchString(rest) {
			t.Errorf("%q is not an id", c.ID)
		}
		if !slices.Contains([]offsetmap.Severity{offsetmap.Block, offsetmap.Warn, offsetmap.Info}, c.Severity) ||
			!slices.Contains([]offsetmap.Acceptable{offsetmap.Never, offsetmap.Exact, offsetmap.ByScope}, c.Acceptable) {
			t.Errorf("%s: severity %q, acceptable %q", c.ID, c.Severity, c.Acceptable)
		}
		if c.Severity != offsetmap.Block && c.Acceptable != offsetmap.Never {
			t.Errorf("%s never blocks, and is acceptable by %q", c.ID, c.Acceptable)
		}
		explained, ok := preflight.Explain(c.ID)
		if !ok || explained.Title != c.Title {
			t.Errorf("Explain(%s) is %+v, %t", c.ID, explained, ok)
		}
	}
	if _, ok := preflight.Explain("source/none"); ok {
		t.Error("source/none is explained")
	}
	for id := range outside {
		if !seen[id] {
			t.Errorf("%s is not in the catalogue", id)
		}
	}
}

func TestEveryWarningOfFlinkstateIsExplained(t *testing.T) {
	raw, err := os.ReadFile("../flinkstate/warning.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`WarningCode = "([a-z-]+)"`).FindAllSubmatch(raw, -1)
	if len(codes) < 11 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	for _, m := range codes {
		code := flinkstate.WarningCode(m[1])
		check, ok := preflight.Explain("flink/" + string(code))
		if !ok {
			t.Errorf("%s is not in the catalogue", code)
		}
		if blocks := check.Severity == offsetmap.Block; blocks != code.Unfit() {
			t.Errorf("%s: blocks %t, unfit %t", code, blocks, code.Unfit())
		}
	}
}
