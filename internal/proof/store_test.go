package proof

import "testing"

func TestOffsetsWithoutHolesTakeNoMemory(t *testing.T) {
	var o offsets
	for i := range int64(1000) {
		o.push(50 + i)
	}
	o.push(5000)
	if len(o.runs) != 2 || o.at(0) != 50 || o.at(999) != 1049 || o.at(1000) != 5000 {
		t.Errorf("%d runs; %d, %d, %d", len(o.runs), o.at(0), o.at(999), o.at(1000))
	}
}

func TestHalfADigestIsNoDigest(t *testing.T) {
	var s source
	for _, want := range []sum{{1, 1}, {1, 1 << 40}, {2, 1}} {
		if _, found := s.find(want, 0, s.len()); found {
			t.Errorf("%v is found before it is there", want)
		}
		s.push(Print{sum: want})
		if p, found := s.find(want, 0, s.len()); !found || p != s.len()-1 {
			t.Errorf("%v: position %d, %t", want, p, found)
		}
	}
}
