package flinklab

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const (
	// answerWithin is many times what a savepoint takes, a second or two.
	answerWithin = 2 * time.Minute
)

// Options say what a job copies, and how.
type Options struct {
	// Version is one of [Versions]. By default, the newest.
	Version string
	// Source and Target are the bootstrap servers of the two clusters.
	Source, Target string
	// Topics exist on both clusters, with equal partition counts.
	Topics []string
	// Group is the consumer group that the source commits to after each checkpoint. The transactional ids of the sink
	// begin with it too.
	Group string
	// Guarantee is the sink's. By default, exactly-once (Flink's own default is none).
	Guarantee offsetmap.SinkGuarantee
	// Isolation is the source consumer's isolation.level. By default, it is not set (Kafka's default is read_uncommitted).
	Isolation offsetmap.Isolation
	// CheckpointInterval is how often a checkpoint is taken, which commits the sink's transactions. By default, one second.
	CheckpointInterval time.Duration
	// Parallelism is the number of subtasks. By default, 2.
	Parallelism int
	// Restore is the savepoint that the job goes on from. By default, it starts at the earliest records.
	Restore string
	// Offsets is Java source of a public class, with OffsetsClass its name, whose static method offsets() gives the
	// OffsetsInitializer of a job that restores nothing. By default, it starts at the earliest records.
	Offsets      []byte
	OffsetsClass string
	// Name is the job's name. By default, Flink's.
	Name string
	// Format is that of savepoints, canonical or native. By default, canonical.
	Format string
	// Keep lets the cluster live on after its job has ended, for [Job.REST].
	Keep bool
}

// Job is a running job. Its methods fail the test that calls them when they cannot do their work.
type Job struct{ talk *talk }

// Start starts a job and returns when every subtask runs; it ends with t. Start calls [Require] itself.
func Start(t testing.TB, o Options) *Job {
	t.Helper()
	o.Version = cmp.Or(o.Version, Flink2)
	if _, err := connector(o.Version); err != nil {
		t.Fatal(err)
	}
	Require(t)
	dir, err := fetch(t.Context(), o.Version, t.TempDir())
	if err != nil {
		lab.RequireParts(t, lab.Flink, err.Error())
	}
	return &Job{talk: start(t, "flink-"+o.Version, "RUNNING", append(flags(dir, o.compiled(t, dir)), o.arguments()...)...)}
}

// Refused starts a job that has to fail, before or soon after every subtask runs, and returns what it has logged.
func Refused(t testing.TB, o Options) string {
	t.Helper()
	o.Version = cmp.Or(o.Version, Flink2)
	Require(t)
	dir, err := fetch(t.Context(), o.Version, t.TempDir())
	if err != nil {
		lab.RequireParts(t, lab.Flink, err.Error())
	}
	job := start(t, "flink-"+o.Version, "FAILED", slices.Concat(flags(dir, o.compiled(t, dir)), o.arguments(), []string{"fails=true"})...)
	defer job.process.Kill(t)
	return job.process.Log()
}

// flags open what Flink reaches into on Java 17 by reflection; its distribution opens more (env.java.opts.all).
func flags(dir string, classes ...string) []string {
	var out []string
	for _, name := range []string{"java.lang", "java.net", "java.util"} {
		out = append(out, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	return append(out,
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss,SSS",
		"-Dorg.slf4j.simpleLogger.log.org.apache.flink.runtime.executiongraph=info",
		"-Dorg.slf4j.simpleLogger.log.org.apache.flink.runtime.checkpoint=info",
		"-cp", strings.Join(append(classes, filepath.Join(dir, "classes"), filepath.Join(dir, "jars", "*")), string(filepath.ListSeparator)), "CopyJob")
}

// compiled compiles Offsets against the jars of a release, and returns the folder with the class.
func (o Options) compiled(t testing.TB, dir string) string {
	t.Helper()
	out := t.TempDir()
	if o.Offsets == nil {
		return out
	}
	source := filepath.Join(out, o.OffsetsClass+".java")
	if err := os.WriteFile(source, o.Offsets, 0o600); err != nil {
		t.Fatal(err)
	}
	javac := exec.CommandContext(t.Context(), "javac", "-cp", filepath.Join(dir, "jars", "*"), "-d", out, source) //nolint:gosec // folders of the test
	if log, err := javac.CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, log)
	}
	return out
}

func (o Options) arguments() []string {
	out := []string{
		"source=" + o.Source, "target=" + o.Target, "topics=" + strings.Join(o.Topics, ","),
		"group=" + o.Group, "prefix=" + o.Group,
		"guarantee=" + string(cmp.Or(o.Guarantee, offsetmap.SinkExactlyOnce)),
		"interval=" + strconv.FormatInt(cmp.Or(o.CheckpointInterval, time.Second).Milliseconds(), 10),
		"parallelism=" + strconv.Itoa(cmp.Or(o.Parallelism, 2)),
	}
	if o.Isolation != "" {
		out = append(out, "isolation="+string(o.Isolation))
	}
	if o.Offsets != nil {
		out = append(out, "offsets="+o.OffsetsClass)
	}
	if o.Restore != "" {
		out = append(out, "restore="+o.Restore)
	}
	if o.Name != "" {
		out = append(out, "name="+o.Name)
	}
	if o.Format != "" {
		out = append(out, "format="+o.Format)
	}
	if o.Keep {
		out = append(out, "keep=true")
	}
	return out
}

// StopWithSavepoint stops the job as flink stop does, without draining it, and returns the savepoint: a file: URI of a
// folder in dir. The transactions of the sink are committed when it returns.
func (j *Job) StopWithSavepoint(t testing.TB, dir string) string {
	t.Helper()
	savepoint := j.ask(t, "stop-with-savepoint "+dir, "SAVEPOINT")
	if end := j.talk.await(t, answerWithin, "ENDED"); end != "FINISHED" {
		t.Fatalf("%s: stopped with the savepoint %s, and the job is %s", j.talk.process.Name(), savepoint, end)
	}
	return savepoint
}

// Savepoint takes a savepoint of the job, which goes on, and returns it as [Job.StopWithSavepoint] does.
func (j *Job) Savepoint(t testing.TB, dir string) string {
	t.Helper()
	return j.ask(t, "savepoint "+dir, "SAVEPOINT")
}

// Cancel ends the job as flink cancel does.
func (j *Job) Cancel(t testing.TB) {
	t.Helper()
	if end := j.ask(t, "cancel", "ENDED"); end != "CANCELED" {
		t.Fatalf("%s: canceled, and the job is %s", j.talk.process.Name(), end)
	}
}

// REST returns the base URL of the cluster's REST API.
func (j *Job) REST(t testing.TB) string {
	t.Helper()
	return j.ask(t, "rest", "REST")
}

func (j *Job) ask(t testing.TB, command, answer string) string {
	t.Helper()
	return j.talk.ask(t, command, answer)
}
