package connecttest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What MirrorSourceConnector copies, and from where.
func copyCases() []conformanceCase {
	return []conformanceCase{
		{name: "the copy starts at M + 1", since: "3.6.0", run: testStartsAtC, before: lacksAlter},
		{name: "another alias and another key are never read", since: "3.6.0", run: testOtherKeysNotRead, before: lacksAlter},
		{name: "a record is kept as it is", run: testRecordKept},
		{name: "headers become base64 without a header converter", run: testSimpleHeaders},
		{name: "out of range, earliest starts at the log start", since: "3.6.0", run: testOutOfRangeEarliest, before: lacksAlter},
		{name: "out of range, latest starts at the end", since: "3.6.0", run: testOutOfRangeLatest, before: lacksAlter},
		{name: "out of range, none copies nothing and stays RUNNING", since: "3.6.0", run: testOutOfRangeNone, before: lacksAlter},
		{name: "no offset and latest loses what is there", since: "3.6.2", run: testNoOffsetLatest, before: testSeeksZero},
		{name: "a group id decides where no offset is stored", since: "3.6.2", run: testGroupID, before: testSeeksZero},
		{name: "the largest offset fails the task", since: "3.6.0", run: testLargestOffset, before: lacksAlter},
		{name: "topics are regular expressions and match whole names", run: testTopicPatterns},
		{name: "the default policy puts the alias before the name", run: testDefaultPolicy},
		{name: "heartbeats are renamed, and copied unasked", run: testHeartbeats, alone: true},
		{name: "partitions are added on the target", run: testPartitionsAdded},
	}
}

func testStartsAtC(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 4)
	for p := range int32(4) {
		produce(t, s.source, numbered(orders, p, 0, 50)...)
	}
	name := s.name("cutover")
	s.create(t, name, "STOPPED", s.config(conf{"topics": orders}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(
		at(orders, 0, 19), // C in the middle
		at(orders, 1, -1), // C = 0
		at(orders, 2, 49), // C = end
		at(orders, 3, 0),  // C = 1
	))
	key := func(p int) string { return fmt.Sprintf("source/%s/%d", orders, p) }
	s.awaitOffsets(t, name, map[string]string{key(0): `{"offset":19}`, key(2): `{"offset":49}`, key(3): `{"offset":0}`})
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	s.awaitStates(t, name, "RUNNING/RUNNING/RUNNING")
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 20, 30))
	awaitValues(t, s.target, orders, 1, expected(orders, 1, 0, 50))
	awaitValues(t, s.target, orders, 3, expected(orders, 3, 1, 49))
	// While it runs, offsets follow at the flush interval.
	s.awaitOffsets(t, name, map[string]string{key(0): `{"offset":49}`, key(1): `{"offset":49}`, key(2): `{"offset":49}`, key(3): `{"offset":49}`})
	if got := values(t, s.target, orders, 2); len(got) != 0 {
		t.Errorf("a partition with C at its end: %d records copied", len(got))
	}
	produce(t, s.source, numbered(orders, 2, 50, 3)...)
	awaitValues(t, s.target, orders, 2, expected(orders, 2, 50, 3))
	// A stop commits what was delivered last, without waiting for the interval.
	s.must(t, http.StatusNoContent, "PUT", "/connectors/"+name+"/stop", nil)
	s.awaitStates(t, name, "STOPPED")
	s.awaitOffsets(t, name, map[string]string{key(0): `{"offset":49}`, key(1): `{"offset":49}`, key(2): `{"offset":52}`, key(3): `{"offset":49}`})
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 20, 30))
}

// started creates a connector for one topic of one partition that holds n
// records, with the given M (none when negative), and lets it run.
func (s *stage) started(t *testing.T, orders string, n int, m int64, change conf) (name string) {
	t.Helper()
	topic(t, s.source, orders, 1)
	if n > 0 {
		produce(t, s.source, numbered(orders, 0, 0, n)...)
	}
	name = s.name("runs")
	s.create(t, name, "STOPPED", s.config(conf{"topics": orders}, change))
	// A consumer without a position floods the worker's log, so this one must go.
	t.Cleanup(func() {
		if r, err := s.try(context.Background(), "DELETE", "/connectors/"+name, nil); err != nil || r.status != http.StatusNoContent {
			t.Errorf("delete %s: %s %v", name, r, err)
		}
	})
	if m >= 0 {
		s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(at(orders, 0, m)))
	}
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	return name
}

