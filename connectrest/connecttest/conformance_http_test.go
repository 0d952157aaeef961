package connecttest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What HTTP itself offers, before a resource is reached.
func httpCases() []conformanceCase {
	return []conformanceCase{
		{name: "health", since: "3.9.0", run: testHealth, before: lacksHealth},
		{name: "Content-Type and Accept", run: testMediaTypes},
		{name: "HEAD and OPTIONS", run: testHeadAndOptions},
		{name: "nothing is compressed", run: testNothingCompressed},
		{name: "paths that are not plain", run: testOddPaths},
		{name: "resources for workers only", run: testInternalResources},
		{name: "log levels of one worker", run: testLogLevels},
	}
}

// asJSON encodes without the escapes for HTML.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func testHealth(t *testing.T, s *stage) {
	for _, path := range []string{"/health", "/health/"} {
		s.check(t, "", row{method: "GET", path: path, status: 200, is: `{"status":"healthy","message":"Worker has completed startup and is ready to handle requests."}`})
	}
	s.check(t, "", row{method: "PUT", path: "/health", body: `{}`, status: 405, message: "HTTP 405 Method Not Allowed"})
}

func testMediaTypes(t *testing.T, s *stage) {
	name := s.name("nobody")
	const (
		unsupported = "HTTP 415 Unsupported Media Type"
		unaccepted  = "HTTP 406 Not Acceptable"
		noClass     = "Connector config {name=NAME} contains no connector type"
		unknown     = "Unknown connector NAME"
		create      = `{"name":"NAME","config":{}}`
	)
	typed := func(value string) []string { return []string{"Content-Type", value} }
	accept := func(value string) []string { return []string{"Accept", value} }
	for _, r := range []row{
		{name: "no type", method: "POST", path: "/connectors", body: create, header: typed(""), status: 415, message: unsupported},
		{name: "no type", method: "PATCH", path: "/connectors/NAME/offsets", body: `{"offsets":[]}`, header: typed(""), status: 415, message: unsupported, since: "3.6.0"},
		{name: "any type", method: "POST", path: "/connectors", body: create, header: typed("application/*"), status: 415, message: unsupported},
		{name: "with a parameter", method: "POST", path: "/connectors", body: create, header: typed("application/json; charset=utf-8"), status: 400, message: noClass},
		{name: "another type", method: "POST", path: "/connectors", body: create, header: typed("application/xml"), status: 415, message: unsupported},
		{name: "another type, no body", method: "GET", path: "/connectors/NAME", header: typed("text/plain"), status: 415, message: unsupported},
		{name: "another type to an action", method: "PUT", path: "/connectors/NAME/stop", header: typed("text/plain"), status: 415, message: unsupported},
		{name: "a body without a type that nobody wants", method: "PUT", path: "/connectors/NAME/stop", body: `{}`, header: typed(""), status: 404, message: unknown},
		{name: "no body and no type", method: "POST", path: "/connectors", body: "", header: typed(""), status: 500, message: `Cannot invoke "org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.name()" because "createRequest" is null`},
		{name: "no media type", method: "POST", path: "/connectors", body: create, header: typed("nonsense"), status: 400, page: "Bad Request"},
		{name: "accept HTML", method: "GET", path: "/", header: accept("text/html"), status: 406, message: unaccepted},
		{name: "accept a browser's", method: "GET", path: "/connectors/NAME", header: accept("text/html,application/xml;q=0.9,*/*;q=0.8"), status: 404, message: "Connector NAME not found"},
		{name: "accept nonsense", method: "GET", path: "/", header: accept("nonsense"), status: 406, message: unaccepted},
		{name: "accept does not matter without a resource", method: "GET", path: "/NAME", header: accept("text/html"), status: 404, message: "HTTP 404 Not Found"},
	} {
		s.check(t, name, r)
	}
	// What Jersey answers before it has chosen a resource says nothing of its type.
	for typ, want := range map[string]string{"text/plain": "", "application/*": "application/json"} {
		if r := s.call(t, "POST", "/connectors", `{}`, typed(typ)...); r.header.Get("Content-Type") != want {
			t.Errorf("Content-Type of a 415 for %s = %q, want %q", typ, r.header.Get("Content-Type"), want)
		}
	}
}

