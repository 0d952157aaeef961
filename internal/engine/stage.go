package engine

import (
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Stage is how far a plan has come, as it is seen.
type Stage string

// The stages of a plan.
const (
	StageNoConnector Stage = "no-connector" // the worker has none of its name
	StagePlanned     Stage = "planned"      // nothing of what it writes stands
	StageApplying    Stage = "applying"     // some of it stands, or may yet
	StageApplied     Stage = "applied"      // all of it stands
	StageStarted     Stage = "started"      // a start was begun, and the connector was not seen running
	StageRunning     Stage = "running"      // started, and neither stopped nor rolled back
	StageProven      Stage = "proven"       // the same, and what was to be copied is proven to be there
	StageOvertaken   Stage = "overtaken"    // started, and somebody wrote offsets before that
	StageStopped     Stage = "stopped"      // it ran by the plan, and is STOPPED
	StageHalted      Stage = "halted"       // it ran by the plan, and stands still for another wave
	StageRollingBack Stage = "rolling-back" // a rollback was begun, and has not come to its end
	StageRolledBack  Stage = "rolled-back"
	StageHandedBack  Stage = "handed-back" // Flink was given what it goes on from, or may have been
	StageSpent       Stage = "spent"       // what was done since forbids to go on with it
	StageAstray      Stage = "astray"      // what is seen is none of the plan's doing
	StageUnknown     Stage = "unknown"
)

// Standing is where a plan stands.
type Standing struct {
	Stage Stage
	Why   []string // what is seen that says so
	// Next is the goal that leads on; empty where none does.
	Next Goal
	// Against has what Next would be refused for now, sorted.
	Against []offsetmap.Finding
}

// StageOf says where a plan stands, from what is seen: the journal is one
// observation among the others, and wins over none. It never refuses.
func StageOf(plan *offsetmap.Plan, seen Observed) Standing {
	s := standing(plan, seen)
	if s.Next != "" {
		if r := Next(s.Next, plan, seen).Refusal; r != nil {
			s.Against = r.Findings
		}
	}
	return s
}

func standing(plan *offsetmap.Plan, seen Observed) Standing {
	h, journal := seen.History.Get()
	c, there := seen.Connector.Get()
	switch {
	case !journal:
		return unclear("the journal could not be read: %v", seen.History.Err())
	case !there && !seen.Connector.IsAbsent():
		return unclear("the state of the connector could not be found out: %v", seen.Connector.Err())
	case h.Other != "":
		return at(StageSpent, "", "plan %s was started on the connector since", h.Other)
	case !there && h.Deleted && h.RolledBack && h.GaveBack:
		return at(StageHandedBack, "", gaveBack)
	case !there && h.Deleted && h.RolledBack:
		return at(StageRolledBack, "", "the connector that was made for it is gone, as it was before")
	case !there:
		return at(StageNoConnector, "", "the worker has no connector %s", plan.Body.Connector.Name)
	case h.RolledBack:
		return backwards(c, h)
	case h.Restored:
		return at(StageSpent, "", "a backup of the connector's offsets was restored since, or may have been in part")
	case h.Overtaken:
		return at(StageOvertaken, Rollback, "the connector is %s, and somebody had written its offsets before it was resumed", c.State)
	case h.Resumed:
		return resumed(plan, seen, c, h)
	case c.State != stopped:
		return at(StageAstray, Rollback, "the connector is %s, and the journal has no resume of the plan", c.State)
	}
	d := &decider{plan: plan, seen: seen}
	d.alone(h)
	if d.refused() {
		s := Standing{Stage: StageSpent}
		for _, f := range d.findings {
			s.Why = append(s.Why, f.Detail)
		}
		return s
	}
	return forwards(plan, seen, h)
}

const (
	stopped  = "STOPPED"
	gaveBack = "Flink has, or may have, what it goes on from"
)

func at(stage Stage, next Goal, format string, args ...any) Standing {
	return Standing{Stage: stage, Why: []string{fmt.Sprintf(format, args...)}, Next: next}
}

func unclear(format string, args ...any) Standing { return at(StageUnknown, "", format, args...) }

// backwards is where a plan stands that was gone back by.
func backwards(c Connector, h History) Standing {
	switch {
	case c.State != stopped && h.GaveBack:
		return at(StageAstray, Rollback, gaveBack+", and the connector is %s: two may write", c.State)
	case c.State != stopped:
		return at(StageAstray, Rollback, "the plan was rolled back, and the connector is %s", c.State)
	case h.GaveBack:
		return at(StageHandedBack, "", gaveBack)
	case !h.RollbackDone:
		return at(StageRollingBack, Rollback, "a rollback was begun, and its end is not in the journal or was not reached")
	case h.Stopped:
		return at(StageRolledBack, "", "the connector ran, and is STOPPED; Flink has not been given the boundary")
	default:
		return at(StageRolledBack, "", "Connect's offsets are as they were before the plan")
	}
}

// resumed is where a plan stands whose resume was sent, or was about to be.
func resumed(plan *offsetmap.Plan, seen Observed, c Connector, h History) Standing {
	switch {
	case c.State == "RUNNING" && c.Tasks > 0 && h.Proven:
		return at(StageProven, "", "the connector is RUNNING, tasks: %d, and a proof since its resume has found everything on the target", c.Tasks)
	case c.State == "RUNNING" && c.Tasks > 0:
		return at(StageRunning, "", "the connector is RUNNING, tasks: %d", c.Tasks)
	case c.State != stopped:
		return at(StageRunning, "", "the connector is %s, tasks: %d: it may copy nothing", c.State, c.Tasks)
	case h.Stopped:
		return at(StageStopped, Rollback, "a stop was sent, and the connector is STOPPED")
	case h.Halted:
		return at(StageHalted, Continue, "the connector was stopped for another wave, and is STOPPED")
	}
	ran, err := ranSince(plan, seen, h)
	switch {
	case err != nil:
		return unclear("a resume was begun and the connector is STOPPED; whether it ran could not be found out: %v", err)
	case ran != "":
		return at(StageStopped, Rollback, "a resume was begun and the connector is STOPPED: %s", ran)
	default:
		return at(StageStarted, Start, "a resume was begun and the connector is STOPPED; nothing shows that it ran")
	}
}

// ranSince says by what it shows that the connector has run since the start was
// recorded.
func ranSince(plan *offsetmap.Plan, seen Observed, h History) (string, error) {
	stored, ok := seen.Stored.Get()
	if !ok {
		return "", fmt.Errorf("its offsets: %w", unknownOr(seen.Stored))
	}
	for _, r := range plan.Diff(stored.Offsets).Rows {
		if r.Standing != offsetmap.AsPlanned {
			return r.String(), nil
		}
	}
	return grownSince(plan, seen, func(r offsetmap.Row) offsetmap.NextOffset {
		if end, there := h.StartEnds[r.TopicPartition]; there {
			return end
		}
		return r.TargetEnd
	})
}

// grownSince names the first target partition that does not end where it did, and the
// topics that the connector has written since the plan.
func grownSince(plan *offsetmap.Plan, seen Observed, was func(offsetmap.Row) offsetmap.NextOffset) (string, error) {
	now, ok := seen.Measured.Get()
	if !ok {
		return "", fmt.Errorf("the ends of the target: %w", unknownOr(seen.Measured))
	}
	d := &decider{plan: plan, seen: seen}
	fresh, err := d.newlyActive()
	if err != nil {
		return "", fmt.Errorf("the topics that it has written: %w", err)
	}
	for _, r := range plan.Body.Rows {
		m, there := now[r.TopicPartition]
		switch {
		case !there || m.TargetEnd == was(r) || MayMove(plan, r.String()):
		case m.TargetEnd.IsNone():
			return "", fmt.Errorf("the end of target partition %s-%d could not be measured", r.TargetTopic, r.Partition)
		default:
			return fmt.Sprintf("target partition %s-%d ends at %s, and ended at %s", r.TargetTopic, r.Partition, m.TargetEnd, was(r)), nil
		}
	}
	if len(fresh) > 0 {
		return fmt.Sprintf("the connector has written to %v since the plan was made", fresh), nil
	}
	return "", nil
}

func unknownOr[T any](f offsetmap.Fact[T]) error {
	if f.IsAbsent() {
		return errors.New("there are none")
	}
	return f.Err()
}

// forwards is where a plan stands that nothing was started by.
func forwards(plan *offsetmap.Plan, seen Observed, h History) Standing {
	stored, ok := seen.Stored.Get()
	if !ok {
		return unclear("the connector's offsets could not be found out: %v", unknownOr(seen.Stored))
	}
	if len(stored.Foreign) > 0 {
		return at(StageAstray, "", "Connect holds an entry that is none of source alias %q: %s", plan.Body.Connector.SourceAlias, stored.Foreign[0])
	}
	grown, err := grownSince(plan, seen, func(r offsetmap.Row) offsetmap.NextOffset {
		if end, there := h.StartEnds[r.TopicPartition]; there {
			return end
		}
		return r.TargetEnd
	})
	if grown != "" {
		return at(StageAstray, Rollback, "%s, and the journal has no resume of the plan", grown)
	}
	written, left := 0, 0
	for _, r := range plan.Diff(stored.Offsets).Rows {
		switch {
		case r.Standing == offsetmap.AsBackup:
			left++
		case r.Standing != offsetmap.AsPlanned:
			return at(StageAstray, "", "%s", r)
		case r.Planned != r.Backup:
			written++
		}
	}
	of := fmt.Sprintf("of the offsets that the plan changes %d of %d are written", written, written+left)
	switch {
	case err != nil:
		return unclear("%s; whether the target has grown could not be found out: %v", of, err)
	case h.StartEnds != nil:
		return at(StageStarted, Start, "a start was recorded, and no resume begun; %s", of)
	case left == 0:
		return at(StageApplied, Start, "%s", of)
	case written > 0 || h.Written:
		return at(StageApplying, Apply, "%s", of)
	default:
		return at(StagePlanned, Apply, "%s", of)
	}
}
