package preflight_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

const prefixes = "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"

// soundDriver copies in one direction, and runs nothing beside.
func soundDriver(pairs ...string) map[string]string {
	p := map[string]string{
		"clusters":                          "A, B",
		"A.bootstrap.servers":               "a:9092",
		"B.bootstrap.servers":               "b:9092",
		"A->B.enabled":                      "true",
		"A->B.topics":                       "orders,payments",
		"A->B.emit.offset-syncs.enabled":    "false",
		"heartbeats.replication.enabled":    "false",
		"emit.heartbeats.enabled":           "false",
		"emit.checkpoints.enabled":          "false",
		"sync.topic.configs.enabled":        "false",
		"sync.topic.acls.enabled":           "false",
		"tasks.max":                         "4",
		"replication.policy.class":          identity,
		"B.producer.compression.type":       "lz4",
		"A.consumer.isolation.level":        "read_committed",
		"offset.storage.replication.factor": "3",
	}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = pairs[i+1]
		if pairs[i+1] == "" {
			delete(p, pairs[i])
		}
	}
	return p
}

func TestLintDriver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  []string
		want []string // beside driver/no-rest; "none" where no flow copies
	}{
		"sound":                              {},
		"no clusters":                        {[]string{"clusters", ""}, []string{"block driver/clusters clusters", "block driver/flow A->B.emit.offset-syncs.enabled", "block driver/flow A->B.enabled", "block driver/flow A->B.topics", "warn driver/unknown-key A.bootstrap.servers", "warn driver/unknown-key A.consumer.isolation.level", "warn driver/unknown-key B.bootstrap.servers", "warn driver/unknown-key B.producer.compression.type", "none"}},
		"one cluster":                        {[]string{"clusters", "A", "A->B.enabled", "", "A->B.topics", "", "A->B.emit.offset-syncs.enabled", ""}, []string{"block driver/clusters clusters", "warn driver/unknown-key B.bootstrap.servers", "warn driver/unknown-key B.producer.compression.type", "none"}},
		"an alias twice":                     {[]string{"clusters", "A,B,A"}, []string{"block driver/clusters A"}},
		"no addresses":                       {[]string{"B.bootstrap.servers", ""}, []string{"block driver/clusters B.bootstrap.servers"}},
		"an arrow that was lost":             {[]string{"A->B.enabled", "", "A-B.enabled", "true"}, []string{"block driver/flow", "block driver/flow A-B.enabled", "none"}},
		"an alias that is not there":         {[]string{"A->C.topics", "x"}, []string{"block driver/flow A->C.topics"}},
		"what a flow that is not there says": {[]string{"A->C.nonsense", "x", "C->B.nonsense", "x"}, []string{"block driver/flow A->C.nonsense", "block driver/flow C->B.nonsense"}},
		"a chain is no loop":                 {[]string{"clusters", "A,B,C", "C.bootstrap.servers", "c:9092", "B->C.enabled", "true", "B->C.topics", "orders", "B->C.emit.offset-syncs.enabled", "false"}, nil},
		"one direction keeps names":          {[]string{"B->A.replication.policy.class", prefixes, "B->A.enabled", "true", "B->A.topics", "orders", "B->A.emit.offset-syncs.enabled", "false"}, nil},
		"the other one does":                 {[]string{"A->B.replication.policy.class", prefixes, "B->A.enabled", "true", "B->A.topics", "orders", "B->A.emit.offset-syncs.enabled", "false"}, nil},
		"no flow, and nothing is said":       {[]string{"clusters", "A", "A->B.enabled", "", "A->B.topics", "", "A->B.emit.offset-syncs.enabled", "", "emit.heartbeats.enabled", "", "emit.checkpoints.enabled", ""}, []string{"block driver/clusters clusters", "warn driver/unknown-key B.bootstrap.servers", "warn driver/unknown-key B.producer.compression.type", "none"}},
		"a setting that no consumer has":     {[]string{"A->B.source.consumer.zzzz.qqqq", "1"}, []string{"warn driver/unknown-key A->B.source.consumer.zzzz.qqqq"}},
		"a flow to itself":                   {[]string{"A->A.enabled", "true"}, []string{"block driver/flow A->A.enabled"}},
		"nothing enabled":                    {[]string{"A->B.enabled", "yes"}, []string{"block driver/flow", "none"}},
		"a loop":                             {[]string{"B->A.enabled", "true", "B->A.topics", "orders", "B->A.emit.offset-syncs.enabled", "false"}, []string{"block driver/loop A->B"}},
		"a loop by regexes": {[]string{"A->B.topics", "order.*", "B->A.enabled", "true", "B->A.topics", "ord.*", "B->A.emit.offset-syncs.enabled", "false"}, []string{
			"block driver/loop A->B", "info config/topics-wide A->B.topics", "info config/topics-wide B->A.topics",
		}},
		"both directions, no topic in common": {[]string{"B->A.enabled", "true", "B->A.topics", "refunds", "B->A.emit.offset-syncs.enabled", "false"}, []string{"warn driver/loop A->B"}},
		"both directions, other names":        {[]string{"replication.policy.class", "", "B->A.enabled", "true", "B->A.topics", "orders", "B->A.emit.offset-syncs.enabled", "false"}, nil},
		"what is on by default":               {[]string{"emit.heartbeats.enabled", "", "emit.checkpoints.enabled", ""}, []string{"info driver/default-on emit.checkpoints.enabled", "info driver/default-on emit.heartbeats.enabled"}},
		"keys that do not exist": {[]string{"refresh.topics.interval.ms", "1", "emit.checkpoints.interval.ms", "1", "default.replication.factor", "3", "A->B.tpoics", "x", "A.auto.offset.reset", "latest", "our.note", "x"}, []string{
			"warn driver/unknown-key A->B.tpoics", "warn driver/unknown-key A.auto.offset.reset", "warn driver/unknown-key default.replication.factor", "warn driver/unknown-key emit.checkpoints.interval.ms",
			"warn driver/unknown-key our.note", "warn driver/unknown-key refresh.topics.interval.ms",
		}},
		"a client without an alias": {[]string{"producer.linger.ms", "100"}, []string{"warn driver/unknown-key producer.linger.ms"}},
		"keys of the two others":    {[]string{"A->B.groups", "g", "sync.group.offsets.enabled", "true", "heartbeats.topic.replication.factor", "1", "B.offset.flush.timeout.ms", "1", "A.sasl.mechanism", "PLAIN", "security.protocol", "SASL_SSL"}, nil},
		"a flow that skips":         {[]string{"A->B.consumer.auto.offset.reset", "latest"}, []string{"block config/reset-rule A->B.consumer.auto.offset.reset"}},
		"the consumer of a cluster": {[]string{"A.consumer.auto.offset.reset", "latest"}, []string{"block config/reset-rule A->B.source.consumer.auto.offset.reset"}},
		"a prefix that is not read": {[]string{"A->B.producer.acks", "1"}, []string{"warn config/unread-prefix A->B.producer.acks"}},
		"syncs on":                  {[]string{"sync.topic.acls.enabled", ""}, []string{"block config/acl-sync A->B.sync.topic.acls.enabled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := []string{"warn driver/no-rest"}
			for _, w := range c.want {
				if w == "none" { // no flow copies
					want = slices.DeleteFunc(want, func(s string) bool { return s == "warn driver/no-rest" })
				} else {
					want = append(want, w)
				}
			}
			_, findings := preflight.LintDriver(soundDriver(c.set...), connectrest.KafkaVersion(4, 3))
			got := told(t, findings)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, findings)
			}
		})
	}
}

