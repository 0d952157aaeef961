package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// StatusKind is the kind of a Status document.
const StatusKind = "Status"

// seenWithin bounds how long a Status looks: what was not seen by then is unknown.
const seenWithin = 2 * time.Minute

// Stage is how far a migration has come, as it is seen.
type Stage string

// The stages. Without a plan there are only the first two, and StageUnknown.
const (
	StageNoConnector = Stage(engine.StageNoConnector) // the worker has no connector of the name
	StageCreated     = Stage("created")               // it has one, and no plan is given
	StagePlanned     = Stage(engine.StagePlanned)     // nothing of what the plan writes stands
	StageApplying    = Stage(engine.StageApplying)    // some of it stands, or may yet
	StageApplied     = Stage(engine.StageApplied)     // all of it stands
	StageStarted     = Stage(engine.StageStarted)     // a start was begun, and nothing shows that the connector ran
	StageRunning     = Stage(engine.StageRunning)     // started, and neither stopped nor rolled back
	StageProven      = Stage(engine.StageProven)      // the same, and a proof since the resume has found everything
	StageOvertaken   = Stage(engine.StageOvertaken)   // started, and somebody had written offsets before that
	StageStopped     = Stage(engine.StageStopped)     // it ran by the plan, and is STOPPED
	StageHalted      = Stage(engine.StageHalted)      // it ran by the plan, and stands still for another wave
	StageRollingBack = Stage(engine.StageRollingBack) // a rollback was begun, and has not come to its end
	StageRolledBack  = Stage(engine.StageRolledBack)  // and Flink was given nothing yet
	StageHandedBack  = Stage(engine.StageHandedBack)  // Flink was given what it goes on from, or may have been
	StageSpent       = Stage(engine.StageSpent)       // what was done since forbids to go on with the plan
	StageAstray      = Stage(engine.StageAstray)      // what is seen is none of the plan's doing
	StageUnknown     = Stage(engine.StageUnknown)     // what decides could not be seen
)

// Status is where a migration stands.
type Status struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	At         offsetmap.Time `json:"at"`
	Connector  string         `json:"connector"`
	Plan       string         `json:"plan"` // its digest; empty where none was given
	Stage      Stage          `json:"stage"`
	Why        []string       `json:"why"` // what is seen that says so
	// Next is the step that leads on.
	Next NextStep `json:"next"`
	// Against has what Next would be refused for now, sorted.
	Against []offsetmap.Finding `json:"against"`
	// Unknown has what could not be seen, sorted. Stage, Against and the moments
	// below are without it.
	Unknown []offsetmap.Finding `json:"unknown"`
	// LatestStart is until when the plan can be started without losing what the source
	// deletes; null without a plan and once it was started or is spent.
	LatestStart *preflight.Latest `json:"latestStart"`
	// LatestRollback is until when each way back is open, the nearest first; those
	// without an end last.
	LatestRollback []WayBack `json:"latestRollback"`
	// Earlier are the digests of the earlier waves that the plan names. They run, and
	// stand still, with the connector.
	Earlier []string `json:"earlier"`
}

// NextStep is a step of a migration, as the program runbook calls it.
type NextStep struct {
	Command []string `json:"command"` // such as "apply"; empty where nothing leads on
	Why     string   `json:"why"`
}

// WayBack is one way on which Flink can go on, and until when.
type WayBack struct {
	// Way is "savepoint" or "committed offsets", where the plan stands on them;
	// "boundary", C' of this moment; "group NAME", to which C' was committed; or
	// "rollbackWindow", which is attested.
	Way string `json:"way"`
	preflight.Latest
}

