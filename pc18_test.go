package flinkmm2_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/measured"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const (
	manyTopics, manyEach = 2000, 50
	manyC                = 400  // of each partition
	manyEnd              = 1000 // of each partition, on both sides
	memoryLimit          = 256 << 20
	manyEnv              = "FLINKMM2_TEST_MANY"
	// manyWithin bounds it all. Two processors with nothing else to do take a tenth.
	manyWithin = 10 * time.Minute
)

func manyTopic(i int) string { return fmt.Sprintf("region.orders-%04d", i) }

// manySide is a cluster with every topic, which says that each log has manyEnd
// records: to produce 100,000 would take longer than all the rest.
func manySide(t *testing.T, id string) *kfake.Cluster {
	t.Helper()
	names := make([]string, manyTopics)
	for i := range names {
		names[i] = manyTopic(i)
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.ClusterID(id), kfake.SeedTopics(manyEach, names...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req, ok := r.(*kmsg.ListOffsetsRequest)
		if !ok {
			return nil, nil, false
		}
		resp, _ := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, rt := range req.Topics {
			st := kmsg.NewListOffsetsResponseTopic()
			st.Topic = rt.Topic
			for _, rp := range rt.Partitions {
				sp := kmsg.NewListOffsetsResponseTopicPartition()
				sp.Partition, sp.LeaderEpoch, sp.Timestamp, sp.Offset = rp.Partition, rp.CurrentLeaderEpoch, -1, manyEnd
				if rp.Timestamp == -2 || rp.Timestamp >= 0 { // no record is older than what is asked for
					sp.Offset = 0
				}
				st.Partitions = append(st.Partitions, sp)
			}
			resp.Topics = append(resp.Topics, st)
		}
		return resp, nil, true
	})
	return c
}

// manyStages is what the process under test is told.
type manyStages struct {
	Source, Target []string
	Worker, Dir    string
}

