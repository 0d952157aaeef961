package flinkmm2_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// witness is a server of Flink that a test speaks through. What real ones say is
// held in packages flinkrest and preflight; here it is when they are asked.
type witness struct {
	says  flinkrest.Evidence
	asked int
}

func (w *witness) Evidence(context.Context, flinkrest.Job) (flinkrest.Evidence, error) {
	w.asked++
	return w.says, nil
}

const (
	oldJob = flinkrest.JobID("96ac6d96725be483de33215c981eb99c")
	newJob = flinkrest.JobID("00112233445566778899aabbccddeeff")
)

// stopped is the evidence of a job that was stopped with the savepoint of w, before
// any plan.
func (w *wayBack) stopped() flinkrest.Evidence {
	const plain = "savepoint-test"
	end := w.now().Add(-time.Hour)
	return flinkrest.Evidence{
		From:      "http://flink:8081",
		Server:    offsetmap.Known(flinkrest.Server{Kind: flinkrest.JobManager, FlinkVersion: "2.2.1"}),
		Job:       offsetmap.Known(flinkrest.JobSummary{ID: oldJob, Name: "copy", State: flinkrest.Finished, Start: end.Add(-time.Hour), End: offsetmap.Known(end)}),
		Namesakes: offsetmap.Known([]flinkrest.JobSummary{}),
		Vertices:  offsetmap.Known([]flinkrest.Vertex{{ID: "v", Name: "Source: copy -> Sink: Writer -> Sink: Committer"}}),
		Checkpoints: offsetmap.Known(flinkrest.Checkpoints{
			Completed: offsetmap.Absent[flinkrest.CompletedCheckpoint](),
			Savepoint: offsetmap.Known(flinkrest.CompletedCheckpoint{ID: w.checkpoint, Type: flinkrest.SyncSavepoint, IsSavepoint: true, Path: offsetmap.Known(plain)}),
		}),
	}
}

// forgotten is what the server says an hour later: nothing of the job, and that
// none of its name runs.
func forgotten(e flinkrest.Evidence) flinkrest.Evidence {
	return flinkrest.Evidence{
		From: e.From, Server: e.Server, Job: offsetmap.Absent[flinkrest.JobSummary](), Namesakes: e.Namesakes,
		Vertices: offsetmap.Absent[[]flinkrest.Vertex](), Checkpoints: offsetmap.Absent[flinkrest.Checkpoints](),
	}
}

func withNamesake(e flinkrest.Evidence, state flinkrest.State, start time.Time) flinkrest.Evidence {
	e.Namesakes = offsetmap.Known([]flinkrest.JobSummary{{ID: newJob, Name: "copy", State: state, Start: start}})
	return e
}

