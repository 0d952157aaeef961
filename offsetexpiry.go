package flinkmm2

import (
	"context"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
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

func (m *Migration) offsetSettings(ctx context.Context) offsetSettings {
	brokers, err := preflight.ReadBrokerSettings(ctx, m.cfg.Source.Admin)
	if err != nil {
		err = fmt.Errorf("the source: %w", err)
		return offsetSettings{retention: offsetmap.NotKnown[int64](err), maxMetadata: offsetmap.NotKnown[int64](err)}
	}
	return settingsOfOffsets(brokers)
}

func settingsOfOffsets(brokers map[int32]preflight.Settings) offsetSettings {
	least := func(key string) offsetmap.Fact[int64] {
		v, err := preflight.SmallestSetting(brokers, key)
		if err != nil {
			return offsetmap.NotKnown[int64](err)
		}
		return offsetmap.Known(v)
	}
	return offsetSettings{retention: least(preflight.KeyOffsetsRetention), maxMetadata: least("offset.metadata.max.bytes")}
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
	at := offsetmap.At(preflight.OffsetsKeptUntil(committed, minutes))
	return OffsetExpiry{RetentionMinutes: &minutes, Earliest: &at}
}
