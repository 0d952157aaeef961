package cutover

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// jvmVersions are the Kafka releases of brokers and workers:
//
//	go test ./internal/cutover -run TestJVM -cutover.versions 3.7.2,4.3.1
var jvmVersions = flag.String("cutover.versions", lab.Newest3+","+lab.DefaultVersion, "comma-separated Kafka versions that TestJVM runs on")

var (
	seed  = flag.Uint64("cutover.seed", 1, "decides when a worker is killed")
	kills = flag.Int("cutover.kills", 1, "how often each worker is killed, each time with the next seed")
)

var figuresFile = flag.String("cutover.figures", "", "file that TestJVM appends its tables to")

func labOptions(version string) lab.Options {
	return lab.Options{
		Version:             version,
		OffsetFlushInterval: 5 * time.Second,
		// On a machine that stalls, the only broker would lose its leaderships for a moment.
		Source: lab.Properties{"broker.session.timeout.ms": "60000", "log.cleaner.backoff.ms": "200"},
		Target: lab.Properties{"broker.session.timeout.ms": "60000"},
		Worker: lab.Properties{
			"offset.flush.timeout.ms": "3000", "task.shutdown.graceful.timeout.ms": "5000",
			// So long a worker that was killed stays a member, and the one that comes after it waits.
			"session.timeout.ms": "6000", "heartbeat.interval.ms": "2000",
		},
	}
}

// jvm is the stage of the default release, which TestFlink uses too.
var jvm = lab.Shared{Options: labOptions(lab.DefaultVersion)}

func TestMain(m *testing.M) {
	flag.Parse()
	// The embedded tests wait more than they work, whatever the machine has.
	if n := flag.Lookup("test.parallel").Value; n.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := n.Set("4"); err != nil {
			panic(err)
		}
	}
	os.Exit(jvm.Main(m).Run())
}

// runAll runs the scenarios on a stage. They wait more than they work, and have
// topics and connectors of their own, so several run at once; those that kill
// the worker come after the others.
func runAll(t *testing.T, stage Stage, scenarios []Scenario) {
	const atOnce = 4
	run := func(s Scenario) {
		t.Run(s.Name, func(t *testing.T) {
			if err := s.Run(t, stage); err != nil {
				t.Error(err)
			}
		})
	}
	slots := make(chan struct{}, atOnce)
	var together sync.WaitGroup
	var alone []Scenario
	for _, s := range scenarios {
		if s.Alone {
			alone = append(alone, s)
			continue
		}
		slots <- struct{}{}
		together.Go(func() { defer func() { <-slots }(); run(s) })
	}
	together.Wait()
	for n := range *kills {
		stage.Seed = *seed + uint64(n)
		for _, s := range alone {
			run(s)
		}
	}
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t, connecttest.WithOffsetFlushInterval(3*time.Second))
	runAll(t, stage, Scenarios())
}

// TestJVM runs the same scenarios on real brokers and a real worker of each
// version.
func TestJVM(t *testing.T) {
	sideBySide(t, strings.Split(*jvmVersions, ","), func(t *testing.T, version string) {
		stage := stageOf(t, version)
		stage.Figures = &Figures{}
		runAll(t, stage, Scenarios())
		keep(t, "Kafka "+version+"\n"+stage.Figures.String())
	})
}

// sideBySide runs a test of each version at the same time, however many the
// machine would run in parallel: they wait for timeouts of Kafka most.
func sideBySide(t *testing.T, versions []string, run func(*testing.T, string)) {
	t.Helper()
	var all sync.WaitGroup
	for _, version := range versions {
		all.Go(func() { t.Run(version, func(t *testing.T) { run(t, version) }) })
	}
	all.Wait()
}

// stageOf starts brokers and a worker of a version.
func stageOf(t *testing.T, version string) Stage {
	t.Helper()
	l := jvm.Get
	if version != lab.DefaultVersion {
		l = func(t testing.TB) *lab.Lab { return lab.Start(t, labOptions(version)) }
	}
	return jvms(t, l(t))
}

func jvms(t *testing.T, l *lab.Lab) Stage {
	t.Helper()
	version, err := connectrest.ParseVersion(l.Version)
	if err != nil {
		t.Fatal(err)
	}
	return Stage{
		Version: version,
		Source:  l.Source.Bootstrap, Target: l.Target.Bootstrap, Connect: l.Worker.RESTURL,
		FlushTimeout: 4 * time.Second, StartTimeout: time.Minute, Patience: time.Minute,
		Kill: l.Worker.Kill, Restart: l.Worker.Start,
	}
}

// keep shows the table, and appends it to the file that somebody asked for.
func keep(t *testing.T, table string) {
	t.Helper()
	t.Log(table)
	if *figuresFile == "" {
		return
	}
	f, err := os.OpenFile(*figuresFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(table + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// embedded is a stage inside the test: two clusters of kfake and a worker in
// memory.
func embedded(t *testing.T, opts ...connecttest.Option) (Stage, *connecttest.Worker) {
	t.Helper()
	brokers := func(id string) *kfake.Cluster {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	source, target := brokers("embedded-source"), brokers("embedded-target")
	w, err := connecttest.NewWorker(t.Context(), target.ListenAddrs(),
		append([]connecttest.Option{connecttest.WithOffsetFlushInterval(time.Second), connecttest.WithTopicRefreshInterval(time.Second)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return Stage{
		Version: connectrest.KafkaVersion(4, 3),
		Source:  strings.Join(source.ListenAddrs(), ","), Target: strings.Join(target.ListenAddrs(), ","), Connect: w.URL,
		FlushTimeout: 300 * time.Millisecond, StartTimeout: 2 * time.Second, Patience: 10 * time.Second,
		Compact: source.Compact,
		Kill:    func(testing.TB) { w.Kill() },
		Restart: func(t testing.TB) {
			if err := w.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
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
	t.Parallel()
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
			t.Parallel()
			for _, judge := range []string{"oracle", "proof"} {
				t.Run(judge, func(t *testing.T) {
					t.Parallel()
					stage, worker := embedded(t)
					stage.Patience = 10 * time.Second // a doubled record shows in a whole proof only
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
