package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var update = flag.Bool("update", false, "write the outputs that the scripts compare with into them")

// theProgram is main as a program of its own. The scripts' command runbook runs
// it, and keeps its exit status.
const theProgram = "runbook-itself"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){theProgram: main})
}

// TestScripts runs the stories of testdata/script. Each has a stage of its own.
//
//	stage [worker-on-source]     two clusters and a worker: $SOURCE, $TARGET, $CONNECT
//	topic TOPIC PARTITIONS       on both clusters
//	copied TOPIC-N ALL C         ALL records on the source, those before C on the target
//	delivered TOPIC-N C          the source's records before C on the target, as the job reads them
//	produce TOPIC-N COUNT        so many more on the source
//	expire TOPIC-N OFFSET        retention takes the source's records before OFFSET
//	recreate TOPIC PARTITIONS    the source's topic is deleted and made again
//	connector NAME ACTS STATE    PUT /connectors/NAME/ACT, past the program
//	fault drop|fail TOPIC-N OFFSET  what the worker does when it comes to that record
//	config NAME KEY VALUE        sets a key of the connector's config, past the program
//	commit GROUP TOPIC-N OFFSET  a consumer group's offset, on the source
//	moves GROUP TOPIC-N OFFSET   the same, once the program has looked at the group
//	transacted TOPIC-N COUNT     so many more on the source, in a transaction that ends
//	opened TOPIC-N COUNT         so many more on the target, in a transaction that stays open
//	holds GROUP TOPIC OFFSET...  what it has committed, from partition 0 on; - where nothing
//	join GROUP TOPIC             a consumer joins it, and stays
//	lost group GROUP             its next commit is done; neither the answer nor what it holds then comes back
//	lost offsets                 the same with the next write of Connect's offsets
//	lost nothing                 ends both
//	bucket NAME DIR KEY          an S3 with a bucket that holds the files of DIR below KEY; its address and keys are in AWS_*
//	stored DIR TOPIC-N NUMBER    what the savepoint in DIR stores for the partition
//	respell FILE OLD NEW         a text of a binary file in another spelling of its length, both as Go quotes them
//	flink RECORDING SAVEPOINT    Flink's REST API as it was recorded, with SAVEPOINT as the job's last; its URL is in FLINK
//	flink forgets                it knows no job any more
//	fill FILE...                 puts the values of $NAMES into a file
//	edit FILE OLD NEW            replaces a text that must be there; \n in NEW ends a line
//	sets NAME ALIAS TOPIC-N M    the connector's stored offset, past the program; - clears it
//	[!] runbook ARGS...          runs the program; $DIGEST is the last plan's that it printed, $BACKUP the last backup's that it kept
//	runbook ? ARGS...            runs it where success depends on who is faster
//	status N                     the exit status that it ended with
//	writes N                     it has sent so many requests that write, since the last writes; ? for any
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("../../flinkstate/testdata/savepoints")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			e.Setenv("TESTDATA", own)
			e.Values[key] = &story{}
			return usualMigration(e, own)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"stage": startStage, "topic": topicCommand, "copied": copiedCommand, "delivered": deliveredCommand, "produce": produceCommand, "expire": expireCommand,
			"recreate": recreateCommand, "connector": connectorCommand, "config": configCommand, "sets": setsCommand, "commit": commitCommand, "locked": lockedCommand, "moves": movesCommand, "transacted": transactedCommand, "holds": holdsCommand, "join": joinCommand, "lost": lostCommand, "opened": openedCommand, "fault": faultCommand, "bucket": bucketCommand, "flink": flinkCommand, "fill": fillCommand, "edit": editCommand, "stored": storedCommand, "respell": respellCommand,
			"runbook": runbookCommand, "status": statusCommand, "writes": writesCommand,
		},
	})
}

// usualMigration puts the migration that most scripts start from into the folder
// of one that has none of its own.
func usualMigration(e *testscript.Env, from string) error {
	to := filepath.Join(e.WorkDir, "migration.yaml")
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(from, "migration.yaml"))
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

type storyKey struct{}

var key storyKey

// story is what a script has reached.
type story struct {
	stage  *stage // nil before it is started
	status int    // of the last run of the program
	flink  *flinkServer
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(key).(*story) }

// within bounds everything that a script asks of its stage.
func within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}

func stageOf(ts *testscript.TestScript) *stage {
	s := storyOf(ts).stage
	if s == nil {
		ts.Fatalf("the script has not started a stage")
	}
	return s
}