func testHeadAndOptions(t *testing.T, s *stage) {
	for path, want := range map[string]string{
		"/": "HEAD, GET, OPTIONS", "/connectors": "HEAD, POST, GET, OPTIONS", "/connectors/x": "HEAD, DELETE, GET, OPTIONS",
		"/connectors/x/status": "HEAD, GET, OPTIONS", "/connectors/x/stop": "OPTIONS, PUT", "/connectors/x/tasks": "HEAD, POST, GET, OPTIONS",
		"/connectors/x/tasks/0/status": "HEAD, GET, OPTIONS", "/admin/loggers/root": "HEAD, GET, OPTIONS, PUT",
	} {
		r := s.must(t, http.StatusOK, "OPTIONS", path, nil)
		if r.body != want || r.header.Get("Allow") != strings.ReplaceAll(want, " ", "") || r.header.Get("Content-Type") != "text/plain" {
			t.Errorf("OPTIONS %s: %s with Allow %q, want %s", path, r, r.header.Get("Allow"), want)
		}
	}
	// What a version can do with offsets and configurations, without touching any.
	for path, all := range map[string][]row{
		"/connectors/x/offsets": {{is: "HEAD, GET, OPTIONS", until: "3.6.0"}, {is: "HEAD, DELETE, GET, OPTIONS, PATCH", since: "3.6.0"}},
		"/connectors/x/config":  {{is: "HEAD, GET, OPTIONS, PUT", until: "3.8.0"}, {is: "HEAD, GET, OPTIONS, PUT, PATCH", since: "3.8.0"}},
	} {
		for _, r := range all {
			r.method, r.path, r.status = "OPTIONS", path, 200
			s.check(t, "", r)
		}
	}
	for path, want := range map[string]int{"/": 200, "/connectors": 200, "/connectors/nobody": 404, "/connectors/nobody/status": 404, "/nowhere": 404} {
		if r := s.call(t, "HEAD", path, nil); r.status != want || r.body != "" {
			t.Errorf("HEAD %s: %s, want %d without a body", path, r, want)
		}
	}
	s.check(t, "", row{method: "OPTIONS", path: "/nowhere", status: 404, message: "HTTP 404 Not Found"})
	s.check(t, "", row{method: "TRACE", path: "/", status: 405, message: "HTTP 405 Method Not Allowed"})
	s.check(t, "", row{method: "FOO", path: "/", status: 405, message: "HTTP 405 Method Not Allowed"})
}

func testNothingCompressed(t *testing.T, s *stage) {
	// The default transport would ask for gzip and unpack it unseen.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/connector-plugins/MirrorSourceConnector/config", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.Header.Get("Content-Encoding") != "" || !json.Valid(body) {
		t.Errorf("an answer of %d bytes to a caller who takes gzip: Content-Encoding %q, %v", len(body), resp.Header.Get("Content-Encoding"), err)
	}
	r := s.call(t, "POST", "/connectors", "\x1f\x8b\x08\x00", "Content-Encoding", "gzip")
	if r.status != http.StatusInternalServerError {
		t.Errorf("a compressed request: %s, want 500", r)
	}
}

func testOddPaths(t *testing.T, s *stage) {
	const noRoute = "HTTP 404 Not Found"
	for _, r := range []row{
		{path: "/connectors/", status: 200},
		{path: "/connectors/NAME/", status: 404, message: "Connector NAME not found"},
		{path: "/CONNECTORS", status: 404, message: noRoute},
		{path: "/connectors/NAME;a=b/status", status: 404, message: "No status found for connector NAME"},
		{path: "/connectors/NAME?x=y", status: 404, message: "Connector NAME not found"},
		{path: "/connectors/NAME/tasks/-1/status", status: 404, message: "No status found for task NAME--1"},
		{path: "/connectors/NAME/tasks/99999999999/status", status: 404, message: noRoute},
		{path: "//connectors", status: 404, message: noRoute, until: "4.0.0"},
		{path: "//connectors", status: 400, page: "Ambiguous URI empty segment", since: "4.0.0"},
		{path: "/connectors//status", status: 404, message: noRoute, until: "4.0.0"},
		{path: "/connectors//status", status: 400, page: "Ambiguous URI empty segment", since: "4.0.0"},
		{path: "/connectors/%2e%2e", status: 404, message: "Connector .. not found", until: "4.0.0"},
		{path: "/connectors/%2e%2e", status: 400, page: "Ambiguous URI path segment", since: "4.0.0"},
		{path: "/connectors/NAME%0ay", status: 404, message: "Connector NAME\ny not found", until: "4.0.0"},
		{path: "/connectors/NAME%0ay", status: 400, page: "Suspicious Path Character", since: "4.0.0"},
		{path: "/connectors/NAME%5cy", status: 404, message: `Connector NAME\y not found`, until: "4.0.0"},
		{path: "/connectors/NAME%5cy", status: 400, page: "Suspicious Path Character", since: "4.0.0"},
		{path: "/connectors/%E8", status: 400, page: "Bad UTF-8 encoding", since: "4.0.0"},
		{path: "/connectors/NAME%00", status: 400},
	} {
		r.method = "GET"
		s.check(t, s.name("nobody"), r)
	}
}

