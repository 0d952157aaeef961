package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		{"at the end, behind a record that differs", []any{"ABc", 1}, counts{Copied: 2, Altered: 1, Unprovable: 1, Pending: 1}},
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

func TestReachedCountsWhatRetentionTookAndWhatIsAltered(t *testing.T) {
	for _, tt := range []struct {
		target string
		hole   int64
		want   bool
	}{
		{"ABC", 0, true},
		{"AB", 0, false},
		{"A", 1, false},
		{"A", 2, true},
		{"", 3, true},
		{"abc", 0, true},
		{"Abc", 0, true},
		{"ab", 0, false},
		{"Ac", 0, false},
		{"ac", 1, false},
	} {
		c := compare("ABC", "", tt.target)
		if c.Hole(tt.hole); c.Reached() != tt.want {
			t.Errorf("target %q and a hole of %d: reached %t", tt.target, tt.hole, c.Reached())
		}
	}
	if c := NewComparer(); c.Reached() {
		t.Error("reached before the end is known")
	}
}
