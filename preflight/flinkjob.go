package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Flink is what is asked about the old job. *flinkrest.Client satisfies it; where
// something else than Flink's REST API knows, give an adapter that leaves unknown
// what it cannot show.
type Flink interface {
	// Evidence returns what can be known about the job now. An error says that
	// job names none; what could not be found out is in the facts.
	Evidence(ctx context.Context, job flinkrest.Job) (flinkrest.Evidence, error)
}

func (p Probe) observeFlink(ctx context.Context, f *Facts) {
	f.Flink = offsetmap.Absent[flinkrest.Evidence]()
	if p.Flink != nil {
		f.FlinkJob, f.Flink = p.FlinkJob, fact(p.Flink.Evidence(ctx, p.FlinkJob))
	}
}

const (
	checkJobRunning      = flinkArea + "job-running"
	checkNamesakeRunning = flinkArea + "namesake-running"
	checkJobEvidence     = flinkArea + "job-evidence"
)

// flinkJobChecks judge what Flink's REST API says of the old job. They are made
// again directly before a start.
func flinkJobChecks() []Check {
	const (
		looks = "what Flink's REST API, or its history server, says of the job (flink in the migration file, WithFlink in Go)"
		again = "Stop it: `flink stop --savepointPath <DIR> <JOB>`. Take away what started it (a Kubernetes operator or deployment, a supervisor, a schedule), and plan from the savepoint of that stop."
	)
	return []Check{{
		ID:         flinkArea + "rest-not-asked",
		Title:      "Flink's REST API was asked about the job",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "whether the migration names a server of Flink and a job",
		Why:        "That the job has ended, how, and that nothing has started it again is then attested and not proven. The consumer group shows none of it: Flink's source never joins its group.",
		Remedy:     "Name the server and the job: flink.rest and flink.job of the migration file, WithFlink in Go. An application cluster is gone with its job: ask its history server.",
		Judge: func(c *Case, r *Reporter) {
			if c.Facts.Flink.IsAbsent() {
				r.Warn("", "not proven: no server of Flink was named to ask; that the job has ended, and does not run again, is attested alone")
			}
		},
	}, {
		ID:         flinkArea + "job-unknown",
		Title:      "Flink's REST API tells what became of the job",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ". The scope is the id of the job, or its name where no id is given",
		Why:        "A server that does not know the job is no evidence that it has ended: a job that ended leaves the JobManager's memory (jobstore.expiration-time, an hour by default), and another cluster may run it.",
		Remedy: "Where the server cannot be reached or does not let one in, mend address, credentials or network. Where it does not know the job, correct its id or name, or ask the history server. " +
			"Of several jobs with the name, give the id of the one that wrote the savepoint. After a plan that was made with the job known, its id and its name together (flink.job, flink.name) are enough for a start, as long as the server can be asked. Else accept the check, with the scope that the finding has, and make a new plan.",
		Judge: jobUnknown,
	}, {
		ID:         checkJobRunning,
		Title:      "The job has ended",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      looks + ": its state must be FINISHED, CANCELED or FAILED. The scope is the job's id",
		Why:        "With the connector there would be two writers, and the job has gone on from C since its savepoint: what it copies is copied twice.",
		Remedy:     again,
		Judge:      jobRunning,
	}, {
		ID:         checkNamesakeRunning,
		Title:      "No other job of its name runs",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ": the other jobs of that name. The scope is the id of the one that runs. A history server knows ended jobs only: a warning says so",
		Why:        "A job that is restored or submitted again has a new id and the old name: it is the same job, and writes to the same target.",
		Remedy:     again + " If it is another job that only has the same name, accept the finding by its id.",
		Judge:      namesakeRunning,
	}, {
		ID:         flinkArea + "namesake-ran",
		Title:      "No other job of its name has run since",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ": the other jobs of that name that ended after it, or after the plan was made where the server has forgotten the job. The scope is the id of the other job; the job's own where the server does not say when it ended",
		Why:        "A job that was restored and stopped again, or one that ran beside this one for longer, has gone on from C: what it copied is copied twice.",
		Remedy:     "Plan from the savepoint with which that job was stopped, and name its id. If it is another job that only has the same name, accept the finding by its id.",
		Judge:      namesakeRan,
	}, {
		ID:         flinkArea + "end-contradicted",
		Title:      "The job ended as attested",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      looks + ", against the attestation flinkStopped. What could not be found out has the job's id as scope, and that alone can be accepted",
		Why:        "The checks of the savepoint and of the sink's transactions go by how the job ended.",
		Remedy:     "Correct the attestation to what the finding says, and deal with what then blocks; or restore the job and stop it with a savepoint: `flink stop --savepointPath <DIR> <JOB>`.",
		Judge:      endContradicted,
	}, {
		ID:         flinkArea + "savepoint-not-last",
		Title:      "The savepoint is the last that the job has written",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ": its latest savepoint and its latest checkpoint, by number and path, against the state that the positions come from. The scope is the number of Flink's last one, such as checkpoint-7, or the job's id where that is not known",
		Why:        "What the job copied between this state and the last one is copied twice; and a state of another job says nothing of this one.",
		Remedy:     "Plan from the path that the finding names as Flink's last. Where this one is a copy of it elsewhere, or repeated records are fine, accept the finding by its scope.",
		Judge:      savepointNotLast,
	}, {
		ID:         flinkArea + "vertices-beyond-copying",
		Title:      "The job has sources and sinks only",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ": the operators in the names of its vertices, against the attestation copyOnly. The scope is the vertex's id",
		Why:        "An operator between source and sink may filter, change or delay records: MirrorMaker 2 does none of it.",
		Remedy:     "Look into the job's code for the operator that the finding names. If it lets every record through as it is, accept the finding by the vertex's id. Else the job cannot be replaced so.",
		Judge:      verticesBeyondCopying,
	}, {
		ID:         checkJobEvidence,
		Title:      "What Flink says of the job stands in the plan",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      looks,
		Why:        "Whoever reads the plan later sees what it was judged on. A job that the server has forgotten by the start was known when the plan was made.",
		Remedy:     "Nothing: it is for the reader of the plan.",
		Judge:      jobEvidence,
	}}
}

