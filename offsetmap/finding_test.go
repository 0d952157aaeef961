package offsetmap_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func blocking(check, scope string, a offsetmap.Acceptable) offsetmap.Finding {
	return offsetmap.Finding{Check: check, Severity: offsetmap.Block, Scope: scope, Detail: "d", Acceptable: a}
}

func TestWhatAnAcceptanceCovers(t *testing.T) {
	for _, c := range []struct {
		name    string
		finding offsetmap.Finding
		accept  offsetmap.Acceptance
		want    bool
	}{
		{"exact", blocking("c", "orders-0:9", offsetmap.Exact), accept("c", "orders-0:9"), true},
		{"exact, without the count", blocking("c", "orders-0:9", offsetmap.Exact), accept("c", "orders-0"), false},
		{"exact, another count", blocking("c", "orders-0:9", offsetmap.Exact), accept("c", "orders-0:90"), false},
		{"exact, the topic", blocking("c", "orders-0:9", offsetmap.Exact), accept("c", "orders"), false},
		{"exact, all", blocking("c", "orders-0:9", offsetmap.Exact), accept("c", "*"), false},
		{"exact, empty", blocking("c", "orders-0:9", offsetmap.Exact), accept("c", ""), false},
		{"scope", blocking("c", "orders-0", offsetmap.ByScope), accept("c", "orders-0"), true},
		{"scope, the topic", blocking("c", "orders-0", offsetmap.ByScope), accept("c", "orders"), true},
		{"scope, all", blocking("c", "orders-0", offsetmap.ByScope), accept("c", "*"), true},
		{"scope, another partition", blocking("c", "orders-0", offsetmap.ByScope), accept("c", "orders-1"), false},
		{"scope, another topic", blocking("c", "orders-0", offsetmap.ByScope), accept("c", "order"), false},
		{"scope, empty", blocking("c", "orders-0", offsetmap.ByScope), accept("c", ""), false},
		{"scope, a pattern", blocking("c", "orders-0", offsetmap.ByScope), accept("c", "orders-*"), false},
		{"a partition is not the topic of that name", blocking("c", "orders-0-3", offsetmap.ByScope), accept("c", "orders-0"), false},
		{"a partition of the topic of that name", blocking("c", "orders-0-3", offsetmap.ByScope), accept("c", "orders-0-3"), true},
		{"a topic that only resembles one", blocking("c", "orders-2024-01-3", offsetmap.ByScope), accept("c", "orders-2024-01"), true},
		{"the whole migration", blocking("c", "", offsetmap.ByScope), accept("c", ""), true},
		{"nothing is not everything", blocking("c", "worker", offsetmap.ByScope), accept("c", ""), false},
		{"the whole migration, all", blocking("c", "", offsetmap.ByScope), accept("c", "*"), true},
		{"another check", blocking("c", "orders-0", offsetmap.ByScope), accept("C", "orders-0"), false},
		{"never", blocking("c", "orders-0", offsetmap.Never), accept("c", "orders-0"), false},
		{"no acceptability", blocking("c", "orders-0", ""), accept("c", "orders-0"), false},
		{"no name", blocking("c", "orders-0", offsetmap.ByScope), offsetmap.Acceptance{Check: "c", Scope: "orders-0", Reason: "r"}, false},
		{"no reason", blocking("c", "orders-0", offsetmap.ByScope), offsetmap.Acceptance{Check: "c", Scope: "orders-0", By: "ana", Reason: " \n"}, false},
		{"no check", blocking("", "orders-0", offsetmap.ByScope), offsetmap.Acceptance{Scope: "orders-0", By: "ana", Reason: "r"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := offsetmap.Accept([]offsetmap.Finding{c.finding}, []offsetmap.Acceptance{c.accept})
			f := got[slices.IndexFunc(got, func(f offsetmap.Finding) bool { return f.Detail == "d" })]
			if passed := f.Accepted != nil && f.Severity == offsetmap.Warn; passed != c.want || passed == (f.Severity == offsetmap.Block) {
				t.Errorf("got %s", f)
			}
			if f.Accepted != nil && *f.Accepted != c.accept {
				t.Errorf("accepted by %+v", *f.Accepted)
			}
			if c.want && len(got) != 1 || !c.want && len(got) != 2 {
				t.Errorf("findings: %v", got)
			}
		})
	}
}

func TestAcceptJudgesTheAcceptancesThemselves(t *testing.T) {
	findings := []offsetmap.Finding{
		blocking("b", "orders-0", offsetmap.ByScope),
		{Check: "w", Severity: offsetmap.Warn, Scope: "orders-0", Acceptable: offsetmap.ByScope},
	}
	acceptances := []offsetmap.Acceptance{
		accept("b", "orders-0"), accept("b", "*"), // both cover, the first is named
		accept("w", "orders-0"), accept("b", "orders-9"), // neither covers what blocks
		{Check: "b", Scope: "orders-0", By: "bo"},
	}
	before := slices.Clone(findings)
	got := offsetmap.Accept(findings, acceptances)
	diff(t, []string{
		"block plan/acceptance-incomplete orders-0 never",
		"warn b orders-0 scope accepted by ana",
		"warn plan/acceptance-unused orders-0 never",
		"warn plan/acceptance-unused orders-9 never",
		"warn w orders-0 scope",
	}, lines(got))
	diff(t, before, findings)
	if got[1].Accepted.Scope != "orders-0" {
		t.Errorf("accepted by %+v, want the first that covers", *got[1].Accepted)
	}
	acceptances[0], acceptances[1] = acceptances[1], acceptances[0]
	if got := offsetmap.Accept(findings, acceptances); got[1].Accepted.Scope != "*" {
		t.Errorf("accepted by %+v, want the first that covers", *got[1].Accepted)
	}
	diff(t, lines(got), lines(offsetmap.Accept(got, acceptances)))
}

