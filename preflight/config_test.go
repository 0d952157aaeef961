package preflight_test

import (
	"maps"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// with returns a copy of the config with keys changed; an empty value removes
// the key.
func with(config connectrest.Config, pairs ...string) connectrest.Config {
	config = maps.Clone(config)
	config["name"] = connector
	for i := 0; i < len(pairs); i += 2 {
		config[pairs[i]] = pairs[i+1]
		if pairs[i+1] == "" {
			delete(config, pairs[i])
		}
	}
	return config
}

// change sets keys on the worker, and mends by setting them back.
func change(pairs ...string) breakage {
	return func(l *lab) func() {
		right := maps.Clone(l.config)
		l.set(pairs...)
		return func() {
			l.config = right
			l.put()
		}
	}
}

// shown is a config that this worker would not take: another version's, or
// one that was stored before a key was checked.
func shown(pairs ...string) breakage {
	return func(l *lab) func() { return l.show(with(l.config, pairs...)) }
}

func configBreakages() map[string]breakage {
	return map[string]breakage{
		"config/source-alias":     shown("source.cluster.alias", ""),
		"config/equal-aliases":    change("target.cluster.alias", "source"),
		"config/source-bootstrap": shown("source.cluster.bootstrap.servers", ""),
		"config/source-cluster": func(l *lab) func() {
			return change("source.cluster.bootstrap.servers", strings.Join(l.target.ListenAddrs(), ","))(l)
		},
		"config/replication-policy": shown("replication.policy.class", "com.example.OurPolicy"),
		"config/topics-unselected":  change("topics", "payments"),
		"config/topics-unplanned": func(l *lab) func() {
			l.create(l.source, "orders-archive", 1)
			return change("topics", "orders.*, payments")(l)
		},
		"config/reset-rule":               change("source.consumer.auto.offset.reset", "latest"),
		"config/consumer-group":           change("consumer.group.id", "flink"),
		"config/isolation":                change("source.consumer.isolation.level", "read_committed"),
		"config/converters":               change("header.converter", ""),
		"config/errors-tolerance":         change("errors.tolerance", "all"),
		"config/transforms":               shown("transforms", "drop", "transforms.drop.type", "org.apache.kafka.connect.transforms.Filter"),
		"config/interceptors":             change("source.consumer.interceptor.classes", "com.example.Mask"),
		"config/check-crcs":               change("consumer.check.crcs", "false"),
		"config/producer-acks":            change("producer.override.acks", "1"),
		"config/producer-order":           change("producer.override.max.in.flight.requests.per.connection", "5"),
		"config/producer-serializers":     change("producer.override.value.serializer", "com.example.Sealer"),
		"config/producer-transactions":    change("producer.override.transactional.id", "mm2"),
		"config/producer-timeouts":        change("producer.override.delivery.timeout.ms", "120000"),
		"config/topic-creation":           shown("topic.creation.default.partitions", "3"),
		"config/exactly-once":             shown("exactly.once.support", "required"),
		"config/disabled":                 change("enabled", "false"),
		"config/topic-config-sync":        change("sync.topic.configs.enabled", ""),
		"config/acl-sync":                 change("sync.topic.acls.enabled", "true"),
		"config/offset-syncs":             change("emit.offset-syncs.enabled", ""),
		"config/unread-prefix":            change("source.cluster.consumer.auto.offset.reset", "earliest"),
		"config/key-without-effect":       change("offset.consistency.enabled", "false"),
		"config/offset-syncs-unavoidable": func(l *lab) func() { return l.plugin("3.8.1") },
	}
}