// ended returns the job where it is known to have ended. What else it is,
// job-unknown or job-running says.
func (c *Case) ended() (flinkrest.Evidence, flinkrest.JobSummary, bool) {
	e, _ := c.Facts.Flink.Get()
	job, known := e.Job.Get()
	return e, job, known && job.State.Ended()
}

func jobUnknown(c *Case, r *Reporter) {
	scope := jobScope(c.Facts.FlinkJob)
	e, asked := c.Facts.Flink.Get()
	job, known := e.Job.Get()
	switch {
	case c.Facts.Flink.IsAbsent():
		if c.madeOn.job != "" { // else rest-not-asked
			r.Unmade(string(c.madeOn.job), errors.New("the plan was made on what Flink said of this job, and no server of Flink is named to ask now"))
		}
	case !asked:
		r.Unmade(scope, c.Facts.Flink.Err())
	case known && !c.madeOn.isOf(job.ID):
		r.Block(scope, "the plan was made on what Flink said of job %s, and Flink at %s is asked about %s now", c.madeOn.job, e.From, described(job))
	case known:
	case e.Job.Err() != nil:
		r.Unmade(scope, fmt.Errorf("asked of Flink at %s: %w", e.From, e.Job.Err()))
	case c.madeOn.job == "":
		r.Unmade(scope, fmt.Errorf("the Flink at %s knows no such job, which is no evidence that it has ended", e.From))
	case !c.madeOn.isOf(c.Facts.FlinkJob.ID) || !c.madeOn.isCalled(c.Facts.FlinkJob.Name):
		r.Unmade(scope, fmt.Errorf("the Flink at %s knows no job %s, and the plan was made on another one, or on another name: %s", e.From, c.Facts.FlinkJob, c.madeOn.said))
	case e.Running().Err() != nil:
		r.Unmade(scope, fmt.Errorf("the Flink at %s knows the job no longer, and whether another of its name runs is not known: %w", e.From, e.Running().Err()))
	}
}

// jobScope is the id, or the name, quoted where a line could not hold it as it is.
func jobScope(job flinkrest.Job) string {
	if quoted := strconv.Quote(job.Name); job.ID == "" && len(quoted) != len(job.Name)+2 {
		return quoted
	}
	return cmp.Or(string(job.ID), job.Name)
}

