package flinkstate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// merging is the operator state handle of Flink 1.20 and later around a part of a file.
func merging(stream []byte, states ...listState) []byte {
	o := new(out).put(int8(17), len(states))
	for _, s := range states {
		o.put(s.name, s.mode, len(s.offsets), s.offsets)
	}
	return o.put("file:/owned", "file:/shared", int8(0), stream).Bytes()
}

// Whatever would lose or repeat records, or is not certain, is refused, and all of it
// is named.
func TestRewritesThatAreRefused(t *testing.T) {
	held := reader(split("orders", 0, 5, noStop))
	plain := oneSource(t, assigned("orders", 0), held)
	second := func(other []byte) job {
		j := oneSource(t, assigned("orders", 0), held)
		op := jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: other}}}
		j.operators = append(j.operators, op)
		return j
	}
	inFlight := oneSource(t, assigned("orders", 0), held)
	inFlight.operators[0].subtasks[0].channels = [][]byte{put(make([]byte, 12), 0, int64(9), inline(make([]byte, 9)))}
	keyed := oneSource(t, assigned("orders", 0), held)
	keyed.operators[0].subtasks[0].keyed = put(int8(3), 0, 1, int64(0), absolute("file:/x/k", 3))
	stream, at := plainStream(split("orders", 0, 5, noStop))
	old := oneSource(t, nil, handle(absolute("file:/x/a", len(stream)), listState{readerState, 0, at}))
	old.version, old.properties = 2, nil
	dynamic := oneSource(t, nil, reader(dynamicSplit("a", "orders", 0, 5)))
	several := oneSource(t, nil, reader(dynamicSplit("a", "orders", 0, 5), dynamicSplit("b", "orders", 0, 5)))
	added := []offsetmap.TopicPartition{orders(1)}
	waiting := func(stored int) job { // orders-1 stands at 50, for no reader yet or no more
		two := put(2, 0, sized("orders", 0, int64(-2), int64(noStop)), 0, sized("orders", 1, int64(50), int64(noStop)), stored)
		return oneSource(t, enumerator(3, two, int8(1)), held)
	}
	for name, tt := range map[string]struct {
		job  job
		r    flinkstate.Rewrite
		code flinkstate.RewriteCode
		says string
	}{
		"a partition is forgotten":              {plain, flinkstate.Rewrite{}, flinkstate.PartitionNotNamed, "orders-0: the source has it, at 5"},
		"a partition that is nowhere":           {plain, flinkstate.Rewrite{Next: ordersAt(t, 9, 9)}, flinkstate.PartitionNotInState, "orders-1: the state has no split of it"},
		"behind the state":                      {plain, flinkstate.Rewrite{Next: ordersAt(t, 4)}, flinkstate.PositionRewound, "the state stands at 5, behind C' = 4"},
		"behind the enumerator":                 {waiting(1), flinkstate.Rewrite{Next: ordersAt(t, 9, 49)}, flinkstate.PositionRewound, "orders-1: the state stands at 50, behind C' = 49"},
		"behind what had finished":              {waiting(0), flinkstate.Rewrite{Next: ordersAt(t, 9, 49), Added: added}, flinkstate.PositionRewound, "orders-1: the state stands at 50, behind C' = 49"},
		"kept, and nowhere":                     {plain, flinkstate.Rewrite{Next: ordersAt(t, 9), Kept: added}, flinkstate.PartitionNotInState, "orders-1: it is in Kept, and the state has no split of it"},
		"named and kept":                        {plain, flinkstate.Rewrite{Next: ordersAt(t, 9), Kept: []offsetmap.TopicPartition{orders(0)}}, flinkstate.RewriteContradicts, "in Next and in Kept"},
		"without an offset":                     {plain, flinkstate.Rewrite{Next: nextOffsets{orders(0): {}}}, flinkstate.RewriteContradicts, "no offset"},
		"added without an offset":               {plain, flinkstate.Rewrite{Next: ordersAt(t, 9), Added: added}, flinkstate.RewriteContradicts, "Next has no offset"},
		"no topic":                              {plain, flinkstate.Rewrite{Next: nextOffsets{{Topic: "a b"}: next(t, 1)}}, flinkstate.RewriteContradicts, "not a legal topic name"},
		"the job ends there":                    {oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, 9))), flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.SplitStops, "stopping offset 9"},
		"discovery had not finished":            {oneSource(t, enumerator(2, 1, "orders", 0, 0, int8(0)), held), flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.DiscoveryNotOver, "takes each partition that the state lacks for new"},
		"records in flight":                     {inFlight, flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.StateInFlight, "9 bytes of records"},
		"another source stays":                  {second(held), flinkstate.Rewrite{Source: testSource, Next: ordersAt(t, 9)}, flinkstate.PartitionShared, "source " + otherID},
		"a KafkaSource stays":                   {second(reader(dynamicSplit("a", "orders", 0, 5))), flinkstate.Rewrite{Source: otherID, Cluster: "a", Next: ordersAt(t, 9)}, flinkstate.PartitionShared, "source " + testSource},
		"a DynamicKafkaSource stays":            {second(reader(dynamicSplit("a", "orders", 0, 5))), flinkstate.Rewrite{Source: testSource, Next: ordersAt(t, 9)}, flinkstate.PartitionShared, "source " + otherID},
		"keyed state elsewhere":                 {keyed, flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.HandleNotMovable, "managed keyed state"},
		"metadata without relative names":       {old, flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.HandleNotMovable, "metadata version 2"},
		"in several clusters":                   {several, flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.RewriteContradicts, "name one as Cluster"},
		"added to a DynamicKafkaSource":         {dynamic, flinkstate.Rewrite{Next: ordersAt(t, 9, 9), Added: added}, flinkstate.FormNotWritten, "DynamicKafkaSource"},
		"added without an enumerator":           {oneSource(t, nil, held), flinkstate.Rewrite{Next: ordersAt(t, 9, 9), Added: added}, flinkstate.FormNotWritten, "no enumerator state"},
		"added to an enumerator of version 0":   {oneSource(t, enumerator(0, 1, 0, 0, 1, sized("orders", 0, int64(5), int64(noStop))), held), flinkstate.Rewrite{Next: ordersAt(t, 9, 9), Added: added}, flinkstate.FormNotWritten, "version 0"},
		"added where no reader has a partition": {oneSource(t, assigned("orders", 0), reader()), flinkstate.Rewrite{Next: ordersAt(t, 9), Added: []offsetmap.TopicPartition{orders(0)}}, flinkstate.FormNotWritten, "no reader holds a split"},
		"a file beside the savepoint's metadata": {
			oneSource(t, assigned("orders", 0), held, handle(relative("./_metadata", 9), listState{"other", 0, nil})),
			flinkstate.Rewrite{Next: ordersAt(t, 9)},
			flinkstate.FormNotWritten, "no file of the savepoint's folder",
		},
	} {
		fsys := tt.job.fsys(map[string][]byte{"sp/a": stream, "sp/k": {1, 2, 3}})
		_, err := flinkstate.PrepareRewrite(fsys, "sp", tt.r, flinkstate.WithPathMap(map[string]string{"file:/x": "sp"}))
		if expectRefused(t, err, tt.code); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", name, err, tt.says)
		}
	}
}

