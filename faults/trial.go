package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/cutover"
	"github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Stage is where cells run.
type Stage struct {
	cutover.Stage
	// Lab has the processes. It is nil for parts in memory, which no cell that needs a
	// real broker or worker can use.
	Lab *lab.Lab
	// Program is the path of the runbook, Jumping that of one whose clock jumps
	// ([BuildJumping]), Tool the commit that they were built from.
	Program, Jumping, Tool string
	// Savepoint is the folder of the savepoint of flink-1.20-stop-p2, whose topic is orders.
	Savepoint string
	// Clusters names both clusters by id, as a person attests them.
	Clusters string
	// Through are the proxies of the program's connections to the brokers, nil where it
	// reaches them directly.
	Through *Network
	// Seed decides what a cell leaves to chance.
	Seed uint64
}

// What the old job has seen of its topic: orders-0 stood at 20, orders-1 at 32, which is
// its end, and the others had no record yet.
const (
	partitions = 5
	firstC     = 20
	firstEnd   = 120 // records of partition 0
	secondC    = 32
)

var numTrials atomic.Int32

// trial is one migration that has to live through a fault.
type trial struct {
	*Stage
	*cutover.World
	t      testing.TB
	name   string // of its topic and its connector
	dir    string
	front  *Front
	rest   *Link                              // before the front
	before map[offsetmap.TopicPartition]int64 // the target's ends
	begin  map[offsetmap.TopicPartition]int64 // C
	due    map[offsetmap.TopicPartition]cutover.Span
	watch  *offsetWatch

	mu    sync.Mutex
	began time.Time
	log   []string
}

// newTrial fills a topic of its own and writes the program's migration.yaml.
func newTrial(ctx context.Context, t testing.TB, s *Stage) (*trial, error) {
	tr := &trial{
		Stage: s, World: cutover.Open(t, s.Stage), t: t, name: fmt.Sprintf("f%05d", numTrials.Add(1)), dir: t.TempDir(),
		begin: map[offsetmap.TopicPartition]int64{}, due: map[offsetmap.TopicPartition]cutover.Span{}, began: time.Now(),
	}
	tr.front = newFront(s.Connect, tr.name)
	t.Cleanup(tr.front.close)
	var err error
	if tr.rest, err = NewLink("rest", strings.TrimPrefix(tr.front.URL, "http://")); err != nil {
		return nil, err
	}
	t.Cleanup(tr.rest.Close)
	if err := errors.Join(tr.Create(ctx, partitions, tr.name), tr.coordinated(ctx)); err != nil {
		return nil, err
	}
	if err := errors.Join(tr.Copied(ctx, tr.at(0), firstEnd, firstC), tr.Copied(ctx, tr.at(1), secondC, secondC)); err != nil {
		return nil, err
	}
	tr.due[tr.at(0)], tr.due[tr.at(1)] = cutover.Span{From: firstC, To: firstEnd}, cutover.Span{From: secondC, To: secondC}
	for p := range int32(partitions) {
		tr.due[tr.at(p)] = tr.due[tr.at(p)] // nothing yet of those that had no record
		tr.begin[tr.at(p)] = int64(tr.due[tr.at(p)].From)
	}
	if tr.before, err = tr.Ends(ctx, tr.name); err != nil {
		return nil, err
	}
	if err := tr.savepoint(); err != nil {
		return nil, err
	}
	tr.watch = watchOffsets(tr.World.Connect(), tr.name)
	t.Cleanup(func() { tr.watch.stop() })
	return tr, tr.describe()
}

// coordinated waits until the target has a coordinator for transactions, as every cluster
// has that an exactly-once sink wrote to, and the source one for groups. Brokers make
// their topics when they are asked.
func (tr *trial) coordinated(ctx context.Context) error {
	for {
		err := errors.Join(tr.Target().FindTxnCoordinators(ctx, tr.name).Error(), tr.World.Source().FindGroupCoordinators(ctx, tr.group()).Error())
		if err == nil || !errors.Is(err, kerr.CoordinatorNotAvailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (tr *trial) at(partition int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: tr.name, Partition: partition}
}

// savepoint copies the real one with the name of its topic exchanged for one as long, so
// that no length in the file changes.
func (tr *trial) savepoint() error {
	const topic = "orders"
	if len(tr.name) != len(topic) {
		return fmt.Errorf("topic %s is not as long as %s", tr.name, topic)
	}
	metadata, err := os.ReadFile(filepath.Join(tr.Savepoint, "_metadata"))
	if err != nil {
		return err
	}
	to := filepath.Join(tr.dir, "savepoint")
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "_metadata"), bytes.ReplaceAll(metadata, []byte(topic), []byte(tr.name)), 0o600)
}

