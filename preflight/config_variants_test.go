package preflight_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// TestConfigsOneByOne shows configs to the checks, as a worker answers with
// them, and wants these findings and no others.
func TestConfigsOneByOne(t *testing.T) {
	t.Parallel()
	const reset, group, level = "source.consumer.auto.offset.reset", "source.consumer.group.id", "source.consumer.isolation.level"
	for name, c := range map[string]struct {
		set  []string
		want []string
	}{
		"earliest by default":                 {[]string{reset, ""}, nil},
		"read_uncommitted by default":         {[]string{level, ""}, nil},
		"a level that Kafka does not have":    {[]string{level, "committed"}, []string{"block config/isolation " + level}},
		"the level of every consumer":         {[]string{level, "", "consumer.isolation.level", "read_committed"}, []string{"block config/isolation consumer.isolation.level"}},
		"the own level wins":                  {[]string{"consumer.isolation.level", "read_committed"}, nil},
		"a level from a provider":             {[]string{level, "${env:LEVEL}"}, []string{"block config/isolation " + level, "info config/action-reload config.action.reload"}},
		"an empty group":                      {[]string{group, " "}, nil},
		"a group":                             {[]string{group, "flink"}, []string{"block config/consumer-group " + group}},
		"no errors.tolerance":                 {[]string{"errors.tolerance", ""}, nil},
		"errors.tolerance NONE":               {[]string{"errors.tolerance", "NONE"}, []string{"block config/invalid-value errors.tolerance"}},
		"no key converter":                    {[]string{"key.converter", ""}, []string{"block config/converters key.converter"}},
		"a JSON converter":                    {[]string{"value.converter", "org.apache.kafka.connect.json.JsonConverter"}, []string{"block config/converters value.converter"}},
		"a converter's alias":                 {[]string{"value.converter", "ByteArrayConverter"}, nil},
		"enabled is not a boolean":            {[]string{"enabled", "yes"}, []string{"block config/disabled enabled", "block config/invalid-value enabled"}},
		"enabled TRUE":                        {[]string{"enabled", "TRUE"}, nil},
		"sync from a provider":                {[]string{"sync.topic.acls.enabled", "${env:SYNC}"}, []string{"block config/acl-sync sync.topic.acls.enabled", "info config/action-reload config.action.reload"}},
		"predicates without transforms":       {[]string{"predicates", "p"}, []string{"block config/transforms predicates"}},
		"an empty list of transforms":         {[]string{"transforms", " "}, nil},
		"exactly-once requested":              {[]string{"exactly.once.support", "requested"}, nil},
		"the connector's alias":               {[]string{"connector.class", "MirrorSource"}, nil},
		"an alias with spaces":                {[]string{"source.cluster.alias", " source"}, []string{"block config/source-alias source.cluster.alias"}},
		"no class":                            {[]string{"connector.class", ""}, []string{"block connector/class connector.class"}},
		"no topics means all":                 {[]string{"topics", "", "topics.exclude", "refunds"}, []string{"block config/topics-unplanned orders-archive", "warn config/replication-factor replication.factor", "warn config/topics-wide topics"}},
		"topics is empty":                     {[]string{"topics", " "}, []string{"block config/topics-unselected orders", "block config/topics-unselected payments"}},
		"topics from a provider":              {[]string{"topics", "${file:/etc/mm2:topics}"}, []string{"block config/topics-unplanned topics", "block config/topics-unselected topics", "info config/action-reload config.action.reload"}},
		"a filter of one's own":               {[]string{"topic.filter.class", "com.example.Filter"}, []string{"block config/topics-unplanned topics", "block config/topics-unselected topics", "warn config/foreign-class topic.filter.class"}},
		"a star alone is no regex":            {[]string{"topics", "*"}, []string{"block config/topics-unplanned topics", "block config/topics-unselected topics", "warn config/replication-factor replication.factor"}},
		"an entry twice":                      {[]string{"topics", "orders,payments,orders"}, []string{"block config/topics-unplanned topics", "block config/topics-unselected topics", "block config/topics-list topics"}},
		"producer settings for nobody":        {[]string{"producer.linger.ms", "5", "target.producer.acks", "all"}, []string{"warn config/unread-prefix producer.linger.ms", "warn config/unread-prefix target.producer.acks"}},
		"producer settings that are read":     {[]string{"producer.override.linger.ms", "5"}, nil},
		"security settings that are read":     {[]string{"source.cluster.ssl.truststore.location", "/x", "target.cluster.security.protocol", "SSL"}, nil},
		"client settings at the cluster":      {[]string{"target.cluster.acks", "all"}, []string{"warn config/unread-prefix target.cluster.acks"}},
		"keys in milliseconds":                {[]string{"refresh.topics.interval.ms", "60000"}, []string{"warn config/key-without-effect refresh.topics.interval.ms"}},
		"the alias is a reference":            {[]string{"source.cluster.alias", "${env:ALIAS}"}, []string{"block config/source-alias source.cluster.alias", "block config/replication-policy replication.policy.class", "info config/action-reload config.action.reload"}},
		"DefaultReplicationPolicy":            {[]string{"replication.policy.class", ""}, []string{"block target/topic-missing source.orders", "block target/topic-missing source.payments", "block confirm/target-names replication.policy.class"}},
		"equal aliases, names kept":           {[]string{"target.cluster.alias", "source"}, []string{"block config/equal-aliases target.cluster.alias", "block config/topics-unselected orders", "block config/topics-unselected payments"}},
		"the target's alias by default":       {[]string{"target.cluster.alias", ""}, nil},
		"emit is missing":                     {[]string{"emit.offset-syncs.enabled", ""}, []string{"block config/offset-syncs emit.offset-syncs.enabled"}},
		"addresses of a cluster that is gone": {[]string{"source.cluster.bootstrap.servers", "127.0.0.1:1"}, []string{"block config/source-cluster source.cluster.bootstrap.servers"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.create(l.source, "orders-archive", 1)
			l.create(l.source, "refunds", 1)
			defer l.show(with(l.config, c.set...))()
			l.want(l.judge(), c.want...)
		})
	}
}

