package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
