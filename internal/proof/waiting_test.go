package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestATargetRecordWaitsUntilTheSourceIsReadFarEnough(t *testing.T) {
	c := NewComparer()
	for _, p := range word("A0BC", targetFrom) {
		c.Target(p)
	}
	if c.Waiting() != 4 {
		t.Fatalf("%d wait, want all 4: no source record is read", c.Waiting())
	}
	s := word("ABC", sourceFrom)
	c.Source(s[0])
	if c.Waiting() != 3 || c.Reached() {
		t.Fatalf("%d wait, want 3: the record of another writer may still be the source's", c.Waiting())
	}
	c.Source(s[1])
	c.Source(s[2])
	c.Settle(at(t, targetFrom+4))
	if c.Waiting() != 3 {
		t.Fatalf("%d wait, want 3: nothing is settled before the end is", c.Waiting())
	}
	c.End()
	c.Settle(at(t, targetFrom+1))
	if c.Waiting() != 3 {
		t.Fatalf("%d wait, want 3: it is settled up to the record that waits, not with it", c.Waiting())
	}
	c.Settle(at(t, targetFrom+2))
	if c.Waiting() != 0 || !c.Reached() {
		t.Fatalf("%d wait, want none", c.Waiting())
	}
	if d := cmp.Diff(counts{Copied: 3, Foreign: 1}, short(c.Result().Counts)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWhatWaitsAtTheEndIsUndecided(t *testing.T) {
	c := NewComparer()
	c.Source(word("A", sourceFrom)[0])
	for _, p := range word("A0B", targetFrom) {
		c.Target(p)
	}
	c.Hole(5)
	r := c.Result()
	if r.Undecided != 2 || r.Copied != 1 || r.Foreign != 0 {
		t.Errorf("%+v, want two undecided", r.Counts)
	}
	if again := c.Result(); again.Counts != r.Counts {
		t.Errorf("the second result differs: %+v and %+v", r.Counts, again.Counts)
	}
}

func TestSettlingLessTakesNothingBack(t *testing.T) {
	c := NewComparer()
	c.Source(word("A", sourceFrom)[0])
	c.End()
	c.Settle(at(t, targetFrom+2))
	c.Settle(at(t, targetFrom))
	for _, p := range word("0", targetFrom) {
		c.Target(p)
	}
	if c.Waiting() != 0 {
		t.Error("a record that was settled waits")
	}
}

func TestASourceRecordMovesWhatWaitsForIt(t *testing.T) {
	s := word("ABCD", sourceFrom)
	c := NewComparer()
	c.Source(s[0])
	for _, p := range word("AA", targetFrom) {
		c.Target(p)
	}
	if c.Waiting() != 1 {
		t.Fatalf("%d wait, want the repeat, which may also be the next record", c.Waiting())
	}
	c.Source(s[1])
	if c.Waiting() != 0 {
		t.Error("the head is read, and the repeat still waits")
	}
	c.Target(word("D", targetFrom+2)[0])
	c.Source(s[2])
	if c.Waiting() != 1 {
		t.Fatalf("%d wait, want the one that the source has not shown", c.Waiting())
	}
	c.Source(s[3])
	if c.Waiting() != 0 {
		t.Error("its equal is read, and the record still waits")
	}
}
