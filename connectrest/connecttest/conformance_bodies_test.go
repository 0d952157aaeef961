package connecttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// How bodies are read, beyond what is right.
func bodyCases() []conformanceCase {
	return []conformanceCase{
		{name: "initial_state in other words", since: "3.7.0", run: testInitialStates, before: lacksInitialState},
		{name: "some keys of a configuration are changed", since: "3.8.0", run: testPatchConfig, before: lacksPatchConfig},
		{name: "names that are refused, and names without an address", run: testOddNames},
		{name: "values of a configuration that are no text", run: testConfigValues},
	}
}

func testNearlyRightOffsets(t *testing.T, s *stage) {
	name := s.name("nearly")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	const (
		cannot = "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.%s` (although at least one Creator exists): no %s-argument constructor/factory method to deserialize from %s..."
		coerce = "Cannot coerce empty String (\"\") to %s`..."
	)
	for _, r := range []row{
		{name: "a text", body: `"x"`, status: 500, message: fmt.Sprintf(cannot, "ConnectorOffsets", "String", "String value ('x')")},
		{name: "an empty text", body: `""`, status: 500, message: fmt.Sprintf(coerce, "`org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets")},
		{name: "a number", body: `5`, status: 500, message: fmt.Sprintf(cannot, "ConnectorOffsets", "int/Int", "Number value (5)")},
		{name: "true", body: `true`, status: 500, message: fmt.Sprintf(cannot, "ConnectorOffsets", "boolean/Boolean", "boolean value (true)")},
		{name: "a number as an entry", body: `{"offsets":[5]}`, status: 500, message: fmt.Sprintf(cannot, "ConnectorOffset", "int/Int", "Number value (5)")},
		{name: "an empty text as an entry", body: `{"offsets":[""]}`, status: 500, message: fmt.Sprintf(coerce, "`org.apache.kafka.connect.runtime.rest.entities.ConnectorOffset")},
		{name: "a text for the list", body: `{"offsets":"x"}`, status: 500, message: "Cannot deserialize value of type `java.util.ArrayList<org.apache.kafka.connect.runtime.rest.entities.ConnectorOffset>` from String value (token `JsonToken.VALUE_STRING`)..."},
		{name: "an array as a partition", body: `{"offsets":[{"partition":[],"offset":null}]}`, status: 500, message: "Cannot deserialize value of type `java.util.LinkedHashMap<java.lang.String,java.lang.Object>` from Array value (token `JsonToken.START_ARRAY`)..."},
		{name: "an empty text as a partition", body: `{"offsets":[{"partition":"","offset":null}]}`, status: 500, message: "Cannot coerce empty String (\"\") to element of `java.util.LinkedHashMap..."},
		{name: "an offset beyond a double", body: patched(orders0, `{"offset":1e400}`), status: 500, message: "Source offset {offset=Infinity} for source partition {cluster=source, partition=0, topic=orders} has an invalid value Infinity for the 'offset' key, which must be an integer"},
		{name: "a comma too many", body: `{"offsets":[` + strings.TrimSuffix(strings.TrimPrefix(patched(orders0, `{"offset":3}`), `{"offsets":[`), `]}`) + `,]}`, status: 500},
		{name: "a leading zero", body: patched(orders0, `{"offset":03}`), status: 500},
		{name: "not a number", body: patched(orders0, `{"offset":NaN}`), status: 500},
		{name: "single quotes", body: `{'offsets':[]}`, status: 500},
		{name: "cut short", body: `{"offsets":[{"partition":` + orders0 + `,"offset":{"offset":3}}]`, status: 500},
		{name: "a byte order mark", body: "\xef\xbb\xbf" + `{"offsets":[]}`, status: 400, message: "Partitions / offsets need to be provided for an alter offsets request"},
		{name: "blank", body: " ", status: 500, message: `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets.offsets()" because "offsets" is null`},
	} {
		r.method, r.path = "PATCH", "/connectors/NAME/offsets"
		s.check(t, name, r)
	}
	if got := s.offsets(t, name); len(got) != 0 {
		t.Errorf("offsets after requests that were all refused: %v", got)
	}
}

