package engine

import "github.com/flinkmm2/flinkmm2/offsetmap"

// OtherWriters is the check that a plan accepts when others than Flink and
// MirrorMaker 2 write to the target topics, so that their ends may move.
const OtherWriters = "target/ends-moved"

// start decides for Start. Everything must equal the plan at this moment: that,
// and not any lock, is what lets at most one plan start.
func (d *decider) start() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	if journal && d.rolledBack(h) {
		return d.refusal()
	}
	if h.Overtaken {
		d.add(Moved, OvertakenAt("", "a look behind the resume has found it"))
		return d.refusal()
	}
	if c, ok := d.seen.Connector.Get(); ok && journal && h.Other == "" && h.Resumed && h.StartEnds != nil {
		switch {
		case c.State == "RUNNING":
			return Decision{Act: Done}
		case c.State == "STOPPED" && !d.seen.StoodStill:
			return Decision{Act: AwaitResume}
		}
	}
	if journal {
		d.alone(h)
	}
	d.expiry()
	d.clusters()
	d.versions()
	d.config()
	tasks := d.stopped()
	d.partitions()
	diff, read := d.stored()
	if read {
		for _, r := range diff.Only(offsetmap.AsBackup) {
			d.find(Moved, "offsets/not-applied", r.TopicPartition.String(), "%s; the plan is not applied", r)
		}
	}
	switch {
	case !journal:
	case h.StartEnds != nil:
		d.ends(OtherWriters, "when the start was recorded", func(r offsetmap.Row) offsetmap.NextOffset { return h.StartEnds[r.TopicPartition] })
	default:
		d.ends(OtherWriters, "when the plan was made", func(r offsetmap.Row) offsetmap.NextOffset { return r.TargetEnd })
		if !h.Planned {
			d.inactive()
		}
	}
	d.dropAccepted()
	d.hold(d.seen.Open)
	d.hold(d.seen.Flink)
	d.group()
	switch {
	case d.refused() || !read:
		return d.refusal()
	case tasks > 0:
		return Decision{Act: AwaitTasks}
	case d.everRan() && !d.seen.Settled:
		return Decision{Act: Settle}
	case h.StartEnds == nil:
		return Decision{Act: RecordStart}
	default:
		return Decision{Act: Resume}
	}
}

// dropAccepted lets target ends move where the plan's acceptances say so, and
// nothing else.
func (d *decider) dropAccepted() {
	kept := d.findings[:0]
	for _, f := range d.findings {
		if f.Check != OtherWriters || f.Unmade || !MayMove(d.plan, f.Scope) {
			kept = append(kept, f)
		}
	}
	d.findings = kept
}

// hold demands what the plan has demanded: no finding but those that it accepts.
// For the transactions that are open on the target, where its ends may move,
// nothing else shows one that was opened since; and nothing but Flink shows a job
// that was started since and has not copied yet.
func (d *decider) hold(findings []offsetmap.Finding) {
	for _, f := range findings {
		switch {
		case accepts(d.plan, f):
		case f.Unmade:
			d.add(Unknown, f)
		default:
			d.add(Moved, f)
		}
	}
}

// group demands that the old job's group stands where it stood when the plan was
// made: who commits to it reads. An offset that is gone has expired.
func (d *decider) group() {
	if d.plan.Body.Group == nil || d.seen.Group.IsAbsent() {
		return
	}
	id := d.plan.Body.Group.ID
	now, ok := d.seen.Group.Get()
	if !ok {
		d.find(Unknown, "source/group-unknown", id, "the offsets of group %s could not be read: %v", id, d.seen.Group.Err())
		return
	}
	for _, r := range d.plan.Body.Rows {
		if c := now[r.TopicPartition]; !c.IsNone() && c != r.Group {
			d.find(Moved, "source/group-moved", r.String(), "group %s has committed %s, and when the plan was made %s: somebody reads on, perhaps the old job", id, c, r.Group)
		}
	}
}

// MayMove reports whether the plan accepts that others write to the target of
// the partition with the given scope, so that its end may move.
func MayMove(plan *offsetmap.Plan, scope string) bool {
	return accepts(plan, offsetmap.Finding{Check: OtherWriters, Severity: offsetmap.Block, Scope: scope, Acceptable: offsetmap.ByScope})
}

// accepts reports whether the plan's acceptances let the finding through.
func accepts(plan *offsetmap.Plan, f offsetmap.Finding) bool {
	return covered(plan.Body.Acceptances, f)
}

func covered(acceptances []offsetmap.Acceptance, f offsetmap.Finding) bool {
	var accepted []offsetmap.Acceptance
	for _, a := range acceptances {
		if a.Check == f.Check {
			accepted = append(accepted, a)
		}
	}
	return len(accepted) > 0 && offsetmap.Blocked(offsetmap.Accept([]offsetmap.Finding{f}, accepted)) == nil
}
