package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var places = cmp.Comparer(func(a, b offsetmap.NextOffset) bool { return a == b })

// counts keeps what tests of the rules look at.
type counts struct {
	Copied, Missing, Altered, OutOfOrder, Unprovable, Pending, Repeated, Early, Foreign, Later int64
}

func short(c Counts) counts {
	return counts{c.Copied, c.Missing, c.Altered, c.OutOfOrder, c.Unprovable, c.Pending, c.Repeated, c.Early, c.Foreign, c.Later}
}

func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		source, beyond, target string
		want                   counts
	}{
		{"the whole sequence", "ABCD", "", "ABCD", counts{Copied: 4}},
		{"nothing of it", "ABCD", "", "", counts{Pending: 4}},
		{"not there yet", "ABCD", "", "AB", counts{Copied: 2, Pending: 2}},
		{"nothing to copy", "", "", "", counts{}},
		{"gaps in the offsets are no records", "A.B..C", "", ".A..BC", counts{Copied: 3}},

		{"one dropped in the middle", "ABCD", "", "ABD", counts{Copied: 3, Missing: 1}},
		{"the first dropped", "ABCD", "", "BCD", counts{Copied: 3, Missing: 1}},
		{"the last dropped, which what follows the end shows", "ABCD", "EF", "ABCE", counts{Copied: 3, Missing: 1, Later: 1}},
		{"the last not there yet", "ABCD", "EF", "ABC", counts{Copied: 3, Pending: 1}},
		{"a block dropped", "ABCDEF", "", "AF", counts{Copied: 2, Missing: 4}},
		{"all but the last dropped", "ABCD", "", "D", counts{Copied: 1, Missing: 3}},

		{"one doubled", "ABCD", "", "ABBCD", counts{Copied: 4, Repeated: 1}},
		{"one doubled later", "ABCD", "", "ABCBD", counts{Copied: 4, Repeated: 1}},
		{"a replay", "ABCDE", "", "ABCABCDE", counts{Copied: 5, Repeated: 3}},
		{"a replay inside a replay", "ABCDEF", "", "ABCDBCBCDEF", counts{Copied: 6, Repeated: 5}},
		{"a replay cut short by another", "ABCDE", "", "ABCDABABCDE", counts{Copied: 5, Repeated: 6}},
		{"a replay cut short by the end", "ABCDE", "", "ABCDEBC", counts{Copied: 5, Repeated: 2}},
		{"a replay cut short by going on", "ABCDE", "", "ABCABDE", counts{Copied: 5, Repeated: 2}},
		{"everything twice", "ABCD", "", "ABCDABCD", counts{Copied: 4, Repeated: 4}},
		{"a replay of what is beyond the end", "AB", "CDE", "ABCDCDE", counts{Copied: 2, Later: 5}},

		{"two swapped", "ABCD", "", "ACBD", counts{Copied: 4, OutOfOrder: 1}},
		{"the first two swapped", "ABCD", "", "BACD", counts{Copied: 4, OutOfOrder: 1}},
		{"two far apart swapped", "ABCDEF", "", "AECDBF", counts{Copied: 6, OutOfOrder: 3}},
		{"one late", "ABCDEF", "", "ACDEBF", counts{Copied: 6, OutOfOrder: 1}},
		{"one late at the very end", "ABCDEF", "", "ACDEFB", counts{Copied: 6, OutOfOrder: 1}},
		{"backwards", "ABCD", "", "DCBA", counts{Copied: 4, OutOfOrder: 3}},
		{"one passed over that a replay brings", "ABCD", "", "ACABCD", counts{Copied: 4, OutOfOrder: 1, Repeated: 2}},
		{"two swapped beyond the end", "AB", "CDE", "ABDCE", counts{Copied: 2, Later: 3}},
		{"a swap does not hide a drop", "ABCDE", "", "ACBE", counts{Copied: 4, OutOfOrder: 1, Missing: 1}},
		{"a double does not hide a drop", "ABCDE", "", "ABBDE", counts{Copied: 4, Repeated: 1, Missing: 1}},
		{"a replay does not hide a drop", "ABCDE", "", "ABDABDE", counts{Copied: 4, Repeated: 3, Missing: 1}},

		{"another writer before, between and after", "ABC", "", "0A1B23C4", counts{Copied: 3, Foreign: 5}},
		{"another writer inside a replay", "ABCD", "", "ABC0A1B2CD", counts{Copied: 4, Repeated: 3, Foreign: 3}},
		{"another writer does not hide a drop", "ABCD", "", "A0D", counts{Copied: 2, Missing: 2, Foreign: 1}},
		{"another writer alone", "ABCD", "", "0123", counts{Pending: 4, Foreign: 4}},
		{"another writer that repeats itself", "AB", "", "A000B", counts{Copied: 2, Foreign: 3}},

		{"equal records, all there", "AAAA", "", "AAAA", counts{Copied: 4}},
		{"equal records, one not there yet", "AAA", "", "AA", counts{Copied: 2, Pending: 1}},
		{"equal records, one dropped", "AAAB", "", "AAB", counts{Copied: 3, Missing: 1}},
		{"equal records, one too many", "AAB", "", "AAAB", counts{Copied: 3, Repeated: 1}},
		{"equal records, one too many at the end", "AA", "", "AAA", counts{Copied: 2, Repeated: 1}},
		{"equal records inside a replay", "ABABCD", "", "ABABABCD", counts{Copied: 6, Repeated: 2}},
		{"an equal record that comes again further on is a replay first", "ABCAD", "", "ABABCAD", counts{Copied: 5, Repeated: 2}},
		{"a record between equal ones dropped", "ABAC", "", "AAC", counts{Copied: 3, Missing: 1}},
		{"an equal record and what comes before it dropped", "ABAC", "", "AC", counts{Copied: 2, Missing: 2}},
		{"one of many equal records dropped between others", "HXHYHZH", "", "HXYHZH", counts{Copied: 6, Missing: 1}},
		{"an equal record late", "ABACD", "", "ABCAD", counts{Copied: 5, OutOfOrder: 1}},
		{"an equal record too soon", "ABAC", "", "AABC", counts{Copied: 4, OutOfOrder: 1}},
		{"equal records in another order", "ABXABY", "", "ABXBAY", counts{Copied: 6, OutOfOrder: 1}},
		{"a drop and equal records in another order", "ABXQABY", "", "ABXBAY", counts{Copied: 6, Missing: 1, OutOfOrder: 1}},
		{"a drop among equal records that two explanations fit", "ABABAC", "", "ABBAC", counts{Copied: 5, Missing: 1}},

		{"one altered", "ABCD", "", "AbCD", counts{Copied: 3, Altered: 1}},
		{"the first altered", "ABCD", "", "aBCD", counts{Copied: 3, Altered: 1}},
		{"the last altered", "ABCD", "", "ABCd", counts{Copied: 3, Altered: 1}},
		{"all altered", "ABCD", "", "abcd", counts{Altered: 4}},
		{"one altered, another dropped", "ABCDE", "", "AcDE", counts{Copied: 3, Altered: 1, Missing: 1}},
		{"all altered and one dropped", "ABCD", "", "acd", counts{Altered: 3, Missing: 1}},
		{"one altered and the rest not there yet", "ABCD", "", "Ab", counts{Copied: 1, Altered: 1, Pending: 2}},
		{"one altered among other writers'", "ABCD", "", "A0b1CD", counts{Copied: 3, Altered: 1, Foreign: 2}},
		{"an altered record that comes right later", "ABCD", "", "AbCBD", counts{Copied: 4, OutOfOrder: 1, Foreign: 1}},
		{"a like record before the right one", "ABCD", "", "AbBCD", counts{Copied: 4, Foreign: 1}},
		{"a like record in another place", "ABCDEF", "", "AbBCEF", counts{Copied: 5, Missing: 1, Foreign: 1}},
		{"altered and then replayed altered", "ABCD", "", "AbCAbCD", counts{Copied: 3, Altered: 1, Repeated: 2, Foreign: 1}},
		{"two altered and swapped at the end", "ABC", "", "Acb", counts{Copied: 1, Altered: 2}},
		{"altered copies after a like record from further on", "ABCDE", "", "dAbc", counts{Copied: 1, Altered: 2, Pending: 2, Foreign: 1}},
		{"altered beyond the end, which passes nothing over", "AB", "CD", "Ac", counts{Copied: 1, Pending: 1, Foreign: 1}},
		{"altered beyond the end, at the end", "AB", "CD", "ABc", counts{Copied: 2, Foreign: 1}},
		{"altered beyond the end", "AB", "CD", "ABcD", counts{Copied: 2, Later: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := compare(tt.source, tt.beyond, tt.target).Result()
			if d := cmp.Diff(tt.want, short(r.Counts)); d != "" {
				t.Errorf("source %q, beyond %q, target %q (-want +got):\n%s", tt.source, tt.beyond, tt.target, d)
			}
			if r.Undecided != 0 {
				t.Errorf("%d undecided after everything was settled", r.Undecided)
			}
		})
	}
}

