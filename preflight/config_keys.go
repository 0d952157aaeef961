package preflight

import (
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// keyConfigChecks are about keys that do nothing, which a worker takes without
// a word.
func keyConfigChecks() []Check {
	return []Check{{
		ID:         "config/unread-prefix",
		Title:      "Client settings stand under a prefix that is read",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "keys that begin with source.cluster., target.cluster., consumer.override., producer., source.producer. and target.producer.",
		Why:        "Of source.cluster.* and target.cluster.* only bootstrap.servers, security.protocol, ssl.* and sasl.* reach a client. A reset rule or an isolation level there has no effect.",
		Remedy:     `Use "source.consumer.*" for the consumer and "producer.override.*" for the data producer.`,
		Judge:      withConfig(unreadPrefix),
	}, {
		ID:         "config/key-without-effect",
		Title:      "No key is set that MirrorMaker 2 does not have",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "keys that are known from documents and forks, and that no version of MirrorSourceConnector has",
		Why:        "Unknown keys never fail: what they were meant to do is not done.",
		Remedy:     "Remove the key, or set the one that the finding names.",
		Judge: withConfig(func(_ *Case, s settings, r *Reporter) {
			for _, key := range s.sortedKeys() {
				if instead, known := keysWithoutEffect()[key]; known {
					r.Warn(key, "no version of MirrorSourceConnector reads %s; %s", key, instead)
				}
			}
		}),
	}}
}

func unreadPrefix(_ *Case, s settings, r *Reporter) {
	for _, key := range s.sortedKeys() {
		if why := unread(key); why != "" {
			r.Warn(key, "MirrorMaker 2 does not read %s: %s", key, why)
		}
	}
}

// unread says why no client that copies gets a key
// (MirrorConnectorConfig.sourceConsumerConfig, Worker.producerConfigs), or "".
func unread(key string) string {
	for _, side := range []string{"source", "target"} {
		name, is := strings.CutPrefix(key, side+".cluster.")
		if !is || slices.Contains([]string{"alias", "bootstrap.servers", "security.protocol"}, name) ||
			strings.HasPrefix(name, "ssl.") || strings.HasPrefix(name, "sasl.") {
			continue
		}
		if side == "source" {
			return "only addresses and security pass source.cluster.; the consumer's prefix is source.consumer."
		}
		return "only addresses and security pass target.cluster., for the admin client"
	}
	switch {
	case strings.HasPrefix(key, "consumer.override."):
		return "for this connector it is an unknown setting of the consumer; the prefix is source.consumer."
	case strings.HasPrefix(key, producerPrefix):
		return ""
	case strings.HasPrefix(key, "producer."), strings.HasPrefix(key, "source.producer."), strings.HasPrefix(key, "target.producer."):
		return "it reaches the producer of offset-syncs, never that of the data; the prefix is producer.override."
	}
	return ""
}

// keysWithoutEffect says, of keys that stand in documents and in forks, what
// to set instead.
func keysWithoutEffect() map[string]string {
	const (
		replicator = "it is a key of Confluent Replicator"
		checkpoint = "it is a key of MirrorCheckpointConnector"
		heartbeat  = "it is a key of MirrorHeartbeatConnector"
	)
	return map[string]string{
		"offset.consistency.enabled":     "it is known from forks only",
		"refresh.topics.interval.ms":     "the key is refresh.topics.interval.seconds",
		"sync.topic.configs.interval.ms": "the key is sync.topic.configs.interval.seconds",
		"sync.topic.acls.interval.ms":    "the key is sync.topic.acls.interval.seconds",
		"default.replication.factor":     "the key is replication.factor",
		"clusters":                       "the connect-mirror-maker driver does; here it is source.cluster.alias and target.cluster.alias",
		"exactly.once.source.support":    "it is a key of the worker; the connector's is exactly.once.support",
		"emit.checkpoints.enabled":       checkpoint,
		"emit.checkpoints.interval.ms":   checkpoint + ", emit.checkpoints.interval.seconds",
		"refresh.groups.interval.ms":     checkpoint + ", refresh.groups.interval.seconds",
		"sync.group.offsets.enabled":     checkpoint,
		"emit.heartbeats.enabled":        heartbeat,
		"emit.heartbeats.interval.ms":    heartbeat + ", emit.heartbeats.interval.seconds",
		"provenance.header.enable":       replicator,
		"topic.rename.format":            replicator,
	}
}
