package faults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/cutover"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// many apply and start two plans for one connector at once. At most one plan is started,
// and the target gets its records once.
func many() []Cell {
	var cells []Cell
	for _, j := range []struct {
		what   string
		shared bool
	}{{"one journal for all", true}, {"a journal each", false}} {
		cells = append(cells, Cell{
			Step: "apply and start", Fault: "twenty at once, with two plans that differ in C", When: j.what, family: "race", memory: true,
			run: func(ctx context.Context, tr *trial) (*Outcome, error) { return tr.race(ctx, j.shared) },
		})
	}
	return cells
}

// rivals are how many programs run at once.
const rivals = 20

// laterC is where the other plan lets partition 0 begin.
const laterC = 26

// rival is one program with a folder of its own.
type rival struct {
	dir  string
	plan *offsetmap.Plan
}

func (tr *trial) race(ctx context.Context, shared bool) (*Outcome, error) {
	// The old job has delivered what the later plan says, and more than the earlier.
	if err := tr.Deliver(ctx, tr.at(0), firstC, laterC); err != nil {
		return nil, err
	}
	tr.before[tr.at(0)] += laterC - firstC
	all, err := tr.rivals(ctx, shared)
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	started, said, err := tr.together(ctx, all)
	if err != nil {
		return out, err
	}
	for _, line := range slices.Sorted(maps.Keys(said)) {
		tr.note("%d× %s", said[line], line)
	}
	if len(started) > 1 {
		return out, fmt.Errorf("both plans were started: %v", started)
	}
	// Whoever comes afterwards may finish one of the two, and not the other.
	for _, r := range all[:2] {
		if len(started) == 0 {
			if done, err := tr.attempt(ctx, r, false, said); err != nil {
				return out, err
			} else if done {
				started[r.plan.Digest]++
			}
		}
	}
	if len(started) != 1 {
		return out, fmt.Errorf("afterwards no plan could be started: %v", said)
	}
	if _, ok := started[all[1].plan.Digest]; ok {
		tr.due[tr.at(0)] = cutover.Span{From: laterC, To: firstEnd}
	}
	for digest, n := range started {
		tr.note("plan %.15s… was started by %d", digest, n)
	}
	out.Ends = "one of the two plans was started; the others were refused"
	if out.Lost, out.Repeated, err = tr.count(ctx); err != nil {
		return out, err
	}
	// Before the start each plan puts its own offset in the place of the other's.
	tr.watch.forgive(fmt.Sprintf("%s went back from %d to %d", tr.at(0), laterC-1, firstC-1))
	return out, tr.seen(out)
}

// rivals plans twice, and gives each of twenty folders one of the plans.
func (tr *trial) rivals(ctx context.Context, shared bool) ([]rival, error) {
	if err := tr.must(ctx, "create"); err != nil {
		return nil, err
	}
	base := tr.dir
	defer func() { tr.dir = base }()
	var all []rival
	for n := range rivals {
		r := rival{dir: filepath.Join(base, fmt.Sprintf("rival-%d", n))}
		if err := tr.settle(base, r.dir, n%2 == 1, shared); err != nil {
			return nil, err
		}
		if n < 2 {
			tr.dir = r.dir
			if err := tr.must(ctx, "plan"); err != nil {
				return nil, err
			}
		} else if err := copyFile(filepath.Join(all[n%2].dir, "state", "plan.json"), filepath.Join(r.dir, "state", "plan.json")); err != nil {
			return nil, err
		}
		tr.dir = r.dir
		var err error
		if r.plan, err = tr.plan(); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// settle makes a rival's folder: its migration.yaml, its savepoint, and its journal.
func (tr *trial) settle(base, dir string, later, shared bool) error {
	state := filepath.Join(dir, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(base, "migration.yaml"))
	if err != nil {
		return err
	}
	const none = `"maxDuplicates": {
   "by": "faults",
   "reason": "the cell made it so",
   "value": 0
  }`
	some := strings.Replace(none, "0\n", fmt.Sprintf("%d\n", laterC-firstC), 1)
	if !strings.Contains(string(text), none) {
		return errors.New("migration.yaml does not attest how many records may be repeated as it did")
	}
	if err := os.WriteFile(filepath.Join(dir, "migration.yaml"), []byte(strings.Replace(string(text), none, some, 1)), 0o600); err != nil {
		return err
	}
	from, to := filepath.Join(base, "state", "journal.jsonl"), filepath.Join(state, "journal.jsonl")
	if shared {
		err = os.Link(from, to)
	} else {
		err = copyFile(from, to)
	}
	if err != nil {
		return err
	}
	return tr.savepointAt(base, dir, later)
}

// savepointAt puts a savepoint into a rival's folder, with a later C where it is to have one.
func (tr *trial) savepointAt(base, dir string, later bool) error {
	from, to := filepath.Join(base, "savepoint"), filepath.Join(dir, "savepoint")
	if !later {
		return os.CopyFS(to, os.DirFS(from))
	}
	next, err := offsetmap.Next(laterC)
	if err != nil {
		return err
	}
	var kept []offsetmap.TopicPartition
	for p := int32(1); p < partitions; p++ {
		kept = append(kept, tr.at(p))
	}
	prepared, err := flinkstate.PrepareRewriteDir(from, flinkstate.Rewrite{Next: map[offsetmap.TopicPartition]offsetmap.NextOffset{tr.at(0): next}, Kept: kept})
	if err != nil {
		return err
	}
	_, err = prepared.WriteDir(context.Background(), to)
	return err
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// together lets all rivals apply and start. Some start what another one applied.
func (tr *trial) together(ctx context.Context, all []rival) (started, said map[string]int, err error) {
	started, said = map[string]int{}, map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n, r := range all {
		wg.Go(func() {
			mine := map[string]int{}
			done, failed := tr.attempt(ctx, r, n%4 < 2, mine)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, failed)
			if done {
				started[r.plan.Digest]++
			}
			for line, times := range mine {
				said[line] += times
			}
		})
	}
	wg.Wait()
	return started, said, err
}

// attempt applies and starts the plan of a rival. It counts what the program says, and
// holds that it is done, refused, or does not know.
func (tr *trial) attempt(ctx context.Context, r rival, stubborn bool, said map[string]int) (done bool, err error) {
	for _, args := range [][]string{{"apply"}, {"start", "--digest", r.plan.Digest, "--by", "faults"}} {
		p, err := begin(ctx, tr.Program, r.dir, nil, args...)
		if err != nil {
			return false, err
		}
		e, err := p.await()
		if err != nil {
			return false, err
		}
		said[fmt.Sprintf("%s: exit %d", args[0], e.Exit)]++
		switch e.Exit {
		case 0, 3, 4, 5:
		default:
			return false, fmt.Errorf("%s: exit %d, neither done, nor refused, nor unknown: %s", args[0], e.Exit, e.stderr)
		}
		if e.Exit != 0 && (args[0] == "start" || !stubborn) {
			return false, nil
		}
	}
	return true, nil
}
