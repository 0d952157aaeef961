package proof

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// driver feeds a Comparer as a partition does: no more of the source than the
// window asks for, no more of the target than it takes, and a search where
// nothing else goes on.
type driver struct {
	*Comparer
	source, target []Print
	fedS, fedT     int
	required       int
	searches       int
	seen           int // by searches
	most           int // source records beyond the head, at most
	steps          int // feeds that are left, when above 0; all when 0
}

func drive(source, target []Print, opts ...CompareOption) *driver {
	d := &driver{Comparer: NewComparer(opts...), source: source, target: target, required: len(source)}
	d.run(func() bool { return true })
	return d
}

// run feeds until nothing goes on; sourceFirst orders the calls.
func (d *driver) run(sourceFirst func() bool) {
	for {
		canSource := d.fedS < len(d.source) && (d.passingTo() || d.Ahead() < 2*d.window.ahead)
		canTarget := d.fedT < len(d.target) && !d.Blocked()
		if d.fedS == d.required {
			d.End()
		}
		if d.steps > 1 {
			d.steps--
		}
		switch {
		case d.steps == 1:
			return
		case canSource && (!canTarget || sourceFirst()):
			d.Source(d.source[d.fedS])
			d.fedS++
			d.most = max(d.most, d.Ahead())
		case canTarget:
			d.Target(d.target[d.fedT])
			d.fedT++
		default:
			if d.fedS == len(d.source) {
				d.Settle(everything)
			}
			if !d.search() && (d.fedT == len(d.target) || d.Blocked()) {
				return
			}
		}
	}
}

func (d *driver) search() bool {
	x, due := d.Search()
	if !due {
		return false
	}
	d.searches++
	for _, p := range d.source[d.fedS:] {
		d.seen++
		if x.See(p) {
			break
		}
	}
	d.Conclude(x, true)
	return true
}

func (d *driver) result() (r Result, unread int64) {
	r = d.Result()
	return r, int64(len(d.source) - d.fedS)
}

// checkWithin returns what r breaks of what a window promises. unread is what
// of the source was not worth reading.
func (o oracle) checkWithin(r Result, unread int64) error {
	n, m := len(o.source), len(o.target)
	notYet := r.Pending + unread
	reached := n - int(notYet)
	unsure := r.Older + r.Repeated + r.Undecided
	switch {
	case r.Source+unread != int64(n) || int(r.Target) != m:
		return fmt.Errorf("%d source and %d unread, %d target records, want %d and %d", r.Source, unread, r.Target, n, m)
	case r.Copied+r.Missing+r.Altered+r.Unprovable+r.Pending != r.Source:
		return fmt.Errorf("what became of the source records does not add up")
	case r.Copied+r.Altered+r.Repeated+r.Early+r.Foreign+r.Older+r.Later+r.Undecided != r.Target:
		return fmt.Errorf("what the target records are does not add up")
	case int(r.Missing) < o.short(reached):
		return fmt.Errorf("missing %d, and %d are short of the first %d", r.Missing, o.short(reached), reached)
	case r.Missing > int64(o.short(reached))+unsure:
		return fmt.Errorf("missing %d, and only %d are short of the first %d, with %d unsure", r.Missing, o.short(reached), reached, unsure)
	case o.short(n) > 0 && r.Missing+notYet == 0:
		return fmt.Errorf("a record is lost and nothing says so")
	case o.clean() < 0 && r.Faults() == 0 && notYet == 0 && r.Older == 0:
		return fmt.Errorf("no fault and none older, but replays alone do not explain it")
	}
	if distinct(o.source) && o.clean() >= 0 && r.Faults() > 0 {
		return fmt.Errorf("%d faults: replays alone explain it", r.Faults())
	}
	if !distinct(o.source) || r.Older+r.Undecided > 0 {
		return nil
	}
	if want := int64(o.short(reached)); r.Missing != want {
		return fmt.Errorf("missing %d, want the %d that are short of the first %d, since none is older", r.Missing, want, reached)
	}
	return nil
}

