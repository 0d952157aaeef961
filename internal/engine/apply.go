package engine

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// apply decides for Apply and Verify: check, write what is still the backup,
// leave what is already the plan's, refuse anything else.
func (d *decider) apply(goal Goal) Decision {
	if goal == Apply {
		d.expiry()
	}
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	switch {
	case !journal:
	case d.rolledBack(h):
	case h.StartEnds != nil || h.Resumed:
		d.find(Moved, "journal/started", "", "the plan was started; applying it again would turn the clock back")
	}
	if journal {
		d.alone(h)
	}
	d.clusters()
	d.versions()
	d.config()
	tasks := d.stopped()
	d.partitions()
	diff, read := d.stored()
	if journal && !h.Planned {
		// Without the plan's own journal nothing says that it was not started. A
		// connector that ran with C = end leaves no trace in the offsets.
		d.ends(OtherWriters, "when the plan was made", func(r offsetmap.Row) offsetmap.NextOffset { return r.TargetEnd })
		d.inactive()
		d.dropAccepted()
	}
	if d.refused() || !read {
		return d.refusal()
	}
	if tasks > 0 {
		return Decision{Act: AwaitTasks}
	}
	if diff.Equal() {
		return Decision{Act: Done}
	}
	if goal == Verify {
		for _, r := range diff.Only(offsetmap.AsBackup) {
			d.find(Moved, "offsets/not-applied", r.TopicPartition.String(), "%s; the plan is not applied", r)
		}
		return d.refusal()
	}
	if d.everRan() && !d.seen.Settled {
		return Decision{Act: Settle}
	}
	writes := make([]Change, 0, len(d.plan.Body.Rows))
	at := rowsByPartition(d.plan)
	for _, r := range diff.Only(offsetmap.AsBackup) {
		writes = append(writes, Change{r.TopicPartition, at[r.TopicPartition].Write})
	}
	return Decision{Act: Write, Writes: writes}
}

// inactive demands that the connector has written no topic since the plan was
// made, as far as the worker tracks that.
func (d *decider) inactive() {
	fresh, unknown := d.newlyActive()
	switch {
	case unknown != nil:
		d.find(Unknown, "connector/active-topics", "", "the topics that the connector has written could not be found out: %v", unknown)
	case len(fresh) > 0:
		d.find(Moved, "connector/active-topics", "", "the connector has written to %v since the plan was made, so it has run, and no journal of this plan says when", fresh)
	}
}

// newlyActive lists the topics that the connector has written now and had not
// when the plan was made. A worker that does not track them says nothing.
func (d *decider) newlyActive() (fresh []string, unknown error) {
	active, ok := d.seen.Active.Get()
	if !ok {
		if d.seen.Active.IsAbsent() {
			return nil, nil
		}
		return nil, d.seen.Active.Err()
	}
	for _, t := range active {
		if !slices.Contains(d.plan.Body.Connector.ActiveTopics, t) {
			fresh = append(fresh, t)
		}
	}
	return fresh, nil
}

func rowsByPartition(p *offsetmap.Plan) map[offsetmap.TopicPartition]offsetmap.Row {
	out := make(map[offsetmap.TopicPartition]offsetmap.Row, len(p.Body.Rows))
	for _, r := range p.Body.Rows {
		out[r.TopicPartition] = r
	}
	return out
}
