package preflight

import (
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintOnlyChecks are made by [Lint] alone. With clusters and a worker at hand others
// see more: which topics exist, which connectors are there, and that the worker took
// the config.
func lintOnlyChecks() []Check {
	return []Check{{
		ID:         "config/heartbeats-replication",
		Title:      "Heartbeats topics are not copied unasked",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "heartbeats.replication.enabled (default true), from 4.0 on; before, there is no such switch",
		Why:        "Topics named heartbeats, with or without an alias in front, are copied although topics does not select them, into topics that MirrorMaker 2 creates.",
		Remedy:     `Set "heartbeats.replication.enabled": "false" (4.0 and later).`,
		Judge:      withConfig(heartbeatsReplication),
	}, {
		ID:         "config/identity-loop",
		Title:      "No other mirror copies the topics back",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "replication.policy.class; of a connector on a worker, connector/reverse-flow looks at the others there",
		Why:        "IdentityReplicationPolicy keeps names, so that MirrorMaker 2 cannot see that a topic was copied (KAFKA-9726): two mirrors in both directions over the same topics copy every record for ever.",
		Remedy:     "Look through the configs of all mirrors between the two clusters: none of the other direction may select these topics.",
		Judge:      identityLoop,
	}, {
		ID:         "config/refused",
		Title:      "The worker takes the config",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "what the worker answers to PUT /connector-plugins/MirrorSourceConnector/config/validate, where the linter has it: its values, the policy for overrides (connector.client.config.override.policy), the worker's exactly-once",
		Why:        "A worker validates a config when it is given, and never again by itself. After an upgrade, or a change of the worker's file, the connector may fail at its start by what is refused now, or no change of its config is taken any more.",
		Remedy:     "Correct what the worker says. A refused producer.override.* needs connector.client.config.override.policy=All in the worker's file, which is the default since 3.0.",
		Judge:      refusedConfig,
	}}
}

func heartbeatsReplication(c *Case, s settings, r *Reporter) {
	const key = "heartbeats.replication.enabled"
	v, err := c.Facts.MirrorVersion()
	if err != nil || !v.AtLeast(4, 0) {
		return // there is no switch
	}
	if on, err := s.flag(key, "true"); err == nil && on {
		r.Info(key, "%s is %s", key, orDefault(s, key, "true by default"))
	}
}

func orDefault(s settings, key, text string) string {
	if v, set := s.m[key]; set {
		return strconv.Quote(v)
	}
	return text
}

func identityLoop(c *Case, r *Reporter) {
	if p, ok := c.policy.Get(); ok && p.identity {
		r.Info("replication.policy.class", "names are kept, so that a mirror of the other direction would copy the copies")
	}
}

func refusedConfig(c *Case, r *Reporter) {
	keys, _ := c.Facts.Surroundings.KnownKeys.Get()
	for _, k := range keys {
		if len(k.Errors) > 0 {
			r.Block(k.Name, "the worker refuses it: %s", strings.Join(k.Errors, "; "))
		}
	}
}