// What is true of reading is true here: state files that are not there are listed.
func TestRewriteListsEveryMissingFile(t *testing.T) {
	stream, at := plainStream(split("orders", 0, 5, noStop))
	j := oneSource(t, assigned("orders", 0), handle(relative("a", len(stream)), listState{readerState, 0, at}))
	j.operators[0].subtasks[0].keyed = put(int8(3), 0, 1, int64(0), relative("k", 3))
	_, err := flinkstate.PrepareRewrite(j.fsys(map[string][]byte{"sp/a": stream}), "sp", flinkstate.Rewrite{Next: ordersAt(t, 9)})
	if m, ok := errors.AsType[*flinkstate.MissingFilesError](err); !ok || len(m.Files) != 1 || m.Files[0].Name != "k" || m.Files[0].OperatorID != testSource {
		t.Errorf("got %v, want the file k", err)
	}
}

// What another source has of another cluster is another partition.
func TestPartitionsOfOtherClustersAreNotShared(t *testing.T) {
	j := oneSource(t, nil, reader(dynamicSplit("a", "orders", 0, 5)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{{managed: reader(dynamicSplit("b", "orders", 0, 5))}}})
	if _, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", flinkstate.Rewrite{Source: testSource, Cluster: "a", Next: ordersAt(t, 9)}); err != nil {
		t.Error(err)
	}
}

