package connecttest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What a worker answers without copying anything.
func restCases() []conformanceCase {
	return []conformanceCase{
		{name: "worker info", run: testInfo},
		{name: "unknown connector and unknown route differ in their text only", run: testUnknown},
		{name: "requests that no resource takes", run: testBadRequests},
		{name: "refused configurations", run: testBadConfigs},
		{name: "configurations that are accepted though they cannot work", run: testAcceptedConfigs},
		{name: "validate lists defined keys only", run: testValidate},
		{name: "names", run: testNames},
		{name: "list", run: testList},
	}
}

func testInfo(t *testing.T, s *stage) {
	info := decode[map[string]string](t, s.must(t, http.StatusOK, "GET", "/", nil))
	if info["version"] != s.version || info["kafka_cluster_id"] != targetID || info["commit"] == "" || len(info) != 3 {
		t.Errorf("GET / = %v, want version %s, a commit, and the cluster id of the worker's brokers %s", info, s.version, targetID)
	}
	if s.atLeast("3.9.0") {
		health := decode[map[string]string](t, s.must(t, http.StatusOK, "GET", "/health", nil))
		if health["status"] != "healthy" {
			t.Errorf("GET /health = %v", health)
		}
	}
	plugins := decode[[]map[string]string](t, s.must(t, http.StatusOK, "GET", "/connector-plugins", nil))
	found := slices.ContainsFunc(plugins, func(p map[string]string) bool {
		return p["class"] == "org.apache.kafka.connect.mirror.MirrorSourceConnector" && p["type"] == "source" && p["version"] == s.version
	})
	if !found {
		t.Errorf("GET /connector-plugins = %v, want MirrorSourceConnector %s", plugins, s.version)
	}
	all := decode[[]map[string]string](t, s.must(t, http.StatusOK, "GET", "/connector-plugins?connectorsOnly=false", nil))
	var kinds []string
	for _, p := range all {
		if p["class"] == "org.apache.kafka.connect.converters.ByteArrayConverter" {
			kinds = append(kinds, p["type"])
		}
	}
	want := []string{"converter", "header_converter"}
	if !s.atLeast("3.6.0") {
		want[1] = "converter"
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("ByteArrayConverter is listed as %v, want %v", kinds, want)
	}
}

func testUnknown(t *testing.T, s *stage) {
	const (
		notFound = "Connector NAME not found"
		unknown  = "Unknown connector NAME"
		noRoute  = "HTTP 404 Not Found"
		noMethod = "HTTP 405 Method Not Allowed"
	)
	one := `{"offsets":[{"partition":{},"offset":null}]}`
	for _, r := range []row{
		{method: "GET", path: "/connectors/NAME", status: 404, message: notFound},
		{method: "GET", path: "/connectors/NAME/config", status: 404, message: notFound},
		{method: "GET", path: "/connectors/NAME/tasks", status: 404, message: notFound},
		{method: "GET", path: "/connectors/NAME/offsets", status: 404, message: notFound, since: "3.5.0"},
		{method: "PATCH", path: "/connectors/NAME/offsets", body: one, status: 404, message: notFound, since: "3.6.0"},
		{method: "DELETE", path: "/connectors/NAME/offsets", status: 404, message: notFound, since: "3.6.0"},
		{method: "PATCH", path: "/connectors/NAME/config", body: `{"a":"b"}`, status: 404, message: notFound, since: "3.8.0"},
		{method: "DELETE", path: "/connectors/NAME", status: 404, message: notFound},
		{method: "PUT", path: "/connectors/NAME/stop", status: 404, message: unknown, since: "3.5.0"},
		{method: "PUT", path: "/connectors/NAME/pause", status: 404, message: unknown},
		{method: "PUT", path: "/connectors/NAME/resume", status: 404, message: unknown},
		{method: "POST", path: "/connectors/NAME/restart", status: 404, message: "Unknown connector: NAME"},
		{method: "POST", path: "/connectors/NAME/restart?includeTasks=true", status: 404, message: "Unknown connector: NAME"},
		{method: "POST", path: "/connectors/NAME/tasks/0/restart", status: 404, message: "Unknown connector: NAME"},
		{method: "GET", path: "/connectors/NAME/status", status: 404, message: "No status found for connector NAME"},
		{method: "GET", path: "/connectors/NAME/tasks/0/status", status: 404, message: "No status found for task NAME-0"},
		{method: "GET", path: "/connectors/NAME/topics", status: 200, is: `{"NAME":{"topics":[]}}`},
		{method: "PUT", path: "/connectors/NAME/topics/reset", status: 202},
		{method: "GET", path: "/NAME", status: 404, message: noRoute},
		{method: "GET", path: "/connectors/NAME/bogus", status: 404, message: noRoute},
		{method: "GET", path: "/connectors/NAME/tasks/x/status", status: 404, message: noRoute},
		{method: "GET", path: "/connectors/NAME/tasks-config", status: 404, message: noRoute, since: "4.0.0"},
		{method: "GET", path: "/connectors/NAME/tasks-config", status: 404, message: notFound, until: "4.0.0"},
		{method: "GET", path: "/health", status: 404, message: noRoute, until: "3.9.0"},
		{method: "DELETE", path: "/connectors", status: 405, message: noMethod},
		{method: "PUT", path: "/connectors", body: `{}`, status: 405, message: noMethod},
		{method: "POST", path: "/connectors/NAME/offsets", body: `{}`, status: 405, message: noMethod, since: "3.5.0"},
		{method: "PUT", path: "/connectors/NAME/offsets", body: `{}`, status: 405, message: noMethod, since: "3.5.0"},
		{method: "PATCH", path: "/connectors/NAME/config", body: `{"a":"b"}`, status: 405, message: noMethod, until: "3.8.0"},
		{method: "POST", path: "/connector-plugins", body: `{}`, status: 405, message: noMethod},
		{method: "GET", path: "/connector-plugins/NAME/config", status: 404, message: "Unknown plugin NAME."},
	} {
		s.check(t, s.name("nobody"), r)
	}
	// What Jersey answers itself is JSON without saying so.
	if r := s.call(t, "GET", "/nowhere", nil); r.header.Get("Content-Type") != "" {
		t.Errorf("Content-Type of an unknown route = %q, want none", r.header.Get("Content-Type"))
	}
}