func testOtherKeysNotRead(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 1)
	produce(t, s.source, numbered(orders, 0, 0, 10)...)
	name := s.name("keys")
	s.create(t, name, "STOPPED", s.config(conf{"topics": orders}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(
		entry{map[string]any{"cluster": "other", "topic": orders, "partition": 0}, []byte(`{"offset":7}`)},
		entry{map[string]any{"cluster": "source", "topic": orders, "partition": 0, "x": 1}, []byte(`{"offset":8}`)},
	))
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 10))
}

// shape is what of a record has to arrive as it was.
type shape struct {
	Key, Value []byte
	Headers    []kgo.RecordHeader
	Timestamp  int64
}

func shapes(records []*kgo.Record) []shape {
	var all []shape
	for _, r := range records {
		all = append(all, shape{r.Key, r.Value, r.Headers, r.Timestamp.UnixMilli()})
	}
	return all
}

func testRecordKept(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 2)
	when := epoch.Add(123 * time.Millisecond)
	produce(t, s.source,
		&kgo.Record{Topic: orders, Partition: 1, Key: []byte("k"), Value: []byte("v"), Timestamp: when},
		&kgo.Record{Topic: orders, Partition: 1, Key: nil, Value: []byte("null key"), Timestamp: when},
		&kgo.Record{Topic: orders, Partition: 1, Key: []byte("tombstone"), Value: nil, Timestamp: when},
		&kgo.Record{Topic: orders, Partition: 1, Key: []byte{}, Value: []byte{}, Timestamp: when},
		&kgo.Record{Topic: orders, Partition: 1, Value: []byte{0, 0xff, 0x80}, Timestamp: when, Headers: []kgo.RecordHeader{
			{Key: "binary", Value: []byte{0, 1, 0xfe}}, {Key: "null", Value: nil}, {Key: "empty", Value: []byte{}}, {Key: "binary", Value: []byte("again")},
		}},
	)
	name := s.name("kept")
	s.create(t, name, "PAUSED", s.config(conf{"topics": orders}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	want := shapes(read(t, s.source, orders, 1))
	await(t, "5 records", func() (any, bool) {
		got := read(t, s.target, orders, 1)
		return len(got), len(got) == len(want)
	})
	if diff := cmp.Diff(want, shapes(read(t, s.target, orders, 1))); diff != "" {
		t.Errorf("records on the target (-source +target):\n%s", diff)
	}
}

func testSimpleHeaders(t *testing.T, s *stage) {
	orders := s.name("orders")
	s.started(t, orders, 0, -1, conf{"header.converter": ""})
	produce(t, s.source, &kgo.Record{Topic: orders, Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("abc")}, {Key: "n"}}})
	await(t, "a record", func() (any, bool) {
		got := read(t, s.target, orders, 0)
		return len(got), len(got) == 1
	})
	want := []kgo.RecordHeader{{Key: "h", Value: []byte("YWJj")}, {Key: "n"}}
	if diff := cmp.Diff(want, read(t, s.target, orders, 0)[0].Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func testOutOfRangeEarliest(t *testing.T, s *stage) {
	orders := s.name("orders")
	s.started(t, orders, 10, 14, nil)
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 10))
}

func testOutOfRangeLatest(t *testing.T, s *stage) {
	orders := s.name("orders")
	name := s.started(t, orders, 10, 14, conf{"source.consumer.auto.offset.reset": "latest"})
	s.awaitStates(t, name, "RUNNING/RUNNING")
	s.awaitFirstAfter(t, orders, 10)
	if got := s.offsets(t, name)["source/"+orders+"/0"]; got == `{"offset":14}` {
		// GET shows the impossible M until something was copied and flushed.
		t.Logf("M is still %s", got)
	}
}

