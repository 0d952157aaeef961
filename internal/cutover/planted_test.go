package cutover

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var update = flag.Bool("update", false, "write docs/planted-faults.md anew")

const plantedPage = "../../docs/planted-faults.md"

// planted is one fault on real brokers, and what has to catch it. Topics of a row
// have two partitions: 100 records with C = 50, and 60 records with C = 20.
type planted struct {
	fault string // "none" is the control
	// step is where it has to be caught: plan, start or proof.
	step string
	// by is what catches it: the ids of the findings that block, or what the proof
	// says. A row whose by is that of the control passes, and fails the test.
	by   string
	exit int

	c       [2]int64                                                // with zeros: 50 and 20
	onReal  bool                                                    // the real worker copies, else one in memory that can be made to copy wrongly
	swapped bool                                                    // the migration takes the cluster of the worker for its source
	prepare func(*world)                                            // before the connector exists
	before  func(ctx context.Context, w *world, topic string) error // the plan
	behind  func(ctx context.Context, w *world, topic string) error // the back of the tool, between verify and start
	copying func(topic string) connecttest.Fault
}

// caught is where a line ended, and by what.
type caught struct {
	step, by string
	exit     int
	err      error
}

const throughTheLine = "proven"

// run walks the line from create to proof, as far as it goes.
func (p planted) run(ctx context.Context, w *world) (caught, error) {
	c := p.c
	if c == [2]int64{} {
		c = [2]int64{50, 20}
	}
	topic := w.topic("t")
	if err := errors.Join(
		w.create(ctx, 2, topic),
		w.flinkCopied(ctx, topicPartition{Topic: topic}, 100, 50),
		w.flinkCopied(ctx, topicPartition{Topic: topic, Partition: 1}, 60, 20),
	); err != nil {
		return caught{}, err
	}
	if p.prepare != nil {
		p.prepare(w)
	}
	m, err := w.created(ctx, []string{topic})
	if err != nil {
		return caught{}, err
	}
	if p.before != nil {
		if err := p.before(ctx, w, topic); err != nil {
			return caught{}, err
		}
	}
	plan, err := m.MakePlan(ctx, request(snapshot(stood(topic, 0, c[0]), stood(topic, 1, c[1]))))
	if blocked, ok := errors.AsType[*offsetmap.BlockedError](err); ok {
		return caught{"plan", idsOf(blocked.Findings), flinkmm2.ExitStatus(err), err}, nil
	} else if err != nil {
		return caught{}, err
	}
	if _, err := m.Apply(ctx, plan); err != nil {
		return caught{}, err
	}
	if _, err := m.Verify(ctx, plan); err != nil {
		return caught{}, err
	}
	if p.behind != nil {
		if err := p.behind(ctx, w, topic); err != nil {
			return caught{}, err
		}
	}
	err = start(ctx, m, plan)
	if refused, ok := errors.AsType[*flinkmm2.RefusedError](err); ok {
		return caught{"start", idsOf(refused.Findings), flinkmm2.ExitStatus(err), err}, nil
	} else if err != nil {
		return caught{}, err
	}
	proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience, Quiet: w.Patience / 4})
	if proof == nil {
		return caught{}, fmt.Errorf("no proof: %w", err)
	}
	return caught{"proof", saysOf(proof), flinkmm2.ExitStatus(err), err}, nil
}

// idsOf are the checks whose findings block, each once.
func idsOf(findings []offsetmap.Finding) string {
	ids := map[string]bool{}
	for _, f := range findings {
		if f.Severity == offsetmap.Block {
			ids[f.Check] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(ids)), ", ")
}