// TestClientSettingsOneByOne is TestConfigsOneByOne for the settings of the two
// clients that copy. What the producer of a worker takes for all, for a number
// and for an empty list was tried with that of Kafka 4.3.
func TestClientSettingsOneByOne(t *testing.T) {
	t.Parallel()
	const (
		producer, consumer = "producer.override.", "source.consumer."
		inFlight           = producer + "max.in.flight.requests.per.connection"
		idempotence        = producer + "enable.idempotence"
		once               = "exactly.once.support"
		transactional      = producer + "transactional.id"
	)
	for name, c := range map[string]struct {
		set  []string
		want []string
	}{
		"acks all":                         {[]string{producer + "acks", " all "}, nil},
		"acks -1":                          {[]string{producer + "acks", "-1"}, nil},
		"acks 0":                           {[]string{producer + "acks", "0"}, []string{"block config/producer-acks " + producer + "acks"}},
		"acks that the producer refuses":   {[]string{producer + "acks", "ALL"}, []string{"block config/producer-acks " + producer + "acks"}},
		"acks of nobody's producer":        {[]string{"producer.acks", "1"}, []string{"warn config/unread-prefix producer.acks"}},
		"one in flight":                    {[]string{inFlight, "1"}, nil},
		"two in flight":                    {[]string{inFlight, "2"}, []string{"block config/producer-order " + inFlight}},
		"two in flight, retries off":       {[]string{inFlight, "2", producer + "retries", "0"}, []string{"block config/producer-order " + inFlight, "warn config/producer-timeouts " + producer + "retries"}},
		"some in flight":                   {[]string{inFlight, "some"}, []string{"block config/producer-order " + inFlight}},
		"five in flight, idempotent":       {[]string{inFlight, " 5 ", idempotence, "TRUE"}, nil},
		"five in flight, not idempotent":   {[]string{inFlight, "5", idempotence, "false"}, []string{"block config/producer-order " + inFlight}},
		"five in flight, perhaps so":       {[]string{inFlight, "5", idempotence, "${env:I}"}, []string{"block config/producer-order " + inFlight, "info config/action-reload config.action.reload"}},
		"idempotent":                       {[]string{idempotence, "true"}, nil},
		"plain serializers":                {[]string{producer + "key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer"}, nil},
		"a key serializer":                 {[]string{producer + "key.serializer", "com.example.Sealer"}, []string{"block config/producer-serializers " + producer + "key.serializer"}},
		"a deserializer, which MM2 passes": {[]string{consumer + "value.deserializer", "com.example.Opener"}, nil},
		"endless retries":                  {[]string{producer + "retries", "2147483647", producer + "delivery.timeout.ms", "2147483647", producer + "max.block.ms", "9223372036854775807"}, nil},
		"a minute for each send": {
			[]string{producer + "delivery.timeout.ms", "60000", producer + "max.block.ms", "60000", producer + "retries", "${env:N}"},
			[]string{"warn config/producer-timeouts " + producer + "delivery.timeout.ms", "warn config/producer-timeouts " + producer + "max.block.ms", "warn config/producer-timeouts " + producer + "retries", "info config/action-reload config.action.reload"},
		},
		"compression and batches":          {[]string{producer + "compression.type", "zstd", producer + "batch.size", "1048576"}, nil},
		"a transactional id, by reference": {[]string{transactional, "${env:TX}"}, []string{"block config/producer-transactions " + transactional, "info config/action-reload config.action.reload"}},
		"no interceptor":                   {[]string{consumer + "interceptor.classes", " ", producer + "interceptor.classes", " "}, nil},
		"an interceptor of every consumer": {[]string{"consumer.interceptor.classes", "com.example.Mask"}, []string{"block config/interceptors consumer.interceptor.classes"}},
		"which the own setting removes":    {[]string{"consumer.interceptor.classes", "com.example.Mask", consumer + "interceptor.classes", " "}, nil},
		"an interceptor of the producer":   {[]string{producer + "interceptor.classes", "com.example.Trace"}, []string{"block config/interceptors " + producer + "interceptor.classes"}},
		"checksums":                        {[]string{consumer + "check.crcs", "True"}, nil},
		"checksums, perhaps":               {[]string{consumer + "check.crcs", "yes"}, []string{"block config/check-crcs " + consumer + "check.crcs"}},
		"small polls":                      {[]string{consumer + "max.poll.records", "10"}, nil},
		"transactions by the worker": {
			[]string{once, "required", consumer + "isolation.level", "read_committed", transactional, "x", inFlight, "5", idempotence, "false"},
			[]string{"info config/exactly-once " + once, "block config/isolation " + consumer + "isolation.level", "warn config/producer-transactions " + transactional, "warn config/exactly-once-worker " + once},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.show(with(l.config, c.set...))()
			l.want(l.judge(), c.want...)
		})
	}
}