// A problem for each of very many partitions is a short text.
func TestTheTextOfManyProblemsIsShort(t *testing.T) {
	var elements [][]byte
	var named []int
	for i := range 1000 {
		elements, named = append(elements, split("orders", i, 5, noStop)), append(named, i)
	}
	_, err := flinkstate.PrepareRewrite(oneSource(t, assigned("orders", named...), reader(elements...)).fsys(nil), "sp", flinkstate.Rewrite{})
	refused, ok := errors.AsType[*flinkstate.RewriteError](err)
	if !ok || len(refused.Problems) != 1000 || len(err.Error()) > 2000 || !strings.HasSuffix(err.Error(), "; and 990 more") {
		t.Errorf("got %d bytes: %.100s", len(err.Error()), err)
	}
}

// Parts of files that subtasks share become files of the new folder, which is whole by
// itself.
func TestPartsOfFilesBecomeFilesOfTheNewSavepoint(t *testing.T) {
	a, atA := plainStream(split("orders", 0, 5, noStop))
	b, atB := plainStream(split("orders", 1, 6, noStop))
	other, atOther := plainStream([]byte("element"))
	j := oneSource(t, assigned("orders", 0, 1),
		merging(segment("file:/x/merged", 0, len(a)), listState{readerState, 0, atA}),
		merging(segment("file:/x/merged", len(a), len(b)), listState{readerState, 0, atB}),
		put(int8(17), 0, "file:/owned", "file:/shared", int8(1), int8(16)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 1, subtasks: []jobSubtask{
		{managed: handle(absolute("file:/x/deep/merged", len(other)), listState{"other", 0, atOther})},
	}})
	files := map[string][]byte{"sp/merged": append(append([]byte{}, a...), b...), "sp/deep/merged": other}
	p, err := flinkstate.PrepareRewrite(j.fsys(files), "sp", flinkstate.Rewrite{Next: ordersAt(t, 50, 60)}, flinkstate.WithPathMap(map[string]string{"file:/x": "sp"}))
	if err != nil {
		t.Fatal(err)
	}
	to := write(t, p)
	snap, err := flinkstate.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(snap.Sources[0].Partitions); got[0] != "orders-0@50" || got[1] != "orders-1@60" {
		t.Errorf("positions: %v", got)
	}
	is := contents(t, to)
	if len(is) != 4 || len(is["merged"]) != len(a) || len(is["1-merged"]) != len(b) || string(is["2-merged"]) != string(other) {
		t.Errorf("files: %d", len(is))
	}
}

// What Flink 1.18.0 and 1.18.1 have compressed without the places of elements is
// written with them.
func TestUnflushedStateIsWrittenFlushed(t *testing.T) {
	stream, at := unflushedStream(map[string][][]byte{readerState: {split("orders", 0, 5, noStop), split("orders", 1, 6, noStop)}}, readerState)
	j := oneSource(t, assigned("orders", 0, 1), handle(inline(stream), at...))
	p, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", flinkstate.Rewrite{Next: ordersAt(t, 50, 60, 70), Added: []offsetmap.TopicPartition{orders(2)}})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := flinkstate.ReadDir(write(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(snap.Sources[0].Partitions); strings.Join(got, " ") != "orders-0@50 orders-1@60 orders-2@70" {
		t.Errorf("positions: %v", got)
	}
}

