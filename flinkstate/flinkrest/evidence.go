package flinkrest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Job says which job is meant: by its id, by its name, or by both, which then
// must fit each other.
type Job struct {
	ID   JobID
	Name string
}

// Check returns an [ErrJobID] when the id is none, and an error when neither
// names a job.
func (job Job) Check() error {
	if job.ID == "" && job.Name == "" {
		return errors.New("evidence about which job: neither an id nor a name is given")
	}
	if job.ID == "" {
		return nil
	}
	_, err := ParseJobID(string(job.ID))
	return err
}

// String returns the id, the name in quotes, or both.
func (job Job) String() string {
	switch {
	case job.Name == "":
		return string(job.ID)
	case job.ID == "":
		return strconv.Quote(job.Name)
	default:
		return fmt.Sprintf("%s (%q)", job.ID, job.Name)
	}
}

// ServerKind says what answers.
type ServerKind string

const (
	// JobManager knows the jobs of its cluster, running ones and those that ended
	// not long ago.
	JobManager ServerKind = "jobmanager"
	// HistoryServer knows the jobs that ended and were archived.
	HistoryServer ServerKind = "history-server"
	// UnknownServer is one of an older Flink that does not say what it is, and
	// does not list task managers either.
	UnknownServer ServerKind = ""
)

// Server is what answers.
type Server struct {
	Kind ServerKind
	// FlinkVersion is as the server says it, such as "1.20.5".
	FlinkVersion string
	// Refresh is how old an answer about a job may be.
	Refresh time.Duration
}

// Evidence is what could be found out about a job. A fact that is unknown has
// the reason as its error.
type Evidence struct {
	// From names the server, without credentials.
	From string
	// At is when the last answer was had, by the clock of the caller.
	At     time.Time
	Server offsetmap.Fact[Server]
	// Job is absent when the server knows no such job, which is not evidence that
	// it has ended. A name that several jobs have is an [*AmbiguousError].
	Job offsetmap.Fact[JobSummary]
	// Namesakes are the other jobs of the same name, the newest first: what was
	// restored or restarted under another id. A known empty list means that the
	// server has none. Where id and name do not fit each other, the job of the id is
	// among them, so that whether it runs is not lost.
	Namesakes offsetmap.Fact[[]JobSummary]

	// Absent with the job, like all that follow.
	Vertices         offsetmap.Fact[[]Vertex]
	Checkpoints      offsetmap.Fact[Checkpoints]
	CheckpointConfig offsetmap.Fact[CheckpointConfig]
	// RestartStrategy is the text by which Flink describes it, such as
	// "Restart deactivated."; it may say no more than that the cluster decides.
	RestartStrategy offsetmap.Fact[string]
}

// Running returns the jobs of the name that have not ended, the asked one
// included. Known and empty is the evidence that is looked for. It is unknown
// when the list could not be had, when a job is in a state of which it is not
// known whether it ends there, and from a history server, which knows no
// running job.
func (e Evidence) Running() offsetmap.Fact[[]JobSummary] {
	server, ok := e.Server.Get()
	if !ok {
		return offsetmap.NotKnown[[]JobSummary](fmt.Errorf("which kind of server answers: %w", reason(e.Server)))
	}
	switch server.Kind {
	case JobManager:
	case HistoryServer:
		return offsetmap.NotKnown[[]JobSummary](errors.New("a history server knows ended jobs only"))
	default:
		return offsetmap.NotKnown[[]JobSummary](errors.New("the server may be a history server, which knows ended jobs only"))
	}
	all, ok := e.Namesakes.Get()
	if !ok {
		return offsetmap.NotKnown[[]JobSummary](fmt.Errorf("other jobs of the name: %w", reason(e.Namesakes)))
	}
	job, ok := e.Job.Get()
	switch {
	case ok:
		all = append([]JobSummary{job}, all...)
	case !e.Job.IsAbsent() && !errors.Is(e.Job.Err(), ErrAmbiguous):
		return offsetmap.NotKnown[[]JobSummary](e.Job.Err())
	}
	running := []JobSummary{}
	for _, j := range all {
		switch {
		case j.State.Alive():
			running = append(running, j)
		case !j.State.Ended():
			return offsetmap.NotKnown[[]JobSummary](fmt.Errorf("job %s is %s, which is neither running nor an end", j.ID, j.State))
		}
	}
	return offsetmap.Known(running)
}

