package connecttest_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
)

// What a worker answers to GET, PATCH and DELETE offsets.
func offsetCases() []conformanceCase {
	return []conformanceCase{
		{name: "offsets of an unknown connector", since: "3.6.0", run: testOffsetsOfNobody, before: lacksAlter},
		{name: "offsets that are refused write nothing", since: "3.6.0", run: testRejectedOffsets, before: lacksAlter},
		{name: "bodies that are almost right", since: "3.6.0", run: testNearlyRightOffsets, before: lacksAlter},
		{name: "an entry that is too large leaves the others written", since: "3.6.0", run: testTooLargeEntry, before: lacksAlter},
		{name: "new offsets may take a moment to be read, changed ones do not", since: "3.6.0", run: testReadBack, before: lacksAlter},
		{name: "offsets that are accepted", since: "3.6.0", run: testAcceptedOffsets, before: lacksAlter},
		{name: "one bad entry rejects all", since: "3.6.0", run: testOneBadEntry, before: lacksAlter},
		{name: "offsets change in STOPPED only", since: "3.6.0", run: testOffsetsNeedStopped, before: lacksAlter},
		{name: "offsets outlive their connector", since: "3.6.0", run: testOffsetsSurviveDelete, before: lacksAlter},
	}
}

func testOffsetsOfNobody(t *testing.T, s *stage) {
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		s.check(t, s.name("none"), row{
			method: method, path: "/connectors/NAME/offsets", body: entries(at("a", 0, 1)), status: 404, message: "Connector NAME not found",
		})
	}
}

// patch is one PATCH on a STOPPED connector. O stands for the topic.
func patched(partition, offset string) string {
	return fmt.Sprintf(`{"offsets":[{"partition":%s,"offset":%s}]}`, partition, offset)
}

const (
	orders0 = `{"cluster":"source","topic":"orders","partition":0}`
	altered = `{"message":"The offsets for this connector have been altered successfully"}`
)

