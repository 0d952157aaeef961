package connectrest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const (
	acmeWorker   = `{"version":"acme-12","commit":"c","kafka_cluster_id":"id"}`
	noSuchState  = "Cannot deserialize value of type `org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest$InitialState`: No enum constant org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest.InitialState.NONE_SUCH"
	unknownField = `Unrecognized field "initial_state" (class org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest), not marked as ignorable (2 known properties: "config", "name"])`
)

// A worker that hides its version is asked by a creation that cannot succeed.
func TestCapabilityOfInitialStatesIsAskedFor(t *testing.T) {
	for _, tt := range []struct {
		name     string
		question reply
		creates  bool
		says     string
	}{
		{"it knows them", refuse(500, noSuchState), true, ""},
		{"it does not know the field", refuse(500, unknownField), false, "acme-12"},
		{"it passes over unknown fields", refuse(400, "Connector config {name=x} contains no connector type"), false, "acme-12"},
		{"it says something else", refuse(500, "boom"), false, "not clear"},
		{"a gateway's word is none", status(500, "<html>InitialState.NONE_SUCH</html>"), false, "not clear"},
		{"it creates what cannot be created", status(201, created), false, `look for connector "flinkmm2-question-`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			s := ready(t).on("GET /", status(200, acmeWorker)).on("GET /connectors/mm2/status", status(200, stopped))
			s.on("POST /connectors", func(w http.ResponseWriter, r *http.Request) {
				if asked {
					status(201, created)(w, r)
					return
				}
				asked = true
				tt.question(w, r)
			})
			_, err := s.client(connectrest.WithCapabilityQuestions()).Create(t.Context(), createMM2())
			question := s.body("POST /connectors")
			if !strings.Contains(question, `"config":{},"initial_state":"NONE_SUCH"`) || !strings.Contains(question, `"name":"flinkmm2-question-`) {
				t.Errorf("asked by %s", question)
			}
			switch {
			case tt.creates:
				if err != nil || s.sent("POST /connectors") != 2 {
					t.Errorf("sent %v: %v", s.all(), err)
				}
			case !errors.Is(err, connectrest.ErrUnsupported) || !strings.Contains(err.Error(), tt.says) || s.sent("POST /connectors") != 1:
				t.Errorf("want %q, sent %v: %v", tt.says, s.all(), err)
			}
		})
	}
}

func TestCapabilityOfPatchesIsAskedFor(t *testing.T) {
	patch := connectrest.ConfigPatch{Remove: []string{"a"}}
	for name, tt := range map[string]struct {
		question reply
		has      bool
	}{
		"it looks for the connector": {func(w http.ResponseWriter, r *http.Request) {
			refuse(404, "Connector "+strings.Split(r.URL.Path, "/")[2]+" not found")(w, r)
		}, true},
		"it has no such method": {refuse(405, "HTTP 405 Method Not Allowed"), false},
		"a gateway says no":     {status(403, ""), false},
	} {
		s := newScript(t).on("GET /", status(200, acmeWorker)).on("PATCH /connectors/mm2/config", status(200, created))
		s.any("PATCH /connectors/flinkmm2-question-", tt.question)
		if _, err := s.client(connectrest.WithCapabilityQuestions()).PatchConfig(t.Context(), "mm2", patch); (err == nil) != tt.has {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCapabilityIsNotAskedForWhereTheVersionIsKnownOrNothingShowsIt(t *testing.T) {
	s := newScript(t).on("GET /", status(200, worker36))
	_, err := s.client(connectrest.WithCapabilityQuestions()).Create(t.Context(), createMM2())
	checkMeanings(t, err, connectrest.ErrUnsupported)
	s.on("GET /", status(200, acmeWorker))
	_, err = s.client(connectrest.WithCapabilityQuestions()).AllPlugins(t.Context())
	checkMeanings(t, err, connectrest.ErrUnsupported)
	for _, r := range s.all() {
		if r != "GET /" {
			t.Errorf("sent %s", r)
		}
	}
}
