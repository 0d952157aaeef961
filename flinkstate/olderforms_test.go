package flinkstate_test

import (
	"slices"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Flink 1.3 to 1.6 wrote versions 2 to 4 of an operator state, whose elements
// stand where the metadata says as in those of version 5
// (OperatorBackendSerializationProxy.getCompatibleVersions). A FlinkKafkaConsumer
// of those years is read, not refused.
func TestOperatorStateOfEveryFlinkSinceVersion13IsRead(t *testing.T) {
	element := lastRead("orders", 3, 41)
	for version := 2; version <= 5; version++ {
		o := new(out).put(version, int16(1), legacyState, []byte("serializers of that Flink, in a format of their own"), 1)
		at := int64(o.Len())
		stream := o.put(element).Bytes()
		j := oneSource(t, nil, handle(inline(stream), listState{legacyState, 1, []int64{at}}))
		j.version = 2
		snap, err := flinkstate.Read(j.fsys(nil), "sp")
		if err != nil {
			t.Errorf("version %d: %v", version, err)
			continue
		}
		if got := listed(snap.Sources[0].Partitions); !slices.Equal(got, []string{"orders-3@42"}) {
			t.Errorf("version %d: %v", version, got)
		}
	}
}
