package cutover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// rivals makes a plan for each C of partition 0, all for one connector. The old job has
// delivered what lies before the last of them, and more than the others say.
func (w *world) rivals(ctx context.Context, cs ...int64) (topic string, plans []*offsetmap.Plan, err error) {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return "", nil, err
	}
	if _, err := mig.Create(ctx); err != nil {
		return "", nil, err
	}
	last := slices.Max(cs)
	if err := produce(ctx, w.target, topicPartition{Topic: topic}, 50, int(last)); err != nil {
		return "", nil, err
	}
	for i, c := range cs {
		req := request(snapshot(stood(topic, 0, c), stood(topic, 1, 40)))
		req.Attestations.CopyOnly.Reason = fmt.Sprintf("rival %d says so", i) // two digests, though all else be equal
		req.Attestations.MaxDuplicates = offsetmap.Attest(last-c, "suite", "the scenario made it so")
		plan, err := mig.MakePlan(ctx, req)
		if err != nil {
			return "", nil, err
		}
		plans = append(plans, plan)
	}
	return topic, plans, nil
}

// beside is a Migration of another program, which reads back for a second only:
// what a rival overwrote never comes back.
func (w *world) beside(journal flinkmm2.Journal, topic string) (*flinkmm2.Migration, error) {
	return w.build(hasty{w.client}, journal, w.Stage, topic)
}

type hasty struct{ flinkmm2.Connect }

func (h hasty) AwaitOffsets(ctx context.Context, name string, want func([]connectrest.Offset) error, within time.Duration) ([]connectrest.Offset, error) {
	return h.Connect.AwaitOffsets(ctx, name, want, min(within, time.Second))
}

func (w *world) journal(name string) *flinkmm2.FileJournal {
	return flinkmm2.NewFileJournal(filepath.Join(w.dir, name))
}

// Twenty at once apply and start two different plans. At most one plan starts,
// the target has its records once, and everybody else is told why not.
func TestTwoPlansAtOnce(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	var all sync.WaitGroup
	for _, journals := range []string{"one journal", "a journal each"} {
		for round := range 2 {
			w, _, _ := cell(t, stage, fmt.Sprintf("%s %d", journals, round))
			all.Go(func() {
				if err := w.race(t.Context(), journals == "a journal each"); err != nil {
					t.Errorf("%s: %v", journals, err)
				}
			})
		}
	}
	all.Wait()
}

func (w *world) race(ctx context.Context, apart bool) error {
	topic, plans, err := w.rivals(ctx, 50, 60)
	if err != nil {
		return err
	}
	before, err := w.ends(ctx, topic)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	started := map[int]int{}
	var refusals []error
	var all sync.WaitGroup
	for n := range 20 {
		name := "journal.jsonl"
		if apart {
			name = fmt.Sprintf("journal-%d.jsonl", n)
		}
		mig, err := w.beside(w.journal(name), topic)
		if err != nil {
			return err
		}
		all.Go(func() {
			_, err := mig.Apply(ctx, plans[n%2])
			if err == nil || n%4 < 2 { // some start what others applied
				err = start(ctx, mig, plans[n%2])
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				started[n%2]++
			} else {
				refusals = append(refusals, err)
			}
		})
	}
	all.Wait()
	for _, err := range refusals {
		var refused *flinkmm2.RefusedError
		if !errors.As(err, &refused) && flinkmm2.ExitStatus(err) != flinkmm2.ExitUnknown && !errors.Is(err, connectrest.ErrNotStopped) {
			return fmt.Errorf("neither refused nor unknown: exit status %d: %w", flinkmm2.ExitStatus(err), err)
		}
	}
	if err := check(len(started) <= 1, "both plans were started: %v", started); err != nil {
		return err
	}
	if _, err := w.journal("journal.jsonl").Read(ctx); err != nil {
		return err
	}
	// Whoever comes afterwards may finish one of the two, not both.
	if len(started) == 0 {
		mig, err := w.migration([]string{topic})
		if err != nil {
			return err
		}
		for i, p := range plans {
			if _, err := mig.Apply(ctx, p); err == nil && start(ctx, mig, p) == nil {
				started[i]++
			}
		}
		if err := check(len(started) == 1, "afterwards %d plans could be started: %v", len(started), errors.Join(refusals...)); err != nil {
			return err
		}
	}
	from := 50
	if started[1] > 0 {
		from = 60
	}
	return w.expectCopied(ctx, before, map[topicPartition][2]int{{Topic: topic}: {from, 100}, {Topic: topic, Partition: 1}: {40, 40}})
}

// between is a journal that does something before an entry is written: what
// others do between the last look of an act and the act, or behind it.
type between struct {
	flinkmm2.Journal
	act   string
	do    func()
	after func() // before the act is noted as done
}

func (b *between) Append(ctx context.Context, e flinkmm2.Entry) error {
	if e.Act == b.act && e.Phase == flinkmm2.PhaseBegin && b.do != nil {
		do := b.do
		b.do = nil
		do()
	}
	if e.Act == b.act && e.Phase == flinkmm2.PhaseDone && b.after != nil {
		b.after()
	}
	return b.Journal.Append(ctx, e)
}

