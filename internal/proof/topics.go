package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// topicsOf returns the names of the topics of one side, sorted.
func topicsOf(ps []Partition, of func(Partition) offsetmap.TopicPartition) []string {
	names := map[string]bool{}
	for _, p := range ps {
		names[of(p).Topic] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// describe returns what must be known of every topic. A topic that cannot be
// described is an error: without it, what compaction took would count as
// missing, and a stamped timestamp as an alteration.
func describe(ctx context.Context, side which, c Cluster, names []string) (map[string]Topic, error) {
	topics := map[string]Topic{}
	var ask []string
	for _, name := range names {
		if t, known := c.Topics[name]; known {
			topics[name] = t
		} else {
			ask = append(ask, name)
		}
	}
	if len(ask) == 0 {
		return topics, nil
	}
	described, err := c.Admin.DescribeTopicConfigs(ctx, ask...)
	var errs []error
	for _, name := range ask {
		t, reason := topicOf(name, described)
		if reason == nil {
			topics[name] = t
			continue
		}
		errs = append(errs, fmt.Errorf("%s topic %s: %w", side, name, reason))
	}
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, err)...)
	}
	return topics, nil
}

func topicOf(name string, described kadm.ResourceConfigs) (Topic, error) {
	r, err := described.On(name, nil)
	if err := errors.Join(err, r.Err); err != nil {
		return Topic{}, fmt.Errorf("describe configs: %w", err)
	}
	values := map[string]string{}
	for _, c := range r.Configs {
		if c.Value != nil {
			values[c.Key] = *c.Value
		}
	}
	policy, told := values["cleanup.policy"]
	if !told {
		return Topic{}, errors.New("the brokers do not tell cleanup.policy")
	}
	stamp, told := values["message.timestamp.type"]
	if !told {
		return Topic{}, errors.New("the brokers do not tell message.timestamp.type")
	}
	t := Topic{Compacted: slices.Contains(strings.Split(strings.ReplaceAll(policy, " ", ""), ","), "compact")}
	switch stamp {
	case "CreateTime":
	case "LogAppendTime":
		t.Timestamps = Stamped
	default:
		return Topic{}, fmt.Errorf("message.timestamp.type is %q, neither CreateTime nor LogAppendTime", stamp)
	}
	return t, nil
}
