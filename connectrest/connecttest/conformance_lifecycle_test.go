package connecttest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// How states follow one another.
func lifecycleCases() []conformanceCase {
	return []conformanceCase{
		{name: "create STOPPED", since: "3.7.0", run: testCreateStopped, before: lacksInitialState},
		{name: "create again and change of configuration", run: testConfigChanges},
		{name: "PUT config creates a connector that runs", run: testPutCreates},
		{name: "stop, pause and resume", since: "3.5.0", run: testStates},
		{name: "restart does not leave STOPPED or PAUSED", since: "3.5.0", run: testRestart},
	}
}

func testCreateStopped(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 1)
	name := s.name("stopped")
	c := s.config(conf{"topics": orders})
	r := s.must(t, http.StatusCreated, "POST", "/connectors", map[string]any{"name": name, "initial_state": "STOPPED", "config": c})
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	if want := s.url + "/connectors/" + name; r.header.Get("Location") != want {
		t.Errorf("Location = %q, want %q", r.header.Get("Location"), want)
	}
	created := decode[map[string]any](t, r)
	if created["name"] != name || created["type"] != "source" || len(created["tasks"].([]any)) != 0 || len(created) != 4 {
		t.Errorf("answer to POST = %v, want name, config, no tasks, type source", created)
	}
	c["name"] = name
	got := decode[conf](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/config", nil))
	for k, v := range c {
		if got[k] != v {
			t.Errorf("config %s = %q, want %q", k, got[k], v)
		}
	}
	if len(got) != len(c) {
		t.Errorf("config has %d keys, want %d", len(got), len(c))
	}
	// A new connector has no status at first.
	await(t, "STOPPED without tasks", func() (any, bool) {
		r := s.call(t, "GET", "/connectors/"+name+"/status", nil)
		if r.status == http.StatusNotFound && r.message() == "No status found for connector "+name {
			return r, false
		}
		st := decode[status](t, r)
		if st.states() != "STOPPED" {
			t.Fatalf("status of a connector created STOPPED: %s", r)
		}
		if s.atLeast("4.1.0") != (st.Connector.Version == s.version) || st.Type != "source" || st.Connector.WorkerID == "" {
			t.Errorf("status = %+v", st)
		}
		return r, true
	})
	s.check(t, name, row{method: "GET", path: "/connectors/NAME/tasks", status: 200, is: `[]`})
	s.check(t, name, row{method: "GET", path: "/connectors/NAME/tasks/0/status", status: 404, message: "No status found for task NAME-0"})
	s.check(t, name, row{method: "POST", path: "/connectors/NAME/tasks/0/restart", status: 404, message: "Unknown task: NAME-0"})
	s.check(t, name, row{method: "GET", path: "/connectors/NAME/offsets", status: 200, is: `{"offsets":[]}`})
	if slices.Contains(topics(t, s.target), orders) {
		t.Errorf("a STOPPED connector created topic %s", orders)
	}
}

func testConfigChanges(t *testing.T, s *stage) {
	name := s.name("changed")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.check(t, name, row{name: "again", method: "POST", path: "/connectors", body: map[string]any{"name": name, "config": s.config()}, status: 409, message: "Connector NAME already exists"})
	bad := s.config(conf{"tasks.max": "0"})
	if r := s.call(t, "POST", "/connectors", map[string]any{"name": name, "config": bad}); r.status != http.StatusBadRequest {
		t.Errorf("an invalid configuration under an existing name: %s, want 400", r)
	}
	r := s.must(t, http.StatusOK, "PUT", "/connectors/"+name+"/config", s.config(conf{"topics": "payments"}))
	if info := decode[struct{ Config conf }](t, r); info.Config["topics"] != "payments" || info.Config["name"] != name {
		t.Errorf("answer to PUT config = %s", r)
	}
	if s.atLeast("3.8.0") {
		r := s.must(t, http.StatusOK, "PATCH", "/connectors/"+name+"/config", map[string]any{"foo": "bar", "tasks.max": nil})
		info := decode[struct{ Config conf }](t, r)
		if _, ok := info.Config["tasks.max"]; ok || info.Config["foo"] != "bar" || info.Config["topics"] != "payments" {
			t.Errorf("answer to PATCH config = %s", r)
		}
		s.check(t, name, row{method: "PATCH", path: "/connectors/NAME/config", body: "", status: 500, message: `Cannot invoke "java.util.Map.forEach(java.util.function.BiConsumer)" because "patch" is null`})
	}
	s.awaitStates(t, name, "STOPPED")
}