// saysOf is the outcome of a proof, with what is not as it must be.
func saysOf(p *flinkmm2.Proof) string {
	var out strings.Builder
	out.WriteString(p.Outcome)
	for _, c := range []struct {
		n    int64
		what string
	}{
		{p.Missing, "missing"},
		{p.Altered, "altered"},
		{p.OutOfOrder, "out of order"},
		{p.Early, "from before C"},
		{p.Pending, "not there"},
		{p.Unprovable, "unprovable"},
		{p.Repeated, "repeated"},
		{p.Foreign, "foreign"},
		{p.Older, "older"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&out, ", %d %s", c.n, c.what)
		}
	}
	differs := map[string]bool{}
	for _, one := range p.Partitions {
		for _, e := range one.Examples {
			for _, d := range e.Differs {
				differs[d] = true
			}
		}
	}
	if len(differs) > 0 {
		fmt.Fprintf(&out, " (%s)", strings.Join(slices.Sorted(maps.Keys(differs)), ", "))
	}
	return out.String()
}

// Each fault is on real brokers, and has to be caught before the start or by the
// proof. A line without one has to go through to the end.
func TestPlantedFaultsOnRealBrokers(t *testing.T) {
	stage := jvms(t, jvm.Get(t))
	rows := plantedFaults()
	got := make([]caught, len(rows))
	var together sync.WaitGroup
	slots := make(chan struct{}, 6) // they wait more than they work
	for i, row := range rows {
		slots <- struct{}{}
		together.Go(func() {
			defer func() { <-slots }()
			t.Run(row.fault, func(t *testing.T) { got[i] = row.onStage(t, stage) })
		})
	}
	together.Wait()
	if !t.Failed() {
		comparePage(t, plantedTable(rows, got))
	}
}

func (p planted) onStage(t *testing.T, stage Stage) caught {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if p.swapped {
		stage.Source, stage.Target = stage.Target, stage.Source
	}
	var w *world
	var fault *connecttest.Injected
	if p.onReal {
		w = newWorld(t, stage)
	} else {
		stage.FlushTimeout, stage.StartTimeout, stage.Patience = 300*time.Millisecond, 10*time.Second, 32*time.Second
		var worker *connecttest.Worker
		w, worker, _ = cell(t, stage, "in memory", connecttest.WithOffsetFlushInterval(5*time.Second)) // so that a start finds nothing copied, as with a minute by default
		if p.copying != nil {
			fault = worker.Inject(p.copying(w.topic("t")))
		}
	}
	defer func() { w.stop(context.WithoutCancel(ctx)) }()
	got, err := p.run(ctx, w)
	switch {
	case err != nil:
		t.Fatalf("the line broke for another reason: %v", err)
	case fault != nil && fault.Hits() == 0:
		t.Errorf("the fault never took effect: %v", got.err)
	case p.by != throughTheLine && got.by == throughTheLine:
		t.Errorf("the fault went unnoticed")
	case got.step != p.step || got.by != p.by || got.exit != p.exit:
		t.Errorf("caught by %s: %s (exit status %d), want %s: %s (%d): %v", got.step, got.by, got.exit, p.step, p.by, p.exit, got.err)
	}
	return got
}

// comparePage holds the page to the table, or writes it.
func comparePage(t *testing.T, table string) {
	t.Helper()
	const begin = "<!-- written by TestPlantedFaultsOnRealBrokers -->\n"
	page, err := os.ReadFile(plantedPage)
	if err != nil {
		t.Fatal(err)
	}
	head, have, ok := strings.Cut(string(page), begin)
	switch {
	case !ok:
		t.Fatalf("%s lacks the line %q", plantedPage, begin)
	case *update:
		if err := os.WriteFile(plantedPage, []byte(head+begin+table), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		if d := cmp.Diff(have, table); d != "" {
			t.Errorf("%s is not what was seen; go test ./internal/cutover -run TestPlantedFaultsOnRealBrokers -update writes it (-page +seen):\n%s", plantedPage, d)
		}
	}
}

func plantedTable(rows []planted, got []caught) string {
	var b strings.Builder
	b.WriteString("\n| fault | worker | caught by | what it says | exit status |\n|---|---|---|---|---:|\n")
	for i, row := range rows {
		worker := "in memory"
		if row.onReal {
			worker = "real"
		}
		says := got[i].by
		if got[i].step != "proof" {
			says = "`" + strings.ReplaceAll(says, ", ", "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", row.fault, worker, got[i].step, says, got[i].exit)
	}
	return b.String()
}
