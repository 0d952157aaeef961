package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Question is what the facts are held against.
type Question struct {
	// Origin says where the positions come from: offsetmap.FromSavepoint or
	// FromGroup.
	Origin offsetmap.Origin
	// Positions say where the old job stood.
	Positions []offsetmap.Position
	// Warnings are those of the snapshot that the positions come from.
	Warnings []flinkstate.Warning
	// Kind is the snapshot's: what Flink was asked for when it wrote it. Empty is
	// flinkstate.KindUnknown, so that what was not given does not pass for sound:
	// an attested stop cannot be held against it, and flink/stop-contradicted
	// blocks, unless MetadataVersion is one that does not store the kind.
	Kind flinkstate.SnapshotKind
	// KindReason says why Kind is unknown.
	KindReason string
	// MetadataVersion is the snapshot's. Zero is not known.
	MetadataVersion int
	// Location and CheckpointID are the snapshot's: which state it is, as Flink names
	// it too.
	Location     string
	CheckpointID int64
	// Operators are those of the snapshot, every one. Where positions come from a
	// state and these are not given, flink/state-beyond-copying blocks.
	Operators []flinkstate.Operator
	// Sinks are those of the snapshot. Where the sink is attested to be exactly-once,
	// flink/sink-transactions warns when there is none.
	Sinks []flinkstate.Sink
	// Config is what the connector is to have, its name included. Nil means that
	// nobody says so, and the connector's own is taken as it is.
	Config connectrest.Config
	// Attestations are what a person states of the old job. Its isolation level
	// comes from them.
	Attestations offsetmap.Attestations
	// Acceptances let findings through.
	Acceptances []offsetmap.Acceptance
	// OtherActs are those of somebody else on the connector, since the last of whoever
	// asks.
	OtherActs []OtherAct
	// Earlier are the plans of the same connector whose partitions Connect holds
	// too.
	Earlier []offsetmap.EarlierPlan
}

func (q Question) isolation() offsetmap.Isolation {
	if q.Attestations.Isolation == nil {
		return ""
	}
	return q.Attestations.Isolation.Value
}

// Report is the judgement on a migration.
type Report struct {
	// Rows decide every partition. They are nil when anything blocks.
	Rows []offsetmap.Row
	// Findings are sorted, those that block first.
	Findings []offsetmap.Finding
	// Results holds each check that was made, or would have been, sorted by id.
	Results []Result
	// LatestStart is until when MirrorMaker 2 can be started without losing what the source
	// deletes by age or size. It is unknown where no topic's could be found out, and after
	// Observe alone, and absent where nothing is deleted.
	LatestStart offsetmap.Fact[Deadline]
	// LatestRollback is until when the old job can be restored where it stood, likewise.
	LatestRollback offsetmap.Fact[Deadline]
	// Group is the consumer group that was read and found, if only to have
	// committed nothing; nil when none was.
	Group *offsetmap.Group
	// Topics has the migration's topics, and what each is called on the target; empty
	// where that is not known. See [Names].
	Topics map[string]string
	// Forecast is how many records will be on the target twice. It is nil when nobody
	// looked at the boundary.
	Forecast *Forecast
}

// Err returns an *offsetmap.BlockedError over every finding that blocks, with the
// catalogue's remedies, or nil.
func (r Report) Err() error { return Blocked(r.Findings) }

// Judge holds the facts against the question: the rules of package offsetmap,
// every check of this package, and the user's own. It makes no calls, and the
// same input gives the same report.
func Judge(f Facts, q Question, own ...Check) Report {
	c := &Case{Facts: f, Question: q}
	c.policy = c.namingPolicy()
	c.defined = fact(c.definedKeys())
	c.selection = c.selector()
	c.stored = c.mirrorOffsets()
	c.measured = c.measure()
	c.beside = c.diff()

	var findings []offsetmap.Finding
	var results []Result
	if _, ok := f.Source.Get(); ok {
		c.Rows, findings = offsetmap.Resolve(offsetmap.Input{
			Origin: q.Origin, Positions: q.Positions, Measured: slices.Collect(maps.Values(c.measured)), Isolation: q.isolation(), Acceptances: q.Acceptances,
		})
		policy, _ := c.policy.Get()
		f.Explain(findings, policy.target)
	}
	findings = append(findings, q.Attestations.Check()...)
	c.answersSinkNone(findings)
	if q.Origin == offsetmap.FromGroup {
		findings = append(findings, q.Attestations.CheckGroupPlan()...)
	}
	for _, check := range slices.Concat(builtIn(), own) {
		if check.Judge == nil {
			continue
		}
		r := Reporter{check: check}
		check.Judge(c, &r)
		findings = append(findings, r.findings...)
		results = append(results, r.result())
	}
	findings = append(findings, misnamed(own)...)

	findings = offsetmap.Accept(append(findings, c.endsMayMove()...), q.Acceptances)
	report := Report{Rows: c.Rows, Forecast: c.forecast(), Topics: c.topicNames(), Findings: slices.DeleteFunc(findings, func(f offsetmap.Finding) bool { return f.Check == checkEndsMoved })}
	report.LatestStart, report.LatestRollback = c.latestStart(), c.latestRollback()
	report.Results = settle(append(results, c.ruleResults()...), report.Findings)
	if report.Err() != nil {
		report.Rows = nil
	}
	if f.GroupID != "" && f.Group.Err() == nil {
		report.Group = &offsetmap.Group{ID: f.GroupID}
	}
	return report
}

