package preflight

import (
	"errors"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const keyDeleteRetention = "delete.retention.ms"

// anyAge is a moment that no record is older than: the first record of a log. The log
// start of a compacted topic may lie before that.
const anyAge = 0

func compactionChecks() []Check {
	return []Check{{
		ID:         "source/compacted",
		Title:      "The source keeps every record until it is copied",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "cleanup.policy and delete.retention.ms of each source topic, and whether records from C on are older than that. The scope is the topic, or the partition where they are",
		Why:        "The log cleaner takes records that a later one of the same key replaces. C may have become a hole, which loses nothing: MirrorMaker 2 goes on at the next record. But of what was taken nobody can prove that it was copied. A tombstone is taken delete.retention.ms after it was first seen by the cleaner; where nobody has copied it by then, the key that it deletes stays on the target for ever.",
		Remedy:     "Start soon. Where tombstones may go before that: `kafka-configs.sh --bootstrap-server <SOURCE> --alter --entity-type topics --entity-name <TOPIC> --add-config delete.retention.ms=<MS>` with a longer time, and the old value again afterwards. Of what is older already, compare the keys of both sides before the start, or accept the partition.",
		Judge:      around(compacted),
	}}
}

func compacted(c *Case, s *Surroundings, r *Reporter) {
	none := true
	c.eachSource(s, r, func(name string, config Settings) error {
		rule, err := config.cleanup()
		if err != nil || !rule.compact {
			return err
		}
		none = false
		keeps, err := config.Int(keyDeleteRetention)
		if err != nil {
			return err
		}
		r.Saw(name, "%s is %q, %s %d", keyCleanup, rule.policy, keyDeleteRetention, keeps)
		r.Warn(name, "%s is %q: what the cleaner takes before it is copied cannot be proven; a tombstone is kept for %s, as %s says", keyCleanup, rule.policy, spell(keeps), keyDeleteRetention)
		return c.tombstones(s, name, keeps, r)
	})
	if none {
		r.Saw("", "no topic of the source is compacted")
	}
}

// tombstones reports the partitions from which a tombstone may be gone already.
func (c *Case) tombstones(s *Surroundings, topic string, keeps int64, r *Reporter) error {
	moment, ends := before(c.Facts.At, keeps)
	if !ends {
		return nil
	}
	var errs error
	for _, at := range c.places(topic) {
		if !at.unread() {
			continue
		}
		first, err := s.ages[anyAge].of(at.TopicPartition)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		from := at.next
		if first.Offset.Compare(from) > 0 { // the cleaner has left a hole there, and no record is old in it
			from = first.Offset
		}
		until, old, err := s.ages.older(at.TopicPartition, from, moment)
		switch {
		case err != nil:
			errs = errors.Join(errs, err)
		case old:
			r.Block(at.String(), "the records from offset %s to %s are older than %s = %s: a tombstone among them may be gone already, and the key that it deletes would stay on the target", from, until, keyDeleteRetention, spell(keeps))
		}
	}
	return errs
}

// compactionMoments are those that tombstones asks about.
func compactionMoments(now time.Time, topic string, config Settings, wanted moments) {
	rule, err := config.cleanup()
	if err != nil || !rule.compact {
		return
	}
	if keeps, err := config.Int(keyDeleteRetention); err == nil {
		if moment, ends := before(now, keeps); ends {
			wanted.add(moment, topic)
			wanted.add(anyAge, topic)
		}
	}
}
