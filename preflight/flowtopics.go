package preflight

import (
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// FlowTopics names the topics that MirrorMaker 2 keeps for one flow beside its copies
// (DefaultReplicationPolicy.offsetSyncsTopic and checkpointsTopic, the same in
// IdentityReplicationPolicy). Which of the two of offset-syncs is written is
// offset-syncs.topic.location's matter.
type FlowTopics struct {
	SyncsOnSource string // offset-syncs on the source, named after the target's alias
	SyncsOnTarget string // offset-syncs on the target, named after the source's alias
	Checkpoints   string // of MirrorCheckpointConnector, on the target
}

const offsetSyncsPrefix = "mm2-offset-syncs"

// FlowTopicsOf returns the names that the flow of a MirrorSourceConnector's config has.
// A policy that is none of Kafka's own is an [ErrPolicy].
func FlowTopicsOf(config connectrest.Config) (FlowTopics, error) {
	p, err := policyOf(settings{config})
	if err != nil {
		return FlowTopics{}, err
	}
	syncs := func(alias string) string { return offsetSyncsPrefix + p.internal + alias + p.internal + "internal" }
	return FlowTopics{SyncsOnSource: syncs(p.alias), SyncsOnTarget: syncs(p.source), Checkpoints: p.source + p.internal + "checkpoints" + p.internal + "internal"}, nil
}

// IsFlowTopic reports whether a topic has a name that MirrorMaker 2 gives to offset-syncs
// or checkpoints of any flow, whatever its aliases and its separator.
func IsFlowTopic(name string) bool {
	return strings.HasSuffix(name, "internal") && (strings.HasPrefix(name, offsetSyncsPrefix) || strings.Contains(name, "checkpoints"))
}

// Companion returns the class of a connector that MirrorMaker 2 has beside the one that
// copies, MirrorCheckpointConnector or MirrorHeartbeatConnector, and false of any other.
func Companion(config connectrest.Config) (class string, is bool) {
	class = simpleClass(config["connector.class"])
	return class, class == checkpointConnector || class == heartbeatConnector
}
