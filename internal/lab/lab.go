package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Lab is a running stage. Its fields are set when [Start] or [Shared.Get] returns and are not to be changed.
type Lab struct {
	// Version is the Kafka release of the brokers and of the first worker.
	Version        string
	Source, Target *Broker
	// Worker keeps its topics on the target and produces to it.
	Worker *Worker

	dir      string
	launcher string // the java program
	first    release
	tiered   string // folder of the jars of the remote storage, with Options.Tiered
	shared   bool
	reserve  func() (port int, release func(), err error)

	mu         sync.Mutex
	processes  []*Process
	numWorkers int
	numNames   int
}

// release is what a JVM of one Kafka version needs on its command line.
type release struct {
	classPath, logging string
}

// Start starts a stage for t and stops it at the end of t. It calls [Require] for [JVM] itself; jars that cannot be
// fetched count as a stage that cannot run here.
func Start(t testing.TB, o Options) *Lab {
	t.Helper()
	return start(t, o, reservePort)
}

func start(t testing.TB, o Options, reserve func() (int, func(), error)) *Lab {
	t.Helper()
	o.Version = cmp.Or(o.Version, DefaultVersion)
	require(t, JVM, o.Version)
	l, err := prepare(t.Context(), t.TempDir(), o, reserve)
	if err != nil {
		unavailable(t, JVM, err.Error())
	}
	t.Cleanup(l.close)
	if err := l.open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	l.showLogsIfFailed(t)
	return l
}

// prepare has everything ready that the processes need. Its errors mean that the stage cannot run on this machine.
func prepare(ctx context.Context, dir string, o Options, reserve func() (int, func(), error)) (*Lab, error) {
	java, err := FindJava()
	if err != nil {
		return nil, err
	}
	l := &Lab{Version: o.Version, dir: dir, launcher: java, reserve: reserve}
	if l.first, err = l.release(ctx, o.Version); err == nil && o.Tiered {
		l.tiered, err = fetchJars(ctx, o.Version, tieredJars, dir)
	}
	return l, err
}

func (l *Lab) release(ctx context.Context, version string) (release, error) {
	major, err := majorOf(version)
	if err != nil {
		return release{}, err
	}
	jars, err := fetchJars(ctx, version, stageJars, l.dir)
	if err != nil {
		return release{}, err
	}
	file := filepath.Join(l.dir, fmt.Sprintf("logging-%d.properties", major))
	text, flag := logging(major, file)
	return release{classPath: filepath.Join(jars, "*"), logging: flag}, os.WriteFile(file, []byte(text), 0o600)
}

// open starts the brokers side by side, and then the worker, which needs the target.
func (l *Lab) open(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var sourceErr, targetErr error
	wg.Go(func() { l.Source, sourceErr = l.startBroker(ctx, "source", SourceClusterID, o, o.Source) })
	wg.Go(func() { l.Target, targetErr = l.startBroker(ctx, "target", TargetClusterID, o, o.Target) })
	wg.Wait()
	if err := errors.Join(sourceErr, targetErr); err != nil {
		return err
	}
	var err error
	l.Worker, err = l.startWorker(ctx, l.first, WorkerOptions{Properties: o.Worker, OffsetFlushInterval: o.OffsetFlushInterval})
	return err
}

// java returns the command line of a main class.
func (l *Lab) java(rel release, main string, args ...string) []string {
	return slices.Concat([]string{l.launcher}, jvmFlags(), []string{rel.logging, "-cp", rel.classPath, main}, args)
}

func (l *Lab) newProcess(name string) *Process {
	p := &Process{name: name, log: logFile(filepath.Join(l.dir, name+".log")), ports: ports{reserve: l.reserve}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes = append(l.processes, p)
	return p
}

func (l *Lab) forget(gone *Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes = slices.DeleteFunc(l.processes, func(p *Process) bool { return p == gone })
}

func (l *Lab) all() []*Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.processes)
}

// close kills all processes: their data is of no use to anybody.
func (l *Lab) close() {
	var wg sync.WaitGroup
	for _, p := range l.all() {
		wg.Go(p.shut)
	}
	wg.Wait()
}

// showLogsIfFailed adds to the output of t, if it fails, the last lines that each process logs from now on.
func (l *Lab) showLogsIfFailed(t testing.TB) {
	from := map[*Process]int64{}
	for _, p := range l.all() {
		if l.shared {
			from[p] = p.log.size()
		}
	}
	t.Cleanup(func() {
		for _, p := range l.all() {
			showLogIfFailed(t, p, from[p])
		}
	})
}

func showLogIfFailed(t testing.TB, p *Process, from int64) {
	t.Helper()
	if t.Failed() {
		t.Logf("%s: %s", p.name, p.log.tail(from))
	}
}