// The text is the same as for a failure that passes, and the entries beside the
// one that no producer takes are written.
func testTooLargeEntry(t *testing.T, s *stage) {
	name := s.name("large")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(at(strings.Repeat("t", 1_000_000), 0, -1), at("orders", 0, 1)))
	body := entries(at("orders", 0, 5), at(strings.Repeat("t", 1_100_000), 0, 3), at("orders", 1, 6))
	r := s.call(t, "PATCH", "/connectors/"+name+"/offsets", body)
	if r.status != http.StatusInternalServerError || r.message() != "Failed to modify offsets for source connector "+name {
		t.Errorf("a record of more than max.request.size: %d %.200s", r.status, r.body)
	}
	s.awaitOffsets(t, name, map[string]string{"source/orders/0": `{"offset":5}`, "source/orders/1": `{"offset":6}`})
}

// A worker may need a moment to know that a partition is there at all; of the
// ones that it knows it tells what was written last.
func testReadBack(t *testing.T, s *stage) {
	name := s.name("readback")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	want := make(map[string]string)
	write := func(n int, m int64) {
		var all []entry
		for p := range n {
			all = append(all, at("orders", p, m))
			want[fmt.Sprintf("source/orders/%d", p)] = fmt.Sprintf(`{"offset":%d}`, m)
		}
		s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/offsets", entries(all...))
	}
	for m := range int64(10) {
		write(10*int(m+1), m)
		for key, got := range s.offsets(t, name) {
			if got != want[key] {
				t.Errorf("directly after %d was written, %s = %s", m, key, got)
			}
		}
		s.awaitOffsets(t, name, want)
	}
}

func testInitialStates(t *testing.T, s *stage) {
	for _, state := range []struct{ sent, state, message string }{
		{`"Stopped"`, "STOPPED", ""},
		{`"paused"`, "PAUSED", ""},
		{`null`, "RUNNING", ""},
		{`" STOPPED"`, "", "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`, problem: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState. STOPPED..."},
		{`""`, "", "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`, problem: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState...."},
		{`"STARTED"`, "", "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`, problem: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState.STARTED..."},
		{`1`, "", "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`, problem: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState.1..."},
		{`true`, "", "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`, problem: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState.TRUE..."},
	} {
		name := s.name("initial")
		body := fmt.Sprintf(`{"name":%q,"initial_state":%s,"config":%s}`, name, state.sent, asJSON(t, s.config(conf{"topics": "nothing-of-that-name"})))
		r := s.call(t, "POST", "/connectors", body)
		if state.state == "" {
			if r.status != http.StatusInternalServerError || !r.says(state.message) {
				t.Errorf("initial_state %s: %s, want 500 %q", state.sent, r, state.message)
			}
			s.check(t, name, row{name: state.sent, method: "GET", path: "/connectors/NAME", status: 404, message: "Connector NAME not found"})
			continue
		}
		if r.status != http.StatusCreated {
			t.Fatalf("initial_state %s: %s", state.sent, r)
		}
		s.awaitStatus(t, name)
		s.awaitStates(t, name, state.state)
		s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	}
	for _, member := range []string{"Initial_State", "initialState"} {
		s.check(t, s.name("initial"), row{
			method: "POST", path: "/connectors", body: `{"name":"NAME","` + member + `":"STOPPED","config":{}}`, status: 500,
			message: `Unrecognized field "` + member + `" (class org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest), not marked as ignorable (3 known properties: "config", "name", "initial_state"...`,
		})
	}
	// PUT config knows no initial state, and ignores one in the query.
	name := s.name("initial")
	s.must(t, http.StatusCreated, "PUT", "/connectors/"+name+"/config?initial_state=STOPPED", s.config(conf{"topics": "nothing-of-that-name"}))
	s.awaitStatus(t, name)
	s.awaitStates(t, name, "RUNNING")
	s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
}

