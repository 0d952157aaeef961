package proof

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// resume returns a driver that goes on where a mark stands, with the mark as it
// comes out of a file.
func resume(t fataler, m Mark, source, target []Print, opts ...CompareOption) *driver {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var read Mark
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if err := read.validate(Partition{Next: place(sourceFrom), End: place(sourceFrom + int64(len(source))), TargetEnd: place(targetFrom)}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	d := &driver{Comparer: NewComparer(opts...), source: source, target: target, required: len(source)}
	d.Resume(read)
	for _, p := range source {
		inGaps := slices.ContainsFunc(read.Gaps, func(r GapRun) bool { return r.From <= p.offset && p.offset <= r.To })
		if p.offset < read.Source && (p.offset >= read.Window || inGaps) {
			d.Known(p)
		}
		if p.offset < read.Source {
			d.fedS++
		}
	}
	for d.fedT < len(target) && target[d.fedT].offset < read.Target {
		d.fedT++
	}
	return d
}

// told is what a result says but for what another run cannot know: digests, and
// which of foreign and older a record is.
func told(r Result) Result {
	r.Foreign, r.Older = 0, r.Foreign+r.Older
	var named []Example
	for _, e := range r.Examples {
		if e.SourceDigest, e.TargetDigest = "", ""; e.Fault != Older && e.Fault != Foreign {
			named = append(named, e)
		}
	}
	r.Examples = named
	return r
}

func TestAComparisonThatIsCutAnywhereFindsWhatOneInOneGoFinds(t *testing.T) {
	marked := 0
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		written := pick(source, replayed(t, len(source)))
		for range rapid.IntRange(0, 4).Draw(t, "changes") { // lost, doubled, moved
			i := rapid.IntRange(0, len(written)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				written = slices.Delete(written, i, i+1)
			case 1:
				written = slices.Insert(written, i, written[i])
			default:
				x := written[i]
				written = slices.Insert(slices.Delete(written, i, i+1), rapid.IntRange(0, len(written)-1).Draw(t, "to"), x)
			}
			if len(written) == 0 {
				t.Skip("nothing is left")
			}
		}
		target, _ := withForeign(t, written)
		opts := []CompareOption{WithWindow(rapid.IntRange(1, 30).Draw(t, "behind"), rapid.IntRange(1, 20).Draw(t, "ahead"))}
		if rapid.Bool().Draw(t, "compacted") {
			opts = append(opts, WithCompaction())
		}
		s, d := word(source, sourceFrom), word(target, targetFrom)
		whole := drive(s, d, opts...)
		want, _ := whole.result()

		first := &driver{Comparer: NewComparer(opts...), source: s, target: d, required: len(s), steps: rapid.IntRange(2, len(s)+len(d)+2).Draw(t, "cut")}
		first.run(func() bool { return true })
		m, some := first.Mark()
		if !some {
			return
		}
		marked++
		second := resume(t, m, s, d, opts...)
		second.run(func() bool { return true })
		got, _ := second.result()
		if diff := cmp.Diff(told(want), told(got), places); diff != "" {
			t.Errorf("source %q, target %q, mark %+v (-in one go +cut):\n%s", source, target, m, diff)
		}
	})
	if marked == 0 {
		t.Error("no comparison was cut")
	}
}

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// With equal records a repeat may be what follows a lost one, so nothing is
// marked before that is certain.
func TestNothingIsMarkedThatMayBeTakenBack(t *testing.T) {
	c := NewComparer()
	for _, p := range word("ABAC", sourceFrom) {
		c.Source(p)
	}
	for _, p := range word("AA", targetFrom) {
		c.Target(p)
	}
	if m, some := c.Mark(); some {
		t.Errorf("%+v: the second A is a repeat until C shows that B is missing", m)
	}
	c.Target(word("C", targetFrom+2)[0])
	if m, some := c.Mark(); !some || m.Missing != 1 || m.Repeated != 0 || m.Source != sourceFrom+4 || m.Target != targetFrom+3 {
		t.Errorf("%+v, %t", m, some)
	}
}