func usage(ts *testscript.TestScript, neg, ok bool, text string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func startStage(ts *testscript.TestScript, neg bool, args []string) {
	wrong := len(args) == 1 && args[0] == "worker-on-source"
	usage(ts, neg, len(args) == 0 || wrong, "stage [worker-on-source]")
	ctx, cancel := within()
	defer cancel()
	s, err := newStage(ctx, wrong)
	ts.Check(err)
	ts.Defer(s.close)
	ts.Setenv("SOURCE", s.source.ListenAddrs()[0])
	ts.Setenv("TARGET", s.target.ListenAddrs()[0])
	ts.Setenv("CONNECT", s.proxy.URL)
	storyOf(ts).stage = s
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func partition(ts *testscript.TestScript, text string) (topic string, p int32) {
	at := strings.LastIndex(text, "-")
	if at < 0 {
		ts.Fatalf("%q is not TOPIC-PARTITION", text)
	}
	return text[:at], int32(number(ts, text[at+1:]))
}

func topicCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "topic TOPIC PARTITIONS")
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).createTopic(ctx, args[0], int32(number(ts, args[1]))))
}

func copiedCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "copied TOPIC-PARTITION ALL C")
	topic, p := partition(ts, args[0])
	ctx, cancel := within()
	defer cancel()
	s := stageOf(ts)
	ts.Check(errors.Join(
		s.source.produce(ctx, topic, p, 0, number(ts, args[1])),
		s.target.produce(ctx, topic, p, 0, number(ts, args[2])),
	))
}

func deliveredCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "delivered TOPIC-PARTITION C")
	topic, p := partition(ts, args[0])
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).deliver(ctx, topic, p, int64(number(ts, args[1]))))
}

func produceCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "produce TOPIC-PARTITION COUNT")
	topic, p := partition(ts, args[0])
	ctx, cancel := within()
	defer cancel()
	s := stageOf(ts)
	end, err := s.source.end(ctx, topic, p)
	ts.Check(err)
	ts.Check(s.source.produce(ctx, topic, p, end, end+number(ts, args[1])))
}

func expireCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "expire TOPIC-PARTITION OFFSET")
	topic, p := partition(ts, args[0])
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).expire(ctx, topic, p, int64(number(ts, args[1]))))
}

func recreateCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "recreate TOPIC PARTITIONS")
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).recreateTopic(ctx, args[0], int32(number(ts, args[1]))))
}

func connectorCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "connector NAME ACTS STATE")
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).set(ctx, args[0], args[1], connectrest.State(args[2])))
}

func configCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "config NAME KEY VALUE")
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).configure(ctx, args[0], args[1], args[2]))
}

func setsCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 4, "sets NAME ALIAS TOPIC-PARTITION M|-")
	tp, err := offsetmap.ParseTopicPartition(args[2])
	ts.Check(err)
	var m offsetmap.SourceOffset
	if args[3] != "-" {
		m, err = offsetmap.Source(int64(number(ts, args[3])))
		ts.Check(err)
	}
	entries, err := connectrest.MirrorSourceWrites(args[1], map[offsetmap.TopicPartition]offsetmap.Write{tp: m.Restore()})
	ts.Check(err)
	client, err := connectrest.New(stageOf(ts).worker.URL)
	ts.Check(err)
	ctx, cancel := within()
	defer cancel()
	ts.Check(client.AlterOffsets(ctx, args[0], entries))
}

func faultCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "fault drop|fail TOPIC-PARTITION OFFSET")
	topic, p := partition(ts, args[1])
	ts.Check(stageOf(ts).inject(args[0], connecttest.Record{Topic: topic, Partition: p, Offset: int64(number(ts, args[2]))}))
}

func commitCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "commit GROUP TOPIC-PARTITION OFFSET")
	topic, p := partition(ts, args[1])
	ctx, cancel := within()
	defer cancel()
	ts.Check(stageOf(ts).source.commit(ctx, args[0], topic, p, int64(number(ts, args[2]))))
}

// openedCommand leaves a transaction open, and its producer id in PRODUCER.
func openedCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "opened TRANSACTIONAL-ID TOPIC-PARTITION COUNT")
	topic, p := partition(ts, args[1])
	ctx, cancel := within()
	defer cancel()
	client, err := stageOf(ts).target.open(ctx, args[0], topic, p, number(ts, args[2]))
	ts.Check(err)
	ts.Defer(client.Close)
	id, _, err := client.ProducerID(ctx)
	ts.Check(err)
	ts.Setenv("PRODUCER", strconv.FormatInt(id, 10))
}

func fillCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 0, "fill FILE...")
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

func editCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "edit FILE OLD NEW")
	before := ts.ReadFile(args[0])
	if !strings.Contains(before, args[1]) {
		ts.Fatalf("%s does not contain %q:\n%s", args[0], args[1], before)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(before, args[1], strings.ReplaceAll(args[2], `\n`, "\n"), 1)), 0o600))
}

// runbookCommand runs the program as a process of its own, in the script's
// folder. What differs from run to run is replaced in its output.
func runbookCommand(ts *testscript.TestScript, neg bool, args []string) {
	either := len(args) > 0 && args[0] == "?"
	if either {
		args = args[1:]
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	path, err := lookPath(ts, theProgram)
	ts.Check(err)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(bucketEnv(ts), "PATH="+ts.Getenv("PATH"), "HOME="+cmd.Dir, "GORACE=atexit_sleep_ms=0") // it waits a second at each exit otherwise
	if index := ts.Getenv(indexVariable); index != "" {
		cmd.Env = append(cmd.Env, indexVariable+"="+index)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	before := stateFiles(cmd.Dir)
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("runbook %s: %v", strings.Join(args, " "), err)
	}
	status := cmd.ProcessState.ExitCode()
	storyOf(ts).status = status
	if m := planDigest.FindStringSubmatch(out.String()); m != nil {
		ts.Setenv("DIGEST", m[1])
	}
	if m := backupKept.FindStringSubmatch(errs.String()); m != nil {
		b, err := flinkmm2.ReadOffsetsBackup(m[1])
		ts.Check(err)
		ts.Setenv("BACKUP", b.Digest)
	}
	fmt.Fprint(ts.Stdout(), settled(ts, out.String()))
	fmt.Fprint(ts.Stderr(), settled(ts, errs.String()))
	ts.Logf("[exit status %d]", status)
	ts.Check(followSchemas(cmd.Dir, before))
	switch {
	case either:
	case neg && status == 0:
		ts.Fatalf("runbook %s: unexpected success", strings.Join(args, " "))
	case !neg && status != 0:
		ts.Fatalf("runbook %s: exit status %d", strings.Join(args, " "), status)
	}
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no %s in PATH", name)
}

var (
	planDigest = regexp.MustCompile(`(?m)^plan +(sha256:[0-9a-f]{64})$`)
	backupKept = regexp.MustCompile(`kept as (/.*offsets-[0-9a-f]{12}\.json)`)
	varying    = []struct {
		form *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "sha256:<digest>"},
		{regexp.MustCompile(`(plan|offsets)-[0-9a-f]{12}\.json`), "${1}-<digest>.json"},
		// How many checks an area has is not what a story is about.
		{regexp.MustCompile(`(?m)^([a-z]+ +\d+ +\d+ +\d+ +)\d+ +(\d+) +(\d+)$`), "${1}n $2 $3"},
		{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "<time>"},
		{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
		{regexp.MustCompile(`runbook [0-9a-f]{40}|runbook devel|runbook v[^ \n]+`), "runbook <version>"},
	}
)

// settled is an output as it is in every run.
func settled(ts *testscript.TestScript, text string) string {
	for _, v := range varying {
		text = v.form.ReplaceAllString(text, v.with)
	}
	// How often a step has to wait depends on who is faster.
	text = strings.Join(slices.CompactFunc(strings.SplitAfter(text, "\n"), func(a, b string) bool { return a == b && strings.Contains(a, "; waiting ") }), "")
	for _, name := range []string{"FIXTURES", "TESTDATA", "WORK"} {
		text = strings.ReplaceAll(text, ts.Getenv(name), "$"+name)
	}
	if by := osUser(); by != "" {
		text = strings.ReplaceAll(text, "started by "+by, "started by <user>")
	}
	return text
}

func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "status N")
	if got, want := storyOf(ts).status, number(ts, args[0]); got != want {
		ts.Fatalf("the exit status was %d, want %d", got, want)
	}
}

func writesCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "writes N|?")
	got := stageOf(ts).written()
	if args[0] == "?" { // how often a stop is sent depends on who is faster
		return
	}
	if len(got) != number(ts, args[0]) {
		ts.Fatalf("%d requests that write, want %s: %s", len(got), args[0], strings.Join(got, ", "))
	}
}
