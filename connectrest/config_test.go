package connectrest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const newConfig = `{"name":"mm2","config":{"connector.class":"MirrorSourceConnector","topics":"new","name":"mm2"},"tasks":[],"type":"source"}`

func replaced() connectrest.Config {
	return connectrest.Config{"connector.class": "MirrorSourceConnector", "topics": "new"}
}

// PUT creates what is not there, and starts it at once.
func TestReplacingAConfigurationNeverCreatesAConnector(t *testing.T) {
	s := newScript(t).on("GET /connectors/mm2", refuse(404, absent))
	_, err := s.client().ReplaceConfig(t.Context(), "mm2", replaced())
	checkMeanings(t, err, connectrest.ErrNotFound)
	if n := len(s.all()); n != 1 {
		t.Errorf("sent %v", s.all())
	}
	// It is deleted between the question and the change.
	s = newScript(t).on("GET /connectors/mm2", status(200, created)).on("PUT /connectors/mm2/config", status(201, newConfig)).
		on("PUT /connectors/mm2/stop", status(204, "")).on("GET /connectors/mm2/topics", status(200, noTopics))
	_, err = s.client().ReplaceConfig(t.Context(), "mm2", replaced())
	e, ok := errors.AsType[*connectrest.StartedError](err)
	if !ok || e.StopErr != nil || s.sent("PUT /connectors/mm2/stop") != 1 || !strings.Contains(err.Error(), "had been deleted") {
		t.Errorf("sent %v: %v", s.all(), err)
	}
}

func TestChangesOfConfigurationWhoseAnswerIsLost(t *testing.T) {
	replace := func(ctx context.Context, c *connectrest.Client) error {
		_, err := c.ReplaceConfig(ctx, "mm2", replaced())
		return err
	}
	patch := func(ctx context.Context, c *connectrest.Client) error {
		_, err := c.PatchConfig(ctx, "mm2", connectrest.ConfigPatch{Set: connectrest.Config{"topics": "new"}, Remove: []string{"gone"}})
		return err
	}
	withGone := strings.Replace(newConfig, `"topics"`, `"gone":"x","topics"`, 1)
	const put, change = "PUT /connectors/mm2/config", "PATCH /connectors/mm2/config"
	for _, tt := range []struct {
		name   string
		call   func(context.Context, *connectrest.Client) error
		write  string
		writes []reply
		reads  []reply // of the connector, after the first question
		sent   int
		is     error // nil for success
	}{
		{"replaced", replace, put, []reply{broken}, []reply{status(200, newConfig)}, 1, nil},
		{"not replaced, sent again", replace, put, []reply{broken, status(200, newConfig)}, []reply{status(200, created)}, 2, nil},
		{"never replaced", replace, put, []reply{broken}, []reply{status(200, created)}, 2, connectrest.ErrOutcomeUnknown},
		{"not readable", replace, put, []reply{broken}, []reply{refuse(403, "")}, 1, connectrest.ErrOutcomeUnknown},
		{"patched", patch, change, []reply{broken}, []reply{status(200, newConfig)}, 1, nil},
		{"patched in part, sent again", patch, change, []reply{refuse(500, timedOut), status(200, newConfig)}, []reply{status(200, withGone)}, 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on("GET /", status(200, worker39)).on(tt.write, tt.writes...)
			if tt.write == put {
				tt.reads = append([]reply{status(200, created)}, tt.reads...)
			}
			s.on("GET /connectors/mm2", tt.reads...)
			if err := tt.call(t.Context(), s.client()); !errors.Is(err, tt.is) {
				t.Errorf("got %v", err)
			}
			if n := s.sent(tt.write); n != tt.sent {
				t.Errorf("sent %d times, want %d", n, tt.sent)
			}
		})
	}
}

func TestPatchSendsValuesAndNulls(t *testing.T) {
	s := newScript(t).on("GET /", status(200, worker39)).on("PATCH /connectors/mm2/config", status(200, newConfig))
	_, err := s.client().PatchConfig(t.Context(), "mm2", connectrest.ConfigPatch{Set: connectrest.Config{"b": "2"}, Remove: []string{"c", "a"}})
	if got, want := s.body("PATCH /connectors/mm2/config"), `{"a":null,"b":"2","c":null}`; err != nil || got != want {
		t.Errorf("sent %s, want %s; %v", got, want, err)
	}
}

func TestPatchesThatAreRefusedBeforeAnyWrite(t *testing.T) {
	for name, patch := range map[string]connectrest.ConfigPatch{
		"nothing":         {},
		"set and removed": {Set: connectrest.Config{"a": "1"}, Remove: []string{"a"}},
		"removed twice":   {Remove: []string{"a", "a"}},
		"another name":    {Set: connectrest.Config{"name": "other"}},
		"no name":         {Remove: []string{"name"}},
	} {
		_, err := newScript(t).client().PatchConfig(t.Context(), "mm2", patch)
		if !errors.Is(err, connectrest.ErrBadRequest) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	s := newScript(t).on("GET /", status(200, `{"version":"3.7.2","commit":"c","kafka_cluster_id":"id"}`))
	_, err := s.client().PatchConfig(t.Context(), "mm2", connectrest.ConfigPatch{Remove: []string{"a"}})
	checkMeanings(t, err, connectrest.ErrUnsupported)
	if !strings.Contains(err.Error(), "3.8.0") || !strings.Contains(err.Error(), "3.7.2") || len(s.all()) != 1 {
		t.Errorf("sent %v: %v", s.all(), err)
	}
}
