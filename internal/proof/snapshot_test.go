package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// call is one of what a Comparer is told, to tell another the same.
type call func(*Comparer)

func comparerOf(calls []call, opts ...CompareOption) *Comparer {
	c := NewComparer(opts...)
	for _, tell := range calls {
		tell(c)
	}
	return c
}

// targetWord draws a target that most often follows the beginning of an alphabet.
func targetWord(t *rapid.T) string {
	return string(rapid.SliceOfN(rapid.SampledFrom([]byte("ABCDEFGHabc012")), 0, 60).Draw(t, "target"))
}

// anyCalls draws a source, a target and the order in which they come.
func anyCalls(t *rapid.T) (calls []call, opts []CompareOption) {
	source := sourceWord(t)
	target := targetWord(t)
	s, g := word(source, sourceFrom), word(target, targetFrom)
	end := rapid.IntRange(0, len(s)).Draw(t, "end")
	opts = append(opts, WithMovingEnd())
	if rapid.Bool().Draw(t, "compacted") {
		opts = append(opts, WithCompaction())
	}
	if rapid.Bool().Draw(t, "windowed") {
		opts = append(opts, WithWindow(rapid.IntRange(1, 4).Draw(t, "behind"), rapid.IntRange(1, 4).Draw(t, "ahead")))
	}
	for i, fed := 0, 0; i < len(s) || fed < len(g); {
		if i == end {
			calls = append(calls, (*Comparer).End)
		}
		if i < len(s) && (fed == len(g) || rapid.Bool().Draw(t, "source first")) {
			p := s[i]
			calls = append(calls, func(c *Comparer) { c.Source(p) })
			i++
		} else {
			p := g[fed]
			calls = append(calls, func(c *Comparer) { c.Target(p) })
			fed++
		}
	}
	return append(calls, (*Comparer).End, func(c *Comparer) { c.Settle(everything) }), opts
}

// A snapshot is the result of what was told so far, and changes nothing of what
// is told afterwards.
func TestASnapshotIsTheResultAndChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls, opts := anyCalls(t)
		asked := NewComparer(opts...)
		for i, tell := range calls {
			tell(asked)
			if !rapid.Bool().Draw(t, "ask") {
				continue
			}
			got, want := asked.Snapshot(), comparerOf(calls[:i+1], opts...).Result()
			if d := cmp.Diff(want, got, places); d != "" {
				t.Fatalf("after %d calls (-want +got):\n%s", i+1, d)
			}
		}
		if d := cmp.Diff(comparerOf(calls, opts...).Result(), asked.Result(), places); d != "" {
			t.Fatalf("in the end (-want +got):\n%s", d)
		}
	})
}

// An end that moves on to the last record leaves what one that stood there from
// the beginning would have.
func TestAnEndThatMovesOnIsTheLastOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		target := targetWord(t)
		s, g := word(source, sourceFrom), word(target, targetFrom)
		moved, fixed := NewComparer(WithMovingEnd()), NewComparer(WithMovingEnd())
		ended := false
		for i, fed := 0, 0; i < len(s) || fed < len(g); {
			switch {
			case ended && rapid.Bool().Draw(t, "extend"):
				moved.Extend()
				ended = false
			case !ended && rapid.Bool().Draw(t, "end"):
				moved.End()
				ended = true
			}
			if i < len(s) && (fed == len(g) || rapid.Bool().Draw(t, "source first")) {
				moved.Source(s[i])
				fixed.Source(s[i])
				i++
			} else {
				moved.Target(g[fed])
				fixed.Target(g[fed])
				fed++
			}
		}
		if ended {
			moved.Extend()
		}
		for _, c := range []*Comparer{moved, fixed} {
			c.End()
			c.Settle(everything)
		}
		if d := cmp.Diff(fixed.Result(), moved.Result(), places); d != "" {
			t.Fatalf("source %q, target %q (-fixed +moved):\n%s", source, target, d)
		}
	})
}

// Where a snapshot moves the head over the end of what is kept in one piece, the
// comparison still has the piece before.
func TestASnapshotForgetsNothingOfTheComparison(t *testing.T) {
	t.Parallel()
	source := manyPrints(3*chunk, 0)
	altered := source[2*chunk]
	altered.sum.a++
	altered.parts.value++
	run := func(ask bool) Result {
		c := NewComparer(WithWindow(1, 64), WithMovingEnd())
		for i, p := range source {
			if i == 2*chunk+32 {
				c.End()
				c.Target(altered)
				c.Settle(place(altered.offset + 1))
				if ask {
					c.Snapshot()
				}
				c.Extend()
			}
			c.Source(p)
			if i < 2*chunk {
				c.Target(p)
				if i%chunk == chunk-1 {
					c.Target(p) // so that there is an index
				}
			}
		}
		for _, p := range source[2*chunk+1:] {
			c.Target(p)
		}
		c.End()
		c.Settle(everything)
		return c.Result()
	}
	want := run(false)
	if want.Altered != 1 || want.Repeated != 2 || want.Copied != 3*chunk-1 {
		t.Fatalf("%+v", want.Counts)
	}
	if d := cmp.Diff(want.Counts, run(true).Counts); d != "" {
		t.Errorf("(-never asked +asked):\n%s", d)
	}
}
