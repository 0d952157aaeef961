package preflight

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// consumerConfigChecks are about the consumer that reads the source.
func consumerConfigChecks() []Check {
	return []Check{{
		ID:         "config/reset-rule",
		Title:      "A partition without a stored offset starts at its first record",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "source.consumer.auto.offset.reset, else consumer.auto.offset.reset, else MirrorMaker 2's own earliest",
		Why:        "C = 0 has no source offset (it would be -1), so it is cleared, and the reset rule decides. latest skips everything; none hangs, RUNNING, and floods the log. Partitions that are added later start by it too.",
		Remedy:     `Set "source.consumer.auto.offset.reset": "earliest".`,
		Judge:      withConfig(resetRule),
	}, {
		ID:         "config/consumer-group",
		Title:      "The connector's consumer has no group",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "source.consumer.group.id and consumer.group.id",
		Why:        "With a group, a partition without a stored offset starts at what the group has committed instead of its first record: the old job's group holds a stale offset.",
		Remedy:     `Remove "source.consumer.group.id" and "consumer.group.id".`,
		Judge:      withConfig(consumerGroup),
	}, {
		ID:         "config/isolation",
		Title:      "The connector reads with the old job's isolation level",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "source.consumer.isolation.level, else consumer.isolation.level, else Kafka's own read_uncommitted; against the attestation",
		Why:        "read_committed leaves out aborted records that the old job copied, and waits for open transactions; read_uncommitted copies aborted records that it left out.",
		Remedy:     `Set "source.consumer.isolation.level" to what the job had. Flink's KafkaSource leaves read_uncommitted unless its properties say otherwise. If the attestation is wrong, correct it.`,
		Judge:      withConfig(isolation),
	}}
}

// clears lists the partitions whose stored offset the plan clears, sorted.
// While the rules block, it lists all for which they could come to that.
func (c *Case) clears() []offsetmap.TopicPartition {
	var out []offsetmap.TopicPartition
	if c.Rows != nil {
		for _, row := range c.Rows {
			if row.Write.IsClear() {
				out = append(out, row.TopicPartition)
			}
		}
		return out
	}
	at := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, p := range c.Question.Positions {
		at[p.TopicPartition] = p.Next
	}
	for tp, rg := range c.Facts.Ranges {
		if next := at[tp]; next == offset0 || next.IsNone() && rg.Start == offset0 {
			out = append(out, tp)
		}
	}
	slices.SortFunc(out, offsetmap.TopicPartition.Compare)
	return out
}

// unset reports a setting that decides where partitions without a stored
// offset start: it blocks when the plan leaves any.
func (c *Case) unset(r *Reporter, key, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if c.offline {
		r.Block(key, "%s, and decides where a partition without a stored offset starts", what)
		return
	}
	if clears := c.clears(); len(clears) > 0 {
		r.Block(key, "%s; without a stored offset will be %d partitions: %s", what, len(clears), some(clears))
		return
	}
	r.Warn(key, "%s; every partition will have a stored offset, but one that is added later will not", what)
}

func resetRule(c *Case, s settings, r *Reporter) {
	switch v, key, err := s.consumer(keyReset); {
	case err != nil:
		r.Unmade(key, err)
	case key != "" && v != "earliest":
		c.unset(r, key, "the reset rule is %q (%s)", v, key)
	}
}

func consumerGroup(c *Case, s settings, r *Reporter) {
	switch v, key, err := s.consumer(keyGroup); {
	case err != nil:
		r.Unmade(key, err)
	case v != "":
		c.unset(r, key, "the consumer has the group %q (%s), whose committed offset decides", v, key)
	}
}

func isolation(c *Case, s settings, r *Reporter) {
	attested := c.Question.isolation()
	if attested == "" {
		return // attest/isolation
	}
	v, key, err := s.consumer(keyIsolation)
	from := key
	if key == "" {
		v, from, key = string(offsetmap.ReadUncommitted), "Kafka's default", "source.consumer."+keyIsolation
	}
	switch {
	case err != nil:
		r.Unmade(key, err)
	case v != string(attested):
		r.Block(key, "the connector reads %s (%s), the old job is attested to have read %s", v, from, attested)
	}
}

// sortedKeys returns the keys of a config, sorted.
func (s settings) sortedKeys() []string { return slices.Sorted(maps.Keys(s.m)) }
