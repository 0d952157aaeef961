package preflight

import (
	"fmt"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// AgainstPlan returns what the checks of Flink's REST API find in the facts alone
// that speaks against a plan, unsorted: a job that was started again since it was
// made, above all. A server that has forgotten the job meanwhile is no finding
// where it knew that very job when the plan was made, is asked by the same name,
// and still shows that no job of the name runs. A plan that was made on what Flink
// said is held to it: that nobody, or another job, is asked about now is a finding.
func (f Facts) AgainstPlan(plan *offsetmap.Plan) []offsetmap.Finding {
	q := Question{Origin: offsetmap.FromGroup, Attestations: plan.Body.Attestations}
	if s := plan.Body.Savepoint; s != nil {
		q.Origin, q.Location, q.CheckpointID = offsetmap.FromSavepoint, s.Location, s.CheckpointID
	}
	c := &Case{Facts: f, Question: q, madeOn: madeOnOf(plan)}
	var out []offsetmap.Finding
	for _, check := range flinkJobChecks() {
		r := Reporter{check: check}
		check.Judge(c, &r)
		for _, f := range r.findings {
			if f.Severity == offsetmap.Block {
				out = append(out, f)
			}
		}
	}
	return out
}

// JobRuns reports whether a finding says that the old job runs.
func JobRuns(f offsetmap.Finding) bool {
	return (f.Check == checkJobRunning || f.Check == checkNamesakeRunning) && f.Severity == offsetmap.Block && !f.Unmade
}

// madeOn is what a plan that is gone on by was made on. The zero value is no plan.
type madeOn struct {
	at time.Time
	// job is the one that Flink told of, and said what the plan has of that; both
	// empty where Flink told of none.
	job  flinkrest.JobID
	said string
}

func madeOnOf(plan *offsetmap.Plan) madeOn {
	p := madeOn{at: plan.Body.CreatedAt.Time}
	for _, f := range plan.Body.Findings {
		if f.Check == checkJobEvidence {
			p.job, p.said = flinkrest.JobID(f.Scope), f.Detail
		}
	}
	return p
}

// isOf reports whether the id, where there are two, is that of the plan's job.
func (p madeOn) isOf(id flinkrest.JobID) bool {
	return p.job == "" || id == "" || strings.EqualFold(string(id), string(p.job))
}

// isCalled reports whether the name, where there is one, is that of the plan's job.
// A plan has it in what Flink said, and nowhere else.
func (p madeOn) isCalled(name string) bool {
	return name == "" || strings.Contains(p.said, saysOf(p.job, name))
}

// saysOf begins what Flink says of a job. It ends behind the quoted name, so that
// no name passes for one that it begins with.
func saysOf(id flinkrest.JobID, name string) string {
	return fmt.Sprintf("says of %s: ", described(flinkrest.JobSummary{ID: id, Name: name}))
}
