package preflight

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// usualReplicas is the replication factor where there are brokers enough.
const usualReplicas = 3

func (t Template) replicas() int {
	if t.TargetBrokers == 0 {
		return usualReplicas
	}
	return min(usualReplicas, t.TargetBrokers)
}

// copying sets what decides what is copied, from where and how.
func (g *GeneratedConfig) copying(t Template) {
	const bytesOf = "org.apache.kafka.connect.converters.ByteArrayConverter"
	g.set("connector.class", mirrorSource, "only this connector: MirrorCheckpointConnector and MirrorHeartbeatConnector are not deployed")
	g.set("tasks.max", strconv.Itoa(t.Tasks), "how many tasks share the partitions")
	g.set(keySourceAlias, t.SourceAlias, "part of every stored offset: never change it afterwards")
	g.set(keyTargetAlias, t.targetAlias(), "another name than the source's, else every topic counts as a cycle")
	g.set(keySourceBootstrap, strings.Join(t.SourceBootstrap, ","), "where records are read")
	g.set(keyTargetBootstrap, strings.Join(t.TargetBootstrap, ","), "for the admin client alone; records go where the worker's producer points")
	quoted := make([]string, len(t.Topics))
	for i, topic := range t.Topics {
		quoted[i] = strings.ReplaceAll(topic, ".", `\.`)
	}
	g.set("topics", strings.Join(quoted, ","), "the topics of the migration and no others: each entry is a regex, so dots are quoted")
	if t.Naming == KeepNames {
		g.set("replication.policy.class", policyPackage+"IdentityReplicationPolicy", "the names that the old job wrote to; no mirror of the other direction may copy these topics")
	} else {
		g.set("replication.policy.class", policyDefault, "the source's alias in front of each name")
	}
	g.set("refresh.topics.enabled", "true", "a partition that is added to the source is found")
	g.set("refresh.topics.interval.seconds", "60", "within a minute; the default is ten")
	g.set("source.consumer.auto.offset.reset", "earliest", "where a partition without a stored offset starts: C = 0, and partitions that are added")
	g.set("source.consumer.isolation.level", string(t.Isolation), "what the old job read with: with another level more, or fewer, records are copied")
	g.set("key.converter", bytesOf, "keys are copied byte for byte")
	g.set("value.converter", bytesOf, "values are copied byte for byte")
	g.set("header.converter", bytesOf, "headers too: the worker's default writes binary ones as base64")
	g.set("errors.tolerance", "none", "a record that cannot be written stops the task, and is not skipped")
	g.set("replication.factor", strconv.Itoa(t.replicas()), "of topics that MirrorMaker 2 creates; the target's topics are created beforehand")
	g.set("sync.topic.configs.enabled", "false", "the target's topics keep their own settings; it is on by default")
	g.set("sync.topic.acls.enabled", "false", "rights are managed elsewhere; it is on by default")
	g.Left["offset.consistency.enabled"] = "no version of MirrorMaker 2 has it; it is known from forks only"
	g.Left["transforms"] = "a transform may drop or change records"
	g.Left["topic.creation.*"] = "with it the framework creates topics, with settings of its own"
	g.Left["source.consumer.group.id"] = "its committed offsets would decide where a partition without a stored offset starts"
}

// byVersion sets the keys that not every version has.
func (g *GeneratedConfig) byVersion(t Template) {
	const (
		emit       = "emit.offset-syncs.enabled"
		heartbeats = "heartbeats.replication.enabled"
	)
	if t.Version.AtLeast(3, 9) {
		g.set(emit, "false", "no mapping of source and target offsets is written (KIP-1031); no key of offset-syncs may stand beside it")
	} else {
		g.set("offset-syncs.topic.location", "target", "before 3.9 offset-syncs are always written: there rather than to the source, where rights may lack and copying stall")
		g.set("offset-syncs.topic.replication.factor", strconv.Itoa(t.replicas()), "one that the target can have: copying stalls where the topic cannot be created")
		g.Left[emit] = "comes with 3.9; before it is ignored without a word"
	}
	if t.Version.AtLeast(4, 0) {
		g.set(heartbeats, "false", "heartbeats topics are copied unasked otherwise (KAFKA-17534)")
	} else {
		g.Left[heartbeats] = "comes with 4.0; before heartbeats topics are always copied"
	}
}

// producer sets what the data producer needs beside its defaults.
func (g *GeneratedConfig) producer(t Template) {
	if len(t.ProducerBootstrap) > 0 {
		g.set(keyProducerBootstrap, strings.Join(t.ProducerBootstrap, ","), "where records are written: the worker belongs to another cluster, and must allow overrides (connector.client.config.override.policy)")
	} else {
		g.Left[keyProducerBootstrap] = "the worker's own cluster is the target"
	}
	const size = producerPrefix + "max.request.size"
	if t.MaxRequestSize > 0 {
		g.set(size, strconv.Itoa(t.MaxRequestSize), "as large as the source's largest record: one that is too large fails the task")
	} else {
		g.Left[size] = "Kafka's 1 MiB will do unless the source has larger records"
	}
}

// optionInLine is one option of a line of JAAS.
var optionInLine = regexp.MustCompile(`([\w.]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))`)

// publicOptions are options of Kafka's and Java's login modules that name no secret.
// Of any other the value has to be a reference.
func publicOptions() []string {
	return []string{
		"username", "clientId", "scope", "serviceName", "principal", "realm", "keyTab", "useKeyTab", "storeKey", "useTicketCache", "ticketCache",
		"doNotPrompt", "refreshKrb5Config", "renewTGT", "isInitiator", "debug", "tokenauth",
	}
}

// onlyReferences is a value that config providers give alone.
var onlyReferences = regexp.MustCompile(`^(?:\$\{[^}:]+:[^}]*\})+$`)

// hasSecret reports whether a value holds a secret in the clear. A line of JAAS does
// where an option of it that may be one is no reference; any other secret setting where it is not a
// reference as a whole.
func hasSecret(key, value string) bool {
	value = strings.TrimSpace(value)
	if !offsetmap.IsSecretSetting(key) {
		return offsetmap.RedactSetting(key, value) != value
	}
	if value == "" || onlyReferences.MatchString(value) {
		return false
	}
	if key != "sasl.jaas.config" {
		return true
	}
	for _, m := range optionInLine.FindAllStringSubmatch(value, -1) {
		if !slices.Contains(publicOptions(), m[1]) && !onlyReferences.MatchString(m[2]+m[3]+m[4]) {
			return true
		}
	}
	return false
}
