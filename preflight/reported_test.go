package preflight_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// reporting are the packages that report findings, with how many ids each names
// at least.
var reporting = map[string]int{"../offsetmap": 40, "../internal/engine": 20, "..": 4, ".": 60}

var (
	checkID = regexp.MustCompile(`^[a-z]+/[a-z]+(-[a-z]+)*$`)
	// attestation is how package offsetmap reports one, by the last part of its id.
	attestation = regexp.MustCompile(`^(require|optional|add)$`)
)

// reportedIDs reads the ids out of the sources of a package, so that one that is
// added there is missed here.
func reportedIDs(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v of %s, error %v", files, dir, err)
	}
	ids := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if id := text(n); checkID.MatchString(id) {
					ids[id] = true
				}
			case *ast.CallExpr:
				if dir == "../offsetmap" {
					maps.Copy(ids, attested(n))
				}
			}
			return true
		})
	}
	return ids
}

func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// attested returns the id that a call reports an attestation under.
func attested(call *ast.CallExpr) map[string]bool {
	var name string
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	ids := map[string]bool{}
	if !attestation.MatchString(name) {
		return ids
	}
	for _, arg := range call.Args[:min(2, len(call.Args))] {
		if s := text(arg); regexp.MustCompile(`^[a-z]+(-[a-z]+)+$|^(isolation|checkpointing)$`).MatchString(s) {
			ids["attest/"+s] = true
		}
	}
	return ids
}

// later returns the ids that only the steps after planning report, and Judge
// never.
func later(t *testing.T) map[string]bool {
	t.Helper()
	rules := reportedIDs(t, "../offsetmap")
	delete(rules, offsetmap.CheckPlanLifetime) // named there for an error, and reported by the root
	out := map[string]bool{}
	for _, c := range preflight.Checks() {
		if c.Judge == nil && (!rules[c.ID] || strings.HasPrefix(c.ID, "rollback/")) && c.ID != "plan/check-invalid" {
			out[c.ID] = true
		}
	}
	return out
}

func TestEveryIDThatIsReportedIsExplained(t *testing.T) {
	t.Parallel()
	reported := map[string]bool{}
	for dir, least := range reporting {
		ids := reportedIDs(t, dir)
		if len(ids) < least {
			t.Errorf("only %d ids were found in %s: %v", len(ids), dir, slices.Sorted(maps.Keys(ids)))
		}
		for id := range ids {
			if _, ok := preflight.Explain(id); !ok {
				t.Errorf("%s of %s is not in the catalogue", id, dir)
			}
			if dir != "." {
				reported[id] = true
			}
		}
	}
	for _, c := range preflight.Checks() {
		if c.Judge == nil && !reported[c.ID] && c.ID != "plan/check-invalid" {
			t.Errorf("%s is in the catalogue, and nothing reports it", c.ID)
		}
	}
}

func TestTheRemedyOfALaterStepSaysHowToAccept(t *testing.T) {
	t.Parallel()
	ids := later(t)
	for _, c := range preflight.Checks() {
		if !ids[c.ID] {
			continue
		}
		if c.ID == offsetmap.CheckPlanLifetime {
			continue // it says until when a plan lives, and blocks nothing
		}
		if c.Severity != offsetmap.Block {
			t.Errorf("%s: severity %q", c.ID, c.Severity)
		}
		scope := "for <PARTITION>:<COUNT>"
		switch c.ID {
		case "rollback/another-form":
			scope = "for <SCOPE>, the form that the finding names"
		case "rollback/overtaken":
			scope = "for <CONNECTOR>"
		case "widen/other-setting":
			scope = "for <SCOPE>, the setting that the finding names"
		case "rollback/partition-kept", "continue/other-log":
			scope = "for <PARTITION>"
		}
		for _, part := range map[offsetmap.Acceptable][]string{
			offsetmap.Exact:   {"with an acceptance of " + c.ID, scope, "check, scope, by, reason"},
			offsetmap.ByScope: {"with an acceptance of " + c.ID, "for <PARTITION>, <TOPIC> or *", "check, scope, by, reason"},
		}[c.Acceptable] {
			if !strings.Contains(c.Remedy, part) {
				t.Errorf("%s can be accepted, and its remedy does not say %q: %s", c.ID, part, c.Remedy)
			}
		}
	}
}

func TestAcceptancesOfLaterStepsAreUsed(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	for scope, used := range map[string]bool{"*": true, "orders": true, "payments-0": true, "orders-7": false, "refunds": false, "": false} {
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "target/ends-moved", Scope: scope, By: "ann", Reason: "audit writes there too"}}
		r := l.judge()
		if unused := len(found(r, "plan/acceptance-unused")) > 0; unused == used {
			t.Errorf("scope %q: %v", scope, r.Findings)
		}
		if r.Err() != nil || len(found(r, "target/ends-moved")) > 0 {
			t.Errorf("scope %q: %v", scope, r.Findings)
		}
	}
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "target/ends-moved", Scope: "*", By: "ann"}}
	l.want(l.judge(), "block plan/acceptance-incomplete *")
	// A way back is accepted when it is gone, not in the plan.
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "rollback/unplanned", Scope: "*", By: "ann", Reason: "copied elsewhere"}}
	l.want(l.judge(), "warn plan/acceptance-unused *")
}
