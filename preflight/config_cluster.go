package preflight

import (
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// clusterConfigChecks are about what the config says of the two clusters and of
// the names on them.
func clusterConfigChecks() []Check {
	return []Check{{
		ID:         "config/source-alias",
		Title:      "The source's alias is set",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      keySourceAlias,
		Why:        "It is \"cluster\" in every stored offset: with another alias MirrorMaker 2 finds none of them and starts by the reset rule.",
		Remedy:     `Set "source.cluster.alias", and never change it afterwards.`,
		Judge:      withConfig(sourceAlias),
	}, {
		ID:         "config/equal-aliases",
		Title:      "Source and target have different aliases",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      keySourceAlias + " and " + keyTargetAlias + " (default target)",
		Why:        "With IdentityReplicationPolicy and equal aliases every topic counts as a cycle: RUNNING, without a task, nothing copied.",
		Remedy:     `Set "target.cluster.alias" to another name. The alias of the source is part of the stored offsets.`,
		Judge:      withConfig(equalAliases),
	}, {
		ID:         "config/source-bootstrap",
		Title:      "The source's addresses are set",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      keySourceBootstrap,
		Why:        "A worker takes a config without them (201), and the connector fails at the start.",
		Remedy:     `Set "source.cluster.bootstrap.servers".`,
		Judge:      withConfig(sourceBootstrap),
	}, {
		ID:         "config/source-cluster",
		Title:      "The connector reads from the source cluster",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the cluster id behind " + keySourceBootstrap + ", against the source's",
		Why:        "The positions are those of one cluster. On another one with the same topics, such as a stand-by, they skip or repeat records, and every status is green.",
		Remedy:     `Correct "source.cluster.bootstrap.servers".`,
		Judge:      withConfig(sourceCluster),
	}, {
		ID:         "config/replication-policy",
		Title:      "The replication policy is one of Kafka's own",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "replication.policy.class and what it needs",
		Why:        "It decides the names on the target. Without them neither partition counts nor copies can be looked at, and the plan has no target.",
		Remedy:     `Set "replication.policy.class" to org.apache.kafka.connect.mirror.IdentityReplicationPolicy (same names) or DefaultReplicationPolicy (alias in front).`,
		Judge: withConfig(func(c *Case, _ settings, r *Reporter) {
			if _, ok := c.policy.Get(); !ok {
				r.Unknown("replication.policy.class", c.policy.Err())
			}
		}),
	}}
}

func sourceAlias(_ *Case, s settings, r *Reporter) {
	switch alias, _, err := s.get(keySourceAlias); {
	case err != nil:
		r.Unknown(keySourceAlias, err)
	case alias == "":
		r.Block(keySourceAlias, "%s is not set", keySourceAlias)
	case alias != s.m[keySourceAlias]:
		r.Block(keySourceAlias, "%s is %q, with white space around it: some parts of MirrorMaker 2 trim it, and some do not", keySourceAlias, s.m[keySourceAlias])
	}
}

func equalAliases(c *Case, _ settings, r *Reporter) {
	if p, ok := c.policy.Get(); ok && p.identity && p.source == p.alias {
		r.Block(keyTargetAlias, "source and target are both called %q under IdentityReplicationPolicy", p.source)
	}
}

func sourceBootstrap(_ *Case, s settings, r *Reporter) {
	if s.m[keySourceBootstrap] == "" {
		r.Block(keySourceBootstrap, "%s is not set", keySourceBootstrap)
	}
}

func sourceCluster(c *Case, s settings, r *Reporter) {
	source, ok := c.Facts.Source.Get()
	if !ok || s.m[keySourceBootstrap] == "" {
		return // source/unknown, config/source-bootstrap
	}
	id, known := needs(r, keySourceBootstrap, c.Facts.SourceReached)
	if known && id != source.ClusterID {
		r.Block(keySourceBootstrap, "%s leads to cluster %s, the source is %s", keySourceBootstrap, id, source.ClusterID)
	}
}