// Of Flink 1.18.0 and 1.18.1 nothing tells where the elements of another state begin in
// the stream: they would be lost, also where the splits stay and one is put beside them.
func TestUnflushedStateBesideAnotherIsNotAddedTo(t *testing.T) {
	stream, at := unflushedStream(map[string][][]byte{readerState: {split("orders", 0, 5, noStop)}, "other": {{1, 2, 3}}}, readerState, "other")
	j := oneSource(t, assigned("orders", 0), handle(inline(stream), at...))
	_, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", flinkstate.Rewrite{Next: ordersAt(t, 5, 70), Added: []offsetmap.TopicPartition{orders(1)}})
	if expectRefused(t, err, flinkstate.FormNotWritten); err == nil || !strings.Contains(err.Error(), "FLINK-34063") {
		t.Errorf("got %v", err)
	}
}

// Whoever leaves transactions out asks before whether those are committed, and can ask
// about what could be read alone.
func TestCommittablesThatWereNotReadAreNotLeftOut(t *testing.T) {
	good := sinkElement(1, uint32(0xb91f252c), 1, 1, sized(int16(7), int64(7), "tx-0"))
	j := oneSource(t, assigned("orders", 0), reader(split("orders", 0, 5, noStop)))
	j.operators = append(j.operators, jobOp{id: otherID, parallelism: 2, subtasks: []jobSubtask{
		{index: 0, managed: inState(committerState, good)},
		{index: 1, managed: inState(committerState, sinkElement(9))},
	}})
	_, err := flinkstate.PrepareRewrite(j.fsys(nil), "sp", flinkstate.Rewrite{Next: ordersAt(t, 9), WithoutCommittables: true})
	if expectRefused(t, err, flinkstate.FormNotWritten); err == nil || !strings.Contains(err.Error(), "not all of what its committer holds could be read") {
		t.Errorf("got %v", err)
	}
}

// A file that changes for one of its handles would be another for the rest, in whatever
// order they come.
func TestAFileOfSeveralHandlesIsNotChangedForOne(t *testing.T) {
	stream, at := plainStream(split("orders", 0, 5, noStop))
	for name, h := range map[string][]byte{"in the folder": relative("a", len(stream)), "elsewhere": absolute("file:/x/a", len(stream))} {
		for _, splitsFirst := range []bool{true, false} {
			states := [][]listState{{{readerState, 0, at}}, {{"other", 0, at}}}
			if !splitsFirst {
				states[0], states[1] = states[1], states[0]
			}
			j := oneSource(t, assigned("orders", 0), handle(h, states[0]...), handle(h, states[1]...))
			_, err := flinkstate.PrepareRewrite(j.fsys(map[string][]byte{"sp/a": stream}), "sp", flinkstate.Rewrite{Next: ordersAt(t, 9)}, flinkstate.WithPathMap(map[string]string{"file:/x": "sp"}))
			if expectRefused(t, err, flinkstate.FormNotWritten); err == nil || !strings.Contains(err.Error(), "named by several handles") {
				t.Errorf("%s, splits first %t: %v", name, splitsFirst, err)
			}
		}
	}
}

// What was somewhere else takes no name that a file of the folder has, and has one also
// where its URI ends in none.
func TestFilesFromElsewhereGetNamesOfTheirOwn(t *testing.T) {
	a, atA := plainStream(split("orders", 0, 5, noStop))
	other, atOther := plainStream([]byte("element"))
	j := oneSource(t, assigned("orders", 0),
		handle(absolute("file:/x/deep/a", len(a)), listState{readerState, 0, atA}),
		handle(relative("a", len(other)), listState{"other", 0, atOther}),
		handle(absolute("file:/x/deep/b/.", len(other)), listState{"other", 0, atOther}))
	files := map[string][]byte{"sp/deep/a": a, "sp/a": other, "sp/deep/b": other}
	p, err := flinkstate.PrepareRewrite(j.fsys(files), "sp", flinkstate.Rewrite{Next: ordersAt(t, 50)}, flinkstate.WithPathMap(map[string]string{"file:/x": "sp"}))
	if err != nil {
		t.Fatal(err)
	}
	is := contents(t, write(t, p))
	if len(is) != 4 || string(is["a"]) != string(other) || string(is["state"]) != string(other) || len(is["1-a"]) != len(a) {
		t.Errorf("files: %d", len(is))
	}
}
