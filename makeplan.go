package flinkmm2

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// PlanRequest is what a plan is made from, beside what the clusters and the
// worker say.
type PlanRequest struct {
	// Origin says where the positions come from: offsetmap.FromSavepoint, also the
	// default, or offsetmap.FromGroup. A group alone shows neither where the job stood
	// nor what it has delivered, so it must be chosen, and is planned from only where the
	// checks see on the target what lies before each C (flink/group-only), the group
	// stands still over WithGroupWindow and nobody is its member.
	Origin offsetmap.Origin
	// Snapshot says where the old job stood. It must have been read with the
	// hashes of its files, as it is by default. FromGroup has none.
	Snapshot *flinkstate.Snapshot
	// Group names the old job's consumer group on the source, whose offsets are
	// held against the snapshot, or planned from. Empty means that no group is looked
	// at.
	Group string
	// Source chooses one of the snapshot's sources, by operator id, uid or name.
	// Empty is enough when there is one.
	Source string
	// Attestations are what a person states of the old job.
	Attestations offsetmap.Attestations
	// Acceptances let findings through, each by name.
	Acceptances []offsetmap.Acceptance
	// Earlier are the plans of earlier waves under the same connector, whose
	// partitions Connect holds too.
	Earlier []*offsetmap.Plan
	// Judged is given the report that a plan is made by, before the plan is sealed:
	// what each check has looked at is not in the plan. By default, nobody is.
	Judged func(preflight.Report)
	// Sample is given records around each C, with their keys and values, that were
	// looked for on the target: for a person to look at. Nothing of them is in the
	// report, the plan or the journal. By default, nobody is.
	Sample func(preflight.DeliverySample)
}

// Preflight runs every check and decides every partition, and writes nothing.
// Findings that block are in the report, not in the error. One check needs the
// journal: after a plan was handed back to Flink, or may have been, no savepoint serves that a plan was made from before.
func (m *Migration) Preflight(ctx context.Context, req PlanRequest) (preflight.Report, error) {
	_, _, report, err := m.preflight(ctx, req)
	return report, err
}

