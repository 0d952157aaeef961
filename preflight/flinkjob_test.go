package preflight_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

var _ preflight.Flink = (*flinkrest.Client)(nil)

// What the recorded answers are about.
const (
	recordedJob   = flinkrest.JobID("96ac6d96725be483de33215c981eb99c")
	recordedState = "/flink/sp/savepoint-96ac6d-f060792c2b90/_metadata"
	recordedLast  = int64(5)
	otherJob      = flinkrest.JobID("00112233445566778899aabbccddeeff")
)

// asked answers as a real server of Flink did, and lets a test change what it
// made of that.
type asked struct {
	preflight.Flink
	change func(*flinkrest.Evidence)
}

func (a *asked) Evidence(ctx context.Context, job flinkrest.Job) (flinkrest.Evidence, error) {
	e, err := a.Flink.Evidence(ctx, job)
	if a.change != nil {
		a.change(&e)
	}
	return e, err
}

// flink lets the recorded answers of a real server speak of the job, and returns
// what puts back those from before.
func (l *lab) flink(recording string) func() {
	l.t.Helper()
	text, err := os.ReadFile("../flinkstate/flinkrest/testdata/" + recording + ".json")
	l.must(err)
	var answers map[string]struct {
		Status int
		Body   json.RawMessage
	}
	l.must(json.Unmarshal(text, &answers))
	return l.flinkAt(func(w http.ResponseWriter, r *http.Request) {
		a, known := answers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body)
	})
}

func (l *lab) flinkAt(answer http.HandlerFunc) func() {
	l.t.Helper()
	server := httptest.NewServer(answer)
	l.t.Cleanup(server.Close)
	client, err := flinkrest.New(strings.Replace(server.URL, "://", "://li:"+password+"@", 1), flinkrest.WithRetry(flinkrest.RetryPolicy{Budget: -1}))
	l.must(err)
	l.t.Cleanup(client.CloseIdleConnections)
	before := l.probe.Flink
	l.probe.Flink = &asked{Flink: client}
	return func() { l.probe.Flink = before }
}

// flinkStopped gives the evidence of a job that was stopped with a savepoint and
// did nothing but copy.
func (l *lab) flinkStopped() {
	l.t.Helper()
	l.flink("2.2.1-stopped-ended")
	l.probe.FlinkJob = flinkrest.Job{Name: "copy orders"}
	l.question.Operators = l.state(stoppedWith).Operators
}

// flinkSays changes what is made of the answers.
func (l *lab) flinkSays(change func(*flinkrest.Evidence)) func() {
	a := l.probe.Flink.(*asked)
	before := a.change
	a.change = change
	return func() { a.change = before }
}

// namesake is another job of the name, which ran for a minute where it has ended.
func namesake(state flinkrest.State, start time.Time) func(*flinkrest.Evidence) {
	other := flinkrest.JobSummary{ID: otherJob, Name: "copy orders", State: state, Start: start, End: offsetmap.Absent[time.Time]()}
	if state.Ended() {
		other.End = offsetmap.Known(start.Add(time.Minute))
	}
	return func(e *flinkrest.Evidence) { e.Namesakes = offsetmap.Known([]flinkrest.JobSummary{other}) }
}

