package flinkrest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// shown writes a fact as known, absent or unknown.
func shown[T any](f offsetmap.Fact[T], text func(T) string) string {
	switch v, ok := f.Get(); {
	case ok:
		return text(v)
	case f.IsAbsent():
		return "absent"
	default:
		return "unknown"
	}
}

func savepointText(c CompletedCheckpoint) string {
	path, _ := c.Path.Get()
	// The last part was drawn at random when the answers were recorded.
	return string(c.Type) + " " + path[:strings.LastIndexByte(path, '-')]
}

func TestRecordedAnswers(t *testing.T) {
	for _, tc := range []struct {
		name                              string
		kind                              ServerKind
		state                             State
		stopped, savepoint, restart, runs string
	}{
		{"1.20.5-running", JobManager, Running, "absent", "absent", "Cluster level default restart strategy", "copy orders"},
		{"2.2.1-running", JobManager, Running, "absent", "absent", "Restart with fixed delay (PT1S). #1 restart attempts.", "copy orders"},
		{"1.20.5-stopped-ended", JobManager, Finished, "SYNC_SAVEPOINT file:/flink/sp/savepoint-97296f", "SYNC_SAVEPOINT file:/flink/sp/savepoint-97296f", "Cluster level default restart strategy", ""},
		{"2.2.1-stopped-ended", JobManager, Finished, "SYNC_SAVEPOINT file:/flink/sp/savepoint-96ac6d", "SYNC_SAVEPOINT file:/flink/sp/savepoint-96ac6d", "Restart with fixed delay (PT1S). #1 restart attempts.", ""},
		{"1.20.5-stopped-history", HistoryServer, Finished, "SYNC_SAVEPOINT file:/flink/sp/savepoint-97296f", "SYNC_SAVEPOINT file:/flink/sp/savepoint-97296f", "Cluster level default restart strategy", "unknown"},
		{"2.2.1-stopped-history", HistoryServer, Finished, "SYNC_SAVEPOINT file:/flink/sp/savepoint-96ac6d", "SYNC_SAVEPOINT file:/flink/sp/savepoint-96ac6d", "Restart with fixed delay (PT1S). #1 restart attempts.", "unknown"},
		{"1.20.5-canceled-ended", JobManager, Canceled, "absent", "SAVEPOINT file:/flink/sp/savepoint-6e519a", "Cluster level default restart strategy", ""},
		{"2.2.1-canceled-ended", JobManager, Canceled, "absent", "SAVEPOINT file:/flink/sp/savepoint-fa5b21", "Restart with fixed delay (PT1S). #1 restart attempts.", ""},
		{"1.20.5-canceled-history", HistoryServer, Canceled, "absent", "SAVEPOINT file:/flink/sp/savepoint-6e519a", "Cluster level default restart strategy", "unknown"},
		{"2.2.1-canceled-history", HistoryServer, Canceled, "absent", "SAVEPOINT file:/flink/sp/savepoint-fa5b21", "Restart with fixed delay (PT1S). #1 restart attempts.", "unknown"},
		{"1.20.5-canceled-plain-ended", JobManager, Canceled, "absent", "absent", "Cluster level default restart strategy", ""},
		{"2.2.1-canceled-plain-ended", JobManager, Canceled, "absent", "absent", "Restart with fixed delay (PT1S). #1 restart attempts.", ""},
		{"1.20.5-failed-ended", JobManager, Failed, "absent", "absent", "Cluster level default restart strategy", ""},
		{"1.20.5-failed-history", HistoryServer, Failed, "absent", "absent", "Cluster level default restart strategy", "unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := load(t, tc.name)
			c, clock := connect(t, serve(t, r).URL)
			e := ask(t, c, Job{Name: "copy orders"})
			if byID := ask(t, c, Job{ID: r.job(t)}); shown(byID.Job, func(j JobSummary) string { return string(j.ID) }) != string(r.job(t)) {
				t.Errorf("by its id: %v", byID.Job)
			}
			text := func(s string) string { return s }
			server, _ := e.Server.Get()
			job, _ := e.Job.Get()
			checkpoints, ok := e.Checkpoints.Get()
			if !ok {
				t.Fatal(e.Checkpoints.Err())
			}
			version, _, _ := strings.Cut(tc.name, "-")
			if server.Kind != tc.kind || server.FlinkVersion != version || job.State != tc.state || job.ID != r.job(t) {
				t.Errorf("server %+v, job %+v", server, job)
			}
			if got := shown(e.StoppedWithSavepoint(), savepointText); got != tc.stopped {
				t.Errorf("stopped with %s, want %s", got, tc.stopped)
			}
			if got := shown(checkpoints.Savepoint, savepointText); got != tc.savepoint {
				t.Errorf("latest savepoint %s, want %s", got, tc.savepoint)
			}
			if got := shown(e.RestartStrategy, text); got != tc.restart {
				t.Errorf("restart strategy %q, want %q", got, tc.restart)
			}
			if got := shown(e.Running(), names); got != tc.runs {
				t.Errorf("running: %q, want %q", got, tc.runs)
			}
			if _, ended := job.End.Get(); ended != tc.state.Ended() {
				t.Errorf("end %v of a job that is %s", job.End, tc.state)
			}
			want := CheckpointConfig{Mode: "exactly_once", Interval: offsetmap.Known(time.Second), Retained: true}
			if got, _ := e.CheckpointConfig.Get(); got != want {
				t.Errorf("checkpoint config %+v", got)
			}
			vertices, _ := e.Vertices.Get()
			if len(vertices) != 1 || vertices[0].Name != "Source: copy source -> Sink: Writer -> Sink: Committer" || vertices[0].Parallelism != 2 {
				t.Errorf("vertices %+v", vertices)
			}
			if len(clock.slept) != 0 {
				t.Errorf("slept %v", clock.slept)
			}
		})
	}
}

