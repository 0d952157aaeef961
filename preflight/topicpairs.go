package preflight

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The settings of topics that more than one check reads (TopicConfig).
const (
	keyCleanup        = "cleanup.policy"
	keyRetention      = "retention.ms"
	keyRetentionBytes = "retention.bytes"
	keyTimestampType  = "message.timestamp.type"

	logAppendTime = "LogAppendTime"
)

// pair is a source topic and the topic that it is copied to, with their settings.
type pair struct {
	source, target Topic
	from, to       Settings
}

// scope is the target's name of the topic.
func (p pair) scope() string { return p.target.Name }

var errNoSettings = errors.New("its settings were not read")

// eachPair makes a check of the settings of every topic of the migration that both sides
// have. What judge returns is why it could not be made for that topic.
func eachPair(judge func(*Case, *Surroundings, pair, *Reporter) error) func(*Case, *Reporter) {
	return around(func(c *Case, s *Surroundings, r *Reporter) {
		if _, _, ok := c.clusters(); !ok {
			r.NotAsked() // source/unknown, target/unknown
			return
		}
		from, okFrom := needs(r, "", s.SourceConfigs)
		to, okTo := s.TargetConfigs.Get()
		if !okFrom {
			return
		}
		if !okTo {
			r.Unmade("", s.TargetConfigs.Err())
			return
		}
		none := true
		c.eachTarget(func(source, target Topic, name string) {
			if absent(target) || target.Err != nil {
				return // target/topic-missing
			}
			none = false
			p := pair{source: source, target: target, from: from[source.Name], to: to[name]}
			err := errNoSettings
			if p.from != nil && p.to != nil {
				err = judge(c, s, p, r)
			}
			if err != nil {
				r.Unmade(name, err)
			}
		})
		if none {
			r.NotAsked()
		}
	})
}

// text returns a setting that is a word.
func (s Settings) text(key string) (string, error) {
	v, ok := s[key]
	if !ok {
		return "", noSetting(key)
	}
	return v, nil
}

// cleanup says by what a topic loses records.
type cleanup struct {
	policy          string
	compact, delete bool
	ms, bytes       int64 // of delete; negative without end
}

func (s Settings) cleanup() (cleanup, error) {
	policy, err := s.text(keyCleanup)
	if err != nil {
		return cleanup{}, err
	}
	list := splitList(policy)
	c := cleanup{policy: policy, compact: slices.Contains(list, "compact"), delete: slices.Contains(list, "delete"), ms: -1, bytes: -1}
	if !c.delete {
		return c, nil
	}
	ms, errMS := s.Int(keyRetention)
	bytes, errBytes := s.Int(keyRetentionBytes)
	c.ms, c.bytes = ms, bytes
	return c, errors.Join(errMS, errBytes)
}

// cleanups says by what a topic loses records on either side.
func (p pair) cleanups() (from, to cleanup, err error) {
	if from, err = p.from.cleanup(); err != nil {
		return from, to, fmt.Errorf("on the source: %w", err)
	}
	to, err = p.to.cleanup()
	return from, to, err
}

// stamps reports whether the broker puts its own time in the place of the producer's.
func (s Settings) stamps() (bool, error) {
	v, err := s.text(keyTimestampType)
	return strings.EqualFold(v, logAppendTime), err
}
