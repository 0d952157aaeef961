package connectrest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func tp(topic string, partition int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: topic, Partition: partition}
}

func source(t *testing.T, v int64) offsetmap.SourceOffset {
	t.Helper()
	m, err := offsetmap.Source(v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func entry(partition, offset string) connectrest.Offset {
	return connectrest.Offset{Partition: raw(partition), Offset: raw(offset)}
}

func TestMirrorSourceOffsetsPartWhatTheConnectorReadsFromWhatItNeverWill(t *testing.T) {
	own := []connectrest.Offset{
		entry(`{"cluster":"source","partition":0,"topic":"orders"}`, `{"offset":9007199254740993}`),
		entry(`{"topic":"orders","partition":1,"cluster":"source"}`, `{"offset":0}`),
		entry(`{"cluster":"source","partition":2147483647,"topic":"orders"}`, `{"offset":9223372036854775807}`),
		entry(`{"cluster":"source","partition":2,"topic":"orders"}`, `{"offset":5,"harmless":"x"}`),
		entry(`{"cluster":"source","partition":3,"topic":"orders"}`, `null`),
		entry(`{"cluster":"gone","partition":3,"topic":"orders"}`, ` null `),
		{Partition: raw(`{"cluster":"source","partition":4,"topic":"orders"}`)},
	}
	foreign := []struct{ partition, offset, reason string }{
		{`{"cluster":"other","partition":0,"topic":"orders"}`, `{"offset":1}`, `"cluster" is "other", not "source"`},
		{`{"cluster":"Source","partition":0,"topic":"orders"}`, `{"offset":1}`, `"cluster" is "Source"`},
		{`{"cluster":"source","partition":9,"topic":"orders","extra":1}`, `{"offset":1}`, `extra key "extra"`},
		{`{"cluster":"source","partition":9,"topic":"orders","":1}`, `{"offset":1}`, `extra key ""`},
		{`{"CLUSTER":"source","partition":9,"topic":"orders"}`, `{"offset":1}`, `no "cluster"`},
		{`{"cluster":"source","topic":"orders"}`, `{"offset":1}`, `no "partition"`},
		{`{"cluster":"source","partition":9}`, `{"offset":1}`, `no "topic"`},
		{`{"cluster":"source","partition":"9","topic":"orders"}`, `{"offset":1}`, `"partition" is "9"`},
		{`{"cluster":"source","partition":9.0,"topic":"orders"}`, `{"offset":1}`, `"partition" is 9.0`},
		{`{"cluster":"source","partition":-1,"topic":"orders"}`, `{"offset":1}`, `"partition" is -1`},
		{`{"cluster":"source","partition":2147483648,"topic":"orders"}`, `{"offset":1}`, `"partition" is 2147483648`},
		{`{"cluster":"source","partition":null,"topic":"orders"}`, `{"offset":1}`, `"partition" is null`},
		{`{"cluster":"source","partition":9,"topic":null}`, `{"offset":1}`, `"topic" is null`},
		{`{"cluster":"source","partition":9,"topic":"a b"}`, `{"offset":1}`, `not a legal topic name`},
		{`{"server":"db1"}`, `{"lsn":1}`, `no "cluster"`},
		{`["source"]`, `{"offset":1}`, `not a JSON object`},
		{`{"cluster":"source","partition":10,"topic":"orders"}`, `{"offset":-1}`, `"offset" is -1`},
		{`{"cluster":"source","partition":11,"topic":"orders"}`, `{"offset":"5"}`, `"offset" is "5"`},
		{`{"cluster":"source","partition":12,"topic":"orders"}`, `{"offset":5.0}`, `"offset" is 5.0`},
		{`{"cluster":"source","partition":13,"topic":"orders"}`, `{"offset":null}`, `"offset" is null`},
		{`{"cluster":"source","partition":14,"topic":"orders"}`, `{"offset":9223372036854775808}`, `"offset" is 9223372036854775808`},
		{`{"cluster":"source","partition":15,"topic":"orders"}`, `{}`, `the offset has no "offset"`},
		{`{"cluster":"source","partition":16,"topic":"orders"}`, `5`, `the offset is not a JSON object`},
		{`{"cluster":"source","partition":17,"topic":"orders"}`, `{"offset":1e3}`, `"offset" is 1e3`},
	}
	offsets := own
	for _, f := range foreign {
		offsets = append(offsets, entry(f.partition, f.offset))
	}
	got, err := connectrest.MirrorSourceOffsets("source", offsets)
	if err != nil {
		t.Fatal(err)
	}
	want := map[offsetmap.TopicPartition]offsetmap.SourceOffset{
		tp("orders", 0): source(t, 9007199254740993), tp("orders", 1): source(t, 0),
		tp("orders", 2147483647): source(t, 9223372036854775807), tp("orders", 2): source(t, 5),
	}
	if diff := cmp.Diff(want, got.Stored, cmp.Comparer(func(a, b offsetmap.SourceOffset) bool { return a == b })); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	reasons := make(map[string]string)
	for i, f := range got.Foreign {
		reasons[string(f.Partition)] = f.Reason
		if i > 0 && string(got.Foreign[i-1].Partition) > string(f.Partition) {
			t.Error("foreign entries are not sorted")
		}
		if !strings.Contains(f.String(), string(f.Partition)) || !strings.Contains(f.String(), string(f.Offset.Offset)) {
			t.Errorf("%v does not show the raw entry", f)
		}
	}
	for _, f := range foreign {
		if !strings.Contains(reasons[f.partition], f.reason) {
			t.Errorf("%s %s: reason %q, want %q", f.partition, f.offset, reasons[f.partition], f.reason)
		}
	}
	if len(got.Foreign) != len(foreign) {
		t.Errorf("%d foreign, want %d", len(got.Foreign), len(foreign))
	}
}

// A foreign entry must be clearable by exactly the partition that it has.
func TestForeignEntriesAreClearedByTheirRawPartition(t *testing.T) {
	const partition = `{"cluster":"other","partition":1.50,"zone":"\u00fc"}`
	got, err := connectrest.MirrorSourceOffsets("source", []connectrest.Offset{entry(partition, `{"offset":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	s := newScript(t).on("PATCH /connectors/mm2/offsets", status(200, `{"message":"ok"}`))
	if err := s.client().AlterOffsets(t.Context(), "mm2", []connectrest.Offset{got.Foreign[0].Clear()}); err != nil {
		t.Fatal(err)
	}
	if sent, want := s.body("PATCH /connectors/mm2/offsets"), `{"offsets":[{"partition":`+partition+`,"offset":null}]}`; sent != want {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
}

func TestMirrorSourceOffsetsRefuseDuplicates(t *testing.T) {
	for _, pair := range [][2]string{
		{`{"cluster":"source","partition":0,"topic":"a"}`, `{"topic":"a","cluster":"source","partition":0}`},
		{`{"cluster":"source","partition":0,"topic":"a"}`, `{"cluster":"source","partition":-0,"topic":"a"}`},
		{`{"x":1}`, `{"x":1}`},
	} {
		_, err := connectrest.MirrorSourceOffsets("source", []connectrest.Offset{entry(pair[0], `{"offset":1}`), entry(pair[1], `{"offset":2}`)})
		if !errors.Is(err, connectrest.ErrDuplicatePartition) {
			t.Errorf("%s: got %v", pair, err)
		}
	}
	if _, err := connectrest.MirrorSourceOffsets("", nil); err == nil {
		t.Error("an empty alias was accepted")
	}
}

func TestMirrorSourceWritesHaveExactlyTheKeysThatTasksRead(t *testing.T) {
	write := func(c int64) offsetmap.Write {
		next, err := offsetmap.Next(c)
		if err != nil {
			t.Fatal(err)
		}
		w, err := next.Write()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	got, err := connectrest.MirrorSourceWrites(`a"b`, map[offsetmap.TopicPartition]offsetmap.Write{
		tp("orders", 10): write(1), tp("orders", 9): write(0), tp("a.b", 0): write(9007199254740994),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []connectrest.Offset{
		entry(`{"cluster":"a\"b","topic":"a.b","partition":0}`, `{"offset":9007199254740993}`),
		entry(`{"cluster":"a\"b","topic":"orders","partition":9}`, `null`),
		entry(`{"cluster":"a\"b","topic":"orders","partition":10}`, `{"offset":0}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = connectrest.MirrorSourceWrites("", map[offsetmap.TopicPartition]offsetmap.Write{
		tp("a/b", 0): write(1), tp("orders", -1): write(1), tp("orders", 1): {},
	})
	for _, says := range []string{"alias", `"a/b"`, "partition -1", "orders-1"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("does not name %s: %v", says, err)
		}
	}
}

func TestMirrorSourceAssigned(t *testing.T) {
	task := func(n int, list string) connectrest.TaskInfo {
		return connectrest.TaskInfo{ID: connectrest.TaskID{Connector: "mm2", Task: n}, Config: connectrest.Config{"task.assigned.partitions": list}}
	}
	got, err := connectrest.MirrorSourceAssigned([]connectrest.TaskInfo{task(0, "orders-2024-0,orders-1"), task(1, "a.b-12")})
	want := map[offsetmap.TopicPartition]int{tp("orders-2024", 0): 0, tp("orders", 1): 0, tp("a.b", 12): 1}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for says, tasks := range map[string][]connectrest.TaskInfo{
		"has no task.assigned.partitions": {{Config: connectrest.Config{}}},
		"is not a partition number":       {task(0, "orders-x")},
		"want TOPIC-PARTITION":            {task(0, "")},
		"to task 0 and to task 1":         {task(0, "orders-1"), task(1, "orders-1")},
	} {
		if _, err := connectrest.MirrorSourceAssigned(tasks); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", says, err)
		}
	}
}
