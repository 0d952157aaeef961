package flinkstate_test

import (
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// What is skipped is skipped to the byte, in every form that Flink has written
// (MetadataV2V3SerializerBase): the operator behind it is read.
func TestEveryHandleThatIsSkipped(t *testing.T) {
	one := inline([]byte("some bytes"))
	paths := put(2, "000017.sst", relative("a", 9), "MANIFEST", absolute("s3://b/m", 8))
	keyed := map[string][]byte{
		"3 key groups":                   put(int8(3), 0, 2, int64(1), int64(2), one),
		"3 key groups, null stream":      put(int8(3), 0, 0, int8(0)),
		"7 key groups of a savepoint":    put(int8(7), 0, 1, int64(1), relative("f", 5)),
		"12 key groups with id":          put(int8(12), 5, 1, int64(1), absolute("file:/f", 5), "id"),
		"5 incremental":                  put(int8(5), int64(4), "backend", 0, 64, one, paths, put(0)),
		"11 incremental with size":       put(int8(11), int64(4), "backend", 0, 64, int64(99), one, paths, paths, "id"),
		"8 changelog":                    put(int8(8), 0, 64, int64(10), 1, put(int8(7), 0, 0, one), 1, put(int8(9), 0, 1, int64(0), int64(1), 0, "id"), int64(3), "id"),
		"14 changelog with checkpoint":   put(int8(14), 0, 64, int64(10), 1, put(int8(14), 0, 1, int64(0), 0, 0, int64(0), int64(0), "in"), 0, int64(3), int64(4), "id"),
		"9 changes in memory":            put(int8(9), 0, 1, int64(0), int64(1), 2, -1, sized([]byte("meta")), 7, sized([]byte("data")), "id"),
		"10 changes in files":            put(int8(10), 0, 1, 1, int64(4), absolute("s3://b/c", 9), int64(1), int64(2), "id"),
		"13 changes in files of a store": put(int8(13), 0, 1, 2, int64(4), relative("c", 9), int64(5), one, int64(1), int64(2), "id", "filesystem"),
		"12 in a segment":                put(int8(12), 5, 1, int64(1), segment("file:/taskowned/x", 100, 5), "id"),
		"12 in an empty segment":         put(int8(12), 5, 1, int64(1), int8(16), "id"),
	}
	channels := map[int]map[string][]byte{
		3: {"channel": put(0, 1, 2, 2, int64(1), int64(2), int64(4096), one)},
		6: {
			"1 channel":        put(int8(1), 0, 1, 2, 1, int64(1), int64(4096), one),
			"2 subpartition":   put(int8(2), 0, 1, 2, 0, int64(0), relative("r", 1)),
			"3 merged channel": put(int8(3), 0, int64(4096), one, sized([]byte("offsets"))),
			"4 merged results": put(int8(4), 0, int64(4096), relative("r", 1), sized()),
		},
	}
	others := map[string][]byte{
		"4 of two states":        handle(one, listState{"a", 0, []int64{1, 2}}, listState{"b", 2, []int64{3}}),
		"17 merged":              put(int8(17), 1, "a", int8(1), 1, int64(7), "file:/owned", "file:/shared", int8(0), segment("file:/owned/x", 9, 9)),
		"17 merged, empty":       put(int8(17), 0, "file:/owned", "file:/shared", int8(1), int8(16)),
		"0 null behind its flag": {0},
	}
	behind := func(t *testing.T, version int, s jobSubtask) {
		t.Helper()
		j := oneSource(t, nil, reader(split("orders", 0, 5, noStop)))
		j.version = version
		first := jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{s}}
		j.operators = []jobOp{first, j.operators[0]}
		snap, err := flinkstate.Read(j.fsys(nil), "sp")
		if err != nil {
			t.Errorf("version %d: %v", version, err)
		} else if got := listed(snap.Sources[0].Partitions); len(got) != 1 || got[0] != "orders-0@5" {
			t.Errorf("version %d: %v", version, got)
		}
	}
	for name, h := range keyed {
		t.Run("keyed "+name, func(t *testing.T) {
			for version := 2; version <= 6; version++ {
				behind(t, version, jobSubtask{keyed: h})
			}
		})
	}
	for name, h := range others {
		t.Run("operator "+name, func(t *testing.T) {
			for version := 2; version <= 6; version++ {
				behind(t, version, jobSubtask{managed: h})
			}
		})
	}
	for version, hs := range channels {
		for name, h := range hs {
			t.Run(name, func(t *testing.T) { behind(t, version, jobSubtask{channels: [][]byte{h, h}}) })
		}
	}
}