func TestEverySmallSourceAndTargetIsJudgedWithinAWindow(t *testing.T) {
	for _, tt := range []struct {
		window         extent
		source, target int // the longest
	}{{extent{1, 1}, 5, 5}, {extent{1, 2}, 5, 4}, {extent{2, 1}, 5, 4}, {extent{3, 2}, 5, 4}} {
		within := func(source, target string) {
			d := drive(word(source, sourceFrom), word(target, targetFrom), WithWindow(tt.window.behind, tt.window.ahead))
			r, unread := d.result()
			if err := (oracle{source, target}).checkWithin(r, unread); err != nil {
				t.Fatalf("window %v, source %q, target %q: %v\n%+v, %d unread", tt.window, source, target, err, r.Counts, unread)
			}
		}
		words("ABC", tt.source, func(source string) {
			if firstUse(source) {
				words("ABC0", tt.target, func(target string) { within(source, target) })
			}
		})
		words("ABDF0", tt.target, func(target string) { within("ABCDEF", target) })
	}
}

func TestAnySourceAndTargetAreJudgedWithinAWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		target := string(rapid.SliceOfN(rapid.SampledFrom([]byte(source+"0")), 0, 90).Draw(t, "target"))
		w := extent{rapid.IntRange(1, 20).Draw(t, "behind"), rapid.IntRange(1, 10).Draw(t, "ahead")}
		d := drive(word(source, sourceFrom), word(target, targetFrom), WithWindow(w.behind, w.ahead))
		r, unread := d.result()
		if err := (oracle{source, target}).checkWithin(r, unread); err != nil {
			t.Errorf("window %v, source %q, target %q: %v\n%+v, %d unread", w, source, target, err, r.Counts, unread)
		}
	})
}

// A window that holds all of it changes nothing.
func TestAWindowThatHoldsEverythingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, beyond := sourceWord(t), sourceWord(t)
		target := string(rapid.SliceOfN(rapid.SampledFrom([]byte(source+beyond+"0ab")), 0, 60).Draw(t, "target"))
		all := len(source) + len(beyond)
		want := compare(source, beyond, target).Result()
		got := compare(source, beyond, target, WithWindow(all+1, all+1)).Result()
		if d := cmp.Diff(want, got, places); d != "" {
			t.Errorf("source %q, beyond %q, target %q (-all of it +window):\n%s", source, beyond, target, d)
		}
	})
}

func TestTheOrderOfCallsDoesNotMatterWithinAWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := sourceWord(t)
		target := string(rapid.SliceOfN(rapid.SampledFrom([]byte(source+"0")), 0, 60).Draw(t, "target"))
		w := WithWindow(rapid.IntRange(1, 20).Draw(t, "behind"), rapid.IntRange(1, 10).Draw(t, "ahead"))
		run := func(sourceFirst func() bool) Result {
			d := &driver{Comparer: NewComparer(w), source: word(source, sourceFrom), target: word(target, targetFrom), required: len(source)}
			d.run(sourceFirst)
			r, _ := d.result()
			r.Foreign, r.Older = 0, r.Foreign+r.Older // which of them says what was read by then
			return r
		}
		choices := rapid.SliceOfN(rapid.Bool(), 16, 16).Draw(t, "calls")
		i := 0
		mixed := run(func() bool { i++; return choices[(i*7)%16] })
		for _, first := range []bool{true, false} {
			if d := cmp.Diff(run(func() bool { return first }).Counts, mixed.Counts); d != "" {
				t.Errorf("source %q, target %q, source first %t (-one after the other +mixed):\n%s", source, target, first, d)
			}
		}
	})
}

// sequence returns the records of numbered positions.
func sequence(ps []Print, from, to int) []Print { return slices.Clone(ps[from:to]) }

func renumber(ps []Print) []Print {
	for i := range ps {
		ps[i].offset = targetFrom + int64(i)
	}
	return ps
}