func (c *Case) topicNames() map[string]string {
	policy, named := c.policy.Get()
	out := map[string]string{}
	for _, topic := range c.Facts.Topics {
		out[topic] = ""
		if named {
			out[topic] = policy.target(topic)
		}
	}
	return out
}

// derive works a fact out of two others. It is absent when one of them is, and
// unknown when one of them is or when it cannot be worked out.
func derive[A, B, C any](fa offsetmap.Fact[A], fb offsetmap.Fact[B], work func(A, B) (C, error)) offsetmap.Fact[C] {
	a, okA := fa.Get()
	b, okB := fb.Get()
	switch {
	case okA && okB:
		return fact(work(a, b))
	case fa.IsAbsent() || fb.IsAbsent():
		return offsetmap.Absent[C]()
	default:
		return offsetmap.NotKnown[C](cmp.Or(fa.Err(), fb.Err()))
	}
}

// measure joins what was measured of each source partition of the migration.
// What could not be read is source/topic-missing's matter.
func (c *Case) measure() map[offsetmap.TopicPartition]offsetmap.Measured {
	_, targetKnown := c.Facts.Target.Get()
	stored, _ := c.stored.Get()
	group, _ := c.Facts.Group.Get()
	policy, named := c.policy.Get()
	target := policy.target
	if !named {
		target = func(topic string) string { return topic }
	}
	all, _ := c.Facts.Measured(target)
	for tp, m := range all {
		m.Group, m.Backup = group[tp], stored.Stored[tp]
		if !named || !targetKnown {
			// What is not known blocks once, as config/replication-policy or
			// target/unknown, which nothing accepts. With an end in its place the
			// rules still judge the source, and no row comes of it.
			m.TargetEnd = offset0
		}
		all[tp] = m
	}
	return all
}

// Explain adds to the findings about a partition's bounds why they were not
// measured, in place. The function target gives each source topic its name on the
// target.
func (f Facts) Explain(findings []offsetmap.Finding, target func(topic string) string) {
	for i, finding := range findings {
		tp, err := offsetmap.ParseTopicPartition(finding.Scope)
		if err != nil || !finding.Unmade {
			continue
		}
		var reason error
		switch finding.Check {
		case "source/range-unknown":
			reason = f.unmeasured.Reason(tp)
		case "target/end-unknown", checkEndsMoved:
			reason = f.unended.Reason(offsetmap.TopicPartition{Topic: target(tp.Topic), Partition: tp.Partition})
		}
		if reason != nil {
			findings[i].Detail = oneLine(fmt.Sprintf("%s: %v", finding.Detail, reason))
		}
	}
}

// misnamed reports checks of the user's own that have no id, nothing to judge
// by, or an id that another has: an acceptance would mean both.
func misnamed(own []Check) []offsetmap.Finding {
	taken := byID()
	var out []offsetmap.Finding
	bad := func(c Check, what string) {
		out = append(out, offsetmap.Finding{
			Check: checkInvalid, Severity: offsetmap.Block, Scope: c.ID, Acceptable: offsetmap.Never,
			Detail: fmt.Sprintf("the check %q %s", c.ID, what),
		})
	}
	for _, c := range own {
		switch {
		case c.ID == "":
			bad(c, "has no id")
		case c.Judge == nil:
			bad(c, "has no function Judge")
		case taken[c.ID].ID != "":
			bad(c, "has the id of another check")
		}
		taken[c.ID] = c
	}
	return out
}