func testPatchConfig(t *testing.T, s *stage) {
	name := s.name("patched")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	const path = "/connectors/NAME/config"
	for _, r := range []row{
		{name: "nothing", body: `{}`, status: 200},
		{name: "null", body: `null`, status: 500, message: `Cannot invoke "java.util.Map.forEach(java.util.function.BiConsumer)" because "patch" is null`},
		{name: "an array", body: `[]`, status: 500, message: "Cannot deserialize value of type `java.util.LinkedHashMap<java.lang.String,java.lang.String>` from Array value (token `JsonToken.START_ARRAY`)..."},
		{name: "a bad value", body: `{"tasks.max":"0"}`, status: 400, message: "Connector configuration is invalid and contains the following 1 error(s):\nInvalid value 0 for configuration tasks.max: Value must be at least 1" + alsoAt},
		{name: "no name", body: `{"name":null}`, status: 400, message: "Connector configuration is invalid and contains the following 1 error(s):\n" + `Missing required configuration "name" which has no default value.` + alsoAt},
		{name: "no class", body: `{"connector.class":null}`, status: 400, message: "Connector config {..."},
		{name: "an object", body: `{"a":{}}`, status: 500, message: "Cannot deserialize value of type `java.lang.String` from Object value (token `JsonToken.START_OBJECT`)..."},
		{name: "another type of patch", body: `{}`, header: []string{"Content-Type", "application/merge-patch+json"}, status: 415, message: "HTTP 415 Unsupported Media Type"},
		{name: "scalars", body: `{"a":5,"b":true,"c":"x"}`, status: 200},
		{name: "another name, which is not looked at", body: `{"name":"other"}`, status: 200},
	} {
		r.method, r.path = "PATCH", path
		s.check(t, name, r)
	}
	got := decode[conf](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/config", nil))
	if got["a"] != "5" || got["b"] != "true" || got["c"] != "x" || got["name"] != "other" || got["topics"] != "orders" {
		t.Errorf("configuration = %v", got)
	}
	s.awaitStates(t, name, "STOPPED")
}

func testOddNames(t *testing.T, s *stage) {
	for _, n := range []struct{ name, errors string }{
		{`""`, "Invalid value  for configuration name: String may not be empty"},
		{`"   "`, "Invalid value  for configuration name: String may not be empty"},
		{`null`, "Invalid value  for configuration name: String may not be empty"},
		{`"\u0001"`, "Invalid value  for configuration name: String may not be empty"},
		{`"a\tb"`, "Invalid value a\tb for configuration name: String may not contain control sequences but had the following ASCII chars: 9"},
		{`"x\u007fy"`, "Invalid value x\x7fy for configuration name: String may not contain control sequences but had the following ASCII chars: 127"},
	} {
		r := s.call(t, "POST", "/connectors", fmt.Sprintf(`{"name":%s,"config":%s}`, n.name, asJSON(t, s.config())))
		want := "Connector configuration is invalid and contains the following 1 error(s):\n" + n.errors + alsoAt
		if r.status != http.StatusBadRequest || r.message() != want {
			t.Errorf("name %s: %s, want 400 %q", n.name, r, want)
		}
	}
	// These are created, and from 4.0 on nothing can stop or delete them again.
	for _, n := range []struct{ end, path string }{{"/x", "%2Fx"}, {"%2Fx", "%252Fx"}, {`\x`, "%5Cx"}} {
		name := s.name("odd")
		s.must(t, http.StatusCreated, "POST", "/connectors", map[string]any{
			"name": name + n.end, "config": s.config(conf{"topics": "nothing-of-that-name"}),
		})
		r := s.call(t, "DELETE", "/connectors/"+name+n.path, nil)
		if want := map[bool]int{true: http.StatusBadRequest, false: http.StatusNoContent}[s.atLeast("4.0.0")]; r.status != want {
			t.Errorf("DELETE of %s: %s, want %d", name+n.end, r, want)
		}
	}
	// A number is a name too.
	number := names.Add(1)
	s.must(t, http.StatusCreated, "POST", "/connectors", fmt.Sprintf(`{"name":%d,"config":%s}`, number, asJSON(t, s.config(conf{"topics": "nothing-of-that-name"}))))
	s.must(t, http.StatusNoContent, "DELETE", fmt.Sprintf("/connectors/%d", number), nil)
}

func testConfigValues(t *testing.T, s *stage) {
	name := s.name("values")
	put := func(extra string) reply {
		c := strings.TrimSuffix(asJSON(t, s.config(conf{"topics": "nothing-of-that-name"})), "}")
		return s.call(t, "PUT", "/connectors/"+name+"/config", c+extra+"}")
	}
	const null = "Connector configuration is invalid and contains the following 1 error(s):\nNull value can not be supplied as the configuration value." + alsoAt
	if r := put(`,"x":null`); r.status != http.StatusBadRequest || r.message() != null {
		t.Errorf("a null value: %s, want 400 %q", r, null)
	}
	if r := put(`,"name":"other"`); r.status != http.StatusBadRequest || r.message() != "Connector name configuration (other) doesn't match connector name in the URL ("+name+")" {
		t.Errorf("another name: %s", r)
	}
	if r := put(`,"x":[]`); r.status != http.StatusInternalServerError {
		t.Errorf("a list: %s, want 500", r)
	}
	if r := put(`,"x":5,"y":false`); r.status != http.StatusCreated {
		t.Errorf("a number: %s, want 201", r)
	}
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	if got := decode[conf](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/config", nil)); got["x"] != "5" || got["y"] != "false" {
		t.Errorf("configuration = %v, want text", got)
	}
}
