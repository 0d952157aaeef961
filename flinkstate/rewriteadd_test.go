package flinkstate_test

import (
	"os"
	"slices"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/flinklab/golden"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ordersAt names next offsets of partitions 0 on.
func ordersAt(t *testing.T, cs ...int64) nextOffsets {
	m := nextOffsets{}
	for i, c := range cs {
		m[orders(int32(i))] = next(t, c)
	}
	return m
}

// status is an enumerator's state of version 3, a partition for each status.
func status(partitions ...any) []byte {
	o := new(out).put(len(partitions), 0)
	for i, s := range partitions {
		o.put(sized("orders", i, int64(-2), int64(noStop)), s)
	}
	return enumerator(3, o.Bytes(), int8(1))
}

// A partition that no reader holds goes to one, and the enumerator is told, so that the
// restored job does not take it for new and read it from its first record.
func TestPartitionsAddedToASavepoint(t *testing.T) {
	two := []listState{{readerState, 0, nil}, {writerState, 0, nil}}
	shared, at := compressedStream(map[string][][]byte{readerState: {split("orders", 0, 5, noStop)}, writerState: {sinkElement(1, "prefix")}}, readerState, writerState)
	two[0].offsets, two[1].offsets = at[0].offsets, at[1].offsets
	squeezed, sat := compressedStream(map[string][][]byte{readerState: {split("orders", 0, 5, noStop)}}, readerState)
	for name, tt := range map[string]struct {
		coordinator []byte
		handles     [][]byte
		how         flinkstate.ChangeKind // of orders-1
		subtask     int
		added       bool // has to be asked for
	}{
		"not in the state, version 1": {
			enumerator(1, 1, "orders", 0),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"not in the state, version 2": {
			assigned("orders", 0),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"not in the state, version 3": {
			status(0),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"finished, version 1": {
			enumerator(1, 2, "orders", 0, "orders", 1),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"finished, version 2": {
			assigned("orders", 0, 1),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"finished, version 3": {
			status(0, 0),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"not handed out, version 2": {
			enumerator(2, 2, "orders", 0, 0, "orders", 1, 1, int8(1)),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitAdded, 0, false,
		},
		"not handed out, version 3": {
			status(0, 1),
			[][]byte{reader(split("orders", 0, 5, noStop))},
			flinkstate.SplitFromEnumerator, -1, false,
		},
		"the reader with the fewest": {
			assigned("orders", 0, 2, 3),
			[][]byte{reader(split("orders", 0, 5, noStop), split("orders", 2, 7, noStop)), reader(), reader(split("orders", 3, 9, noStop))},
			flinkstate.SplitAdded, 2, true,
		},
		"the first of two": {
			assigned("orders", 0, 2),
			[][]byte{reader(split("orders", 0, 5, noStop)), reader(split("orders", 2, 9, noStop))},
			flinkstate.SplitAdded, 0, true,
		},
		"behind the elements of another state": {
			assigned("orders", 0),
			[][]byte{handle(inline(shared), two...)},
			flinkstate.SplitAdded, 0, true,
		},
		"compressed": {
			assigned("orders", 0),
			[][]byte{handle(inline(squeezed), sat...)},
			flinkstate.SplitAdded, 0, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := oneSource(t, tt.coordinator, tt.handles...)
			r := flinkstate.Rewrite{Next: ordersAt(t, 50, 60)}
			for i := range len(tt.handles) - 1 {
				r.Kept = append(r.Kept, orders(int32(2+i)))
			}
			if tt.added {
				_, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", r)
				code := flinkstate.PartitionNotInState
				if name[:8] == "finished" {
					code = flinkstate.SplitFinishedAlready
				}
				expectRefused(t, err, code)
				r.Added = []offsetmap.TopicPartition{orders(1)}
			}
			p, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", r)
			if err != nil {
				t.Fatal(err)
			}
			if c := p.Changes()[1]; c.How != tt.how || c.Subtask != tt.subtask || c.To != next(t, 60) {
				t.Errorf("change: %+v", c)
			}
			snap, err := flinkstate.ReadDir(write(t, p), flinkstate.WithSinkFiles())
			if err != nil {
				t.Fatal(err)
			}
			was, is := p.Snapshot(), snap
			if len(is.Sinks) != len(was.Sinks) {
				t.Errorf("sinks: %+v, were %+v", is.Sinks, was.Sinks)
			}
			ps := is.Sources[0].Partitions
			if ps[0].Next != next(t, 50) || tt.how == flinkstate.SplitAdded && ps[1].Next != next(t, 60) || tt.how != flinkstate.SplitAdded && ps[1].Start != next(t, 60) {
				t.Errorf("positions: %+v", ps)
			}
			if d := is.Sources[0].Discovery; d != was.Sources[0].Discovery {
				t.Errorf("discovery: %s, was %s", d, was.Sources[0].Discovery)
			}
			for _, w := range is.Warnings {
				if w.Code == flinkstate.SplitsFinished {
					t.Errorf("a partition is in no reader: %s", w.Text)
				}
			}
		})
	}
}

// The list of a FlinkKafkaConsumer takes a partition beside those that it has, in the
// form of a sibling.
func TestPartitionAddedToALegacyList(t *testing.T) {
	for name, class := range map[string][]byte{"registered": {0x57}, "by name": append([]byte{1, 0}, kryoString(legacyClass)...)} {
		j := oneSource(t, nil, legacy(kryoElement(class, -1137739524, "orders", 0, 4)))
		r := flinkstate.Rewrite{Next: ordersAt(t, 50, 0), Added: []offsetmap.TopicPartition{orders(1)}}
		p, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", r)
		if err != nil {
			t.Fatal(err)
		}
		snap, err := flinkstate.ReadDir(write(t, p))
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(snap.Sources[0].Partitions); !slices.Equal(got, []string{"orders-0@50", "orders-1@0"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Transactions that a committer would commit again are left out where it is asked for,
// and nothing else of the sinks.
func TestCommittablesAreLeftOut(t *testing.T) {
	for _, name := range []string{"flink-2.3-sink-pool", "flink-1.20-stop-p2", "flink-1.20-compressed", "flink-1.20-checkpoint-hashmap"} {
		e := fixture(t, name)
		old := e.readSinks(t)
		r := golden.Beyond(old.Sources[0], "")
		r.WithoutCommittables = true
		p, err := flinkstate.PrepareRewrite(os.DirFS(e.Dir), e.Pointer, r, flinkstate.WithPathMap(e.PathMap))
		if err != nil {
			t.Fatal(err)
		}
		snap, err := flinkstate.ReadDir(write(t, p), flinkstate.WithSinkFiles())
		if err != nil {
			t.Fatal(err)
		}
		committers, transactions := 0, 0
		for _, op := range old.Operators {
			is := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == op.ID })
			for _, state := range op.States {
				left := slices.IndexFunc(snap.Operators[is].States, func(s flinkstate.State) bool { return s.Name == state.Name })
				want := state.Elements
				if state.Name == "streaming_committer_raw_states" {
					committers += want
					want = 0
				}
				if got := snap.Operators[is].States[left].Elements; got != want {
					t.Errorf("%s: %d elements of %s, want %d", name, got, state.Name, want)
				}
			}
		}
		for _, sink := range old.Sinks {
			if !slices.ContainsFunc(snap.Sinks, func(s flinkstate.Sink) bool { return s.OperatorID == sink.OperatorID && len(s.Transactions) > 0 }) {
				transactions += len(sink.Transactions)
			}
		}
		if got := len(p.Committables()); committers == 0 || got == 0 || got != transactions {
			t.Errorf("%s: %d elements of committers, %d transactions are said to be left out, %d are", name, committers, got, transactions)
		}
	}
}

// A committer that holds nothing has nothing to be left out, whosever sink it is of.
func TestACommitterWithoutElementsIsNotInTheWay(t *testing.T) {
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: inState(committerState)}}})
	p, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", flinkstate.Rewrite{Next: ordersAt(t, 9), WithoutCommittables: true})
	if err != nil || len(p.Committables()) != 0 {
		t.Error(err)
	}
}
