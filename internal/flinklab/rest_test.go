package flinklab

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// brokers are a cluster in memory with one topic. Flink's admin client breaks on the answer that it gives to
// DescribeTopicPartitions, which brokers before 3.7 do not have.
func brokers(t *testing.T) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"), kfake.MaxVersions(kversion.V3_6_0()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// What package flinkrest makes of the answers of a real JobManager, asked at once after each act: its cache must not
// come through.
func TestEvidenceOfARealJob(t *testing.T) {
	t.Parallel()
	Require(t)
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			// What takes its time are JVMs that start and caches that are waited for.
			t.Parallel()
			source, target := brokers(t), brokers(t)
			producer, err := kgo.NewClient(kgo.SeedBrokers(source.ListenAddrs()...))
			if err != nil {
				t.Fatal(err)
			}
			defer producer.Close()
			if err := producer.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("a")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
			start := func(name string) *Job {
				return Start(t, Options{
					Version: version, Source: source.ListenAddrs()[0], Target: target.ListenAddrs()[0], Topics: []string{"orders"},
					Group: "copy", Guarantee: offsetmap.SinkAtLeastOnce, Name: name, Keep: true, Parallelism: 1,
				})
			}

			stopped := start("copy orders")
			client, err := flinkrest.New(stopped.REST(t))
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			evidence := func(when string, want flinkrest.State) flinkrest.Evidence {
				e, err := client.Evidence(t.Context(), flinkrest.Job{Name: "copy orders"})
				if err != nil {
					t.Fatal(err)
				}
				server, _ := e.Server.Get()
				if job, ok := e.Job.Get(); !ok || job.State != want || server.FlinkVersion != version || server.Kind != flinkrest.JobManager {
					t.Fatalf("%s: job %+v %v, server %+v", when, job, e.Job.Err(), server)
				}
				if config, _ := e.CheckpointConfig.Get(); config.Mode != "exactly_once" {
					t.Errorf("%s: checkpoints %+v", when, config)
				}
				if running, ok := e.Running().Get(); !ok || len(running) == 0 != want.Ended() {
					t.Errorf("%s: running %+v %v", when, running, e.Running().Err())
				}
				return e
			}
			if got := evidence("running", flinkrest.Running).StoppedWithSavepoint(); !got.IsAbsent() {
				t.Errorf("running: stopped %+v", got)
			}
			path := stopped.StopWithSavepoint(t, "file://"+t.TempDir())
			savepoint, ok := evidence("stopped", flinkrest.Finished).StoppedWithSavepoint().Get()
			if got, _ := savepoint.Path.Get(); !ok || flinkrest.MatchLocation(got, path) != flinkrest.MatchPath {
				t.Errorf("stopped: %+v, want %s", savepoint, path)
			}
			snap, err := flinkstate.ReadDir(path)
			if err != nil {
				t.Fatal(err)
			}
			if snap.CheckpointID != savepoint.ID {
				t.Errorf("the savepoint has the id %d, and REST says %d", snap.CheckpointID, savepoint.ID)
			}

			canceled := start("copy orders")
			if client, err = flinkrest.New(canceled.REST(t)); err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			path = canceled.Savepoint(t, "file://"+t.TempDir())
			canceled.Cancel(t)
			e := evidence("canceled", flinkrest.Canceled)
			if got := e.StoppedWithSavepoint(); !got.IsAbsent() {
				t.Errorf("canceled after a savepoint: stopped %+v %v", got, got.Err())
			}
			checkpoints, _ := e.Checkpoints.Get()
			savepoint, ok = checkpoints.Savepoint.Get()
			if got, _ := savepoint.Path.Get(); !ok || savepoint.Type != flinkrest.Savepoint || flinkrest.MatchLocation(got, path) != flinkrest.MatchPath {
				t.Errorf("canceled: savepoint %+v, want %s", savepoint, path)
			}
		})
	}
}
