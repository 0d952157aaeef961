package preflight

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// StartMargin is how long before a record from C on goes source/retention blocks: nobody
// could approve and start in the time that is left.
const StartMargin = time.Hour

// planMargin is how long before it warns: a plan would outlive the record.
const planMargin = offsetmap.DefaultLifetime

// margins are the steps of the countdown: how long before its end records are told apart.
var margins = [...]time.Duration{0, StartMargin, 6 * time.Hour, planMargin, 7 * 24 * time.Hour}

// retentionChecks are about what the source deletes before it is copied.
func retentionChecks() []Check {
	return []Check{{
		ID:         "source/retention",
		Title:      "What lies from C on outlives the start",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "cleanup.policy, retention.ms and retention.bytes of each source topic; from which offset on records are younger than retention.ms allows now, in an hour, in six, in a day and in a week; and how large the logs are (DescribeLogDirs) and how fast they grow, where size bounds them. The scope is the partition where less than an hour is left, with :size behind it where size takes it, and else the topic",
		Why:        "The source deletes by the record's age or the log's size, whether anybody has read it or not. What goes before MirrorMaker 2 starts is not copied. Brokers delete whole segments, so a record may live longer, and never shorter, than its age says. In remote storage it lives as long: local.retention.ms and local.retention.bytes bound only what is on the disk as well.",
		Remedy:     "Keep the records until they are copied: `kafka-configs.sh --bootstrap-server <SOURCE> --alter --entity-type topics --entity-name <TOPIC> --add-config retention.ms=<MS>` with a longer time, or retention.bytes=<BYTES> with a larger size, and the old value again afterwards. Where records are gone already the plan says so by source/offset-expired.",
		Judge:      around(sourceRetention),
	}, {
		ID:         "source/tiered",
		Title:      "What lies from C on is on the brokers' own disks",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "remote.storage.enable of each source topic, and where the log on the leader's disk begins (ListOffsets -4, KIP-405)",
		Why:        "Records below it are read from remote storage: slower, and only while that answers. They are not lost; retention.ms bounds both.",
		Remedy:     "Nothing, where remote storage is known to work. Expect the first records to come slowly.",
		Judge:      around(tiered),
	}}
}

// eachSource calls f for every topic of the migration whose settings were read.
func (c *Case) eachSource(s *Surroundings, r *Reporter, f func(name string, config Settings) error) {
	source, ok := c.Facts.Source.Get()
	if !ok {
		r.NotAsked() // source/unknown
		return
	}
	configs, ok := needs(r, "", s.SourceConfigs)
	if !ok {
		return
	}
	for _, name := range source.existing(c.Facts.Topics) {
		err := errNoSettings
		if config := configs[name]; config != nil {
			err = f(name, config)
		}
		if err != nil {
			r.Unmade(name, err)
		}
	}
}

func sourceRetention(c *Case, s *Surroundings, r *Reporter) {
	c.eachSource(s, r, func(name string, config Settings) error {
		rule, err := config.cleanup()
		if err != nil {
			return err
		}
		r.Saw(name, "%s is %q, %s %d, %s %d", keyCleanup, rule.policy, keyRetention, rule.ms, keyRetentionBytes, rule.bytes)
		var notes []string
		if left, soon := c.countdown(s, name, rule, r); soon != "" {
			notes = append(notes, soon)
		} else if left != "" {
			r.Saw(name, "%s", left)
		}
		if rule.bytes >= 0 {
			if soon := c.sizeCountdown(s, name, rule.bytes, r); soon != "" {
				notes = append(notes, soon)
			}
		}
		if len(notes) > 0 {
			r.Warn(name, "%s", strings.Join(notes, "; "))
		}
		return nil
	})
}

// scopeSize follows the topic or the partition in the scope of what retention.bytes
// does: a finding about records' age and one about a log's size are accepted apart. No
// name of a topic has a colon.
const scopeSize = ":size"

// sizeCountdown reports the partitions whose first record from C on has less than
// StartMargin to live before retention.bytes takes it, as far as that can be estimated,
// and says of which others that is less than a plan lives.
func (c *Case) sizeCountdown(s *Surroundings, topic string, limit int64, r *Reporter) (soon string) {
	var first []offsetmap.TopicPartition
	var nearest sizeLeft
	var errs error
	for _, at := range c.places(topic) {
		if !at.unread() {
			continue
		}
		l, err := s.sizeOf(at, limit)
		switch {
		case err != nil:
			errs = cmp.Or(errs, err) // the same of each
		case l.soon(StartMargin) != "":
			r.Block(at.String()+scopeSize, "%s", l.soon(StartMargin))
		case l.soon(planMargin) != "":
			if len(first) == 0 || l.left < nearest.left {
				nearest = l
			}
			first = append(first, at.TopicPartition)
		default:
			r.Saw(at.String(), "%s%s", l.text, l.within())
		}
	}
	if errs != nil {
		r.Unmade(topic+scopeSize, fmt.Errorf("how soon %s = %d takes what lies from C on: %w", keyRetentionBytes, limit, errs))
	}
	if len(first) > 0 {
		soon = fmt.Sprintf("%s: %s", nearest.soon(planMargin), some(first))
	}
	return soon
}

