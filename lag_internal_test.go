package flinkmm2

import (
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func lagAt(second int, lag int64) LagPoint {
	return LagPoint{At: offsetmap.At(time.Unix(int64(second), 0)), Lag: lag}
}

func TestALagSeriesStaysWithinItsBound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 511, 512, 513, 514, 1025, 5000, 100_000} {
		var s lagSeries
		for i := range n {
			s.add(lagAt(i, int64(i)))
			if len(s.points) > maxLagPoints {
				t.Fatalf("%d points after %d", len(s.points), i+1)
			}
			if last := s.points[len(s.points)-1]; last.Lag != int64(i) {
				t.Fatalf("the last of %d is %d", i, last.Lag)
			}
		}
		if s.points[0].Lag != 0 || n >= maxLagPoints && len(s.points) < maxLagPoints/2 {
			t.Errorf("of %d, %d are left, from %d on", n, len(s.points), s.points[0].Lag)
		}
		for i, p := range s.points[1:] {
			gap := p.Lag - s.points[i].Lag
			if last := i == len(s.points)-2; gap <= 0 || !last && gap != int64(s.every) {
				t.Errorf("of %d, point %d is %d behind the one before, want %d", n, i+1, gap, s.every)
				break
			}
		}
	}
}

func TestOneSecondHasOnePoint(t *testing.T) {
	t.Parallel()
	var s lagSeries
	s.add(lagAt(5, 9))
	s.add(lagAt(5, 8))
	s.add(lagAt(4, 7)) // a clock that was set back
	if len(s.points) != 1 || s.points[0] != lagAt(5, 7) {
		t.Errorf("%+v", s.points)
	}
}

func TestLagOfPartsAddsUpAtEachTime(t *testing.T) {
	t.Parallel()
	got := mergeLag([][]LagPoint{{lagAt(1, 10), lagAt(4, 0)}, {lagAt(2, 100), lagAt(4, 1)}, nil})
	want := []LagPoint{lagAt(1, 10), lagAt(2, 110), lagAt(4, 1)}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if got := mergeLag(nil); got == nil || len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
