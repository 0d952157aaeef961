package preflight_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
	jvm "github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// TestOnRealBrokersAndARealWorker says the same of real brokers and a real
// worker as the other tests say of the embedded ones: a sound migration has no
// finding, and what changes is seen at once by the same clients.
func TestOnRealBrokersAndARealWorker(t *testing.T) { //nolint:tparallel // its parts change one stage, one after the other
	t.Parallel()
	stage := jvm.Start(t, jvm.Options{Tiered: true, Users: map[string]string{theUser: theUsersPassword}})
	l := &lab{t: t, question: question()}
	l.from, l.to = l.dial(stage.Source.Bootstrap), l.dial(stage.Target.Bootstrap)
	orders, payments := stage.TopicName(t, "orders"), stage.TopicName(t, "payments")
	source, target := kadm.NewClient(l.from), kadm.NewClient(l.to)
	for _, admin := range []*kadm.Client{source, target} {
		l.topic(admin, orders, 2)
		l.topic(admin, payments, 1)
	}
	l.produce(orders, 0, 10)
	l.produce(orders, 1, 10)

	client, err := connectrest.New(stage.Worker.RESTURL)
	l.must(err)
	connector := stage.ConnectorName(t, "mm2")
	generated, err := preflight.GenerateConfig(preflight.Template{
		Version: connectrest.KafkaVersion(4, 3), SourceAlias: "source", SourceBootstrap: []string{stage.Source.Bootstrap}, TargetBootstrap: []string{stage.Target.Bootstrap},
		Topics: []string{orders, payments}, Naming: preflight.KeepNames, Isolation: offsetmap.ReadUncommitted, Tasks: 2, TargetBrokers: 1,
	})
	l.must(err)
	config := generated.Config
	v, err := client.Validate(t.Context(), mirrorSource, with(config, "name", connector))
	l.must(err)
	if v.ErrorCount != 0 {
		t.Fatalf("the worker refuses the generated config: %+v", v)
	}
	_, err = client.Create(t.Context(), connectrest.CreateRequest{Name: connector, Config: config, InitialState: connectrest.StateStopped})
	l.must(err)
	_, err = client.AwaitStopped(t.Context(), connector)
	l.must(err)
	l.probe = preflight.Probe{
		Source: source, Target: target, Connect: client, Connector: connector, Topics: []string{orders, payments},
		ResolveProducer: preflight.ReachedBy("producer.override.bootstrap.servers"),
		ResolveSource:   preflight.ReachedBy("source.cluster.bootstrap.servers"),
		Calm:            time.Second,
		ConnectTopics:   preflight.ConnectTopics{Config: "connect-lab-configs", Offset: "connect-lab-offsets", Status: "connect-lab-status"},
	}
	l.question.Attestations.Confirm.ClustersAndTopics = attest(jvm.SourceClusterID + " to " + jvm.TargetClusterID)
	l.flinkStopped()
	l.question.Positions = []offsetmap.Position{at(orders, 0, 5), at(orders, 1, 10), at(payments, 0, 0)}
	l.whatRealACLsSay(t, stage)
	r := l.judge()
	l.want(r)
	if len(r.Rows) != 3 {
		t.Fatalf("rows %v", r.Rows)
	}
	// Before a second broker comes, which goes again: a coordinator's partition of a topic
	// with one replica would go with it.
	l.eventually(func() bool {
		groups, transactions := source.FindGroupCoordinators(t.Context(), "any"), source.FindTxnCoordinators(t.Context(), "any")
		return groups.Error() == nil && transactions.Error() == nil
	}, "there are coordinators")
	l.whatTieredBrokersShow(t, stage)
	l.whatRealBrokersShow(t, stage)

	// The old job's group, which real brokers call dead before its first commit.
	l.probe.Group = stage.TopicName(t, "copy")
	// A cluster without any group has no coordinator yet: that is unknown, not absent.
	l.eventually(func() bool { return len(found(l.judge(), "source/group-unknown")) == 0 }, "the group's coordinator is there")
	l.says(l.one("source/group-absent"), "no such consumer group")
	commit := func(partition int32, c int64) {
		var offsets kadm.Offsets
		offsets.AddOffset(orders, partition, c, -1)
		l.must(source.CommitAllOffsets(t.Context(), l.probe.Group, offsets))
	}
	commit(0, 3)
	l.says(l.one("source/group-compared"), "1 behind by at most 2, 2 missing")
	commit(1, 11)
	if f := l.one("source/group-ahead"); f.Scope != orders+"-1:1" {
		t.Error(f)
	}
	l.probe.Group = ""

	// An open transaction.
	tx := l.dial(stage.Source.Bootstrap, kgo.TransactionalID("tx"))
	l.must(tx.BeginTransaction())
	l.must(tx.ProduceSync(t.Context(), &kgo.Record{Topic: payments, Value: []byte("t")}).FirstErr())
	open := l.one("source/open-transaction")
	l.says(open, "last stable offset 0 is 1 below the end 1", "producer id ", "from offset 0")
	l.must(tx.EndTransaction(t.Context(), kgo.TryAbort))
	l.eventually(func() bool { return len(found(l.judge(), "source/open-transaction")) == 0 }, "the transaction has ended")

	// The same on the target, as the old job's sink leaves it.
	sink := l.dial(stage.Target.Bootstrap, kgo.TransactionalID("fl-0-9"))
	l.must(sink.BeginTransaction())
	l.must(sink.ProduceSync(t.Context(), &kgo.Record{Topic: orders, Partition: 1, Value: []byte("t")}).FirstErr())
	left := l.one("target/open-transaction")
	l.says(left, "last stable offset 0 is 1 below the end 1", "producer id ", "from offset 0")
	listed := l.openNow(l.probe.Target, orders, 1)
	if len(listed) != 1 || left.Scope != fmt.Sprintf("%s-1:%d", orders, listed[0].ProducerID) || left.Acceptable != offsetmap.Exact {
		t.Errorf("%s, acceptable %q", left, left.Acceptable)
	}
	l.must(sink.EndTransaction(t.Context(), kgo.TryCommit))
	l.eventually(func() bool { return len(found(l.judge(), "target/open-transaction")) == 0 }, "the sink's transaction has ended")

	// Records deleted, partitions added, a topic created again.
	_, err = source.DeleteRecords(t.Context(), kadm.Offsets{orders: {0: {Topic: orders, Partition: 0, At: 7}}})
	l.must(err)
	if f := l.one("source/offset-expired"); f.Scope != orders+"-0:2" {
		t.Errorf("%s, want 2 lost", f)
	}
	_, err = source.CreatePartitions(t.Context(), 1, payments)
	l.must(err)
	l.eventually(func() bool { return len(found(l.judge(), "target/partition-count")) == 1 }, "the partition that was added is seen")
	_, err = source.DeleteTopics(t.Context(), orders)
	l.must(err)
	l.eventually(func() bool { return len(found(l.judge(), "source/topic-missing")) == 1 }, "the topic that was deleted is missing")
	l.topic(source, orders, 2)
	l.eventually(func() bool {
		again := l.recheck(r.Rows[:2])
		return len(again) == 2 && again[0].Check == "source/topic-recreated"
	}, "the topic that was created again has another id")

	// A config that the worker took, and that copies nothing of what is planned.
	l.must(client.Delete(t.Context(), connector))
	config["topics"] = strings.ToUpper(orders)
	config["offset.consistency.enabled"] = "false"
	_, err = client.Create(t.Context(), connectrest.CreateRequest{Name: connector, Config: config, InitialState: connectrest.StateStopped})
	l.must(err)
	r = l.judge()
	if n := len(found(r, "config/topics-unselected")); n != 2 {
		t.Errorf("%d topics are not selected, want 2: %v", n, r.Findings)
	}
	if len(found(r, "config/key-without-effect")) != 1 {
		t.Errorf("the fork's key is not reported: %v", r.Findings)
	}
}

// dial connects to a real broker.
func (l *lab) dial(address string, opts ...kgo.Opt) *kgo.Client {
	l.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100 * time.Millisecond)}, opts...)...)
	l.must(err)
	l.t.Cleanup(cl.Close)
	return cl
}

func (l *lab) topic(admin *kadm.Client, name string, partitions int32) {
	l.t.Helper()
	_, err := admin.CreateTopic(l.t.Context(), partitions, 1, nil, name)
	l.must(err)
}

// eventually waits for what a real cluster takes a moment to show, such as a
// change that has to reach the broker from the controller.
func (l *lab) eventually(holds func() bool, what string) {
	l.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("never so: %s; %v", what, l.judge().Findings)
		}
	}
}
