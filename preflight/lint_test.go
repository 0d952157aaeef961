package preflight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// soundConfig has nothing that the linter would speak of at 4.x but the loop that it
// cannot see.
func soundConfig(pairs ...string) connectrest.Config {
	return with(connectrest.Config{
		"connector.class":                  mirrorSource,
		"tasks.max":                        "2",
		"source.cluster.alias":             "source",
		"target.cluster.alias":             "target",
		"source.cluster.bootstrap.servers": "source:9092",
		"target.cluster.bootstrap.servers": "target:9092",
		"topics":                           "orders,payments",
		"replication.policy.class":         identity,
		"emit.offset-syncs.enabled":        "false",
		"heartbeats.replication.enabled":   "false",
		"sync.topic.configs.enabled":       "false",
		"sync.topic.acls.enabled":          "false",
		"key.converter":                    bytesOf,
		"value.converter":                  bytesOf,
		"header.converter":                 bytesOf,
	}, pairs...)
}

// lint returns the findings as "severity check scope", without the loop.
func lint(t *testing.T, config connectrest.Config, o preflight.LintOptions) (lines []string, findings []offsetmap.Finding) {
	t.Helper()
	findings = preflight.Lint(config, o)
	return told(t, findings), findings
}

// told returns findings as "severity check scope", without the loop, and holds each to
// the catalogue.
func told(t *testing.T, findings []offsetmap.Finding) (lines []string) {
	t.Helper()
	for _, f := range findings {
		check, known := preflight.Explain(f.Check)
		if !known {
			t.Errorf("%s is not in the catalogue", f)
		}
		agrees(t, check, f)
		if f.Check != "config/identity-loop" {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Severity, f.Check, f.Scope)))
		}
	}
	if !slices.IsSortedFunc(findings, offsetmap.Finding.Compare) {
		t.Errorf("the findings are not sorted: %v", findings)
	}
	slices.Sort(lines)
	return lines
}

func TestLintOneByOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version string // 4.3 by default
		set     []string
		want    []string
	}{
		"sound": {},
		// Keys.
		"two letters changed places":               {set: []string{"topcis.exclude", "x"}, want: []string{"block config/unknown-key topcis.exclude"}},
		"a misspelled key beside the right one":    {set: []string{"topisc", "x"}, want: []string{"warn config/unknown-key topisc"}},
		"words in another order":                   {set: []string{"enabled.refresh.topics", "false"}, want: []string{"warn config/unknown-key enabled.refresh.topics"}},
		"in camel case":                            {set: []string{"offsetLagMax", "1"}, want: []string{"warn config/unknown-key offsetLagMax"}},
		"nothing like it":                          {set: []string{"our.note", "x"}, want: []string{"warn config/unknown-key our.note"}},
		"a setting of the consumer, without where": {set: []string{"isolation.level", "read_committed"}, want: []string{"block config/unknown-key isolation.level"}},
		"which stands there rightly too":           {set: []string{"isolation.level", "x", "consumer.isolation.level", "read_committed"}, want: []string{"warn config/unknown-key isolation.level"}},
		"a setting of the producer, without where": {set: []string{"acks", "1"}, want: []string{"block config/unknown-key acks"}},
		"misspelled behind a prefix":               {set: []string{"source.consumer.isolation.levle", "read_committed"}, want: []string{"block config/unknown-key source.consumer.isolation.levle"}},
		"a prefix misspelled":                      {set: []string{"producer.overide.acks", "all"}, want: []string{"warn config/unread-prefix producer.overide.acks"}},
		"nothing that the consumer knows":          {set: []string{"source.consumer.zzz", "1"}, want: []string{"warn config/unknown-key source.consumer.zzz"}},
		"settings of clients": {set: []string{
			"source.consumer.fetch.max.bytes", "1", "consumer.max.poll.records", "1", "producer.override.linger.ms", "1", "admin.retries", "1",
			"source.admin.client.id", "a", "target.admin.request.timeout.ms", "1", "source.cluster.sasl.mechanism", "PLAIN", "target.cluster.ssl.keystore.location", "/x",
		}},
		"settings of converters and transforms": {set: []string{"key.converter.x", "1", "config.providers.env.class", "x"}},
		"a misspelled setting of security":      {set: []string{"source.cluster.sasl.mechanims", "PLAIN"}, want: []string{"warn config/unknown-key source.cluster.sasl.mechanims"}},
		"a key of the checkpoint connector":     {set: []string{"sync.group.offsets.enabled", "true", "groups.exclude", "x", "checkpoints.topic.replication.factor", "1"}, want: []string{"warn config/key-without-effect checkpoints.topic.replication.factor", "warn config/key-without-effect groups.exclude", "warn config/key-without-effect sync.group.offsets.enabled"}},
		"a key of the heartbeat connector":      {set: []string{"emit.heartbeats.interval.seconds", "5", "heartbeats.topic.replication.factor", "1"}, want: []string{"warn config/key-without-effect emit.heartbeats.interval.seconds", "warn config/key-without-effect heartbeats.topic.replication.factor"}},
		"keys of the driver":                    {set: []string{"source->target.enabled", "true", "clusters", "a,b"}, want: []string{"warn config/key-without-effect clusters", "warn config/key-without-effect source->target.enabled"}},
		"a key of Confluent Replicator":         {set: []string{"provenance.header.enable", "true"}, want: []string{"warn config/key-without-effect provenance.header.enable"}},
		"keys of the worker":                    {set: []string{"group.id", "g", "rest.advertised.port", "1", "offset.storage.topic", "x"}, want: []string{"warn config/worker-key group.id", "warn config/worker-key offset.storage.topic", "warn config/worker-key rest.advertised.port"}},
		"a new key at an old version":           {version: "3.9", want: []string{"warn config/key-of-other-version heartbeats.replication.enabled"}},
		"a key that is gone":                    {set: []string{"config.properties.blacklist", "x", "use.incremental.alter.configs", "never"}, want: []string{"warn config/key-of-other-version config.properties.blacklist", "warn config/key-of-other-version use.incremental.alter.configs"}},
		"the blacklist that is gone":            {set: []string{"topics.blacklist", "x"}, want: []string{"block config/key-of-other-version topics.blacklist"}},
		"beside what came for it":               {set: []string{"topics.blacklist", "x", "topics.exclude", "x"}, want: []string{"warn config/key-of-other-version topics.blacklist"}},
		"a setting that the consumer gets later": {
			version: "3.9", set: []string{"heartbeats.replication.enabled", "", "source.consumer.share.acknowledgement.mode", "x"},
			want: []string{"warn config/unknown-key source.consumer.share.acknowledgement.mode"},
		},
		"offset-syncs at 3.9 and later": {set: []string{"offset-syncs.topic.replication.factor", "1", "offset-syncs-x", "y"}, want: []string{"block config/offset-syncs-keys offset-syncs-x", "block config/offset-syncs-keys offset-syncs.topic.replication.factor"}},
		// Values.
		"no number":                    {set: []string{"offset.lag.max", "many", "replication.factor", "three"}, want: []string{"block config/invalid-value offset.lag.max", "block config/invalid-value replication.factor"}},
		"a number that is too large":   {set: []string{"tasks.max", "3000000000"}, want: []string{"block config/invalid-value tasks.max"}},
		"no task":                      {set: []string{"tasks.max", "0"}, want: []string{"block config/invalid-value tasks.max"}},
		"a choice in capitals":         {set: []string{"errors.tolerance", "NONE"}, want: []string{"block config/invalid-value errors.tolerance"}},
		"a choice that may be in any":  {set: []string{"security.protocol", "sasl_ssl"}},
		"a number that a provider has": {set: []string{"offset.lag.max", "${env:LAG}"}, want: []string{"info config/action-reload config.action.reload"}},
		"a provider without a restart": {set: []string{"offset.lag.max", "${env:LAG}", "config.action.reload", "none"}},
		"records in the log":           {set: []string{"errors.log.enable", "true", "errors.log.include.messages", "true"}, want: []string{"warn config/errors-log-messages errors.log.include.messages"}},
		"errors in the log":            {set: []string{"errors.log.enable", "true"}},
		"messages, but no log":         {set: []string{"errors.log.include.messages", "true"}},
		"offsets elsewhere":            {set: []string{"offsets.storage.topic", "x"}, want: []string{"warn config/exactly-once-offsets offsets.storage.topic"}},
		"exactly-once elsewhere":       {set: []string{"exactly.once.support", "required", "producer.override.bootstrap.servers", "x:1", "source.consumer.isolation.level", "read_committed"}, want: []string{"info config/exactly-once exactly.once.support", "warn config/exactly-once-offsets producer.override.bootstrap.servers", "warn config/exactly-once-worker exactly.once.support"}},
		"a short time for admins":      {set: []string{"admin.timeout.ms", "59999"}, want: []string{"warn config/admin-timeout admin.timeout.ms"}},
		"a long time for admins":       {set: []string{"admin.timeout.ms", "60000"}},
		"a long poll":                  {set: []string{"consumer.poll.timeout.ms", "5000"}, want: []string{"warn config/poll-timeout consumer.poll.timeout.ms"}},
		"a poll that ends in time":     {set: []string{"consumer.poll.timeout.ms", "4999"}},
		"a separator in an alias":      {set: []string{"replication.policy.class", "", "source.cluster.alias", "us.east"}, want: []string{"warn config/separator source.cluster.alias"}},
		"names that are kept":          {set: []string{"source.cluster.alias", "us.east"}},
		"a separator that cannot be":   {set: []string{"replication.policy.class", "", "replication.policy.separator", "/"}, want: []string{"block config/separator replication.policy.separator"}},
		"a reset rule that skips":      {set: []string{"source.consumer.auto.offset.reset", "latest"}, want: []string{"block config/reset-rule source.consumer.auto.offset.reset"}},
		"a consumer group":             {set: []string{"consumer.group.id", "flink"}, want: []string{"block config/consumer-group consumer.group.id"}},
		"another class":                {set: []string{"connector.class", "org.apache.kafka.connect.mirror.MirrorCheckpointConnector"}, want: []string{"block connector/class connector.class"}},
		// Topics.
		"every topic":                     {set: []string{"topics", ""}, want: []string{"warn config/topics-wide topics"}},
		"every topic by a regex":          {set: []string{"topics", "[^_].*"}, want: []string{"warn config/topics-wide topics"}},
		"a family of topics":              {set: []string{"topics", `pay-\d+`}, want: []string{"info config/topics-wide topics"}},
		"a class with a star in it":       {set: []string{"topics", `a[*.]b`}},
		"a dot":                           {set: []string{"topics", "ab.c", "topics.exclude", `x\.y,z.`}, want: []string{"warn config/topics-unquoted-dot topics", "warn config/topics-unquoted-dot topics.exclude"}},
		"dots that are dots":              {set: []string{"topics", `ab\.c,\Qx.y\E,p[.]q`}},
		"a comma in a quantifier":         {set: []string{"topics", "a{1,2}"}, want: []string{"block config/topics-comma topics", "block config/topics-unselected topics"}},
		"an open quantifier with a comma": {set: []string{"topics.exclude", "a{1,}"}, want: []string{"block config/topics-comma topics.exclude", "block config/topics-unselected topics"}},
		"an entry twice":                  {set: []string{"topics", "a,b,a"}, want: []string{"block config/topics-list topics", "block config/topics-unselected topics"}},
		"an entry twice, before 4.2":      {version: "4.1", set: []string{"topics", "a,b,a"}},
		"an empty entry":                  {set: []string{"config.properties.exclude", "a,,b"}, want: []string{"block config/topics-list config.properties.exclude"}},
		"heartbeats":                      {set: []string{"heartbeats.replication.enabled", ""}, want: []string{"info config/heartbeats-replication heartbeats.replication.enabled"}},
		"no refresh":                      {set: []string{"refresh.topics.enabled", "FALSE"}, want: []string{"block config/topics-refresh refresh.topics.enabled"}},
		"a refresh of nothing":            {set: []string{"refresh.topics.interval.seconds", "-1"}, want: []string{"block config/topics-refresh refresh.topics.interval.seconds"}},
		"a refresh each hour":             {set: []string{"refresh.topics.interval.seconds", "3600"}},
		"a refresh each day":              {set: []string{"refresh.topics.interval.seconds", "86400"}, want: []string{"warn config/topics-refresh refresh.topics.interval.seconds"}},
		// Tasks and classes.
		"one task by default":          {set: []string{"tasks.max", ""}, want: []string{"info config/tasks-max tasks.max"}},
		"one replica of what comes":    {set: []string{"topics", "pay-.*", "replication.factor", "1"}, want: []string{"info config/topics-wide topics", "warn config/replication-factor replication.factor"}},
		"one replica, nothing to come": {set: []string{"replication.factor", "1"}},
		"classes of others": {
			set:  []string{"forwarding.admin.class", "com.example.Admin", "metric.reporters", "org.apache.kafka.common.metrics.JmxReporter,com.example.R", "our.note", "x"},
			want: []string{"warn config/foreign-class forwarding.admin.class", "warn config/foreign-class metric.reporters", "warn config/unknown-key our.note"},
		},
		"a version of the plugin": {set: []string{"connector.plugin.version", "4.1", "key.converter.plugin.version", "4.1"}, want: []string{"warn config/plugin-version connector.plugin.version", "warn config/plugin-version key.converter.plugin.version"}},
		"a worker that is too old": {version: "3.5", set: []string{"emit.offset-syncs.enabled", "", "heartbeats.replication.enabled", "", "offset-syncs.topic.location", "target"}, want: []string{
			"block worker/version plugin", "warn config/offset-syncs-unavoidable",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.version == "" {
				c.version = "4.3"
			}
			v, err := connectrest.ParseVersion(c.version)
			if err != nil {
				t.Fatal(err)
			}
			got, findings := lint(t, soundConfig(c.set...), preflight.LintOptions{Version: v})
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, findings)
			}
		})
	}
}