func flinkJobBreakages() map[string]breakage {
	says := func(change func(*flinkrest.Evidence)) breakage {
		return func(l *lab) func() { return l.flinkSays(change) }
	}
	answers := func(recording string) breakage {
		return func(l *lab) func() { return l.flink(recording) }
	}
	return map[string]breakage{
		"flink/rest-not-asked": func(l *lab) func() {
			before := l.probe.Flink
			l.probe.Flink = nil
			return func() { l.probe.Flink = before }
		},
		"flink/job-unknown": func(l *lab) func() {
			l.probe.FlinkJob = flinkrest.Job{Name: "copy payments"}
			return func() { l.probe.FlinkJob = flinkrest.Job{Name: "copy orders"} }
		},
		"flink/job-running":      answers("2.2.1-running"),
		"flink/namesake-running": says(namesake(flinkrest.Restarting, time.Now())),
		"flink/namesake-ran":     says(namesake(flinkrest.Finished, time.Now())),
		"flink/end-contradicted": answers("2.2.1-canceled-ended"),
		"flink/savepoint-not-last": func(l *lab) func() {
			l.question.Location = "/flink/sp/savepoint-96ac6d-000000000000"
			return func() { l.question.Location = recordedState }
		},
		"flink/vertices-beyond-copying": says(func(e *flinkrest.Evidence) {
			e.Vertices = offsetmap.Known([]flinkrest.Vertex{{ID: "v1", Name: "Source: a -> Filter -> Sink: Writer"}})
		}),
		"flink/job-evidence": func(l *lab) func() {
			before := l.probe.Flink
			return func() { l.probe.Flink = before.(*asked).without() }
		},
	}
}

// without is a server that nobody has named.
func (*asked) without() preflight.Flink { return nil }

// The answers of real servers, held to what a person attests and to the state that
// the positions come from.
func TestWhatFlinkSaysIsHeldAgainstWhatIsAttested(t *testing.T) {
	t.Parallel()
	const stop, canceled, failed = offsetmap.StoppedWithSavepoint, offsetmap.Canceled, offsetmap.Failed
	const job120 = "97296f646120af2a3b5c46e609c2adba"
	l := newLab(t, setup{})
	for _, c := range []struct {
		recording string
		end       offsetmap.FlinkEnd
		at        string // the state
		id        int64
		want      []string
		says      string
	}{
		{"2.2.1-stopped-ended", stop, recordedState, 5, nil, ""},
		{"2.2.1-stopped-ended", stop, "file:///flink/sp/savepoint-96ac6d-f060792c2b90/", 5, nil, ""},
		{"2.2.1-stopped-ended", stop, "s3://copies/savepoint-96ac6d-f060792c2b90", 5, nil, ""}, // a copy, by its name
		{"1.20.5-stopped-ended", stop, "/flink/sp/savepoint-97296f-b07d3066dea6", 5, nil, ""},
		{"2.2.1-stopped-history", stop, recordedState, 5, []string{"warn flink/namesake-running " + string(recordedJob)}, "a history server knows ended jobs only"},
		{"2.2.1-stopped-ended", canceled, recordedState, 5, []string{"block flink/end-contradicted " + string(recordedJob), "block flink/unclean-stop"}, "attested to have ended as canceled, by ann"},
		{"2.2.1-running", stop, recordedState, 5, []string{"block flink/job-running " + string(recordedJob)}, "is RUNNING, which is no end"},
		{"1.20.5-running", canceled, "/flink/chk/chk-4", 4, []string{"block flink/job-running " + job120, "block flink/unclean-stop"}, "is RUNNING, which is no end"},
		// A savepoint before a cancel, and the last one.
		{"2.2.1-canceled-ended", stop, "/flink/sp/savepoint-fa5b21-a9f2376409fd", 6, []string{"block flink/end-contradicted fa5b2136b035e2cd3dbde33b95bca187"}, "CANCELED"},
		{"2.2.1-canceled-ended", canceled, "/flink/sp/savepoint-fa5b21-a9f2376409fd", 6, []string{"block flink/unclean-stop"}, ""},
		// The one before the last, another with its number, one that Flink does not know.
		{"2.2.1-canceled-ended", canceled, "/flink/chk/fa5b2136b035e2cd3dbde33b95bca187/chk-5", 5, []string{"block flink/savepoint-not-last checkpoint-6", "block flink/unclean-stop"}, "has gone on after it: its last is savepoint 6, file:/flink/sp/savepoint-fa5b21-a9f2376409fd"},
		{"2.2.1-stopped-ended", stop, "/flink/sp/savepoint-000000-f060792c2b90", 5, []string{"block flink/savepoint-not-last checkpoint-5"}, "come from checkpoint 5, /flink/sp/savepoint-000000-f060792c2b90, and the last of job"},
		{"2.2.1-stopped-ended", stop, recordedState, 9, []string{"block flink/savepoint-not-last checkpoint-5"}, "does not know"},
		{"1.20.5-canceled-plain-ended", canceled, "/flink/chk/7606ef720678b8a4aa824940bf5c1910/chk-4/_metadata", 4, []string{"block flink/unclean-stop"}, ""},
		{"1.20.5-canceled-plain-ended", canceled, "/elsewhere/chk-4", 4, []string{"block flink/savepoint-not-last checkpoint-4", "block flink/unclean-stop"}, "lies elsewhere"},
		{"1.20.5-failed-ended", failed, "/flink/chk/chk-4", 4, []string{"block flink/savepoint-not-last JOB", "block flink/unclean-stop"}, "knows no checkpoint and no savepoint"},
		{"1.20.5-failed-ended", stop, "/flink/chk/chk-4", 4, []string{"block flink/end-contradicted JOB", "block flink/savepoint-not-last JOB"}, "FAILED"},
	} {
		l.flink(c.recording)
		l.question.Attestations.FlinkStopped, l.question.Location, l.question.CheckpointID = attest(c.end), c.at, c.id
		facts := l.observe()
		evidence, _ := facts.Flink.Get()
		job, _ := evidence.Job.Get()
		for i := range c.want {
			c.want[i] = strings.Replace(c.want[i], "JOB", string(job.ID), 1)
		}
		r := preflight.Judge(facts, l.question)
		l.want(r, c.want...)
		if text := (&offsetmap.BlockedError{Findings: r.Findings}).List(); !strings.Contains(text, c.says) || strings.Contains(text, password) {
			t.Errorf("%s, %s, %s %d: it does not say %q: %s", c.recording, c.end, c.at, c.id, c.says, text)
		}
	}
}

