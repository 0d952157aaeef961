package connectrest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

func TestReads(t *testing.T) {
	s := newScript(t).
		on("GET /", status(200, worker39)).
		on("GET /connector-plugins", status(200, `[{"class":"org.apache.kafka.connect.mirror.MirrorSourceConnector","type":"source","version":"3.9.2"}]`)).
		on("GET /connectors", status(200, `["b","a"]`)).
		on("GET /connectors/mm2/config", status(200, `{"name":"mm2","topics":"orders"}`)).
		on("GET /connectors/mm2/tasks", status(200, `[{"id":{"connector":"mm2","task":0},"config":{"task.assigned.partitions":"orders-0,orders-1"}}]`)).
		on("GET /connectors/mm2/topics", status(200, `{"mm2":{"topics":["orders","a"]}}`)).
		on("GET /connectors/mm2/status", status(200, `{"name":"mm2","connector":{"state":"FROZEN","worker_id":"w","version":"4.3.1","new":1},"tasks":[{"id":3,"state":"FAILED","worker_id":"w2","trace":"boom","version":"4.3.1"}],"type":"source","more":{}}`))
	c, ctx := s.client(), t.Context()
	check := func(got any, err error, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b connectrest.Version) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	version, err := connectrest.ParseVersion("3.9.2")
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(ctx)
	check(info, err, connectrest.WorkerInfo{Version: version, Commit: "5e9866f43ab8e7e4", KafkaClusterID: "dGFyZ2V0LWNsdXN0ZXItMQ"})
	plugins, err := c.Plugins(ctx)
	check(plugins, err, []connectrest.PluginInfo{{Class: "org.apache.kafka.connect.mirror.MirrorSourceConnector", Type: "source", Version: "3.9.2"}})
	names, err := c.Connectors(ctx)
	check(names, err, []string{"a", "b"})
	config, err := c.Config(ctx, "mm2")
	check(config, err, connectrest.Config{"name": "mm2", "topics": "orders"})
	tasks, err := c.Tasks(ctx, "mm2")
	check(tasks, err, []connectrest.TaskInfo{{ID: connectrest.TaskID{Connector: "mm2"}, Config: connectrest.Config{"task.assigned.partitions": "orders-0,orders-1"}}})
	topics, err := c.ActiveTopics(ctx, "mm2")
	check(topics, err, []string{"a", "orders"})
	st, err := c.Status(ctx, "mm2")
	check(st, err, connectrest.Status{
		Name: "mm2", Type: "source",
		Connector: connectrest.ConnectorStatus{State: "FROZEN", WorkerID: "w", Version: "4.3.1"},
		Tasks:     []connectrest.TaskStatus{{ID: 3, State: connectrest.StateFailed, WorkerID: "w2", Trace: "boom", Version: "4.3.1"}},
	})
}

// An answer that decodes but lacks what it is about must not read as "nothing".
func TestAnswersThatLackWhatTheyAreAboutAreUnexpected(t *testing.T) {
	for path, bodies := range map[string][]string{
		"/":                      {`{}`, `null`, `[]`, `{"version":""}`, `{"version":3}`},
		"/connector-plugins":     {`null`, `{}`},
		"/connectors":            {`null`, `{}`, `[1]`},
		"/connectors/mm2":        {`{}`, `null`, `{"name":"mm3","config":{}}`, `{"name":"mm2"}`},
		"/connectors/mm2/config": {`null`, `[]`, `{"a":1}`},
		"/connectors/mm2/tasks":  {`null`, `{}`},
		"/connectors/mm2/topics": {`null`, `{}`, `{"mm3":{"topics":[]}}`, `{"mm2":{}}`},
		"/connectors/mm2/status": {`{}`, `null`, `{"name":"mm2"}`, `{"name":"mm2","connector":{}}`, `{"name":"mm3","connector":{"state":"STOPPED"}}`, `{"name":"mm2","connector":{"state":1}}`},
	} {
		for _, body := range bodies {
			s := newScript(t).on("GET "+path, status(200, body))
			c, ctx := s.client(), t.Context()
			var err error
			switch path {
			case "/":
				_, err = c.Info(ctx)
			case "/connector-plugins":
				_, err = c.Plugins(ctx)
			case "/connectors":
				_, err = c.Connectors(ctx)
			case "/connectors/mm2":
				_, err = c.Connector(ctx, "mm2")
			case "/connectors/mm2/config":
				_, err = c.Config(ctx, "mm2")
			case "/connectors/mm2/tasks":
				_, err = c.Tasks(ctx, "mm2")
			case "/connectors/mm2/topics":
				_, err = c.ActiveTopics(ctx, "mm2")
			case "/connectors/mm2/status":
				_, err = c.Status(ctx, "mm2")
			}
			if !errors.Is(err, connectrest.ErrUnexpected) {
				t.Errorf("%s %s: got %v", path, body, err)
			}
		}
	}
}

