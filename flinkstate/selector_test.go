package flinkstate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

func TestSelector(t *testing.T) {
	snap, err := fixture(t, "flink-1.20-other-source").read()
	if err != nil {
		t.Fatal(err)
	}
	var skipped string
	for _, o := range snap.Operators {
		if strings.Contains(o.Skipped, "another source") {
			skipped = o.ID
		}
	}
	for selector, want := range map[string]string{
		"": testSource, "source-0": testSource, testSource: testSource, strings.ToUpper(testSource): testSource, "3019": testSource,
		"301": "", "source": "", "nonesuch": "", skipped: "",
	} {
		src, err := snap.Source(selector)
		var s *flinkstate.SelectorError
		switch {
		case want != "" && (err != nil || src.OperatorID != want):
			t.Errorf("%q: got %s, %v", selector, src.OperatorID, err)
		case want == "" && (!errors.Is(err, flinkstate.ErrSelector) || !errors.As(err, &s)):
			t.Errorf("%q: got %s, %v; want an ErrSelector", selector, src.OperatorID, err)
		case want == "" && !strings.Contains(err.Error(), testSource):
			t.Errorf("%q: the error does not list the choices: %v", selector, err)
		}
		if selector == skipped && !strings.Contains(err.Error(), "another source's splits") {
			t.Errorf("the error does not say why %s is none: %v", selector, err)
		}
	}

	snap, err = fixture(t, "flink-2.2-three-sources").read()
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Sources) != 3 {
		t.Fatalf("%d sources, want 3", len(snap.Sources))
	}
	for _, s := range snap.Sources {
		for _, selector := range []string{s.UID, s.Name, s.OperatorID, s.OperatorID[:8]} {
			if got, err := snap.Source(selector); err != nil || got.OperatorID != s.OperatorID {
				t.Errorf("%q: got %s, %v; want %s", selector, got.OperatorID, err, s.OperatorID)
			}
		}
		if _, err := snap.Source(""); err == nil || !strings.Contains(err.Error(), s.UID) {
			t.Errorf("the error does not list uid %s: %v", s.UID, err)
		}
	}

	one := jobOp{id: "ab000000000000000000000000000000", uid: "a", name: "kafka", parallelism: 1, subtasks: []jobSubtask{{managed: reader(split("x", 0, 1, noStop))}}}
	two := one
	two.id, two.uid = "ab000000000000000000000000000001", "b"
	snap = read(t, job{version: 6, operators: []jobOp{two, one}, properties: properties(t)})
	for _, selector := range []string{"kafka", "ab00"} {
		if _, err := snap.Source(selector); !errors.Is(err, flinkstate.ErrSelector) || !strings.Contains(err.Error(), "fits 2 sources") {
			t.Errorf("%q: got %v, want an ErrSelector for two", selector, err)
		}
	}
	if got, err := snap.Source("b"); err != nil || got.OperatorID != two.id {
		t.Errorf("uid b: got %s, %v", got.OperatorID, err)
	}
}

// A person's word must mean one source. What could mean two is refused, and
// what is chosen is what was written.
func TestSelectorsThatCouldMeanTwo(t *testing.T) {
	source := func(id, uid, name string) jobOp {
		return jobOp{id: id, uid: uid, name: name, parallelism: 1, subtasks: []jobSubtask{{managed: reader(split("x", 0, 1, noStop))}}}
	}
	other := func(id, uid, name string) jobOp { return jobOp{id: id, uid: uid, name: name, parallelism: 1} }
	const (
		a = "abcd0000000000000000000000000001"
		b = "abcd0000000000000000000000000002"
		c = "c0de0000000000000000000000000003"
	)
	snap := read(t, job{version: 6, properties: properties(t), operators: []jobOp{
		source(a, "orders", "Source: A"), source(b, "payments", "orders"), source(c, "abcd", "Source: C"),
		other("0dd00000000000000000000000000004", "Source: C", "Map"), other("fade0000000000000000000000000005", "", "sink"),
	}})
	for selector, want := range map[string]string{
		"payments": b, "Source: A": a, "C0DE": c, "c0de0000": c, strings.ToUpper(a): a, a[:31] + "1": a,
		"abcd": c, // its uid; as the start of an id it would be two others
	} {
		if got, err := snap.Source(selector); err != nil || got.OperatorID != want {
			t.Errorf("%q: got %s, %v; want %s", selector, got.OperatorID, err, want)
		}
	}
	for selector, why := range map[string]string{
		"":           "3 sources and none was named",
		"orders":     "fits 2 sources",                  // a uid, and another's name
		"ABCD":       "fits 2 sources",                  // the start of two ids; a uid has its case
		"Source: C":  "which has no splits of a source", // the uid of what is no source
		"fade":       "which has no splits of a source",
		"sink":       "which has no splits of a source",
		"Orders":     "fits no source",
		" orders":    "fits no source",
		"c0d":        "fits no source",
		"c0de1":      "fits no source",
		a + "0":      "fits no source",
		"%":          "fits no source",
		"\x1b[2Jx\n": `"\x1b[2Jx\n" fits no source`,
	} {
		got, err := snap.Source(selector)
		if !errors.Is(err, flinkstate.ErrSelector) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %s, %v; want an ErrSelector that says %q", selector, got.OperatorID, err, why)
			continue
		}
		for _, choice := range []string{a + ` uid "orders" name "Source: A"`, b + ` uid "payments" name "orders"`, c + ` uid "abcd" name "Source: C"`} {
			if !strings.Contains(err.Error(), choice) {
				t.Errorf("%q: the error does not offer %s: %v", selector, choice, err)
			}
		}
	}
}
