package preflight

import (
	"slices"
	"strconv"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintTaskChecks are about how the work is spread, and what is created for it.
func lintTaskChecks() []Check {
	return []Check{{
		ID:         "config/tasks-max",
		Title:      "The tasks fit the number of partitions",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "tasks.max (default 1) and the partitions of the migration",
		Why:        "Each task has one consumer and one producer, and gets an equal number of partitions. One for very many falls behind.",
		Remedy:     `Set "tasks.max" to the old job's parallelism. More tasks than partitions are not made.`,
		Judge:      withConfig(tasksMax),
	}, {
		ID:         "config/replication-factor",
		Title:      "Topics that the connector creates can be created",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "replication.factor (default 2) against the target's brokers, where topics of the migration are missing there or topics is open-ended",
		Why:        "MirrorMaker 2 creates missing topics with it. Where there are fewer brokers the creation fails with a line in the log, and the producer waits for the topic without end: RUNNING, nothing copied. With 1 the copies of a partition are on one broker alone.",
		Remedy:     `Create the target topics beforehand, and set "replication.factor" to 3, or to the number of brokers where there are fewer.`,
		Judge:      withConfig(replicationFactor),
	}}
}

// manyPartitions is how many one task should not be alone with.
const manyPartitions = 100

func tasksMax(c *Case, s settings, r *Reporter) {
	const key = "tasks.max"
	v, err := s.or(key, "1")
	if err != nil {
		return // only the worker resolves it
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return // config/invalid-value
	}
	if c.offline {
		if _, set := s.m[key]; !set {
			r.Info(key, "%s is not set: one task copies everything", key)
		}
		return
	}
	partitions := len(c.measured)
	r.Saw("", "%d tasks for %d partitions", n, partitions)
	if n == 1 && partitions > manyPartitions {
		r.Warn(key, "one task copies %d partitions", partitions)
	}
}

func replicationFactor(c *Case, s settings, r *Reporter) {
	const key = "replication.factor"
	v, err := s.or(key, "2")
	if err != nil {
		return // only the worker resolves it
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return // config/invalid-value
	}
	created := c.created(s)
	if len(created) == 0 {
		return
	}
	target, known := c.Facts.Target.Get()
	switch {
	case known && n > len(target.Brokers):
		r.Warn(key, "%s is %d, and the target has %d brokers: %s cannot be created", key, n, len(target.Brokers), created[0])
	case n == 1 && (!known || len(target.Brokers) > 1):
		r.Warn(key, "%s is 1: %s would have one replica", key, created[0])
	}
}

// created names what the connector would create: topics of the migration that are
// missing on the target, or, where topics has no end, those to come.
func (c *Case) created(s settings) []string {
	var out []string
	p, named := c.policy.Get()
	if target, known := c.Facts.Target.Get(); known && named {
		for _, topic := range c.Facts.Topics {
			if _, exists := target.Topics[p.target(topic)]; !exists {
				out = append(out, "the topic "+p.target(topic))
			}
		}
	}
	if v, set, err := s.get("topics"); err == nil && (!set || slices.ContainsFunc(splitList(v), func(e string) bool { return openEnded(e) != "" })) {
		out = append(out, "a topic that is found later")
	}
	return out
}
