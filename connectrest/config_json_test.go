package connectrest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// A worker takes scalars for the text that stands there, so files hold them; a
// detour by float64 would write 16777216 as 1.6777216e+07.
func TestNumbersOfAConfigurationFileAreTheTextThatStandsThere(t *testing.T) {
	var req connectrest.CreateRequest
	err := json.Unmarshal([]byte(`{"name":"mm2","config":{"tasks.max": 4, "enabled": false, "producer.override.buffer.memory":16777216,
		"x.ratio":1.50, "x.exp":1e3, "big":9007199254740993, "text":"a\u0022b", "empty":""}}`), &req)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"tasks.max": "4", "enabled": "false", "producer.override.buffer.memory": "16777216",
		"x.ratio": "1.50", "x.exp": "1e3", "big": "9007199254740993", "text": `a"b`, "empty": "",
	}
	if diff := cmp.Diff(want, map[string]string(req.Config)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValuesThatNoConfigurationHasAreNamedAllWithoutWhatTheyHold(t *testing.T) {
	config := connectrest.Config{"kept": "as it was"}
	err := json.Unmarshal([]byte(`{"z.password":{"key":"hunter2"},"a":null,"m":["hunter2"],"ok":"1"}`), &config)
	if err == nil {
		t.Fatal("read")
	}
	const want = `configuration of a connector: the value of "a" is null, want a string, a number or a boolean
configuration of a connector: the value of "m" is an array, want a string, a number or a boolean
configuration of a connector: the value of "z.password" is an object, want a string, a number or a boolean`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(connectrest.Config{"kept": "as it was"}, config); diff != "" {
		t.Errorf("an error left (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`"hunter2"`), &config); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a text: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"name":"mm2","config":null}`), &connectrest.CreateRequest{}); err != nil {
		t.Errorf("no configuration: %v", err)
	}
}

// Connectors of third parties give their tasks nulls, and old workers stored
// them: one must not make the list of all unreadable.
func TestNullInAWorkersAnswerReadsAsEmpty(t *testing.T) {
	const info = `{"name":"mm2","config":{"connector.class":"x","name":"mm2","gone":null},"tasks":[],"type":"source"}`
	s := newScript(t).on("GET /connectors/mm2", status(200, info)).
		on("GET /connectors/mm2/config", status(200, `{"gone":null,"name":"mm2"}`)).
		on("GET /connectors/mm2/tasks", status(200, `[{"id":{"connector":"mm2","task":0},"config":{"gone":null,"task.class":"x"}}]`))
	c := s.client()
	got, err := c.Connector(t.Context(), "mm2")
	if err != nil || got.Name != "mm2" || got.Type != "source" || got.Tasks == nil {
		t.Errorf("connector: %+v, %v", got, err)
	}
	config, err := c.Config(t.Context(), "mm2")
	if err != nil {
		t.Error(err)
	}
	tasks, err := c.Tasks(t.Context(), "mm2")
	if err != nil || len(tasks) != 1 || tasks[0].ID != (connectrest.TaskID{Connector: "mm2"}) {
		t.Fatalf("tasks: %+v, %v", tasks, err)
	}
	for what, read := range map[string]connectrest.Config{"connector": got.Config, "configuration": config, "tasks": tasks[0].Config} {
		if v, ok := read["gone"]; !ok || v != "" {
			t.Errorf("%s: null is %q, %v", what, v, ok)
		}
	}
	s = newScript(t).on("GET /connectors/mm2", status(200, strings.Replace(info, "null", "{}", 1)))
	_, err = s.client().Connector(t.Context(), "mm2")
	checkMeanings(t, err, connectrest.ErrUnexpected)
}