// awaitFirstAfter produces until something is copied, and demands that nothing
// of the first n records was: the consumer finds the end at a moment of its own.
func (s *stage) awaitFirstAfter(t *testing.T, orders string, n int) {
	t.Helper()
	next := n
	await(t, "a record after the end", func() (any, bool) {
		produce(t, s.source, numbered(orders, 0, next, 1)...)
		next++
		got := values(t, s.target, orders, 0)
		return got, len(got) > 0
	})
	got := values(t, s.target, orders, 0)
	if all := expected(orders, 0, n, next-n); !slices.Contains(all, got[0]) {
		t.Errorf("first record copied = %s, want one after the end that was", got[0])
	}
}

func testOutOfRangeNone(t *testing.T, s *stage) {
	orders, others := s.name("orders"), s.name("others")
	topic(t, s.source, others, 1)
	name := s.started(t, orders, 10, 14, conf{"tasks.max": "1", "topics": orders + "," + others, "source.consumer.auto.offset.reset": "none"})
	s.awaitStates(t, name, "RUNNING/RUNNING")
	// Nothing tells that the consumer gave up, so give it time to do wrong.
	time.Sleep(1500 * time.Millisecond)
	s.awaitStates(t, name, "RUNNING/RUNNING")
	if got := values(t, s.target, orders, 0); len(got) != 0 {
		t.Errorf("copied %v", got)
	}
}

func testNoOffsetLatest(t *testing.T, s *stage) {
	orders := s.name("orders")
	name := s.started(t, orders, 10, -1, conf{"consumer.auto.offset.reset": "latest"})
	s.awaitStates(t, name, "RUNNING/RUNNING")
	s.awaitFirstAfter(t, orders, 10)
	// source.consumer. wins over consumer., and source.cluster. is not read.
	orders = s.name("orders")
	s.started(t, orders, 10, -1, conf{
		"consumer.auto.offset.reset": "latest", "source.consumer.auto.offset.reset": "earliest",
		"source.cluster.auto.offset.reset": "latest", "consumer.override.auto.offset.reset": "latest",
	})
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 10))
}

// Up to 3.6.1 nothing decides but the stored offset: where there is none, a task
// seeks to 0.
func testSeeksZero(t *testing.T, s *stage) string {
	orders := s.name("orders")
	s.started(t, orders, 10, -1, conf{"consumer.auto.offset.reset": "latest"})
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 10))
	return "not served by this version: a task starts at offset 0, whatever its consumer is told"
}

func testGroupID(t *testing.T, s *stage) {
	orders, group := s.name("orders"), s.name("flink")
	topic(t, s.source, orders, 2)
	for p := range int32(2) {
		produce(t, s.source, numbered(orders, p, 0, 10)...)
	}
	commitGroup(t, s.source, group, orders, map[int32]int64{0: 7})
	name := s.name("grouped")
	s.create(t, name, "STOPPED", s.config(conf{"topics": orders, "source.consumer.group.id": group}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 7, 3))
	awaitValues(t, s.target, orders, 1, expected(orders, 1, 0, 10))
}

func testLargestOffset(t *testing.T, s *stage) {
	orders := s.name("orders")
	name := s.started(t, orders, 1, 1<<63-1, nil)
	s.awaitStates(t, name, "RUNNING/FAILED")
	const want = "java.lang.IllegalArgumentException: seek offset must not be a negative number"
	if trace := s.status(t, name).Tasks[0].Trace; len(trace) < len(want) || trace[:len(want)] != want {
		t.Errorf("trace = %.200q, want %q", trace, want)
	}
}

