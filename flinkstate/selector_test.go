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