func TestLintSuggestsTheKeyThatWasMeant(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"topcis":                            "did you mean topics?",
		"topics.exlude":                     "did you mean topics.exclude?",
		"emit.offset.syncs.enabled":         "did you mean emit.offset-syncs.enabled?",
		"sourceClusterAlias":                "did you mean source.cluster.alias?",
		"sync.topics.configs.enabled":       "did you mean sync.topic.configs.enabled?",
		"replication.policy.seperator":      "did you mean replication.policy.separator?",
		"isolation.level":                   "did you mean source.consumer.isolation.level?",
		"compression.type":                  "did you mean producer.override.compression.type?",
		"receive.buffer.bytes":              "source.consumer.receive.buffer.bytes", // of the worker too
		"source.consumer.auto.offest.reset": "did you mean source.consumer.auto.offset.reset?",
		"producer.override.ack":             "did you mean producer.override.acks?",
		"source.cluster.sasl.mechanims":     "did you mean source.cluster.sasl.mechanism?",
		"refresh.topics.interval.minutes":   "did you mean refresh.topics.interval.seconds?",
	} {
		_, findings := lint(t, soundConfig(key, "x"), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3)})
		i := slices.IndexFunc(findings, func(f offsetmap.Finding) bool { return f.Scope == key })
		if i < 0 || !strings.Contains(findings[i].Detail, want) {
			t.Errorf("%s: %v, want %q", key, findings, want)
		}
	}
}

