package preflight

import (
	"errors"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// widenedCheck is about a config that would bring topics to a connector that is not
// STOPPED.
func widenedCheck() Check {
	return Check{
		ID:         "connector/topics-widened",
		Title:      "No topic comes to a connector that is not STOPPED",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the topics that the config of the migration selects and the connector's own does not, against the connector's state",
		Why:        "As soon as the config of a connector that runs, is paused or starts selects a topic, or when it goes on, the topic is copied from its first record: what the old job has copied comes again.",
		Remedy:     "Do not give the connector the config by hand. `runbook -f <MIGRATION> widen`, or Migration.Widen, stops it first, and the topics are planned before it runs again.",
		Judge: func(c *Case, r *Reporter) {
			status, known := c.Facts.Status.Get()
			if c.Question.Config == nil || !known || status.Connector.State == connectrest.StateStopped {
				return
			}
			topics, err := c.Facts.NewlyCopied(c.Question.Config)
			if err != nil {
				return // what it cannot be told from blocks already
			}
			for _, topic := range topics {
				r.Block(topic, "the connector is %s and does not copy the topic; with the config of the migration it would, from its first record", status.Connector.State)
			}
		},
	}
}

// NewlyCopied returns the topics of the source that the connector would copy with a
// config and does not with its own, sorted.
func (f Facts) NewlyCopied(config connectrest.Config) ([]string, error) {
	has, err := f.selects()
	if err != nil {
		return nil, err
	}
	source, ok := f.Source.Get()
	if !ok {
		return nil, f.Source.Err()
	}
	f.Connector = offsetmap.Known(connectrest.ConnectorInfo{Name: f.Name, Config: config})
	would, err := f.selects()
	if err != nil {
		return nil, err
	}
	var out []string
	for name, t := range source.Topics {
		if !t.Internal && !t.Missing() && would.judge(name).copied && !has.judge(name).copied {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// selects returns what decides which topics the connector copies.
func (f Facts) selects() (*selector, error) {
	c := &Case{Facts: f}
	c.policy = c.namingPolicy()
	s := c.selector()
	if selection, ok := s.Get(); ok {
		return selection, nil
	}
	if s.IsAbsent() {
		return nil, errors.New("there is no connector")
	}
	return nil, s.Err()
}
