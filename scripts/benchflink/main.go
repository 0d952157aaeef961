//go:build unix

// Benchflink reads big savepoints by Flink's own classes and by this project, side
// by side on the same files in one run, holds the rows of both against each other,
// and prints what each took as Markdown.
//
//	go run ./scripts/benchflink [-flink 1.20.5] [-connector 3.4.0-1.20] [-rounds 5] [-shapes TEXT] [-keep DIR]
//
// The savepoints are written by Flink's serializers (internal/flinklab/generator).
// Flink's reading is its lean one: the metadata, then a seek to each split and the
// connector's split serializer. A restore, which also builds the operator state
// backend, takes Flink several times as long.
//
// A hot loop is timed within one process by itself, without printing; a whole
// process from its start to its end, with all rows printed to a file. The two take
// turns, so that what else the machine does meets both. Every figure is a median.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchflink:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 {
		if child, ok := children[args[0]]; ok {
			return child(args[1:], out)
		}
	}
	flags := flag.NewFlagSet("benchflink", flag.ContinueOnError)
	flinkVersion := flags.String("flink", "1.20.5", "release of Flink")
	connector := flags.String("connector", "3.4.0-1.20", "release of flink-connector-kafka that goes with it")
	rounds := flags.Int("rounds", 5, "how often each is run")
	only := flags.String("shapes", "", "only shapes whose name contains this")
	keep := flags.String("keep", "", "folder that keeps the savepoints and what was printed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || flags.NArg() > 0 {
		return fmt.Errorf("at least one round, and no arguments but flags, are wanted; got -rounds %d and %q", *rounds, flags.Args())
	}
	b, err := prepare(ctx, *flinkVersion, *connector, *keep, progress)
	if err != nil {
		return err
	}
	defer b.clean()
	var all []result
	for _, s := range shapes {
		if !strings.Contains(s.name, *only) {
			continue
		}
		r, err := b.measure(ctx, s, *rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return fmt.Errorf("no shape has %q in its name", *only)
	}
	b.report(ctx, out, all, *rounds)
	return nil
}

// shape is one synthetic savepoint.
type shape struct {
	name       string
	splits     int
	subtasks   int
	threshold  int // bytes up to which state stands in the metadata file
	operators  int // others, with keyed state
	iterations int // of a hot loop
}

var shapes = []shape{
	{"1 split, 1 subtask", 1, 1, 20480, 0, 2000},
	{"100 splits, 4 subtasks", 100, 4, 20480, 0, 2000},
	{"10,000 splits, 64 subtasks, inline", 10_000, 64, 20480, 0, 50},
	{"10,000 splits, 1 subtask, one file", 10_000, 1, 1024, 0, 30},
	{"100,000 splits, 128 subtasks, files", 100_000, 128, 20480, 0, 20},
	{"100,000 splits, 128 subtasks, files, 30 keyed operators", 100_000, 128, 20480, 30, 20},
}

// bench is where the parts are.
type bench struct {
	self, runbook    string
	java             []string // up to the arguments of Flink's side
	flink, connector string
	dir              string
	kept             bool
	progress         io.Writer
}

// prepare builds both sides. It must run at the root of the repository.
func prepare(ctx context.Context, flinkVersion, connector, keep string, progress io.Writer) (b *bench, err error) {
	b = &bench{flink: flinkVersion, connector: connector, dir: keep, kept: keep != "", progress: progress}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.kept {
		err = os.MkdirAll(b.dir, 0o750)
	} else {
		b.dir, err = os.MkdirTemp("", "benchflink")
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.clean()
		}
	}()
	b.runbook = filepath.Join(b.dir, "runbook")
	build := exec.CommandContext(ctx, "go", "build", "-o", b.runbook, "./examples/runbook")
	build.Stderr = progress
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build of examples/runbook (is this the root of the repository?): %w", err)
	}
	fetch := exec.CommandContext(ctx, "internal/flinklab/generator/fetch.sh", flinkVersion, connector)
	fetch.Stderr = progress
	folder, err := fetch.Output()
	if err != nil {
		return nil, fmt.Errorf("jars of Flink %s: %w", flinkVersion, err)
	}
	jars := strings.TrimSpace(string(folder))
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	b.java = []string{
		java, "-Xmx1g", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", jars + "/classes:" + jars + "/jars/*", "generator.Bench",
	}
	return b, nil
}

func (b *bench) clean() {
	if !b.kept {
		_ = os.RemoveAll(b.dir)
	}
}

// usage is what a whole process took.
type usage struct {
	seconds float64
	cpu     float64 // seconds of all processors, user and system
	rss     int64   // the most memory that it had, in bytes; 0 for less than this process has
}

// process runs a command to its end, its output into a file, and says what it
// took. The system counts the memory of this process, which starts it, as its
// own: this one must stay small, for what is smaller cannot be told.
func (b *bench) process(ctx context.Context, output string, command ...string) (usage, error) {
	f, err := os.Create(output)
	if err != nil {
		return usage{}, err
	}
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = f, &errs
	seconds, err := timed(cmd.Run)
	if err = errors.Join(err, f.Close()); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", command[0], err, errs.String())
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return usage{}, fmt.Errorf("%s: the system does not say what it took", command[0])
	}
	rss := int64(used.Maxrss)     //nolint:unconvert // of 32 bits on some systems
	if runtime.GOOS != "darwin" { // where it is in bytes
		rss *= 1024
	}
	own, err := ownPeak()
	if err != nil {
		return usage{}, err
	}
	if rss <= own {
		rss = 0
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return usage{seconds, cpu.Seconds(), rss}, nil
}

// ownPeak is the most memory that this program has had, in bytes. What getrusage says
// of it on Linux has that of the program before it in, which may be a compiler's.
func ownPeak() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kilobytes * 1024, err
		}
	}
	if err == nil || runtime.GOOS == "linux" {
		return 0, errors.Join(err, errors.New("/proc/self/status does not say how much memory this program has had"))
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, err
	}
	if runtime.GOOS == "darwin" {
		return int64(own.Maxrss), nil //nolint:unconvert // of 32 bits on some systems
	}
	return int64(own.Maxrss) * 1024, nil //nolint:unconvert // likewise
}