// The configs are those that the driver gives to its connectors.
func TestAFlowHasTheConfigsOfItsThreeConnectors(t *testing.T) {
	t.Parallel()
	flows, _ := preflight.LintDriver(soundDriver("emit.heartbeats.enabled", "true", "A.sasl.mechanism", "PLAIN", "A->B.tasks.max", "8", "our.note", "x", "groups", "g"), connectrest.KafkaVersion(4, 3))
	var names []string
	for _, f := range flows {
		names = append(names, fmt.Sprintf("%s->%s %t", f.Source, f.Target, f.Enabled))
	}
	if want := []string{"A->B true", "B->A false"}; !slices.Equal(names, want) {
		t.Fatalf("flows %q, want %q", names, want)
	}
	f := flows[0]
	for key, want := range map[string]string{
		"connector.class":                   mirrorSource,
		"name":                              "MirrorSourceConnector",
		"enabled":                           "true",
		"source.cluster.alias":              "A",
		"target.cluster.alias":              "B",
		"topics":                            "orders,payments",
		"tasks.max":                         "8",
		"groups":                            "g",
		"source.cluster.bootstrap.servers":  "a:9092",
		"source.cluster.sasl.mechanism":     "PLAIN",
		"source.consumer.sasl.mechanism":    "PLAIN",
		"source.consumer.isolation.level":   "read_committed",
		"target.producer.compression.type":  "lz4",
		"target.producer.bootstrap.servers": "b:9092",
	} {
		if f.Copying[key] != want {
			t.Errorf("%s is %q, want %q", key, f.Copying[key], want)
		}
	}
	for _, key := range []string{"our.note", "clusters", "offset.storage.replication.factor"} {
		if _, there := f.Copying[key]; there {
			t.Errorf("%s is in the connector's config", key)
		}
	}
	if f.Checkpoints["name"] != "MirrorCheckpointConnector" || f.Heartbeats["connector.class"] != "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector" {
		t.Errorf("%v, %v", f.Checkpoints, f.Heartbeats)
	}
	if flows[1].Copying["enabled"] != "false" {
		t.Errorf("a flow that is not enabled has enabled=%q", flows[1].Copying["enabled"])
	}
}

