package engine

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// rollback decides for Rollback. Whether the connector ever ran decides the
// way; the offsets alone cannot tell, since Connect commits only every flush
// interval and a connector with nothing to copy commits nothing. So the
// journal, the target's ends and the active topics decide together.
func (d *decider) rollback() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	if !journal {
		return d.refusal()
	}
	if h.Resumed || d.looksRun(h) {
		return d.afterStart()
	}
	return d.beforeStart(h)
}

// looksRun reports whether the connector has run although the journal has no
// resume: somebody else resumed it, or the journal is another one.
func (d *decider) looksRun(h History) bool {
	if c, ok := d.seen.Connector.Get(); ok && c.State != "STOPPED" {
		return true
	}
	if active, ok := d.seen.Active.Get(); ok && len(active) > 0 && !d.ranBeforePlan() {
		return true
	}
	if s, ok := d.seen.Stored.Get(); ok {
		above := func(r offsetmap.DiffRow) bool { return r.Stored.Compare(r.Planned) > 0 }
		if slices.ContainsFunc(d.plan.Diff(s.Offsets).Only(offsetmap.Moved), above) {
			return true
		}
	}
	if h.Planned {
		return false
	}
	now, _ := d.seen.Measured.Get()
	return slices.ContainsFunc(d.plan.Body.Rows, func(r offsetmap.Row) bool {
		m, there := now[r.TopicPartition]
		return there && m.TargetEnd.Compare(r.TargetEnd) > 0
	})
}

func (d *decider) ranBeforePlan() bool {
	return slices.ContainsFunc(d.plan.Body.Rows, func(r offsetmap.Row) bool { return !r.Backup.IsNone() })
}

// beforeStart puts the offsets back as they were and deletes the connector if
// this migration created it.
func (d *decider) beforeStart(h History) Decision {
	if d.seen.Connector.IsAbsent() {
		if h.RolledBack {
			return Decision{Act: Done}
		}
		d.find(Moved, "connector/state", "", "connector %s is gone, and its offsets cannot be put back without it", d.plan.Body.Connector.Name)
		return d.refusal()
	}
	tasks := d.stopped()
	diff, read := d.stored()
	if d.refused() || !read {
		return d.refusal()
	}
	if tasks > 0 {
		return Decision{Act: AwaitTasks}
	}
	var writes []Change
	for _, r := range diff.Only(offsetmap.AsPlanned) {
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

// afterStart stops the connector, waits for stragglers, and leads to C'.
func (d *decider) afterStart() Decision {
	c, ok := known(d, d.seen.Connector, "connector/state", "connector "+d.plan.Body.Connector.Name)
	if !ok {
		return d.refusal()
	}
	switch {
	case c.State != "STOPPED":
		return Decision{Act: Stop}
	case c.Tasks > 0:
		return Decision{Act: AwaitTasks}
	case !d.seen.Settled:
		return Decision{Act: Settle}
	default:
		return Decision{Act: Reverse}
	}
}
