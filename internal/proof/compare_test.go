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

func TestWhatRetentionTookFromTheTargetIsUnprovable(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target []any // words and holes
		want   counts
	}{
		{"before the first record", []any{2, "CDE"}, counts{Copied: 3, Unprovable: 2}},
		{"in the middle", []any{"AB", 2, "E"}, counts{Copied: 3, Unprovable: 2}},
		{"no more than it took", []any{"A", 1, "E"}, counts{Copied: 2, Unprovable: 1, Missing: 2}},
		{"other writers' records as well", []any{"AB", 5, "CDE"}, counts{Copied: 5}},
		{"not what is passed over later", []any{"A", 1, "BC", "E"}, counts{Copied: 4, Missing: 1}},
		{"not what a record that differs stands for", []any{"A", 1, "bDE"}, counts{Copied: 3, Altered: 1, Unprovable: 1}},
		{"at the end", []any{"ABC", 1}, counts{Copied: 3, Unprovable: 1, Pending: 1}},
		{"a replay after it is not out of order", []any{"A", 2, "DBCDE"}, counts{Copied: 5, Repeated: 1}},
		{"behind a record that waits", []any{"0", 2, "CDE"}, counts{Copied: 3, Unprovable: 2, Foreign: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewComparer()
			next := int64(targetFrom)
			for _, x := range tt.target { // target first, so that it waits
				switch x := x.(type) {
				case int:
					c.Hole(int64(x))
					next += int64(x)
				case string:
					for _, p := range word(x, next) {
						c.Target(p)
					}
					next += int64(len(x))
				}
			}
			feed(c, "ABCDE", "", "")
			if d := cmp.Diff(tt.want, short(c.Result().Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

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

func TestAlteredSaysInWhat(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *parts)
		want   []string
	}{
		{"key", func(p *parts) { p.key++ }, []string{"key"}},
		{"value", func(p *parts) { p.value++ }, []string{"value"}},
		{"headers", func(p *parts) { p.headers++ }, []string{"headers"}},
		{"timestamp", func(p *parts) { p.time++ }, []string{"timestamp"}},
		{"all but the timestamp", func(p *parts) { p.key++; p.value++; p.headers++ }, []string{"key", "value", "headers"}},
		{"all but the value", func(p *parts) { p.key++; p.headers++; p.time++ }, []string{"key", "headers", "timestamp"}},
		{"all but the key", func(p *parts) { p.value++; p.headers++; p.time++ }, []string{"value", "headers", "timestamp"}},
		{"all but the headers", func(p *parts) { p.key++; p.value++; p.time++ }, []string{"key", "value", "timestamp"}},
		{"everything, which is another record", func(p *parts) { p.key++; p.value++; p.headers++; p.time++ }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewComparer()
			ps := word("ABC", targetFrom)
			tt.change(&ps[1].parts)
			ps[1].sum.a++
			for _, p := range ps {
				c.Target(p)
			}
			feed(c, "ABC", "", "")
			r := c.Result()
			if tt.want == nil {
				if r.Altered != 0 || r.Missing != 1 || r.Foreign != 1 {
					t.Errorf("%+v, want one missing and one foreign", r.Counts)
				}
				return
			}
			if r.Altered != 1 || r.Missing != 0 || r.Foreign != 0 || len(r.Examples) != 1 {
				t.Fatalf("%+v, want one altered", r.Counts)
			}
			if d := cmp.Diff(tt.want, r.Examples[0].Differs); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestWhatCompactionMayHaveTakenIsUnprovable(t *testing.T) {
	key := func(p Print, k uint64) Print { p.parts.key = k; return p }
	tombstone := func(p Print) Print { p.parts.value = null; return p }
	source := word("ABCDEF", sourceFrom)
	source[1] = key(source[1], 7)               // B: its key comes again
	source[2] = tombstone(key(source[2], 9))    // C: a tombstone
	source[3] = key(source[3], 11)              // D: the last of its key
	source[4] = tombstone(key(source[4], null)) // E: no key
	source[5] = key(source[5], 7)
	for _, tt := range []struct {
		name string
		opts []CompareOption
		want counts
	}{
		{"compacted", []CompareOption{WithCompaction()}, counts{Copied: 2, Unprovable: 2, Missing: 2}},
		{"not compacted", nil, counts{Copied: 2, Missing: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewComparer(tt.opts...)
			for _, p := range source {
				c.Source(p)
			}
			c.End()
			for _, i := range []int{0, 5} {
				p := source[i]
				p.offset = targetFrom + int64(i)
				c.Target(p)
			}
			r := c.Result()
			if d := cmp.Diff(tt.want, short(r.Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("the key comes again beyond the end", func(t *testing.T) {
		c := NewComparer(WithCompaction())
		for i, p := range source {
			if i == 3 {
				c.End()
			}
			c.Source(p)
		}
		for _, i := range []int{0, 2, 5} {
			p := source[i]
			p.offset = targetFrom + int64(i)
			c.Target(p)
		}
		if d := cmp.Diff(counts{Copied: 2, Unprovable: 1, Later: 1}, short(c.Result().Counts)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

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

func TestOnlyRequiredRecordsMakeExamples(t *testing.T) {
	if got := compare("AB", "CDE", "ABCCdE").Result().Examples; len(got) != 1 || got[0].Fault != Foreign {
		t.Errorf("%+v, want the foreign one alone", got)
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

func TestReachedCountsWhatRetentionMayHaveTaken(t *testing.T) {
	for _, tt := range []struct {
		target string
		hole   int64
		want   bool
	}{{"ABC", 0, true}, {"AB", 0, false}, {"A", 1, false}, {"A", 2, true}, {"", 3, true}} {
		c := compare("ABC", "", tt.target)
		if c.Hole(tt.hole); c.Reached() != tt.want {
			t.Errorf("target %q and a hole of %d: reached %t", tt.target, tt.hole, c.Reached())
		}
	}
	if c := NewComparer(); c.Reached() {
		t.Error("reached before the end is known")
	}
}

// keyed is a record that shares nothing but its key with a letter.
func keyed(like rune, offset int64) Print {
	p := letters['9']
	p.parts.key, p.offset, p.sum.a = letters[like].parts.key, offset, uint64(offset)
	return p
}

func TestARecordWithTheSameKeyStandsForAnotherOnlyInItsPlace(t *testing.T) {
	b := keyed('B', 0)
	for _, tt := range []struct {
		name   string
		target []Print
		want   counts
	}{
		{"in place", []Print{letters['A'], b, letters['C']}, counts{Copied: 2, Altered: 1}},
		{"before the one before", []Print{b, letters['A'], letters['C']}, counts{Copied: 2, Missing: 1, Foreign: 1}},
		{"after the one after", []Print{letters['A'], letters['C'], b}, counts{Copied: 2, Missing: 1, Foreign: 1}},
		{"nothing after it", []Print{letters['A'], b}, counts{Copied: 1, Pending: 2, Foreign: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewComparer()
			for i, p := range tt.target {
				p.offset = targetFrom + int64(i)
				c.Target(p)
			}
			feed(c, "ABC", "", "")
			if d := cmp.Diff(tt.want, short(c.Result().Counts)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("for one only", func(t *testing.T) {
		c := NewComparer()
		source := word("ABCD", sourceFrom)
		source[2].parts.key = source[1].parts.key
		for _, p := range source {
			c.Source(p)
		}
		c.End()
		c.Settle(everything)
		for i, p := range []Print{letters['A'], b, letters['D']} {
			p.offset = targetFrom + int64(i)
			c.Target(p)
		}
		if d := cmp.Diff(counts{Copied: 2, Altered: 1, Missing: 1}, short(c.Result().Counts)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
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

func TestOffsetsWithoutHolesTakeNoMemory(t *testing.T) {
	var o offsets
	for i := range int64(1000) {
		o.push(50 + i)
	}
	o.push(5000)
	if len(o.runs) != 2 || o.at(0) != 50 || o.at(999) != 1049 || o.at(1000) != 5000 {
		t.Errorf("%d runs; %d, %d, %d", len(o.runs), o.at(0), o.at(999), o.at(1000))
	}
}
