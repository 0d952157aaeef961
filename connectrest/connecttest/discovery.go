package connecttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadataMinAge lets clients see a topic soon after its creation; the default
// of the client makes a test wait.
const metadataMinAge = 50 * time.Millisecond

// partitionCounts asks a cluster for its topics. It asks the brokers each time:
// kadm would answer from a cache of some seconds.
func partitionCounts(ctx context.Context, cl *kgo.Client) (map[string]int, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = nil // all
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int, len(resp.Topics))
	for _, t := range resp.Topics {
		if t.Topic == nil || t.IsInternal {
			continue
		}
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, fmt.Errorf("describe topic %s: %w", *t.Topic, err)
		}
		counts[*t.Topic] = len(t.Partitions)
	}
	return counts, nil
}

// findPartitions returns the source partitions that are to be copied, sorted. A
// real connector has them in the order of a hash map of topic names.
func (inst *instance) findPartitions(ctx context.Context) ([]topicPartition, error) {
	counts, err := partitionCounts(ctx, inst.source)
	if err != nil {
		return nil, err
	}
	var found []topicPartition
	for topic, n := range counts {
		if !inst.mirror.replicates(topic) {
			continue
		}
		for p := range n {
			found = append(found, topicPartition{topic, int32(p)})
		}
	}
	slices.SortFunc(found, func(a, b topicPartition) int {
		return cmp.Or(strings.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	return found, nil
}

func (inst *instance) missingOnTarget(ctx context.Context, parts []topicPartition) (bool, error) {
	counts, err := partitionCounts(ctx, inst.target)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(parts, func(tp topicPartition) bool {
		return int(tp.partition) >= counts[inst.mirror.policy.remoteTopic(tp.topic)]
	}), nil
}

// createRemotePartitions creates the topics that the target lacks and adds
// partitions where the source has more (computeAndCreateTopicPartitions). No
// configuration key forbids it. Refusals are only logged.
func (inst *instance) createRemotePartitions(ctx context.Context) error {
	have, err := partitionCounts(ctx, inst.target)
	if err != nil {
		return err
	}
	want := make(map[string]int)
	for _, tp := range inst.known {
		want[tp.topic]++
	}
	var missing []string
	admin := kadm.NewClient(inst.target)
	for topic, n := range want {
		remote := inst.mirror.policy.remoteTopic(topic)
		switch count, exists := have[remote]; {
		case !exists:
			missing = append(missing, topic)
		case count < n:
			resp, err := admin.UpdatePartitions(ctx, n, remote)
			if err = firstError(err, resp.Error()); err != nil {
				inst.log.WarnContext(ctx, "could not create partitions", "topic", remote, "error", err)
				continue
			}
			inst.log.InfoContext(ctx, "increased partitions", "topic", remote, "partitions", n)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	configs, err := inst.sourceConfigs(ctx, missing)
	if err != nil {
		return err
	}
	for _, topic := range missing {
		remote := inst.mirror.policy.remoteTopic(topic)
		resp, err := admin.CreateTopic(ctx, int32(want[topic]), inst.mirror.replicationFactor, configs[topic], remote)
		if err = firstError(err, resp.Err); err != nil {
			inst.log.WarnContext(ctx, "could not create topic", "topic", remote, "error", err)
			continue
		}
		inst.log.InfoContext(ctx, "created topic", "topic", remote, "partitions", want[topic])
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sourceConfigs returns what new topics inherit: settings of the source topics
// that are no defaults, but for config.properties.exclude. It does not matter
// whether config sync is on.
func (inst *instance) sourceConfigs(ctx context.Context, topics []string) (map[string]map[string]*string, error) {
	described, err := kadm.NewClient(inst.source).DescribeTopicConfigs(ctx, topics...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[string]*string)
	for _, rc := range described {
		if rc.Err != nil {
			return nil, fmt.Errorf("describe the configuration of topic %s: %w", rc.Name, rc.Err)
		}
		own := make(map[string]*string)
		for _, c := range rc.Configs {
			if c.Source == kmsg.ConfigSourceDynamicTopicConfig && !c.Sensitive && !inst.mirror.configExclude.matches(c.Key) {
				own[c.Key] = c.Value
			}
		}
		all[rc.Name] = own
	}
	return all, nil
}

// createOffsetSyncsTopic creates the topic that translates offsets, by default
// on the source. A version without the switch for it always does.
func (inst *instance) createOffsetSyncsTopic(ctx context.Context) error {
	if !inst.mirror.emitSyncs {
		return nil
	}
	cl := inst.source
	if inst.mirror.syncsOnTarget {
		cl = inst.target
	}
	compact := "compact"
	topic := inst.mirror.offsetSyncsTopic()
	resp, err := kadm.NewClient(cl).CreateTopic(ctx, 1, inst.mirror.syncsReplication, map[string]*string{"cleanup.policy": &compact}, topic)
	if err = firstError(err, resp.Err); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	return nil
}
