package delivery

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// letter is the content of a record of which there may be several: its time is its own.
func letter(i int) content {
	return content{value: digest{byte(i)}, key: digest{1, byte(i)}, withKey: true, time: int64(1000 + i)}
}

// A log of few letters has equal records in every place. Of small ones all is known, so
// that what is there can be counted.
func TestAnyFewLettersAreJudgedAsCountingDoes(t *testing.T) {
	t.Parallel()
	const letters, samples = 4, 3
	rapid.Check(t, func(t *rapid.T) {
		logOf := rapid.SliceOfN(rapid.IntRange(0, letters-1), 0, 8)
		s := &search{
			look:   &look{samples: samples, request: preflight.DeliveryRequest{MayBeCompacted: func(string) bool { return false }}},
			target: &topic{cluster: &cluster{}}, places: []*place{{since: 0}},
			hits: map[content]*hit{}, changed: map[content]bool{}, taken: map[content]int{},
		}
		before, after, have := map[int]int{}, map[int]int{}, map[int]int{}
		last := map[int32][]int{}
		for n := range int32(rapid.IntRange(1, 3).Draw(t, "partitions")) {
			log := logOf.Draw(t, fmt.Sprintf("source %d", n))
			c := rapid.IntRange(0, len(log)).Draw(t, fmt.Sprintf("C of %d", n))
			p := &part{tp: offsetmap.TopicPartition{Topic: "t", Partition: n}, c: int64(c), seen: map[content]int{}, whole: true}
			for i, l := range log {
				switch one := (sample{content: letter(l), size: 1}); {
				case i >= c:
					after[l]++
					p.after = append(p.after, one)
				case i >= c-samples:
					last[n] = append(last[n], l)
					p.before = append(p.before, one)
					fallthrough
				default:
					before[l]++
					p.seen[letter(l)]++
				}
			}
			if c == 0 {
				p.nothing = preflight.NothingBefore
			}
			s.parts, s.sought = append(s.parts, p), append(s.sought, p)
		}
		for _, l := range logOf.Draw(t, "target") {
			have[l]++
			s.hits[letter(l)] = &hit{count: have[l], lies: []int32{0}}
		}
		s.compare()

		var beyond, wantBeyond int64
		for _, p := range s.parts {
			d := s.judge(p)
			beyond += d.Beyond
			want := preflight.Delivered
			if len(p.before) == 0 {
				want = preflight.NothingBefore
			}
			for _, l := range last[p.tp.Partition] {
				if have[l] < before[l] {
					want = preflight.NotDelivered
				}
			}
			if d.Outcome != want {
				t.Errorf("%s: %s (%s), want %s", p.tp, d.Outcome, d.Reason, want)
			}
		}
		for l, n := range after {
			wantBeyond += int64(min(max(have[l]-before[l], 0), n))
		}
		if beyond != wantBeyond {
			t.Errorf("%d are beyond, want %d", beyond, wantBeyond)
		}
	})
}

// Whatever the times of records, each lies behind the place where its copy is looked
// for, and what clocks may differ by behind the one from which on all must be read.
func TestEveryTimeHasItsPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, 90*24*3600*1000), 1, 300).Draw(t, "times")
		s := &search{}
		all := sinces(append([]int64{}, times...))
		for i, since := range all {
			s.places = append(s.places, &place{since: since})
			if i > 0 && since <= all[i-1] || since < 0 {
				t.Fatalf("the places begin at %v", all)
			}
		}
		if len(all) > 2*mostPlaces+2 {
			t.Errorf("%d places", len(all))
		}
		for _, at := range times {
			if home := s.places[s.home(at)].since; home > at {
				t.Errorf("%d is looked for from %d on", at, home)
			}
			if from := s.places[s.from(at)].since; from > max(at-slack.Milliseconds(), 0) {
				t.Errorf("%d is missing when all from %d on was read", at, from)
			}
		}
	})
}
