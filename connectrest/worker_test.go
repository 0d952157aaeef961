package connectrest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

func TestHealthIsAnAnswerAlsoWhenItIsBad(t *testing.T) {
	for _, tt := range []struct {
		reply reply
		want  connectrest.HealthStatus
	}{
		{status(200, `{"status":"healthy","message":"fine"}`), connectrest.HealthHealthy},
		{status(503, `{"status":"starting","message":"fine"}`), connectrest.HealthStarting},
		{status(500, `{"status":"unhealthy","message":"fine"}`), connectrest.HealthUnhealthy},
		{status(200, `{"status":"new","message":"fine"}`), "new"},
	} {
		s := newScript(t).on("GET /health", tt.reply)
		got, err := s.client().Health(t.Context())
		if err != nil || got != (connectrest.Health{Status: tt.want, Message: "fine"}) || len(s.all()) != 1 {
			t.Errorf("want %s: sent %v, got %+v, %v", tt.want, s.all(), got, err)
		}
	}
	for name, tt := range map[string]struct {
		replies []reply
		is      error
	}{
		"a gateway's page, then health": {[]reply{status(503, "<html>later</html>"), status(200, `{"status":"healthy"}`)}, nil},
		"a gateway's page for ever":     {[]reply{status(503, "<html>later</html>")}, connectrest.ErrNotReady},
		"an error of the worker":        {[]reply{refuse(500, "boom")}, connectrest.ErrUnexpected},
		"something else":                {[]reply{status(200, `{}`)}, connectrest.ErrUnexpected},
		"an old worker":                 {[]reply{refuse(404, "HTTP 404 Not Found")}, connectrest.ErrUnsupported},
	} {
		s := newScript(t).on("GET /health", tt.replies...).on("GET /", status(200, worker36))
		if _, err := s.client(connectrest.WithRetry(connectrest.RetryPolicy{Budget: time.Second})).Health(t.Context()); !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPluginsOfEveryKindNeedAWorkerThatListsThem(t *testing.T) {
	var query []string
	list := func(w http.ResponseWriter, r *http.Request) {
		query = append(query, r.URL.RawQuery)
		status(200, `[{"class":"a.B","type":"converter","version":"1"}]`)(w, r)
	}
	s := newScript(t).on("GET /", status(200, worker39)).on("GET /connector-plugins", list)
	got, err := s.client().AllPlugins(t.Context())
	if diff := cmp.Diff([]connectrest.PluginInfo{{Class: "a.B", Type: "converter", Version: "1"}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := s.client().Plugins(t.Context()); err != nil || !cmp.Equal(query, []string{"connectorsOnly=false", ""}) {
		t.Errorf("queries %q, %v", query, err)
	}
	s.on("GET /", status(200, `{"version":"3.1.0","commit":"c","kafka_cluster_id":"id"}`))
	_, err = s.client().AllPlugins(t.Context())
	checkMeanings(t, err, connectrest.ErrUnsupported)
}

func TestPluginConfigListsItsKeys(t *testing.T) {
	s := newScript(t).on("GET /connector-plugins/a.B/config", status(200, `[{"name":"k","type":"INT","required":false,"default_value":"5","importance":"LOW"},{"name":"r","type":"STRING","required":true,"default_value":null}]`)).
		on("GET /connector-plugins/a.C/config", refuse(404, "Unknown plugin a.C."))
	five := "5"
	got, err := s.client().PluginConfig(t.Context(), "a.B")
	if diff := cmp.Diff([]connectrest.ConfigKey{{Name: "k", Type: "INT", Default: &five}, {Name: "r", Type: "STRING", Required: true}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	_, err = s.client().PluginConfig(t.Context(), "a.C")
	checkMeanings(t, err, connectrest.ErrNotFound)
}

func TestListOfConnectorsIsSortedAndWholeOrAnError(t *testing.T) {
	var query []string
	one := func(name string) string {
		return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(listed("a:8083"), "{"), "}"), "mm2", name)
	}
	body := "{" + one("b") + "," + one("a") + "," + one("c") + "}"
	s := newScript(t).on("GET /connectors", func(w http.ResponseWriter, r *http.Request) {
		query = append(query, r.URL.RawQuery)
		status(200, body)(w, r)
	})
	c, ctx := s.client(), t.Context()
	list, err := c.ListConnectors(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, one := range list.Sorted() {
		names = append(names, name)
		if one.Status.Name != name || one.Info.Name != name {
			t.Errorf("%s: %+v", name, one)
		}
		if name == "b" {
			break
		}
	}
	if !cmp.Equal(names, []string{"a", "b"}) {
		t.Errorf("names in order: %v", names)
	}
	body = `{"a":{"info":{"name":"a","config":{},"tasks":[],"type":"source"}}}`
	if list, err := c.ListConnectors(ctx, connectrest.ExpandInfo); err != nil || list["a"].Info.Name != "a" {
		t.Errorf("got %+v, %v", list, err)
	}
	if diff := cmp.Diff([]string{"expand=status&expand=info", "expand=info"}, query); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`["a"]`, `null`, body, `{"a":{"status":{"name":"b"}}}`} {
		body = bad
		list, err := c.ListConnectors(ctx)
		checkMeanings(t, err, connectrest.ErrUnexpected)
		if list != nil {
			t.Errorf("%s: got %v with the error", bad, list)
		}
	}
	_, err = c.ListConnectors(ctx, "tasks")
	checkMeanings(t, err, connectrest.ErrBadRequest)
}

func TestRestarts(t *testing.T) {
	var query []string
	seen := func(r reply) reply {
		return func(w http.ResponseWriter, req *http.Request) {
			query = append(query, req.URL.RawQuery)
			r(w, req)
		}
	}
	restarting := strings.Replace(running, "RUNNING", "RESTARTING", 1)
	s := newScript(t).on("GET /", status(200, worker39)).on("POST /connectors/mm2/restart", seen(status(204, "")), seen(status(202, restarting))).
		on("POST /connectors/mm2/tasks/3/restart", status(204, ""), refuse(404, "Unknown task: mm2-3"), refuse(404, "Unknown connector: mm2"), broken)
	c, ctx := s.client(), t.Context()
	if got, err := c.Restart(ctx, "mm2", connectrest.RestartRequest{}); err != nil || got.Name != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := c.Restart(ctx, "mm2", connectrest.RestartRequest{IncludeTasks: true, OnlyFailed: true}); err != nil || got.Connector.State != connectrest.StateRestarting {
		t.Errorf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"", "includeTasks=true&onlyFailed=true"}, query); diff != "" {
		t.Error(diff)
	}
	if err := c.RestartTask(ctx, "mm2", 3); err != nil {
		t.Error(err)
	}
	for range 2 {
		checkMeanings(t, c.RestartTask(ctx, "mm2", 3), connectrest.ErrNotFound)
	}
	// Nothing tells whether it was done, so it is not sent again.
	checkMeanings(t, c.RestartTask(ctx, "mm2", 3), connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer)
	if n := s.sent("POST /connectors/mm2/tasks/3/restart"); n != 4 {
		t.Errorf("sent %d times, want 4", n)
	}
	checkMeanings(t, c.RestartTask(ctx, "mm2", -1), connectrest.ErrBadRequest)
	s.on("GET /", status(200, `{"version":"2.8.0","commit":"c","kafka_cluster_id":"id"}`))
	_, err := c.Restart(ctx, "mm2", connectrest.RestartRequest{OnlyFailed: true})
	checkMeanings(t, err, connectrest.ErrUnsupported)
}

func TestTaskStatus(t *testing.T) {
	s := newScript(t).on("GET /connectors/mm2/tasks/2/status", status(200, `{"id":2,"state":"FAILED","worker_id":"w","trace":"java.lang.X\n\tat y"}`),
		status(200, `{"id":1,"state":"FAILED"}`), status(200, `{"id":2}`), refuse(404, "No status found for task mm2-2"))
	c, ctx := s.client(), t.Context()
	got, err := c.TaskStatus(ctx, "mm2", 2)
	if diff := cmp.Diff(connectrest.TaskStatus{ID: 2, State: connectrest.StateFailed, WorkerID: "w", Trace: "java.lang.X\n\tat y"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, want := range []error{connectrest.ErrUnexpected, connectrest.ErrUnexpected, connectrest.ErrNoStatus} {
		_, err := c.TaskStatus(ctx, "mm2", 2)
		checkMeanings(t, err, want)
	}
	_, err = c.TaskStatus(ctx, "mm2", -1)
	checkMeanings(t, err, connectrest.ErrBadRequest)
}

func TestPauseIsReadBack(t *testing.T) {
	paused := strings.Replace(stopped, "STOPPED", "PAUSED", 1)
	s := newScript(t).on("PUT /connectors/mm2/pause", broken, status(202, "")).
		on("GET /connectors/mm2/status", append(many(40, status(200, running)), status(200, paused))...)
	if err := s.client().Pause(t.Context(), "mm2"); err != nil || s.sent("PUT /connectors/mm2/pause") != 2 {
		t.Errorf("sent %v: %v", s.sent("PUT /connectors/mm2/pause"), err)
	}
}

func TestLoggers(t *testing.T) {
	var query []string
	set := func(r reply) reply {
		return func(w http.ResponseWriter, req *http.Request) {
			query = append(query, req.URL.RawQuery)
			r(w, req)
		}
	}
	s := newScript(t).on("GET /", status(200, worker39)).
		on("GET /admin/loggers", status(200, `{"root":{"level":"INFO","last_modified":null},"a.b":{"level":"DEBUG","last_modified":1700000000123}}`)).
		on("GET /admin/loggers/a.b", status(200, `{"level":"DEBUG"}`)).
		on("GET /admin/loggers/a.c", refuse(404, "Logger a.c not found.")).
		on("PUT /admin/loggers/a.b", set(status(200, `["a.b","a.b.C"]`)), set(status(204, "")), broken)
	c, ctx := s.client(), t.Context()
	all, err := c.Loggers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range all.Sorted() {
		names = append(names, name)
	}
	at, changed := all["a.b"].Modified()
	if _, never := all["root"].Modified(); never || !changed || at.UnixMilli() != 1700000000123 || !cmp.Equal(names, []string{"a.b", "root"}) {
		t.Errorf("got %v, %v", names, all)
	}
	_, err = c.Logger(ctx, "a.c")
	checkMeanings(t, err, connectrest.ErrNotFound)
	if got, err := c.SetLogger(ctx, "a.b", "DEBUG", connectrest.ScopeWorker); err != nil || !cmp.Equal(got, []string{"a.b", "a.b.C"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := c.SetLogger(ctx, "a.b", "DEBUG", connectrest.ScopeCluster); err != nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := c.SetLogger(ctx, "a.b", "DEBUG", connectrest.ScopeWorker); err != nil || got != nil {
		t.Errorf("after a lost answer: %v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"", "scope=cluster"}, query); diff != "" {
		t.Error(diff)
	}
	if got, want := s.body("PUT /admin/loggers/a.b"), `{"level":"DEBUG"}`; got != want {
		t.Errorf("sent %s", got)
	}
	_, errLevel := c.SetLogger(ctx, "a.b", "debug", connectrest.ScopeWorker)
	_, errScope := c.SetLogger(ctx, "a.b", "DEBUG", "")
	checkMeanings(t, errLevel, connectrest.ErrBadRequest)
	checkMeanings(t, errScope, connectrest.ErrBadRequest)
	// An older worker ignores the scope without a word.
	s.on("GET /", status(200, worker36))
	_, err = c.SetLogger(ctx, "a.b", "DEBUG", connectrest.ScopeCluster)
	checkMeanings(t, err, connectrest.ErrUnsupported)
	if n := s.sent("PUT /admin/loggers/a.b"); n != 3 {
		t.Errorf("set %d times, want 3", n)
	}
}