// describe writes migration.yaml, for which JSON will do.
func (tr *trial) describe() error {
	source, target := tr.Stage.Source, tr.Stage.Target
	if tr.Through != nil {
		source, target = tr.Through.Source.Address(), tr.Through.Target.Address()
	}
	said := func(value any) map[string]any {
		return map[string]any{"value": value, "by": "faults", "reason": "the cell made it so"}
	}
	text, err := json.MarshalIndent(map[string]any{
		"source":    map[string]any{"bootstrap": strings.Split(source, ",")},
		"target":    map[string]any{"bootstrap": strings.Split(target, ",")},
		"connect":   map[string]any{"urls": []string{"http://" + tr.rest.Address()}, "flushTimeout": tr.FlushTimeout.String()},
		"connector": map[string]any{"name": tr.name, "config": tr.Config(tr.name)},
		"positions": map[string]any{"from": "savepoint", "savepoint": "savepoint"},
		"state":     map[string]any{"dir": "state"},
		"attest": map[string]any{
			"copyOnly": said(true), "flinkStopped": said("stopped-with-savepoint"), "autoRestartOff": said(true),
			"sinkGuarantee": said("exactly-once"), "isolation": said("read_uncommitted"),
			"rollbackWindow": said("1h"), "maxDuplicates": said(0),
			"confirm": map[string]any{
				"flinkVersions": said("Flink 1.20.5, connector 3.4.0"), "sinkEvidence": said("the output of flink stop"),
				"clustersAndTopics": said(tr.Clusters + ": " + tr.name), "targetNames": said("same"),
				"image": said("a worker of the lab"), "kubernetes": said("none"), "limits": said("a pause of 10m"),
			},
		},
	}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(tr.dir, "migration.yaml"), text, 0o600)
}

// note keeps a line of the cell's log.
func (tr *trial) note(format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.log = append(tr.log, fmt.Sprintf("%5.1f s  ", time.Since(tr.began).Seconds())+fmt.Sprintf(format, args...))
}

// launch starts a step.
func (tr *trial) launch(ctx context.Context, args ...string) (*process, error) {
	return begin(ctx, tr.Program, tr.dir, nil, args...)
}

// run runs a step to its end, and notes how it ended. Other cells come and go on the same
// worker, so that its group may rebalance while a plan is made: that is refused, and made
// again, as the refusal says.
func (tr *trial) run(ctx context.Context, args ...string) (Ended, error) {
	for deadline := time.Now().Add(time.Minute); ; {
		p, err := tr.launch(ctx, args...)
		if err != nil {
			return Ended{}, err
		}
		e, err := tr.ended(p, args)
		if err != nil || args[0] != "plan" || e.Exit == 0 || !strings.Contains(e.stderr, "worker/rebalancing") || time.Now().After(deadline) {
			return e, err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return e, ctx.Err()
		}
	}
}

func (tr *trial) ended(p *process, args []string) (Ended, error) {
	e, err := p.await()
	e.Says = tr.anywhere(e.Says)
	tr.note("%s: exit %d: %s", args[0], e.Exit, e.Says)
	return e, err
}

// anywhere takes out of a text where the migration lies on this machine.
func (tr *trial) anywhere(text string) string { return strings.ReplaceAll(text, tr.dir+"/", "") }

// must runs steps that have to be done.
func (tr *trial) must(ctx context.Context, steps ...string) error {
	for _, step := range steps {
		args, err := tr.args(step)
		if err != nil {
			return err
		}
		e, err := tr.run(ctx, args...)
		if err != nil {
			return err
		}
		if e.Exit != 0 {
			return fmt.Errorf("%s: exit %d:\n%s", step, e.Exit, e.stderr)
		}
	}
	return nil
}

// group is that which a boundary is handed to.
func (tr *trial) group() string { return "back-" + tr.name }

// args are the arguments of a step.
func (tr *trial) args(step string) ([]string, error) {
	switch step {
	case "start":
		plan, err := tr.plan()
		if err != nil {
			return nil, err
		}
		return []string{"start", "--digest", plan.Digest, "--by", "faults"}, nil
	case "rollback before the start", "rollback after the start":
		return []string{"rollback"}, nil
	case "hand back to a group":
		return []string{"rollback", "--commit-group", tr.group(), "--flink-stopped", "stopped-with-savepoint", "--reason", "the cell made it so", "--by", "faults"}, nil
	case "rewrite the savepoint":
		return []string{"rollback", "--rewrite-savepoint", "rewritten", "--flink-stopped", "stopped-with-savepoint", "--reason", "the cell made it so", "--by", "faults"}, nil
	}
	return []string{step}, nil
}

func (tr *trial) plan() (*offsetmap.Plan, error) {
	return flinkmm2.ReadPlan(filepath.Join(tr.dir, "state", "plan.json"))
}
