package engine

// handBack decides for CommitBoundary and RewriteSavepoint: whether what the rollback
// found may be given to Flink. It changes nothing, and above all stops nothing: a
// connector that runs has left the boundary behind, and needs another rollback.
func (d *decider) handBack() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	switch {
	case !journal || d.restored(h):
	case h.Other != "":
		d.find(Moved, "journal/other-plan", "", "plan %s was started on the connector since; its rollback knows where Flink goes on", h.Other)
	case !h.RollbackDone:
		d.find(Blocked, "rollback/not-done", "", "the journal has no finished rollback of the plan since it was last started, so where Flink goes on is not known")
	case !h.Stopped:
		d.find(Blocked, "rollback/nothing-started", "", "the plan was rolled back before its start: nothing was copied, so there is no C' that Flink could go on at")
	}
	for _, f := range d.seen.Flink {
		if !accepts(d.plan, f) {
			d.add(Blocked, f)
		}
	}
	d.clusters()
	tasks := d.stopped()
	known(d, d.seen.Stored, "offsets/unknown", "Connect offsets of connector "+d.plan.Body.Connector.Name)
	known(d, d.seen.Measured, "source/range-unknown", "measurement of source and target")
	switch {
	case d.refused():
		return d.refusal()
	case tasks > 0:
		return Decision{Act: AwaitTasks}
	case !d.seen.Settled:
		return Decision{Act: Settle}
	default:
		return Decision{Act: Reverse}
	}
}