func TestCallThatTheWorkerLacksNamesBothVersions(t *testing.T) {
	s := newScript(t).on("GET /", status(200, `{"version":"3.4.1","commit":"c","kafka_cluster_id":"i"}`)).
		on("GET /connectors/mm2/offsets", refuse(404, "HTTP 404 Not Found")).
		on("DELETE /connectors/mm2/offsets", refuse(405, "HTTP 405 Method Not Allowed")).
		on("PUT /connectors/mm2/stop", refuse(404, "HTTP 404 Not Found"))
	c, ctx := s.client(), t.Context()
	_, err := c.Offsets(ctx, "mm2")
	for needed, err := range map[string]error{"3.5.0": err, "3.6.0": c.ResetOffsets(ctx, "mm2")} {
		e, ok := errors.AsType[*connectrest.UnsupportedError](err)
		if !ok || e.Needed.String() != needed || e.Found.String() != "3.4.1" {
			t.Errorf("want %s: got %v", needed, err)
		}
	}
	if err := c.Stop(ctx, "mm2"); !strings.Contains(err.Error(), "KIP-875") {
		t.Errorf("got %v", err)
	}
	// On a worker that is new enough it is something else.
	s.on("GET /", status(200, worker39))
	err = c.Stop(ctx, "mm2")
	checkMeanings(t, err, connectrest.ErrUnsupported)
	if _, ok := errors.AsType[*connectrest.UnsupportedError](err); ok || !strings.Contains(err.Error(), "base URL") {
		t.Errorf("got %v", err)
	}
}

