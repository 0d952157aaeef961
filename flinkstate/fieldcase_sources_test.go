package flinkstate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// beamElement begins as the pair of a source and its mark that Beam's reader stores:
// with the class of the source, an object of Java.
func beamElement(class string) []byte {
	return put([]byte("\xac\xed\x00\x05sr"), class, []byte("\x37\x76\xae\x5c\xdc\xad\x81\x8a\x02\x00\x02I\x00\x02id"), []byte("and the mark"))
}

const (
	beamKafka    = "org.apache.beam.sdk.io.kafka.KafkaUnboundedSource"
	beamCounting = "org.apache.beam.sdk.io.CountingSource$UnboundedCountingSource"
)

// beamJob has the operators of the savepoints that the tests of
// gimral/flink-state-offset-translator read, all of Apache Beam's runner: readers
// under the default name of an operator's list, one element at most for each
// subtask, and the lists of Beam's other operators.
func beamJob(inFiles bool, readers map[string]string, others ...string) (j job, files map[string][]byte) {
	j.version, files = 3, map[string][]byte{}
	state := func(name string, elements ...[]byte) (stream []byte, s listState) {
		o := new(out).put(5, int16(1), name, 0, 0, 0, int16(0))
		s = listState{name: name}
		for _, e := range elements {
			s.offsets = append(s.offsets, int64(o.Len()))
			o.put(e)
		}
		return o.Bytes(), s
	}
	for id, class := range readers {
		op := jobOp{id: id, parallelism: 3}
		for i, element := range [][]byte{beamElement(class), nil, nil} {
			stream, s := state("_default_")
			if element != nil {
				stream, s = state("_default_", element)
			}
			h := inline(stream)
			if inFiles {
				name := id + string(rune('a'+i))
				files["sp/"+name], h = stream, relative(name, len(stream))
			}
			op.subtasks = append(op.subtasks, jobSubtask{index: i, managed: handle(h, s)})
		}
		j.operators = append(j.operators, op)
	}
	for _, id := range others {
		op := jobOp{id: id, parallelism: 3}
		for i := range 3 {
			stream, a := state("bundle-buffer-tag")
			op.subtasks = append(op.subtasks, jobSubtask{index: i, managed: handle(inline(stream), a, listState{name: "pushed-back-elements"})})
		}
		j.operators = append(j.operators, op)
	}
	return j, files
}

// A job may read with something that is not Flink's own: the error lists the
// operators and what is supported, and it is no empty success.
func TestPC15NoStateOfFlinksKafkaSources(t *testing.T) {
	const one, two = "8665110692d8a050c3a53505b9e8ec0c", "d6b47d886b4463f24674a27d19cca3ca"
	for name, readers := range map[string]map[string]string{
		"single":            {one: beamKafka},
		"multiple":          {one: beamKafka, two: beamKafka},
		"no Kafka operator": {"e0d2899f39083a833982e1c6247ce21b": beamCounting},
	} {
		t.Run(name, func(t *testing.T) {
			others := []string{"08ddd4cbfeda9d1aadbd9a0f54fe379e", "e83dcd0c3089590ead1cf13a441933ad"}
			j, _ := beamJob(false, readers, others...)
			j.operators = append(j.operators, jobOp{id: "122a2cca264311fb611628f33ad1aaf2", parallelism: 3})
			err := readErr(t, j)
			var none *flinkstate.NoPositionError
			if !errors.Is(err, flinkstate.ErrNoPosition) || !errors.As(err, &none) {
				t.Fatalf("got %v, want an ErrNoPosition", err)
			}
			if len(none.Operators) != len(j.operators) || len(none.Snapshot.Sources) != 0 {
				t.Errorf("%d operators and %d sources, want %d and none", len(none.Operators), len(none.Snapshot.Sources), len(j.operators))
			}
			want := append(others, "122a2cca264311fb611628f33ad1aaf2", "bundle-buffer-tag, pushed-back-elements",
				"supported: KafkaSource, DynamicKafkaSource and FlinkKafkaConsumer of flink-connector-kafka")
			for id, class := range readers {
				want = append(want, id+" [_default_] is a reader of Apache Beam ("+class+"), whose positions are not read")
			}
			for _, w := range want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error does not say %q: %v", w, err)
				}
			}
			for _, o := range none.Operators {
				class, reads := readers[o.ID]
				if !reads {
					continue
				}
				holds := "positions of " + class + ", a reader of Apache Beam"
				if len(o.States) != 1 || o.States[0].Holds != holds || !slices.Equal(o.BeyondCopying, []string{holds + ": 1"}) {
					t.Errorf("the inventory has %+v, want state that holds %q", o, holds)
				}
			}
		})
	}
	// From metadata version 5 on, uid and name are stored.
	j := job{version: 6, properties: properties(t), operators: []jobOp{{id: otherID, uid: "a uid", name: "Source: x", parallelism: 1}}}
	if err := readErr(t, j); !strings.Contains(err.Error(), otherID+` uid "a uid" name "Source: x"`) {
		t.Errorf("the error does not name the operator: %v", err)
	}
}