func TestWhatCanLoseRecordsIsAcceptedExactly(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"producer.override.acks": "1", "producer.override.max.in.flight.requests.per.connection": "5",
		"producer.override.key.serializer": "x.Y", "producer.override.interceptor.classes": "x.Y", "source.consumer.check.crcs": "false",
		"transforms": "drop",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.show(with(l.config, key, value))()
			f := l.judge().Findings[0]
			for scope, accepted := range map[string]bool{"*": false, "": false, key: true} {
				l.question.Acceptances = []offsetmap.Acceptance{{Check: f.Check, Scope: scope, By: "ann", Reason: "measured it"}}
				if r := l.judge(); (r.Err() == nil) != accepted {
					t.Errorf("accepted by the scope %q: %v", scope, r.Findings)
				}
			}
		})
	}
}

func TestExactlyOnceNeedsReadCommitted(t *testing.T) {
	t.Parallel()
	const once, level, edge = "exactly.once.support", "source.consumer.isolation.level", "transaction.boundary"
	for name, c := range map[string]struct {
		set  []string
		want []string
	}{
		"required":                             {[]string{once, "required", level, "read_committed"}, []string{"info config/exactly-once " + once, "warn config/exactly-once-worker " + once}},
		"required in capitals":                 {[]string{once, "REQUIRED", level, "read_committed"}, []string{"info config/exactly-once " + once, "warn config/exactly-once-worker " + once}},
		"required without read_committed":      {[]string{once, "required", level, ""}, []string{"block config/exactly-once " + once, "block config/isolation " + level, "warn config/exactly-once-worker " + once}},
		"required with the connector's bounds": {[]string{once, "required", level, "read_committed", edge, "connector"}, []string{"block config/exactly-once " + edge, "warn config/exactly-once-worker " + once}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.question.Attestations.Isolation = attest(offsetmap.ReadCommitted)
			defer l.show(with(l.config, c.set...))()
			l.want(l.judge(), c.want...)
		})
	}
}

