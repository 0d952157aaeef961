package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Settings are the effective settings of a topic or a broker by key, defaults
// included (DescribeConfigs). A sensitive one has no value and is left out.
type Settings map[string]string

// ErrNoSetting says that a topic or a broker does not tell a setting, perhaps since
// its version does not have it.
var ErrNoSetting = errors.New("the setting is not told")

// Int returns a setting that is a whole number.
func (s Settings) Int(key string) (int64, error) {
	text, ok := s[key]
	if !ok {
		return 0, noSetting(key)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, not a whole number", key, text)
	}
	return n, nil
}

func noSetting(key string) error { return fmt.Errorf("%s: %w", key, ErrNoSetting) }

// topicSettings reads the settings of those of the topics that exist, all in one
// request.
func topicSettings(ctx context.Context, admin Admin, f offsetmap.Fact[Cluster], names []string) offsetmap.Fact[map[string]Settings] {
	cluster, ok := f.Get()
	if !ok {
		return offsetmap.NotKnown[map[string]Settings](f.Err())
	}
	topics := cluster.existing(names)
	all := make(map[string]Settings, len(topics))
	if len(topics) == 0 {
		return offsetmap.Known(all)
	}
	described, err := admin.DescribeTopicConfigs(ctx, topics...)
	if err != nil {
		return offsetmap.NotKnown[map[string]Settings](err)
	}
	for _, d := range described {
		if d.Err != nil {
			return offsetmap.NotKnown[map[string]Settings](fmt.Errorf("settings of topic %s: %w", d.Name, d.Err))
		}
		all[d.Name] = settingsOf(d)
	}
	return offsetmap.Known(all)
}

// brokerSettings reads the settings of each broker of a cluster, each from itself, and
// which a broker has without telling their values.
func brokerSettings(ctx context.Context, admin Admin, f offsetmap.Fact[Cluster]) (told offsetmap.Fact[map[int32]Settings], untold map[string]bool) {
	cluster, ok := f.Get()
	if !ok {
		return offsetmap.NotKnown[map[int32]Settings](f.Err()), nil
	}
	all, untold, err := describeBrokers(ctx, admin, cluster.Brokers)
	return fact(all, err), untold
}

// ReadBrokerSettings reads the settings of each broker of a cluster, each from itself.
func ReadBrokerSettings(ctx context.Context, admin Admin) (map[int32]Settings, error) {
	cluster, err := fresh.Topics(ctx, admin)
	if err != nil {
		return nil, fmt.Errorf("the brokers could not be listed: %w", err)
	}
	all, _, err := describeBrokers(ctx, admin, cluster.Brokers)
	return all, err
}

func describeBrokers(ctx context.Context, admin Admin, ids []int32) (all map[int32]Settings, untold map[string]bool, err error) {
	if len(ids) == 0 { // asking for none asks for what is set for all
		return nil, nil, errors.New("the cluster lists no brokers")
	}
	described, err := admin.DescribeBrokerConfigs(ctx, ids...)
	if err != nil {
		return nil, nil, fmt.Errorf("the brokers do not tell their settings: %w", err)
	}
	all, untold = make(map[int32]Settings, len(described)), map[string]bool{}
	for _, d := range described {
		id, err := strconv.ParseInt(d.Name, 10, 32)
		switch {
		case d.Err != nil:
			return nil, nil, fmt.Errorf("settings of broker %s: %w", d.Name, d.Err)
		case err != nil:
			return nil, nil, fmt.Errorf("settings of a broker %q, which is no number", d.Name)
		}
		all[int32(id)] = settingsOf(d)
		for _, c := range d.Configs {
			if c.Sensitive && c.Source != kmsg.ConfigSourceDefaultConfig {
				untold[c.Key] = true
			}
		}
	}
	for _, id := range ids {
		if all[id] == nil {
			return nil, nil, fmt.Errorf("broker %d does not tell its settings", id)
		}
	}
	return all, untold, nil
}

// SmallestSetting returns the smallest value that any of the brokers has of a setting
// that is a whole number and not negative: which of them keeps a group, or a
// transactional id, and which will after the next failure, nobody knows.
func SmallestSetting(brokers map[int32]Settings, key string) (int64, error) {
	least, errs := int64(math.MaxInt64), error(nil)
	for _, id := range slices.Sorted(maps.Keys(brokers)) {
		v, err := brokers[id].Int(key)
		switch {
		case err != nil:
			errs = errors.Join(errs, fmt.Errorf("broker %d: %w", id, err))
		case v < 0:
			errs = errors.Join(errs, fmt.Errorf("broker %d has %s = %d, which is negative", id, key, v))
		}
		least = min(least, v)
	}
	if len(brokers) == 0 {
		errs = fmt.Errorf("%s: no broker was asked", key)
	}
	return least, errs
}

// KeyOffsetsRetention is the brokers' setting of for how many minutes they keep the
// offsets of a group that nobody commits to any more.
const KeyOffsetsRetention = "offsets.retention.minutes"

// OffsetsKeptUntil returns the moment before which no broker drops an offset that was
// committed at the time for a group that has never had members, as a Flink job's: so many
// minutes later (KIP-211, GroupMetadata.removeExpiredOffsets).
func OffsetsKeptUntil(committed time.Time, minutes int64) time.Time {
	return time.Unix(committed.Unix()+minutes*60, 0) // a Duration holds 292 years only
}

func settingsOf(d kadm.ResourceConfig) Settings {
	s := make(Settings, len(d.Configs))
	for _, c := range d.Configs {
		if c.Value != nil && !c.Sensitive {
			s[c.Key] = *c.Value
		}
	}
	return s
}
