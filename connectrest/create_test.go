package connectrest_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const absent = "Connector mm2 not found"

// ready answers what Create asks before it writes.
func ready(t *testing.T) *script {
	return newScript(t).on("GET /", status(200, worker39)).on("GET /connectors/mm2", refuse(404, absent))
}

func TestCreateReturnsOnceTheStatusShowsTheState(t *testing.T) {
	s := ready(t).
		on("POST /connectors", status(201, created)).
		on("GET /connectors/mm2/status", refuse(404, noStatus), status(404, jettyNotFound), refuse(409, stale),
			status(200, `{"name":"mm2","connector":{"state":"UNASSIGNED","worker_id":"w:8083"},"tasks":[],"type":"unknown"}`), status(200, stopped))
	info, err := s.client().Create(t.Context(), createMM2())
	if err != nil {
		t.Fatal(err)
	}
	want := connectrest.ConnectorInfo{
		Name: "mm2", Type: "source", Tasks: []connectrest.TaskID{},
		Config: connectrest.Config{"connector.class": "MirrorSourceConnector", "topics": "orders", "name": "mm2"},
	}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Error(diff)
	}
	if got, want := s.body("POST /connectors"), `{"name":"mm2","config":{"connector.class":"MirrorSourceConnector","topics":"orders"},"initial_state":"STOPPED"}`; got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	if n := s.sent("GET /connectors/mm2/status"); n != 5 {
		t.Errorf("the status was read %d times, want 5", n)
	}
}

// A worker without KIP-980 may start at once and copy from the beginning.
func TestCreateStoppedOnAnOldOrUnknownWorkerSendsNothing(t *testing.T) {
	for _, version := range []string{"3.5.1", "3.6.2", "2.8.0", "7.6.1-ccs", "unknown", "v4", "3"} {
		s := newScript(t).on("GET /", status(200, `{"version":"`+version+`","commit":"c","kafka_cluster_id":"id"}`))
		_, err := s.client().Create(t.Context(), createMM2())
		e, ok := errors.AsType[*connectrest.UnsupportedError](err)
		if !ok || !errors.Is(err, connectrest.ErrUnsupported) || e.Found.String() != version || e.Needed.Compare(connectrest.KafkaVersion(3, 7)) != 0 {
			t.Errorf("%s: got %v", version, err)
			continue
		}
		if !strings.Contains(err.Error(), "3.7.0") || !strings.Contains(err.Error(), version) {
			t.Errorf("the error does not name both versions: %v", err)
		}
		if diff := cmp.Diff([]string{"GET /"}, s.all()); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", version, diff)
		}
	}
}

func TestAssumedVersionServesOnlyAReportThatSaysNothing(t *testing.T) {
	assume := connectrest.WithAssumedVersion(connectrest.KafkaVersion(3, 9))
	s := ready(t).on("GET /", status(200, `{"version":"acme-12","commit":"c","kafka_cluster_id":"id"}`)).
		on("POST /connectors", status(201, created)).on("GET /connectors/mm2/status", status(200, stopped))
	if _, err := s.client(assume).Create(t.Context(), createMM2()); err != nil {
		t.Error(err)
	}
	s = newScript(t).on("GET /", status(200, `{"version":"3.6.2","commit":"c","kafka_cluster_id":"id"}`))
	_, err := s.client(assume).Create(t.Context(), createMM2())
	checkMeanings(t, err, connectrest.ErrUnsupported)
}

func TestWorkerThatDoesNotKnowTheFieldIsUnsupported(t *testing.T) {
	s := ready(t).on("POST /connectors", refuse(500, `Unrecognized field "initial_state" (class org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest), not marked as ignorable (2 known properties: "config", "name"])`))
	_, err := s.client().Create(t.Context(), createMM2())
	checkMeanings(t, err, connectrest.ErrUnsupported)
}