// StoppedWithSavepoint returns the savepoint with which the job was stopped: the
// job is FINISHED, and its last checkpoint of all is the savepoint of a stop.
// Absent means that the job runs, or ended in another way: canceled, failed, by
// the end of its input, or with a savepoint before a cancel, after which it may
// have gone on. Unknown is everything else, a job that the server does not know
// above all.
func (e Evidence) StoppedWithSavepoint() offsetmap.Fact[CompletedCheckpoint] {
	notKnown := offsetmap.NotKnown[CompletedCheckpoint]
	job, ok := e.Job.Get()
	switch {
	case e.Job.IsAbsent():
		return notKnown(ErrJobNotFound)
	case !ok:
		return notKnown(e.Job.Err())
	case job.State.Alive(), job.State == Canceled, job.State == Failed:
		return offsetmap.Absent[CompletedCheckpoint]()
	case job.State != Finished:
		return notKnown(fmt.Errorf("the job is %s", job.State))
	}
	cp, ok := e.Checkpoints.Get()
	if !ok {
		return notKnown(reason(e.Checkpoints))
	}
	savepoint, ok := cp.Savepoint.Get()
	if !ok {
		if !cp.Savepoint.IsAbsent() {
			return notKnown(cp.Savepoint.Err())
		}
		return offsetmap.Absent[CompletedCheckpoint]()
	}
	completed, ok := cp.Completed.Get()
	switch {
	case !ok && !cp.Completed.IsAbsent():
		return notKnown(cp.Completed.Err())
	case ok && completed.ID > savepoint.ID:
		// The job went on after that savepoint, whatever its type: a stop can fail
		// when the savepoint is already there.
		return offsetmap.Absent[CompletedCheckpoint]()
	case savepoint.Type == "":
		return notKnown(errors.New("this version of Flink does not say whether the savepoint was that of a stop"))
	case savepoint.Type != SyncSavepoint:
		return offsetmap.Absent[CompletedCheckpoint]()
	default:
		return offsetmap.Known(savepoint)
	}
}

// reason is why a fact has no value, also where it was looked for.
func reason[T any](f offsetmap.Fact[T]) error {
	if err := f.Err(); err != nil {
		return err
	}
	return ErrJobNotFound
}

// maxRefresh bounds the wait for what the cache of a server has not yet.
const maxRefresh = time.Minute

// Evidence asks for everything that [Evidence] holds, some six requests. Where
// the job ended less than the server's refresh interval ago, it waits for that
// interval once. The error is that of [Job.Check]; what could not be found out is
// in the facts.
func (c *Client) Evidence(ctx context.Context, job Job) (Evidence, error) {
	if err := job.Check(); err != nil {
		return Evidence{}, err
	}
	job.ID = JobID(strings.ToLower(string(job.ID)))
	e := Evidence{From: c.base, Server: fact(c.Server(ctx))}
	if err := e.Server.Err(); errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUnauthorized) {
		// Each further call would try for as long again, to learn the same.
		e.Job, e.Namesakes = offsetmap.NotKnown[JobSummary](err), offsetmap.NotKnown[[]JobSummary](err)
	} else if jobs, err := c.Jobs(ctx); err != nil {
		e.Job = offsetmap.NotKnown[JobSummary](err)
		e.Namesakes = offsetmap.NotKnown[[]JobSummary](err)
	} else {
		e.Job, e.Namesakes = job.pick(jobs)
	}
	if listed, ok := e.Job.Get(); ok {
		c.details(ctx, &e, listed)
		c.again(ctx, &e, job, listed)
	} else if e.Job.IsAbsent() {
		e.Vertices = offsetmap.Absent[[]Vertex]()
		e.Checkpoints = offsetmap.Absent[Checkpoints]()
		e.CheckpointConfig = offsetmap.Absent[CheckpointConfig]()
		e.RestartStrategy = offsetmap.Absent[string]()
	} else {
		err := e.Job.Err()
		e.Vertices = offsetmap.NotKnown[[]Vertex](err)
		e.Checkpoints = offsetmap.NotKnown[Checkpoints](err)
		e.CheckpointConfig = offsetmap.NotKnown[CheckpointConfig](err)
		e.RestartStrategy = offsetmap.NotKnown[string](err)
	}
	e.At = c.clock.Now()
	return e, nil
}