func testPutCreates(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 3)
	name := s.name("put")
	c := s.config(conf{"topics": orders})
	r := s.must(t, http.StatusCreated, "PUT", "/connectors/"+name+"/config", c)
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	if want := s.url + "/connectors/" + name; r.header.Get("Location") != want {
		t.Errorf("Location = %q, want %q", r.header.Get("Location"), want)
	}
	await(t, "a status", func() (any, bool) {
		r := s.call(t, "GET", "/connectors/"+name+"/status", nil)
		return r, r.status == http.StatusOK
	})
	s.awaitStates(t, name, "RUNNING/RUNNING/RUNNING")

	type task struct {
		ID struct {
			Connector string
			Task      int
		}
		Config conf
	}
	tasks := decode[[]task](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/tasks", nil))
	var assigned []string
	for i, task := range tasks {
		if task.ID.Connector != name || task.ID.Task != i || task.Config["topics"] != orders {
			t.Errorf("task %d = %+v", i, task)
		}
		assigned = append(assigned, task.Config["task.assigned.partitions"])
	}
	if want := []string{orders + "-0," + orders + "-2", orders + "-1"}; !slices.Equal(assigned, want) {
		t.Errorf("partitions of the tasks = %q, want round robin %q", assigned, want)
	}
	if !s.atLeast("4.0.0") {
		configs := decode[map[string]conf](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/tasks-config", nil))
		if len(configs) != 2 || configs[name+"-1"]["task.assigned.partitions"] != orders+"-1" {
			t.Errorf("tasks-config = %v", configs)
		}
	}
	info := decode[struct {
		Tasks []struct {
			Connector string
			Task      int
		}
	}](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name, nil))
	if len(info.Tasks) != 2 || info.Tasks[1].Task != 1 || info.Tasks[1].Connector != name {
		t.Errorf("tasks in GET connector = %+v", info.Tasks)
	}
	st := decode[instanceStatus](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/tasks/1/status", nil))
	if st.State != "RUNNING" || st.WorkerID == "" {
		t.Errorf("status of task 1 = %+v", st)
	}
	s.check(t, name, row{method: "GET", path: "/connectors/NAME/tasks/9/status", status: 404, message: "No status found for task NAME-9"})
	s.check(t, name, row{method: "POST", path: "/connectors/NAME/tasks/1/restart", status: 204})
	// Connect creates what the target lacks.
	await(t, "the target topic", func() (any, bool) {
		names := topics(t, s.target)
		return names, slices.Contains(names, orders)
	})
}

func testStates(t *testing.T, s *stage) {
	orders := s.name("orders")
	topic(t, s.source, orders, 2)
	produce(t, s.source, numbered(orders, 0, 0, 3)...)
	name := s.name("states")
	s.create(t, name, "PAUSED", s.config(conf{"topics": orders}))
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	s.awaitStates(t, name, "PAUSED")

	step := func(action string, want int, states string) {
		t.Helper()
		if r := s.must(t, want, "PUT", "/connectors/"+name+"/"+action, nil); r.body != "" {
			t.Errorf("body of %s = %q, want none", action, r.body)
		}
		s.awaitStates(t, name, states)
	}
	step("resume", 202, "RUNNING/RUNNING/RUNNING")
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 3))
	step("pause", 202, "PAUSED/PAUSED/PAUSED")
	produce(t, s.source, numbered(orders, 0, 3, 3)...)
	step("resume", 202, "RUNNING/RUNNING/RUNNING")
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 6))
	step("stop", 204, "STOPPED")
	step("stop", 204, "STOPPED")
	s.check(t, name, row{method: "GET", path: "/connectors/NAME/tasks", status: 200, is: `[]`})
	step("pause", 202, "PAUSED")
	step("stop", 204, "STOPPED")
	step("resume", 202, "RUNNING/RUNNING/RUNNING")
	awaitValues(t, s.target, orders, 0, expected(orders, 0, 0, 6))

	type active map[string]struct{ Topics []string }
	if got := decode[active](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/topics", nil))[name].Topics; !slices.Equal(got, []string{orders}) {
		t.Errorf("active topics = %q, want %q", got, orders)
	}
	step("stop", 204, "STOPPED")
	s.must(t, http.StatusAccepted, "PUT", "/connectors/"+name+"/topics/reset", nil)
	await(t, "no active topics", func() (any, bool) {
		got := decode[active](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/topics", nil))[name].Topics
		return got, got != nil && len(got) == 0
	})
}

func testRestart(t *testing.T, s *stage) {
	name := s.name("restarted")
	s.create(t, name, "STOPPED", s.config())
	defer s.must(t, http.StatusNoContent, "DELETE", "/connectors/"+name, nil)
	for _, state := range []struct{ action, name string }{{"stop", "STOPPED"}, {"pause", "PAUSED"}} {
		if r := s.call(t, "PUT", "/connectors/"+name+"/"+state.action, nil); r.status/100 != 2 {
			t.Fatalf("%s: %s", state.action, r)
		}
		s.awaitStates(t, name, state.name)
		s.check(t, name, row{method: "POST", path: "/connectors/NAME/restart", status: 204})
		s.check(t, name, row{method: "POST", path: "/connectors/NAME/restart?includeTasks=maybe", status: 204})
		s.check(t, name, row{method: "POST", path: "/connectors/NAME/tasks/0/restart", status: 404, message: "Unknown task: NAME-0"})
		if st := decode[status](t, s.must(t, http.StatusAccepted, "POST", "/connectors/"+name+"/restart?onlyFailed=true", nil)); st.states() != state.name {
			t.Errorf("restart of what failed in %s: %+v", state.name, st)
		}
		r := s.must(t, http.StatusAccepted, "POST", "/connectors/"+name+"/restart?includeTasks=true", nil)
		if st := decode[status](t, r); st.Connector.State != "RESTARTING" || !strings.Contains(r.body, `"tasks":[]`) {
			t.Errorf("restart with tasks in %s: %s", state.name, r)
		}
		s.awaitStates(t, name, state.name)
	}
}
