package offsetmap

import "fmt"

// topicChecker sees partitions in order and says where the facts of one topic
// contradict those of another partition.
type topicChecker struct {
	topic, target string
	id            TopicID
	targets       map[string]string // target topic → source topic
}

// next returns what is wrong with the next partition, "" when nothing is.
func (c *topicChecker) next(topic string, id TopicID, target string) string {
	if c.targets == nil {
		c.targets = make(map[string]string)
	}
	if c.topic == topic {
		switch {
		case c.id != id:
			return fmt.Sprintf("topic id %s, another partition of the topic has %s: it was created again while it was measured", id, c.id)
		case c.target != target:
			return fmt.Sprintf("target topic %q, another partition of the topic has %q", target, c.target)
		}
		return ""
	}
	c.topic, c.id, c.target = topic, id, target
	other, shared := c.targets[target]
	if shared {
		return fmt.Sprintf("target topic %q is also that of source topic %q: their records would mix", target, other)
	}
	c.targets[target] = topic
	return ""
}