// The connector runs although it was created STOPPED: an emergency.
func TestConnectorThatStartsAnywayIsStoppedAndReported(t *testing.T) {
	for name, seen := range map[string]string{"running with a task": running, "running without": runningNoTask, "stopped with a task": stoppedOne} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := ready(t).
				on("POST /connectors", status(201, created)).
				on("GET /connectors/mm2/status", refuse(404, noStatus), status(200, seen)).
				on("PUT /connectors/mm2/stop", status(204, "")).
				on("GET /connectors/mm2/topics", status(200, `{"mm2":{"topics":["orders"]}}`))
			_, err := s.client(logTo(&log)).Create(t.Context(), createMM2())
			e, ok := errors.AsType[*connectrest.StartedError](err)
			if !ok || !errors.Is(err, connectrest.ErrStartedAnyway) || errors.Is(err, connectrest.ErrOutcomeUnknown) {
				t.Fatalf("got %v", err)
			}
			if e.Topics != "orders" || e.StopErr != nil || !cmp.Equal(e.Written, []string{"orders"}) || e.Asked != connectrest.StateStopped {
				t.Errorf("got %+v", *e)
			}
			if n := s.sent("PUT /connectors/mm2/stop"); n != 1 {
				t.Errorf("stop was sent %d times, want once", n)
			}
			if !strings.Contains(err.Error(), `records of topics "orders" may have been copied`) || !strings.Contains(log.String(), `"level":"ERROR"`) {
				t.Errorf("err: %v\nlog: %s", err, &log)
			}
		})
	}
}

func TestEmergencyStopThatFailsIsSaidFirstOfAll(t *testing.T) {
	s := ready(t).
		on("POST /connectors", status(201, created)).
		on("GET /connectors/mm2/status", status(200, running)).
		on("PUT /connectors/mm2/stop", status(401, "")).
		on("GET /connectors/mm2/topics", refuse(403, "Topic tracking is disabled."))
	_, err := s.client().Create(t.Context(), createMM2())
	e, ok := errors.AsType[*connectrest.StartedError](err)
	if !ok || !errors.Is(e.StopErr, connectrest.ErrUnauthorized) || !errors.Is(e.WrittenErr, connectrest.ErrUnsupported) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "STOP IT BY HAND") {
		t.Errorf("got %v", err)
	}
}

func TestEmergencyStopIsSentThoughTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := ready(t).
		on("POST /connectors", status(201, created)).
		on("GET /connectors/mm2/status", status(200, running)).
		on("PUT /connectors/mm2/stop", status(204, "")).
		on("GET /connectors/mm2/topics", status(200, `{"mm2":{"topics":[]}}`))
	var log cancelOn
	log.when, log.do = "it is sent a stop", cancel
	_, err := s.client(logTo(&log)).Create(ctx, createMM2())
	if e, ok := errors.AsType[*connectrest.StartedError](err); !ok || e.StopErr != nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

// cancelOn calls do when a line with the text is logged.
type cancelOn struct {
	when string
	do   func()
}

func (c *cancelOn) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.when) {
		c.do()
	}
	return len(b), nil
}

func TestStateThatNeverShowsIsAnUnknownOutcome(t *testing.T) {
	failed := `{"name":"mm2","connector":{"state":"FAILED","worker_id":"w","trace":"org.apache.kafka.ConfigException: bad\n\tat x"},"tasks":[],"type":"source"}`
	for name, tt := range map[string]struct {
		seen reply
		says string
	}{
		"no status":    {refuse(404, noStatus), noStatus},
		"other state":  {status(200, failed), "FAILED (org.apache.kafka.ConfigException: bad)"},
		"unauthorized": {status(401, ""), "not authorized"},
	} {
		s := ready(t).on("POST /connectors", status(201, created)).on("GET /connectors/mm2/status", tt.seen)
		info, err := s.client().Create(t.Context(), createMM2())
		if !errors.Is(err, connectrest.ErrOutcomeUnknown) || !strings.Contains(err.Error(), tt.says) || info.Name != "mm2" {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
}

func TestCreateWhoseAnswerIsLost(t *testing.T) {
	other := `{"name":"mm2","config":{"name":"mm2","topics":"payments"},"tasks":[],"type":"source"}`
	missing := refuse(404, absent)
	for name, tt := range map[string]struct {
		post   []reply
		get    []reply // first is the question before the write
		posts  int
		want   []error // nil for success
		status reply
	}{
		"done":                   {[]reply{broken}, []reply{missing, status(200, created)}, 1, nil, status(200, stopped)},
		"done, answer cut":       {[]reply{cut(201, `{"name":"mm2"`)}, []reply{missing, status(200, created)}, 1, nil, status(200, stopped)},
		"done, worker timed out": {[]reply{refuse(500, timedOut)}, []reply{missing, status(200, created)}, 1, nil, status(200, stopped)},
		"done by the answer of a proxy": {
			[]reply{status(201, "<html>created?</html>")},
			[]reply{missing, status(200, created)},
			1, nil, status(200, stopped),
		},
		"not done, sent again":   {[]reply{broken, status(201, created)}, []reply{missing, missing}, 2, nil, status(200, stopped)},
		"done after it was read": {[]reply{broken, refuse(409, "Connector mm2 already exists")}, []reply{missing, missing, status(200, created)}, 2, nil, status(200, stopped)},
		"done by somebody else": {
			[]reply{broken},
			[]reply{missing, status(200, other)},
			1,
			[]error{connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer},
			nil,
		},
		"somebody else came first": {
			[]reply{broken, refuse(409, "Connector mm2 already exists")},
			[]reply{missing, missing, status(200, other)},
			2,
			[]error{connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer, connectrest.ErrExists},
			nil,
		},
		"cannot be read back": {
			[]reply{broken},
			[]reply{missing, status(401, "")},
			1,
			[]error{connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer, connectrest.ErrUnauthorized},
			nil,
		},
		"lost twice": {
			[]reply{broken},
			[]reply{missing},
			2,
			[]error{connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer, connectrest.ErrNotFound},
			nil,
		},
		"refused the second time": {
			[]reply{broken, refuse(400, "Connector configuration is invalid")},
			[]reply{missing},
			2,
			[]error{connectrest.ErrOutcomeUnknown, connectrest.ErrNoAnswer, connectrest.ErrBadRequest},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t).on("POST /connectors", tt.post...).on("GET /connectors/mm2", tt.get...)
			if tt.status != nil {
				s.on("GET /connectors/mm2/status", tt.status)
			}
			info, err := s.client().Create(t.Context(), createMM2())
			if tt.want == nil {
				if err != nil || info.Config["topics"] != "orders" {
					t.Errorf("got %v, %v", info, err)
				}
			} else {
				checkMeanings(t, err, tt.want...)
			}
			if n := s.sent("POST /connectors"); n != tt.posts {
				t.Errorf("sent %d times, want %d", n, tt.posts)
			}
		})
	}
}