// Status says where a migration stands, from what is seen at that moment of clusters,
// worker, Flink and journal, within two minutes, with the step that leads on. The plan may be nil, while
// there is none. It changes nothing and refuses nothing: what cannot be seen stands in
// Unknown. An error says that the plan is none, or of another connector, or that the
// context has ended.
func (m *Migration) Status(ctx context.Context, plan *offsetmap.Plan) (*Status, error) {
	s := &Status{
		APIVersion: offsetmap.APIVersion, Kind: StatusKind, At: offsetmap.At(m.now()), Connector: m.cfg.Connector,
		Why: []string{}, Next: NextStep{Command: []string{}}, Against: []offsetmap.Finding{}, Unknown: []offsetmap.Finding{}, LatestRollback: []WayBack{}, Earlier: []string{},
	}
	if plan == nil {
		look, cancel := context.WithTimeout(ctx, seenWithin)
		defer cancel()
		m.unplanned(look, s)
		return s, ctx.Err()
	}
	if err := errors.Join(plan.Check(), m.ofThisConnector(plan)); err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	look, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	o := &observer{m: m, plan: plan, goal: engine.Start} // for which everything is looked at
	seen := o.look(look)
	stands := engine.StageOf(plan, seen)
	s.Plan, s.Stage = plan.Digest, Stage(stands.Stage)
	s.Why, s.Against, s.Unknown = append(s.Why, stands.Why...), append(s.Against, stands.Against...), append(s.Unknown, unseen(plan, seen)...)
	s.Next = nextStep(plan, stands)
	for _, e := range plan.Body.Earlier {
		s.Earlier = append(s.Earlier, e.Digest)
	}
	m.until(look, s, plan, o.facts, seen)
	return s, ctx.Err()
}

// Err is nil where the migration stands in its line and can go on: an ErrNotKnown where
// what decides could not be seen, and an ErrMoved where the plan cannot go on as it is.
func (s *Status) Err() error {
	why := strings.Join(s.Why, "; ")
	unmade := !slices.ContainsFunc(s.Against, func(f offsetmap.Finding) bool { return !f.Unmade })
	switch {
	case s.Stage == StageUnknown:
		return fmt.Errorf("%w where the migration stands: %s", ErrNotKnown, why)
	case s.Stage == StageSpent || s.Stage == StageAstray || s.Stage == StageOvertaken:
		return fmt.Errorf("the world %w: %s", ErrMoved, why)
	case len(s.Against) > 0 && unmade:
		return fmt.Errorf("%w what the next step needs: %d facts", ErrNotKnown, len(s.Against))
	case len(s.Against) > 0:
		return fmt.Errorf("the world %w: the next step would be refused for %d findings", ErrMoved, len(s.Against))
	default:
		return nil
	}
}

// unplanned is where a migration stands that has no plan.
func (m *Migration) unplanned(ctx context.Context, s *Status) {
	_, err := m.cfg.Connect.Connector(ctx, m.cfg.Connector) // one that was just made has no status yet
	var status connectrest.Status
	if err == nil {
		status, err = m.cfg.Connect.Status(ctx, m.cfg.Connector)
	}
	switch {
	case errors.Is(err, connectrest.ErrNotFound):
		s.Stage, s.Why = StageNoConnector, []string{"the worker has no connector " + m.cfg.Connector}
		s.Next = NextStep{[]string{"create"}, "it makes the connector, STOPPED"}
	case err != nil:
		s.Stage, s.Why = StageUnknown, []string{fmt.Sprintf("the state of the connector could not be found out: %v", err)}
		s.Unknown = []offsetmap.Finding{unseenFact("connector/state", "connector "+m.cfg.Connector, err)}
		s.Next = again
	default:
		s.Stage, s.Why = StageCreated, []string{fmt.Sprintf("connector %s is %s, tasks: %d", m.cfg.Connector, status.Connector.State, len(status.Tasks))}
		s.Next = NextStep{[]string{"plan"}, "there is no plan yet"}
	}
	entries, err := m.cfg.Journal.Read(ctx)
	if err != nil {
		s.Unknown = append(s.Unknown, unreadable(err))
		slices.SortStableFunc(s.Unknown, offsetmap.Finding.Compare)
	}
	for _, e := range slices.Backward(entries) {
		if e.Plan != "" && e.Connector == m.cfg.Connector {
			s.Why = append(s.Why, fmt.Sprintf("the journal knows plan %s, last by its %s at %s: without that plan it is not seen how far it has come", e.Plan, e.Act, offsetmap.At(e.At)))
			break
		}
	}
}

// again is the step while it is not seen what stands there.
var again = NextStep{[]string{"status"}, "once that can be seen"}

