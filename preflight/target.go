package preflight

import (
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func targetChecks() []Check {
	return []Check{{
		ID:         "target/unknown",
		Title:      "The target's topics can be read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "Metadata of the target cluster, past the client's cache",
		Why:        "The plan records the cluster's id and the ends of its logs. Without them nobody can tell later where the copies begin.",
		Remedy:     "Mend address, credentials or network, or grant Describe on the topics, and run preflight again.",
		Judge: func(c *Case, r *Reporter) {
			if _, ok := c.Facts.Target.Get(); !ok {
				r.Unknown("", c.Facts.Target.Err())
			}
		},
	}, {
		ID:         "target/same-cluster",
		Title:      "Source and target are two clusters",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the cluster ids that the brokers of both sides tell",
		Why:        "Copying a topic onto itself never ends: each copy is a new record to copy.",
		Remedy:     "Correct the bootstrap servers of the source or of the target.",
		Judge: func(c *Case, r *Reporter) {
			source, target, ok := c.clusters()
			if ok && source.ClusterID == target.ClusterID {
				r.Block("", "source and target are the same cluster %s", source.ClusterID)
			}
		},
	}, {
		ID:         "target/topic-missing",
		Title:      "Every target topic exists",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.ByScope,
		Looks:      "the name that the replication policy gives each topic, in the target's Metadata",
		Why:        "The old job wrote to a topic that exists; another name means that consumers would not see the copies. MirrorMaker 2 creates what is missing, with the source's configs and replication.factor 2, and waits without end where it may not.",
		Remedy:     "Create the topic with the source's number of partitions (`kafka-topics.sh --bootstrap-server <TARGET> --create --topic <TARGET-TOPIC> --partitions <PARTITIONS>`), or correct replication.policy.class and replication.policy.separator.",
		Judge:      targetMissing,
	}, {
		ID:         "target/partition-count",
		Title:      "Target topics have as many partitions as their source",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.ByScope,
		Looks:      "the partitions of each topic on both sides",
		Why:        "MirrorMaker 2 writes to the partition of the same number. It adds partitions to a target that has fewer, which moves keys for every other producer; on one that has more, keys that the old job placed by hash now go elsewhere, and their order breaks at the switch.",
		Remedy:     "Make the counts equal before the start, or accept the topic when nobody depends on the order of keys.",
		Judge:      partitionCount,
	}, {
		ID:         "target/name-collision",
		Title:      "No two target topics differ by '.' and '_' alone",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "the target names of the migration, among each other and against the target's topics",
		Why:        "Kafka's metrics write both as '_' and mix such topics up, and brokers refuse to create the second one (InvalidTopicException: collides with existing topics).",
		Remedy:     "Nothing, where both topics exist. Where one is to be created, give it another name by the replication policy.",
		Judge:      nameCollision,
	}, {
		ID:         checkTargetOpen,
		Title:      "No transaction is open on a target partition",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the high watermark and then the last stable offset of every partition of the target topics; where that lies below, their producers (DescribeProducers). The scope is PARTITION:PRODUCERID, one for each transaction; PARTITION:unlisted where no producer has the one that lies first, PARTITION:undescribed where the brokers do not tell the producers, PARTITION:unmeasured where an offset is not known",
		Why:        "An exactly-once job that was canceled, or has failed, after its savepoint leaves the sink's transaction open: records before C are in it, unseen, and are lost when it aborts, since MirrorMaker 2 begins at C. And it hides whatever MirrorMaker 2 writes behind it from read_committed consumers until it ends.",
		Remedy: "Find out whose it is: `kafka-transactions.sh --bootstrap-server <TARGET> list` has its transactional id beside the producer id, and `kafka-transactions.sh --bootstrap-server <TARGET> describe --transactional-id <TRANSACTIONAL-ID>` its state and its timeout. " +
			"If it is the old job's (its sink's prefix, subtask and number): restore the job from the savepoint before transaction.timeout.ms is over, so that it commits what the savepoint holds, stop it with a savepoint again (`flink stop --savepointPath <DIR> <JOB>`), and plan from that one; once it has aborted, plan from the last completed checkpoint before it. " +
			"If it is another writer's: wait until it ends, which the broker brings about after its transaction.timeout.ms, or abort one that hangs: `kafka-transactions.sh --bootstrap-server <TARGET> abort --topic <TARGET-TOPIC> --partition <N> --start-offset <OFFSET>`. Where that writer always has one open, accept <SCOPE>, which lets no other producer's through, and target/ends-moved for the partition with it: the end of a transaction moves the end of the partition. A writer that keeps its transactional id keeps its producer id.",
		Judge: targetOpen,
	}}
}

// clusters returns both clusters, and false while one of them is unknown,
// which is a finding of its own.
func (c *Case) clusters() (source, target Cluster, ok bool) {
	source, s := c.Facts.Source.Get()
	target, t := c.Facts.Target.Get()
	return source, target, s && t
}

// eachTarget calls f for every topic of the migration that exists on the
// source, with its name on the target. It does nothing while the names are not
// known, and leaves out those that no topic can have: config/replication-policy
// and plan/partition-invalid report them.
func (c *Case) eachTarget(f func(source, target Topic, name string)) {
	source, target, ok := c.clusters()
	policy, named := c.policy.Get()
	if !ok || !named {
		return
	}
	for _, topic := range c.Facts.Topics {
		name := policy.target(topic)
		if s := source.Topics[topic]; !absent(s) && s.Err == nil && offsetmap.ValidateTopic(name) == nil {
			f(s, target.Topics[name], name)
		}
	}
}

func targetMissing(c *Case, r *Reporter) {
	c.eachTarget(func(source, target Topic, name string) {
		switch {
		case absent(target):
			r.Block(name, "the target has no topic %s, where %s of the source would be copied to", name, source.Name)
		case target.Err != nil:
			r.Unmade(name, target.Err)
		}
	})
}

func partitionCount(c *Case, r *Reporter) {
	c.eachTarget(func(source, target Topic, name string) {
		if absent(target) || target.Err != nil {
			return // target/topic-missing
		}
		switch s, t := len(source.Partitions), len(target.Partitions); {
		case t < s:
			r.Block(name, "%s has %d partitions, %s on the source has %d: MirrorMaker 2 would add %d to it", name, t, source.Name, s, s-t)
		case t > s:
			r.Block(name, "%s has %d partitions, %s on the source has %d: nothing would be copied to the last %d", name, t, source.Name, s, t-s)
		}
	})
}

func nameCollision(c *Case, r *Reporter) {
	_, target, ok := c.clusters()
	if !ok {
		return
	}
	byMetric := map[string][]string{} // Topic.unifyCollisionChars
	add := func(name string) {
		key := strings.ReplaceAll(name, ".", "_")
		if !slices.Contains(byMetric[key], name) {
			byMetric[key] = append(byMetric[key], name)
		}
	}
	for name, t := range target.Topics {
		if t.Err == nil {
			add(name)
		}
	}
	var ours []string
	c.eachTarget(func(_, _ Topic, name string) {
		add(name)
		ours = append(ours, name)
	})
	for _, name := range ours {
		others := slices.Sorted(slices.Values(byMetric[strings.ReplaceAll(name, ".", "_")]))
		others = slices.DeleteFunc(others, func(o string) bool { return o == name })
		if len(others) > 0 {
			r.Warn(name, "the target topic %s and %q are one in Kafka's metrics; brokers refuse to create the one beside the other", name, others)
		}
	}
}