// After a lost answer, a connector that runs must be ours to be stopped: so one
// that existed before is found before anything is sent.
func TestExistingConnectorIsNeitherReplacedNorStopped(t *testing.T) {
	s := ready(t).on("GET /connectors/mm2", status(200, created))
	_, err := s.client().Create(t.Context(), createMM2())
	checkMeanings(t, err, connectrest.ErrExists)
	if diff := cmp.Diff([]string{"GET /", "GET /connectors/mm2"}, s.all()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateRequestsThatAreRefusedBeforeAnyRequest(t *testing.T) {
	for name, change := range map[string]func(*connectrest.CreateRequest){
		"no config":     func(r *connectrest.CreateRequest) { r.Config = nil },
		"no class":      func(r *connectrest.CreateRequest) { delete(r.Config, "connector.class") },
		"other name":    func(r *connectrest.CreateRequest) { r.Config["name"] = "mm3" },
		"other state":   func(r *connectrest.CreateRequest) { r.InitialState = "stopped" },
		"failed state":  func(r *connectrest.CreateRequest) { r.InitialState = connectrest.StateFailed },
		"unknown state": func(r *connectrest.CreateRequest) { r.InitialState = "FOO" },
	} {
		s := newScript(t)
		req := createMM2()
		change(&req)
		_, err := s.client().Create(t.Context(), req)
		if !errors.Is(err, connectrest.ErrBadRequest) || len(s.all()) != 0 {
			t.Errorf("%s: got %v after %v", name, err, s.all())
		}
	}
}

func TestCreateWithoutInitialStateAsksForNoVersionAndNoStatus(t *testing.T) {
	s := newScript(t).on("GET /connectors/mm2", refuse(404, absent)).on("POST /connectors", status(201, created))
	req := createMM2()
	req.InitialState = ""
	if _, err := s.client().Create(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.body("POST /connectors"), "initial_state") {
		t.Errorf("sent %s", s.body("POST /connectors"))
	}
}

func TestCreateRunningWaitsForIt(t *testing.T) {
	s := ready(t).on("POST /connectors", status(201, created)).
		on("GET /connectors/mm2/status", refuse(404, noStatus), status(200, runningNoTask))
	req := createMM2()
	req.InitialState = connectrest.StateRunning
	if _, err := s.client().Create(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func TestInvalidConfigurationIsSaidWhole(t *testing.T) {
	text := "Connector configuration is invalid and contains the following 1 error(s):\nMissing required configuration \"source.cluster.alias\" which has no default value.\nYou can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
	s := ready(t).on("POST /connectors", refuse(400, text))
	_, err := s.client().Create(t.Context(), createMM2())
	checkMeanings(t, err, connectrest.ErrBadRequest)
	if e, ok := errors.AsType[*connectrest.Error](err); !ok || e.Message != text {
		t.Errorf("got %v", err)
	}
}
