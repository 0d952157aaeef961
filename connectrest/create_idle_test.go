package connectrest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const (
	worker36    = `{"version":"3.6.2","commit":"c","kafka_cluster_id":"id"}`
	createdIdle = `{"name":"mm2","config":{"connector.class":"MirrorSourceConnector","topics":"/","enabled":"false","name":"mm2"},"tasks":[],"type":"source"}`
	noTopics    = `{"mm2":{"topics":[]}}`
)

// way is a 3.6 worker on which nothing goes wrong.
func way(t *testing.T) *script {
	return newScript(t).on("GET /", status(200, worker36)).
		on("GET /connectors/mm2", refuse(404, absent), status(200, createdIdle)).
		on("POST /connectors", status(201, createdIdle)).
		on("PUT /connectors/mm2/stop", status(204, "")).
		on("GET /connectors/mm2/status", refuse(404, noStatus), status(200, runningNoTask), status(200, stopped)).
		on("GET /connectors/mm2/topics", status(200, noTopics)).
		on("PUT /connectors/mm2/config", status(200, created))
}

func idle() connectrest.Config { return connectrest.MirrorSourceIdle(createMM2().Config) }

// Kafka 3.6 has no initial state: the real configuration may come only once the
// connector is STOPPED.
func TestWayToAStoppedConnectorWithoutInitialStates(t *testing.T) {
	s := way(t)
	info, err := s.client().CreateThenStop(t.Context(), createMM2(), idle())
	if err != nil || info.Config["topics"] != "orders" {
		t.Fatalf("got %+v, %v", info, err)
	}
	if got, want := s.body("POST /connectors"), `{"name":"mm2","config":{"connector.class":"MirrorSourceConnector","enabled":"false","topics":"/"}}`; got != want {
		t.Errorf("created with %s\nwant %s", got, want)
	}
	if got, want := s.body("PUT /connectors/mm2/config"), `{"connector.class":"MirrorSourceConnector","topics":"orders"}`; got != want {
		t.Errorf("replaced by %s\nwant %s", got, want)
	}
	var writes []string
	for _, r := range s.all() {
		if !strings.HasPrefix(r, "GET ") {
			writes = append(writes, r)
		}
	}
	if diff := cmp.Diff([]string{"POST /connectors", "PUT /connectors/mm2/stop", "PUT /connectors/mm2/config"}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestWayIsNotGoneWhereTheWorkerHasInitialStates(t *testing.T) {
	s := ready(t).on("POST /connectors", status(201, created)).on("GET /connectors/mm2/status", status(200, stopped))
	if _, err := s.client().CreateThenStop(t.Context(), createMM2(), idle()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.body("POST /connectors"), `"initial_state":"STOPPED"`) || s.sent("PUT /connectors/mm2/stop") != 0 {
		t.Errorf("sent %v", s.all())
	}
}

// What a call left that ended on the way is known by its configuration, also by a
// worker that was upgraded meanwhile, and is taken to the end.
func TestWayThatAnEarlierCallLeftIsGoneOnWith(t *testing.T) {
	for name, tt := range map[string]struct {
		worker, exists string
		is             error
		writes         []string
	}{
		"of 3.6":                     {worker36, createdIdle, nil, []string{"PUT /connectors/mm2/stop", "PUT /connectors/mm2/config"}},
		"of an upgraded worker":      {worker39, createdIdle, nil, []string{"PUT /connectors/mm2/stop", "PUT /connectors/mm2/config"}},
		"with its own configuration": {worker36, created, connectrest.ErrExists, nil},
		"idle in another way":        {worker36, strings.Replace(createdIdle, `"topics":"/"`, `"topics":"orders"`, 1), connectrest.ErrExists, nil},
	} {
		s := way(t).on("GET /", status(200, tt.worker)).on("GET /connectors/mm2", status(200, tt.exists))
		info, err := s.client().CreateThenStop(t.Context(), createMM2(), idle())
		if !errors.Is(err, tt.is) || err == nil && info.Config["topics"] != "orders" {
			t.Errorf("%s: got %+v, %v", name, info, err)
		}
		var writes []string
		for _, r := range s.all() {
			if !strings.HasPrefix(r, "GET ") {
				writes = append(writes, r)
			}
		}
		if diff := cmp.Diff(tt.writes, writes); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", name, diff)
		}
	}
	s := way(t).on("GET /connectors/mm2", status(200, createdIdle), refuse(403, "no"))
	_, err := s.client().CreateThenStop(t.Context(), createMM2(), idle())
	checkMeanings(t, err, connectrest.ErrExists, connectrest.ErrForbidden)
}

// A worker that hides its version and shows that it has initial states needs no way.
func TestWayAsksForInitialStatesAsCreateDoes(t *testing.T) {
	asked := false
	s := ready(t).on("GET /", status(200, acmeWorker)).on("GET /connectors/mm2/status", status(200, stopped))
	s.on("POST /connectors", func(w http.ResponseWriter, r *http.Request) {
		if asked {
			status(201, created)(w, r)
			return
		}
		asked = true
		refuse(500, noSuchState)(w, r)
	})
	_, err := s.client(connectrest.WithCapabilityQuestions()).CreateThenStop(t.Context(), createMM2(), idle())
	if err != nil || s.sent("POST /connectors") != 2 || !strings.Contains(s.body("POST /connectors"), "NONE_SUCH") || s.sent("PUT /connectors/mm2/stop") != 0 {
		t.Errorf("sent %v: %v", s.all(), err)
	}
}

func TestMirrorSourceHasThreeNames(t *testing.T) {
	for class, want := range map[string]bool{
		"org.apache.kafka.connect.mirror.MirrorSourceConnector": true, "MirrorSourceConnector": true, "MirrorSource": true,
		"": false, "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector": false, "mirrorsource": false,
	} {
		if connectrest.IsMirrorSource(class) != want {
			t.Errorf("%q: want %t", class, want)
		}
	}
}

func TestWayThatIsNotIdleOrDoesNotEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*script)
		is     error
		says   string
		config int // times that the real configuration was sent
	}{
		{"too old to stop", func(s *script) { s.on("GET /", status(200, `{"version":"3.4.1"}`)) }, connectrest.ErrUnsupported, "3.5.0", 0},
		{"unknown version", func(s *script) { s.on("GET /", status(200, `{"version":"acme"}`)) }, connectrest.ErrUnsupported, "WithAssumedVersion", 0},
		{"the name exists", func(s *script) { s.on("GET /connectors/mm2", status(200, created)) }, connectrest.ErrExists, "", 0},
		{"it has a task", func(s *script) {
			s.on("GET /connectors/mm2/status", status(200, running), status(200, stopped))
		}, connectrest.ErrStartedAnyway, `records of topics "/"`, 0},
		{"it wrote to a topic", func(s *script) {
			s.on("GET /connectors/mm2/topics", status(200, `{"mm2":{"topics":["orders"]}}`))
		}, connectrest.ErrStartedAnyway, "orders", 0},
		{"what it wrote cannot be read", func(s *script) { s.on("GET /connectors/mm2/topics", refuse(400, "no")) }, connectrest.ErrBadRequest, "exists with its idle configuration, STOPPED", 0},
		{"it does not stop", func(s *script) { s.on("GET /connectors/mm2/status", status(200, runningNoTask)) }, connectrest.ErrNotStopped, "idle configuration", 0},
		{"the stop is refused", func(s *script) { s.on("PUT /connectors/mm2/stop", refuse(403, "")) }, connectrest.ErrForbidden, "may run", 0},
		{"the configuration is refused", func(s *script) { s.on("PUT /connectors/mm2/config", refuse(400, "invalid")) }, connectrest.ErrBadRequest, "exists with its idle configuration, STOPPED", 1},
		{"it runs with the real one", func(s *script) {
			s.on("GET /connectors/mm2/status", status(200, stopped), status(200, running))
		}, connectrest.ErrStartedAnyway, `records of topics "orders"`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := way(t)
			tt.change(s)
			_, err := s.client().CreateThenStop(t.Context(), createMM2(), idle())
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("want %v that says %q, got %v", tt.is, tt.says, err)
			}
			if n := s.sent("PUT /connectors/mm2/config"); n != tt.config {
				t.Errorf("the real configuration was sent %d times, want %d", n, tt.config)
			}
		})
	}
}