// A job that was started again between the plan and the start is found before the
// resume, whether it has copied anything or not; a server that has forgotten a job
// which it knew is enough, and one that knew none is not.
func TestAJobThatWasStartedAgainIsFoundBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := prepared(t)
	w.checkpoint = 7
	sound := w.stopped()
	flink := &witness{says: sound}
	w.options = []flinkmm2.Option{flinkmm2.WithFlink(flink, flinkrest.Job{ID: oldJob, Name: "copy"})}
	w.steps = w.migration(w.source.admin)
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	for want, says := range map[string]flinkrest.Evidence{
		"flink/namesake-running " + string(newJob): withNamesake(sound, flinkrest.Running, w.now()),
		"flink/job-unknown " + string(oldJob):      forgotten(sound),
	} {
		flink.says = says
		if _, err := w.planFrom(w.steps, "20", "32"); !strings.Contains(errText(err), want) || flinkmm2.ExitStatus(err) != flinkmm2.ExitBlocked {
			t.Errorf("plan: %v, want %s", err, want)
		}
	}
	flink.says = sound
	w.makePlan()
	if !slices.ContainsFunc(w.plan.Body.Findings, func(f offsetmap.Finding) bool {
		return f.Check == "flink/job-evidence" && f.Severity == offsetmap.Info && strings.Contains(f.Detail, "stopped with savepoint")
	}) {
		t.Errorf("the plan does not say what it was judged on: %v", w.plan.Body.Findings)
	}
	before := flink.asked
	if _, err := w.steps.Apply(ctx, w.plan); err != nil {
		t.Fatal(err)
	}
	if flink.asked != before {
		t.Errorf("apply, which makes nothing run, has asked Flink")
	}

	running := sound
	job, _ := sound.Job.Get()
	job.State, job.End = flinkrest.Restarting, offsetmap.Absent[time.Time]()
	running.Job = offsetmap.Known(job)
	unreachable := flinkrest.Evidence{From: sound.From, Job: offsetmap.NotKnown[flinkrest.JobSummary](flinkrest.ErrUnreachable)}
	unlisted := forgotten(sound)
	unlisted.Namesakes = offsetmap.NotKnown[[]flinkrest.JobSummary](errors.New("its name is not given"))
	for want, c := range map[string]struct {
		says   flinkrest.Evidence
		status int
	}{
		"flink/job-running " + string(oldJob):                              {running, flinkmm2.ExitMoved},
		"flink/namesake-running " + string(newJob):                         {withNamesake(sound, flinkrest.Created, w.now()), flinkmm2.ExitMoved},
		"flink/namesake-running " + string(newJob) + ": Flink at":          {withNamesake(forgotten(sound), flinkrest.Running, w.now()), flinkmm2.ExitMoved},
		"flink/namesake-ran " + string(newJob):                             {withNamesake(sound, flinkrest.Finished, w.now()), flinkmm2.ExitMoved},
		"flink/namesake-ran " + string(newJob) + ": Flink at":              {withNamesake(forgotten(sound), flinkrest.Finished, w.now().Add(time.Minute)), flinkmm2.ExitMoved},
		"flink/job-unknown " + string(oldJob) + ": could not be":           {unreachable, flinkmm2.ExitFailed},
		"knows the job no longer, and whether another of its name runs is": {unlisted, flinkmm2.ExitFailed},
	} {
		flink.says = c.says
		_, err := w.steps.Start(ctx, w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "test"})
		if !strings.Contains(errText(err), want) || flinkmm2.ExitStatus(err) != c.status {
			t.Errorf("start: status %d, %v, want %d and %s", flinkmm2.ExitStatus(err), err, c.status, want)
		}
		entries, err := w.journal.Read(ctx)
		if err != nil || slices.ContainsFunc(entries, func(e flinkmm2.Entry) bool { return e.Act == "start" || e.Act == "resume" }) {
			t.Errorf("%s: refused, and the journal holds %v, error %v", want, entries, err)
		}
	}

	flink.says, flink.asked = forgotten(sound), 0
	if _, err := w.steps.Start(ctx, w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "test"}); err != nil {
		t.Fatal(err)
	}
	if flink.asked < 2 {
		t.Errorf("Flink was asked %d times: not directly before the resume", flink.asked)
	}

	// The way back does not wait for Flink; the hand-over asks whether it runs.
	flink.says, flink.asked = running, 0
	back, err := w.steps.Rollback(ctx, w.plan, flinkmm2.RollbackOptions{})
	if err != nil || flink.asked != 0 {
		t.Fatalf("rollback: %v, Flink was asked %d times", err, flink.asked)
	}
	w.boundary = back.Boundary
	if _, err := w.hand(oldGroup); !strings.Contains(errText(err), "flink/job-running "+string(oldJob)) || flinkmm2.ExitStatus(err) != flinkmm2.ExitBlocked {
		t.Errorf("handed back to a job that runs: %v", err)
	}
	flink.says = unreachable // attested anew, for this very moment
	if _, err := w.hand(oldGroup); err != nil {
		t.Errorf("handed back: %v", err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAJobOfWhichNothingIsNamedIsRefused(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	for _, job := range []flinkrest.Job{{}, {ID: "96ac"}} {
		_, err := flinkmm2.New(flinkmm2.Config{
			Source:  flinkmm2.Cluster{Admin: w.source.admin, Options: w.source.client.Opts()},
			Target:  flinkmm2.Cluster{Admin: w.target.admin, Options: w.target.client.Opts()},
			Connect: w.connect, Connector: "mm2", Journal: w.journal,
		}, flinkmm2.WithFlink(&witness{}, job))
		if !strings.Contains(errText(err), "the job of WithFlink: ") {
			t.Errorf("job %+v: %v", job, err)
		}
	}
}

// The journal of one connector says nothing of a plan for another.
func TestAPlanOfAnotherConnectorIsNotKept(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	ctx := t.Context()
	if _, err := w.steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	if err := w.steps.CheckForward(ctx, w.plan); err != nil {
		t.Error(err)
	}
	body := w.plan.Body
	body.Connector.Name = "another"
	other, err := offsetmap.Seal(body)
	if err != nil {
		t.Fatal(err)
	}
	err = w.steps.CheckForward(ctx, other)
	_, differs := w.steps.Differs(ctx, other, flinkmm2.PlanRequest{})
	for what, err := range map[string]error{"CheckForward": err, "Differs": differs} {
		if !errors.Is(err, flinkmm2.ErrMoved) || !strings.Contains(err.Error(), `for connector "another", this migration is for "mm2"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
