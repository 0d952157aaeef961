package flinkstate

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What most splits have in common is kept once: each comes out as it went in.
func TestSplitListGivesBackWhatItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l splitList
		var want []split
		for range rapid.IntRange(0, 30).Draw(t, "splits") {
			want = append(want, split{
				start: rapid.Int64().Draw(t, "start"), topic: rapid.Uint32().Draw(t, "topic"), partition: rapid.Int32().Draw(t, "partition"),
				stop:    rapid.SampledFrom([]int64{noStop, noStop, noStop, 0, 7}).Draw(t, "stop"),
				subtask: rapid.SampledFrom([]int32{fromEnumerator, 0, 1, 1}).Draw(t, "subtask"),
				state:   rapid.SampledFrom([]splitState{splitHeld, splitHeld, splitHeld, splitAssigned, splitUnassigned}).Draw(t, "state"),
			})
			l.add(&want[len(want)-1])
		}
		if got := slices.Collect(l.all()); !slices.Equal(got, want) || l.len() != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for i := range want {
			s := l.at(i)
			if s.subtask = l.subtask(i); s != want[i] {
				t.Fatalf("split %d: got %v, want %v", i, s, want[i])
			}
		}
	})
}