func testTopicPatterns(t *testing.T, s *stage) {
	base := s.name("t")
	create := []string{base + ".b", base + "xb", base + ".bc", base + ".internal", base + "-internal", base + ".replica", "__" + base, "mm2-" + base + ".internal", base + ".checkpoints.internal"}
	for _, name := range create {
		topic(t, s.source, name, 1)
	}
	// The dot matches any character; a topic that only begins so is another one.
	name := s.name("patterns")
	c := s.config(conf{"tasks.max": "20", "topics": base + ".b," + base + ".*internal," + base + ".replica,__" + base + ",mm2-" + base + ".*", "topics.exclude": "nothing"})
	s.create(t, name, "PAUSED", c)
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	want := []string{base + ".b-0", base + ".replica-0", base + "xb-0"}
	if s.atLeast("4.0.0") {
		want = append(want, base+".internal-0", base+"-internal-0")
	}
	s.awaitAssigned(t, name, want)

	// By default, topics.exclude drops some of these too.
	other := s.name("patterns")
	s.create(t, other, "PAUSED", s.config(conf{"tasks.max": "20", "topics": base + ".*"}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+other, nil)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+other+"/resume", nil)
	want = []string{base + ".b-0", base + "xb-0", base + ".bc-0"}
	if s.atLeast("4.0.0") {
		want = append(want, base+".internal-0", base+"-internal-0")
	}
	s.awaitAssigned(t, other, want)
}

// awaitAssigned waits until the tasks have exactly these partitions, apart from
// heartbeats, which every connector has.
func (s *stage) awaitAssigned(t *testing.T, name string, want []string) {
	t.Helper()
	slices.Sort(want)
	await(t, fmt.Sprintf("tasks for %v", want), func() (any, bool) {
		var got []string
		for _, task := range decode[[]struct{ Config conf }](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/tasks", nil)) {
			if p := task.Config["task.assigned.partitions"]; p != "heartbeats-0" {
				got = append(got, p)
			}
		}
		slices.Sort(got)
		return got, slices.Equal(got, want)
	})
}

func testDefaultPolicy(t *testing.T, s *stage) {
	orders := s.name("orders")
	s.started(t, orders, 5, -1, conf{"replication.policy.class": "", "replication.policy.separator": "-"})
	awaitValues(t, s.target, "source-"+orders, 0, expected(orders, 0, 0, 5))
}

func testHeartbeats(t *testing.T, s *stage) {
	orders := s.name("orders")
	device := s.name("device") + "-heartbeats"
	topic(t, s.source, "heartbeats", 1)
	topic(t, s.source, device, 1)
	defer deleteTopics(t, s.source, "heartbeats", device) // or every other connector copies it
	produce(t, s.source, numbered("heartbeats", 0, 0, 2)...)
	produce(t, s.source, numbered(device, 0, 0, 2)...)
	name := s.started(t, orders, 2, -1, conf{"topics": orders + "," + device})
	await(t, "heartbeats on the target", func() (any, bool) {
		got := values(t, s.target, "source.heartbeats", 0)
		return got, len(got) > 0
	})
	awaitValues(t, s.target, "source."+device, 0, expected(device, 0, 0, 2))
	s.awaitOffsets(t, name, map[string]string{
		"source/heartbeats/0": `{"offset":1}`, "source/" + device + "/0": `{"offset":1}`, "source/" + orders + "/0": `{"offset":1}`,
	})
	s.must(t, http.StatusNoContent, "PUT", "/connectors/"+name+"/stop", nil)
	s.awaitStates(t, name, "STOPPED")
	if s.atLeast("4.0.0") {
		orders = s.name("orders")
		name = s.started(t, orders, 2, -1, conf{"heartbeats.replication.enabled": "false", "tasks.max": "9"})
		s.awaitStates(t, name, "RUNNING/RUNNING")
	}
}

func testPartitionsAdded(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 3)
	topic(t, s.target, orders, 1)
	produce(t, s.source, numbered(orders, 2, 0, 4)...)
	name := s.name("grows")
	s.create(t, name, "PAUSED", s.config(conf{"topics": orders, "refresh.topics.interval.seconds": "1"}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	awaitValues(t, s.target, orders, 2, expected(orders, 2, 0, 4))
	// A partition that appears later is found by the refresh and read from its
	// beginning.
	addPartitions(t, s.source, orders, 5)
	produce(t, s.source, numbered(orders, 4, 0, 4)...)
	awaitValues(t, s.target, orders, 4, expected(orders, 4, 0, 4))
	if got, want := ends(t, s.target, orders), ends(t, s.source, orders); !slices.Equal(got, want) {
		t.Errorf("ends of the target = %v, of the source %v", got, want)
	}
}
