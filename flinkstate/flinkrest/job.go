package flinkrest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// JobID is 32 lower-case hex digits, as Flink prints it. The zero value is none.
type JobID string

// ParseJobID reads a job id. Flink takes upper-case digits as well. The error is
// an [ErrJobID].
func ParseJobID(s string) (JobID, error) {
	id := strings.ToLower(s)
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%w: %q: want 32 hex digits", ErrJobID, s)
	}
	return JobID(id), nil
}

// State is the state of a job (org.apache.flink.api.common.JobStatus). A newer
// Flink may have others, which are neither [State.Ended] nor [State.Alive].
type State string

// The states of a job.
const (
	Initializing State = "INITIALIZING"
	Created      State = "CREATED"
	Running      State = "RUNNING"
	Failing      State = "FAILING"
	Failed       State = "FAILED"
	Cancelling   State = "CANCELLING"
	Canceled     State = "CANCELED"
	Finished     State = "FINISHED"
	Restarting   State = "RESTARTING"
	Suspended    State = "SUSPENDED"
	Reconciling  State = "RECONCILING"
)

// Ended reports whether the job has come to its end and will not run again by
// itself: FINISHED, CANCELED or FAILED (JobStatus.isGloballyTerminalState). A
// SUSPENDED job has ended on one JobManager, and another may take it up.
func (s State) Ended() bool { return s == Finished || s == Canceled || s == Failed }

// Alive reports whether the job runs or is about to, or still ends.
func (s State) Alive() bool {
	switch s {
	case Initializing, Created, Running, Failing, Cancelling, Restarting, Reconciling:
		return true
	default:
		return false
	}
}

// JobSummary is one line of the list of jobs.
type JobSummary struct {
	ID    JobID
	Name  string
	State State
	// Start is when the job was submitted to this cluster, by the clock of the
	// JobManager, as all times are.
	Start time.Time
	// End is absent while the job has not come to an end.
	End offsetmap.Fact[time.Time]
}

// JobDetails is what the server says about one job.
type JobDetails struct {
	JobSummary
	// Vertices are the chains of operators, in the order of the answer.
	Vertices []Vertex
	// now is when the server made the answer.
	now time.Time
}

// Vertex is one chain of operators that run as one task.
type Vertex struct {
	ID string
	// Name joins the names of the operators with "->".
	Name        string
	Parallelism int
	// ReadRecords and WriteRecords count the records from and to other vertices:
	// a source that is chained to its sink has none of them before Flink 2, and
	// what Kafka was asked for is in neither. Unknown while a subtask has not
	// reported. The numbers of a restarted job begin anew.
	ReadRecords, WriteRecords offsetmap.Fact[int64]
}

// Jobs returns the jobs that the server knows, running and ended, by start time,
// the newest first. Of the history server these are the archived ones.
func (c *Client) Jobs(ctx context.Context) ([]JobSummary, error) {
	var out struct {
		Jobs *[]jobJSON `json:"jobs"`
	}
	var jobs []JobSummary
	err := c.get(ctx, "/jobs/overview", &out, func() error {
		if out.Jobs == nil {
			return errors.New(`it has no "jobs"`)
		}
		jobs = make([]JobSummary, 0, len(*out.Jobs))
		seen := map[JobID]bool{}
		for i, j := range *out.Jobs {
			s, err := j.summary()
			if err != nil {
				return fmt.Errorf("job %d: %w", i, err)
			}
			if seen[s.ID] {
				return fmt.Errorf("job %s is there twice", s.ID)
			}
			seen[s.ID] = true
			jobs = append(jobs, s)
		}
		return nil
	})
	if err != nil {
		return nil, exported(err)
	}
	slices.SortFunc(jobs, func(a, b JobSummary) int {
		return cmp.Or(b.Start.Compare(a.Start), strings.Compare(string(a.ID), string(b.ID)))
	})
	return jobs, nil
}

