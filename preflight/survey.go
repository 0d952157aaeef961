package preflight

import (
	"context"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Surroundings is what stands around a migration: what brokers, workers and other
// connectors are set to, and what moves while nothing should. It is read once, before
// a plan; nothing of it is measured again at each look of a later step.
type Surroundings struct {
	// SourceConfigs holds the effective settings of each source topic of the
	// migration, TargetConfigs those of each topic that it would be written to, under
	// the target's names.
	SourceConfigs, TargetConfigs offsetmap.Fact[map[string]Settings]
	// SourceBrokers and TargetBrokers hold the effective settings of each broker, by
	// node id.
	SourceBrokers, TargetBrokers offsetmap.Fact[map[int32]Settings]
	// SinkTransactions are those of the old job on the target. Absent: its state names
	// no transactional id.
	SinkTransactions offsetmap.Fact[SinkTransactions]
	// KnownKeys are what the worker's plugin MirrorSourceConnector defines. Absent
	// without such a connector.
	KnownKeys offsetmap.Fact[[]connectrest.ConfigKey]
}

// Survey reads everything that [Probe.Observe] does, and the surroundings, which takes
// longer. It never fails as a whole.
func (p Probe) Survey(ctx context.Context) Facts {
	f := p.Observe(ctx)
	var s Surroundings
	s.SourceConfigs = topicSettings(ctx, p.Source, f.Source, f.Topics)
	s.TargetConfigs = topicSettings(ctx, p.Target, f.Target, f.targetTopics())
	s.SourceBrokers = brokerSettings(ctx, p.Source, f.Source)
	s.TargetBrokers = brokerSettings(ctx, p.Target, f.Target)
	p.lintSurvey(ctx, f, &s)
	p.sinkSurvey(ctx, &s)
	f.Surroundings = &s
	return f
}

// targetTopics are the target's names of the migration's topics, as far as they exist.
func (f Facts) targetTopics() []string {
	names := map[string]bool{}
	for tp := range f.TargetTails {
		names[tp.Topic] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// around makes a check of the surroundings. Where they were not read it was not asked.
func around(judge func(*Case, *Surroundings, *Reporter)) func(*Case, *Reporter) {
	return func(c *Case, r *Reporter) {
		if c.Facts.Surroundings == nil {
			r.NotAsked()
			return
		}
		judge(c, c.Facts.Surroundings, r)
	}
}
