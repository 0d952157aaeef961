package flinkstate_test

import (
	"cmp"
	"errors"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

const (
	writerState    = "writer_raw_states"
	committerState = "streaming_committer_raw_states"
)

func (e expected) readSinks(t *testing.T) *flinkstate.Snapshot {
	t.Helper()
	snap, err := flinkstate.Read(os.DirFS(path.Join(fixtureDir, e.Name)), e.Pointer, flinkstate.WithPathMap(e.PathMap), flinkstate.WithSinkFiles())
	if none := (*flinkstate.NoPositionError)(nil); errors.As(err, &none) {
		return none.Snapshot
	}
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	return snap
}

// Each sink of each fixture is understood to its last byte, under the names that
// the jobs gave.
func TestFixtureSinksAreUnderstood(t *testing.T) {
	kinds := map[flinkstate.SinkKind]int{}
	transactions := 0
	for _, e := range fixtures(t) {
		snap := e.readSinks(t)
		states := 0
		for _, o := range snap.Operators {
			for _, s := range o.States {
				if s.NotRead != "" {
					t.Errorf("%s: operator %s, state %s: %s", e.Name, o.ID, s.Name, s.NotRead)
				}
				if s.Elements > 0 && (s.Name == writerState || s.Name == committerState) {
					if s.Name == writerState {
						states++
					}
					if s.Holds == "" {
						t.Errorf("%s: operator %s: what %s holds is not known", e.Name, o.ID, s.Name)
					}
				}
			}
		}
		if states > 0 && len(snap.Sinks) == 0 {
			t.Errorf("%s has the state of writers and no sink", e.Name)
		}
		for _, s := range snap.Sinks {
			kinds[s.Kind]++
			for _, p := range s.TransactionalIDPrefixes {
				if p != "kafka-sink" && !strings.HasPrefix(p, "tx-"+e.Name+"-") {
					t.Errorf("%s: a prefix %q", e.Name, p)
				}
			}
			for _, tx := range s.Transactions {
				transactions++
				ours := strings.HasPrefix(tx.TransactionalID, "tx-"+e.Name+"-") || slices.Contains(s.TransactionalIDs, tx.TransactionalID)
				if !ours || (tx.ProducerID < 0) != (tx.Epoch < 0) || s.Kind == flinkstate.KafkaSink && tx.CheckpointID > e.CheckpointID && tx.CheckpointID != math.MaxInt64 {
					t.Errorf("%s: a transaction %+v", e.Name, tx)
				}
			}
		}
	}
	if kinds[flinkstate.KafkaSink] < 100 || kinds[flinkstate.FlinkKafkaProducer] < 8 || transactions < 200 {
		t.Errorf("the fixtures show too little: %v, %d transactions", kinds, transactions)
	}
}

// One transaction of each form of state, as the broker knew it.
func TestFixtureSinkTransactions(t *testing.T) {
	for name, want := range map[string][]flinkstate.Sink{
		"flink-1.14-canonical-p1": {{
			OperatorID: "2e588ce1c86a9d46e2e85186773ce4fd", Kind: flinkstate.KafkaSink,
			TransactionalIDPrefixes: []string{"tx-flink-1.14-canonical-p1-target"},
			Transactions:            []flinkstate.Transaction{{TransactionalID: "tx-flink-1.14-canonical-p1-target-0-1", ProducerID: 376, Epoch: 2, Subtask: -1}},
		}},
		"flink-1.15-stop-p2": {{
			OperatorID: "2e588ce1c86a9d46e2e85186773ce4fd", Kind: flinkstate.KafkaSink,
			TransactionalIDPrefixes: []string{"tx-flink-1.15-stop-p2-target"},
		}, {
			OperatorID: "5abb6f104479fbc38acf37f2d04fd907", Kind: flinkstate.KafkaSink,
			Transactions: []flinkstate.Transaction{
				{TransactionalID: "tx-flink-1.15-stop-p2-target-0-1", ProducerID: 885, CheckpointID: 1, Subtask: -1},
				{TransactionalID: "tx-flink-1.15-stop-p2-target-1-1", ProducerID: 886, CheckpointID: 1, Subtask: -1},
			},
		}},
		"flink-2.0-stop-p2": {{
			OperatorID: "2e588ce1c86a9d46e2e85186773ce4fd", UID: "sink", Name: "Sink: Writer", Kind: flinkstate.KafkaSink,
			TransactionalIDPrefixes: []string{"tx-flink-2.0-stop-p2-target"},
			Transactions: []flinkstate.Transaction{
				{TransactionalID: "tx-flink-2.0-stop-p2-target-0-1", ProducerID: -1, Epoch: -1, CheckpointID: 1},
				{TransactionalID: "tx-flink-2.0-stop-p2-target-1-1", ProducerID: -1, Epoch: -1, CheckpointID: 1, Subtask: 1},
			},
		}, {
			OperatorID: "5abb6f104479fbc38acf37f2d04fd907", UID: "Sink Committer: sink", Name: "Sink: Committer", Kind: flinkstate.KafkaSink,
			Transactions: []flinkstate.Transaction{
				{TransactionalID: "tx-flink-2.0-stop-p2-target-0-1", ProducerID: 759, Epoch: 1, CheckpointID: 1},
				{TransactionalID: "tx-flink-2.0-stop-p2-target-1-1", ProducerID: 758, Epoch: 1, CheckpointID: 1, Subtask: 1},
			},
		}},
	} {
		got := fixture(t, name).readSinks(t).Sinks
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	// The transaction that is open, and the one that the savepoint prepared.
	got := fixture(t, "flink-1.20-legacy-latest").readSinks(t).Sinks
	const id = "Source: legacy source -> Map -> Sink: Unnamed-d7cde53fb7b9b634efe656289b8861d2-"
	want := []flinkstate.Sink{{
		OperatorID: "d7cde53fb7b9b634efe656289b8861d2", Kind: flinkstate.FlinkKafkaProducer,
		TransactionalIDs: []string{id + "0", id + "1", id + "2", id + "3", id + "4"},
		Transactions: []flinkstate.Transaction{
			{TransactionalID: id + "3", ProducerID: 737, Epoch: 5, Subtask: -1},
			{TransactionalID: id + "4", ProducerID: 735, Epoch: 7, Subtask: -1},
		},
	}}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("FlinkKafkaProducer (-want +got):\n%s", d)
	}
}

// sinkElement is an element with the version and length of its serializer.
func sinkElement(version int, body ...any) []byte { return put(version, sized(body...)) }

// inState is a handle of one state, inline.
func inState(name string, elements ...[]byte) []byte {
	o := new(out).put(header(false, name))
	var offsets []int64
	for _, e := range elements {
		offsets = append(offsets, int64(o.Len()))
		o.put(len(e), e)
	}
	return handle(inline(o.Bytes()), listState{name, 0, offsets})
}

// What is not a sink of Kafka's, or a version that is not known, is named in the
// inventory and gives no transaction; the positions beside it are read.
func TestSinkStateThatIsNotUnderstoodIsNamed(t *testing.T) {
	good := sinkElement(1, "prefix")
	committable := sized(int16(1), int64(7), "prefix-0-1")
	for _, tt := range []struct {
		name, state string
		element     []byte
		why         string
	}{
		{"writer of the next version", writerState, sinkElement(3, "prefix"), "version 3"},
		{"writer of another sink", writerState, sinkElement(1, []byte{0x1e, 0x76, 0x4b, 0x79, 1, 2}), "bytes"},
		{"bytes behind the prefix", writerState, sinkElement(1, "prefix", int8(0)), "1 bytes follow"},
		{"empty prefix", writerState, sinkElement(1, ""), "empty"},
		{"length that is wrong", writerState, put(1, 99, "prefix"), "99"},
		{"wild number of transactions", writerState, sinkElement(2, "prefix", 0, 2, 0, 1<<30), "count"},
		{"committer of the next version", committerState, sinkElement(3, 0xb91f252c, 0, 0), "version 3"},
		{"committer without magic number", committerState, sinkElement(2, 1, 0, 0), "magic number"},
		{"checkpoints of the next version", committerState, sinkElement(2, uint32(0xb91f252c), 2, 0), "version 2"},
		{"committable of the next version", committerState, sinkElement(1, uint32(0xb91f252c), 2, 1, committable), "version 2"},
		{"committable of another sink", committerState, sinkElement(1, uint32(0xb91f252c), 1, 1, sized(int16(-3), int64(7), "x")), "not that of a KafkaSink"},
		{"committable cut off", committerState, sinkElement(1, uint32(0xb91f252c), 1, 2, committable), "are left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
			j.operators = append(j.operators, jobOp{id: otherID, parallelism: 2, subtasks: []jobSubtask{
				{managed: inState(tt.state, tt.element)}, {index: 1, managed: inState(writerState, good)},
			}})
			snap := read(t, j)
			i := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == otherID })
			k := slices.IndexFunc(snap.Operators[i].States, func(s flinkstate.State) bool { return s.Name == tt.state })
			s := snap.Operators[i].States[k]
			if s.Holds != "" || !strings.Contains(s.NotRead, tt.why) || !strings.Contains(s.NotRead, "byte ") {
				t.Errorf("got %+v, want a reason with %q", s, tt.why)
			}
			if len(snap.Sources) != 1 || len(snap.Sinks) != 1 || len(snap.Sinks[0].Transactions) != 0 {
				t.Errorf("sources %d, sinks %+v", len(snap.Sources), snap.Sinks)
			}
		})
	}
}

