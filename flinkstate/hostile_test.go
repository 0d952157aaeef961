package flinkstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// Whatever four bytes of a file become, reading neither panics nor takes memory
// by what a count or length says instead of by what is there.
func TestWildNumbersTakeNoMemory(t *testing.T) {
	for _, name := range []string{"flink-1.14-all-files-p2", "flink-1.20-compressed", "flink-2.2-unaligned-inflight"} {
		e := fixture(t, name)
		m := memory(t, name)
		for _, file := range opened(t, e) {
			whole := m[file].Data
			b := slices.Clone(whole)
			m[file].Data = b
			at, reads, before := 0, uint64(0), allocated()
			for ; at+4 <= len(b); at++ {
				for _, v := range []uint32{0x7fffffff, uint32(len(b))} {
					binary.BigEndian.PutUint32(b[at:], v)
					_, _ = flinkstate.Read(m, e.Pointer, flinkstate.WithPathMap(e.PathMap))
					reads++
				}
				copy(b[at:], whole[at:at+4])
				if at%64 == 63 || at+4 == len(b) {
					if n := allocated() - before; n > reads*64<<10 {
						t.Fatalf("%s: %d reads of %s with wild numbers up to byte %d took %d bytes of memory", name, reads, file, at, n)
					}
					reads, before = 0, allocated()
				}
			}
			m[file].Data = whole
		}
	}
}

// The most that any byte of a file can cost: operators, and partitions of a
// short name, that a file made for it packs as tightly as the format lets it.
func TestMemoryIsAMultipleOfTheFile(t *testing.T) {
	operators := oneSource(t, nil, reader(split("a", 0, 5, noStop)))
	for i := range 20_000 {
		operators.operators = append(operators.operators, jobOp{id: fmt.Sprintf("%032x", i), parallelism: 1})
	}
	o := new(out).put(20_000)
	for i := range 20_000 {
		o.put("a", i)
	}
	partitions := oneSource(t, enumerator(1, o.Bytes()), reader())
	var last [][]byte
	for i := range 20_000 {
		last = append(last, kryoElement([]byte{2}, 0, "a", int32(i), int64(i)))
	}
	offsets := oneSource(t, nil, legacy(last...))
	// The enumerator of a DynamicKafkaSource: clusters, and topics of one.
	o = new(out).put(1, "", 20_000)
	for i := range 20_000 {
		o.put(fmt.Sprintf("%x", i), 0, "")
	}
	o.put(2, 1, "c", sized(1, "a", 0, 0, int8(1)))
	clusters := oneSource(t, enumerator(1, o.Bytes()), reader())
	o = new(out).put(1, "", 1, "c", 20_000)
	for i := range 20_000 {
		o.put(fmt.Sprintf("%x", i))
	}
	o.put("", 2, 1, "c", sized(1, "a", 0, 0, int8(1)))
	topics := oneSource(t, enumerator(1, o.Bytes()), reader())
	// A sink's transactions, and a state for each of few elements.
	o = new(out).put("p", 0, 1, 0, 20_000)
	for i := range 20_000 {
		o.put(fmt.Sprintf("%x", i), int64(1))
	}
	sink := oneSource(t, nil, reader(split("a", 0, 5, noStop)))
	sink.operators = append(sink.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: inState(writerState, sinkElement(2, o.Bytes()))}}})
	for name, j := range map[string]job{
		"operators": operators, "partitions": partitions, "last offsets": offsets,
		"clusters": clusters, "topics of a cluster": topics, "transactions": sink,
	} {
		fsys := j.fsys(nil)
		size := uint64(len(fsys["sp/_metadata"].Data))
		before := allocated()
		if _, err := flinkstate.Read(fsys, "sp"); err != nil {
			t.Fatal(err)
		}
		if n := allocated() - before; n > 48*size {
			t.Errorf("%s: %d bytes took %d bytes of memory", name, size, n)
		} else {
			t.Logf("%s: %d times its size", name, n/size)
		}
	}
}

// allocated returns the bytes of memory that were ever taken.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A chain of handles inside handles ends in an error, not in a deep stack.
func TestNestedHandlesAreBounded(t *testing.T) {
	keyed := bytes.Repeat(put(int8(14), 0, 1, int64(0), 1), 100_000)
	stream := bytes.Repeat(put(int8(3), 0, 0), 100_000)
	for name, h := range map[string][]byte{"keyed": keyed, "stream": append(put(int8(3), 0, 0), stream...)} {
		j := oneSource(t, nil, reader(split("orders", 0, 5, noStop)))
		j.operators[0].subtasks[0].keyed = h
		_, err := flinkstate.Read(j.fsys(nil), "sp")
		if !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), "nested more than") {
			t.Errorf("%s: got %v, want an ErrCorrupt", name, err)
		}
	}
}
