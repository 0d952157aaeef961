package flinkstate_test

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// sinkOperator is what a job with one operator beside its source says of that.
func sinkOperator(t *testing.T, managed []byte) (flinkstate.Operator, []flinkstate.Sink) {
	t.Helper()
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: managed}}})
	snap := read(t, j)
	i := slices.IndexFunc(snap.Operators, func(o flinkstate.Operator) bool { return o.ID == otherID })
	return snap.Operators[i], snap.Sinks
}

// The writers of Flink 1.20.1 and 2.0.0 remember whether their input has ended.
// That is no state of a job that does more than copying.
func TestEndOfInputOfASinkDoesNotContradictCopying(t *testing.T) {
	o := new(out).put(header(false, writerState, "end_of_input_state"))
	writer := int64(o.Len())
	o.put(sized(sinkElement(1, "prefix")))
	end := int64(o.Len())
	for _, tt := range []struct {
		ended   int8
		notRead bool
	}{{0, false}, {1, false}, {2, true}} {
		stream := put(o.Bytes(), tt.ended)
		op, sinks := sinkOperator(t, handle(inline(stream), listState{writerState, 0, []int64{writer}}, listState{"end_of_input_state", 0, []int64{end}}))
		if len(op.BeyondCopying) > 0 {
			t.Errorf("%d: beyond copying: %q", tt.ended, op.BeyondCopying)
		}
		if s := op.States[0]; (s.Holds == "") != tt.notRead || (s.NotRead != "") != tt.notRead {
			t.Errorf("%d: %+v", tt.ended, s)
		}
		want := []flinkstate.Sink{{OperatorID: otherID, Kind: flinkstate.KafkaSink, TransactionalIDPrefixes: []string{"prefix"}}}
		if d := gocmp.Diff(want, sinks); d != "" {
			t.Errorf("%d: (-want +got):\n%s", tt.ended, d)
		}
	}
}

// FlinkKafkaProducer011, and the FlinkKafkaProducer before its hint had a
// serializer of its own, name the hint without a version.
func TestProducerWithTheFirstHintIsKnown(t *testing.T) {
	transaction := func(id string, producer int64) []byte {
		return put(int8(1), id, producer, int16(4), int64(1700000000000))
	}
	hint := put([]byte("a hint as Kryo writes it"))
	state := put(transaction("Sink: out-0", 11), 1, transaction("Sink: out-1", 12), int8(1), 2, "Sink: out-0", "Sink: out-1")
	o := new(out).put(header(false, "next-transactional-id-hint", "state"))
	first := int64(o.Len())
	o.put(hint)
	second := int64(o.Len())
	stream := o.put(state).Bytes()
	op, sinks := sinkOperator(t, handle(inline(stream), listState{"next-transactional-id-hint", 1, []int64{first}}, listState{"state", 0, []int64{second}}))
	want := []flinkstate.Sink{{
		OperatorID: otherID, Kind: flinkstate.FlinkKafkaProducer, TransactionalIDs: []string{"Sink: out-0", "Sink: out-1"},
		Transactions: []flinkstate.Transaction{
			{TransactionalID: "Sink: out-0", ProducerID: 11, Epoch: 4, Subtask: -1},
			{TransactionalID: "Sink: out-1", ProducerID: 12, Epoch: 4, Subtask: -1},
		},
	}}
	if d := gocmp.Diff(want, sinks); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(op.BeyondCopying) > 0 {
		t.Errorf("beyond copying: %q", op.BeyondCopying)
	}
}
