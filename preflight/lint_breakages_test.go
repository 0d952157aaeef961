package preflight_test

// lintBreakages make the checks fire that judge a config by its text, by a config
// that the worker holds or, where it would not take it, shows.
func lintBreakages() map[string]breakage {
	return map[string]breakage{
		"config/unknown-key":          change("topcis", "orders"),
		"config/key-of-other-version": change("topics.blacklist", "refunds"),
		"config/worker-key":           change("offset.flush.interval.ms", "1000"),
		"config/offset-syncs-keys":    shown("offset-syncs.topic.location", "target"),
		"config/invalid-value":        shown("offset.lag.max", "many"),
		"config/errors-log-messages":  change("errors.log.enable", "true", "errors.log.include.messages", "true"),
		"config/exactly-once-offsets": change("offsets.storage.topic", "mm2-own-offsets"),
		"config/exactly-once-worker":  shown("exactly.once.support", "required"),
		"config/action-reload":        shown("producer.override.ssl.key.password", "${vault:mm2:key}"),
		"config/admin-timeout":        change("admin.timeout.ms", "5000"),
		"config/poll-timeout":         change("consumer.poll.timeout.ms", "30000"),
		"config/separator":            shown("replication.policy.separator", "/"),
		"config/topics-wide":          change("topics", ".*"),
		"config/topics-unquoted-dot":  change("topics", "orders|payments|ab.c"),
		"config/topics-comma":         shown("topics", "orders,payments,a{1,2}"),
		"config/topics-list":          shown("topics", "orders,payments,orders"),
		"config/heartbeats-suffix":    heartbeatsTopic,
		"config/topics-refresh":       change("refresh.topics.enabled", "false"),
		"config/tasks-max":            manyForOneTask,
		"config/replication-factor":   change("topics", "orders|payments|pay-.*"),
		"config/foreign-class":        shown("topic.filter.class", "com.example.Filter"),
		"config/plugin-version":       change("connector.plugin.version", "[4.3,)"),
	}
}

func heartbeatsTopic(l *lab) func() {
	const topic = "device-heartbeats"
	l.create(l.source, topic, 1)
	l.create(l.target, "source."+topic, 1)
	l.probe.Topics = append(l.probe.Topics, topic)
	return func() { l.probe.Topics = l.probe.Topics[:2] }
}

func manyForOneTask(l *lab) func() {
	const topic = "many"
	l.create(l.source, topic, 101)
	l.create(l.target, topic, 101)
	l.probe.Topics = append(l.probe.Topics, topic)
	return change("tasks.max", "1")(l)
}