func testInternalResources(t *testing.T, s *stage) {
	for _, r := range []row{
		{method: "POST", path: "/connectors/NAME/tasks", body: `[]`, status: 400, message: "Internal request missing required signature"},
		{method: "PUT", path: "/connectors/NAME/fence", body: "", status: 400, message: "Internal request missing required signature"},
		{method: "GET", path: "/connectors/NAME/tasks/0", status: 404, message: "HTTP 404 Not Found"},
		{method: "GET", path: "/connectors/NAME/pause", status: 405, message: "HTTP 405 Method Not Allowed"},
		{method: "GET", path: "/connectors/NAME/restart", status: 405, message: "HTTP 405 Method Not Allowed"},
		{method: "PUT", path: "/connectors/NAME/status", body: `{}`, status: 405, message: "HTTP 405 Method Not Allowed"},
	} {
		s.check(t, s.name("nobody"), r)
	}
}

func testLogLevels(t *testing.T, s *stage) {
	const class = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
	type level struct {
		Level    string
		Modified *int64 `json:"last_modified"`
	}
	all := decode[map[string]level](t, s.must(t, http.StatusOK, "GET", "/admin/loggers", nil))
	if all["root"].Level != "INFO" || all["root"].Modified != nil {
		t.Errorf("GET /admin/loggers = %v, want root at INFO", all)
	}
	name := s.name("flinkmm2.test")
	path := "/admin/loggers/NAME"
	for _, r := range []row{
		{method: "GET", path: path, status: 404, message: "Logger NAME not found."},
		{method: "PUT", path: path, body: `{"level":"FOO"}`, status: 404, message: "invalid log level 'FOO'."},
		{method: "PUT", path: path, body: `{"level":1}`, status: 404, message: "invalid log level '1'."},
		{method: "PUT", path: path, body: `{}`, status: 400, message: "Desired 'level' parameter was not specified in request."},
		{method: "PUT", path: path, body: ``, status: 500, message: `Cannot invoke "java.util.Map.get(Object)" because "levelMap" is null`},
		{method: "PUT", path: path, body: `{"level":"warn"}`, status: 200, is: `["NAME"]`},
		{method: "PUT", path: path + "?scope=worker", body: `{"level":"ERROR"}`, status: 200, is: `["NAME"]`},
		{method: "PUT", path: path + "?scope=foo", body: `{"level":"DEBUG"}`, status: 200, is: `["NAME"]`},
		{name: "the same again", method: "PUT", path: path, body: `{"level":"DEBUG"}`, status: 200, is: `["NAME"]`, until: "4.0.0"},
		{name: "the same again", method: "PUT", path: path, body: `{"level":"DEBUG"}`, status: 200, is: `[]`, since: "4.0.0"},
		{method: "GET", path: path, status: 200, is: `{"level":"DEBUG"}`, until: "3.7.0"},
		{method: "DELETE", path: path, status: 405, message: "HTTP 405 Method Not Allowed"},
	} {
		s.check(t, name, r)
	}
	got := decode[level](t, s.must(t, http.StatusOK, "GET", "/admin/loggers/"+name, nil))
	if got.Level != "DEBUG" || s.atLeast("3.7.0") != (got.Modified != nil) {
		t.Errorf("GET /admin/loggers/%s = %+v", name, got)
	}
	// A namespace takes along the loggers whose name begins so, with a dot or not.
	s.check(t, name, row{method: "PUT", path: path + "x", body: `{"level":"WARN"}`, status: 200, is: `["NAMEx"]`})
	s.check(t, name, row{method: "PUT", path: path, body: `{"level":"ERROR"}`, status: 200, is: `["NAME","NAMEx"]`})
	s.check(t, name, row{method: "GET", path: "/admin/loggers/ROOT", status: 200})
	below := decode[[]string](t, s.must(t, http.StatusOK, "PUT", "/admin/loggers/org.apache.kafka.connect.mirror", map[string]string{"level": "WARN"}))
	if !slices.Contains(below, class) || !slices.Contains(below, "org.apache.kafka.connect.mirror") || !slices.IsSorted(below) {
		t.Errorf("loggers below a namespace = %q", below)
	}
	s.must(t, http.StatusOK, "PUT", "/admin/loggers/org.apache.kafka.connect.mirror", map[string]string{"level": "INFO"})
}