// What the copier leaves out is counted exactly, however far it is from the
// window, and wherever it begins.
func TestWhatIsLeftOutBeyondTheWindowIsCountedExactly(t *testing.T) {
	const n = 50_000
	source := manyPrints(n, 0)
	other := word("0123456789", 0)
	for _, tt := range []struct {
		name     string
		target   []Print
		want     counts
		searches int
	}{
		{"nothing", sequence(source, 0, n), counts{Copied: n}, 0},
		{"the beginning", sequence(source, 30_000, n), counts{Copied: n - 30_000, Missing: 30_000}, 1},
		{"all but the last", sequence(source, n-1, n), counts{Copied: 1, Missing: n - 1}, 1},
		{"the middle", slices.Concat(source[:10_000], source[40_000:]), counts{Copied: 20_000, Missing: 30_000}, 1},
		{"two places", slices.Concat(source[:100], source[10_000:10_100], source[49_000:]), counts{Copied: 1_200, Missing: n - 1_200}, 2},
		{"behind another writer's", slices.Concat(other, source[30_000:]), counts{Copied: n - 30_000, Missing: 30_000, Foreign: 10}, 1},
		{"among another writer's", slices.Concat(source[:9], other, source[30_000:]), counts{Copied: n - 30_000 + 9, Missing: 30_000 - 9, Foreign: 10}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(source, renumber(tt.target), WithWindow(64, 16))
			r, unread := d.result()
			if diff := cmp.Diff(tt.want, short(r.Counts)); diff != "" || unread != 0 {
				t.Errorf("%d unread (-want +got):\n%s", unread, diff)
			}
			if d.searches != tt.searches {
				t.Errorf("%d searches, want %d", d.searches, tt.searches)
			}
		})
	}
}

// A target full of another writer's records must not read the source again and
// again.
func TestSearchesThatFindNothingAreFew(t *testing.T) {
	const n = 50_000
	source := manyPrints(n, 0)
	target := make([]Print, n)
	for i := range target {
		target[i] = Print{sum: sum{a: uint64(i)}, parts: parts{key: 5, value: 5, headers: 5, time: untimed}}
	}
	d := drive(source, renumber(target), WithWindow(256, 64))
	r, unread := d.result()
	if r.Foreign+r.Older+r.Undecided != n || r.Pending+unread != n {
		t.Errorf("%+v, %d unread", r.Counts, unread)
	}
	if d.searches > 20 {
		t.Errorf("%d searches", d.searches)
	}
}

func TestAReplayLongerThanTheWindowIsOlderAndNoFault(t *testing.T) {
	const n, back = 10_000, 2_000
	source := manyPrints(n, 0)
	target := renumber(slices.Concat(source[:5_000], source[5_000-back:]))
	r, unread := drive(source, target, WithWindow(500, 100)).result()
	if r.Faults() != 0 || r.Pending+unread != 0 || r.Copied != n {
		t.Errorf("%+v, %d unread", r.Counts, unread)
	}
	if r.Older != back-500 || r.Repeated != 500 {
		t.Errorf("older %d, repeated %d; want %d and 500", r.Older, r.Repeated, back-500)
	}
}

func TestWhatIsRememberedDoesNotGrow(t *testing.T) {
	const n = 300_000
	source := manyPrints(n, 0)
	target := slices.Clone(source)
	for i := 0; i < n-20; i += 10 { // every departure from the sequence makes the index
		target[i], target[i+3] = target[i+3], target[i]
	}
	d := drive(source, renumber(target), WithWindow(chunk, chunk))
	if got := len(d.src.sums.chunks); got > 5 {
		t.Errorf("%d chunks of source records", got)
	}
	if got := len(d.src.index.slots); got > 8*chunk {
		t.Errorf("%d slots of the index", got)
	}
	if got := len(d.src.index.links.chunks); got > 5 {
		t.Errorf("%d chunks of links", got)
	}
	if d.most > 2*chunk {
		t.Errorf("%d records ahead", d.most)
	}
	if r, _ := d.result(); r.Copied != n || r.Missing != 0 || r.Older != 0 {
		t.Errorf("%+v", r.Counts)
	}
}

func TestGapsThatDoNotFitStayMissing(t *testing.T) {
	const n, w = 3_000, 10
	source := manyPrints(n, 0)
	var target []Print
	for i := 1; i < n; i += 2 {
		target = append(target, source[i])
	}
	target = append(target, source[0], source[n-2])
	r, _ := drive(source, renumber(target), WithWindow(w, w)).result()
	if r.Missing != n/2-1 || r.OutOfOrder != 1 || r.Older != 1 {
		t.Errorf("%+v: the last comes late and is known, the first is forgotten", r.Counts)
	}
	if e := r.Examples[0]; e.Fault != Missing || e.Source != at(t, 0) || len(r.Examples) < 10 {
		t.Errorf("the first that is missing is not named: %+v", r.Examples)
	}
}

