package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// OffsetExpiry says when brokers may drop the offsets of a group that nobody
// commits to any more: offsets.retention.minutes after the commit, for a group
// that has never had members (KIP-211, GroupMetadata.removeExpiredOffsets). A Flink source
// that starts later finds none, and follows its reset rule.
type OffsetExpiry struct {
	// RetentionMinutes is the smallest offsets.retention.minutes of the source's
	// brokers; null when it is not known of all of them.
	RetentionMinutes *int64 `json:"retentionMinutes"`
	// Earliest is the moment, by the clock of this machine, before which no broker
	// drops them; null when it is not known.
	Earliest *offsetmap.Time `json:"earliest"`
	// Unknown says why Earliest is not known; empty when it is.
	Unknown string `json:"unknown"`
}

// offsetSettings are the brokers' settings for committed offsets: of each the
// smallest.
type offsetSettings struct {
	retention   offsetmap.Fact[int64] // offsets.retention.minutes
	maxMetadata offsetmap.Fact[int64] // offset.metadata.max.bytes
}

func (m *Migration) offsetSettings(ctx context.Context, topics []string) offsetSettings {
	described, ids, err := m.brokerSettings(ctx, topics)
	if err != nil {
		return offsetSettings{retention: offsetmap.NotKnown[int64](err), maxMetadata: offsetmap.NotKnown[int64](err)}
	}
	return offsetSettings{smallest(described, ids, "offsets.retention.minutes"), smallest(described, ids, "offset.metadata.max.bytes")}
}

func (m *Migration) brokerSettings(ctx context.Context, topics []string) (kadm.ResourceConfigs, []int32, error) {
	metadata, err := m.cfg.Source.Admin.Metadata(ctx, topics...) // with none, of all topics
	if err != nil {
		return nil, nil, fmt.Errorf("the source's brokers could not be listed: %w", err)
	}
	ids := metadata.Brokers.NodeIDs()
	if len(ids) == 0 { // asking for none asks for what is set for all
		return nil, nil, errors.New("the source lists no brokers")
	}
	described, err := m.cfg.Source.Admin.DescribeBrokerConfigs(ctx, ids...)
	if err != nil {
		return nil, nil, fmt.Errorf("the source's brokers do not tell their settings: %w", err)
	}
	return described, ids, nil
}

// smallest is the smallest value of a setting over all brokers: which of them
// keeps the group, and which will after the next failure, nobody knows.
func smallest(described kadm.ResourceConfigs, ids []int32, key string) offsetmap.Fact[int64] {
	least := int64(math.MaxInt64)
	for _, id := range ids {
		one, err := described.On(strconv.Itoa(int(id)), nil)
		if err == nil {
			err = one.Err
		}
		if err != nil {
			return offsetmap.NotKnown[int64](fmt.Errorf("broker %d does not tell its settings: %w", id, err))
		}
		text := ""
		for _, c := range one.Configs {
			if c.Key == key {
				text = c.MaybeValue()
			}
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 {
			return offsetmap.NotKnown[int64](fmt.Errorf("broker %d has %s = %q, which is no number of them", id, key, text))
		}
		least = min(least, v)
	}
	return offsetmap.Known(least)
}

// note is the text that is committed beside each offset, so that whoever looks
// at the group sees what wrote it; empty where brokers might refuse it.
func (s offsetSettings) note(digest string) string {
	note := "flinkmm2 " + digest[:min(len(digest), len("sha256:")+12)]
	if most, known := s.maxMetadata.Get(); !known || most < int64(len(note)) {
		return ""
	}
	return note
}

func (s offsetSettings) expiry(committed time.Time) OffsetExpiry {
	minutes, known := s.retention.Get()
	if !known {
		return OffsetExpiry{Unknown: s.retention.Err().Error()}
	}
	at := offsetmap.At(time.Unix(committed.Unix()+minutes*60, 0)) // a Duration holds 292 years only
	return OffsetExpiry{RetentionMinutes: &minutes, Earliest: &at}
}
