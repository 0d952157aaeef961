package flinkstate_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// What doc.go promises of memory holds for each structure by itself, when a file
// packs of it what takes most: whether it is read in the end or refused.
func TestMemoryIsAMultipleOfEachStructure(t *testing.T) {
	const many = 20_000
	short := func(i int) string { return fmt.Sprintf("%x", i) }
	inFile := func(stream []byte, states ...listState) (job, map[string][]byte) {
		return oneSource(t, nil, handle(relative("x", len(stream)), states...)), map[string][]byte{"sp/x": stream}
	}
	listOf := func(count int, element func(i int) []byte) (stream []byte, at []int64) {
		var all [][]byte
		for i := range count {
			all = append(all, element(i))
		}
		return plainStream(all...)
	}
	noEnumerator := func(body ...any) (job, map[string][]byte) {
		return oneSource(t, enumerator(3, body...), reader(split("a", 0, 5, noStop))), nil
	}
	for name, built := range map[string]func() (job, map[string][]byte){
		"metadata: names of operators": func() (job, map[string][]byte) {
			j := oneSource(t, nil, reader(split("a", 0, 5, noStop)))
			for i := range many {
				j.operators = append(j.operators, jobOp{id: fmt.Sprintf("%032x", i), uid: short(i), name: short(i), parallelism: 1})
			}
			j.version = 6
			return j, nil
		},
		"metadata: finished subtasks": func() (job, map[string][]byte) {
			j := oneSource(t, nil, reader(split("a", 0, 5, noStop)))
			for i := range 8 {
				op := jobOp{id: fmt.Sprintf("%032x", i), parallelism: 1 << 15}
				for s := range 1 << 15 {
					op.subtasks = append(op.subtasks, jobSubtask{index: s, finished: true})
				}
				j.operators = append(j.operators, op)
			}
			return j, nil
		},
		"metadata: states": func() (job, map[string][]byte) {
			var states []listState
			for i := range 4096 {
				states = append(states, listState{name: short(i)})
			}
			j := oneSource(t, nil, reader(split("a", 0, 5, noStop)))
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: handle(put(int8(0)), states...)}}})
			return j, nil
		},
		"metadata: subtasks with state": func() (job, map[string][]byte) {
			var handles [][]byte
			for range many {
				handles = append(handles, handle(inline(nil), listState{readerState, 0, nil}, listState{"x", 0, nil}))
			}
			return oneSource(t, assigned("a", 0), handles...), nil
		},
		"operator state: empty elements": func() (job, map[string][]byte) {
			stream, at := listOf(many, func(int) []byte { return nil })
			return inFile(stream, listState{readerState, 0, at})
		},
		"splits: a topic each": func() (job, map[string][]byte) {
			stream, at := listOf(many, func(i int) []byte { return split(short(i), 0, 5, noStop) })
			return inFile(stream, listState{readerState, 0, at})
		},
		"splits of a DynamicKafkaSource: a cluster each": func() (job, map[string][]byte) {
			stream, at := listOf(many, func(i int) []byte { return dynamicSplit(short(i), "a", 0, 5) })
			return inFile(stream, listState{readerState, 0, at})
		},
		"enumerator, version 3": func() (job, map[string][]byte) {
			o := new(out).put(many, 0)
			for i := range many {
				o.put(sized(short(i), 1, int64(5), int64(noStop)), 0)
			}
			return noEnumerator(o.Bytes(), int8(1))
		},
		"last offsets: a topic each": func() (job, map[string][]byte) {
			var last [][]byte
			for i := range many {
				last = append(last, kryoElement([]byte{2}, 0, "t"+short(i), 0, int64(i)))
			}
			stream, at := unframed(false, last...)
			return inFile(stream, listState{legacyState, 1, at})
		},
		"sink: prefixes": func() (job, map[string][]byte) {
			var all [][]byte
			for i := range many {
				all = append(all, sinkElement(1, short(i)))
			}
			j := oneSource(t, nil, reader(split("a", 0, 5, noStop)))
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: inState(writerState, all...)}}})
			return j, nil
		},
		// A block of zeros is 21 times what it takes: each chunk an element that is none.
		"compressed, a chunk for each element": func() (job, map[string][]byte) {
			stream, states := compressedStream(map[string][][]byte{readerState: zeros(200)}, readerState)
			return inFile(stream, states...)
		},
		"compressed by Flink 1.18.1": func() (job, map[string][]byte) {
			stream, states := unflushedStream(map[string][][]byte{readerState: zeros(200)}, readerState)
			return inFile(stream, states...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			j, files := built()
			fsys := j.fsys(files)
			size := uint64(0)
			for _, f := range fsys {
				size += uint64(len(f.Data))
			}
			before := allocated()
			_, err := flinkstate.Read(fsys, "sp", flinkstate.WithSinkFiles(), flinkstate.WithReaders(1))
			n := allocated() - before
			if err != nil && !errors.Is(err, flinkstate.ErrCorrupt) && !errors.Is(err, flinkstate.ErrNoPosition) {
				t.Fatal(err)
			}
			t.Logf("%d bytes, %d times that in memory (%v)", size, n/size, err != nil)
			if n > 48*size {
				t.Errorf("%d bytes took %d bytes of memory, %d times as many", size, n, n/size)
			}
		})
	}
}

// zeros are elements that compress as far as Snappy goes.
func zeros(n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = make([]byte, 60<<10)
	}
	return all
}