func TestLintSaysThatALoopCannotBeSeen(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]int{identity: 1, "org.apache.kafka.connect.mirror.DefaultReplicationPolicy": 0} {
		n := 0
		for _, f := range preflight.Lint(soundConfig("replication.policy.class", policy), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3)}) {
			if f.Check == "config/identity-loop" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d findings, want %d", policy, n, want)
		}
	}
}

func TestLintWithoutAVersionSaysWhatItCannotSay(t *testing.T) {
	t.Parallel()
	got, _ := lint(t, soundConfig("topics.blacklist", "x"), preflight.LintOptions{})
	want := []string{"block config/offset-syncs", "block config/topics-unselected topics", "block worker/version plugin"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestLintWantsTheTopicsCopied(t *testing.T) {
	t.Parallel()
	got, _ := lint(t, soundConfig(), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3), Topics: []string{"refunds", "orders", "my-heartbeats"}})
	want := []string{"block config/heartbeats-suffix my-heartbeats", "block config/topics-unselected my-heartbeats", "block config/topics-unselected refunds"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// A worker's plugin knows better than a table what it defines.
func TestLintGoesByTheWorkersOwnDefinition(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{version: "4.0.0"})
	keys, err := l.client.PluginConfig(t.Context(), mirrorSource)
	l.must(err)
	keys = append(keys, connectrest.ConfigKey{Name: "vendors.own", Type: "STRING"})
	o := preflight.LintOptions{Version: connectrest.KafkaVersion(4, 0), Keys: keys}
	got, _ := lint(t, soundConfig("vendors.own", "x", "vendors.owm", "x", "metric.names.formats", "new"), o)
	want := []string{"warn config/key-of-other-version metric.names.formats", "warn config/unknown-key vendors.owm"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	// What the worker lacks is not read there, whatever the table says.
	o.Keys = slices.DeleteFunc(keys, func(k connectrest.ConfigKey) bool { return k.Name == "offset.lag.max" })
	_, findings := lint(t, soundConfig("offset.lag.max", "5"), o)
	i := slices.IndexFunc(findings, func(f offsetmap.Finding) bool { return f.Scope == "offset.lag.max" })
	if i < 0 || findings[i].Check != "config/key-of-other-version" {
		t.Errorf("got %v", findings)
	}
}

func TestLintReportsWhatTheWorkerRefuses(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	for _, c := range []struct {
		set  []string
		want []string
	}{
		{nil, nil},
		{[]string{"tasks.max", "0"}, []string{"block config/invalid-value tasks.max", "block config/refused tasks.max"}},
	} {
		config := soundConfig(c.set...)
		v, err := l.client.Validate(t.Context(), mirrorSource, config)
		l.must(err)
		got, _ := lint(t, config, preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3), Keys: v.Keys})
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	}
}