func TestOffsetSyncsBefore39(t *testing.T) {
	t.Parallel()
	const location, factor = "offset-syncs.topic.location", "offset-syncs.topic.replication.factor"
	for name, c := range map[string]struct {
		set  []string
		want []string
	}{
		"on the target":                  {nil, nil},
		"on the source by default":       {[]string{location, ""}, []string{"block config/offset-syncs " + location}},
		"emit is ignored":                {[]string{location, "", "emit.offset-syncs.enabled", "false"}, []string{"block config/offset-syncs " + location, "warn config/key-of-other-version emit.offset-syncs.enabled"}},
		"replicas that cannot be":        {[]string{factor, "3"}, []string{"block config/offset-syncs " + factor}},
		"replicas by default":            {[]string{factor, ""}, []string{"block config/offset-syncs " + factor}},
		"replicas that are not a number": {[]string{factor, "one"}, []string{"block config/offset-syncs " + factor, "block config/invalid-value " + factor}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for version, more := range map[string][]string{"3.6.2": {"warn worker/version worker"}, "3.8.1": nil} {
				l := newLab(t, setup{version: version})
				mend := l.show(with(l.config, c.set...))
				l.want(l.judge(), slices.Concat(c.want, more, []string{"warn config/offset-syncs-unavoidable"})...)
				mend()
			}
		})
	}
}

// TestAReferenceIsNeverTakenForAValue sets each key that a check reads to what
// only the worker resolves: the check says that it could not be made.
func TestAReferenceIsNeverTakenForAValue(t *testing.T) {
	t.Parallel()
	for key, id := range map[string]string{
		"connector.class":                     "connector/class",
		"source.cluster.alias":                "config/source-alias",
		"target.cluster.alias":                "config/replication-policy",
		"replication.policy.class":            "config/replication-policy",
		"source.cluster.bootstrap.servers":    "config/source-cluster",
		"producer.override.bootstrap.servers": "worker/producer-cluster",
		"topics":                              "config/topics-unselected",
		"topics.exclude":                      "config/topics-unplanned",
		"topic.filter.class":                  "config/topics-unplanned",
		"heartbeats.replication.enabled":      "config/topics-unplanned",
		"source.consumer.auto.offset.reset":   "config/reset-rule",
		"source.consumer.group.id":            "config/consumer-group",
		"source.consumer.isolation.level":     "config/isolation",
		"value.converter":                     "config/converters",
		"errors.tolerance":                    "config/errors-tolerance",
		"exactly.once.support":                "config/exactly-once",
		"enabled":                             "config/disabled",
		"sync.topic.configs.enabled":          "config/topic-config-sync",
		"sync.topic.acls.enabled":             "config/acl-sync",
		"emit.offset-syncs.enabled":           "config/offset-syncs",
		"consumer.interceptor.classes":        "config/interceptors",
		"source.consumer.check.crcs":          "config/check-crcs",
		"producer.override.acks":              "config/producer-acks",
		"producer.override.key.serializer":    "config/producer-serializers",

		"producer.override.max.in.flight.requests.per.connection": "config/producer-order",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			defer l.show(with(l.config, key, "${file:/etc/mm2:x}"))()
			r := l.judge()
			if all := found(r, id); len(all) != 1 || !all[0].Unmade || all[0].Severity != offsetmap.Block {
				t.Fatalf("findings %v, want one of %s that was not made", r.Findings, id)
			}
			l.says(found(r, id)[0], key, "config provider")
		})
	}
	for _, key := range []string{"offset-syncs.topic.location", "offset-syncs.topic.replication.factor"} {
		t.Run(key+" before 3.9", func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{version: "3.8.1"})
			defer l.show(with(l.config, key, "${file:/etc/mm2:x}"))()
			if f := l.one("config/offset-syncs"); !f.Unmade {
				t.Errorf("%s: want unmade", f)
			}
		})
	}
}