// What is in a file of its own is looked at only when asked for, and costs no
// positions when it cannot be had.
func TestBeamsReaderInAFileOfItsOwn(t *testing.T) {
	const id = "8665110692d8a050c3a53505b9e8ec0c"
	j, files := beamJob(true, map[string]string{id: beamKafka})
	skipped := func(files map[string][]byte, opts ...flinkstate.Option) string {
		t.Helper()
		_, err := flinkstate.Read(j.fsys(files), "sp", opts...)
		var none *flinkstate.NoPositionError
		if !errors.As(err, &none) {
			t.Fatalf("got %v, want an ErrNoPosition", err)
		}
		return none.Operators[0].Skipped
	}
	if got := skipped(files, flinkstate.WithSinkFiles()); !strings.Contains(got, beamKafka) {
		t.Errorf("with its file: %s", got)
	}
	for name, got := range map[string]string{
		"not asked for": skipped(files),
		"gone":          skipped(nil, flinkstate.WithSinkFiles()),
		"cut":           skipped(map[string][]byte{"sp/" + id + "a": {0, 0}}, flinkstate.WithSinkFiles()),
	} {
		if got != "has no splits of a source" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What only begins like an object of Java names nothing.
func TestOtherListsOfTheDefaultNameAreNotBeams(t *testing.T) {
	for name, element := range map[string][]byte{
		"another class":   beamElement("com.example.Offsets"),
		"no class":        []byte("\xac\xed\x00\x05sr\x00\x40org.apache.beam."),
		"no class name":   beamElement("org.apache.beam.\x1b[2J"),
		"a string":        []byte("\xac\xed\x00\x05t\x00\x10org.apache.beam."),
		"nothing of Java": []byte("org.apache.beam.sdk"),
		"very little":     {0xac},
	} {
		stream := put(5, int16(1), "_default_", 0, 0, 0, int16(0))
		at := int64(len(stream))
		stream = append(stream, element...)
		j := job{version: 3, operators: []jobOp{{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: handle(inline(stream), listState{"_default_", 0, []int64{at}})}}}}}
		var none *flinkstate.NoPositionError
		if err := readErr(t, j); !errors.As(err, &none) || none.Operators[0].Skipped != "has no splits of a source" || none.Operators[0].States[0].Holds != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two sources that share a topic: a person chooses, by uid or by the hash, and the
// same partition in both is never merged.
func TestPC15TwoSourcesThatShareATopic(t *testing.T) {
	source := func(id, uid, name string, c int64) jobOp {
		return jobOp{id: id, uid: uid, name: name, parallelism: 1, coordinator: assigned("orders", 0, 1), subtasks: []jobSubtask{{
			managed: reader(split("orders", 0, c, noStop), split("orders", 1, c+1, noStop)),
		}}}
	}
	for name, j := range map[string]job{
		// The ids are the hashes of the uids source-0 and source-1.
		"without uids in the file": {version: 4, properties: properties(t), operators: []jobOp{source(testSource, "", "", 20), source(otherID, "", "", 70)}},
		"with uids in the file":    {version: 6, properties: properties(t), operators: []jobOp{source(testSource, "source-0", "Source: orders", 20), source(otherID, "source-1", "Source: orders", 70)}},
	} {
		t.Run(name, func(t *testing.T) {
			snap := read(t, j)
			if len(snap.Sources) != 2 {
				t.Fatalf("%d sources, want 2", len(snap.Sources))
			}
			if !slices.Contains(codes(snap.Warnings), flinkstate.PartitionsShared) || !flinkstate.PartitionsShared.Unfit() {
				t.Errorf("warnings %v do not make the positions unfit", snap.Warnings)
			}
			_, err := snap.Source("")
			for _, want := range []string{testSource, otherID, "2 sources", "by operator id, uid or name"} {
				if !errors.Is(err, flinkstate.ErrSelector) || !strings.Contains(err.Error(), want) {
					t.Errorf("none named: got %v, want an ErrSelector that says %q", err, want)
				}
			}
			for selector, c := range map[string]int64{"source-0": 20, testSource: 20, testSource[:6]: 20, "source-1": 70, otherID: 70, otherID[:6]: 70} {
				src, err := snap.Source(selector)
				if err != nil {
					t.Errorf("%s: %v", selector, err)
					continue
				}
				if len(src.Partitions) != 2 || src.Partitions[0].Next != next(t, c) || src.Partitions[1].Next != next(t, c+1) {
					t.Errorf("%s: %v, want C = %d and %d", selector, listed(src.Partitions), c, c+1)
				}
			}
			if src, err := snap.Source("Source: orders"); j.version >= 5 && err == nil {
				t.Errorf("a name that both have chose %s", src.OperatorID)
			}
		})
	}
}
