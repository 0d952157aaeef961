package preflight_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	jvm "github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// realBreakage is a breakage that embedded brokers do not have, or have by a fault that
// is put into their answers, and what the finding says of real ones.
type realBreakage struct {
	of   breakage
	says []string
}

func realBreakages(t *testing.T, stage *jvm.Lab, orders string) map[string]realBreakage {
	return map[string]realBreakage{
		"source/partition-leaderless": {of: func(l *lab) func() {
			node := stage.StartNode(t, stage.Source, nil)
			topic := stage.TopicName(t, "placed")
			l.place(topic, 1, node.ID)
			topics := l.probe.Topics
			l.probe.Topics = append(append([]string{}, topics...), topic)
			node.Stop(t)
			l.eventually(func() bool { return len(found(l.whole(), "source/partition-leaderless")) > 0 }, "the partition has lost its leader")
			return func() {
				node.Start(t)
				l.eventually(func() bool { return len(found(l.whole(), "source/partition-leaderless")) == 0 }, "the partition has its leader again")
				l.probe.Topics = topics
			}
		}, says: []string{"it has no leader: of the brokers that hold it, [2], those that are away are [2]; in sync is ["}},
		// The source takes what the target would refuse: 4.x take an hour by default.
		"target/timestamp-limits": {of: func(l *lab) func() {
			l.alter(l.probe.Source, orders, "message.timestamp.after.max.ms", "9223372036854775807")
			l.eventually(func() bool { // the leader learns of it from the controller
				r := &kgo.Record{Topic: orders, Value: []byte("of tomorrow"), Timestamp: time.Now().Add(25 * time.Hour)}
				return l.from.ProduceSync(t.Context(), r).FirstErr() == nil
			}, "the source takes a timestamp of tomorrow")
			return func() {
				l.alter(l.probe.Target, orders, "message.timestamp.after.max.ms", strconv.Itoa(26*3600*1000))
				l.eventually(func() bool { return len(found(l.whole(), "target/timestamp-limits")) == 0 }, "the target's limit is wide enough")
			}
		}, says: []string{"the source's record 10 has the timestamp ", "message.timestamp.after.max.ms = 1h0m0s allows"}},
		"target/min-insync-replicas": {of: func(l *lab) func() {
			l.alter(l.probe.Target, orders, "min.insync.replicas", "2")
			l.eventually(func() bool { return len(found(l.whole(), "target/min-insync-replicas")) > 0 }, "the brokers tell the setting")
			return func() {
				l.alter(l.probe.Target, orders, "min.insync.replicas", "1")
				l.eventually(func() bool { return len(found(l.whole(), "target/min-insync-replicas")) == 0 }, "the brokers tell the setting")
			}
		}, says: []string{"of 2 partitions 2 have fewer replicas", "with the replicas [1]"}},
		"source/hanging-transaction": {of: hanging(stage.Source, sourceOf, orders, 1), says: []string{
			"it hangs: for its coordinator there is none: its transactional id is " + orders + "-late, Empty", "The connector reads uncommitted",
			"kafka-transactions.sh --bootstrap-server " + stage.Source.Bootstrap + " abort --topic " + orders + " --partition 1 --start-offset ",
		}},
		"target/hanging-transaction": {of: hanging(stage.Target, targetOf, orders, 1), says: []string{
			"kafka-transactions.sh --bootstrap-server " + stage.Target.Bootstrap + " abort --topic " + orders + " --partition 1 --start-offset ",
		}},
		"worker/internal-topics": {of: func(l *lab) func() {
			l.alter(l.probe.Target, "connect-lab-status", "cleanup.policy", "compact,delete")
			l.eventually(func() bool { return len(found(l.whole(), "worker/internal-topics")) > 0 }, "the brokers tell the setting")
			return func() {
				l.alter(l.probe.Target, "connect-lab-status", "cleanup.policy", "compact")
				l.eventually(func() bool { return len(found(l.whole(), "worker/internal-topics")) == 0 }, "the brokers tell the setting")
			}
		}, says: []string{`cleanup.policy is "compact,delete"`}},
		// Real brokers list a producer also while it is idle.
		"target/other-writers": {of: func(l *lab) func() {
			l.watch(time.Minute, func() { l.write(l.to, orders, 1, 2, time.Now()) })
			return func() { l.watch(time.Minute) }
		}, says: []string{"moved by 2 offsets in 1m0s", orders + "-1; the producers that the leaders know there have the ids ", "(epoch 0)"}},
	}
}

// whatRealBrokersShow holds the checks of the surroundings to brokers that embedded ones
// only resemble.
func (l *lab) whatRealBrokersShow(t *testing.T, stage *jvm.Lab) {
	t.Run("what real brokers show", func(t *testing.T) {
		probe, question := l.probe, l.question
		defer func() { l.probe, l.question = probe, question }()
		l.probe.Calm = time.Millisecond
		orders := stage.TopicName(t, "orders")
		for _, admin := range []preflight.Admin{probe.Source, probe.Target} {
			l.topic(admin.(*kadm.Client), orders, 2)
		}
		l.produce(orders, 0, 10)
		l.probe.Topics, l.question.Positions = []string{orders}, []offsetmap.Position{at(orders, 0, 5), at(orders, 1, 0)}
		for id, broken := range realBreakages(t, stage, orders) {
			t.Run(strings.ReplaceAll(id, "/", "-"), func(t *testing.T) {
				mend := broken.of(l)
				fired := found(l.whole(), id)
				if len(fired) != 1 {
					t.Fatalf("%d findings: %v", len(fired), l.whole().Findings)
				}
				for _, part := range broken.says {
					if !strings.Contains(fired[0].Detail, part) {
						t.Errorf("%s does not say %q", fired[0], part)
					}
				}
				mend()
				if still := found(l.whole(), id); len(still) > 0 {
					t.Errorf("mended, and still %v", still)
				}
			})
		}
	})
}

// place creates a topic of the source with one partition on each of the brokers.
func (l *lab) place(topic string, brokers ...int32) {
	l.t.Helper()
	placed := kmsg.NewCreateTopicsRequestTopic()
	placed.Topic, placed.NumPartitions, placed.ReplicationFactor = topic, -1, -1
	for p, on := range brokers {
		at := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		at.Partition, at.Replicas = int32(p), []int32{on}
		placed.ReplicaAssignment = append(placed.ReplicaAssignment, at)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, placed)
	resp, err := req.RequestWith(l.t.Context(), l.from)
	l.must(err)
	l.must(kerr.ErrorForCode(resp.Topics[0].ErrorCode))
}
