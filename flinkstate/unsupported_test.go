package flinkstate_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// What is not known is an error that names it, also when a KafkaSource beside
// it could be read: the rest would be taken for all.
func TestUnknownFormsAreUnsupported(t *testing.T) {
	good := split("orders", 0, 5, noStop)
	props := properties(t)
	stream, at := plainStream(good)
	beside := func(change func(*jobSubtask)) job {
		j := oneSource(t, assigned("orders", 0), reader(good))
		s := jobSubtask{}
		change(&s)
		j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{s}})
		return j
	}
	other := func(coordinator []byte, elements ...[]byte) job {
		j := oneSource(t, assigned("orders", 0), reader(good))
		k := oneSource(t, coordinator, reader(elements...))
		k.operators[0].id = otherID
		j.operators = append(j.operators, k.operators...)
		return j
	}
	manyStates := func(from, to int) []byte {
		var all []listState
		for i := from; i < to; i++ {
			all = append(all, listState{name: strconv.Itoa(i)})
		}
		return handle(put(int8(0)), all...)
	}
	subtasks := func(handles ...[]byte) job {
		j := oneSource(t, nil, handles...)
		j.operators[0].id = otherID
		return j
	}
	dynamicSplit2 := put(2, sized("cluster-0", int8(1), int64(3), 0, "orders", 0, int64(5), int64(noStop)))
	for _, tt := range []struct {
		name string
		meta []byte
		want []string
	}{
		{"metadata version 1", put(0x4960672d, 1, int64(1), 0, 0), []string{"byte 4", "metadata version 1", "versions 2 to 6"}},
		{"metadata version 0", put(0x4960672d, 0, int64(1), 0, 0), []string{"byte 4", "metadata version 0", "versions 2 to 6"}},
		{"negative metadata version", put(0x4960672d, -1, int64(1), 0, 0), []string{"byte 4", "metadata version -1", "versions 2 to 6"}},
		{"metadata version 7", put(0x4960672d, 7, int64(1), 0, 0), []string{"byte 4", "metadata version 7", "newer"}},
		{"stream handle", oneSource(t, nil, handle(put(int8(18)), listState{readerState, 0, at})).bytes(), []string{testSource, "subtask 0", "stream handle type 18"}},
		{"operator state handle", beside(func(s *jobSubtask) { s.managed = put(int8(18)) }).bytes(), []string{otherID, "operator state handle type 18"}},
		{"keyed state handle", beside(func(s *jobSubtask) { s.keyed = put(int8(19)) }).bytes(), []string{otherID, "keyed state handle type 19"}},
		{"channel state handle", job{version: 6, operators: beside(func(s *jobSubtask) { s.channels = [][]byte{put(int8(9))} }).operators, properties: props}.bytes(), []string{otherID, "channel state handle type 9"}},
		{"splits in a handle for keyed state", oneSource(t, nil, handle(put(int8(3), 0, 0, inline(stream)), listState{readerState, 0, at})).bytes(), []string{"stream handle type 3"}},
		{"operator state version", oneSource(t, nil, handle(inline(append(put(7), stream[4:]...)), listState{readerState, 0, at})).bytes(), []string{testSource, "operator state version 7"}},
		{"operator state of Flink 1.2", oneSource(t, nil, handle(inline(append(put(1), stream[4:]...)), listState{readerState, 0, at})).bytes(), []string{testSource, "byte ", "operator state header", "operator state version 1 (versions 2 to 6 are read)"}},
		{"coordinator version", oneSource(t, put(2, 2, sized(0, int8(1))), reader(good)).bytes(), []string{testSource, "coordinator version", "version 2"}},
		{"enumerator version", oneSource(t, enumerator(4, 0, int8(1)), reader(good)).bytes(), []string{testSource, "enumerator state version 4"}},
		{"split version of the enumerator", oneSource(t, enumerator(3, 0, 1, int8(1)), reader(good)).bytes(), []string{testSource, "split serializer version 1"}},
		{"too many states", beside(func(s *jobSubtask) { s.managed = manyStates(0, 4097) }).bytes(), []string{otherID, "4097 states in one operator"}},
		{"too many states over all subtasks", subtasks(manyStates(0, 4096), manyStates(1, 4097)).bytes(), []string{otherID, "more than 4096 states"}},
		{"newer split", other(nil, put(1, sized("orders", 0, int64(5), int64(noStop), int64(77)))).bytes(), []string{otherID, "split serializer version 1"}},
		{"dynamic source of the next version", other(nil, dynamicSplit2).bytes(), []string{otherID, "DynamicKafkaSource"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap, err := flinkstate.Read(fstest.MapFS{"sp/_metadata": {Data: tt.meta}}, "sp")
			var u *flinkstate.UnsupportedError
			if snap != nil || !errors.Is(err, flinkstate.ErrUnsupported) || !errors.As(err, &u) {
				t.Fatalf("got %v, want an ErrUnsupported", err)
			}
			for _, want := range append(tt.want, "sp/_metadata") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}
