package preflight

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ErrPolicy says that a connector's config does not tell under which name a
// topic is written: its replication policy is not one of Kafka's own, or a
// setting that the policy needs is missing or cannot be read.
var ErrPolicy = errors.New("target names are not known")

// TargetTopic returns the name under which a MirrorSourceConnector with the
// config writes a source topic: IdentityReplicationPolicy keeps it, except for
// names that end in "heartbeats"; DefaultReplicationPolicy, also the default,
// puts alias and separator in front. Any other policy is an [ErrPolicy], and a
// name that no topic can have is an offsetmap.ErrTopicName.
func TargetTopic(config connectrest.Config, topic string) (string, error) {
	p, err := policyOf(settings{config})
	if err != nil {
		return "", err
	}
	name := p.target(topic)
	if err := offsetmap.ValidateTopic(name); err != nil {
		return "", fmt.Errorf("topic %s: %w", topic, err)
	}
	return name, nil
}

// policy names topics as Kafka's DefaultReplicationPolicy and
// IdentityReplicationPolicy do (connect-mirror-client 3.7 to 4.3).
type policy struct {
	source, alias string // source.cluster.alias and target.cluster.alias
	separator     string
	internal      string // the separator inside the names of MM2's own topics
	identity      bool
}

const (
	policyPackage = "org.apache.kafka.connect.mirror."
	policyDefault = policyPackage + "DefaultReplicationPolicy"
	heartbeats    = "heartbeats"
)

func policyOf(s settings) (policy, error) {
	var p policy
	fail := func(err error) (policy, error) { return policy{}, fmt.Errorf("%w: %w", ErrPolicy, err) }
	class, err := s.or("replication.policy.class", policyDefault)
	if err != nil {
		return fail(err)
	}
	switch class {
	case policyDefault:
	case policyPackage + "IdentityReplicationPolicy":
		p.identity = true
	default:
		return fail(fmt.Errorf("replication.policy.class %s is none that this program knows", class))
	}
	var set bool
	if p.source, set, err = s.get(keySourceAlias); err != nil {
		return fail(err)
	}
	if !set || p.source == "" {
		return fail(fmt.Errorf("%s is not set", keySourceAlias))
	}
	if p.alias, err = s.or(keyTargetAlias, "target"); err != nil {
		return fail(err)
	}
	const key = "replication.policy.separator"
	p.separator, p.internal = ".", "."
	if _, set, err = s.get(key); err != nil {
		return fail(err)
	}
	if set {
		// The policy reads it from the raw map, so it is not trimmed.
		p.separator = s.m[key]
		if p.separator == "" {
			return fail(fmt.Errorf("%s is empty", key))
		}
		p.internal = p.separator
		if raw, there := s.m["replication.policy.internal.topic.separator.enabled"]; there && !strings.EqualFold(raw, "true") {
			p.internal = "." // Boolean.parseBoolean: whatever is not true is false
		}
	}
	return p, nil
}

// namingPolicy works out the connector's policy.
func (c *Case) namingPolicy() offsetmap.Fact[policy] {
	f := c.Facts.Connector
	info, ok := f.Get()
	switch {
	case ok:
		return fact(policyOf(settings{info.Config}))
	case f.IsAbsent() && c.Facts.given != nil:
		return fact(policyOf(settings{c.Facts.given}))
	case f.IsAbsent():
		return offsetmap.Absent[policy]()
	default:
		return offsetmap.NotKnown[policy](f.Err())
	}
}

func (p policy) looksLikeHeartbeat(topic string) bool { return strings.HasSuffix(topic, heartbeats) }

// target is formatRemoteTopic.
func (p policy) target(topic string) string {
	if p.identity && !p.looksLikeHeartbeat(topic) {
		return topic
	}
	return p.source + p.separator + topic
}

// upstream is topicSource and upstreamTopic: the alias that a name begins with
// and the rest, and false where the name has none.
func (p policy) upstream(topic string) (alias, rest string, remote bool) {
	if p.identity && !p.looksLikeHeartbeat(topic) {
		return p.source, topic, true
	}
	alias, rest, remote = strings.Cut(topic, p.separator)
	// Java's split drops what is empty at the end: "a." and "a.." have one part.
	tail := rest
	for strings.HasPrefix(tail, p.separator) {
		tail = strings.TrimPrefix(tail, p.separator)
	}
	return alias, rest, remote && tail != ""
}

// isHeartbeats is ReplicationPolicy.isHeartbeatsTopic.
func (p policy) isHeartbeats(topic string) bool {
	_, rest, remote := p.upstream(topic)
	if !remote || rest == topic {
		return topic == heartbeats
	}
	return p.isHeartbeats(rest)
}

// isCycle is MirrorSourceConnector.isCycle: whether the name says that the
// topic comes from the target.
func (p policy) isCycle(topic string) bool {
	alias, rest, remote := p.upstream(topic)
	switch {
	case !remote:
		return false
	case alias == p.alias:
		return true
	case rest == topic:
		return false
	}
	return p.isCycle(rest)
}

// isInternal is ReplicationPolicy.isInternalTopic. Before 4.0 it held every
// name that ends in ".internal" or "-internal" for one.
func (p policy) isInternal(topic string, before4 bool) bool {
	suffix := p.internal + "internal"
	switch {
	case strings.HasPrefix(topic, "__"), strings.HasPrefix(topic, "."):
		return true
	case before4:
		return strings.HasSuffix(topic, suffix) || strings.HasSuffix(topic, "-internal") || strings.HasSuffix(topic, ".internal")
	}
	return strings.HasPrefix(topic, "mm2") && strings.HasSuffix(topic, suffix) ||
		strings.HasSuffix(topic, p.internal+"checkpoints"+suffix)
}
