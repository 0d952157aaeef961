package preflight_test

import (
	"maps"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const mirrorSource = "org.apache.kafka.connect.mirror.MirrorSourceConnector"

func version(s string) connectrest.Version {
	v, _ := connectrest.ParseVersion(s)
	return v
}

// plugin lets the worker list MirrorSourceConnector in another version.
func (l *lab) plugin(version string) (mend func()) {
	return l.answer("/connector-plugins", []connectrest.PluginInfo{{Class: mirrorSource, Type: "source", Version: version}})
}

// run lets the connector copy until the target has n records of each partition
// of orders, and returns how to stop it.
func (l *lab) run(n int64) (stop func()) {
	l.t.Helper()
	ctx := l.t.Context()
	l.must(l.client.Resume(ctx, connector))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		ends, err := kadm.NewClient(l.to).ListEndOffsets(ctx, "orders")
		l.must(err)
		first, _ := ends.Lookup("orders", 0)
		second, _ := ends.Lookup("orders", 1)
		if min(first.Offset, second.Offset) >= n {
			break
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("the target never had %d records: %v", n, ends)
		}
	}
	return func() {
		l.must(l.client.Stop(ctx, connector))
		_, err := l.client.AwaitStopped(ctx, connector)
		l.must(err)
	}
}

func workerBreakages() map[string]breakage {
	return map[string]breakage{
		"worker/unknown": func(l *lab) func() { return l.refuse("/") },
		"worker/version": func(l *lab) func() {
			return l.answer("/", connectrest.WorkerInfo{Version: version("3.5.2"), Commit: "x", KafkaClusterID: "target-1"})
		},
		"worker/plugin": func(l *lab) func() { return l.answer("/connector-plugins", []connectrest.PluginInfo{}) },
		"worker/producer-cluster": func(l *lab) func() {
			l.set("producer.override.bootstrap.servers", strings.Join(l.source.ListenAddrs(), ","))
			return func() { l.set("producer.override.bootstrap.servers", strings.Join(l.target.ListenAddrs(), ",")) }
		},
		"worker/producer-override": func(l *lab) func() {
			l.set("producer.override.bootstrap.servers", strings.Join(l.target.ListenAddrs(), ","))
			return func() { l.set("producer.override.bootstrap.servers", "") }
		},
		"connector/unknown": func(l *lab) func() { return l.refuse("/connectors/" + connector) },
		"connector/absent": func(l *lab) func() {
			l.must(l.client.Delete(l.t.Context(), connector))
			return l.put
		},
		"connector/other-config": func(l *lab) func() {
			given := maps.Clone(l.config)
			given["name"], given["tasks.max"] = connector, "7"
			l.question.Config = given
			return func() { l.set("tasks.max", "7") }
		},
		"connector/topics-widened": func(l *lab) func() {
			given := maps.Clone(l.config)
			given["name"], given["topics"] = connector, "orders,payments,refunds"
			_, err := kadm.NewClient(l.from).CreateTopic(l.t.Context(), 1, 1, nil, "refunds")
			l.must(err)
			l.question.Config = given
			return l.run(10)
		},
		"connector/class": func(l *lab) func() {
			return l.show(with(l.config, "connector.class", "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"))
		},
		"connector/state": func(l *lab) func() { return l.run(10) },
		"connector/active-topics": func(l *lab) func() {
			l.run(10)()
			return func() { l.must(l.client.ResetActiveTopics(l.t.Context(), connector)) }
		},
	}
}

func offsetBreakages() map[string]breakage {
	clearing := func(l *lab, partition string) func() { return func() { l.store(partition, "null") } }
	const orders0 = `{"cluster":"source","topic":"orders","partition":0}`
	return map[string]breakage{
		"offsets/unknown": func(l *lab) func() { return l.refuse("/connectors/" + connector + "/offsets") },
		"offsets/foreign": func(l *lab) func() {
			const other = `{"cluster":"old","topic":"orders","partition":0}`
			l.store(other, `{"offset":3}`)
			return clearing(l, other)
		},
		"offsets/unplanned": func(l *lab) func() {
			l.store(`{"cluster":"source","topic":"refunds","partition":2}`, `{"offset":3}`)
			return func() { l.question.Earlier = earlier(wrote("refunds", 2, "3")) }
		},
		"offsets/earlier-rewound": func(l *lab) func() {
			const refunds = `{"cluster":"source","topic":"refunds","partition":2}`
			l.store(refunds, `{"offset":3}`)
			l.question.Earlier = earlier(wrote("refunds", 2, "4"))
			return func() { l.store(refunds, `{"offset":4}`) }
		},
		"offsets/rewind": func(l *lab) func() {
			l.store(orders0, `{"offset":8}`)
			return clearing(l, orders0)
		},
		"offsets/skip": func(l *lab) func() {
			l.store(orders0, `{"offset":1}`)
			return func() { l.store(orders0, `{"offset":4}`) }
		},
	}
}
