package engine

import (
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// rollback decides for Rollback. Whether the connector ever ran under the plan
// decides the way. The offsets cannot tell: Connect commits only every flush
// interval, a connector with nothing to copy commits nothing, and anybody can
// write one. So the journal, the state, the target's ends and the active topics
// decide together, and what of these is unknown refuses.
func (d *decider) rollback() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	if !journal {
		return d.refusal()
	}
	if d.restored(h) {
		return d.refusal()
	}
	if h.Other != "" {
		d.find(Moved, "journal/other-plan", "", "plan %s was started on the connector since; roll that one back", h.Other)
	}
	d.clusters()
	if d.seen.Connector.IsAbsent() && h.Deleted {
		d.findings = nil // without a connector there is no config that leads to a producer
		return Decision{Act: Done}
	}
	c, ok := known(d, d.seen.Connector, "connector/state", "connector "+d.plan.Body.Connector.Name+", so its offsets can be neither read nor put back")
	if !ok || d.refused() {
		return d.refusal()
	}
	if h.Resumed || h.Stopped || c.State != "STOPPED" || d.moved() {
		return d.afterStart(c, h)
	}
	return d.beforeStart(c, h)
}

// moved reports whether the target or the active topics show that something was
// written since the plan was made. What it needs and does not know is a finding.
func (d *decider) moved() bool {
	now, ok := known(d, d.seen.Measured, "source/range-unknown", "measurement of source and target")
	if !ok {
		return false
	}
	moved := false
	for _, r := range d.plan.Body.Rows {
		m, there := now[r.TopicPartition]
		switch {
		case MayMove(d.plan, r.String()):
		case !there || m.TargetEnd.IsNone():
			d.find(Unknown, OtherWriters, r.String(), "the end of target partition %s-%d could not be measured", r.TargetTopic, r.Partition)
		case m.TargetEnd != r.TargetEnd:
			moved = true
		}
	}
	fresh, unknown := d.newlyActive()
	if unknown != nil {
		d.find(Unknown, "connector/active-topics", "", "the topics that the connector has written could not be found out: %v", unknown)
	}
	return moved || len(fresh) > 0
}

// beforeStart puts the offsets back as they were and deletes the connector if
// this migration created it.
func (d *decider) beforeStart(c Connector, h History) Decision {
	diff, read := d.stored()
	if d.refused() || !read {
		return d.refusal()
	}
	if c.Tasks > 0 {
		return Decision{Act: AwaitTasks}
	}
	var writes []Change
	back := []offsetmap.Standing{offsetmap.AsPlanned}
	if h.Written {
		// A worker's answer may be older than the write. What was written is put
		// back once, whatever shows: the offsets outlive the connector.
		back = append(back, offsetmap.AsBackup)
	}
	for _, r := range diff.Only(back...) {
		if r.Planned != r.Backup {
			writes = append(writes, Change{r.TopicPartition, r.Backup.Restore()})
		}
	}
	switch {
	case len(writes) > 0:
		return Decision{Act: Write, Writes: writes}
	case h.Created:
		return Decision{Act: Delete}
	default:
		return Decision{Act: Done}
	}
}

// afterStart stops the connector, waits for stragglers, and leads to C'. The
// stop is sent even when the connector shows STOPPED: a resume that the worker
// took may still be on its way (seen: 16 seconds with a source that hangs), and
// only a later stop overrules it.
func (d *decider) afterStart(c Connector, h History) Decision {
	d.findings = nil // what only the way before a start would have needed to know
	if !h.StoppedNow || c.State != "STOPPED" {
		return Decision{Act: Stop}
	}
	known(d, d.seen.Stored, "offsets/unknown", "Connect offsets of connector "+d.plan.Body.Connector.Name)
	known(d, d.seen.Measured, "source/range-unknown", "measurement of source and target")
	return d.onceStill(c.Tasks, Reverse)
}