func TestEarly(t *testing.T) {
	for _, tt := range []struct {
		name           string
		before, target string
		want           counts
		first          First
	}{
		{"one record too early", "XY", "YABC", counts{Copied: 3, Early: 1}, First{at(t, 99), at(t, targetFrom), TooEarly}},
		{"more than is known", "XY", "0XYABC", counts{Copied: 3, Early: 2, Foreign: 1}, First{at(t, 98), at(t, targetFrom+1), TooEarly}},
		{"later than the right start", "XY", "AYBC", counts{Copied: 3, Early: 1}, First{at(t, 100), at(t, targetFrom), ""}},
		{"an equal record from C on counts as that", "XA", "ABC", counts{Copied: 3}, First{at(t, 100), at(t, targetFrom), ""}},
		{"too late", "XY", "BC", counts{Copied: 2, Missing: 1}, First{at(t, 101), at(t, targetFrom), TooLate}},
		{"the first altered is no late start", "XY", "aBC", counts{Copied: 2, Altered: 1}, First{at(t, 100), at(t, targetFrom+1), ""}},
		{"none yet", "XY", "0", counts{Pending: 3, Foreign: 1}, First{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewComparer()
			for _, p := range word(tt.before, sourceFrom-int64(len(tt.before))) {
				c.Before(p)
			}
			feed(c, "ABC", "", tt.target)
			r := c.Result()
			if d := cmp.Diff(tt.want, short(r.Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if want := tt.want.Missing + tt.want.Altered + tt.want.Early; r.Faults() != want {
				t.Errorf("%d faults, want %d", r.Faults(), want)
			}
			if d := cmp.Diff(tt.first, r.First, places); d != "" {
				t.Errorf("first (-want +got):\n%s", d)
			}
		})
	}
}

func TestLagCountsWhatIsReadBeyondTheEndToo(t *testing.T) {
	if got := compare("ABC", "DE", "AB").Result().Lag; got != 3 {
		t.Errorf("lag %d, want 3", got)
	}
	if got := compare("ABC", "DE", "ABCDE").Result().Lag; got != 0 {
		t.Errorf("lag %d, want 0", got)
	}
}

func TestMovedIsAboutTheSourcesRecords(t *testing.T) {
	for target, want := range map[string]bool{"": false, "0": false, "A": true, "a": true, "C": true} {
		if got := compare("AB", "C", target).Moved(); got != want {
			t.Errorf("target %q: moved %t", target, got)
		}
	}
}

// A repeat long before does not spoil what is told of a drop among equal
// records, and a run in order that a repeat breaks is not taken as certain.
func TestAStretchEndsOnlyWithALongRunInOrder(t *testing.T) {
	many := manyPrints(100, 0)
	sequence := func(middle int, tail string) (ps []Print) {
		ps = append(ps, letters['X'])
		ps = append(ps, many[:middle]...)
		return append(ps, word(tail, 0)...)
	}
	for _, middle := range []int{0, 1, 61, 62, 63, 90} {
		c := NewComparer()
		for i, p := range sequence(middle, "ABABAC") {
			p.offset = sourceFrom + int64(i)
			c.Source(p)
		}
		c.End()
		c.Settle(everything)
		target := append([]Print{letters['X']}, sequence(middle, "ABBAC")...)
		for i, p := range target {
			p.offset = targetFrom + int64(i)
			c.Target(p)
		}
		if d := cmp.Diff(counts{Copied: int64(middle) + 6, Missing: 1, Repeated: 1}, short(c.Result().Counts)); d != "" {
			t.Errorf("%d between (-want +got):\n%s", middle, d)
		}
	}
}