func TestWayWithoutTopicTrackingRestsOnTheTasks(t *testing.T) {
	s := way(t).on("GET /connectors/mm2/topics", refuse(403, "Topic tracking is disabled."))
	if _, err := s.client().CreateThenStop(t.Context(), createMM2(), idle()); err != nil {
		t.Error(err)
	}
}

func TestIdleConfigurationsThatAreRefusedBeforeAnyRequest(t *testing.T) {
	paused := createMM2()
	paused.InitialState = connectrest.StatePaused
	other := idle()
	other["connector.class"] = "Other"
	for name, tt := range map[string]struct {
		req  connectrest.CreateRequest
		idle connectrest.Config
	}{
		"the real one":  {createMM2(), createMM2().Config},
		"none":          {createMM2(), nil},
		"another class": {createMM2(), other},
		"paused":        {paused, idle()},
	} {
		s := newScript(t)
		_, err := s.client().CreateThenStop(t.Context(), tt.req, tt.idle)
		checkMeanings(t, err, connectrest.ErrBadRequest)
		if sent := s.all(); len(sent) != 0 {
			t.Errorf("%s: sent %v", name, sent)
		}
	}
	if config := (connectrest.Config{"topics": "a"}); connectrest.MirrorSourceIdle(config)["topics"] != "/" || config["topics"] != "a" {
		t.Error("the configuration that was given was changed, or the copy was not")
	}
}
