package flinkmm2

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

type (
	offsetsByPartition  = map[offsetmap.TopicPartition]offsetmap.SourceOffset
	endsByPartition     = map[offsetmap.TopicPartition]offsetmap.NextOffset
	measuredByPartition = map[offsetmap.TopicPartition]offsetmap.Measured
)

// probe looks at everything that a migration of the topics is about.
func (m *Migration) probe(topics []string) preflight.Probe {
	return preflight.Probe{
		Source: m.cfg.Source.Admin, Target: m.cfg.Target.Admin, Connect: m.cfg.Connect,
		Connector: m.cfg.Connector, Topics: topics,
		ResolveProducer: m.producer, ResolveSource: m.source, Now: m.now, Calm: m.calm, Principals: m.principals, ConnectTopics: m.connectTopics,
	}
}

// observer looks at the world for the engine. It remembers one thing only: for
// how long what it saw has stood still.
type observer struct {
	m    *Migration
	plan *offsetmap.Plan
	goal engine.Goal
	wave wave

	facts   preflight.Facts   // of the last look
	targets map[string]string // the name of each source topic on the target

	// Times are of the end of a look, and held against the beginning of a later one:
	// a look may take as long as what is waited for, and each fact is of some moment
	// in it.
	stopped time.Time // since when the connector is seen STOPPED; zero when it is not
	entries int       // of the journal, at the last look
	halted  bool      // a stop was sent on the way to this goal, and the worker took it
	since   time.Time
	stored  offsetsByPartition
	ends    endsByPartition
	moved   []string // what had moved at the last look that found anything moved
}

// look observes everything once, freshly. It never fails: what could not be
// found out is an unknown fact, with the reason.
func (o *observer) look(ctx context.Context) engine.Observed {
	// Read before everything else: what is written to it later makes the rest old.
	var history offsetmap.Fact[engine.History]
	history, o.entries = o.m.history(ctx, o.plan.Digest, o.halted, o.wave.digests()...)
	seen := o.m.see(ctx, o)
	seen.History = history
	seen.Wanted, seen.GivenUp, seen.Acceptances = o.wave.wanted, o.wave.topics(), o.wave.acceptances
	seen.Settled = o.settled(seen)
	seen.StoodStill = o.stoodStill(seen)
	return seen
}

// world is what clusters, worker and Flink show. Its History is not filled in.
func (o *observer) world(ctx context.Context) engine.Observed {
	targetOf := map[string]string{}
	o.targets = targetOf
	for _, r := range o.plan.Body.Rows {
		targetOf[r.Topic] = r.TargetTopic
	}
	asked := maps.Clone(targetOf)
	if o.goal == engine.Continue { // which has the earlier waves go on too
		for topic := range engine.WaveTopics(o.plan) {
			asked[topic] = targetOf[topic]
		}
	}
	probe := o.m.probe(slices.Sorted(maps.Keys(asked)))
	// Only a start is decided by it, and who goes back must not wait for a
	// transaction that holds its offsets.
	if g := o.plan.Body.Group; g != nil && o.goal == engine.Start {
		probe.Group, probe.GroupLook.Sleep = g.ID, o.m.sleep
	}
	if o.goal == engine.Start || o.goal.HandsBack() { // the way back must not wait for Flink
		probe.Flink, probe.FlinkJob = o.m.flink, o.m.flinkJob
	}
	facts := probe.Observe(ctx)
	o.facts = facts
	clusterID := func(c preflight.Cluster) (string, error) { return c.ClusterID, nil }
	return engine.Observed{
		Now:        facts.At,
		SourceID:   mapFact(facts.Source, clusterID),
		TargetID:   mapFact(facts.Target, clusterID),
		ProducerID: facts.ProducerReached,
		Worker: mapFact(facts.Worker, func(w connectrest.WorkerInfo) (engine.Versions, error) {
			plugin, err := facts.PluginVersion()
			return engine.Versions{Worker: w.Version.String(), Plugin: plugin}, err
		}),
		Connector: mapFact(facts.Status, func(s connectrest.Status) (engine.Connector, error) {
			return engine.Connector{State: string(s.Connector.State), Tasks: len(s.Tasks)}, nil
		}),
		Config: mapFact(facts.Connector, func(c connectrest.ConnectorInfo) (string, error) {
			return offsetmap.ConfigDigest(c.Config)
		}),
		Stored: mapFact(facts.Stored, func(all []connectrest.Offset) (engine.Stored, error) {
			return mirrorOffsets(o.plan.Body.Connector.SourceAlias, all)
		}),
		OtherConfig: o.m.otherConfig(facts),
		Active:      facts.Active,
		Open:        facts.OpenOnTarget(),
		Group:       facts.Group,
		Flink:       o.flink(),
		Measured: mapFact(facts.Source, func(preflight.Cluster) (measuredByPartition, error) {
			return facts.Measured(func(topic string) string { return targetOf[topic] })
		}),
	}
}

