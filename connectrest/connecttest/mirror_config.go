package connecttest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// mirrorConfig is MirrorSourceConfig: a connector's configuration, read.
type mirrorConfig struct {
	raw                      config
	version                  version
	name                     string
	sourceAlias, targetAlias string
	enabled                  bool
	tasksMax                 int
	filter                   topicFilter
	policy                   replicationPolicy
	heartbeats               bool
	refresh                  time.Duration // 0: never
	adminTimeout             time.Duration
	pollTimeout              time.Duration
	replicationFactor        int16
	configExclude            *pattern
	emitSyncs                bool
	syncsOnTarget            bool
	syncsReplication         int16
	offsetLagMax             int64
	toleratesErrors          bool
	consumer                 map[string]string
}

// readMirrorConfig reads a configuration that passed validation. An error is
// what makes the start of a real connector fail.
func (o *options) readMirrorConfig(name string, c config) (*mirrorConfig, error) {
	v := func(key string) string { return o.value(c, key) }
	m := &mirrorConfig{
		raw: c, version: o.version, name: name,
		sourceAlias: v("source.cluster.alias"), targetAlias: v("target.cluster.alias"),
		enabled:         strings.EqualFold(v("enabled"), "true"),
		heartbeats:      !o.version.hasHeartbeatsSwitch() || strings.EqualFold(v("heartbeats.replication.enabled"), "true"),
		emitSyncs:       !o.version.hasEmitOffsetSyncs() || strings.EqualFold(v("emit.offset-syncs.enabled"), "true"),
		syncsOnTarget:   v("offset-syncs.topic.location") == "target",
		toleratesErrors: v("errors.tolerance") == "all",
		consumer:        clientConfig(c, "source", "consumer"),
	}
	var err error
	number := func(key string, bits int) int64 {
		n, e := strconv.ParseInt(v(key), 10, bits)
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", key, e)
		}
		return n
	}
	m.tasksMax = int(number("tasks.max", 32))
	m.replicationFactor = int16(number("replication.factor", 16))
	m.syncsReplication = int16(number("offset-syncs.topic.replication.factor", 16))
	m.offsetLagMax = number("offset.lag.max", 64)
	m.adminTimeout = time.Duration(number("admin.timeout.ms", 64)) * time.Millisecond
	m.pollTimeout = time.Duration(number("consumer.poll.timeout.ms", 64)) * time.Millisecond
	if strings.EqualFold(v("refresh.topics.enabled"), "true") {
		m.refresh = time.Duration(number("refresh.topics.interval.seconds", 64)) * time.Second
		if o.refreshInterval > 0 {
			m.refresh = o.refreshInterval
		}
	}
	if err != nil {
		return nil, &javaError{"org.apache.kafka.common.config.ConfigException", err.Error(), mirrorSourceConnector + ".start"}
	}
	if m.filter, err = newTopicFilter(v("topics"), v("topics.exclude")); err != nil {
		return nil, err
	}
	if m.configExclude, err = compileList(v("config.properties.exclude")); err != nil {
		return nil, err
	}
	m.policy = replicationPolicy{
		identity:     v("replication.policy.class") == identityPolicyClass,
		sourceAlias:  m.sourceAlias,
		separator:    v("replication.policy.separator"),
		allInternals: o.version.neverCopiesInternal(),
	}
	m.policy.internalSeparator = m.policy.separator
	if strings.EqualFold(v("replication.policy.internal.topic.separator.enabled"), "false") {
		m.policy.internalSeparator = "."
	}
	return m, nil
}

// replicates is MirrorSourceConnector.shouldReplicateTopic.
func (m *mirrorConfig) replicates(topic string) bool {
	return (m.filter.replicates(topic) || (m.heartbeats && m.policy.isHeartbeats(topic))) &&
		!m.policy.isInternal(topic) && !m.policy.isCycle(topic, m.targetAlias)
}

// offsetSyncsTopic is the name of the topic that carries offset syncs, after the
// cluster that it does not stand on.
func (m *mirrorConfig) offsetSyncsTopic() string {
	other := m.targetAlias
	if m.syncsOnTarget {
		other = m.sourceAlias
	}
	return "mm2-offset-syncs" + m.policy.internalSeparator + other + m.policy.internalSeparator + "internal"
}

// clientID is MirrorConnectorConfig.addClientId of 3.5 and later.
func (m *mirrorConfig) clientID(role string) string {
	return fmt.Sprintf("%s->%s|%s|%s", m.sourceAlias, m.targetAlias, m.name, role)
}
