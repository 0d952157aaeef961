package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Next returns the next act towards the goal, or a refusal that lists every
// reason there is.
func Next(goal Goal, plan *offsetmap.Plan, seen Observed) Decision {
	d := &decider{plan: plan, seen: seen}
	switch goal {
	case Apply, Verify:
		return d.apply(goal)
	case Start:
		return d.start()
	case Rollback:
		return d.rollback()
	case Restore:
		return d.restore()
	case Widen:
		return d.widen()
	case Continue:
		return d.goOn()
	case CommitBoundary, RewriteSavepoint, HandBack:
		return d.handBack()
	case OldSavepoint:
		return d.oldSavepoint()
	default:
		d.find(Blocked, "engine/goal", "", "no such goal: %q", goal)
		return d.refusal()
	}
}

// decider gathers the reasons against an act. Facts are looked at all together,
// so that a person sees every reason in one go.
type decider struct {
	plan     *offsetmap.Plan
	seen     Observed
	findings []reasoned
}

type reasoned struct {
	offsetmap.Finding
	reason Reason
}

func (d *decider) find(r Reason, check, scope, format string, args ...any) {
	d.add(r, offsetmap.Finding{
		Check: check, Severity: offsetmap.Block, Scope: scope, Detail: fmt.Sprintf(format, args...),
		Acceptable: offsetmap.Never, Unmade: r == Unknown,
	})
}

func (d *decider) add(r Reason, f offsetmap.Finding) {
	d.findings = append(d.findings, reasoned{f, r})
}

func (d *decider) refused() bool { return len(d.findings) > 0 }

// refusal sorts the findings and takes the gravest reason: a world that has
// moved stays moved, however much of it is unknown.
func (d *decider) refusal() Decision {
	rank := []Reason{"", Unknown, Blocked, Moved}
	r := &Refusal{}
	for _, f := range d.findings {
		r.Findings = append(r.Findings, f.Finding)
		if slices.Index(rank, f.reason) > slices.Index(rank, r.Reason) {
			r.Reason = f.reason
		}
	}
	slices.SortStableFunc(r.Findings, offsetmap.Finding.Compare)
	return Decision{Refusal: r}
}

// onceStill is the act that comes where nothing refuses, once no task is left and
// nothing moves.
func (d *decider) onceStill(tasks int, act Act) Decision {
	switch {
	case d.refused():
		return d.refusal()
	case tasks > 0:
		return Decision{Act: AwaitTasks}
	case !d.seen.Settled:
		return Decision{Act: Settle}
	default:
		return Decision{Act: act}
	}
}

// known returns the fact's value, or records that it is missing.
func known[T any](d *decider, f offsetmap.Fact[T], check, what string) (T, bool) {
	v, ok := f.Get()
	switch {
	case ok:
	case f.IsAbsent():
		d.find(Moved, check, "", "there is no %s", what)
	default:
		d.find(Unknown, check, "", "%s could not be found out: %v", what, f.Err())
	}
	return v, ok
}

// alone demands that no other plan is at work on the connector. With that, and
// with an act only begun where nothing was written to the journal since it was
// decided, two plans that share a journal exclude each other.
func (d *decider) alone(h History) {
	d.restored(h)
	if h.Other != "" {
		d.find(Moved, "journal/other-plan", "", "plan %s was started on the connector since this one was made", h.Other)
	}
	if h.Writing != "" {
		d.find(Moved, "journal/other-plan", "", "a write of plan %s was begun and its end is not known, so it may still arrive: apply that plan again, roll it back, or make a new one", h.Writing)
	}
	if h.HandedBack != "" {
		d.find(Moved, "journal/handed-back", "", "plan %s was handed back to Flink since this one, or its savepoint, was made, so Flink may run: two would write, and C may be old", h.HandedBack)
	}
}

func (d *decider) expiry() {
	if err := d.plan.CheckExpiry(d.seen.Now); err != nil {
		d.find(Moved, "plan/expired", "", "%v", err)
	}
}

// clusters holds the three cluster ids to the plan's.
func (d *decider) clusters() {
	b := d.plan.Body
	for _, c := range []struct {
		check, what, want string
		fact              offsetmap.Fact[string]
	}{
		{"source/cluster", "the id of the source cluster", b.Source.ID, d.seen.SourceID},
		{"target/cluster", "the id of the target cluster", b.Target.ID, d.seen.TargetID},
		{"worker/producer-cluster", "the id of the cluster that the data producer reaches", b.Worker.ProducerClusterID, d.seen.ProducerID},
	} {
		if id, ok := known(d, c.fact, c.check, c.what); ok && id != c.want {
			d.find(Moved, c.check, "", "%s is %s, the plan has %s", c.what, id, c.want)
		}
	}
}