// What could not be found out is neither fine nor one finding a fact.
func TestAFlinkThatDoesNotTellIsNotTakenForOneWithoutTheJob(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	const scope = "copy orders"
	for name, c := range map[string]struct {
		answer func()
		says   string
	}{
		"not let in": {func() {
			l.flinkAt(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		}, "not authorized"},
		"a proxy's page": {func() { l.flinkAt(http.NotFound) }, "status 404"},
		"gone": {func() {
			server := httptest.NewServer(http.NotFoundHandler())
			server.Close()
			client, err := flinkrest.New(server.URL, flinkrest.WithRetry(flinkrest.RetryPolicy{Budget: -1}))
			l.must(err)
			l.probe.Flink = &asked{Flink: client}
		}, "cannot be reached"},
		"several of the name": {func() {
			l.flink("2.2.1-stopped-ended")
			l.flinkSays(func(e *flinkrest.Evidence) {
				e.Job = offsetmap.NotKnown[flinkrest.JobSummary](&flinkrest.AmbiguousError{Name: "copy orders"})
			})
		}, "choose one by its id"},
		"not known": {func() {
			l.flink("2.2.1-stopped-ended")
			l.flinkSays(func(e *flinkrest.Evidence) { e.Job = offsetmap.Absent[flinkrest.JobSummary]() })
		}, "no evidence that it has ended"},
	} {
		c.answer()
		l.question.Acceptances = nil
		r := l.judge()
		l.want(r, "block flink/job-unknown "+scope)
		f := r.Findings[0]
		l.says(f, c.says)
		if !f.Unmade || f.Acceptable != offsetmap.Exact {
			t.Errorf("%s: %s, unmade %t, acceptable %q", name, f, f.Unmade, f.Acceptable)
		}
		l.question.Acceptances = []offsetmap.Acceptance{{Check: f.Check, Scope: f.Scope, By: "ann", Reason: "the cluster is gone"}}
		l.want(l.judge(), "warn flink/job-unknown "+scope)
	}
}

// Each fact of a job that is known is a check of its own that was not made.
func TestAFactAboutTheJobThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	slow := errors.New("too slow")
	for want, change := range map[string]func(*flinkrest.Evidence){
		"block flink/vertices-beyond-copying": func(e *flinkrest.Evidence) { e.Vertices = offsetmap.NotKnown[[]flinkrest.Vertex](slow) },
		"block flink/end-contradicted, block flink/savepoint-not-last": func(e *flinkrest.Evidence) {
			e.Checkpoints = offsetmap.NotKnown[flinkrest.Checkpoints](slow)
		},
		"block flink/namesake-running": func(e *flinkrest.Evidence) { e.Server = offsetmap.NotKnown[flinkrest.Server](slow) },
	} {
		l.flinkSays(change)
		r := l.judge()
		var all []string
		for id := range strings.SplitSeq(want, ", ") {
			all = append(all, id+" "+string(recordedJob))
		}
		l.want(r, all...)
		for _, f := range r.Findings {
			if f.Severity == offsetmap.Block && (!f.Unmade || !strings.Contains(f.Detail, slow.Error())) {
				t.Errorf("%s, unmade %t", f, f.Unmade)
			}
		}
	}
}