// nextStep is the step that leads on from a stage.
func nextStep(plan *offsetmap.Plan, s engine.Standing) NextStep {
	refused := func(step, otherwise []string, why string) NextStep {
		switch {
		case len(s.Against) == 0:
			return NextStep{step, why}
		case !slices.ContainsFunc(s.Against, func(f offsetmap.Finding) bool { return !f.Unmade }):
			return NextStep{[]string{"status"}, fmt.Sprintf("%s would be refused, once what stands against it can be seen", step[0])}
		default:
			return NextStep{otherwise, fmt.Sprintf("%s would be refused: mend what stands against it, or make a new plan", step[0])}
		}
	}
	anew := []string{"plan", "--replace"}
	switch s.Stage {
	case engine.StageNoConnector:
		return NextStep{[]string{"create"}, "and then plan --replace: the plan is of a connector that is gone"}
	case engine.StagePlanned, engine.StageApplying:
		return refused([]string{"apply"}, anew, "it writes what is not written yet")
	case engine.StageApplied, engine.StageStarted:
		return refused([]string{"start", "--digest", plan.Digest}, anew, "a person's act; all is as the plan has it")
	case engine.StageRunning:
		return NextStep{[]string{"watch"}, "running proves nothing yet"}
	case engine.StageProven:
		return NextStep{[]string{"accept"}, "everything that was to be copied was found"}
	case engine.StageOvertaken:
		return NextStep{[]string{"rollback"}, "now: records before the connector's offset may be copied by nobody"}
	case engine.StageStopped:
		return NextStep{[]string{"rollback"}, "the plan was started, and does not start again"}
	case engine.StageHalted:
		return refused([]string{"continue", "--digest", plan.Digest}, anew, "a person's act, where the next wave is given up; else plan that one (docs/waves.md)")
	case engine.StageRollingBack:
		return refused([]string{"rollback"}, []string{"rollback"}, "it goes on where it was left")
	case engine.StageRolledBack:
		return NextStep{[]string{"rollback"}, "it says again how Flink goes on; with --commit-group, --rewrite-savepoint or --form it hands that out"}
	case engine.StageHandedBack:
		return NextStep{[]string{}, "Flink goes on; to come forward again, stop it with a savepoint and make a new plan"}
	case engine.StageSpent:
		return NextStep{anew, "the plan goes forward no more"}
	case engine.StageAstray:
		if s.Next == engine.Rollback {
			return refused([]string{"rollback"}, []string{"rollback"}, "it stops the connector and says how Flink goes on; first find out who resumed it, or writes to the target")
		}
		return NextStep{anew, "find out first who wrote"}
	default:
		return again
	}
}

// unseen lists what could not be found out, under the checks that would say so.
func unseen(plan *offsetmap.Plan, seen engine.Observed) []offsetmap.Finding {
	var out []offsetmap.Finding
	add := func(check, what string, err error) {
		if err != nil {
			out = append(out, unseenFact(check, what, err))
		}
	}
	add("source/cluster", "the id of the source cluster", seen.SourceID.Err())
	add("target/cluster", "the id of the target cluster", seen.TargetID.Err())
	add("worker/producer-cluster", "the id of the cluster that the data producer reaches", seen.ProducerID.Err())
	add("worker/version", "the versions of worker and plugin", seen.Worker.Err())
	add("connector/state", "the state of the connector", seen.Connector.Err())
	add("connector/config", "the config of the connector", seen.Config.Err())
	add("connector/active-topics", "the topics that the connector has written", seen.Active.Err())
	add("offsets/unknown", "the connector's offsets", seen.Stored.Err())
	add("source/range-unknown", "the bounds of the source, and the ends of the target", seen.Measured.Err())
	add("journal/unreadable", "the journal", seen.History.Err())
	if plan.Body.Group != nil {
		add("source/group-unknown", "the offsets of group "+plan.Body.Group.ID, seen.Group.Err())
	}
	for _, f := range slices.Concat(seen.Flink, seen.Open) {
		if f.Unmade {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, offsetmap.Finding.Compare)
	return out
}

func unseenFact(check, what string, err error) offsetmap.Finding {
	return offsetmap.Finding{
		Check: check, Severity: offsetmap.Warn, Acceptable: offsetmap.Never, Unmade: true,
		Detail: strings.TrimSpace(fmt.Sprintf("%s could not be found out: %v", what, err)),
	}
}