// Files of sinks are opened when that is asked for, and then up to a size. What
// cannot be read keeps no position back.
func TestSinkFilesAreOpenedOnDemand(t *testing.T) {
	o := new(out).put(header(false, writerState))
	at := int64(o.Len())
	o.put(sized(sinkElement(1, "prefix")))
	stream := o.Bytes()
	big := append(slices.Clone(stream), make([]byte, 1<<20)...)
	state := listState{writerState, 0, []int64{at}}
	beside := func(h []byte, files map[string][]byte) fstest.MapFS {
		j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
		j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: h}}})
		return j.fsys(files)
	}
	for _, tt := range []struct {
		name   string
		fsys   fstest.MapFS
		opts   []flinkstate.Option
		opened int
		why    string
	}{
		{"by default", beside(handle(relative("sink", len(stream)), state), map[string][]byte{"sp/sink": stream}), nil, 1, "WithSinkFiles"},
		{"on demand", beside(handle(relative("sink", len(stream)), state), map[string][]byte{"sp/sink": stream}), []flinkstate.Option{flinkstate.WithSinkFiles()}, 2, ""},
		{"too large", beside(handle(relative("sink", len(big)), state), map[string][]byte{"sp/sink": big}), []flinkstate.Option{flinkstate.WithSinkFiles()}, 1, "read up to 1048576"},
		{"part of a large file", beside(handle(segment("file:/task/sink", 0, len(stream)), state), map[string][]byte{"task/sink": big}), []flinkstate.Option{flinkstate.WithSinkFiles(), flinkstate.WithPathMap(map[string]string{"file:/task": "task"})}, 2, "more than the limit"},
		{"missing", beside(handle(relative("sink", len(stream)), state), nil), []flinkstate.Option{flinkstate.WithSinkFiles()}, 2, "not exist"},
		{"not mapped", beside(handle(absolute("s3://b/sink", len(stream)), state), nil), []flinkstate.Option{flinkstate.WithSinkFiles()}, 1, "no path map entry"},
		{"cut off", beside(handle(relative("sink", len(stream)), state), map[string][]byte{"sp/sink": stream[:len(stream)-1]}), []flinkstate.Option{flinkstate.WithSinkFiles()}, 2, "the metadata says"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := counting(tt.fsys)
			snap, err := flinkstate.Read(c, "sp", tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			var why string
			for _, o := range snap.Operators {
				for _, s := range o.States {
					why = cmp.Or(why, s.NotRead)
				}
			}
			if (tt.why == "") != (len(snap.Sinks) == 1) || (tt.why == "") != (why == "") || !strings.Contains(why, tt.why) {
				t.Errorf("sinks %+v, not read: %q, want %q", snap.Sinks, why, tt.why)
			}
			if len(c.opened) != tt.opened {
				t.Errorf("opened %v, want %d files", c.opened, tt.opened)
			}
		})
	}
}

