package preflight

import (
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// topicConfigChecks are about which topics the connector copies.
func topicConfigChecks() []Check {
	return []Check{{
		ID:         "config/topics-unselected",
		Title:      "Every topic of the migration, and of earlier plans, is copied",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "topics and topics.exclude, evaluated as this version of MirrorMaker 2 does, for each topic of the migration",
		Why:        "What is planned and not selected stays behind without a word: its stored offset is never used.",
		Remedy:     `Add the topic to "topics" (a list of Java regexes that match the whole name; quote dots as \.), or set "topics.exclude" so that it does not match.`,
		Judge:      withConfig(topicsUnselected),
	}, {
		ID:         "config/topics-unplanned",
		Title:      "No topic is copied beside those of the migration",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.ByScope,
		Looks:      "all topics of the source that topics and topics.exclude select, and heartbeats topics, which are copied unasked",
		Why:        "Such a topic has no position, so it is copied from the reset rule's place: from its first record, what the old job has copied already.",
		Remedy:     `Narrow "topics": a dot matches any character unless quoted, so a.b also copies a-b. For heartbeats set "heartbeats.replication.enabled": "false" (4.0 and later). Or add the topic to the migration.`,
		Judge:      withConfig(topicsUnplanned),
	}}
}

func topicsUnselected(c *Case, _ settings, r *Reporter) {
	selection, ok := c.selected(r, "topics")
	if !ok {
		return
	}
	for _, topic := range c.Facts.Topics {
		if v := selection.judge(topic); !v.copied {
			r.Block(topic, "the migration has the topic %s, but the connector would not copy it: %s", topic, v.reason)
		}
	}
	for topic := range c.earlierTopics() {
		if v := selection.judge(topic); !v.copied && !slices.Contains(c.Facts.Topics, topic) {
			r.Block(topic, "an earlier plan has the topic %s, but the connector would not copy it any more: %s", topic, v.reason)
		}
	}
}

// earlierTopics returns the topics of the earlier plans.
func (c *Case) earlierTopics() map[string]bool {
	out := map[string]bool{}
	for _, e := range c.Question.Earlier {
		for _, p := range e.Partitions {
			out[p.Topic] = true
		}
	}
	return out
}

func topicsUnplanned(c *Case, _ settings, r *Reporter) {
	source, ok := c.Facts.Source.Get()
	if !ok {
		return // source/unknown
	}
	selection, ok := c.selected(r, "topics")
	if !ok {
		return
	}
	planned := c.earlierTopics()
	for _, topic := range c.Facts.Topics {
		planned[topic] = true
	}
	for name, t := range source.Topics {
		if planned[name] || t.Internal { // Admin.listTopics leaves internal ones out
			continue
		}
		if v := selection.judge(name); v.copied {
			r.Block(name, "the connector would copy the topic %s, which is not in the migration: %s", name, v.reason)
		}
	}
}

// selected returns what decides on topics, or reports that it is not known.
// Unknown names on the target are config/replication-policy's matter.
func (c *Case) selected(r *Reporter, scope string) (*selector, bool) {
	if _, ok := c.policy.Get(); !ok {
		return nil, false
	}
	return needs(r, scope, c.selection)
}
