package proof

import "testing"

// With equal records a lost one can look like a repeat followed by a swap.
func TestOneRecordLeftOutIsNeverCalledOutOfOrder(t *testing.T) {
	words("ABC", 8, func(source string) {
		if !firstUse(source) {
			return
		}
		for i := range len(source) {
			target := source[:i] + source[i+1:]
			r := compare(source, "", target).Result()
			notYet := r.Pending > 0 && r.Faults() == 0
			if !notYet && (r.Missing != 1 || r.Faults() != 1) {
				t.Fatalf("source %q, target %q: %+v, want one missing, or pending", source, target, r.Counts)
			}
		}
	})
}
