package proof

import (
	"fmt"
	"strings"
	"testing"
)

// oracle says what the rules demand of a comparison, by trying everything that
// could have happened. It shares no code with the Comparer.
type oracle struct {
	source, target string
}

// clean returns how far a copier can have come that only goes on by one or
// back, over all the ways in which it could have written the target; -1 when
// there is none.
func (o oracle) clean() int {
	heads := map[int]bool{0: true}
	for _, t := range o.target {
		next := map[int]bool{}
		for h := range heads {
			if h < len(o.source) && rune(o.source[h]) == t {
				next[h+1] = true
			}
			if strings.ContainsRune(o.source[:h], t) || !strings.ContainsRune(o.source, t) {
				next[h] = true
			}
		}
		heads = next
	}
	best := -1
	for h := range heads {
		best = max(best, h)
	}
	return best
}

// short returns how many records of the first n of the source the target lacks,
// counted as a multiset.
func (o oracle) short(n int) int {
	lacks := 0
	for l := 'A'; l <= 'Z'; l++ {
		lacks += max(0, strings.Count(o.source[:n], string(l))-strings.Count(o.target, string(l)))
	}
	return lacks
}

// ofSource returns how many target records equal a source record.
func (o oracle) ofSource() int {
	n := 0
	for _, t := range o.target {
		if strings.ContainsRune(o.source, t) {
			n++
		}
	}
	return n
}

// check returns what r breaks.
func (o oracle) check(r Result) error {
	n, m := len(o.source), len(o.target)
	reached := n - int(r.Pending)
	ofSource := o.ofSource()
	switch {
	case int(r.Source) != n || int(r.Target) != m:
		return fmt.Errorf("%d source and %d target records, want %d and %d", r.Source, r.Target, n, m)
	case r.Copied+r.Missing+r.Altered+r.Unprovable+r.Pending != r.Source:
		return fmt.Errorf("what became of the source records does not add up")
	case r.Copied+r.Altered+r.Repeated+r.Early+r.Foreign+r.Later+r.Undecided != r.Target:
		return fmt.Errorf("what the target records are does not add up")
	case int(r.Foreign) != m-ofSource:
		return fmt.Errorf("foreign %d, want %d", r.Foreign, m-ofSource)
	case int(r.Missing) != o.short(reached):
		return fmt.Errorf("missing %d, want the %d that are short of the first %d", r.Missing, o.short(reached), reached)
	case int(r.Repeated) != ofSource-(reached-int(r.Missing)):
		return fmt.Errorf("repeated %d, want %d", r.Repeated, ofSource-(reached-int(r.Missing)))
	case o.short(n) > 0 && r.Missing+r.Pending == 0:
		return fmt.Errorf("a record is lost and nothing says so")
	}
	if head := o.clean(); head >= 0 {
		if r.Faults() != 0 || int(r.Pending) != n-head {
			return fmt.Errorf("%d faults and %d pending, want none and %d: replays alone explain it", r.Faults(), r.Pending, n-head)
		}
	} else if r.Faults() == 0 {
		return fmt.Errorf("no fault, but replays alone do not explain it")
	}
	if !distinct(o.source) {
		return nil
	}
	highest, late, seen := -1, 0, map[int]bool{}
	for _, t := range o.target {
		p := strings.IndexRune(o.source, t)
		if p < 0 || seen[p] {
			continue
		}
		seen[p] = true
		if p < highest {
			late++
		}
		highest = max(highest, p)
	}
	if reached != highest+1 || int(r.OutOfOrder) != late {
		return fmt.Errorf("reached %d with %d out of order, want %d with %d", reached, r.OutOfOrder, highest+1, late)
	}
	return nil
}

// words calls fn with each word over the letters up to a length.
func words(letters string, longest int, fn func(string)) {
	var grow func(string)
	grow = func(w string) {
		fn(w)
		if len(w) == longest {
			return
		}
		for _, l := range letters {
			grow(w + string(l))
		}
	}
	grow("")
}

// firstUse reports whether a word's letters first come in their order, so that
// no two words are the same apart from their letters' names.
func firstUse(w string) bool {
	next := 'A'
	for _, l := range w {
		if l > next {
			return false
		}
		if l == next {
			next++
		}
	}
	return true
}

func TestEverySmallSourceAndTargetIsJudgedByTheRules(t *testing.T) {
	words("ABC", 5, func(source string) {
		if !firstUse(source) {
			return
		}
		words("ABC0", 5, func(target string) {
			if err := (oracle{source, target}).check(compare(source, "", target).Result()); err != nil {
				t.Fatalf("source %q, target %q: %v\n%+v", source, target, err, compare(source, "", target).Result().Counts)
			}
		})
	})
}

func TestSmallDistinctSourcesWithFourRecords(t *testing.T) {
	for _, source := range []string{"A", "AB", "ABC", "ABCD"} {
		words("ABCD", 5, func(target string) {
			if err := (oracle{source, target}).check(compare(source, "", target).Result()); err != nil {
				t.Fatalf("source %q, target %q: %v", source, target, err)
			}
		})
	}
}