func names(jobs []JobSummary) string {
	var all []string
	for _, j := range jobs {
		all = append(all, j.Name)
	}
	return strings.Join(all, ", ")
}

// Directly after a stop the JobManager still says RUNNING in the details of the
// job and does not know the savepoint: taken as they are, these answers would
// say that the job was not stopped with one.
func TestCachedAnswersAfterTheEndAreReadAgain(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.2.1"} {
		t.Run(version, func(t *testing.T) {
			s := serve(t, load(t, version+"-stopped-ended-just-now"))
			c, clock := connect(t, s.URL)
			clock.after = func() { s.play(load(t, version+"-stopped-ended")) }
			e := ask(t, c, Job{Name: "copy orders"})
			if _, ok := e.StoppedWithSavepoint().Get(); !ok {
				t.Errorf("no savepoint: %v", e.StoppedWithSavepoint())
			}
			if diff := cmp.Diff([]time.Duration{3100 * time.Millisecond}, clock.slept); diff != "" {
				t.Errorf("slept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswersThatStayOldAreUnknown(t *testing.T) {
	c, _ := connect(t, serve(t, load(t, "2.2.1-stopped-ended-just-now")).URL)
	e := ask(t, c, Job{Name: "copy orders"})
	if got := e.StoppedWithSavepoint(); !errors.Is(got.Err(), ErrContradiction) {
		t.Errorf("stopped with savepoint: %v", got)
	}
	if job, _ := e.Job.Get(); job.State != Finished {
		t.Errorf("the list says FINISHED, and the job is %+v", job)
	}
}

func TestRefreshIntervalThatIsTooLongIsNotWaitedFor(t *testing.T) {
	r := load(t, "2.2.1-stopped-ended-just-now")
	edit(t, r, "/config", `"refresh-interval": 3000`, `"refresh-interval": 600000`)
	c, clock := connect(t, serve(t, r).URL)
	e := ask(t, c, Job{Name: "copy orders"})
	if err := e.Checkpoints.Err(); err == nil || !strings.Contains(err.Error(), "may be 10m0s old") || len(clock.slept) > 0 {
		t.Errorf("%v, slept %v", err, clock.slept)
	}
}

// edit replaces text in a recorded answer.
func edit(t testing.TB, r recording, path, from, to string) {
	t.Helper()
	a := r[path]
	text := string(a.Body)
	if strings.Count(text, from) == 0 {
		t.Fatalf("%s does not hold %s: %s", path, from, text)
	}
	a.Body = json.RawMessage(strings.ReplaceAll(text, from, to))
	r[path] = a
}

const otherID = "0123456789abcdef0123456789abcdef"

// withJob adds a job to the list.
func withJob(t testing.TB, r recording, id, name, state string) {
	t.Helper()
	edit(t, r, "/jobs/overview", `{"jobs": [`, `{"jobs": [{"jid": "`+id+`", "name": "`+name+`", "start-time": 1, "end-time": -1, "state": "`+state+`"}, `)
}

func TestAnotherJobOfTheNameIsSeen(t *testing.T) {
	r := load(t, "2.2.1-stopped-ended")
	withJob(t, r, otherID, "copy orders", "RUNNING")
	withJob(t, r, strings.Repeat("a", 32), "something else", "RUNNING")
	c, _ := connect(t, serve(t, r).URL)
	e := ask(t, c, Job{ID: r.job(t)})
	running, ok := e.Running().Get()
	if !ok || len(running) != 1 || running[0].ID != otherID {
		t.Errorf("running: %v", e.Running())
	}
	if _, ok := e.StoppedWithSavepoint().Get(); !ok {
		t.Error("the other job hides how this one ended")
	}

	e = ask(t, c, Job{Name: "copy orders"})
	ambiguous, ok := errors.AsType[*AmbiguousError](e.Job.Err())
	if !ok || len(ambiguous.Jobs) != 2 || !strings.Contains(ambiguous.Error(), otherID+" (RUNNING)") {
		t.Errorf("by the name alone: %v", e.Job.Err())
	}
	if running, _ := e.Running().Get(); len(running) != 1 {
		t.Errorf("by the name alone, running: %v", e.Running())
	}
	if got := e.StoppedWithSavepoint(); !errors.Is(got.Err(), ErrAmbiguous) {
		t.Errorf("by the name alone, stopped: %v", got)
	}
}

func TestStateThatIsNeitherRunningNorAnEndIsUnknown(t *testing.T) {
	for _, state := range []string{"SUSPENDED", "HIBERNATING"} {
		r := load(t, "2.2.1-stopped-ended")
		withJob(t, r, otherID, "copy orders", state)
		c, _ := connect(t, serve(t, r).URL)
		if got := ask(t, c, Job{ID: r.job(t)}).Running(); got.Err() == nil || !strings.Contains(got.Err().Error(), state) {
			t.Errorf("%s: running %v", state, got)
		}
	}
}

func TestJobThatIsNotThereHasNotEnded(t *testing.T) {
	for name, job := range map[string]Job{"by id": {ID: otherID, Name: "copy"}, "by name": {Name: "copy"}} {
		c, _ := connect(t, serve(t, load(t, "2.2.1-stopped-ended")).URL)
		e := ask(t, c, job)
		if !e.Job.IsAbsent() || !e.Checkpoints.IsAbsent() || !e.Vertices.IsAbsent() {
			t.Errorf("%s: %+v", name, e)
		}
		if got := e.StoppedWithSavepoint(); !errors.Is(got.Err(), ErrJobNotFound) {
			t.Errorf("%s: stopped %v", name, got)
		}
		if running, ok := e.Running().Get(); !ok || len(running) != 0 {
			t.Errorf("%s: running %v", name, e.Running())
		}
	}
	c, _ := connect(t, serve(t, load(t, "2.2.1-stopped-ended")).URL)
	if e := ask(t, c, Job{ID: otherID}); !errors.Is(e.Running().Err(), ErrJobNotFound) {
		t.Errorf("whose name is not known: running %v", e.Running())
	}
}

func TestIDAndNameHaveToFit(t *testing.T) {
	r := load(t, "2.2.1-stopped-ended")
	c, _ := connect(t, serve(t, r).URL)
	e := ask(t, c, Job{ID: r.job(t), Name: "copy payments"})
	if !errors.Is(e.Job.Err(), ErrContradiction) {
		t.Errorf("job %v", e.Job)
	}
	// Whoever lets that pass must still see whether the job of the id runs.
	if others, _ := e.Namesakes.Get(); len(others) != 1 || others[0].ID != r.job(t) || others[0].State != Finished {
		t.Errorf("the job of the id is not among %v", e.Namesakes)
	}
}

// What a server puts where a word or an id belongs reaches no line of a report.
func TestWordsAndIDsThatAreNoneAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ path, old, new, says string }{
		"state":          {"/jobs/overview", `"FINISHED"`, `"FINISHED\u001b[2J\n"`, `has the state "FINISHED\x1b[2J\n"`},
		"state of words": {"/jobs/overview", `"FINISHED"`, `"all is well"`, `has the state "all is well"`},
		"vertex":         {"", `"vertices": [{"id": "`, `"vertices": [{"id": "v\n  info", "_": "`, `vertex 0 has the id "v\n  info"`},
		"no vertex":      {"", `"vertices": [{"id": "`, `"vertices": [{"_": "`, `vertex 0 has the id ""`},
	} {
		r := load(t, "2.2.1-stopped-ended")
		if c.path == "" {
			c.path = "/jobs/" + string(r.job(t))
		}
		edit(t, r, c.path, c.old, c.new)
		client, _ := connect(t, serve(t, r).URL)
		e := ask(t, client, Job{ID: r.job(t)})
		err := e.Job.Err()
		if name == "vertex" || name == "no vertex" {
			err = e.Vertices.Err()
		}
		if !errors.Is(err, ErrUnexpected) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
	}
}

func TestNoJobNamed(t *testing.T) {
	c, _ := connect(t, "http://localhost:1")
	if _, err := c.Evidence(t.Context(), Job{}); err == nil {
		t.Error("no error")
	}
	if _, err := c.Evidence(t.Context(), Job{ID: "../config"}); !errors.Is(err, ErrJobID) {
		t.Error(err)
	}
	if _, err := c.Job(t.Context(), "../config"); !errors.Is(err, ErrJobID) {
		t.Error(err)
	}
}

// What must never be taken for the savepoint of a stop.
func TestOtherEndsAreNoStopWithSavepoint(t *testing.T) {
	path := func(r recording) string { return "/jobs/" + string(r.job(t)) + "/checkpoints" }
	for name, tc := range map[string]struct {
		edit func(r recording)
		want string
	}{
		"a savepoint that is no stop's": {func(r recording) { edit(t, r, path(r), "SYNC_SAVEPOINT", "SAVEPOINT") }, "absent"},
		"a checkpoint after it": {func(r recording) {
			edit(t, r, path(r), `{"completed": {"className": "completed", "id": 4`, `{"completed": {"className": "completed", "id": 6`)
		}, "absent"},
		"a type that is not said": {func(r recording) { edit(t, r, path(r), `"checkpoint_type": "SYNC_SAVEPOINT", `, "") }, "unknown"},
		"no checkpoints":          {func(r recording) { delete(r, path(r)) }, "unknown"},
		"a savepoint in progress": {func(r recording) { edit(t, r, path(r), `"status": "COMPLETED"`, `"status": "IN_PROGRESS"`) }, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			r := load(t, "2.2.1-stopped-ended")
			tc.edit(r)
			c, _ := connect(t, serve(t, r).URL)
			if got := shown(ask(t, c, Job{Name: "copy orders"}).StoppedWithSavepoint(), savepointText); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestNothingIsKnownOfAServerThatCannotBeReached(t *testing.T) {
	s := serve(t, nil)
	s.Close()
	c, _ := connect(t, s.URL, WithRetry(RetryPolicy{Budget: -1}))
	for _, e := range []Evidence{ask(t, c, Job{Name: "copy orders"}), {}} {
		for name, unknown := range map[string]bool{
			"server": e.Server.Err() != nil, "job": e.Job.Err() != nil, "namesakes": e.Namesakes.Err() != nil, "vertices": e.Vertices.Err() != nil,
			"checkpoints": e.Checkpoints.Err() != nil, "config": e.CheckpointConfig.Err() != nil, "restart": e.RestartStrategy.Err() != nil,
			"running": e.Running().Err() != nil, "stopped": e.StoppedWithSavepoint().Err() != nil,
		} {
			if !unknown {
				t.Errorf("%s is not unknown: %+v", name, e)
			}
		}
	}
}

func TestOneUnknownFactLeavesTheOthers(t *testing.T) {
	s := serve(t, load(t, "1.20.5-stopped-ended"))
	s.with = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/config") && strings.HasPrefix(r.URL.Path, "/jobs/") {
			http.Error(w, "no", http.StatusForbidden)
			return true
		}
		return false
	}
	c, _ := connect(t, s.URL)
	e := ask(t, c, Job{Name: "copy orders"})
	if !errors.Is(e.RestartStrategy.Err(), ErrUnauthorized) || !errors.Is(e.CheckpointConfig.Err(), ErrUnauthorized) {
		t.Errorf("%v, %v", e.RestartStrategy.Err(), e.CheckpointConfig.Err())
	}
	if _, ok := e.StoppedWithSavepoint().Get(); !ok {
		t.Errorf("stopped %v", e.StoppedWithSavepoint())
	}
}

// A job that is started while the evidence is gathered must not be missed.
func TestJobStartedMeanwhileIsSeen(t *testing.T) {
	r, later := load(t, "2.2.1-stopped-ended"), load(t, "2.2.1-stopped-ended")
	withJob(t, later, otherID, "copy orders", "INITIALIZING")
	s := serve(t, r)
	s.with = func(_ http.ResponseWriter, req *http.Request) bool {
		if strings.HasSuffix(req.URL.Path, "/checkpoints") {
			s.play(later)
		}
		return false
	}
	c, _ := connect(t, s.URL)
	if running, _ := ask(t, c, Job{Name: "copy orders"}).Running().Get(); len(running) != 1 {
		t.Errorf("running %v", running)
	}
}

func TestOlderServersAreToldByTheirTaskManagers(t *testing.T) {
	for name, tc := range map[string]struct {
		taskmanagers string
		want         ServerKind
	}{"lists them": {`{"taskmanagers":[{"id":"a"}]}`, JobManager}, "does not": {"", UnknownServer}} {
		r := load(t, "1.20.5-running")
		edit(t, r, "/config", `, "web-history": false`, "")
		if tc.taskmanagers != "" {
			a := r["/config"]
			a.Body = json.RawMessage(tc.taskmanagers)
			r["/taskmanagers"] = a
		}
		c, _ := connect(t, serve(t, r).URL)
		e := ask(t, c, Job{Name: "copy orders"})
		if server, ok := e.Server.Get(); !ok || server.Kind != tc.want {
			t.Errorf("%s: %+v %v", name, server, e.Server.Err())
		}
		if _, ok := e.Running().Get(); ok != (tc.want == JobManager) {
			t.Errorf("%s: running %v", name, e.Running())
		}
	}
}

// A server that cannot be reached, or does not let one in, says so once: each
// further request would wait for as long again.
func TestAServerThatRefusesIsAskedOnce(t *testing.T) {
	s := serve(t, load(t, "2.2.1-stopped-ended"))
	s.with = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	c, _ := connect(t, s.URL)
	e := ask(t, c, Job{Name: "copy orders"})
	if len(s.asked) != 1 {
		t.Errorf("asked for %q", s.asked)
	}
	for what, err := range map[string]error{
		"server": e.Server.Err(), "job": e.Job.Err(), "namesakes": e.Namesakes.Err(), "vertices": e.Vertices.Err(),
		"checkpoints": e.Checkpoints.Err(), "running": e.Running().Err(), "stopped": e.StoppedWithSavepoint().Err(),
	} {
		if !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAJobIsNamed(t *testing.T) {
	const id = "96ac6d96725be483de33215c981eb99c"
	for _, tc := range []struct {
		job  Job
		text string
		ok   bool
	}{
		{Job{}, "", false},
		{Job{ID: "96ac6d"}, "96ac6d", false},
		{Job{ID: id}, id, true},
		{Job{Name: "copy orders"}, `"copy orders"`, true},
		{Job{ID: id, Name: "copy orders"}, id + ` ("copy orders")`, true},
	} {
		if err := tc.job.Check(); (err == nil) != tc.ok || tc.job.String() != tc.text {
			t.Errorf("%+v: %v, %s", tc.job, err, tc.job)
		}
	}
}
