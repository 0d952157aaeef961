package preflight

import (
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
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
		Looks:      "keys that are known from documents and forks, keys of the other connectors of MirrorMaker 2 and of its driver",
		Why:        "Unknown keys never fail: what they were meant to do is not done.",
		Remedy:     "Remove the key, or set the one that the finding names.",
		Judge:      withConfig(keysWithoutEffect),
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

func keysWithoutEffect(c *Case, s settings, r *Reporter) {
	d, ok := needs(r, "", c.defined)
	if !ok {
		return
	}
	for _, key := range s.sortedKeys() {
		if instead := withoutEffect(d, key); instead != "" {
			r.Warn(key, "no version of MirrorSourceConnector reads %s; %s", key, instead)
		}
	}
}

// withoutEffect says of a key that somebody else reads, or that only a document
// knows, what to set instead. It is empty for any other.
func withoutEffect(d definedKeys, key string) string {
	if instead, known := fromDocuments()[key]; known {
		return instead
	}
	if d.everHad(key) || d.worker[key] {
		return ""
	}
	if flow, name, ok := strings.Cut(key, "->"); ok && flow != "" {
		if _, name, ok = strings.Cut(name, "."); ok {
			return "the connect-mirror-maker driver does; here the key is " + name
		}
		return "the connect-mirror-maker driver has keys like it"
	}
	for _, of := range []struct {
		definition mirrordef.Definition
		text       string
	}{
		{mirrordef.Checkpoint, ofCheckpoint}, {mirrordef.Heartbeat, ofHeartbeat},
	} {
		if _, has := d.clients[of.definition][key]; has {
			return of.text
		}
	}
	return ""
}

const (
	ofReplicator = "it is a key of Confluent Replicator"
	ofCheckpoint = "it is a key of MirrorCheckpointConnector"
	ofHeartbeat  = "it is a key of MirrorHeartbeatConnector"
)

// fromDocuments says, of keys that stand in documents and in forks and that no
// connector of MirrorMaker 2 has, what to set instead.
func fromDocuments() map[string]string {
	return map[string]string{
		"offset.consistency.enabled":          "it is known from forks only",
		"refresh.topics.interval.ms":          "the key is refresh.topics.interval.seconds",
		"sync.topic.configs.interval.ms":      "the key is sync.topic.configs.interval.seconds",
		"sync.topic.acls.interval.ms":         "the key is sync.topic.acls.interval.seconds",
		"default.replication.factor":          "the key is replication.factor",
		"topics.whitelist":                    "the key is topics",
		"topics.regex":                        "it is a key of sink connectors; topics is a list of regexes here",
		"clusters":                            "the connect-mirror-maker driver does; here it is source.cluster.alias and target.cluster.alias",
		"dedicated.mode.enable.internal.rest": "the connect-mirror-maker driver does",
		"exactly.once.source.support":         "it is a key of the worker; the connector's is exactly.once.support",
		"emit.checkpoints.interval.ms":        ofCheckpoint + ", emit.checkpoints.interval.seconds",
		"refresh.groups.interval.ms":          ofCheckpoint + ", refresh.groups.interval.seconds",
		"sync.group.offsets.interval.ms":      ofCheckpoint + ", sync.group.offsets.interval.seconds",
		"emit.heartbeats.interval.ms":         ofHeartbeat + ", emit.heartbeats.interval.seconds",
		"provenance.header.enable":            ofReplicator,
		"topic.rename.format":                 ofReplicator,
		"topic.poll.interval.ms":              ofReplicator,
		"topic.config.sync":                   ofReplicator,
		"topic.auto.create":                   ofReplicator,
		"offset.timestamps.commit":            ofReplicator,
		"offset.translator.tasks.max":         ofReplicator,
		"src.kafka.bootstrap.servers":         ofReplicator + "; here it is source.cluster.bootstrap.servers",
		"dest.kafka.bootstrap.servers":        ofReplicator + "; here it is target.cluster.bootstrap.servers",
	}
}