// Job returns the details of one job, which may be as old as the cache of the
// server: see the package comment. The error is an [ErrJobNotFound] when the
// server does not know the job.
func (c *Client) Job(ctx context.Context, id JobID) (*JobDetails, error) {
	var out struct {
		jobJSON
		Now      int64         `json:"now"`
		Vertices *[]vertexJSON `json:"vertices"`
	}
	d := new(JobDetails)
	err := c.getJob(ctx, id, "", &out, func() (err error) {
		if d.JobSummary, err = out.summary(); err != nil {
			return err
		}
		if d.ID != id {
			return fmt.Errorf("it is about job %s", d.ID)
		}
		if out.Vertices == nil {
			return errors.New(`it has no "vertices"`)
		}
		d.now = time.UnixMilli(out.Now).UTC()
		d.Vertices = make([]Vertex, 0, len(*out.Vertices))
		for i, v := range *out.Vertices {
			// It is what a person accepts an operator by, and stands in a line of its own.
			if v.ID == "" || strings.ContainsFunc(v.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
				return fmt.Errorf("vertex %d has the id %q", i, v.ID)
			}
			d.Vertices = append(d.Vertices, v.vertex())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// getJob reads what lies below the path of one job.
func (c *Client) getJob(ctx context.Context, id JobID, below string, out any, valid func() error) error {
	if _, err := ParseJobID(string(id)); err != nil {
		return err
	}
	err := c.get(ctx, "/jobs/"+string(id)+below, out, valid)
	if e, ok := errors.AsType[*Error](err); ok && errors.Is(e.meaning, errNoFile) {
		e.meaning = ErrJobNotFound
	}
	return err
}

// exported makes of a history server's 404 what it means where no job is asked
// for.
func exported(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && errors.Is(e.meaning, errNoFile) {
		e.meaning, e.Hint = ErrUnexpected, hintBase
	}
	return err
}

type jobJSON struct {
	ID    string `json:"jid"`
	Name  string `json:"name"`
	State string `json:"state"`
	Start int64  `json:"start-time"`
	End   int64  `json:"end-time"`
}

func (j jobJSON) summary() (JobSummary, error) {
	id, err := ParseJobID(j.ID)
	if err != nil {
		return JobSummary{}, fmt.Errorf(`"jid": %w`, err)
	}
	switch {
	case j.State == "":
		return JobSummary{}, fmt.Errorf("job %s has no state", id)
	case strings.Trim(j.State, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "": // a newer Flink's state is a word too
		return JobSummary{}, fmt.Errorf("job %s has the state %q", id, j.State)
	}
	s := JobSummary{ID: id, Name: j.Name, State: State(j.State), Start: time.UnixMilli(j.Start).UTC()}
	// -1 while there is none (AccessExecutionGraph.getStatusTimestamp gives 0 for
	// a state that was not reached).
	s.End = offsetmap.Absent[time.Time]()
	if j.End > 0 {
		s.End = offsetmap.Known(time.UnixMilli(j.End).UTC())
	}
	return s, nil
}

type vertexJSON struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Parallelism int    `json:"parallelism"`
	Metrics     struct {
		Read     *int64 `json:"read-records"`
		ReadAll  bool   `json:"read-records-complete"`
		Write    *int64 `json:"write-records"`
		WriteAll bool   `json:"write-records-complete"`
	} `json:"metrics"`
}

func (v vertexJSON) vertex() Vertex {
	count := func(n *int64, complete bool) offsetmap.Fact[int64] {
		switch {
		case n == nil:
			return offsetmap.NotKnown[int64](errors.New("the server does not count it"))
		case !complete:
			return offsetmap.NotKnown[int64](fmt.Errorf("a subtask has not reported its count (%d of the others)", *n))
		default:
			return offsetmap.Known(*n)
		}
	}
	return Vertex{
		ID: v.ID, Name: v.Name, Parallelism: v.Parallelism,
		ReadRecords: count(v.Metrics.Read, v.Metrics.ReadAll), WriteRecords: count(v.Metrics.Write, v.Metrics.WriteAll),
	}
}