func TestCompactionIsJudgedAsTheSourceStreams(t *testing.T) {
	const n, w = 4_000, 20
	source := manyPrints(n, 0)
	for i := range source { // each key comes twice, 2000 records apart, but the odd ones of the second half are the first of theirs
		source[i].parts.key = uint64(i%(n/2)) + 10
		if i < n/2 && i%2 == 1 {
			source[i].parts.key += n
		}
	}
	for _, tt := range []struct {
		name    string
		behind  int
		missing int64
	}{
		{"gaps that are remembered", n, n / 4},
		{"gaps that are not are unprovable", w, 2 * w / 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var target []Print
			for i := range source {
				if i >= n/2 || i == 0 {
					target = append(target, source[i])
				}
			}
			r, _ := drive(source, renumber(target), WithWindow(tt.behind, w), WithCompaction()).result()
			if r.Missing+r.Unprovable != n/2-1 || r.Missing > n/4 || tt.behind == n && r.Missing != n/4 || r.Missing == 0 && tt.behind == n {
				t.Errorf("%+v", r.Counts)
			}
		})
	}
}

func TestTheIndexIsTheFirstInItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s source
		letters := rapid.SliceOfN(rapid.IntRange(0, rapid.IntRange(0, 50).Draw(t, "letters")), 1, 300).Draw(t, "source")
		for _, l := range letters {
			s.push(Print{sum: sum{uint64(l), uint64(l % 3)}}) // collisions
		}
		from, to := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "asked") {
			from = rapid.IntRange(from, len(letters)).Draw(t, "from")
			to = rapid.IntRange(max(from, to), len(letters)).Draw(t, "to")
			l := rapid.IntRange(0, 51).Draw(t, "letter")
			got, found := s.find(sum{uint64(l), uint64(l % 3)}, from, to)
			want := slices.Index(letters[from:to], l)
			if found != (want >= 0) || found && got != from+want {
				t.Fatalf("%v[%d:%d], %d: found %d %t", letters, from, to, l, got, found)
			}
		}
	})
}

func TestOffsetsAreFoundAgain(t *testing.T) {
	var o offsets
	if o.position(7) != 0 {
		t.Error("a position where there is none")
	}
	for _, at := range []int64{10, 11, 12, 20, 21, 40} {
		o.push(at)
	}
	for offset, want := range map[int64]int{0: 0, 10: 0, 12: 2, 13: 3, 20: 3, 21: 4, 22: 5, 40: 5, 41: 6} {
		if got := o.position(offset); got != want {
			t.Errorf("offset %d: position %d, want %d", offset, got, want)
		}
	}
}

// What an earlier search found says nothing about the strangers of a later one.
func TestAnOldSearchConcludesNothing(t *testing.T) {
	c := NewComparer(WithWindow(2, 2))
	for _, p := range word("ABCDE", sourceFrom) {
		c.Source(p)
	}
	feed := func(l string, at int64) { c.Target(word(l, targetFrom+at)[0]) }
	feed("Y", 0)
	old, _ := c.Search()
	old.See(word("Y", sourceFrom+20)[0])
	feed("A", 1)
	feed("Z", 2)
	if _, due := c.Search(); !due {
		t.Fatal("no search is due")
	}
	c.Conclude(old, true)
	if n := c.Counts(); c.passingTo() || n.Undecided != 1 || n.Older != 1 || n.Missing != 0 {
		t.Errorf("%+v", n)
	}
}

func TestAlteredRecordsStreamByAsOthersDo(t *testing.T) {
	const n = 5_000
	source := manyPrints(n, 0)
	target := slices.Clone(source)
	for i := range target {
		target[i].sum.a++
		target[i].parts.value++
	}
	r, unread := drive(source, renumber(target), WithWindow(64, 64)).result()
	if r.Altered < n*9/10 || r.Missing != 0 || r.Altered+r.Pending+unread != n {
		t.Errorf("%+v, %d unread", r.Counts, unread)
	}
}