func testBadRequests(t *testing.T, s *stage) {
	text := []string{"Content-Type", "text/plain"}
	const class = `"connector.class":"MirrorSourceConnector"`
	for _, r := range []row{
		{name: "no body", method: "POST", path: "/connectors", body: "", status: 500, message: `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.name()" because "createRequest" is null`},
		{name: "not JSON", method: "POST", path: "/connectors", body: "nonsense", status: 500, message: "Unrecognized token 'nonsense': was expecting..."},
		{name: "an array", method: "POST", path: "/connectors", body: "[]", status: 500, message: "Cannot deserialize value of type `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest` from Array value (token `JsonToken.START_ARRAY`)..."},
		{name: "text", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{}}`, header: text, status: 415, message: "HTTP 415 Unsupported Media Type"},
		{name: "no config", method: "POST", path: "/connectors", body: `{"name":"NAME"}`, status: 500, message: `Cannot invoke "java.util.Map.get(Object)" because "connectorConfig" is null`},
		{name: "empty config", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{}}`, status: 400, message: "Connector config {name=NAME} contains no connector type"},
		{name: "unknown state", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{},"initial_state":"FOO"}`, status: 500, message: "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`, problem: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState.FOO...", since: "3.7.0"},
		{name: "state before 3.7", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{},"initial_state":"STOPPED"}`, status: 500, message: `Unrecognized field "initial_state" (class org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest), not marked as ignorable (2 known properties: "config", "name"...`, until: "3.7.0"},
		{name: "unknown member", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{},"foo":1}`, status: 500, message: `Unrecognized field "foo" (class org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest), not marked as ignorable (3 known properties: "config", "name", "initial_state"...`, since: "3.7.0"},
		{name: "object as a value", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{"connector.class":{}}}`, status: 500, message: "Cannot deserialize value of type `java.lang.String` from Object value (token `JsonToken.START_OBJECT`)..."},
		{name: "another name in the config", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{` + class + `,"name":"y"}}`, status: 400, message: "Connector name configuration (y) doesn't match connector name in the URL (NAME)"},
		{name: "unknown class", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{"connector.class":"no.such.ClassNAME"}}`, status: 500, message: "Failed to find any class that implements Connector and which name matches no.such.ClassNAME, available connectors are: PluginDesc{...", until: "4.1.0"},
		{name: "unknown class", method: "POST", path: "/connectors", body: `{"name":"NAME","config":{"connector.class":"no.such.ClassNAME"}}`, status: 400, message: "Failed to find any class that implements Connector and which name matches no.such.ClassNAME, available connectors are: PluginDesc{...", since: "4.1.0"},
		{name: "no class", method: "PUT", path: "/connectors/NAME/config", body: `{"a":"b"}`, status: 400, message: "Connector config {name=NAME, a=b} contains no connector type"},
		{name: "text to an action", method: "PUT", path: "/connectors/NAME/resume", body: "x", header: text, status: 415},
	} {
		s.check(t, s.name("bad"), r)
	}
}

const alsoAt = "\nYou can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"

func testBadConfigs(t *testing.T, s *stage) {
	syncs := conf{"emit.offset-syncs.enabled": "false", "offset-syncs.topic.replication.factor": "1"}
	for _, c := range []struct {
		name         string
		change       conf
		errors       []string
		since, until string
	}{
		{name: "no alias", change: conf{"source.cluster.alias": ""}, errors: []string{`Missing required configuration "source.cluster.alias" which has no default value.`}},
		{name: "tasks.max is no number", change: conf{"tasks.max": "x"}, errors: []string{"Invalid value x for configuration tasks.max: Not a number of type INT", "Invalid value null for configuration tasks.max: Value must be non-null"}},
		{name: "tasks.max 0", change: conf{"tasks.max": "0"}, errors: []string{"Invalid value 0 for configuration tasks.max: Value must be at least 1"}},
		{name: "interval is no number", change: conf{"refresh.topics.interval.seconds": "1m"}, errors: []string{"Invalid value 1m for configuration refresh.topics.interval.seconds: Not a number of type LONG"}},
		{name: "unknown policy", change: conf{"replication.policy.class": "foo.Bar"}, errors: []string{"Invalid value foo.Bar for configuration replication.policy.class: Class foo.Bar could not be found."}},
		{name: "no boolean", change: conf{"enabled": "yes"}, errors: []string{"Invalid value yes for configuration enabled: Expected value to be either true or false"}},
		{name: "unknown tolerance", change: conf{"errors.tolerance": "some"}, errors: []string{"Invalid value some for configuration errors.tolerance: String must be one of: none, all"}},
		{name: "unknown converter", change: conf{"key.converter": "foo.K"}, errors: []string{"Invalid value foo.K for configuration key.converter: Class foo.K could not be found."}},
		{name: "offset-syncs key though they are off", change: syncs, errors: []string{"MirrorSourceConnector can't setup offset-syncs feature while emit.offset-syncs.enabled set to false"}, since: "3.9.0"},
		{name: "offset-syncs client key though they are off", change: conf{"offset-syncs-source-admin.x": "1"}, errors: []string{"MirrorSourceConnector can't setup offset-syncs feature while emit.offset-syncs.enabled set to false"}, since: "3.9.0"},
		{name: "exactly once without read_committed", change: conf{"exactly.once.support": "required", "source.consumer.isolation.level": ""}, errors: []string{"MirrorSourceConnector can only provide exactly-once guarantees when its source consumer is configured with isolation.level set to 'read_committed'; otherwise, records from aborted and uncommitted transactions will be replicated from the source cluster to the target cluster."}},
		{name: "a converter's setting", change: conf{"value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "maybe"}, errors: []string{"Invalid value maybe for configuration schemas.enable: Expected value to be either true or false"}, since: "3.8.0"},
		{name: "exactly once on a worker without", change: conf{"exactly.once.support": "required"}, errors: []string{"This worker does not have exactly-once source support enabled."}},
		{name: "topic twice", change: conf{"topics": "a,a"}, errors: []string{"Configuration 'topics' values must not be duplicated."}, since: "4.2.0"},
		{name: "empty topic", change: conf{"topics": "a,,b"}, errors: []string{"Configuration 'topics' values must not be empty."}, since: "4.2.0"},
	} {
		if !s.atLeast(c.since) {
			continue
		}
		name := s.name("bad")
		r := s.call(t, "POST", "/connectors", map[string]any{"name": name, "config": s.config(c.change)})
		want := "Connector configuration is invalid and contains the following " + string(rune('0'+len(c.errors))) + " error(s):\n" + strings.Join(c.errors, "\n") + alsoAt
		if r.status != http.StatusBadRequest || r.message() != want {
			t.Errorf("%s: %d %q, want 400 %q", c.name, r.status, r.message(), want)
		}
		if r := s.call(t, "GET", "/connectors/"+name, nil); r.status != http.StatusNotFound {
			t.Errorf("%s: the refused connector exists: %s", c.name, r)
		}
	}
}

// POST refuses none of these; the connector turns FAILED, or RUNNING without
// tasks.
func testAcceptedConfigs(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 1)
	for _, c := range []struct {
		name   string
		change conf
		states string
		trace  string
	}{
		{"a bad regular expression", conf{"topics": "["}, "FAILED", "java.util.regex.PatternSyntaxException: Unclosed character class"},
		{"a quantifier that does not end", conf{"topics": "a{1"}, "FAILED", "java.util.regex.PatternSyntaxException: "},
		{"a bad exclusion", conf{"topics.exclude": "*"}, "FAILED", "java.util.regex.PatternSyntaxException: Dangling meta character '*'"},
		{"no topic matches", conf{"topics": "nothing-of-that-name"}, "RUNNING", ""},
		{"equal aliases", conf{"source.cluster.alias": "target"}, "RUNNING", ""},
		{"disabled", conf{"enabled": "false"}, "RUNNING", ""},
		{"a source that does not resolve", conf{"source.cluster.bootstrap.servers": "nohost.invalid:9092"}, "FAILED", "org.apache.kafka.common.KafkaException: The constructor of org.apache.kafka.clients.admin.ForwardingAdmin threw an exception"},
		{"an isolation level that does not exist", conf{"source.consumer.isolation.level": "foo"}, "RUNNING/FAILED", "org.apache.kafka.common.config.ConfigException: Invalid value foo for configuration isolation.level: String must be one of: read_committed, read_uncommitted"},
		{"a reset rule that does not exist", conf{"consumer.auto.offset.reset": "foo"}, "RUNNING/FAILED", "org.apache.kafka.common.config.ConfigException: Invalid value foo for configuration auto.offset.reset: "},
	} {
		name := s.name("odd")
		s.create(t, name, "", s.config(conf{"topics": orders}, c.change))
		s.awaitStates(t, name, c.states)
		st := s.status(t, name)
		trace := st.Connector.Trace
		if len(st.Tasks) > 0 {
			trace += st.Tasks[0].Trace
		}
		if !strings.HasPrefix(trace, c.trace) || (c.trace == "") != (trace == "") {
			t.Errorf("%s: trace %.200q, want %q", c.name, trace, c.trace)
		}
		s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	}
}

func testValidate(t *testing.T, s *stage) {
	const path = "/connector-plugins/MirrorSourceConnector/config/validate"
	c := s.config(conf{"name": "x", "topics": "[", "offset.consistency.enabled": "true", "tasks.max": "0"})
	v := decode[struct {
		Name       string
		ErrorCount int `json:"error_count"`
		Configs    []struct {
			Definition struct {
				Name, Type, Importance string
				Required               bool
				Default                *string `json:"default_value"`
			}
			Value struct {
				Name   string
				Value  *string
				Errors []string
			}
		}
	}](t, s.must(t, http.StatusOK, "PUT", path, c))
	if v.Name != c["connector.class"] || v.ErrorCount != 1 {
		t.Errorf("validate: name %q with %d errors, want %q with 1", v.Name, v.ErrorCount, c["connector.class"])
	}
	known := make(map[string]bool)
	for _, k := range v.Configs {
		known[k.Definition.Name] = true
		if k.Definition.Name == "tasks.max" && (len(k.Value.Errors) != 1 || k.Definition.Type != "INT" || *k.Definition.Default != "1") {
			t.Errorf("validate: tasks.max = %+v", k)
		}
	}
	for key, want := range map[string]bool{
		"source.cluster.alias": true, "topics": true, "refresh.topics.interval.seconds": true, "ssl.truststore.location": true,
		"emit.offset-syncs.enabled":      s.atLeast("3.9.0"),
		"heartbeats.replication.enabled": s.atLeast("4.0.0"),
		"topics.blacklist":               !s.atLeast("4.0.0"),
		"offset.consistency.enabled":     false, "source.cluster.bootstrap.servers": false, "source.consumer.isolation.level": false,
	} {
		if known[key] != want {
			t.Errorf("validate lists %s: %t, want %t", key, known[key], want)
		}
	}
	// GET config lists the same keys.
	defined := decode[[]struct{ Name string }](t, s.must(t, http.StatusOK, "GET", "/connector-plugins/MirrorSourceConnector/config", nil))
	for _, k := range defined {
		if !known[k.Name] {
			t.Errorf("validate does not list %s", k.Name)
		}
		delete(known, k.Name)
	}
	// validate lists the keys of the converters as well, from 3.8 on.
	var more []string
	for name, ok := range known {
		if ok {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	var want []string
	if s.atLeast("3.8.0") {
		want = []string{"header.converter.converter.type", "key.converter.converter.type", "value.converter.converter.type"}
	}
	if !slices.Equal(more, want) {
		t.Errorf("validate lists %v in addition, want %v", more, want)
	}
	s.check(t, "", row{method: "PUT", path: "/connector-plugins/Foo/config/validate", body: `{"connector.class":"MirrorSourceConnector"}`, status: 400, message: "Included connector type MirrorSourceConnector does not match request type Foo"})
	s.check(t, "", row{method: "PUT", path: path, body: `{}`, status: 500, message: "org.apache.kafka.connect.runtime.rest.errors.BadRequestException: Connector config {} contains no connector type"})
}

// Names are unescaped once. From 4.0 on Jetty refuses some before Connect sees
// them.
func testNames(t *testing.T, s *stage) {
	for _, n := range []struct{ name, path, until string }{
		{"flink to mm2", "flink%20to%20mm2", ""},
		{"a->b.MirrorSourceConnector", "a-%3Eb.MirrorSourceConnector", ""},
		{"x+y", "x+y", ""},
		{"订单复制", "%E8%AE%A2%E5%8D%95%E5%A4%8D%E5%88%B6", ""},
		{"50%", "50%25", "4.0.0"},
		{"a/b", "a%2Fb", "4.0.0"},
	} {
		r := s.call(t, "GET", "/connectors/"+n.path+"/status", nil)
		if n.until != "" && s.atLeast(n.until) {
			if r.status != http.StatusBadRequest || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
				t.Errorf("%q: %s, want Jetty's page of a 400", n.name, r)
			}
			continue
		}
		if r.status != http.StatusNotFound || r.message() != "No status found for connector "+n.name {
			t.Errorf("%q: %s, want 404 with the name as it is", n.name, r)
		}
	}
	if !s.atLeast("3.7.0") {
		return
	}
	name := s.name("flink to mm2 ")
	s.must(t, http.StatusCreated, "POST", "/connectors", map[string]any{"name": "  " + name + " ", "initial_state": "stopped", "config": s.config()})
	path := "/connectors/" + strings.ReplaceAll(name, " ", "%20")
	if info := decode[map[string]any](t, s.must(t, http.StatusOK, "GET", path, nil)); info["name"] != name {
		t.Errorf("the name of a connector created with spaces around it = %q, want %q", info["name"], name)
	}
	s.must(t, http.StatusNoContent, "DELETE", path, nil)
}

func testList(t *testing.T, s *stage) {
	name := s.name("listed")
	s.create(t, name, "PAUSED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.awaitStates(t, name, "PAUSED")
	if all := decode[[]string](t, s.must(t, http.StatusOK, "GET", "/connectors", nil)); !slices.Contains(all, name) {
		t.Errorf("GET /connectors = %v, want %s in it", all, name)
	}
	type expanded map[string]struct {
		Status *status
		Info   *struct {
			Name, Type string
			Config     map[string]string
			Tasks      []any
		}
	}
	both := decode[expanded](t, s.must(t, http.StatusOK, "GET", "/connectors?expand=status&expand=info&expand=foo", nil))[name]
	if both.Status == nil || both.Info == nil || both.Status.states() != "PAUSED" || both.Info.Config["name"] != name || both.Info.Type != "source" || both.Info.Tasks == nil {
		t.Errorf("expanded: %+v", both)
	}
	none := decode[expanded](t, s.must(t, http.StatusOK, "GET", "/connectors?expand=foo", nil))
	if e, ok := none[name]; !ok || e.Status != nil || e.Info != nil {
		t.Errorf("expand=foo: %+v, want the name and nothing else", none)
	}
}
