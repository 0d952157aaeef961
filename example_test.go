package flinkmm2_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The whole line: a Flink job over topic orders was stopped with a savepoint;
// MirrorMaker 2 goes on where it stood, and the target is proven.
func ExampleMigration() {
	ctx := context.Background()
	source, target, worker := clusters(ctx)
	connect, err := connectrest.New(worker.URL)
	check(err)
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)

	snapshot, err := flinkstate.ReadDir("flinkstate/testdata/savepoints/flink-1.20-stop-p2/savepoint")
	check(err)
	m, err := flinkmm2.New(flinkmm2.Config{
		Source:    flinkmm2.Cluster{Admin: kadm.NewClient(source), Options: source.Opts()},
		Target:    flinkmm2.Cluster{Admin: kadm.NewClient(target), Options: target.Opts()},
		Connect:   connect,
		Connector: "flink-to-mm2",
		ConnectorConfig: connectrest.Config{
			"connector.class":                  "org.apache.kafka.connect.mirror.MirrorSourceConnector",
			"tasks.max":                        "2",
			"source.cluster.alias":             "source",
			"target.cluster.alias":             "target",
			"source.cluster.bootstrap.servers": seeds(source),
			"target.cluster.bootstrap.servers": seeds(target),
			"topics":                           "orders",
			"replication.policy.class":         "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
			"emit.offset-syncs.enabled":        "false",
			"sync.topic.configs.enabled":       "false",
			"sync.topic.acls.enabled":          "false",
			"key.converter":                    "org.apache.kafka.connect.converters.ByteArrayConverter",
			"value.converter":                  "org.apache.kafka.connect.converters.ByteArrayConverter",
			"header.converter":                 "org.apache.kafka.connect.converters.ByteArrayConverter",
		},
		Journal: flinkmm2.NewFileJournal(filepath.Join(dir, "journal.jsonl")),
	})
	check(err)

	_, err = m.Create(ctx) // STOPPED, without a task
	check(err)
	const by, reason = "li", "ticket 4711"
	plan, err := m.MakePlan(ctx, flinkmm2.PlanRequest{Snapshot: snapshot, Attestations: offsetmap.Attestations{
		CopyOnly:       offsetmap.Attest(true, by, reason),
		FlinkStopped:   offsetmap.Attest(offsetmap.StoppedWithSavepoint, by, reason),
		AutoRestartOff: offsetmap.Attest(true, by, reason),
		SinkGuarantee:  offsetmap.Attest(offsetmap.SinkExactlyOnce, by, reason),
		Isolation:      offsetmap.Attest(offsetmap.ReadUncommitted, by, reason),
		RollbackWindow: offsetmap.Attest("1h", by, reason),
		MaxDuplicates:  offsetmap.Attest(int64(0), by, reason),
		Confirm: offsetmap.Confirmations{
			FlinkVersions:     offsetmap.Attest("Flink 1.20", by, reason),
			SinkEvidence:      offsetmap.Attest("the output of flink stop", by, reason),
			ClustersAndTopics: offsetmap.Attest("source to target: orders", by, reason),
			TargetNames:       offsetmap.Attest(offsetmap.SameNames, by, reason),
			Image:             offsetmap.Attest("the worker in this process", by, reason),
			Kubernetes:        offsetmap.Attest("none", by, reason),
			Limits:            offsetmap.Attest("a pause of 10m", by, reason),
		},
	}})
	check(err)
	for _, r := range plan.Body.Rows {
		fmt.Println(r.TopicPartition, "C =", r.Next, "Connect:", r.Write)
	}
	applied, err := m.Apply(ctx, plan)
	check(err)
	fmt.Println("offsets written:", len(applied.Written))
	_, err = m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "wang"})
	check(err)
	proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: time.Minute})
	check(err)
	fmt.Printf("%s: %d records, missing %d\n", proof.Outcome, proof.Records, proof.Missing)

	// Output:
	// orders-0 C = 20 Connect: set 19
	// orders-1 C = 32 Connect: set 31
	// orders-2 C = 0 Connect: clear
	// orders-3 C = 0 Connect: clear
	// orders-4 C = 0 Connect: clear
	// offsets written: 2
	// proven: 48 records, missing 0
}

// clusters starts two clusters in memory, as the job left them, and a Connect
// worker on the target. In a real program all three are there already.
func clusters(ctx context.Context) (source, target *kgo.Client, worker *connecttest.Worker) {
	client := func(id string) (*kgo.Client, []string) {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id), kfake.SeedTopics(5, "orders"))
		check(err)
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		check(err)
		return cl, c.ListenAddrs()
	}
	source, _ = client("source")
	target, brokers := client("target")
	begun := time.Now()
	for partition, read := range map[int32]int{0: 20, 1: 32} {
		for n := range 50 {
			r := kgo.Record{Topic: "orders", Partition: partition, Value: fmt.Appendf(nil, "order %d-%d", partition, n), Timestamp: begun.Add(time.Duration(n) * time.Second)}
			copied := r
			check(source.ProduceSync(ctx, &r).FirstErr())
			if n < read {
				check(target.ProduceSync(ctx, &copied).FirstErr())
			}
		}
	}
	worker, err := connecttest.NewWorker(ctx, brokers)
	check(err)
	return source, target, worker
}

func seeds(c *kgo.Client) string {
	addresses, _ := c.OptValue(kgo.SeedBrokers).([]string)
	return strings.Join(addresses, ",")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
