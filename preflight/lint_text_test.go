package preflight_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// detail returns what the linter says of a key.
func detail(t *testing.T, findings []offsetmap.Finding, check, key string) string {
	t.Helper()
	i := slices.IndexFunc(findings, func(f offsetmap.Finding) bool { return f.Check == check && f.Scope == key })
	if i < 0 {
		t.Errorf("no %s %s in %v", check, key, findings)
		return ""
	}
	return findings[i].Detail
}

// Each text says what is the case, and not the other thing that its check knows.
func TestLintSaysWhichOfTwoThingsItIs(t *testing.T) {
	t.Parallel()
	newest := mirrordef.Newest()
	for _, c := range []struct {
		set          []string
		version      connectrest.Version
		check, key   string
		has, hasNone string
	}{
		{[]string{"header.converter", ""}, connectrest.KafkaVersion(4, 3), "config/converters", "header.converter", "binary headers as base64", "which cannot be seen"},
		{[]string{"value.converter", ""}, connectrest.KafkaVersion(4, 3), "config/converters", "value.converter", "which cannot be seen", "base64"},
		{[]string{"sync.topic.acls.enabled", ""}, connectrest.KafkaVersion(4, 3), "config/acl-sync", "sync.topic.acls.enabled", "is not set, and is on by default", "is true"},
		{[]string{"sync.topic.acls.enabled", "true"}, connectrest.KafkaVersion(4, 3), "config/acl-sync", "sync.topic.acls.enabled", "is true", "by default"},
		{[]string{"source.cluster.linger.ms", "1"}, connectrest.KafkaVersion(4, 3), "config/unread-prefix", "source.cluster.linger.ms", "source.consumer.", "admin client"},
		{[]string{"target.cluster.linger.ms", "1"}, connectrest.KafkaVersion(4, 3), "config/unread-prefix", "target.cluster.linger.ms", "for the admin client", "source.consumer."},
		{[]string{"zzzz.qqqq", "1"}, connectrest.KafkaVersion(newest[0], newest[1]), "config/unknown-key", "zzzz.qqqq", "in MirrorMaker 2 " + connectrest.KafkaVersion(newest[0], newest[1]).String(), "the newest version"},
		{[]string{"zzzz.qqqq", "1"}, connectrest.KafkaVersion(newest[0], newest[1]+1), "config/unknown-key", "zzzz.qqqq", "the newest version whose keys are known here", "in MirrorMaker 2"},
		{[]string{"zzzz.qqqq", "1", "replication.policy.class", "com.acme.Policy"}, connectrest.KafkaVersion(4, 3), "config/unknown-key", "zzzz.qqqq", "unless com.acme.Policy (replication.policy.class) does", "did you mean"},
		{[]string{"zzzz.qqqq", "1", "replication.policy.class", ""}, connectrest.KafkaVersion(4, 3), "config/unknown-key", "zzzz.qqqq", "nothing reads zzzz.qqqq", "unless"},
		{[]string{"offset.flush.interval.ms", "1"}, connectrest.KafkaVersion(4, 3), "config/worker-key", "offset.flush.interval.ms", "which nothing reads here", "it is "},
		{[]string{"bootstrap.servers", "a:1"}, connectrest.KafkaVersion(4, 3), "config/worker-key", "bootstrap.servers", "of the connector's clients it is ", "which nothing reads here"},
	} {
		_, findings := lint(t, soundConfig(c.set...), preflight.LintOptions{Version: c.version})
		if got := detail(t, findings, c.check, c.key); !strings.Contains(got, c.has) || strings.Contains(got, c.hasNone) {
			t.Errorf("%v at %s: %q, want %q and not %q", c.set, c.version, got, c.has, c.hasNone)
		}
	}
}

