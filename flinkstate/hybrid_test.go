package flinkstate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// A HybridSource that has come to Kafka was taken for a source that has nothing to do with Kafka: beside a
// KafkaSource its partitions would have been left out of a plan without a word.
func TestHybridSourceOverKafkaIsNamed(t *testing.T) {
	inner := func(topic string) []byte { return put(topic, 0, int64(7), int64(noStop)) }
	wrap := func(version, wrapped int, inner []byte, end ...any) []byte {
		return put(version, sized(append([]any{0, "orders-0", wrapped, len(inner), inner}, end...)...))
	}
	for name, tc := range map[string]struct {
		element []byte
		named   bool
	}{
		"version 0":              {wrap(0, 0, inner("orders")), true},
		"version 1":              {wrap(1, 0, inner("orders"), int8(1)), true},
		"version 1, cut":         {wrap(1, 0, inner("orders")), false},
		"version 0, and more":    {wrap(0, 0, inner("orders"), int8(1)), false},
		"version 2":              {wrap(2, 0, inner("orders")), false},
		"a file's split":         {wrap(0, 1, inner("orders")), false},
		"no legal topic":         {wrap(0, 0, inner("orders/eu")), false},
		"half a split of Kafka":  {wrap(0, 0, inner("orders")[:9]), false},
		"a longer one of Kafka":  {wrap(0, 0, append(inner("orders"), 0)), false},
		"length beyond the last": {put(0, sized(0, "orders-0", 0, 99)), false},
	} {
		t.Run(name, func(t *testing.T) {
			j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
			k := oneSource(t, enumerator(1, 0), reader(tc.element))
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			snap := read(t, j)
			i := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == otherID })
			o := snap.Operators[i]
			warned := slices.ContainsFunc(snap.Warnings, func(w flinkstate.Warning) bool {
				return w.Code == flinkstate.SourceUnidentified && w.OperatorID == otherID && strings.Contains(w.Text, "HybridSource")
			})
			if warned != tc.named || strings.Contains(o.Skipped, "HybridSource") != tc.named || len(o.BeyondCopying) != 1 || strings.Contains(o.BeyondCopying[0], "HybridSource") != tc.named {
				t.Errorf("operator %+v, warnings %+v", o, snap.Warnings)
			}
		})
	}
	_, err := fixture(t, "flink-1.19-hybrid-source").read()
	if !errors.Is(err, flinkstate.ErrNoPosition) || !strings.Contains(err.Error(), "HybridSource that has come to Kafka") {
		t.Errorf("a real one: %v", err)
	}
}
