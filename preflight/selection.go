package preflight

import (
	"fmt"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// selector decides which source topics a MirrorSourceConnector copies, as
// MirrorSourceConnector.shouldReplicateTopic does with DefaultTopicFilter.
type selector struct {
	policy     policy
	include    javaList
	exclude    javaList
	excludedBy string // the key that exclude comes from, or "" for the version's default
	version    connectrest.Version
	heartbeats bool // heartbeats topics are copied whatever topics says
}

const (
	filterDefault = policyPackage + "DefaultTopicFilter"

	// The default of topics.exclude (DefaultTopicFilter.TOPICS_EXCLUDE_DEFAULT).
	excludeBefore4 = `.*[\-\.]internal, .*\.replica, __.*`
	excludeFrom4   = `mm2.*\.internal, .*\.replica, __.*`
)

func newSelector(s settings, p policy, mm2 connectrest.Version) (*selector, error) {
	if !mm2.Known() {
		return nil, fmt.Errorf("the version of MirrorMaker 2 is not known (%s), and defaults differ between versions", mm2)
	}
	filter, err := s.or("topic.filter.class", filterDefault)
	if err != nil {
		return nil, err
	}
	if filter != filterDefault {
		return nil, fmt.Errorf("topic.filter.class %s is none that this program knows", filter)
	}
	out := &selector{policy: p, version: mm2, heartbeats: true}
	topics, err := s.or("topics", ".*")
	if err != nil {
		return nil, err
	}
	if out.include, err = compileFor(mm2, topics); err != nil {
		return nil, fmt.Errorf("topics: %w", err)
	}
	exclude := excludeFrom4
	keys := []string{"topics.exclude"}
	if !mm2.AtLeast(4, 0) {
		exclude = excludeBefore4
		keys = append(keys, "topics.blacklist") // its old name, removed in 4.0
	}
	for _, key := range keys {
		v, set, err := s.get(key)
		if err != nil {
			return nil, err
		}
		if set {
			exclude, out.excludedBy = v, key
			break
		}
	}
	if out.exclude, err = compileFor(mm2, exclude); err != nil {
		return nil, fmt.Errorf("%s: %w", out.excludedBy, err)
	}
	if mm2.AtLeast(4, 0) { // KAFKA-17534; before, the key is not read
		if out.heartbeats, err = s.flag("heartbeats.replication.enabled", "true"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compileFor compiles a list as the version takes it: from 4.2 on, an entry
// that is empty or stands twice is refused (ValidList.anyNonDuplicateValues).
func compileFor(mm2 connectrest.Version, value string) (javaList, error) {
	if mm2.AtLeast(4, 2) {
		entries := splitList(value)
		for i, e := range entries {
			switch {
			case e == "":
				return javaList{}, fmt.Errorf("an entry of %q is empty, which MirrorMaker 2 %s refuses", value, mm2)
			case slices.Contains(entries[:i], e):
				return javaList{}, fmt.Errorf("the entry %q stands twice, which MirrorMaker 2 %s refuses", e, mm2)
			}
		}
	}
	return compileJavaList(value)
}

// verdict says whether a topic is copied, and by what.
type verdict struct {
	copied bool
	reason string
}

func (s *selector) judge(topic string) verdict {
	included, excluded := s.include.matches(topic), s.exclude.matches(topic)
	heartbeat := s.heartbeats && s.policy.isHeartbeats(topic)
	switch {
	case s.policy.isInternal(topic, !s.version.AtLeast(4, 0)):
		return verdict{false, fmt.Sprintf("MirrorMaker 2 %s takes the name for an internal topic and never copies it, whatever topics and topics.exclude say", s.version)}
	case s.policy.isCycle(topic) && s.policy.source == s.policy.alias:
		return verdict{false, fmt.Sprintf("source and target have the same alias %q, so every topic counts as a cycle", s.policy.alias)}
	case s.policy.isCycle(topic):
		return verdict{false, fmt.Sprintf("the name begins with the target's alias %q, which counts as a cycle", s.policy.alias)}
	case heartbeat && (!included || excluded):
		return verdict{true, "heartbeats topics are copied although topics does not select them"}
	case included && !excluded:
		return verdict{true, "topics selects it"}
	case !included:
		return verdict{false, "topics does not select it"}
	case s.excludedBy == "":
		return verdict{false, fmt.Sprintf("topics.exclude is not set, and its default in MirrorMaker 2 %s excludes it", s.version)}
	default:
		return verdict{false, s.excludedBy + " excludes it"}
	}
}

// selector works out which topics the connector copies.
func (c *Case) selector() offsetmap.Fact[*selector] {
	return derive(c.policy, c.Facts.Connector, func(p policy, i connectrest.ConnectorInfo) (*selector, error) {
		mm2, err := c.Facts.MirrorVersion()
		if err != nil {
			return nil, err
		}
		return newSelector(settings{i.Config}, p, mm2)
	})
}