// A write of another plan is held up on its way, and arrives when the first plan
// has looked for the last time before its resume.
func TestAWriteOnItsWayWhileAnotherPlanStarts(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	w, _, r := cell(t, stage, "")
	ctx := t.Context()
	topic, plans, err := w.rivals(ctx, 50, 60)
	if err != nil {
		t.Fatal(err)
	}
	before, err := w.ends(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	arrived, release, written := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	r.answer(func(_ http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodPatch {
			body, _ := io.ReadAll(req.Body)
			req.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte(`"offset":59`)) {
				close(arrived)
				<-release
			}
		}
		return false
	})
	slow, err := w.beside(w.journal("journal.jsonl"), topic)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, err := slow.Apply(ctx, plans[1]); written <- err }()
	<-arrived
	let := sync.OnceValue(func() error { close(release); return <-written })
	quick, err := w.beside(&between{Journal: w.journal("journal.jsonl"), act: "resume", do: func() { _ = let() }}, topic)
	if err != nil {
		t.Fatal(err)
	}
	_, first := quick.Apply(ctx, plans[0])
	if first == nil {
		first = start(ctx, quick, plans[0])
	}
	second := let()
	if first == nil {
		t.Error("plan 1 was started while a write of plan 2 was on its way")
	} else if s := flinkmm2.ExitStatus(first); s != flinkmm2.ExitMoved {
		t.Errorf("exit status %d: %v", s, first)
	}
	if second != nil {
		t.Fatalf("plan 2: %v", second)
	}
	if err := start(ctx, slow, plans[1]); err != nil {
		t.Fatal(err)
	}
	if err := w.expectCopied(ctx, before, map[topicPartition][2]int{{Topic: topic}: {60, 100}, {Topic: topic, Partition: 1}: {40, 40}}); err != nil {
		t.Error(err)
	}
}

// Two plans that say the same are started by two persons at once. One is, and
// that one can be rolled back.
func TestEqualPlansStartedAtOnce(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	w, _, r := cell(t, stage, "")
	ctx := t.Context()
	topic, plans, err := w.rivals(ctx, 50, 50)
	if err != nil {
		t.Fatal(err)
	}
	first, err := w.beside(w.journal("journal.jsonl"), topic)
	if err != nil {
		t.Fatal(err)
	}
	errs := map[int]error{}
	second, err := w.beside(&between{Journal: w.journal("journal.jsonl"), act: "resume", do: func() { errs[0] = start(ctx, first, plans[0]) }}, topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		if _, err := first.Apply(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	errs[1] = start(ctx, second, plans[1])
	maps.DeleteFunc(errs, func(_ int, err error) bool { return err != nil })
	if len(errs) != 1 || r.sent("/resume") != 1 {
		t.Fatalf("%d plans were started by %d resumes", len(errs), r.sent("/resume"))
	}
	for won := range errs {
		_, err := first.Rollback(ctx, plans[1-won], flinkmm2.RollbackOptions{})
		if err := refusedFor(err, "journal/other-plan"); err != nil {
			t.Error(err)
		}
		if back, err := first.Rollback(ctx, plans[won], flinkmm2.RollbackOptions{}); err != nil || !back.Started {
			t.Errorf("rollback of the plan that was started: %+v, %v", back, err)
		}
	}
}

// A rollback comes between the last look of a start and its resume, on a
// connector that stays because somebody else made it: it must not run from what
// the rollback put back.
func TestRolledBackWhileItStarts(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	w, _, r := cell(t, stage, "")
	ctx := t.Context()
	topic, mig, err := w.small(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.connect.Create(ctx, connectrest.CreateRequest{Name: w.connector, Config: w.config([]string{topic}), InitialState: connectrest.StateStopped}); err != nil {
		t.Fatal(err)
	}
	plan, err := mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		t.Fatal(err)
	}
	var back *flinkmm2.RolledBack
	var backErr error
	racing, err := w.beside(&between{Journal: w.journal("journal.jsonl"), act: "resume", do: func() {
		back, backErr = mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	}}, topic)
	if err != nil {
		t.Fatal(err)
	}
	started := start(ctx, racing, plan)
	if backErr != nil || back.Started {
		t.Fatalf("rollback: %+v, %v", back, backErr)
	}
	if err := refusedFor(started, "journal/rolled-back"); err != nil {
		t.Error(err)
	}
	if n := r.sent("/resume"); n != 0 {
		t.Errorf("%d resumes were sent after the rollback", n)
	}
}

// A start comes between the look of a rollback and its first act. The rollback
// must see that the connector runs, and not delete it as one that never did.
func TestStartedWhileItIsRolledBack(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	w, _, _ := cell(t, stage, "")
	ctx := t.Context()
	topic := w.topic("t")
	if err := w.create(ctx, 1, topic); err != nil {
		t.Fatal(err)
	}
	if err := w.flinkCopied(ctx, topicPartition{Topic: topic}, 30, 0); err != nil {
		t.Fatal(err)
	}
	mig, err := w.migration([]string{topic})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mig.Create(ctx); err != nil {
		t.Fatal(err)
	}
	plan, err := mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 0)))) // nothing is stored, so nothing is put back
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		t.Fatal(err)
	}
	racing, err := w.beside(&between{Journal: w.journal("journal.jsonl"), act: "rollback", do: func() {
		if err := start(ctx, mig, plan); err != nil {
			t.Error(err)
		}
		if _, err := mig.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience}); err != nil {
			t.Error(err)
		}
	}}, topic)
	if err != nil {
		t.Fatal(err)
	}
	back, err := racing.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := expectBoundary(back, "30"); err != nil {
		t.Error(err)
	}
}
