package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExamplesNameWhatIsWrong(t *testing.T) {
	c := NewComparer()
	for _, p := range word("X", sourceFrom-1) {
		c.Before(p)
	}
	//          100             5000
	feed(c, "ABCDEFGH", "", "XAbDC0EEG")
	got := c.Result().Examples
	sum := func(l rune) string { return letters[l].sum.String() }
	want := []Example{
		{Fault: Missing, Source: at(t, 105), SourceDigest: sum('F')},
		{Fault: Altered, Source: at(t, 101), Target: at(t, 5002), SourceDigest: sum('B'), TargetDigest: sum('b'), Differs: []string{"value"}},
		{Fault: OutOfOrder, Source: at(t, 102), Target: at(t, 5004), SourceDigest: sum('C')},
		{Fault: Early, Source: at(t, 99), Target: at(t, 5000), TargetDigest: sum('X')},
		{Fault: Repeated, Source: at(t, 104), Target: at(t, 5007), SourceDigest: sum('E')},
		{Fault: Foreign, Target: at(t, 5005), TargetDigest: sum('0')},
	}
	if d := cmp.Diff(want, got, places); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestExamplesAreBounded(t *testing.T) {
	c := compare("ABCDEFGHZ", "", "00000Z", WithExamples(3))
	r := c.Result()
	n := map[Fault]int{}
	for _, e := range r.Examples {
		n[e.Fault]++
	}
	if d := cmp.Diff(map[Fault]int{Missing: 3, Foreign: 3}, n); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Missing != 8 || r.Foreign != 5 {
		t.Errorf("missing %d, foreign %d: the bound is on examples, not on counts", r.Missing, r.Foreign)
	}
}

func TestExamplesOfWhatWasTakenBackAreGone(t *testing.T) {
	// The second A is a repeat until C shows that B is missing.
	r := compare("ABAC", "", "AAC").Result()
	if d := cmp.Diff([]Example{{Fault: Missing, Source: at(t, 101), SourceDigest: letters['B'].sum.String()}}, r.Examples, places); d != "" {
		t.Errorf("a repeat that was none (-want +got):\n%s", d)
	}
	// b stands for B until B itself comes.
	r = compare("ABC", "", "AbCB").Result()
	for _, e := range r.Examples {
		if e.Fault == Altered {
			t.Errorf("altered, though the record came: %+v", e)
		}
	}
}

func TestOnlyRequiredRecordsMakeExamples(t *testing.T) {
	if got := compare("AB", "CDE", "ABCCdE").Result().Examples; len(got) != 1 || got[0].Fault != Foreign {
		t.Errorf("%+v, want the foreign one alone", got)
	}
}
