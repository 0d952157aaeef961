package preflight

import (
	"errors"
	"math"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const (
	keyTimestampBefore     = "message.timestamp.before.max.ms"     // since 3.6 (KIP-937)
	keyTimestampAfter      = "message.timestamp.after.max.ms"      // since 3.6; by default an hour from 4.0 on
	keyTimestampDifference = "message.timestamp.difference.max.ms" // until 3.9
)

// targetTimeChecks are about what the target makes of the timestamps of copies, which
// are the source's.
func targetTimeChecks() []Check {
	return []Check{{
		ID:         "target/retention",
		Title:      "The target keeps copies as long as the source keeps records",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "retention.ms and retention.bytes of each topic on both sides, and from which offset on the source's records are younger than the target's retention. The scope is the target topic, or its partition where records from C on are older",
		Why:        "Copies keep their timestamp. One that is older than the target's retention.ms goes at the next clean-up, before anybody has read it.",
		Remedy:     "`kafka-configs.sh --bootstrap-server <TARGET> --alter --entity-type topics --entity-name <TARGET-TOPIC> --add-config retention.ms=<MS>,retention.bytes=<BYTES>` with the source's values, or longer ones until the consumers have caught up.",
		Judge:      eachPair(targetRetention),
	}, {
		ID:         "target/timestamp-type",
		Title:      "Copies keep the timestamps of their records",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "message.timestamp.type of each target topic",
		Why:        "With LogAppendTime the brokers put the time of the copy in the place of the record's. Consumers see other timestamps, time-based retention begins anew, and the proof cannot compare timestamps there.",
		Remedy:     "If the old job's copies kept theirs: `kafka-configs.sh --bootstrap-server <TARGET> --alter --entity-type topics --entity-name <TARGET-TOPIC> --add-config message.timestamp.type=CreateTime`.",
		Judge:      eachPair(timestampType),
	}, {
		ID:         "target/timestamp-limits",
		Title:      "The target takes the timestamps that the source's records have",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "message.timestamp.before.max.ms and message.timestamp.after.max.ms of each target topic (difference.max.ms before 3.9), against the first records of the source from those moments on. The scope is the partition on the target",
		Why:        "A record outside the limits is refused (INVALID_TIMESTAMP): its task fails, and again after each restart. Since 4.0 a target takes nothing that is more than an hour ahead of its clock, unless it is told to.",
		Remedy:     "`kafka-configs.sh --bootstrap-server <TARGET> --alter --entity-type topics --entity-name <TARGET-TOPIC> --add-config message.timestamp.after.max.ms=9223372036854775807,message.timestamp.before.max.ms=9223372036854775807`, until the records are copied.",
		Judge:      eachPair(timestampLimits),
	}}
}

// onTarget is the partition of the same number on the target.
func (p pair) onTarget(at place) string {
	return offsetmap.TopicPartition{Topic: p.target.Name, Partition: at.Partition}.String()
}

func targetRetention(c *Case, s *Surroundings, p pair, r *Reporter) error {
	from, to, err := p.cleanups()
	if err != nil {
		return err
	}
	r.Saw(p.scope(), "%s is %d and %s is %d, and %d and %d on the source", keyRetention, to.ms, keyRetentionBytes, to.bytes, from.ms, from.bytes)
	shorter := func(target, source int64) bool { return target >= 0 && (source < 0 || target < source) }
	switch ms, bytes := shorter(to.ms, from.ms), shorter(to.bytes, from.bytes); {
	case !from.delete: // target/cleanup-policy
	case ms && bytes:
		r.Warn(p.scope(), "%s is %d and %s is %d; %s on the source keeps records longer, by %d and %d", keyRetention, to.ms, keyRetentionBytes, to.bytes, p.source.Name, from.ms, from.bytes)
	case ms:
		r.Warn(p.scope(), "%s is %d; %s on the source keeps records longer, by %d", keyRetention, to.ms, p.source.Name, from.ms)
	case bytes:
		r.Warn(p.scope(), "%s is %d; %s on the source keeps more, by %d", keyRetentionBytes, to.bytes, p.source.Name, from.bytes)
	}
	stamped, err := p.to.stamps()
	if err != nil || stamped {
		return err
	}
	limit, ends := before(c.Facts.At, to.ms)
	if !ends {
		return nil
	}
	for _, at := range c.places(p.source.Name) {
		if !at.unread() {
			continue
		}
		until, old, err := s.ages.older(at.TopicPartition, at.next, limit)
		switch {
		case err != nil:
			r.Unmade(p.onTarget(at), err)
		case old:
			r.Block(p.onTarget(at), "the source's records from C = %s to %s are older than %s allows on the target, %s: their copies go at once", at.next, until, keyRetention, spell(to.ms))
		}
	}
	return nil
}

func timestampType(_ *Case, _ *Surroundings, p pair, r *Reporter) error {
	stamped, err := p.to.stamps()
	if err != nil {
		return err
	}
	r.Saw(p.scope(), "%s is %s", keyTimestampType, p.to[keyTimestampType])
	if stamped {
		r.Warn(p.scope(), "%s is %s: the copies get the time at which they are written", keyTimestampType, p.to[keyTimestampType])
	}
	return nil
}

// limit returns how far in one direction a timestamp may lie from the broker's clock, in
// milliseconds, and negative where there is no limit. Where a release has both the old
// setting and the new one, the new one counts once it is not at its default, which is
// then none (LogConfig.getMessageTimestampBeforeMaxMs). A broker that has neither does
// not look at timestamps.
func (s Settings) limit(key string) (int64, error) {
	for _, key := range []string{key, keyTimestampDifference} {
		v, err := s.Int(key)
		switch {
		case errors.Is(err, ErrNoSetting):
		case err != nil:
			return 0, err
		case v != math.MaxInt64:
			return v, nil
		}
	}
	return -1, nil
}

func (s Settings) limits() (before, after int64, err error) {
	before, errBefore := s.limit(keyTimestampBefore)
	after, errAfter := s.limit(keyTimestampAfter)
	return before, after, errors.Join(errBefore, errAfter)
}

func timestampLimits(c *Case, s *Surroundings, p pair, r *Reporter) error {
	past, future, err := p.to.limits()
	stamped, errType := p.to.stamps()
	if err = errors.Join(err, errType); err != nil {
		return err
	}
	if stamped {
		r.Saw(p.scope(), "%s is %s, with which no timestamp is refused", keyTimestampType, logAppendTime)
		return nil
	}
	r.Saw(p.scope(), "takes timestamps from %s before to %s after its clock", orAny(past), orAny(future))
	earliest, early := before(c.Facts.At, past)
	latest, late := after(c.Facts.At, future)
	for _, at := range c.places(p.source.Name) {
		if !at.unread() {
			continue
		}
		scope := p.onTarget(at)
		if early {
			until, old, err := s.ages.older(at.TopicPartition, at.next, earliest)
			switch {
			case err != nil:
				r.Unmade(scope, err)
				continue
			case old:
				r.Block(scope, "the source's records from C = %s to %s are older than %s = %s allows", at.next, until, keyTimestampBefore, spell(past))
				continue
			}
		}
		if late {
			reportFuture(s.ages, at, latest, future, scope, r)
		}
	}
	return nil
}

// reportFuture reports a record from C on whose timestamp is later than the moment.
func reportFuture(ages recordAges, at place, moment, limit int64, scope string, r *Reporter) {
	first, err := ages[moment].of(at.TopicPartition)
	switch {
	case err != nil:
		r.Unmade(scope, err)
	case first.Timestamp < 0: // kadm's answer where no record is as late
	case first.Offset.Compare(at.next) >= 0:
		r.Block(scope, "the source's record %s has the timestamp %s, which is further ahead than %s = %s allows", first.Offset, stampOf(first.Timestamp), keyTimestampAfter, spell(limit))
	default:
		r.Block(scope, "the source's record %s, before C = %s, has the timestamp %s, which is further ahead than %s = %s allows: whether one from C on has such a timestamp too cannot be told", first.Offset, at.next, stampOf(first.Timestamp), keyTimestampAfter, spell(limit))
	}
}

func stampOf(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

func orAny(ms int64) string {
	if ms < 0 {
		return "any time"
	}
	return spell(ms)
}