// versions holds worker and plugin to the plan's: what a config selects, and
// where a partition without an offset starts, differ by version.
func (d *decider) versions() {
	v, ok := known(d, d.seen.Worker, "worker/version", "the versions of worker and plugin")
	want := Versions{Worker: d.plan.Body.Worker.Version, Plugin: d.plan.Body.Worker.PluginVersion}
	if ok && v != want {
		d.find(Moved, "worker/version", "", "the worker is %s with MirrorSourceConnector %s, the plan was made on %s with %s", v.Worker, v.Plugin, want.Worker, want.Plugin)
	}
}

func (d *decider) config() {
	if digest, ok := known(d, d.seen.Config, "connector/config", "config of connector "+d.plan.Body.Connector.Name); ok && digest != d.plan.Body.Connector.Config {
		d.find(Moved, "connector/config", "", "the connector's config has the digest %s, the plan was made over %s", digest, d.plan.Body.Connector.Config)
	}
	for _, f := range d.seen.OtherConfig {
		d.add(Moved, f)
	}
}

// stopped holds the connector to STOPPED and returns how many tasks are left.
func (d *decider) stopped() (tasks int) {
	c, ok := known(d, d.seen.Connector, "connector/state", "connector "+d.plan.Body.Connector.Name)
	if ok && c.State != "STOPPED" {
		d.find(Moved, "connector/state", "", "connector %s is %s, it must be STOPPED (PAUSED is not STOPPED)", d.plan.Body.Connector.Name, c.State)
	}
	return c.Tasks
}

// partitions measures the plan against the source as it is now: the same set of
// partitions, of the same topics, each still readable at C.
func (d *decider) partitions() {
	now, ok := known(d, d.seen.Measured, "source/range-unknown", "measurement of the source")
	if !ok {
		return
	}
	rest := maps.Clone(now)
	for _, r := range d.plan.Body.Rows {
		m, there := rest[r.TopicPartition]
		if !there {
			d.find(Moved, "source/partition-missing", r.String(), "the partition is gone since the plan was made: the topic was deleted or created again")
			continue
		}
		delete(rest, r.TopicPartition)
		for _, f := range r.Recheck(m) {
			reason := Moved
			if f.Unmade {
				reason = Unknown
			}
			d.add(reason, f)
		}
	}
	for tp := range rest {
		d.find(Moved, "source/partition-added", tp.String(), "the plan does not have the partition: it was added since, or the topic was created again")
	}
}

// ends holds the target's ends to those that want gives. Ends that moved mean
// that somebody else writes to the target, Flink perhaps, or that the connector
// has run.
func (d *decider) ends(check, since string, want func(offsetmap.Row) offsetmap.NextOffset) {
	now, ok := d.seen.Measured.Get()
	if !ok {
		return // partitions has said so
	}
	for _, r := range d.plan.Body.Rows {
		m, there := now[r.TopicPartition]
		w := want(r)
		switch {
		case !there || m.TargetEnd == w:
		case m.TargetEnd.IsNone():
			d.find(Unknown, check, r.String(), "the end of target partition %s-%d could not be measured", r.TargetTopic, r.Partition)
		default:
			d.find(Moved, check, r.String(), "target partition %s-%d ends at %s, %s it ended at %s: somebody writes to it, or the connector has run", r.TargetTopic, r.Partition, m.TargetEnd, since, w)
		}
	}
}

// stored returns the read-back held against the plan, with a finding for every
// entry that the plan cannot explain.
func (d *decider) stored() (offsetmap.Diff, bool) {
	s, ok := known(d, d.seen.Stored, "offsets/unknown", "Connect offsets of connector "+d.plan.Body.Connector.Name)
	if !ok {
		return offsetmap.Diff{}, false
	}
	for _, f := range s.Foreign {
		d.find(Moved, "offsets/foreign", "", "Connect holds an entry that is none of source alias %q: %s", d.plan.Body.Connector.SourceAlias, f)
	}
	diff := d.plan.Diff(s.Offsets)
	for _, r := range diff.Only(offsetmap.Moved) {
		d.find(Moved, "offsets/changed", r.TopicPartition.String(), "%s; somebody else wrote, or the connector ran", r)
	}
	for _, r := range diff.Only(offsetmap.Unplanned) {
		d.find(Moved, "offsets/unplanned", r.TopicPartition.String(), "%s", r)
	}
	for _, r := range diff.Only(offsetmap.Rewound) {
		d.find(Moved, "offsets/earlier-rewound", r.TopicPartition.String(), "%s", r)
	}
	return diff, true
}

// everRan reports whether the connector may have run before the plan, so that a
// straggling task of it could still commit an old offset.
func (d *decider) everRan() bool {
	active, known := d.seen.Active.Get()
	return !known || len(active) > 0 || len(d.plan.Body.Connector.ActiveTopics) > 0 ||
		slices.ContainsFunc(d.plan.Body.Rows, func(r offsetmap.Row) bool { return !r.Backup.IsNone() })
}
