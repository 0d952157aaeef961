package report

import (
	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// history returns what a journal tells of a plan: the acts, those included that led
// to it before it had a digest, how far it has come, and by whose word it was started.
func history(plan *offsetmap.Plan, journal []flinkmm2.Entry) ([]Act, Stage, *Approval) {
	acts := []Act{}
	course := course{stage: Planned, open: map[string]bool{}}
	var approval *Approval
	planned := false
	for _, e := range journal {
		this := e.Plan == plan.Digest
		if e.Connector != plan.Body.Connector.Name || !this && (e.Plan != "" || planned) {
			continue
		}
		acts = append(acts, Act{
			At: offsetmap.At(e.At), Act: e.Act, Phase: e.Phase, By: clean(e.By), Approved: clean(e.Approved), Detail: clean(e.Detail), ThisPlan: this,
		})
		if !this {
			continue
		}
		planned = true
		if e.Act == "start" && approval == nil { // once per plan: a second start reuses the first record
			approval = &Approval{By: clean(e.Approved), At: offsetmap.At(e.At)}
		}
		course.see(e)
	}
	return acts, course.now(), approval
}

// course follows the acts of one plan: those of Entry.Act.
type course struct {
	stage Stage
	open  map[string]bool // acts that have begun, and whose outcome is not told
}

func (c *course) see(e flinkmm2.Entry) {
	if e.Act == "rollback" { // once it has begun, the plan can only go back
		c.stage = GoingBack
		if e.Phase == flinkmm2.PhaseDone { // it has read everything back
			c.stage, c.open = WentBack, map[string]bool{}
		}
		return
	}
	switch e.Phase {
	case flinkmm2.PhaseBegin, flinkmm2.PhaseUnknown:
		c.open[e.Act] = true
		return
	case flinkmm2.PhaseFailed: // the stage is what it was
		delete(c.open, e.Act)
		return
	case flinkmm2.PhaseDone:
		delete(c.open, e.Act)
	}
	switch e.Act {
	case "apply":
		c.stage = Applied
	case "resume":
		c.stage = Started
		delete(c.open, "apply") // a start demands that Connect holds the plan
	case "stop", "restore", "delete": // parts of a rollback, whatever becomes of it
		c.stage = GoingBack
	case "hand-back", "commit-boundary", "rewrite-savepoint":
		c.stage = HandedBack
	}
}

func (c *course) now() Stage {
	if len(c.open) > 0 {
		return Unknown
	}
	return c.stage
}