func TestValidateReturnsKeysAndErrorsButNoValues(t *testing.T) {
	const body = `{"name":"x.MirrorSourceConnector","error_count":1,"groups":["Common"],"configs":[` +
		`{"definition":{"name":"topics","type":"LIST","required":false,"default_value":".*"},"value":{"name":"topics","value":"a","errors":[]}},` +
		`{"definition":{"name":"sasl.password","type":"PASSWORD","required":true,"default_value":null},"value":{"name":"sasl.password","value":"hidden-password","errors":["Invalid value hidden-password for it"]}}]}`
	s := newScript(t).on("PUT /connector-plugins/x.MirrorSourceConnector/config/validate", refuse(409, stale), status(200, body))
	config := connectrest.Config{"connector.class": "x", "name": "n", "sasl.password": "hidden-password"}
	got, err := s.client().Validate(t.Context(), "x.MirrorSourceConnector", config)
	if err != nil {
		t.Fatal(err)
	}
	all := ".*"
	want := connectrest.Validation{ErrorCount: 1, Keys: []connectrest.ConfigKey{
		{Name: "topics", Type: "LIST", Default: &all, Errors: []string{}},
		{Name: "sasl.password", Type: "PASSWORD", Required: true, Errors: []string{"Invalid value <secret> for it"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sent := s.body("PUT /connector-plugins/x.MirrorSourceConnector/config/validate"); !strings.Contains(sent, "hidden-password") {
		t.Errorf("the worker was sent %s", sent)
	}
	s.on("PUT /connector-plugins/x/config/validate", status(200, `{}`))
	_, err = s.client().Validate(t.Context(), "x", config)
	checkMeanings(t, err, connectrest.ErrUnexpected)
}

func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		text         string
		known        bool
		major, minor int
		same         string // an equal version
	}{
		{"3.9.2", true, 3, 9, "3.9.2"},
		{"3.7.0.redhat-00007", true, 3, 7, "3.7.0"},
		{"4.0.0-SNAPSHOT", true, 4, 0, "4.0.0"},
		{"4.1.0-rc1", true, 4, 1, "4.1.0"},
		{"3.4.1.7.1.9.0-387", true, 3, 4, "3.4.1"},
		{"3.8", true, 3, 8, "3.8.0"},
		{"3.7.x", true, 3, 7, "3.7.0"},
		{"3.9.1+build5", true, 3, 9, "3.9.1"},
		{"7.6.1-ccs", true, 3, 6, "3.6.0"},
		{"7.7.0-ce", true, 3, 7, "3.7.0"},
		{"8.1.0-0-ccs", true, 4, 1, "4.1.0"},
		{"6.2.15-ccs", true, 2, 8, "2.8.0"},
		{"5.5.0-ccs", true, 2, 5, "2.5.0"},
		{"8.0.0-ccs", true, 4, 0, "4.0.0"},
		{"7.6.0-ccs", true, 3, 6, "3.6.0"},
		{"7.6.0-ccs-SNAPSHOT", true, 3, 6, "3.6.0"},
		{"7.6.0-0-ce.1", true, 3, 6, "3.6.0"},
		{"3.9.0-IBM-20250101", true, 3, 9, "3.9.0"},
		{"4.1.0-SNAPSHOT", true, 4, 1, "4.1.0"},
		{"7.5.0", false, 0, 0, ""},
		{"5.0.0-cell", false, 0, 0, ""},
		{"9.0.0-ccs", false, 0, 0, ""},
		{"unknown", false, 0, 0, ""},
		{"", false, 0, 0, ""},
		{"3", false, 0, 0, ""},
		{"v3.9.2", false, 0, 0, ""},
		{"3.9.2 ", false, 0, 0, ""},
		{"-3.9", false, 0, 0, ""},
		{"99999.1", false, 0, 0, ""},
	} {
		v, err := connectrest.ParseVersion(tt.text)
		if v.Known() != tt.known || (err == nil) != tt.known || err != nil && !errors.Is(err, connectrest.ErrVersion) {
			t.Errorf("%q: %v, %v", tt.text, v.Known(), err)
			continue
		}
		if tt.text != "" && v.String() != tt.text {
			t.Errorf("%q is printed as %q", tt.text, v)
		}
		if !tt.known {
			if v.AtLeast(0, 0) || v.Compare(connectrest.KafkaVersion(0, 0)) >= 0 || connectrest.KafkaVersion(0, 0).Compare(v) <= 0 {
				t.Errorf("%q: an unknown version is at least something", tt.text)
			}
			continue
		}
		same, err := connectrest.ParseVersion(tt.same)
		if err != nil || v.Compare(same) != 0 || !v.AtLeast(tt.major, tt.minor) || v.AtLeast(tt.major, tt.minor+1) || v.AtLeast(tt.major+1, 0) || !v.AtLeast(tt.major-1, 99) {
			t.Errorf("%q is not %d.%d, %s", tt.text, tt.major, tt.minor, tt.same)
		}
	}
}

func TestHeadersOfARequest(t *testing.T) {
	var got http.Header
	s := newScript(t).on("PATCH /connectors/mm2/offsets", func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		status(200, `{"message":"ok"}`)(w, r)
	})
	client := s.client(connectrest.WithUserAgent("runbook/1"), connectrest.WithBasicAuth("u", "p"))
	if err := client.AlterOffsets(t.Context(), "mm2", []connectrest.Offset{{Partition: raw(`{}`), Offset: raw(`null`)}}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"User-Agent": "runbook/1", "Content-Type": "application/json", "Accept": "application/json", "Authorization": "Basic dTpw"} {
		if got.Get(key) != want {
			t.Errorf("%s is %q, want %q", key, got.Get(key), want)
		}
	}
}