// 2,000 topics of 50 partitions go from the plan to the read-back in a process of
// less than 256 MiB, and a part that is refused on the way leaves what the next run
// needs to know.
func TestPC18VeryManyPartitions(t *testing.T) {
	if told := os.Getenv(manyEnv); told != "" {
		manyCutover(t, told)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("what memory a process has had is read from /proc")
	}
	source, target := manySide(t, "the-source"), manySide(t, "the-target")
	worker, err := connecttest.NewWorker(t.Context(), target.ListenAddrs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	refused := worker.Inject(connecttest.Answer{
		Requests: connecttest.Requests{Method: http.MethodPatch, Path: "/connectors/*/offsets", Skip: 6, Times: 1}, Status: http.StatusForbidden, Body: "not now", ContentType: "text/plain",
	})
	told, err := json.Marshal(manyStages{source.ListenAddrs(), target.ListenAddrs(), worker.URL, t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), manyWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, measured.Binary(t), "-test.run=^TestPC18VeryManyPartitions$", "-test.v", "-test.count=1")
	// As the container does: the collector is told of the limit of memory.
	cmd.Env = append(os.Environ(), manyEnv+"="+string(told), fmt.Sprintf("GOMEMLIMIT=%d", memoryLimit*3/4))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || refused.Hits() != 1 {
		t.Errorf("%v, %d parts were refused", err, refused.Hits())
	}
}

// manyCutover runs in a process of its own.
func manyCutover(t *testing.T, told string) {
	var stages manyStages
	if err := json.Unmarshal([]byte(told), &stages); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	step := func(what string) {
		t.Logf("%s: %v, %d MiB", what, time.Since(begun).Round(time.Millisecond), highWater(t)>>20)
	}
	client := func(brokers []string) (*kadm.Client, []kgo.Opt) {
		opts := []kgo.Opt{kgo.SeedBrokers(brokers...)}
		c, err := kgo.NewClient(opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return kadm.NewClient(c), opts
	}
	connect, err := connectrest.New(stages.Worker)
	if err != nil {
		t.Fatal(err)
	}
	var cfg flinkmm2.Config
	cfg.Source.Admin, cfg.Source.Options = client(stages.Source)
	cfg.Target.Admin, cfg.Target.Options = client(stages.Target)
	cfg.Connect, cfg.Connector = hasty{connect}, "mm2"
	cfg.Journal = flinkmm2.NewFileJournal(filepath.Join(stages.Dir, "journal.jsonl"))
	cfg.ConnectorConfig = mirrorConfig(stages.Source, stages.Target, `region\.orders-.*`)
	// These brokers have bounds, and no records to look at.
	steps, err := flinkmm2.New(cfg, flinkmm2.WithDeliveryReader(nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := steps.Create(ctx); err != nil {
		t.Fatal(err)
	}
	step("create")
	plan, err := steps.MakePlan(ctx, flinkmm2.PlanRequest{Snapshot: manySnapshot(t), Attestations: attested()})
	if err != nil {
		t.Fatal(bounded(err))
	}
	step("plan")
	if err := flinkmm2.WritePlan(filepath.Join(stages.Dir, "plan.json"), plan); err != nil {
		t.Fatal(err)
	}
	step("plan written")

	_, err = steps.Apply(ctx, plan)
	failed, ok := errors.AsType[*connectrest.PartsError](err)
	const says = "part 7 of 100 (1000 partitions, region.orders-0120-0 to region.orders-0139-49)"
	if !ok || failed.Failed != 7 || !errors.Is(err, connectrest.ErrForbidden) || !strings.Contains(err.Error(), says) ||
		!strings.Contains(err.Error(), "; written: parts 1 to 6 (6000 partitions); not written: parts 7 to 100 (94000 partitions)") {
		t.Fatalf("a part was refused: %v", bounded(err))
	}
	step("apply, ended by part 7")
	if _, err := steps.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "ana"}); !errors.Is(err, flinkmm2.ErrMoved) {
		t.Errorf("what is written by half was started: %v", bounded(err))
	}
	step("start, refused")
	applied, err := steps.Apply(ctx, plan)
	if err != nil {
		t.Fatal(bounded(err))
	}
	if len(applied.Written) != 94_000 || applied.Partitions != 100_000 || applied.Written[0].Topic != "region.orders-0120" {
		t.Errorf("the second run wrote %d of %d, first %v", len(applied.Written), applied.Partitions, applied.Written[0])
	}
	step("apply, the rest")
	if _, err := steps.Verify(ctx, plan); err != nil {
		t.Error(bounded(err))
	}
	step("verify")
	if peak := highWater(t); peak >= memoryLimit {
		t.Errorf("the process has had %d MiB, want less than %d", peak>>20, memoryLimit>>20)
	}
}

func bounded(err error) string { return fmt.Sprintf("%.2000v", err) }

// highWater is the most memory that this process has had, in bytes.
func highWater(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

func manySnapshot(t *testing.T) *flinkstate.Snapshot {
	t.Helper()
	c, err := offsetmap.Next(manyC)
	if err != nil {
		t.Fatal(err)
	}
	const operator = "30198ea1e33432d6307d761dd131f28a"
	positions := make([]offsetmap.Position, 0, manyTopics*manyEach)
	for i := range manyTopics {
		for p := range int32(manyEach) {
			positions = append(positions, offsetmap.Position{TopicPartition: offsetmap.TopicPartition{Topic: manyTopic(i), Partition: p}, Next: c})
		}
	}
	return &flinkstate.Snapshot{
		Location: "savepoint-many/_metadata", MetadataVersion: 4, CheckpointID: 9, Kind: flinkstate.KindStopWithSavepoint,
		Files:     []flinkstate.File{{Name: "_metadata", Size: 1, SHA256: strings.Repeat("0", 64)}},
		Operators: []flinkstate.Operator{{ID: operator, Parallelism: 1, MaxParallelism: 128}},
		Sources: []flinkstate.Source{{
			OperatorID: operator, Kind: flinkstate.KafkaSource, Parallelism: 1, Discovery: flinkstate.DiscoveryFinished, Partitions: positions,
		}},
	}
}

func attested() offsetmap.Attestations {
	const by, reason = "test", "the test made it so"
	return offsetmap.Attestations{
		CopyOnly:       offsetmap.Attest(true, by, reason),
		FlinkStopped:   offsetmap.Attest(offsetmap.StoppedWithSavepoint, by, reason),
		AutoRestartOff: offsetmap.Attest(true, by, reason),
		SinkGuarantee:  offsetmap.Attest(offsetmap.SinkAtLeastOnce, by, reason),
		Isolation:      offsetmap.Attest(offsetmap.ReadUncommitted, by, reason),
		RollbackWindow: offsetmap.Attest("1h", by, reason),
		MaxDuplicates:  offsetmap.Attest(int64(0), by, reason),
		Confirm: offsetmap.Confirmations{
			FlinkVersions:     offsetmap.Attest("Flink 1.20", by, reason),
			SinkEvidence:      offsetmap.Attest("the output of flink stop", by, reason),
			ClustersAndTopics: offsetmap.Attest("the-source to the-target", by, reason),
			TargetNames:       offsetmap.Attest(offsetmap.SameNames, by, reason),
			Image:             offsetmap.Attest("the worker in this process", by, reason),
			Kubernetes:        offsetmap.Attest("none", by, reason),
			Limits:            offsetmap.Attest("a pause of 10m", by, reason),
		},
	}
}

func mirrorConfig(source, target []string, topics string) connectrest.Config {
	const bytes = "org.apache.kafka.connect.converters.ByteArrayConverter"
	return connectrest.Config{
		"connector.class":                   "org.apache.kafka.connect.mirror.MirrorSourceConnector",
		"tasks.max":                         "2",
		"source.cluster.alias":              "source",
		"target.cluster.alias":              "target",
		"source.cluster.bootstrap.servers":  strings.Join(source, ","),
		"target.cluster.bootstrap.servers":  strings.Join(target, ","),
		"topics":                            topics,
		"replication.policy.class":          "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"emit.offset-syncs.enabled":         "false",
		"sync.topic.configs.enabled":        "false",
		"sync.topic.acls.enabled":           "false",
		"source.consumer.auto.offset.reset": "earliest",
		"key.converter":                     bytes,
		"value.converter":                   bytes,
		"header.converter":                  bytes,
	}
}
