// Package weak has tests that leave some mutants alive, for the test of mutate.
package weak

import (
	"strconv"
	"strings"
	"time"
)

// Inside says whether v lies from low to high. Its tests do not know the bounds.
func Inside(v, low, high int) bool {
	return v >= low && v <= high
}

// Sum adds, and its tests know it.
func Sum(all ...int) int {
	n := 0
	for _, v := range all {
		n += v
	}
	return n
}

// Count counts what is not nil. No test asks.
func Count(all ...error) (n int) {
	for _, err := range all {
		if err != nil {
			n++
		}
	}
	return n
}

// Shapes holds operators where they are hard to replace, and tests that know all of them.
func Shapes(a []int, d time.Duration, name string) string {
	var out []string
	if a == nil ||
		len(a) > 2 &&
			(a[0] != a[1] || // a comment
				a[1] < a[2]) {
		out = append(out, name+"-long")
	}
	n := 0
	for n++; n < 3; n++ {
		out = append(out, strconv.Itoa(n*10-n))
	}
	if half := d / 2; half >= time.Second {
		out = append(out, (half + 1).String())
	}
	rest := 7
	rest -= n % 2
	rest--
	return strings.Join(append(out, strconv.Itoa(rest)), " ")
}
