package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// password is what no output may show.
const password = "correct-horse-battery"

// flinkServer answers as a real server of Flink did.
type flinkServer struct {
	*httptest.Server
	answers atomic.Pointer[map[string]flinkAnswer]
}

type flinkAnswer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

func (s *flinkServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, given, _ := r.BasicAuth()
	a, known := (*s.answers.Load())[strings.TrimPrefix(r.URL.Path, "/gateway")]
	switch {
	case given != password:
		w.WriteHeader(http.StatusUnauthorized)
	case !known:
		http.NotFound(w, r)
	default:
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body)
	}
}

// recordedFlink reads answers that were recorded, with the savepoint of a story in
// the place of the job's last one where it has one.
func recordedFlink(recording, savepoint string) (map[string]flinkAnswer, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "flinkstate", "flinkrest", "testdata", recording+".json"))
	if err != nil {
		return nil, err
	}
	var answers map[string]flinkAnswer
	if err := json.Unmarshal(text, &answers); err != nil {
		return nil, err
	}
	for path, a := range answers {
		if !strings.HasSuffix(path, "/checkpoints") {
			continue
		}
		var all map[string]any
		if err := json.Unmarshal(a.Body, &all); err != nil {
			return nil, err
		}
		latest := all["latest"].(map[string]any)
		latest["completed"] = nil
		if last, ok := latest["savepoint"].(map[string]any); ok {
			last["id"], last["external_path"] = 1, "file:"+savepoint
		}
		if a.Body, err = json.Marshal(all); err != nil {
			return nil, err
		}
		answers[path] = a
	}
	return answers, nil
}

func flinkCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := storyOf(ts)
	if len(args) == 1 && args[0] == "forgets" {
		answers := map[string]flinkAnswer{"/config": (*s.flink.answers.Load())["/config"], "/jobs/overview": {Status: http.StatusOK, Body: json.RawMessage(`{"jobs":[]}`)}}
		s.flink.answers.Store(&answers)
		return
	}
	usage(ts, neg, len(args) == 2, "flink RECORDING SAVEPOINT | flink forgets")
	answers, err := recordedFlink(args[0], args[1])
	ts.Check(err)
	if s.flink == nil {
		s.flink = &flinkServer{}
		s.flink.Server = httptest.NewServer(s.flink)
		ts.Defer(s.flink.Close)
		ts.Setenv("FLINK", fmt.Sprintf("http://li:%s@%s/gateway", password, s.flink.Listener.Addr()))
	}
	s.flink.answers.Store(&answers)
}