// A plan is judged twice: Resolve's findings once more with those of the checks
// that run after it. What looked unused the first time must not stay so.
func TestAcceptAgainJudgesAnew(t *testing.T) {
	late := accept("late", "*")
	first := offsetmap.Accept([]offsetmap.Finding{blocking("early", "orders-0", offsetmap.ByScope)}, []offsetmap.Acceptance{accept("early", "*"), late})
	diff(t, []string{"warn early orders-0 scope accepted by ana", "warn plan/acceptance-unused * never"}, lines(first))
	second := offsetmap.Accept(append(first, blocking("late", "orders-1", offsetmap.ByScope)), []offsetmap.Acceptance{accept("early", "*"), late})
	diff(t, []string{"warn early orders-0 scope accepted by ana", "warn late orders-1 scope accepted by ana"}, lines(second))
	withdrawn := offsetmap.Accept(second, []offsetmap.Acceptance{late})
	diff(t, []string{"block early orders-0 scope", "warn late orders-1 scope accepted by ana"}, lines(withdrawn))
}

func TestBlockedIsNilWithoutABlock(t *testing.T) {
	if err := offsetmap.Blocked([]offsetmap.Finding{{Severity: offsetmap.Warn}, {Severity: offsetmap.Info}}); err != nil {
		t.Errorf("got %v", err)
	}
	err := offsetmap.Blocked([]offsetmap.Finding{blocking("b", "x", offsetmap.Never), {Severity: offsetmap.Warn}, blocking("a", "", offsetmap.Never)})
	if _, ok := errors.AsType[*offsetmap.BlockedError](err); !ok {
		t.Fatalf("got %v", err)
	}
	if got, want := err.Error(), "blocked by 2 findings\n  a: d\n  b x: d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := offsetmap.Blocked([]offsetmap.Finding{blocking("a", "", offsetmap.Never)}).Error(), "blocked by 1 finding\n  a: d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindingIsOneLine(t *testing.T) {
	f := offsetmap.Finding{
		Check: "source/x", Severity: offsetmap.Warn, Scope: "orders-0:7", Detail: "gone\nfor good",
		Accepted: &offsetmap.Acceptance{By: "ana", Reason: "yes\x1b[2J"},
	}
	if got, want := f.String(), "warn source/x orders-0:7: gone for good (accepted by ana: yes [2J)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindingsSortBySeverityCheckAndPartitionNumber(t *testing.T) {
	f := func(s offsetmap.Severity, check, scope, detail string) offsetmap.Finding {
		return offsetmap.Finding{Severity: s, Check: check, Scope: scope, Detail: detail}
	}
	want := []offsetmap.Finding{
		f(offsetmap.Block, "a", "orders-2", ""),
		f(offsetmap.Block, "b", "", ""),
		f(offsetmap.Block, "b", "*", ""),
		f(offsetmap.Block, "b", "orders", ""),
		f(offsetmap.Block, "b", "orders-10x", ""),
		f(offsetmap.Block, "b", "orders-2", ""),
		f(offsetmap.Block, "b", "orders-2:30", "1"),
		f(offsetmap.Block, "b", "orders-2:30", "2"),
		f(offsetmap.Block, "b", "orders-10", ""),
		f(offsetmap.Block, "b", "pay-1", ""),
		f(offsetmap.Warn, "a", "orders-0", ""),
		f(offsetmap.Info, "a", "orders-0", ""),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, offsetmap.Finding.Compare)
	diff(t, want, got)
}

// scopes holds names that are partitions, that almost are, and that are not.
var scopes = rapid.SampledFrom([]string{
	"", "*", "a", "a-1", "a-9", "a-10", "a-1x", "a-9:3", "a-10:20", "a-10:3", "a-01", "a-1-9", "a-1-10", "b-0", "-1", "a-", "é-1",
})

func TestFindingOrderIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) offsetmap.Finding {
			return offsetmap.Finding{
				Severity: rapid.SampledFrom([]offsetmap.Severity{offsetmap.Block, offsetmap.Warn, offsetmap.Info, "other"}).Draw(t, name+" severity"),
				Check:    rapid.SampledFrom([]string{"a", "b"}).Draw(t, name+" check"),
				Scope:    scopes.Draw(t, name+" scope"),
			}
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("%q and %q: %d and %d", a, b, a.Compare(b), b.Compare(a))
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("%q <= %q <= %q, but not the first and the last", a, b, c)
		}
		if a.Compare(b) == 0 && (a.Scope != b.Scope || a.Check != b.Check || a.Severity != b.Severity) {
			t.Fatalf("%q and %q are the same", a, b)
		}
	})
}

// One remedy stands behind the last finding of its check, not behind each, nor behind
// that of another check.
func TestTheRemedyFollowsTheLastFindingOfItsCheck(t *testing.T) {
	blocked := &offsetmap.BlockedError{
		Findings: []offsetmap.Finding{blocking("a", "orders-0", offsetmap.Never), blocking("a", "orders-1", offsetmap.Never), blocking("b", "", offsetmap.Never), blocking("c", "", offsetmap.Never)},
		Remedies: map[string]string{"a": "mend a", "c": "mend c"},
	}
	var got []string
	for line := range strings.Lines(blocked.List()) {
		if word := strings.Fields(line); len(word) > 0 {
			got = append(got, strings.Join(word[:min(2, len(word))], " "))
		}
	}
	diff(t, []string{"a orders-0:", "a orders-1:", "-> mend", "b: d", "c: d", "-> mend"}, got)
}