func jobRunning(c *Case, r *Reporter) {
	e, _ := c.Facts.Flink.Get()
	if job, known := e.Job.Get(); known && !job.State.Ended() {
		r.Block(string(job.ID), "Flink at %s: job %s is %s, which is no end", e.From, described(job), job.State)
	}
}

func namesakeRunning(c *Case, r *Reporter) {
	e, asked := c.Facts.Flink.Get()
	if !asked {
		return
	}
	others, known := e.Namesakes.Get()
	for _, other := range others {
		if !other.State.Ended() {
			r.Block(string(other.ID), "Flink at %s: another job of the name, %s, is %s; it was submitted at %s", e.From, described(other), other.State, offsetmap.At(other.Start))
		}
	}
	job, ok := e.Job.Get()
	if !ok {
		return // job-unknown
	}
	server, told := e.Server.Get()
	switch {
	case !known:
		r.Unmade(string(job.ID), fmt.Errorf("other jobs of the name: %w", e.Namesakes.Err()))
	case !told:
		r.Unmade(string(job.ID), fmt.Errorf("which kind of server answers: %w", e.Server.Err()))
	case server.Kind != flinkrest.JobManager:
		r.Warn(string(job.ID), "not proven: %v; that no job of the name runs is attested alone", e.Running().Err())
	}
}

func namesakeRan(c *Case, r *Reporter) {
	e, _ := c.Facts.Flink.Get()
	all, _ := e.Namesakes.Get()
	var others []flinkrest.JobSummary
	for _, other := range all {
		if other.State.Ended() {
			others = append(others, other)
		}
	}
	since := c.madeOn.at
	if job, known := e.Job.Get(); known {
		end, told := job.End.Get()
		switch {
		case !job.State.Ended(), len(others) == 0:
			return // job-running has the first
		case !told:
			r.Unmade(string(job.ID), fmt.Errorf("Flink at %s does not say when %s ended, and knows other jobs of the name", e.From, described(job)))
			return
		}
		since = end
	}
	if since.IsZero() {
		return // job-unknown
	}
	for _, other := range others {
		// One that was submitted before, and ended after, has gone on beyond C as well.
		end, told := other.End.Get()
		switch {
		case !told:
			r.Block(string(other.ID), "Flink at %s: another job of the name, %s, was submitted at %s, is %s, and may have run after %s", e.From, described(other), offsetmap.At(other.Start), other.State, offsetmap.At(since))
		case end.After(since):
			r.Block(string(other.ID), "Flink at %s: another job of the name, %s, was submitted at %s and is %s since %s, after %s", e.From, described(other), offsetmap.At(other.Start), other.State, offsetmap.At(end), offsetmap.At(since))
		}
	}
}

func endContradicted(c *Case, r *Reporter) {
	e, job, ok := c.ended()
	attested := c.Question.Attestations.FlinkStopped
	if !ok || attested == nil {
		return
	}
	scope := string(job.ID)
	block := func(what string) {
		r.Block(scope, "the job is attested to have ended as %s, by %s (%s), and Flink at %s says of %s: %s", attested.Value, attested.By, attested.Reason, e.From, described(job), what)
	}
	switch want := endState[attested.Value]; {
	case want == "": // attest/flink-stopped
	case job.State != want:
		block(string(job.State))
	case want == flinkrest.Finished:
		stopped := e.StoppedWithSavepoint()
		switch {
		case stopped.Err() != nil:
			r.Unmade(scope, fmt.Errorf("whether %s was stopped with a savepoint: %w", described(job), stopped.Err()))
		case stopped.IsAbsent():
			block("FINISHED, and not by a stop with savepoint: " + lastText(e))
		}
	}
}

var endState = map[offsetmap.FlinkEnd]flinkrest.State{
	offsetmap.StoppedWithSavepoint: flinkrest.Finished, offsetmap.Canceled: flinkrest.Canceled, offsetmap.Failed: flinkrest.Failed,
}

// last returns the newest checkpoint or savepoint of the job, absent when it has
// completed none.
func last(e flinkrest.Evidence) offsetmap.Fact[flinkrest.CompletedCheckpoint] {
	notKnown := offsetmap.NotKnown[flinkrest.CompletedCheckpoint]
	all, ok := e.Checkpoints.Get()
	if !ok {
		return notKnown(e.Checkpoints.Err())
	}
	newest := offsetmap.Absent[flinkrest.CompletedCheckpoint]()
	for _, f := range []offsetmap.Fact[flinkrest.CompletedCheckpoint]{all.Completed, all.Savepoint} {
		if err := f.Err(); err != nil {
			return notKnown(err)
		}
		before, _ := newest.Get()
		if cp, ok := f.Get(); ok && (newest.IsAbsent() || cp.ID > before.ID) {
			newest = f
		}
	}
	return newest
}

