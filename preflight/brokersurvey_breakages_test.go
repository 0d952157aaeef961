package preflight_test

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// alter sets a topic's settings, as pairs of key and value.
func (l *lab) alter(admin preflight.Admin, topic string, pairs ...string) {
	l.t.Helper()
	var changes []kadm.AlterConfig
	for i := 0; i < len(pairs); i += 2 {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: pairs[i], Value: &pairs[i+1]})
	}
	done, err := admin.(*kadm.Client).AlterTopicConfigs(l.t.Context(), changes, topic)
	l.must(err)
	for _, one := range done {
		l.must(one.Err)
	}
}

// altered makes a breakage of a topic's setting, which is put back to mend it.
func altered(of func(*lab) preflight.Admin, topic, key, broken, sound string) breakage {
	return func(l *lab) func() {
		l.alter(of(l), topic, key, broken)
		return func() { l.alter(of(l), topic, key, sound) }
	}
}

func sourceOf(l *lab) preflight.Admin { return l.probe.Source }
func targetOf(l *lab) preflight.Admin { return l.probe.Target }

// watch lets the probe look twice over a window, which passes at once, and in which the
// acts happen.
func (l *lab) watch(window time.Duration, between ...func()) {
	clock := &fastClock{}
	l.probe.Now, l.probe.Window = clock.Now, window
	l.probe.Sleep = func(ctx context.Context, d time.Duration) error {
		for _, act := range between {
			act()
		}
		return clock.Sleep(ctx, d)
	}
}

func (l *lab) write(to *kgo.Client, topic string, partition int32, n int, at time.Time) {
	l.t.Helper()
	for range n {
		l.must(to.ProduceSync(l.t.Context(), &kgo.Record{Topic: topic, Partition: partition, Value: []byte("v"), Timestamp: at}).FirstErr())
	}
}

// telling is an admin client of brokers that tell more settings of topics than kfake
// has, and that have moved records to remote storage.
type telling struct {
	*kadm.Client
	settings map[string]string
	local    int64 // where the logs on the leaders' disks begin, above 0
	noLocal  error // why no broker tells that
}

func (a telling) DescribeTopicConfigs(ctx context.Context, topics ...string) (kadm.ResourceConfigs, error) {
	described, err := a.Client.DescribeTopicConfigs(ctx, topics...)
	for i := range described {
		for key, value := range a.settings {
			described[i].Configs = append(described[i].Configs, kadm.Config{Key: key, Value: &value})
		}
	}
	return described, err
}

func (a telling) ListLocalLogStartOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	listed, err := a.Client.ListLocalLogStartOffsets(ctx, topics...)
	if a.noLocal != nil {
		return nil, a.noLocal
	}
	if a.local > 0 {
		for _, partitions := range listed {
			for p, o := range partitions {
				o.Offset = a.local
				partitions[p] = o
			}
		}
	}
	return listed, err
}

func brokerSurveyBreakages() map[string]breakage {
	leaderless := func(of func(*lab) *kfake.Cluster) breakage {
		return func(l *lab) func() { return deny(of(l), kmsg.Metadata, "orders", 1, kerr.LeaderNotAvailable) }
	}
	written := func(of func(*lab) *kgo.Client) breakage {
		return func(l *lab) func() {
			l.watch(time.Minute, func() { l.write(of(l), "orders", 0, 3, time.Now()) })
			return func() { l.watch(time.Minute) }
		}
	}
	return map[string]breakage{
		"source/partition-leaderless": leaderless(func(l *lab) *kfake.Cluster { return l.source }),
		"target/partition-leaderless": leaderless(func(l *lab) *kfake.Cluster { return l.target }),
		"target/min-insync-replicas":  altered(targetOf, "orders", "min.insync.replicas", "2", "1"),
		"source/retention":            altered(sourceOf, "orders", "retention.ms", "1800000", "-1"),
		"source/tiered": func(l *lab) func() {
			right := l.probe.Source
			l.probe.Source = telling{Client: right.(*kadm.Client), settings: map[string]string{"remote.storage.enable": "true"}, local: 8}
			return func() { l.probe.Source = right }
		},
		"target/retention":         altered(targetOf, "orders", "retention.ms", "86400000", "604800000"),
		"target/timestamp-type":    altered(targetOf, "orders", "message.timestamp.type", "LogAppendTime", "CreateTime"),
		"target/max-message-bytes": altered(targetOf, "orders", "max.message.bytes", "1000", "1048588"),
		"target/cleanup-policy":    altered(targetOf, "orders", "cleanup.policy", "compact", "delete"),
		"target/compression":       altered(targetOf, "orders", "compression.type", "lz4", "producer"),
		"target/timestamp-limits": func(l *lab) func() {
			l.write(l.from, "orders", 0, 1, time.Now().Add(2*time.Hour))
			right := l.probe.Target
			l.probe.Target = telling{Client: right.(*kadm.Client), settings: map[string]string{"message.timestamp.after.max.ms": "3600000"}}
			return func() { l.probe.Target = right }
		},
		"source/partitions-moved": func(l *lab) func() {
			l.watch(time.Minute, func() {
				added, err := l.probe.Source.(*kadm.Client).CreatePartitions(l.t.Context(), 2, "orders")
				l.must(err)
				l.must(added.Error())
			})
			return func() { l.watch(time.Minute) }
		},
		"source/still-written": written(func(l *lab) *kgo.Client { return l.from }),
		"target/other-writers": written(func(l *lab) *kgo.Client { return l.to }),
	}
}
