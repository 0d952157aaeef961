package engine

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// widen decides for Widen: the connector has the config that is wanted, is STOPPED, and
// its offsets stand where the plan's wave had come to. A connector that runs, is paused
// or starts would copy a topic from its first record as soon as its config selects it.
//
// The stop is sent even when it shows STOPPED: a resume that was sent before may still
// be on its way, and would meet the new config.
func (d *decider) widen() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	if journal {
		d.wave(h, "widen/not-started", "the plan was never started, so there is no wave that another one could come to: make one plan of all topics")
	}
	d.clusters()
	has, configured := known(d, d.seen.Config, "connector/config", "config of connector "+d.plan.Body.Connector.Name)
	c, there := known(d, d.seen.Connector, "connector/state", "connector "+d.plan.Body.Connector.Name)
	if d.refused() || !configured || !there {
		return d.refusal()
	}
	if has == d.seen.Wanted {
		switch {
		case has == d.plan.Body.Connector.Config:
		case c.State != "STOPPED":
			d.find(Moved, "connector/topics-widened", "", "the connector has the config already and is %s: what it selects beside the topics of the plan may be copied from its first record now; stop the connector at once", c.State)
			return d.refusal()
		case c.Tasks > 0:
			return Decision{Act: AwaitTasks}
		}
		return Decision{Act: Done}
	}
	d.holdsItsWaves()
	switch {
	case d.refused():
		return d.refusal()
	case !h.StoppedNow || c.State != "STOPPED":
		return Decision{Act: Stop}
	case c.Tasks > 0:
		return Decision{Act: AwaitTasks}
	}
	if _, ok := known(d, d.seen.Measured, "source/range-unknown", "measurement of source and target"); !ok {
		return d.refusal() // without it nothing settles
	}
	if !d.seen.Settled {
		return Decision{Act: Settle}
	}
	return Decision{Act: PutConfig}
}

// wave holds that the plan is of a wave that was started and is not gone back by, and
// that no other plan is at work on the connector. One that was overtaken began elsewhere
// than at C, and what it leaves out is copied by no later run.
func (d *decider) wave(h History, check, notStarted string) {
	if h.Overtaken {
		d.add(Moved, OvertakenAt("", "a look behind the resume has found it"))
	}
	d.rolledBack(h)
	d.alone(h)
	if h.StartEnds == nil || !h.Resumed {
		d.find(Blocked, check, "", "%s", notStarted)
	}
}

// holdsItsWaves holds what Connect has to the plan's wave and those before it: nothing was
// set back, and there is nothing else but what was given up.
func (d *decider) holdsItsWaves() {
	stored, ok := d.entries()
	if !ok {
		return
	}
	var later offsetmap.Plan
	for _, e := range d.plan.Body.Earlier {
		later.Body.Earlier = append(later.Body.Earlier, e.CameTo(stored))
	}
	later.Body.Earlier = append(later.Body.Earlier, d.plan.AsEarlier(stored))
	diff := later.Diff(stored)
	for _, r := range diff.Only(offsetmap.Rewound) {
		d.find(Moved, "offsets/earlier-rewound", r.TopicPartition.String(), "%s", r)
	}
	for _, r := range diff.Only(offsetmap.Unplanned) {
		if !slices.Contains(d.seen.GivenUp, r.Topic) {
			d.find(Moved, "offsets/unplanned", r.TopicPartition.String(), "%s", r)
		}
	}
}