// What a check does not say is another one's matter.
func TestLintLeavesToOtherChecksWhatIsTheirs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set     []string
		version connectrest.Version
		silent  string
	}{
		{[]string{"offset-syncs.topic.location", "target"}, connectrest.KafkaVersion(3, 8), "config/offset-syncs-keys"},
		{[]string{"offset-syncs.topic.location", "target", "emit.offset-syncs.enabled", "true"}, connectrest.KafkaVersion(4, 3), "config/offset-syncs-keys"},
		{[]string{"replication.policy.class", prefixes, "target.cluster.alias", "source"}, connectrest.KafkaVersion(4, 3), "config/equal-aliases"},
		{[]string{"tasks.max", "0"}, connectrest.KafkaVersion(4, 3), "config/tasks-max"},
		{[]string{"emit.offset-syncs.enabled", "maybe"}, connectrest.KafkaVersion(3, 8), "config/invalid-value"},
		{[]string{"source.cluster.alias", ""}, connectrest.KafkaVersion(4, 3), "config/invalid-value"},
		{[]string{"errors.log.enable", "true"}, connectrest.KafkaVersion(4, 3), "config/errors-log-messages"},
		{[]string{"errors.log.include.messages", "true"}, connectrest.KafkaVersion(4, 3), "config/errors-log-messages"},
		{[]string{"producer.override.bootstrap.servers", "b:9092"}, connectrest.KafkaVersion(4, 3), "config/exactly-once-offsets"},
		{[]string{"exactly.once.support", "required"}, connectrest.KafkaVersion(4, 3), "config/exactly-once-offsets"},
		{[]string{"refresh.topics.interval.seconds", "1"}, connectrest.KafkaVersion(4, 3), "config/topics-refresh"},
	} {
		_, findings := lint(t, soundConfig(c.set...), preflight.LintOptions{Version: c.version})
		if slices.ContainsFunc(findings, func(f offsetmap.Finding) bool { return f.Check == c.silent }) {
			t.Errorf("%v at %s: %v, want no %s", c.set, c.version, findings, c.silent)
		}
	}
}

// What only the worker can resolve is taken for what it may be.
func TestLintSpeaksOfWhatAProviderMaySay(t *testing.T) {
	t.Parallel()
	const provided = "${file:/etc/a:b}"
	for _, c := range []struct {
		set  []string
		want string
	}{
		{[]string{"errors.log.enable", "true", "errors.log.include.messages", "true"}, "warn config/errors-log-messages errors.log.include.messages"},
		{[]string{"errors.log.enable", provided, "errors.log.include.messages", "true"}, "warn config/errors-log-messages errors.log.include.messages"},
		{[]string{"errors.log.enable", "true", "errors.log.include.messages", provided}, "warn config/errors-log-messages errors.log.include.messages"},
		{[]string{"exactly.once.support", "required", "producer.override.bootstrap.servers", "b:9092"}, "warn config/exactly-once-offsets producer.override.bootstrap.servers"},
		{[]string{"exactly.once.support", provided, "producer.override.bootstrap.servers", "b:9092"}, "warn config/exactly-once-offsets producer.override.bootstrap.servers"},
		{[]string{"refresh.topics.interval.seconds", "0"}, "block config/topics-refresh refresh.topics.interval.seconds"},
		{[]string{"refresh.topics.interval.seconds", "3601"}, "warn config/topics-refresh refresh.topics.interval.seconds"},
	} {
		if got, _ := lint(t, soundConfig(c.set...), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3)}); !slices.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.set, got, c.want)
		}
	}
}

// A list that selects names of every form selects every topic; one that has a few of
// them does not.
func TestLintKnowsAListThatSelectsEverything(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]bool{".*": true, ".+": true, "Y|3.*": false, "3.*": false, "Y": false, "[a-z].*": false, "[a-zA-Z].*": false} {
		_, findings := lint(t, soundConfig("topics", list), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3)})
		got := slices.ContainsFunc(findings, func(f offsetmap.Finding) bool {
			return f.Check == "config/topics-wide" && strings.Contains(f.Detail, "selects every topic")
		})
		if got != want {
			t.Errorf("%s: %t, want %t: %v", list, got, want, findings)
		}
	}
}

// Why a topic is not copied is said by what leaves it out.
func TestLintSaysWhatLeavesATopicOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set         []string
		topic, want string
	}{
		{nil, "refunds", "topics does not select it"},
		{[]string{"topics.exclude", "orders"}, "orders", "topics.exclude excludes it"},
		{[]string{"topics", "my.replica"}, "my.replica", "topics.exclude is not set, and its default in MirrorMaker 2 4.3"},
		{[]string{"replication.policy.class", prefixes, "topics", "target.orders"}, "target.orders", `the name begins with the target's alias "target"`},
		{[]string{"replication.policy.class", prefixes, "topics", "target.orders", "source.cluster.alias", "target"}, "target.orders", `source and target have the same alias "target"`},
	} {
		_, findings := lint(t, soundConfig(c.set...), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3), Topics: []string{c.topic}})
		i := slices.IndexFunc(findings, func(f offsetmap.Finding) bool { return f.Check == "config/topics-unselected" && f.Scope == c.topic })
		if i < 0 || !strings.Contains(findings[i].Detail, c.want) {
			t.Errorf("%v: %v, want %q", c.set, findings, c.want)
		}
	}
	renamed, _ := lint(t, soundConfig("replication.policy.class", prefixes, "topics", "my-heartbeats"), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3), Topics: []string{"my-heartbeats"}})
	if slices.Contains(renamed, "block config/heartbeats-suffix my-heartbeats") {
		t.Errorf("a policy that renames every topic: %q", renamed)
	}
}
