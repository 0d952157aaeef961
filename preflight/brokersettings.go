package preflight

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"

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

// brokerSettings reads the settings of each broker of a cluster, each from itself.
func brokerSettings(ctx context.Context, admin Admin, f offsetmap.Fact[Cluster]) offsetmap.Fact[map[int32]Settings] {
	cluster, ok := f.Get()
	if !ok {
		return offsetmap.NotKnown[map[int32]Settings](f.Err())
	}
	described, err := admin.DescribeBrokerConfigs(ctx, cluster.Brokers...)
	if err != nil {
		return offsetmap.NotKnown[map[int32]Settings](err)
	}
	all := make(map[int32]Settings, len(described))
	for _, d := range described {
		id, err := strconv.ParseInt(d.Name, 10, 32)
		switch {
		case d.Err != nil:
			return offsetmap.NotKnown[map[int32]Settings](fmt.Errorf("settings of broker %s: %w", d.Name, d.Err))
		case err != nil:
			return offsetmap.NotKnown[map[int32]Settings](fmt.Errorf("settings of a broker %q, which is no number", d.Name))
		}
		all[int32(id)] = settingsOf(d)
	}
	return offsetmap.Known(all)
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