func testRejectedOffsets(t *testing.T, s *stage) {
	name := s.name("rejects")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	const (
		provide   = "Partitions / offsets need to be provided for an alter offsets request"
		noInteger = "Source partition {cluster=source, partition=%[1]s, topic=orders} has an invalid value %[1]s for the 'partition' key, which must be an integer"
		badOffset = "Source offset {offset=%[1]s} for source partition {cluster=source, partition=0, topic=orders} has an invalid value %[1]s for the 'offset' key, which %[2]s"
		nested    = "Offsets may only contain primitive types as values, but field %s contains %s"
		integer   = "must be an integer"
	)
	withPartition := func(p string) string {
		return patched(`{"cluster":"source","topic":"orders","partition":`+p+`}`, `{"offset":1}`)
	}
	withOffset := func(o string) string { return patched(orders0, `{"offset":`+o+`}`) }
	for _, r := range []row{
		{name: "no entries", body: `{"offsets":[]}`, status: 400, message: provide},
		{name: "no list", body: `{}`, status: 400, message: provide},
		{name: "null list", body: `{"offsets":null}`, status: 400, message: provide},
		{name: "no body", body: "", status: 500, message: `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets.offsets()" because "offsets" is null`},
		{name: "null", body: "null", status: 500, message: `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets.offsets()" because "offsets" is null`},
		{name: "not JSON", body: "x", status: 500, message: "Unrecognized token 'x': was expecting..."},
		{name: "an array", body: "[]", status: 500, message: "Cannot deserialize value of type `org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets` from Array value (token `JsonToken.START_ARRAY`)..."},
		{name: "an object for the list", body: `{"offsets":{}}`, status: 500, message: "Cannot deserialize value of type `java.util.ArrayList<org.apache.kafka.connect.runtime.rest.entities.ConnectorOffset>` from Object value (token `JsonToken.START_OBJECT`)..."},
		{name: "unknown member", body: `{"offsets":[],"a":1}`, status: 500, message: `Unrecognized field "a" (class org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets), not marked as ignorable (one known property: "offsets"...`},
		{name: "unknown member of an entry", body: `{"offsets":[{"partition":` + orders0 + `,"offset":{"offset":1},"x":1}]}`, status: 500, message: `Unrecognized field "x" (class org.apache.kafka.connect.runtime.rest.entities.ConnectorOffset), not marked as ignorable (2 known properties: "partition", "offset"...`},
		{name: "a bare number", body: patched(orders0, "5"), status: 500, message: "Cannot deserialize value of type `java.util.LinkedHashMap<java.lang.String,java.lang.Object>` from Integer value (token `JsonToken.VALUE_NUMBER_INT`)..."},
		{name: "null entry", body: `{"offsets":[null]}`, status: 500, message: `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.ConnectorOffset.partition()" because "offset" is null`},
		{name: "text after the value", body: withOffset("1") + " trailing", status: 500, message: "Unrecognized token 'trailing': was expecting...", since: "3.7.0"},
		{name: "text", body: withOffset("1"), header: []string{"Content-Type", "text/plain"}, status: 415, message: "HTTP 415 Unsupported Media Type"},
		{name: "no partition", body: `{"offsets":[{"offset":{"offset":1}}]}`, status: 500, message: "Source partitions may not be null"},
		{name: "null partition", body: patched("null", `{"offset":1}`), status: 500, message: "Source partitions may not be null"},
		{name: "empty partition", body: patched("{}", `{"offset":1}`), status: 500, message: "Source partition {} is missing the 'cluster' key, which is required"},
		{name: "no cluster", body: patched(`{"topic":"orders","partition":0}`, `{"offset":1}`), status: 500, message: "Source partition {partition=0, topic=orders} is missing the 'cluster' key, which is required"},
		{name: "no topic", body: patched(`{"cluster":"source","partition":0}`, `{"offset":1}`), status: 500, message: "Source partition {cluster=source, partition=0} is missing the 'topic' key, which is required"},
		{name: "no number", body: patched(`{"topic":"orders","cluster":"source"}`, `{"offset":1}`), status: 500, message: "Source partition {cluster=source, topic=orders} is missing the 'partition' key, which is required"},
		{name: "cluster 1", body: patched(`{"cluster":1,"topic":"orders","partition":0}`, `{"offset":1}`), status: 500, message: "Source partition {cluster=1, partition=0, topic=orders} has an invalid value 1 for the 'cluster' key, which must be a string"},
		{name: "null topic", body: patched(`{"cluster":"source","topic":null,"partition":0}`, `{"offset":1}`), status: 500, message: "Source partition {cluster=source, partition=0, topic=null} has an invalid value null for the 'topic' key, which must be a string"},
		{name: "partition as a string", body: withPartition(`"0"`), status: 500, message: fmt.Sprintf(noInteger, "0")},
		{name: "partition 0.0", body: withPartition("0.0"), status: 500, message: fmt.Sprintf(noInteger, "0.0")},
		{name: "partition 1e3", body: withPartition("1e3"), status: 500, message: fmt.Sprintf(noInteger, "1000.0")},
		{name: "partition null", body: withPartition("null"), status: 500, message: fmt.Sprintf(noInteger, "null")},
		{name: "partition true", body: withPartition("true"), status: 500, message: fmt.Sprintf(noInteger, "true")},
		{name: "partition 2^31", body: withPartition("2147483648"), status: 500, message: fmt.Sprintf(noInteger, "2147483648")},
		{name: "partition -1", body: withPartition("-1"), status: 500, message: "Source partition {cluster=source, partition=-1, topic=orders} has an invalid value -1 for the 'partition' key, which cannot be negative"},
		{name: "partition 2^63", body: withPartition("9223372036854775808"), status: 500, message: fmt.Sprintf(nested, "partition", "class java.math.BigInteger")},
		{name: "partition as an object", body: withPartition(`{"a":1}`), status: 500, message: fmt.Sprintf(nested, "partition", "MAP")},
		{name: "array in a partition to clear", body: patched(`{"cluster":"source","topic":"orders","partition":[1]}`, "null"), status: 500, message: fmt.Sprintf(nested, "partition", "ARRAY")},
		{name: "offset -1", body: withOffset("-1"), status: 500, message: fmt.Sprintf(badOffset, "-1", "cannot be negative")},
		{name: "offset as a string", body: withOffset(`"5"`), status: 500, message: fmt.Sprintf(badOffset, "5", integer)},
		{name: "offset 5.0", body: withOffset("5.0"), status: 500, message: fmt.Sprintf(badOffset, "5.0", integer)},
		{name: "offset 12345678.9", body: withOffset("12345678.9"), status: 500, message: fmt.Sprintf(badOffset, "1.23456789E7", integer)},
		{name: "offset 1e-5", body: withOffset("1e-5"), status: 500, message: fmt.Sprintf(badOffset, "1.0E-5", integer)},
		{name: "offset null within", body: withOffset("null"), status: 500, message: fmt.Sprintf(badOffset, "null", integer)},
		{name: "offset 2^63", body: withOffset("9223372036854775808"), status: 500, message: fmt.Sprintf(nested, "offset", "class java.math.BigInteger")},
		{name: "empty offset", body: patched(orders0, "{}"), status: 500, message: "Source offset {} for source partition {cluster=source, partition=0, topic=orders} is missing the 'offset' key, which is required"},
	} {
		r.method, r.path = "PATCH", "/connectors/NAME/offsets"
		s.check(t, name, r)
	}
	if got := s.offsets(t, name); len(got) != 0 {
		t.Errorf("offsets after requests that were all refused: %v", got)
	}
}

