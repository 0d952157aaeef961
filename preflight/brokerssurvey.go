package preflight

import (
	"context"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
)

// surveyBrokers reads what the checks of brokerSurveyChecks judge.
func (p Probe) surveyBrokers(ctx context.Context, f Facts, s *Surroundings) {
	s.SourceConfigs = topicSettings(ctx, p.Source, f.Source, f.Topics)
	s.TargetConfigs = topicSettings(ctx, p.Target, f.Target, f.targetTopics())
	s.SourceBrokers, s.sourceUntold = brokerSettings(ctx, p.Source, f.Source)
	s.TargetBrokers, s.targetUntold = brokerSettings(ctx, p.Target, f.Target)
	s.SourceACLs, s.TargetACLs = readACLs(ctx, p.Source, f.Source), readACLs(ctx, p.Target, f.Target)
	s.Principals = p.Principals

	from, _ := s.SourceConfigs.Get()
	to, _ := s.TargetConfigs.Get()
	config := f.config()
	wanted := moments{}
	var remote []string
	for topic, settings := range from {
		retentionMoments(f.At, topic, settings, wanted)
		compactionMoments(f.At, topic, settings, wanted)
		growthMoments(f.At, topic, settings, wanted)
		if name, err := TargetTopic(config, topic); err == nil {
			limitMoments(f.At, topic, to[name], wanted)
		}
		if settings.tiered() {
			remote = append(remote, topic)
		}
	}
	s.ages = readAges(ctx, p.Source, wanted)
	s.sizes = logSizes(ctx, p.Source, from, f)
	s.growthSince, _ = before(f.At, growthOver.Milliseconds())
	p.countDown(ctx, f, s, from)
	s.localStarts, s.noLocalStart = measured(fresh.List(ctx, p.Source, "local log start", p.Source.ListLocalLogStartOffsets, remote...))
	s.SourceOwners = describeOwners(ctx, p.Source, f.Open, f.At)
	s.TargetOwners = describeOwners(ctx, p.Target, f.TargetOpen, f.At)
	s.Movement = p.move(ctx, f)
}

// brokerSurveyChecks are about what brokers and topics are set to, how old records are,
// and what moves.
func brokerSurveyChecks() []Check {
	return slices.Concat(replicaChecks(), retentionChecks(), rollbackChecks(), compactionChecks(), targetConfigChecks(), targetTimeChecks(), hangingChecks(), movementChecks(), rightsChecks())
}