// Without the worker's word the built-in table stands in, and that has to be accepted.
func TestAWorkerThatDoesNotTellItsKeysBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.set("topcis", "orders")
	const path = "/connector-plugins/" + mirrorSource + "/config"
	for name, fault := range map[string]func() func(){
		"denied":          func() func() { return l.refuse(path) },
		"of another kind": func() func() { return l.answer(path, []map[string]any{{"name": "file", "type": "STRING"}}) },
	} {
		mend := fault()
		r := l.judge()
		l.want(r, "block config/unknown-key", "warn config/unknown-key topcis")
		if f := r.Findings[0]; !f.Unmade {
			t.Errorf("%s: %s: want unmade", name, f)
		}
		mend()
	}
}

func TestLintShowsNoSecret(t *testing.T) {
	t.Parallel()
	findings := preflight.Lint(soundConfig(
		"sasl.login.connect.timeout.ms", "https://ann:"+password+"@x", "source.cluster.sasl.jaas.confg", password, "our.password", password,
	), preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3)})
	if len(findings) < 3 {
		t.Errorf("got %v", findings)
	}
	for _, f := range findings {
		if strings.Contains(f.Detail, password) {
			t.Errorf("%s shows a secret: %s", f.Check, f.Detail)
		}
	}
}

// No text of a user makes the linter fail, or give what no plan takes.
func FuzzLint(f *testing.F) {
	f.Add("topics", "a{1,2}", "topcis", "x")
	f.Add("source.cluster.alias", "a.b", "replication.policy.separator", "")
	f.Add("a->b.topics", "\\", "producer.override.", "\x00")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		config := soundConfig()
		config[k1], config[k2] = v1, v2
		for _, v := range []connectrest.Version{{}, connectrest.KafkaVersion(3, 8), connectrest.KafkaVersion(4, 3)} {
			for _, f := range preflight.Lint(config, preflight.LintOptions{Version: v, Topics: []string{"orders"}}) {
				if f.Detail == "" || strings.Contains(f.Detail, "\n") {
					t.Errorf("%s: %q", f.Check, f.Detail)
				}
			}
		}
	})
}

// A config can be judged before there is a worker.
func ExampleLint() {
	config := connectrest.Config{
		"connector.class":                  "org.apache.kafka.connect.mirror.MirrorSourceConnector",
		"tasks.max":                        "4",
		"source.cluster.alias":             "source",
		"source.cluster.bootstrap.servers": "source:9092",
		"topics":                           "orders.v1",
		"topics.exlude":                    "orders.v1.test",
		"replication.policy.class":         "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"emit.offset-syncs.enabled":        "false",
		"heartbeats.replication.enabled":   "false",
		"sync.topic.configs.enabled":       "false",
		"sync.topic.acls.enabled":          "false",
		"key.converter":                    "org.apache.kafka.connect.converters.ByteArrayConverter",
		"value.converter":                  "org.apache.kafka.connect.converters.ByteArrayConverter",
		"header.converter":                 "org.apache.kafka.connect.converters.ByteArrayConverter",
	}
	for _, f := range preflight.Lint(config, preflight.LintOptions{Version: connectrest.KafkaVersion(4, 3)}) {
		fmt.Println(f)
	}
	// Output:
	// block config/unknown-key topics.exlude: nothing reads topics.exlude in MirrorMaker 2 4.3.0; did you mean topics.exclude?
	// warn config/topics-unquoted-dot topics: the entry "orders.v1" of topics has a dot that matches any character; for the dot itself write orders\.v1
	// info config/identity-loop replication.policy.class: names are kept, so that a mirror of the other direction would copy the copies
}