// flink is what Flink says against the goal. Where Flink is handed a boundary, its
// old job may be long forgotten: that it runs is all that counts.
func (o *observer) flink() []offsetmap.Finding {
	found := o.facts.AgainstPlan(o.plan)
	if o.goal.HandsBack() {
		found = slices.DeleteFunc(found, func(f offsetmap.Finding) bool { return !preflight.JobRuns(f) })
	}
	return found
}

// settled reports whether no task is left and neither the stored offsets nor
// the target's ends have moved for longer than the worker's flush timeout: a
// task that was abandoned may commit until then (WorkerSourceTask,
// offset.flush.timeout.ms).
func (o *observer) settled(seen engine.Observed) bool {
	c, ok := seen.Connector.Get()
	stored, read := seen.Stored.Get()
	measured, known := seen.Measured.Get()
	if !ok || !read || !known || c.State != string(connectrest.StateStopped) || c.Tasks > 0 {
		o.stored = nil
		return false
	}
	ends := fixedEnds(o.plan, measured)
	if o.stored == nil || !maps.Equal(o.stored, stored.Offsets) || !maps.Equal(o.ends, ends) {
		if o.stored != nil {
			o.moved = slices.Concat(differences("Connect's offset", o.stored, stored.Offsets), differences("the target's end", o.ends, ends))
		}
		o.since, o.stored, o.ends = o.m.now(), stored.Offsets, ends
		return false
	}
	return seen.Now.Sub(o.since) > o.m.flushTimeout
}

// fixedEnds are the target's ends, without those that others may move.
func fixedEnds(plan *offsetmap.Plan, measured measuredByPartition) endsByPartition {
	ends := make(endsByPartition, len(measured))
	for tp, m := range measured {
		if !engine.MayMove(plan, tp.String()) {
			ends[tp] = m.TargetEnd
		}
	}
	return ends
}

// differences says what moved from before to after.
func differences[V fmt.Stringer](what string, before, after map[offsetmap.TopicPartition]V) []string {
	all := maps.Clone(after)
	for tp, v := range before {
		if now, there := after[tp]; there && any(now) == any(v) {
			delete(all, tp)
		} else {
			all[tp] = now
		}
	}
	out := make([]string, 0, len(all))
	for _, tp := range slices.SortedFunc(maps.Keys(all), offsetmap.TopicPartition.Compare) {
		out = append(out, fmt.Sprintf("%s of %s went from %s to %s", what, tp, before[tp], all[tp]))
	}
	return out
}

// unsettled says that something still moves, and what.
func (o *observer) unsettled() []offsetmap.Finding {
	detail := "neither the connector's offsets nor the target's ends have stood still for longer than the flush timeout"
	if len(o.moved) > 0 {
		detail += "; at the last look " + strings.Join(o.moved, ", ")
	}
	return []offsetmap.Finding{{Check: "rollback/not-settled", Severity: offsetmap.Block, Detail: detail, Acceptable: offsetmap.Never}}
}

// stoodStill reports whether the connector has been STOPPED, at every look, for
// longer than a resume takes to show.
func (o *observer) stoodStill(seen engine.Observed) bool {
	if c, ok := seen.Connector.Get(); !ok || c.State != string(connectrest.StateStopped) {
		o.stopped = time.Time{}
		return false
	}
	if o.stopped.IsZero() {
		o.stopped = o.m.now()
	}
	return seen.Now.Sub(o.stopped) > o.m.startWait
}

// mirrorOffsets parts what Connect holds into the offsets of the alias and
// everything else.
func mirrorOffsets(alias string, all []connectrest.Offset) (engine.Stored, error) {
	view, err := connectrest.MirrorSourceOffsets(alias, all)
	if err != nil {
		return engine.Stored{}, err
	}
	s := engine.Stored{Offsets: view.Stored}
	for _, f := range view.Foreign {
		s.Foreign = append(s.Foreign, f.String())
	}
	return s, nil
}

func mapFact[A, B any](f offsetmap.Fact[A], to func(A) (B, error)) offsetmap.Fact[B] {
	v, ok := f.Get()
	switch {
	case f.IsAbsent():
		return offsetmap.Absent[B]()
	case !ok:
		return offsetmap.NotKnown[B](f.Err())
	}
	out, err := to(v)
	if err != nil {
		return offsetmap.NotKnown[B](err)
	}
	return offsetmap.Known(out)
}
