package connecttest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// What a version has shows in its answers.
func TestVersionsDecideWhatThereIs(t *testing.T) {
	type gates struct {
		Stop, GetOffsets, PatchOffsets, InitialState, PatchConfig, Health, TasksConfig int
	}
	for version, want := range map[string]gates{
		"3.4.1": {404, 404, 404, 500, 405, 404, 200},
		"3.5.1": {204, 200, 405, 500, 405, 404, 200},
		"3.6.2": {204, 200, 200, 500, 405, 404, 200},
		"3.7.2": {204, 200, 200, 201, 405, 404, 200},
		"3.8.1": {204, 200, 200, 201, 200, 404, 200},
		"3.9.2": {204, 200, 200, 201, 200, 200, 200},
		"4.0.2": {204, 200, 200, 201, 200, 200, 404},
		"4.3.1": {204, 200, 200, 201, 200, 200, 404},
	} {
		t.Run(version, func(t *testing.T) {
			s, _ := embedded(t, connecttest.WithVersion(version))
			s.version = version
			s.create(t, "mm2", "", s.config(conf{"topics": "nothing"}))
			status := func(method, path string, body any) int { return s.call(t, method, path, body).status }
			got := gates{
				Stop:         status("PUT", "/connectors/mm2/stop", nil),
				GetOffsets:   status("GET", "/connectors/mm2/offsets", nil),
				PatchOffsets: status("PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 1))),
				InitialState: status("POST", "/connectors", map[string]any{"name": "new", "initial_state": "STOPPED", "config": s.config()}),
				PatchConfig:  status("PATCH", "/connectors/mm2/config", conf{"a": "b"}),
				Health:       status("GET", "/health", nil),
				TasksConfig:  status("GET", "/connectors/mm2/tasks-config", nil),
			}
			diff(t, "answers", want, got)
			if want.InitialState == 500 {
				if r := s.call(t, "GET", "/connectors/new", nil); r.status != http.StatusNotFound {
					t.Errorf("a connector with a refused initial state exists: %s", r)
				}
			}
		})
	}
}

// Up to 3.6.1 a partition without an offset is read from 0 whatever
// auto.offset.reset says; later the consumer decides.
func TestPartitionWithoutOffsetByVersion(t *testing.T) {
	for version, want := range map[string][]string{
		"3.6.1": expected("orders", 0, 0, 11),
		"3.6.2": expected("orders", 0, 10, 1),
	} {
		s, _ := embedded(t, connecttest.WithVersion(version))
		s.version = version
		topic(t, s.source, "orders", 1)
		produce(t, s.source, numbered("orders", 0, 0, 10)...)
		s.create(t, "mm2", "", s.config(conf{"source.consumer.auto.offset.reset": "latest", "source.consumer.group.id": "unused"}))
		s.awaitStates(t, "mm2", "RUNNING/RUNNING")
		await(t, "the task to have its position in "+version, func() (any, bool) {
			// A task that waits at the end copies the first record that comes.
			produce(t, s.source, numbered("orders", 0, len(read(t, s.source, "orders", 0)), 1)...)
			got := values(t, s.target, "orders", 0)
			return got, len(got) > 0
		})
		if got := values(t, s.target, "orders", 0); got[0] != want[0] && version == "3.6.1" {
			t.Errorf("%s: first record copied = %s, want %s", version, got[0], want[0])
		} else if version == "3.6.2" && slices.Contains(expected("orders", 0, 0, 10), got[0]) {
			t.Errorf("%s: first record copied = %s, want one after the end", version, got[0])
		}
	}
}

// Before 3.9 MirrorMaker always makes its offset-syncs topic, by default on the
// source; later only unless it is told not to.
func TestOffsetSyncsTopicByVersion(t *testing.T) {
	const onSource, onTarget = "mm2-offset-syncs.target.internal", "mm2-offset-syncs.source.internal"
	for _, c := range []struct {
		version        string
		change         conf
		source, target bool
	}{
		{"3.8.1", nil, true, false},
		{"3.8.1", conf{"emit.offset-syncs.enabled": "false"}, true, false},
		{"3.8.1", conf{"offset-syncs.topic.location": "target"}, false, true},
		{"3.9.2", nil, false, false},
		{"3.9.2", conf{"emit.offset-syncs.enabled": "", "offset-syncs.topic.replication.factor": "1"}, true, false},
	} {
		t.Run(fmt.Sprint(c.version, c.change), func(t *testing.T) {
			s, _ := embedded(t, connecttest.WithVersion(c.version))
			s.version = c.version
			topic(t, s.source, "orders", 1)
			produce(t, s.source, numbered("orders", 0, 0, 5)...)
			s.create(t, "mm2", "", s.config(c.change))
			awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 5))
			if got := slices.Contains(topics(t, s.source), onSource); got != c.source {
				t.Errorf("%s on the source: %t, want %t", onSource, got, c.source)
			}
			if got := slices.Contains(topics(t, s.target), onTarget); got != c.target {
				t.Errorf("%s on the target: %t, want %t", onTarget, got, c.target)
			}
		})
	}
}

// A made-up version would teach a test what no worker does.
func TestVersionThatWasNeverReleasedIsRefused(t *testing.T) {
	b := broker(t, targetID)
	for version, says := range map[string]string{
		"3.10.0": "version 3.10.0: there is none, 4.0 follows 3.9", "3.99.1": "there is none", "03.9.1": "want three numbers", "3.09.1": "want three numbers",
	} {
		w, err := connecttest.NewWorker(t.Context(), b, connecttest.WithVersion(version))
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q in it", version, err, says)
		}
	}
}