// A job that is restored has a new id: running, or stopped again, it has gone on
// from C. One that ran before is another matter.
func TestAJobThatWasRestoredIsFound(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	now := time.Now()
	for _, c := range []struct {
		state flinkrest.State
		start time.Time
		want  []string
	}{
		{flinkrest.Running, now, []string{"block flink/namesake-running " + string(otherJob)}},
		{flinkrest.Suspended, now, []string{"block flink/namesake-running " + string(otherJob)}},
		{"PAUSED", now, []string{"block flink/namesake-running " + string(otherJob)}}, // of a Flink to come
		{flinkrest.Finished, now, []string{"block flink/namesake-ran " + string(otherJob)}},
		{flinkrest.Finished, now.AddDate(-10, 0, 0), nil},
	} {
		l.flinkSays(namesake(c.state, c.start))
		l.want(l.judge(), c.want...)
	}
}

// The same positions of two clusters are two migrations: the plan says which.
func TestWhatThePositionsAreOfStandsInTheReport(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	state := l.state("flink-2.2-dynamic-p2/savepoint")
	one, err := state.InCluster("cluster-a")
	l.must(err)
	source, err := one.Source("")
	l.must(err)
	q := l.question
	q.Positions, q.Operators, q.CheckpointID, q.MetadataVersion = source.Partitions, one.Operators, one.CheckpointID, one.MetadataVersion
	said := found(preflight.Judge(preflight.Facts{}, q), "flink/state-evidence")
	if len(said) != 1 || said[0].Severity != offsetmap.Info {
		t.Fatalf("findings %v", said)
	}
	l.says(said[0], "checkpoint 1, metadata version 6, written for a stop-with-savepoint; ", "the positions are of cluster cluster-a")
}

// States of real jobs: what keeps keyed state or reads another source is named,
// each operator by its id; what a sink keeps in a file of its own is not known.
func TestStateBeyondCopyingNamesTheOperator(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	for dir, want := range map[string][]string{
		stoppedWith: nil,
		"flink-1.20-checkpoint-hashmap/checkpoint/chk-1": {"block flink/state-beyond-copying b71731f1c0df9c3076c4a455334d0ad6"},
		"flink-2.2-other-source/savepoint":               {"block flink/state-beyond-copying ca88eee0095684d687a1b6495617f957"},
		"flink-2.2-savepoint-s3": {
			"warn flink/state-beyond-copying 2e588ce1c86a9d46e2e85186773ce4fd", "warn flink/state-beyond-copying 5abb6f104479fbc38acf37f2d04fd907",
		},
	} {
		if strings.HasSuffix(dir, "s3") {
			l.question.Operators = l.mapped(dir).Operators
		} else {
			l.question.Operators = l.state(dir).Operators
		}
		r := l.judge()
		l.want(r, want...)
		if r.Err() == nil {
			continue
		}
		for _, c := range []struct {
			scope string
			ok    bool
		}{{"*", false}, {"", false}, {r.Findings[0].Scope, true}} {
			l.question.Acceptances = []offsetmap.Acceptance{{Check: "flink/state-beyond-copying", Scope: c.scope, By: "ann", Reason: "of another pipeline"}}
			if r := l.judge(); (r.Err() == nil) != c.ok {
				t.Errorf("%s: accepted by %q: %v", dir, c.scope, r.Err())
			}
		}
		l.question.Acceptances = nil
	}
	l.question.Operators = nil
	l.want(l.judge(), "block flink/state-beyond-copying inventory-unknown")
}

