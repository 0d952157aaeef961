package weak

import (
	"testing"
	"time"
)

func TestInside(t *testing.T) {
	if !Inside(5, 1, 9) || Inside(0, 1, 9) || Inside(10, 1, 9) || !Inside(1, 1, 9) {
		t.Error("inside")
	}
}

func TestSum(t *testing.T) {
	if Sum(1, 2, 3) != 6 {
		t.Error("sum")
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		a    []int
		d    time.Duration
		want string
	}{
		{nil, 0, "x-long 9 18 5"},
		{[]int{1}, 0, "9 18 5"},
		{[]int{1, 1}, 0, "9 18 5"},
		{[]int{1, 2}, 0, "9 18 5"},
		{[]int{1, 1, 1}, 0, "9 18 5"},
		{[]int{1, 2, 2}, 0, "x-long 9 18 5"},
		{[]int{1, 1, 2}, 0, "x-long 9 18 5"},
		{[]int{2, 1, 1}, 2 * time.Second, "x-long 9 18 1.000000001s 5"},
		{[]int{}, 2*time.Second - 2, "9 18 5"},
	} {
		if got := Shapes(c.a, c.d, "x"); got != c.want {
			t.Errorf("%v: %q, want %q", c, got, c.want)
		}
	}
}
