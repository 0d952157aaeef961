package engine

// handBack decides for CommitBoundary, RewriteSavepoint and HandBack: whether what the
// rollback found may be given to Flink. It changes nothing, and above all stops nothing: a
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
	d.flinkRuns()
	d.clusters()
	tasks := d.stopped()
	known(d, d.seen.Stored, "offsets/unknown", "Connect offsets of connector "+d.plan.Body.Connector.Name)
	known(d, d.seen.Measured, "source/range-unknown", "measurement of source and target")
	return d.onceStill(tasks, Reverse)
}

// oldSavepoint decides whether Flink may restore the savepoint of the plan: whatever
// was copied since comes again, so neither C' nor what moves matters, as long as
// nothing but Flink will write.
func (d *decider) oldSavepoint() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	switch {
	case !journal:
	case h.Other != "":
		d.find(Moved, "journal/other-plan", "", "plan %s was started on the connector since; its rollback knows where Flink goes on", h.Other)
	case !h.RolledBack || h.Resumed && !h.Stopped:
		d.find(Blocked, "rollback/not-done", "", "the journal has no rollback of the plan since it was last started, so it may be started again beside Flink")
	}
	d.flinkRuns()
	tasks := 0
	if !d.seen.Connector.IsAbsent() || !h.Deleted { // without one there is no config that leads to a producer
		d.clusters()
		tasks = d.stopped()
	}
	known(d, d.seen.Measured, "source/range-unknown", "measurement of source and target")
	switch {
	case d.refused():
		return d.refusal()
	case tasks > 0:
		return Decision{Act: AwaitTasks}
	default:
		return Decision{Act: Done}
	}
}

// flinkRuns takes what Flink says of a job that runs.
func (d *decider) flinkRuns() {
	for _, f := range d.seen.Flink {
		if !accepts(d.plan, f) {
			d.add(Blocked, f)
		}
	}
}
