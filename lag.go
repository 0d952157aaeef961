package flinkmm2

import "github.com/flinkmm2/flinkmm2/offsetmap"

// LagPoint is how far the target was behind at a moment of a watch, over all its
// partitions.
type LagPoint struct {
	At offsetmap.Time `json:"at"`
	// Lag and Unread are as of a PartitionProof: readable source records that the
	// target had not reached, and source offsets beyond them that were not read.
	Lag    int64 `json:"lag"`
	Unread int64 `json:"unread"`
	Copied int64 `json:"copied"` // source records that the target had
}

// maxLagPoints bounds the points of a Proof.
const maxLagPoints = 512

// lagSeries keeps points that are evenly apart, however long it lasts: when there
// are too many, every second is dropped, and from then on of twice as many one is
// kept. The last is always there.
type lagSeries struct {
	points []LagPoint
	every  int // of so many, one is kept
	left   int // so many are dropped before the next is kept
}

func (s *lagSeries) add(p LagPoint) {
	n := len(s.points)
	if n > 0 && !s.points[n-1].At.Before(p.At.Time) { // one a second, which is what a file tells apart; clocks may be set back
		p.At = s.points[n-1].At
		s.points[n-1] = p
		return
	}
	if s.every == 0 {
		s.every = 1
	}
	if n > 1 && s.left > 0 { // the last stands for now alone
		s.left--
		s.points[n-1] = p
		return
	}
	s.left = s.every - 1
	s.points = append(s.points, p)
	if len(s.points) <= maxLagPoints {
		return
	}
	kept := s.points[:0]
	for i, p := range s.points {
		if i%2 == 0 {
			kept = append(kept, p)
		}
	}
	s.points, s.every = kept, 2*s.every
}

// mergeLag adds up series of parts: at each time that one of them has, with what
// each of the others had last.
func mergeLag(parts [][]LagPoint) []LagPoint {
	var out lagSeries
	at := make([]int, len(parts))
	for {
		var next *LagPoint
		for i, points := range parts {
			if at[i] < len(points) && (next == nil || points[at[i]].At.Before(next.At.Time)) {
				next = &points[at[i]]
			}
		}
		if next == nil {
			return append([]LagPoint{}, out.points...)
		}
		sum := LagPoint{At: next.At}
		for i, points := range parts {
			for at[i] < len(points) && !points[at[i]].At.After(sum.At.Time) {
				at[i]++
			}
			if at[i] > 0 {
				last := points[at[i]-1]
				sum.Lag, sum.Unread, sum.Copied = sum.Lag+last.Lag, sum.Unread+last.Unread, sum.Copied+last.Copied
			}
		}
		out.add(sum)
	}
}
