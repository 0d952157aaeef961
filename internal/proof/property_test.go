package proof

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sourceWord draws a source over few or many letters, so that equal records are
// rare in some and everything in others.
func sourceWord(t *rapid.T) string {
	alphabet := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:rapid.IntRange(1, 26).Draw(t, "letters")]
	return string(rapid.SliceOfN(rapid.SampledFrom([]byte(alphabet)), 1, 60).Draw(t, "source"))
}

// replayed draws what an at-least-once copier may write: it goes on by one or
// back, and ends with the last record. The positions tell which records.
func replayed(t *rapid.T, n int) []int {
	var written []int
	next, reached := 0, 0
	for reached < n {
		if reached > 0 && rapid.IntRange(0, 9).Draw(t, "back?") == 0 {
			next = rapid.IntRange(0, reached-1).Draw(t, "back to")
		}
		written = append(written, next)
		next++
		reached = max(reached, next)
	}
	return written
}

func withForeign(t *rapid.T, w []byte) (string, int) {
	n := 0
	for range rapid.IntRange(0, 5).Draw(t, "foreign") {
		w = slices.Insert(w, rapid.IntRange(0, len(w)).Draw(t, "at"), "0123456789"[rapid.IntRange(0, 9).Draw(t, "which")])
		n++
	}
	return string(w), n
}

func pick(source string, positions []int) []byte {
	w := make([]byte, len(positions))
	for i, p := range positions {
		w[i] = source[p]
	}
	return w
}

func TestReplaysAndOtherWritersAreNoFault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		written := replayed(t, len(source))
		target, foreign := withForeign(t, pick(source, written))
		want := counts{Copied: int64(len(source)), Repeated: int64(len(written) - len(source)), Foreign: int64(foreign)}
		if d := cmp.Diff(want, short(compare(source, "", target).Result().Counts)); d != "" {
			t.Errorf("source %q, target %q (-want +got):\n%s", source, target, d)
		}
	})
}

func TestALostRecordIsNeverHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		lost := rapid.IntRange(0, len(source)-1).Draw(t, "lost")
		written := slices.DeleteFunc(replayed(t, len(source)), func(p int) bool { return p == lost })
		target, _ := withForeign(t, pick(source, written))
		r := compare(source, "", target).Result()
		if err := (oracle{source, target}).check(r); err != nil {
			t.Errorf("source %q, target %q: %v\n%+v", source, target, err, r.Counts)
		}
		if distinct(source) && lost < len(source)-1 && (r.Missing != 1 || r.Faults() != 1) {
			t.Errorf("source %q, target %q, lost %d: %+v", source, target, lost, r.Counts)
		}
	})
}

func TestAnySourceAndTargetAreJudgedByTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		target := string(rapid.SliceOfN(rapid.SampledFrom([]byte(source+"0")), 0, 90).Draw(t, "target"))
		if err := (oracle{source, target}).check(compare(source, "", target).Result()); err != nil {
			t.Errorf("source %q, target %q: %v", source, target, err)
		}
	})
}

func TestDistinctRecordsAlteredAreCountedExactly(t *testing.T) {
	const source = "ABCDEFGHIJKLMNOP"
	rapid.Check(t, func(t *rapid.T) {
		w := []byte(source)
		var change, lose int64
		for i := range w {
			switch rapid.IntRange(0, 5).Draw(t, "fate") {
			case 0:
				w[i] += 'a' - 'A'
				change++
			case 1:
				if i < len(w)-1 && i > 0 {
					w[i] = '.'
					lose++
				}
			}
		}
		target := string(slices.DeleteFunc(w, func(b byte) bool { return b == '.' }))
		want := counts{Copied: int64(len(source)) - change - lose, Altered: change, Missing: lose}
		if d := cmp.Diff(want, short(compare(source, "", target).Result().Counts)); d != "" {
			t.Errorf("target %q (-want +got):\n%s", target, d)
		}
	})
}

// interleaved feeds the same sequences in a drawn order of calls.
func interleaved(source, beyond, target string, sourceFirst func(source, target int) bool) *Comparer {
	c := NewComparer()
	s := append(word(source, sourceFrom), word(beyond, sourceFrom+int64(len(source)))...)
	d := word(target, targetFrom)
	required := len(word(source, 0))
	for i, j := 0, 0; i < len(s) || j < len(d) || required == 0; {
		if i == required {
			c.End()
			required = -1
		}
		switch {
		case i < len(s) && (j == len(d) || sourceFirst(i, j)):
			c.Source(s[i])
			i++
		case j < len(d):
			c.Target(d[j])
			j++
		}
	}
	c.End()
	c.Settle(everything)
	return c
}

func TestTheOrderOfCallsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, beyond := sourceWord(t), sourceWord(t)
		target := string(rapid.SliceOfN(rapid.SampledFrom([]byte(source+beyond+"0ab")), 0, 60).Draw(t, "target"))
		choices := rapid.SliceOfN(rapid.Bool(), 16, 16).Draw(t, "calls")
		c := interleaved(source, beyond, target, func(i, j int) bool { return choices[(i*7+j)%16] })
		want := compare(source, beyond, target).Result()
		if d := cmp.Diff(want, c.Result(), places); d != "" {
			t.Errorf("source %q, beyond %q, target %q (-in one go +interleaved):\n%s", source, beyond, target, d)
		}
	})
}

func FuzzCompare(f *testing.F) {
	for _, seed := range []string{"ABCD/ABCD", "ABAC/AAC", "AAAB/AAB", "ABABCD/ABABABCD", "ABABAC/ABBAC", "ABCD/A0CBD", "/0"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 400 {
			return
		}
		// Everything up to the first slash is the source.
		var source, target []byte
		into := &source
		for _, x := range b {
			switch {
			case x == '/' && into == &source:
				into = &target
			case x >= 'A' && x <= 'Z', x == '0' && into == &target:
				*into = append(*into, x)
			default:
				*into = append(*into, 'A'+x%5)
			}
		}
		r := compare(string(source), "", string(target)).Result()
		if err := (oracle{string(source), string(target)}).check(r); err != nil {
			t.Errorf("source %q, target %q: %v\n%+v", source, target, err, r.Counts)
		}
		c := interleaved(string(source), "", string(target), func(i, j int) bool { return b[(i+3*j)%len(b)]%2 == 0 })
		if d := cmp.Diff(r, c.Result(), places); d != "" {
			t.Errorf("source %q, target %q (-in one go +interleaved):\n%s", source, target, d)
		}
	})
}