// The text that many have copied, with its arrows lost.
func TestTheBackgroundDocumentsProperties(t *testing.T) {
	t.Parallel()
	text := map[string]string{
		"clusters":                              "SITE-A, SITE-B",
		"SITE-A.bootstrap.servers":              "node-a1:9092,node-a2:9092",
		"SITE-B.bootstrap.servers":              "node-b1:9092,node-b2:9092",
		"SITE-A-SITE-B.enabled":                 "true",
		"SITE-B-SITE-A.enabled":                 "true",
		"SITE-A-SITE-B.topics":                  "order.*, user.*",
		"SITE-A-SITE-B.groups":                  "order-service, user-service",
		"SITE-B-SITE-A.topics":                  "order.*, user.*",
		"emit.heartbeats.enabled":               "true",
		"emit.checkpoints.enabled":              "true",
		"emit.heartbeats.interval.ms":           "5000",
		"emit.checkpoints.interval.ms":          "10000",
		"replication.policy.class":              identity,
		"default.replication.factor":            "3",
		"heartbeats.topic.replication.factor":   "3",
		"checkpoints.topic.replication.factor":  "3",
		"offset-syncs.topic.replication.factor": "3",
		"sync.topic.acls.enabled":               "false",
		"refresh.topics.interval.ms":            "600000",
		"refresh.groups.interval.ms":            "600000",
		"producer.compression.type":             "lz4",
		"producer.buffer.memory":                "67108864",
	}
	scopes := func(properties map[string]string, check string) []string {
		var out []string
		_, findings := preflight.LintDriver(properties, connectrest.KafkaVersion(3, 9))
		for _, f := range findings {
			if f.Check == check {
				out = append(out, f.Scope)
			}
		}
		return out
	}
	if got, want := scopes(text, "driver/unknown-key"), []string{
		"default.replication.factor", "emit.checkpoints.interval.ms", "emit.heartbeats.interval.ms", "producer.buffer.memory", "producer.compression.type",
		"refresh.groups.interval.ms", "refresh.topics.interval.ms",
	}; !slices.Equal(got, want) {
		t.Errorf("keys that do not exist: %q, want %q", got, want)
	}
	if got := scopes(text, "driver/flow"); len(got) != 6 { // five arrows, and nothing enabled
		t.Errorf("arrows: %q", got)
	}
	right := map[string]string{}
	for key, value := range maps.All(text) {
		right[strings.NewReplacer("SITE-A-SITE-B.", "SITE-A->SITE-B.", "SITE-B-SITE-A.", "SITE-B->SITE-A.").Replace(key)] = value
	}
	if got := scopes(right, "driver/loop"); !slices.Equal(got, []string{"SITE-A->SITE-B"}) {
		t.Errorf("with the arrows in place both sites copy the same names to each other: %q", got)
	}
	if got := scopes(right, "config/topic-config-sync"); len(got) != 2 {
		t.Errorf("config sync is on by default: %q", got)
	}
}

// No text of a user makes the linter fail, or give what no plan takes.
func FuzzLintDriver(f *testing.F) {
	f.Add("clusters", "A,B", "A->B.topics", "(")
	f.Add("A-B.enabled", "true", "->", ".")
	f.Add("clusters", ",,a", "a->a.", "\x00")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		properties := soundDriver("B->A.enabled", "true")
		properties[k1], properties[k2] = v1, v2
		for _, v := range []connectrest.Version{{}, connectrest.KafkaVersion(4, 3)} {
			_, findings := preflight.LintDriver(properties, v)
			for _, f := range findings {
				if f.Detail == "" || strings.Contains(f.Detail, "\n") {
					t.Errorf("%s: %q", f.Check, f.Detail)
				}
			}
		}
	})
}

// The arrow of a flow is part of its keys.
func ExampleLintDriver() {
	flows, findings := preflight.LintDriver(map[string]string{
		"clusters":            "A, B",
		"A.bootstrap.servers": "a:9092",
		"B.bootstrap.servers": "b:9092",
		"A-B.enabled":         "true",
	}, connectrest.KafkaVersion(4, 3))
	for _, f := range flows {
		fmt.Println(f.Source, f.Target, f.Enabled)
	}
	fmt.Println(findings[1])
	// Output:
	// A B false
	// B A false
	// block driver/flow A-B.enabled: nothing reads A-B.enabled; did you mean A->B.enabled?
}

// What was meant is named where something near is read, behind the alias or the arrow
// that the key has.
func TestAPropertyThatNothingReadsIsExplained(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"producer.linger.ms": "the driver reads settings of clients behind an alias alone: ALIAS.producer.linger.ms",
		"A->B.topcis":        "nothing reads A->B.topcis; did you mean A->B.topics?",
		"zzzz.qqqq.wwww":     "nothing reads zzzz.qqqq.wwww",
	} {
		_, findings := preflight.LintDriver(soundDriver(key, "1"), connectrest.KafkaVersion(4, 3))
		i := slices.IndexFunc(findings, func(f offsetmap.Finding) bool { return f.Scope == key })
		if i < 0 || findings[i].Check != "driver/unknown-key" || findings[i].Detail != want {
			t.Errorf("%s: %v, want %q", key, findings, want)
		}
	}
}