// MakePlan decides every partition, runs every check, and seals the outcome.
// What blocks is an *offsetmap.BlockedError that lists every finding, and then
// there is no plan. The connector must exist, STOPPED: its stored offsets are
// the plan's backup.
//
// The plan stands in the journal before MakePlan returns it. Nothing is written
// to Connect or Kafka.
func (m *Migration) MakePlan(ctx context.Context, req PlanRequest) (*offsetmap.Plan, error) {
	from, facts, report, err := m.preflight(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if err := report.Err(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if req.Judged != nil {
		req.Judged(report)
	}
	body, err := m.body(req, from, facts, report)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	plan, err := offsetmap.Seal(body)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if err := m.journal(ctx, Entry{Act: actPlan, Phase: PhaseDone, Plan: plan.Digest, Savepoint: savepointID(plan.Body.Savepoint), Detail: fmt.Sprintf("%d partitions", len(plan.Body.Rows))}); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return plan, nil
}

func (m *Migration) preflight(ctx context.Context, req PlanRequest) (stood, preflight.Facts, preflight.Report, error) {
	var none preflight.Report
	if req.Group != "" {
		if err := CheckGroup(req.Group); err != nil {
			return stood{}, preflight.Facts{}, none, err
		}
	}
	for _, p := range req.Earlier {
		if err := m.usable(p); err != nil {
			return stood{}, preflight.Facts{}, none, fmt.Errorf("an earlier plan: %w", err)
		}
	}
	from, err := m.stood(ctx, req)
	if err != nil {
		return from, preflight.Facts{}, none, err
	}
	topics := m.cfg.Topics
	if len(topics) == 0 {
		for _, p := range from.question.Positions {
			topics = append(topics, p.Topic)
		}
	}
	probe := m.probe(topics)
	probe.Group, probe.GroupLook = req.Group, m.looksAtGroup(req, from)
	probe.Sleep = m.awaitsSecondLook
	probe.Flink, probe.FlinkJob = m.flink, m.flinkJob
	probe.Sinks = from.question.Sinks
	probe.Config = m.given
	probe.Spans = []time.Duration{m.planLifetime()}
	if a := req.Attestations.RollbackWindow; a != nil {
		if window, err := time.ParseDuration(a.Value); err == nil { // attest/rollback-window says so otherwise
			probe.Spans = append(probe.Spans, window)
		}
	}
	probe.Delivery, probe.Positions, probe.Sample = m.delivery, from.question.Positions, req.Sample
	if a := req.Attestations.Isolation; a != nil {
		probe.Isolation = a.Value
	}
	acts := m.othersActs(ctx)
	facts := probe.Survey(ctx)
	if err := m.sameClusters(ctx, facts); err != nil {
		return from, facts, none, err
	}
	if err := ctx.Err(); err != nil {
		return from, facts, none, err
	}
	question := from.question
	question.Config, question.Attestations, question.Acceptances, question.Earlier = m.given, req.Attestations, req.Acceptances, earlier(req.Earlier, facts)
	question.OtherActs = acts(ctx)
	report := preflight.Judge(facts, question, m.checks...)
	more := append(m.notHandedBack(ctx, from.savepoint), m.shortLife(facts.At, report)...)
	return from, facts, withFindings(report, more), nil
}

func (m *Migration) planLifetime() time.Duration {
	return cmp.Or(m.lifetime, offsetmap.DefaultLifetime)
}

// expiry is until when a plan lives that is made now: no longer than what it copies is
// surely there. Where less than an hour is left source/retention blocks, and whoever
// accepts that has the hour.
func (m *Migration) expiry(now time.Time, report preflight.Report) time.Time {
	end := now.Add(m.planLifetime())
	if d, ends := report.LatestStart.Get(); ends && d.At.Before(end) {
		least := now.Add(min(preflight.StartMargin, m.planLifetime()))
		end = d.At.Time
		if end.Before(least) {
			end = least
		}
	}
	return end
}

// shortLife says what ends a plan before its lifetime does.
func (m *Migration) shortLife(now time.Time, report preflight.Report) []offsetmap.Finding {
	end := m.expiry(now, report)
	if !end.Before(now.Add(m.planLifetime())) {
		return nil
	}
	d, _ := report.LatestStart.Get()
	return []offsetmap.Finding{{
		Check: offsetmap.CheckPlanLifetime, Severity: offsetmap.Info, Scope: d.Scope, Acceptable: offsetmap.Never,
		Detail: fmt.Sprintf("the plan lives until %s, and not for %s: then %s", offsetmap.At(end), m.planLifetime(), d.Why),
	}}
}

// earlier are the plans of the waves before, with how far Connect says that they have
// come. Offsets that are not known block elsewhere.
func earlier(plans []*offsetmap.Plan, f preflight.Facts) []offsetmap.EarlierPlan {
	stored, _ := f.Stored.Get()
	var out []offsetmap.EarlierPlan
	for _, p := range plans {
		view, _ := connectrest.MirrorSourceOffsets(p.Body.Connector.SourceAlias, stored)
		out = append(out, p.AsEarlier(view.Stored))
	}
	return out
}

// body fills the plan with what was observed. A fact that is missing here has
// blocked in the report already, so it is an error and not a value.
func (m *Migration) body(req PlanRequest, at stood, f preflight.Facts, report preflight.Report) (offsetmap.Body, error) {
	from, known := f.Source.Get()
	to, known2 := f.Target.Get()
	worker, known3 := f.Worker.Get()
	connector, known4 := f.Connector.Get()
	reached, known5 := f.ProducerReached.Get()
	if !known || !known2 || !known3 || !known4 || !known5 {
		return offsetmap.Body{}, fmt.Errorf("%w: not all facts that a plan holds", ErrNotKnown)
	}
	digest, err := offsetmap.ConfigDigest(connector.Config)
	if err != nil {
		return offsetmap.Body{}, err
	}
	plugin, err := f.PluginVersion()
	if err != nil {
		return offsetmap.Body{}, err
	}
	var topics []string // null in the plan when the worker does not track them
	active, tracked := f.Active.Get()
	if tracked {
		topics = append([]string{}, slices.Sorted(slices.Values(active))...)
	}
	if !tracked && !f.Active.IsAbsent() {
		return offsetmap.Body{}, fmt.Errorf("%w: the topics that the connector has written: %w", ErrNotKnown, f.Active.Err())
	}
	return offsetmap.Body{
		Tool:      offsetmap.Tool{Name: m.toolName, Version: m.toolVersion},
		CreatedAt: offsetmap.At(f.At), ExpiresAt: offsetmap.At(m.expiry(f.At, report)),
		Source: offsetmap.Cluster{ID: from.ClusterID}, Target: offsetmap.Cluster{ID: to.ClusterID},
		Connector: offsetmap.Connector{Name: m.cfg.Connector, SourceAlias: connector.Config["source.cluster.alias"], Config: digest, ActiveTopics: topics},
		Worker: offsetmap.Worker{
			Version: worker.Version.String(), Commit: worker.Commit, ClusterID: worker.KafkaClusterID,
			PluginVersion: plugin, ProducerClusterID: reached,
		},
		Savepoint:    at.savepoint,
		Group:        report.Group,
		Isolation:    req.Attestations.Isolation.Value,
		Attestations: req.Attestations,
		Acceptances:  req.Acceptances,
		Findings:     report.Findings,
		Earlier:      earlier(req.Earlier, f),
		Rows:         report.Rows,
	}, nil
}
