package cutover

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

var jvm = lab.Shared{Options: lab.Options{
	Worker: lab.Properties{"offset.flush.timeout.ms": "3000", "task.shutdown.graceful.timeout.ms": "5000"},
}}

func TestMain(m *testing.M) { os.Exit(jvm.Main(m).Run()) }

func TestEmbedded(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if err := s.Run(t, stage); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestJVM runs the same scenarios on real brokers and a real worker. Their
// topics and connectors have names of their own, so they share one stage.
func TestJVM(t *testing.T) {
	l := jvm.Get(t)
	stage := Stage{
		Source: l.Source.Bootstrap, Target: l.Target.Bootstrap, Connect: l.Worker.RESTURL,
		FlushTimeout: 4 * time.Second, StartTimeout: 20 * time.Second, Patience: 45 * time.Second,
	}
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if err := s.Run(t, stage); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// embedded is a stage inside the test: two clusters of kfake and a worker in
// memory.
func embedded(t *testing.T) (Stage, *connecttest.Worker) {
	t.Helper()
	brokers := func(id string) []string {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c.ListenAddrs()
	}
	source, target := brokers("embedded-source"), brokers("embedded-target")
	w, err := connecttest.NewWorker(t.Context(), target,
		connecttest.WithOffsetFlushInterval(time.Second), connecttest.WithTopicRefreshInterval(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return Stage{
		Source: strings.Join(source, ","), Target: strings.Join(target, ","), Connect: w.URL,
		FlushTimeout: 300 * time.Millisecond, StartTimeout: 2 * time.Second, Patience: 10 * time.Second,
	}, w
}

func scenario(t *testing.T, name string) Scenario {
	t.Helper()
	for _, s := range Scenarios() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no scenario %q", name)
	return Scenario{}
}

// A suite that does not notice these has shown nothing on any stage.
func TestPlantedBugsAreNoticed(t *testing.T) {
	line := scenario(t, "the line")
	for name, plant := range map[string]func(*testing.T, *connecttest.Worker, *world) *connecttest.Injected{
		"seek to M": func(_ *testing.T, w *connecttest.Worker, _ *world) *connecttest.Injected {
			return w.Inject(connecttest.WrongSeek{By: -1})
		},
		"seek to M+2": func(_ *testing.T, w *connecttest.Worker, _ *world) *connecttest.Injected {
			return w.Inject(connecttest.WrongSeek{By: 1})
		},
		"alias ignored": func(_ *testing.T, _ *connecttest.Worker, s *world) *connecttest.Injected {
			s.client = aliasIgnored{s.connect}
			return nil
		},
		"one record dropped": func(_ *testing.T, w *connecttest.Worker, s *world) *connecttest.Injected {
			return w.Inject(connecttest.DropRecord{Record: connecttest.Record{Topic: s.topic("orders"), Partition: 0, Offset: 707}})
		},
		"one record doubled": func(_ *testing.T, w *connecttest.Worker, s *world) *connecttest.Injected {
			return w.Inject(connecttest.RepeatRecord{Record: connecttest.Record{Topic: s.topic("orders"), Partition: 1, Offset: 17}})
		},
		"one record altered": func(_ *testing.T, w *connecttest.Worker, s *world) *connecttest.Injected {
			return w.Inject(connecttest.AlterRecord{Record: connecttest.Record{Topic: s.topic("payments"), Partition: 0, Offset: 199}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, judge := range []string{"oracle", "proof"} {
				t.Run(judge, func(t *testing.T) {
					stage, worker := embedded(t)
					stage.Patience = 3 * time.Second
					w := newWorld(t, stage)
					w.blind = judge == "proof"
					fault := plant(t, worker, w)
					err := line.run(context.WithoutCancel(t.Context()), w)
					if err == nil {
						t.Fatalf("the suite came out green with %q planted", name)
					}
					if fault != nil && fault.Hits() == 0 {
						t.Fatalf("%q never took effect; the suite failed for another reason: %v", name, err)
					}
					switch {
					case judge == "oracle" && !strings.HasPrefix(err.Error(), "the oracle: "):
						t.Errorf("noticed by something else than the oracle: %v", err)
					case judge == "proof" && !errors.Is(err, flinkmm2.ErrProofFailed) && !strings.Contains(err.Error(), "the proof counts"):
						t.Errorf("noticed by something else than the proof: %v", err)
					}
				})
			}
		})
	}
}
