package preflight

import (
	"fmt"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const keyMinISR = "min.insync.replicas"

// replicaChecks are about the brokers that hold the partitions.
func replicaChecks() []Check {
	return []Check{{
		ID:         "source/partition-leaderless",
		Title:      "Every source partition has a leader",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "leaders and replicas of the source topics in Metadata. The scope is the partition",
		Why:        "Nothing can be measured or read of a partition without a leader. When it comes back by an election of a replica that was not in sync, its log may end below C.",
		Remedy:     "Bring the named brokers back, and wait: `kafka-topics.sh --bootstrap-server <SOURCE> --describe --unavailable-partitions` lists none then. An unclean election (kafka-leader-election.sh) loses records; plan again after one.",
		Judge: around(func(c *Case, _ *Surroundings, r *Reporter) {
			source, ok := c.Facts.Source.Get()
			if !ok {
				r.NotAsked() // source/unknown
				return
			}
			for _, topic := range source.existing(c.Facts.Topics) {
				source.reportLeaderless(source.Topics[topic], r)
			}
		}),
	}, {
		ID:         "target/partition-leaderless",
		Title:      "Every partition of a target topic has a leader",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "leaders and replicas of the target topics in Metadata. The scope is the partition",
		Why:        "The producer waits for the leader and the connector is RUNNING meanwhile: nothing is copied to the partition, and its task holds back the others. The end from which the copies are counted cannot be measured either.",
		Remedy:     "Bring the named brokers back, and wait: `kafka-topics.sh --bootstrap-server <TARGET> --describe --unavailable-partitions` lists none then.",
		Judge: around(func(c *Case, _ *Surroundings, r *Reporter) {
			_, target, ok := c.clusters()
			if !ok {
				r.NotAsked()
				return
			}
			c.eachTarget(func(_, topic Topic, _ string) {
				if !absent(topic) && topic.Err == nil {
					target.reportLeaderless(topic, r)
				}
			})
		}),
	}, {
		ID:         "target/min-insync-replicas",
		Title:      "Target partitions have enough replicas in sync to be written to",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "min.insync.replicas of each target topic, against the replicas of its partitions and those in sync",
		Why:        "A producer with acks=all is refused (NOT_ENOUGH_REPLICAS) and tries again without end: the connector is RUNNING and copies nothing. Where the topic has fewer replicas than it demands this never ends.",
		Remedy:     "Bring the missing replicas back (`kafka-topics.sh --bootstrap-server <TARGET> --describe --under-min-isr-partitions`). Where the topic has too few: add replicas (kafka-reassign-partitions.sh), or `kafka-configs.sh --bootstrap-server <TARGET> --alter --entity-type topics --entity-name <TARGET-TOPIC> --add-config min.insync.replicas=<REPLICAS>`.",
		Judge:      eachPair(minInSync),
	}}
}

// reportLeaderless names the brokers that hold a partition without a leader and are not
// among those of the cluster.
func (c Cluster) reportLeaderless(t Topic, r *Reporter) {
	r.Saw(t.Name, "%d partitions, %d without a leader", len(t.Partitions), len(t.Leaderless))
	for _, p := range t.Leaderless {
		tp := offsetmap.TopicPartition{Topic: t.Name, Partition: p}
		replicas, inSync := t.replicas(p)
		away := slices.DeleteFunc(slices.Clone(replicas), func(id int32) bool { return slices.Contains(c.Brokers, id) })
		switch {
		case len(replicas) == 0:
			r.Block(tp.String(), "it has no leader, and the brokers %v do not say which of them hold it", c.Brokers)
		case len(away) == 0:
			r.Block(tp.String(), "it has no leader although the brokers that hold it, %v, are there; in sync is %v", replicas, inSync)
		default:
			r.Block(tp.String(), "it has no leader: of the brokers that hold it, %v, those that are away are %v; in sync is %v", replicas, away, inSync)
		}
	}
}

func minInSync(_ *Case, _ *Surroundings, p pair, r *Reporter) error {
	return p.target.enoughInSync(p.to, r)
}

// enoughInSync reports whether a topic can be written to with acks=all. The error is why
// that is not known.
func (t Topic) enoughInSync(settings Settings, r *Reporter) error {
	least, err := settings.Int(keyMinISR)
	if err != nil {
		return err
	}
	var few, away []offsetmap.TopicPartition // fewer replicas than demanded, and fewer in sync
	fewest := -1
	for _, id := range t.Partitions {
		tp := offsetmap.TopicPartition{Topic: t.Name, Partition: id}
		replicas, inSync := t.replicas(id)
		if fewest < 0 || len(inSync) < fewest {
			fewest = len(inSync)
		}
		switch {
		case len(replicas) == 0:
			return fmt.Errorf("the brokers do not tell the replicas of %s", tp)
		case int64(len(replicas)) < least:
			few = append(few, tp)
		case int64(len(inSync)) < least:
			away = append(away, tp)
		}
	}
	r.Saw(t.Name, "%s is %d; the fewest replicas in sync are %d", keyMinISR, least, max(fewest, 0))
	if len(few) > 0 {
		replicas, _ := t.replicas(few[0].Partition)
		r.Block(t.Name, "%s is %d, and of %d partitions %d have fewer replicas, so that they can never be written to with acks=all: %s, with the replicas %v",
			keyMinISR, least, len(t.Partitions), len(few), some(few), replicas)
	} else if len(away) > 0 {
		replicas, inSync := t.replicas(away[0].Partition)
		r.Block(t.Name, "%s is %d, and of %d partitions %d have fewer replicas in sync: %s, with %v of %v",
			keyMinISR, least, len(t.Partitions), len(away), some(away), inSync, replicas)
	}
	return nil
}