// countdown reports the partitions whose first record from C on has less than StartMargin
// to live, and returns how long those of the others have at least, and what is to be said
// where that is less than a plan lives.
func (c *Case) countdown(s *Surroundings, topic string, rule cleanup, r *Reporter) (left, soon string) {
	retention := rule.ms
	if _, ends := before(c.Facts.At, retention); !ends {
		return "", ""
	}
	least := len(margins)
	var first []offsetmap.TopicPartition
	for _, at := range c.places(topic) {
		if !at.unread() {
			continue
		}
		step, until, err := s.ages.expiry(c.Facts.At, retention, at)
		if err != nil {
			r.Unmade(at.String(), err)
			continue
		}
		least = min(least, step)
		switch {
		case step == len(margins):
		case step == 0:
			r.Block(at.String(), "the records from C = %s to %s are older than %s = %s allows, and may go at any moment", at.next, until, keyRetention, spell(retention))
		case margins[step] <= StartMargin:
			r.Block(at.String(), "the records from C = %s to %s reach the age of %s = %s within %s, and may go then", at.next, until, keyRetention, spell(retention), spell(margins[step].Milliseconds()))
		case margins[step] <= planMargin:
			first = append(first, at.TopicPartition)
		}
	}
	if len(first) > 0 {
		soon = fmt.Sprintf("within %s the first records from C on reach the age of %s = %s: %s", spell(planMargin.Milliseconds()), keyRetention, spell(retention), some(first))
	}
	if least > 0 {
		left = "what lies from C on has at least " + spell(margins[least-1].Milliseconds()) + " to live"
	}
	return left, soon
}

// expiry returns the first of margins within which a record from C on reaches the age of
// the retention, len(margins) where none does, and up to which offset those reach.
func (a recordAges) expiry(now time.Time, retention int64, at place) (step int, until offsetmap.NextOffset, err error) {
	for step, margin := range margins {
		moment, ok := before(now.Add(margin), retention)
		if !ok {
			continue
		}
		until, old, err := a.older(at.TopicPartition, at.next, moment)
		if old || err != nil {
			return step, until, err
		}
	}
	return len(margins), until, nil
}

// retentionMoments are those that expiry and the checks of the target's times ask about.
func retentionMoments(now time.Time, topic string, config Settings, wanted moments) {
	rule, err := config.cleanup()
	if err != nil || !rule.delete {
		return
	}
	if _, ends := before(now, rule.ms); !ends {
		return
	}
	for _, margin := range margins {
		if moment, ok := before(now.Add(margin), rule.ms); ok {
			wanted.add(moment, topic)
		}
	}
}

// limitMoments are those that the settings of the target topic ask about.
func limitMoments(now time.Time, topic string, target Settings, wanted moments) {
	if rule, err := target.cleanup(); err == nil {
		if moment, ends := before(now, rule.ms); ends {
			wanted.add(moment, topic)
		}
	}
	past, future, err := target.limits()
	if err != nil {
		return
	}
	if moment, ends := before(now, past); ends {
		wanted.add(moment, topic)
	}
	if moment, ends := after(now, future); ends {
		wanted.add(moment, topic)
	}
}

const keyRemote = "remote.storage.enable"

// tiered reports whether the topic has segments in remote storage.
func (s Settings) tiered() bool { return strings.EqualFold(s[keyRemote], "true") }

var errNoLocalStart = errors.New("it was not measured")

// onDisk returns from where on the log is on the leader's disk.
func (s *Surroundings) onDisk(at place) (offsetmap.NextOffset, error) {
	configs, _ := s.SourceConfigs.Get()
	if !configs[at.Topic].tiered() {
		return at.rng.Start, nil
	}
	local, ok := s.localStarts[at.TopicPartition]
	if !ok || local.Offset.IsNone() {
		return local.Offset, fmt.Errorf("%s is true, and where the log on the leader's disk begins is not known: %w", keyRemote, cmp.Or(s.noLocalStart.Reason(at.TopicPartition), errNoLocalStart))
	}
	return local.Offset, nil
}

func tiered(c *Case, s *Surroundings, r *Reporter) {
	none := true
	c.eachSource(s, r, func(name string, config Settings) error {
		if !config.tiered() {
			return nil
		}
		none = false
		var remote []offsetmap.TopicPartition
		var records int64
		for _, at := range c.places(name) {
			local, err := s.onDisk(at)
			if err != nil {
				r.Info(at.String(), "%v", err)
				continue
			}
			if n, _ := local.Sub(at.next); n > 0 {
				remote = append(remote, at.TopicPartition)
				records += n
			}
		}
		r.Saw(name, "%s is true; partitions whose C lies in remote storage alone: %d", keyRemote, len(remote))
		if len(remote) > 0 {
			r.Info(name, "C lies below the log on the leader's disk, by %d offsets in all, which are read from remote storage: %s", records, some(remote))
		}
		return nil
	})
	if none {
		r.Saw("", "no topic has %s", keyRemote)
	}
}