func testAcceptedOffsets(t *testing.T, s *stage) {
	name := s.name("accepts")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	five := map[string]string{"source/orders/0": `{"offset":5}`}
	for _, c := range []struct {
		name   string
		bodies []string
		want   map[string]string
	}{
		{"an entry without an offset deletes", []string{patched(orders0, `{"offset":5}`), `{"offsets":[{"partition":` + orders0 + `}]}`}, nil},
		{"null deletes", []string{patched(orders0, `{"offset":5}`), patched(orders0, "null")}, nil},
		{"null for what was never written", []string{patched(orders0, "null")}, nil},
		{"null for garbage", []string{patched(`{"a":true}`, "null"), patched("null", "null"), `{"offsets":[{}]}`}, nil},
		{"the same again", []string{patched(orders0, `{"offset":5}`), patched(orders0, `{"offset":5}`)}, five},
		{"null after an offset of the same partition deletes", []string{`{"offsets":[{"partition":` + orders0 + `,"offset":{"offset":1}},{"partition":` + orders0 + `,"offset":null}]}`}, nil},
		{"an offset after null is written", []string{`{"offsets":[{"partition":` + orders0 + `,"offset":null},{"partition":` + orders0 + `,"offset":{"offset":5}}]}`}, five},
		{"the last of two members wins", []string{patched(`{"cluster":"source","topic":"orders","partition":3,"partition":0}`, `{"offset":1,"offset":5}`)}, five},
		{"a partition that wraps around an int", []string{patched(`{"cluster":"source","topic":"orders","partition":-4294967296}`, `{"offset":5}`)}, map[string]string{"source/orders/-4.294967296e+09": `{"offset":5}`}},
		{"the last of two wins", []string{`{"offsets":[{"partition":` + orders0 + `,"offset":{"offset":1}},{"partition":{"partition":0,"topic":"orders","cluster":"source"},"offset":{"offset":5}}]}`}, five},
		{"keys in another order", []string{patched(`{"partition":0,"topic":"orders","cluster":"source"}`, `{"offset":5}`)}, five},
		{"part of the partitions", []string{patched(orders0, `{"offset":5}`), patched(`{"cluster":"source","topic":"orders","partition":1}`, `{"offset":6}`)}, map[string]string{"source/orders/0": `{"offset":5}`, "source/orders/1": `{"offset":6}`}},
		{"another alias, unknown topic and partition", []string{patched(orders0, `{"offset":5}`), patched(`{"cluster":"other","topic":"nope","partition":77}`, `{"offset":0}`)}, map[string]string{"source/orders/0": `{"offset":5}`, "other/nope/77": `{"offset":0}`}},
		{"an integer that a float64 cannot hold", []string{patched(orders0, `{"offset":9007199254740993}`)}, map[string]string{"source/orders/0": `{"offset":9007199254740993}`}},
		{"2^63-1", []string{patched(orders0, `{"offset":9223372036854775807}`)}, map[string]string{"source/orders/0": `{"offset":9223372036854775807}`}},
		{"minus zero", []string{patched(`{"cluster":"source","topic":"orders","partition":-0}`, `{"offset":-0}`)}, map[string]string{"source/orders/0": `{"offset":0}`}},
	} {
		for _, body := range c.bodies {
			s.check(t, name, row{name: c.name, method: "PATCH", path: "/connectors/NAME/offsets", body: body, status: 200, is: altered})
		}
		want := c.want
		if want == nil {
			want = map[string]string{}
		}
		s.awaitOffsets(t, name, want)
		s.check(t, name, row{method: "DELETE", path: "/connectors/NAME/offsets", status: 200, is: `{"message":"The offsets for this connector have been reset successfully"}`})
		s.awaitOffsets(t, name, map[string]string{})
	}
	for range 2 {
		s.check(t, name, row{name: "reset of nothing", method: "DELETE", path: "/connectors/NAME/offsets", status: 200})
	}
	s.check(t, name, row{name: "reset with a body", method: "DELETE", path: "/connectors/NAME/offsets", body: `{"offsets":[]}`, status: 200})

	// JSON has no infinity, so one is kept as text.
	s.check(t, name, row{method: "PATCH", path: "/connectors/NAME/offsets", status: 200, body: patched(orders0, `{"offset":3,"most":1e400,"least":-1e400}`)})
	s.awaitOffsets(t, name, map[string]string{"source/orders/0": `{"most":"Infinity","offset":3,"least":"-Infinity"}`})
	s.must(t, http.StatusOK, "DELETE", "/connectors/"+name+"/offsets", nil)
	s.awaitOffsets(t, name, map[string]string{})

	// A further key makes another partition; a further key of the offset is kept.
	// Keys are in the order of a Java HashMap, doubles as Java writes them.
	s.check(t, name, row{
		method: "PATCH", path: "/connectors/NAME/offsets", status: 200,
		body: patched(`{"topic":"orders","cluster":"source","partition":1,"x":1.50,"y":true,"z":null}`, `{"offset":3,"note":"a\u00e9\"b","huge":1e300,"f":1.0}`),
	})
	await(t, "the offsets as they are written", func() (any, bool) {
		got := s.call(t, "GET", "/connectors/"+name+"/offsets", nil)
		return got, got.body == `{"offsets":[{"partition":{"cluster":"source","partition":1,"x":1.5,"topic":"orders","y":true,"z":null},"offset":{"note":"aé\"b","offset":3,"f":1.0,"huge":1.0E300}}]}`
	})
}

