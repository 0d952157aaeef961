package preflight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// planned seals nothing: it is a plan as far as what Flink says is held to it.
func (l *lab) planned() *offsetmap.Plan {
	q := l.question
	return &offsetmap.Plan{Body: offsetmap.Body{
		CreatedAt: offsetmap.At(time.Now()), Findings: l.whole().Findings,
		Attestations: q.Attestations, Savepoint: &offsetmap.Savepoint{Location: q.Location, CheckpointID: q.CheckpointID},
	}}
}

// A server that has forgotten the job is enough for the very job that it knew when
// the plan was made, under the name that it had then: else a typing error in the
// migration file would hide that the job runs again.
func TestOnlyTheJobOfThePlanMayBeForgotten(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	plan := l.planned()
	without := l.planned()
	without.Body.Findings = nil
	forgotten := func(e *flinkrest.Evidence) {
		e.Job, e.Namesakes = offsetmap.Absent[flinkrest.JobSummary](), offsetmap.Known([]flinkrest.JobSummary{})
	}
	const another = "the plan was made on another one, or on another name: Flink at "
	for name, c := range map[string]struct {
		plan   *offsetmap.Plan
		job    flinkrest.Job
		change func(*flinkrest.Evidence)
		says   string // "" where nothing speaks against the plan
	}{
		"known":                     {plan, flinkrest.Job{Name: "copy orders"}, nil, ""},
		"forgotten, by name":        {plan, flinkrest.Job{Name: "copy orders"}, forgotten, ""},
		"forgotten, by both":        {plan, flinkrest.Job{ID: recordedJob, Name: "copy orders"}, forgotten, ""},
		"forgotten, another name":   {plan, flinkrest.Job{Name: "copy order"}, forgotten, another},
		"forgotten, a longer name":  {plan, flinkrest.Job{Name: "copy orders "}, forgotten, another},
		"forgotten, id, wrong name": {plan, flinkrest.Job{ID: recordedJob, Name: "copy"}, forgotten, another},
		"forgotten, another id":     {plan, flinkrest.Job{ID: otherJob, Name: "copy orders"}, forgotten, another},
		"forgotten, never known":    {without, flinkrest.Job{Name: "copy orders"}, forgotten, "no evidence that it has ended"},
		"another one of the name":   {plan, flinkrest.Job{Name: "copy orders"}, func(e *flinkrest.Evidence) { e.Job = renamed(e.Job, otherJob) }, "the plan was made on what Flink said of job " + string(recordedJob)},
		"another one, none in it":   {without, flinkrest.Job{Name: "copy orders"}, func(e *flinkrest.Evidence) { e.Job = renamed(e.Job, otherJob) }, ""},
		"known again, never before": {without, flinkrest.Job{Name: "copy orders"}, nil, ""},
		"the server is not there": {plan, flinkrest.Job{Name: "copy orders"}, func(e *flinkrest.Evidence) {
			e.Job = offsetmap.NotKnown[flinkrest.JobSummary](flinkrest.ErrUnreachable)
		}, "cannot be reached"},
		"forgotten, list not to have": {plan, flinkrest.Job{Name: "copy orders"}, func(e *flinkrest.Evidence) {
			forgotten(e)
			e.Namesakes = offsetmap.NotKnown[[]flinkrest.JobSummary](flinkrest.ErrNotReady)
		}, "whether another of its name runs is not known"},
	} {
		back := l.flinkSays(c.change)
		facts := l.observe()
		back()
		facts.FlinkJob = c.job
		got := facts.AgainstPlan(c.plan)
		switch {
		case c.says == "" && len(got) == 0:
		case c.says == "" || len(got) != 1 || got[0].Check != "flink/job-unknown" || !strings.Contains(got[0].Detail, c.says):
			t.Errorf("%s: %v, want %q", name, got, c.says)
		}
	}

	// A plan that rests on Flink's word does so until the start.
	l.probe.Flink = nil
	got := l.observe().AgainstPlan(plan)
	if len(got) != 1 || got[0].Check != "flink/job-unknown" || got[0].Scope != string(recordedJob) || !got[0].Unmade || preflight.JobRuns(got[0]) {
		t.Errorf("nobody is asked any more, and %v", got)
	}
	if got := l.observe().AgainstPlan(without); len(got) != 0 {
		t.Errorf("nobody was ever asked, and %v", got)
	}
}

func renamed(job offsetmap.Fact[flinkrest.JobSummary], id flinkrest.JobID) offsetmap.Fact[flinkrest.JobSummary] {
	j, _ := job.Get()
	j.ID = id
	return offsetmap.Known(j)
}

// A job that was submitted before the old one ended, and ran on after it, has
// copied beyond C as one that was restored has. Without an end nobody can say.
func TestAJobThatRanOnBesideTheOldOneIsFound(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	e, _ := l.observe().Flink.Get()
	job, _ := e.Job.Get()
	end, _ := job.End.Get()
	other := func(from, to time.Duration) flinkrest.JobSummary {
		return flinkrest.JobSummary{ID: otherJob, Name: job.Name, State: flinkrest.Finished, Start: end.Add(from), End: offsetmap.Known(end.Add(to))}
	}
	endless := other(-time.Hour, 0)
	endless.End = offsetmap.Absent[time.Time]()
	for name, c := range map[string]struct {
		other flinkrest.JobSummary
		known bool // when the old one ended
		want  []string
	}{
		"ended before":     {other(-time.Hour, -time.Minute), true, nil},
		"submitted after":  {other(time.Minute, time.Hour), true, []string{"block flink/namesake-ran " + string(otherJob)}},
		"ran on":           {other(-time.Hour, time.Minute), true, []string{"block flink/namesake-ran " + string(otherJob)}},
		"end not told":     {endless, true, []string{"block flink/namesake-ran " + string(otherJob)}},
		"own end not told": {other(-time.Hour, -time.Minute), false, []string{"block flink/namesake-ran " + string(recordedJob)}},
	} {
		back := l.flinkSays(func(e *flinkrest.Evidence) {
			e.Namesakes = offsetmap.Known([]flinkrest.JobSummary{c.other})
			if !c.known {
				endless := job
				endless.End = offsetmap.Absent[time.Time]()
				e.Job = offsetmap.Known(endless)
			}
		})
		r := l.judge()
		back()
		t.Log(name)
		l.want(r, c.want...)
		if f := found(r, "flink/namesake-ran"); len(f) == 1 && f[0].Unmade == c.known {
			t.Errorf("%s: %s, unmade %t", name, f[0], f[0].Unmade)
		}
	}
}

// A name of several lines would part what a person accepts the finding by.
func TestAJobIsNamedOnOneLine(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.FlinkJob = flinkrest.Job{Name: "copy\norders"}
	const scope = `"copy\norders"`
	l.want(l.judge(), "block flink/job-unknown "+scope)
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "flink/job-unknown", Scope: scope, By: "ann", Reason: "seen in the web interface"}}
	l.want(l.judge(), "warn flink/job-unknown "+scope)
}