// pick finds the job in the list, and the others of its name. A name that
// several have names none: which of them the savepoint is of, only a person
// knows.
func (job Job) pick(jobs []JobSummary) (offsetmap.Fact[JobSummary], offsetmap.Fact[[]JobSummary]) {
	name := job.Name
	var found []JobSummary
	for _, j := range jobs {
		if job.ID == j.ID || job.ID == "" && j.Name == name {
			found = append(found, j)
		}
	}
	if name == "" && len(found) == 1 {
		name = found[0].Name
	}
	if name == "" {
		// Without the job its name is not known either.
		return offsetmap.Absent[JobSummary](), offsetmap.NotKnown[[]JobSummary](fmt.Errorf("%w: %s; its name is not given", ErrJobNotFound, job.ID))
	}
	others := []JobSummary{}
	for _, j := range jobs {
		if found := len(found) == 1 && j.ID == found[0].ID; found != (j.Name == name) {
			others = append(others, j)
		}
	}
	namesakes := offsetmap.Known(others)
	switch {
	case len(found) == 0:
		return offsetmap.Absent[JobSummary](), namesakes
	case len(found) > 1:
		return offsetmap.NotKnown[JobSummary](&AmbiguousError{Name: name, Jobs: found}), namesakes
	case found[0].Name != name:
		return offsetmap.NotKnown[JobSummary](fmt.Errorf("%w: job %s has the name %q, not %q", ErrContradiction, found[0].ID, found[0].Name, name)), namesakes
	default:
		return offsetmap.Known(found[0]), namesakes
	}
}

// details fills in what is asked for by the id of the job.
func (c *Client) details(ctx context.Context, e *Evidence, listed JobSummary) {
	d, err := c.settled(ctx, e, listed)
	if err != nil {
		e.Vertices = offsetmap.NotKnown[[]Vertex](err)
		e.Checkpoints = offsetmap.NotKnown[Checkpoints](err)
	} else {
		e.Vertices = offsetmap.Known(d.Vertices)
		e.Checkpoints = fact(deref(c.Checkpoints(ctx, listed.ID)))
	}
	e.CheckpointConfig = fact(deref(c.CheckpointConfig(ctx, listed.ID)))
	if e.RestartStrategy, err = c.restartStrategy(ctx, listed.ID); err != nil {
		e.RestartStrategy = offsetmap.NotKnown[string](err)
	}
}