func TestTheResetRuleIsJudgedAlsoWhileARuleBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.source, "t", 12) // never named by the state, and empty: all will be cleared
	l.create(l.target, "t", 12)
	l.probe.Topics = append(l.probe.Topics, "t")
	l.question.Positions[0] = at("orders", 0, 99) // blocks, so that no row is decided
	l.set("source.consumer.auto.offset.reset", "latest", "topics", "orders|payments|t")
	r := l.judge()
	l.want(r, "block config/reset-rule source.consumer.auto.offset.reset", "block source/offset-beyond-end orders-0")
	l.says(found(r, "config/reset-rule")[0], "13 partitions: payments-0, t-0, t-1, t-2, t-3 and 8 more")
}

func TestTargetTopic(t *testing.T) {
	t.Parallel()
	sound := connectrest.Config{"source.cluster.alias": "source"}
	if got, err := preflight.TargetTopic(sound, "orders"); err != nil || got != "source.orders" {
		t.Errorf("%q, %v", got, err)
	}
	for name, c := range map[string]struct {
		config connectrest.Config
		topic  string
		want   error
	}{
		"no alias":       {connectrest.Config{}, "orders", preflight.ErrPolicy},
		"unknown policy": {connectrest.Config{"source.cluster.alias": "s", "replication.policy.class": "x.Y"}, "orders", preflight.ErrPolicy},
		"a reference":    {connectrest.Config{"source.cluster.alias": "s", "replication.policy.class": "${env:P}"}, "orders", preflight.ErrPolicy},
		"too long":       {sound, strings.Repeat("x", 249), offsetmap.ErrTopicName},
		"bad separator":  {connectrest.Config{"source.cluster.alias": "s", "replication.policy.separator": "/"}, "orders", offsetmap.ErrTopicName},
	} {
		if got, err := preflight.TargetTopic(c.config, c.topic); !errors.Is(err, c.want) || got != "" {
			t.Errorf("%s: %q, %v; want %v", name, got, err, c.want)
		}
	}
}

func TestReachedByAsksTheBrokersOfTheConfig(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	ctx := t.Context()
	const key = "producer.override.bootstrap.servers"
	// The options' own addresses do not count.
	reach := preflight.ReachedBy(key, append(quick(), kgo.SeedBrokers("127.0.0.1:1"))...)
	id, err := reach(ctx, connectrest.Config{key: " " + strings.Join(l.target.ListenAddrs(), " , ")})
	if err != nil || id != "target-1" {
		t.Errorf("%q, %v; want target-1", id, err)
	}
	for name, config := range map[string]connectrest.Config{
		"not set":     {},
		"empty":       {key: " , "},
		"a reference": {key: "${env:TARGET}"},
		"nobody":      {key: "127.0.0.1:1"},
		"no address":  {key: "not an address:x"},
	} {
		if id, err := reach(ctx, config); err == nil || id != "" {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}
