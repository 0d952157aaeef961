package flinkstate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Splits of other sources may start with a name that could be a topic's, at a
// version that is no split of Kafka. They are not taken for those of a newer
// connector, which would refuse the positions of the source of Kafka beside them.
func TestSplitsThatStartWithANameArePassedOver(t *testing.T) {
	javaObject := sized([]byte("\xac\xed\x00\x05sr\x00)org.apache.paimon.table.source.DataSplit"), make([]byte, 40))
	for name, foreign := range map[string][]byte{
		// FileSourceSplitSerializer 1: id, path as Path.serializeToDataOutputView
		// writes it, offset, length, times and sizes, hosts, position.
		"FileSource": put(
			"0000000001", int8(1), []byte("\x05file"), int8(0), int8(0), -1, []byte("\x0e/data/part-01"), int8(0), int8(0),
			int64(0), int64(4096), int64(1700000000000), int64(4096), 1, "host-1", int8(0),
		),
		// RocketMQSourceSplitSerializer 1: topic, broker, queue, offsets.
		"RocketMQ": put("orders", "broker-a", 3, int64(17), int64(-1)),
		// Paimon's FileStoreSourceSplitSerializer 1: id, an object of Java, records.
		"Paimon": put("7d3f1a80-1", javaObject, int64(0)),
	} {
		t.Run(name, func(t *testing.T) {
			j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
			k := oneSource(t, enumerator(1, []byte{0xef, 0xbe, 0xad, 0xde}, make([]byte, 16)), reader(put(1, sized(foreign))))
			k.operators[0].id = otherID
			j.operators = append(j.operators, k.operators...)
			snap, err := flinkstate.Read(j.fsys(nil), "sp")
			if err != nil {
				t.Fatal(err)
			}
			if got := listed(snap.Sources[0].Partitions); len(snap.Sources) != 1 || !slices.Equal(got, []string{"orders-0@5"}) {
				t.Errorf("%d sources, %v", len(snap.Sources), got)
			}
			i := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == otherID })
			if !strings.Contains(snap.Operators[i].Skipped, "another source's splits") || len(snap.Operators[i].BeyondCopying) == 0 {
				t.Errorf("the other source is not named: %+v", snap.Operators[i])
			}
		})
	}
}