// State that is no Kafka connector's contradicts that the job only copies.
func TestStateBeyondCopyingIsListed(t *testing.T) {
	stream, at := plainStream(split("orders", 0, 5, noStop))
	keyed := put(int8(3), 0, 1, int64(0), inline(make([]byte, 2000)))
	j := oneSource(t, assigned("orders", 0), handle(inline(stream), listState{readerState, 0, at}, listState{"empty", 2, nil}))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{
		{managed: handle(inline(stream), listState{"buffered", 2, at}), keyed: keyed},
	}})
	snap := read(t, j)
	want := map[string][]string{
		testSource: nil,
		otherID:    {"keyed state of 2000 bytes", `broadcast state "buffered", which is no source's or sink's of Kafka: elements: 1`},
	}
	got := map[string][]string{}
	for _, o := range snap.Operators {
		got[o.ID] = o.BeyondCopying
	}
	if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, o := range snap.Operators {
		sizes := map[string]flinkstate.Sizes{
			testSource: {Operator: int64(len(stream)), Coordinator: int64(len(assigned("orders", 0)))},
			otherID:    {Operator: int64(len(stream)), Keyed: 2000},
		}[o.ID]
		if o.Bytes != sizes {
			t.Errorf("operator %s: %+v, want %+v", o.ID, o.Bytes, sizes)
		}
	}
	keyedFixtures := 0
	for _, e := range fixtures(t) {
		for _, o := range e.readSinks(t).Operators {
			other := slices.ContainsFunc(o.States, func(s flinkstate.State) bool {
				return s.Elements > 0 && s.Holds == "" && s.NotRead == "" && (s.Name == readerState || e.Name == "flink-1.19-operator-states")
			})
			if (len(o.BeyondCopying) > 0) != (o.Keyed || other) {
				t.Errorf("%s: operator %s: %v", e.Name, o.ID, o.BeyondCopying)
			}
			if o.Keyed {
				keyedFixtures++
			}
		}
	}
	if keyedFixtures < 10 {
		t.Errorf("only %d operators with keyed state", keyedFixtures)
	}
}