func testOneBadEntry(t *testing.T, s *stage) {
	name := s.name("allornone")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	bad := entry{map[string]any{"cluster": "source", "topic": "orders", "partition": 1}, []byte(`{"offset":-1}`)}
	s.must(t, http.StatusInternalServerError, "PATCH", "/connectors/"+name+"/offsets", entries(at("orders", 0, 1), bad, at("orders", 2, 3)))
	if got := s.offsets(t, name); len(got) != 0 {
		t.Errorf("a request with one bad entry wrote %v", got)
	}
}

func testOffsetsNeedStopped(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 1)
	name := s.name("busy")
	s.create(t, name, "PAUSED", s.config(conf{"topics": orders}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	refused := func(when string) {
		t.Helper()
		for _, method := range []string{"PATCH", "DELETE"} {
			s.check(t, name, row{
				name: when, method: method, path: "/connectors/NAME/offsets", body: entries(at(orders, 0, 1)), status: 400,
				message: "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector by issuing a 'PUT' request to the '/connectors/NAME/stop' endpoint",
			})
		}
	}
	refused("PAUSED")
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/resume", nil)
	s.awaitStates(t, name, "RUNNING/RUNNING")
	refused("RUNNING")
	// Directly after the stop the worker waits for its tasks by itself.
	s.must(t, http.StatusNoContent, "PUT", "/connectors/"+name+"/stop", nil)
	s.check(t, name, row{method: "PATCH", path: "/connectors/NAME/offsets", body: entries(at(orders, 0, 7)), status: 200, is: altered})
	s.awaitOffsets(t, name, map[string]string{"source/" + orders + "/0": `{"offset":7}`})
	s.awaitStates(t, name, "STOPPED")
}

func testOffsetsSurviveDelete(t *testing.T, s *stage) {
	name := s.name("kept")
	s.create(t, name, "STOPPED", s.config())
	s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(at("orders", 0, 5), at("orders", 1, 0)))
	want := map[string]string{"source/orders/0": `{"offset":5}`, "source/orders/1": `{"offset":0}`}
	s.awaitOffsets(t, name, want)
	s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.check(t, name, row{method: "GET", path: "/connectors/NAME/offsets", status: 404, message: "Connector NAME not found"})
	await(t, "the status to go", func() (any, bool) {
		r := s.call(t, "GET", "/connectors/"+name+"/status", nil)
		return r, r.status == http.StatusNotFound
	})
	s.create(t, name, "STOPPED", s.config())
	if got := s.offsets(t, name); !maps.Equal(got, want) {
		t.Errorf("offsets of a connector created again = %v, want %v", got, want)
	}
	s.must(t, http.StatusOK, "DELETE", "/connectors/"+name+"/offsets", nil)
	s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
}