// mapped reads a state whose files lie elsewhere than it says.
func (l *lab) mapped(dir string) *flinkstate.Snapshot {
	l.t.Helper()
	var e struct {
		Pointer string
		PathMap map[string]string
	}
	text, err := os.ReadFile(savepoints + dir + "/expected.json")
	l.must(err)
	l.must(json.Unmarshal(text, &e))
	snapshot, err := flinkstate.Read(os.DirFS(savepoints+dir), e.Pointer, flinkstate.WithPathMap(e.PathMap))
	l.must(err)
	return snapshot
}

// A job that came to the end of its input, or went on after its savepoint, was not
// stopped with one, though it is FINISHED.
func TestAnEndOfTheInputIsNoStop(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	for kind, says := range map[flinkrest.CheckpointType]string{
		flinkrest.Savepoint:     "FINISHED, and not by a stop with savepoint: its last is savepoint 5, ",
		flinkrest.SyncSavepoint: "",
		"":                      "does not say whether the savepoint was that of a stop",
	} {
		l.flinkSays(func(e *flinkrest.Evidence) {
			all, _ := e.Checkpoints.Get()
			savepoint, _ := all.Savepoint.Get()
			savepoint.Type = kind
			all.Savepoint = offsetmap.Known(savepoint)
			e.Checkpoints = offsetmap.Known(all)
		})
		r := l.judge()
		if says == "" {
			l.want(r)
			continue
		}
		l.want(r, "block flink/end-contradicted "+string(recordedJob))
		l.says(r.Findings[0], says)
		if unmade := kind == ""; r.Findings[0].Unmade != unmade {
			t.Errorf("%s, unmade %t", r.Findings[0], !unmade)
		}
	}
}

// Of a job that the server does not know nobody can say which others came after it.
func TestAnEarlierJobOfTheNameIsNoneThatRanSince(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.FlinkJob = flinkrest.Job{ID: otherJob, Name: "copy orders"}
	l.want(l.judge(), "block flink/job-unknown "+string(otherJob))
}

// What only warned when the plan was made does not stop it later; what blocks and
// was not accepted does.
func TestAPlanIsHeldToWhatBlocksAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	q := l.question
	plan := &offsetmap.Plan{Body: offsetmap.Body{
		Attestations: q.Attestations, Savepoint: &offsetmap.Savepoint{Location: q.Location, CheckpointID: q.CheckpointID},
	}}
	for recording, want := range map[string]string{
		"2.2.1-stopped-ended": "", "2.2.1-stopped-history": "", "2.2.1-running": "flink/job-running", "2.2.1-canceled-ended": "flink/end-contradicted flink/savepoint-not-last",
	} {
		l.flink(recording)
		var got []string
		for _, f := range l.observe().AgainstPlan(plan) {
			got = append(got, f.Check)
			if f.Severity != offsetmap.Block || preflight.JobRuns(f) != (f.Check == "flink/job-running") {
				t.Errorf("%s: %s", recording, f)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", recording, got, want)
		}
	}
	l.probe.Flink = nil
	if got := l.observe().AgainstPlan(plan); len(got) != 0 {
		t.Errorf("nobody was asked, and %v", got)
	}
}