func lastText(e flinkrest.Evidence) string {
	f := last(e)
	cp, ok := f.Get()
	switch {
	case ok:
		return "its last is " + checkpointText(cp)
	case f.IsAbsent():
		return "it has completed no checkpoint and no savepoint"
	default:
		return "its checkpoints are not known: " + f.Err().Error()
	}
}

func checkpointText(cp flinkrest.CompletedCheckpoint) string {
	what := "checkpoint"
	if cp.IsSavepoint {
		what = "savepoint"
	}
	path, ok := cp.Path.Get()
	if !ok {
		path = "in no place that can be named"
	}
	return fmt.Sprintf("%s %d, %s", what, cp.ID, offsetmap.RedactSetting("location", path))
}

func savepointNotLast(c *Case, r *Reporter) {
	q := c.Question
	e, job, ok := c.ended()
	if !ok || q.Origin != offsetmap.FromSavepoint {
		return
	}
	f := last(e)
	cp, known := f.Get()
	given := fmt.Sprintf("the positions come from checkpoint %d, %s", q.CheckpointID, offsetmap.RedactSetting("location", q.Location))
	switch {
	case f.IsAbsent():
		r.Block(string(job.ID), "%s; of job %s Flink at %s knows no checkpoint and no savepoint", given, described(job), e.From)
		return
	case !known:
		r.Unmade(string(job.ID), fmt.Errorf("the last checkpoint of %s: %w", described(job), f.Err()))
		return
	}
	scope := fmt.Sprintf("checkpoint-%d", cp.ID)
	path, addressed := cp.Path.Get()
	switch {
	case cp.ID > q.CheckpointID:
		r.Block(scope, "%s, and job %s has gone on after it: %s", given, described(job), lastText(e))
	case cp.ID < q.CheckpointID:
		r.Block(scope, "%s, which Flink at %s does not know of job %s: %s", given, e.From, described(job), lastText(e))
	case !addressed:
		r.Unmade(scope, fmt.Errorf("%s, and Flink does not say where its last lies", given))
	case flinkrest.MatchLocation(path, q.Location) == flinkrest.MatchNone:
		r.Block(scope, "%s, and the last of job %s with this number lies elsewhere: %s", given, described(job), lastText(e))
	}
}

func verticesBeyondCopying(c *Case, r *Reporter) {
	e, _ := c.Facts.Flink.Get()
	job, known := e.Job.Get()
	if !known {
		return // job-unknown
	}
	vertices, ok := e.Vertices.Get()
	if !ok {
		err := e.Vertices.Err()
		if err == nil {
			err = errors.New("the server does not have them")
		}
		r.Unmade(string(job.ID), fmt.Errorf("the vertices of %s: %w", described(job), err))
		return
	}
	for _, v := range vertices {
		if beyond := v.BeyondCopying(); beyond != nil {
			r.Block(v.ID, "job %s has operators that are neither source nor sink by their names: %q (vertex %q)", described(job), beyond, v.Name)
		}
	}
}

func jobEvidence(c *Case, r *Reporter) {
	e, _ := c.Facts.Flink.Get()
	job, known := e.Job.Get()
	if !known {
		return
	}
	text := fmt.Sprintf("Flink at %s %s%s", e.From, saysOf(job.ID, job.Name), job.State)
	if end, ok := job.End.Get(); ok {
		text += fmt.Sprintf(" at %s", offsetmap.At(end))
	}
	if _, stopped := e.StoppedWithSavepoint().Get(); stopped {
		text += ", stopped with savepoint"
	}
	text += "; " + lastText(e)
	if running, ok := e.Running().Get(); ok && len(running) == 0 {
		text += "; no job of its name runs there"
	}
	r.Info(string(job.ID), "%s", text)
}

func described(job flinkrest.JobSummary) string { return fmt.Sprintf("%s (%q)", job.ID, job.Name) }