// settled returns details that are no older than the end of the job. When it
// returns, what the server keeps of the time before the end has expired too.
func (c *Client) settled(ctx context.Context, e *Evidence, listed JobSummary) (*JobDetails, error) {
	d, err := c.Job(ctx, listed.ID)
	if err != nil || !listed.State.Ended() {
		return d, err
	}
	server, ok := e.Server.Get()
	switch {
	case !ok:
		return nil, fmt.Errorf("how old the answer about job %s may be: %w", listed.ID, e.Server.Err())
	case server.Kind == HistoryServer:
		// An archive is made once, at the end.
	case server.Refresh > maxRefresh:
		return nil, fmt.Errorf("the answer about job %s may be %s old, which is longer than is waited for (%s)", listed.ID, server.Refresh, maxRefresh)
	default:
		if end, ok := d.End.Get(); !ok || d.now.Sub(end) <= server.Refresh {
			// Begun after the list said that it had ended, so that what was kept
			// before that is gone afterwards, whatever the server's clock.
			if err := c.clock.Sleep(ctx, server.Refresh+100*time.Millisecond); err != nil {
				return nil, fmt.Errorf("waiting for the server's answers about job %s to be renewed: %w", listed.ID, err)
			}
			if d, err = c.Job(ctx, listed.ID); err != nil {
				return nil, err
			}
		}
	}
	if d.State != listed.State {
		return nil, fmt.Errorf("%w: job %s is %s in the list of jobs and %s in its details", ErrContradiction, listed.ID, listed.State, d.State)
	}
	return d, nil
}

// again reads the list once more after everything else: a job that was started
// or ended meanwhile must not be missed.
func (c *Client) again(ctx context.Context, e *Evidence, job Job, listed JobSummary) {
	jobs, err := c.Jobs(ctx)
	if err != nil {
		e.Job = offsetmap.NotKnown[JobSummary](err)
		e.Namesakes = offsetmap.NotKnown[[]JobSummary](err)
		return
	}
	// By the id that was found: a second job of the name is now a namesake.
	e.Job, e.Namesakes = Job{ID: listed.ID, Name: job.Name}.pick(jobs)
	if now, ok := e.Job.Get(); !ok || now.State.Ended() != listed.State.Ended() {
		err := fmt.Errorf("%w: job %s was %s at first and is no longer: ask again", ErrContradiction, listed.ID, listed.State)
		e.Vertices = offsetmap.NotKnown[[]Vertex](err)
		e.Checkpoints = offsetmap.NotKnown[Checkpoints](err)
	}
}

// Server returns what answers at the base URL.
func (c *Client) Server(ctx context.Context) (Server, error) {
	var out struct {
		Version  string `json:"flink-version"`
		Refresh  *int64 `json:"refresh-interval"`
		Features *struct {
			History *bool `json:"web-history"`
		} `json:"features"`
	}
	var s Server
	err := c.get(ctx, "/config", &out, func() error {
		switch {
		case out.Version == "" || out.Refresh == nil:
			return errors.New(`it has no "flink-version" and "refresh-interval"`)
		case *out.Refresh < 0 || *out.Refresh > int64(24*time.Hour/time.Millisecond):
			return fmt.Errorf("a refresh interval of %d ms", *out.Refresh)
		}
		s.FlinkVersion, s.Refresh = plainText(out.Version), time.Duration(*out.Refresh)*time.Millisecond
		return nil
	})
	switch {
	case err != nil:
		return Server{}, exported(err)
	case out.Features != nil && out.Features.History != nil && *out.Features.History:
		s.Kind = HistoryServer
	case out.Features != nil && out.Features.History != nil:
		s.Kind = JobManager
	default:
		s.Kind, err = c.olderKind(ctx)
	}
	return s, err
}

// olderKind tells a JobManager that does not say what it is by the task managers
// that it lists: no history server does.
func (c *Client) olderKind(ctx context.Context) (ServerKind, error) {
	var out struct {
		TaskManagers *[]struct{} `json:"taskmanagers"`
	}
	err := c.get(ctx, "/taskmanagers", &out, func() error {
		if out.TaskManagers == nil {
			return errors.New(`it has no "taskmanagers"`)
		}
		return nil
	})
	if e, ok := errors.AsType[*Error](err); ok && e.StatusCode == http.StatusNotFound {
		return UnknownServer, nil
	}
	if err != nil {
		return UnknownServer, err
	}
	return JobManager, nil
}

func deref[T any](v *T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return *v, nil
}

func fact[T any](v T, err error) offsetmap.Fact[T] {
	if err != nil {
		return offsetmap.NotKnown[T](err)
	}
	return offsetmap.Known(v)
}
