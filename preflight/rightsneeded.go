package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// right is one that a client of the connector needs.
type right struct {
	action
	by clientOf
	// prefix is that of several such names, one of which this is. Empty: there is one.
	prefix string
}

// A right that no config asks for is not among those below: to create topics and
// partitions, where all are there; to read configs and ACLs and to write them, since
// the syncs have to be off; IdempotentWrite, which brokers of 2.8 and later do not ask of
// who may write to a topic (KIP-679).

// sourceRights are needed on the source: to list and describe the topics, and to fetch
// (MirrorSourceConnector.findSourceTopicPartitions, MirrorSourceTask). A consumer
// without group.id needs no right on a group.
func (c *Case) sourceRights(s settings, source Cluster) []right {
	var out []right
	for _, topic := range source.existing(c.Facts.Topics) {
		out = append(out, onTopic(topic, kmsg.ACLOperationDescribe, sourceAdmin), onTopic(topic, kmsg.ACLOperationRead, sourceConsumer))
	}
	if group, _, err := s.consumer(keyGroup); err == nil && group != "" {
		// It fetches what the group has committed, of partitions without a stored offset.
		out = append(out, right{action: action{kmsg.ACLResourceTypeGroup, group, kmsg.ACLOperationRead}, by: sourceConsumer})
	}
	return append(out, c.offsetSyncRights(s, "source", source, sourceAdmin, sourceProducer)...)
}

// targetRights are needed on the target: to see the topics, without which MirrorMaker 2
// takes them for missing, and to write the copies. Producers of an exactly-once source
// have a transactional id for each task (KIP-618).
func (c *Case) targetRights(s settings, around *Surroundings, target Cluster) (rights []right, unsure error) {
	c.eachTarget(func(_, there Topic, name string) {
		if there.Err == nil && !absent(there) { // target/topic-missing
			rights = append(rights, onTopic(name, kmsg.ACLOperationDescribe, targetAdmin), onTopic(name, kmsg.ACLOperationWrite, dataProducer))
		}
	})
	rights = append(rights, c.offsetSyncRights(s, "target", target, targetAdmin, targetProducer)...)
	if own, set, err := s.get("offsets.storage.topic"); set && err == nil && own != "" {
		rights = append(rights, onTopic(own, kmsg.ACLOperationRead, dataProducer), onTopic(own, kmsg.ACLOperationWrite, dataProducer))
	}
	if required, _ := s.exactlyOnce(); !required { // where that is not known config/exactly-once says so
		return rights, nil
	}
	looks, known := around.ConnectGroup.Get()
	if !known {
		return rights, fmt.Errorf("the transactional ids begin with the workers' group, and %w", around.ConnectGroup.Err())
	}
	prefix := looks.First.ID + "-" + c.Facts.Name + "-"
	for task := range c.tasks(s) {
		rights = append(rights, right{action: action{kmsg.ACLResourceTypeTransactionalId, prefix + strconv.Itoa(task), kmsg.ACLOperationWrite}, by: dataProducer, prefix: prefix})
	}
	return rights, nil
}

// tasks is how many the connector can have.
func (c *Case) tasks(s settings) int {
	text, err := s.or("tasks.max", "1")
	n, errInt := strconv.Atoi(text)
	if err != nil || errInt != nil || n < 1 { // config/invalid-value
		n = 1
	}
	return max(1, min(n, len(c.measured)))
}

// workerRights are needed where the cluster is the one that the worker keeps its group
// and its topics in. It runs, so it had them when it started.
func (c *Case) workerRights(around *Surroundings, on offsetmap.Fact[Cluster]) []right {
	w, okWorker := c.Facts.Worker.Get()
	cluster, ok := on.Get()
	looks, known := around.ConnectGroup.Get()
	if !ok || !okWorker || !known || cluster.ClusterID == "" || w.KafkaClusterID != cluster.ClusterID {
		return nil
	}
	out := []right{{action: action{kmsg.ACLResourceTypeGroup, looks.First.ID, kmsg.ACLOperationRead}, by: theWorker}}
	topics, _ := around.InternalTopics.Get()
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		out = append(out, onTopic(name, kmsg.ACLOperationRead, theWorker), onTopic(name, kmsg.ACLOperationWrite, theWorker))
	}
	return out
}

// offsetSyncRights are those that the offset-syncs topic needs, where one is written on
// that side (MirrorSourceConfig.offsetSyncsTopic): where it cannot be created, copying
// stands still.
func (c *Case) offsetSyncRights(s settings, side string, cluster Cluster, admin, producer clientOf) []right {
	const location, emit = "offset-syncs.topic.location", "emit.offset-syncs.enabled"
	where, err := s.or(location, "source")
	policy, named := c.policy.Get()
	version, errVersion := c.Facts.MirrorVersion()
	if err != nil || errVersion != nil || !named || where != side {
		return nil // config/offset-syncs, config/replication-policy
	}
	if on, err := s.flag(emit, "true"); version.AtLeast(3, 9) && (err != nil || !on) {
		return nil
	}
	other := policy.source
	if side == "source" {
		other = policy.alias
	}
	topic := "mm2-offset-syncs" + policy.internal + other + policy.internal + "internal"
	out := []right{onTopic(topic, kmsg.ACLOperationWrite, producer)}
	if absent(cluster.Topics[topic]) {
		out = append(out, onTopic(topic, kmsg.ACLOperationCreate, admin))
	}
	return out
}

func onTopic(name string, op kmsg.ACLOperation, by clientOf) right {
	return right{action: action{kmsg.ACLResourceTypeTopic, name, op}, by: by}
}

// permitsRight is permits, where the right on the cluster to create topics serves as well.
func (a *acls) permitsRight(principal string, do action) permit {
	p := a.permits(principal, do)
	if do.kind == kmsg.ACLResourceTypeTopic && do.op == kmsg.ACLOperationCreate && !p.always() {
		if onCluster := a.permits(principal, action{kmsg.ACLResourceTypeCluster, "kafka-cluster", do.op}); onCluster.always() {
			return onCluster
		}
	}
	return p
}
