package preflight

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const (
	keyMaxMessage      = "max.message.bytes"
	keyMaxRequest      = producerPrefix + "max.request.size"
	keyProducerCodec   = producerPrefix + "compression.type"
	keyCompression     = "compression.type"
	compressionAsGiven = "producer"

	// defaultMaxRequest is ProducerConfig's default of max.request.size.
	defaultMaxRequest = 1 << 20
	// logOverhead is what a batch has on a broker beside what a producer counts: Kafka's
	// default of message.max.bytes is that of max.request.size and this much
	// (Records.LOG_OVERHEAD).
	logOverhead = 12
)

// targetConfigChecks are about settings of the target's topics by which they would
// refuse, drop or rewrite copies.
func targetConfigChecks() []Check {
	return []Check{{
		ID:         "target/max-message-bytes",
		Title:      "The target takes batches as large as the source has",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the effective max.message.bytes of each topic on both sides, and producer.override.max.request.size (by default 1048576, unless the worker's own file says otherwise, which no API shows). The scope is the target topic, or the key of the connector's config",
		Why:        "A record that the source took and the target refuses (RecordTooLargeException) stops its task, again after each restart; what lies behind it is not copied. The producer measures a record before it compresses it, so one that came compressed may be larger than any limit here shows.",
		Remedy:     "`kafka-configs.sh --bootstrap-server <TARGET> --alter --entity-type topics --entity-name <TARGET-TOPIC> --add-config max.message.bytes=<BYTES>` with the source's value, and \"producer.override.max.request.size\": \"<BYTES>\" in the connector's config. Where the largest record is known to be smaller, accept the scope.",
		Judge:      around(maxMessageBytes),
	}, {
		ID:         "target/cleanup-policy",
		Title:      "The target keeps what the source keeps",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "cleanup.policy of each topic on both sides. The scope is the target topic",
		Why:        "A compacted topic refuses records without a key (INVALID_RECORD), at which the task fails, and keeps the latest of each key alone. One that deletes by time or size loses keys that the source keeps for ever.",
		Remedy:     "`kafka-configs.sh --bootstrap-server <TARGET> --alter --entity-type topics --entity-name <TARGET-TOPIC> --add-config 'cleanup.policy=[<POLICY>]'` with the source's policy.",
		Judge:      eachPair(cleanupPolicies),
	}, {
		ID:         "target/compression",
		Title:      "The brokers keep batches as the producer compresses them",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "compression.type of each target topic, against producer.override.compression.type (by default none, unless the worker's own file says otherwise)",
		Why:        "Where they differ the brokers compress each batch again. No record changes; while MirrorMaker 2 catches up this takes time of the target's processors.",
		Remedy:     `Set "producer.override.compression.type" to the topic's compression, or leave it.`,
		Judge:      eachPair(compression),
	}}
}

func maxMessageBytes(c *Case, s *Surroundings, r *Reporter) {
	var largest int64
	var largestOf string
	eachPair(func(_ *Case, _ *Surroundings, p pair, r *Reporter) error {
		from, err := p.from.Int(keyMaxMessage)
		if err != nil {
			return fmt.Errorf("on the source: %w", err)
		}
		to, err := p.to.Int(keyMaxMessage)
		if err != nil {
			return err
		}
		r.Saw(p.scope(), "%s is %d, and %d on the source", keyMaxMessage, to, from)
		if from > largest {
			largest, largestOf = from, p.source.Name
		}
		if to < from {
			r.Block(p.scope(), "%s is %d, and %s on the source takes batches of up to %d bytes", keyMaxMessage, to, p.source.Name, from)
		}
		return nil
	})(c, r)
	info, ok := c.Facts.Connector.Get()
	if !ok || largestOf == "" {
		return
	}
	text, set, err := settings{info.Config}.get(keyMaxRequest)
	if err != nil {
		r.Unmade(keyMaxRequest, err)
		return
	}
	most := int64(defaultMaxRequest)
	if set {
		if most, err = strconv.ParseInt(text, 10, 32); err != nil || most < 0 {
			r.Unmade(keyMaxRequest, fmt.Errorf("%s is %q, which is no size", keyMaxRequest, text))
			return
		}
	}
	switch small := largest > most+logOverhead; {
	case small && set:
		r.Block(keyMaxRequest, "%s is %d, and %s on the source takes batches of up to %d bytes", keyMaxRequest, most, largestOf, largest)
	case small:
		r.Warn(keyMaxRequest, "%s is not set, and %s on the source takes batches of up to %d bytes: unless the worker's own file raises it, the producer refuses a record above its default of %d", keyMaxRequest, largestOf, largest, most)
	case set:
		r.Saw(keyMaxRequest, "%d", most)
	default:
		r.Saw(keyMaxRequest, "not set, by default %d", most)
	}
}

func cleanupPolicies(_ *Case, _ *Surroundings, p pair, r *Reporter) error {
	from, to, err := p.cleanups()
	if err != nil {
		return err
	}
	r.Saw(p.scope(), "%s is %q, and %q on the source", keyCleanup, to.policy, from.policy)
	switch {
	case to.compact && !from.compact:
		r.Block(p.scope(), "%s is %q, and %q for %s on the source: records without a key would be refused, and of each key the latest alone would stay", keyCleanup, to.policy, from.policy, p.source.Name)
	case !from.delete && (to.ms >= 0 || to.bytes >= 0):
		r.Warn(p.scope(), "%s is %q with %s %d and %s %d, and %q for %s on the source, which keeps the latest record of each key", keyCleanup, to.policy, keyRetention, to.ms, keyRetentionBytes, to.bytes, from.policy, p.source.Name)
	}
	return nil
}

func compression(c *Case, _ *Surroundings, p pair, r *Reporter) error {
	codec, err := p.to.text(keyCompression)
	if err != nil {
		return err
	}
	info, ok := c.Facts.Connector.Get()
	if !ok {
		r.NotAsked()
		return nil
	}
	producer, err := settings{info.Config}.or(keyProducerCodec, "none")
	if err != nil {
		producer = "what its config provider says"
	}
	if strings.EqualFold(producer, "none") {
		producer = "uncompressed" // as a topic says it
	}
	r.Saw(p.scope(), "%s is %q, the producer's %q", keyCompression, codec, producer)
	if codec != compressionAsGiven && !strings.EqualFold(codec, producer) {
		r.Info(p.scope(), "%s is %q and the producer sends %q: the brokers compress each batch again", keyCompression, codec, producer)
	}
	return nil
}
