package cutover

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
)

var errKilled = errors.New("killed")

// mortal is what a program can do before it is killed: a number of calls to
// Connect and lines in the journal. The last one is carried out or not; after
// it nothing is.
type mortal struct {
	flinkmm2.Connect
	journal   flinkmm2.Journal
	left      int
	carryLast bool
}

// do reports whether a call is carried out, and whether its caller lives to see
// the answer.
func (m *mortal) do() (carried, alive bool) {
	m.left--
	switch {
	case m.left > 0:
		return true, true
	case m.left == 0:
		return m.carryLast, false
	default:
		return false, false
	}
}

func call[T any](m *mortal, f func() (T, error)) (T, error) {
	var none T
	carried, alive := m.do()
	if !carried {
		return none, errKilled
	}
	v, err := f()
	if !alive {
		return none, errKilled
	}
	return v, err
}

func act(m *mortal, f func() error) error {
	_, err := call(m, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (m *mortal) Create(ctx context.Context, r connectrest.CreateRequest) (connectrest.ConnectorInfo, error) {
	return call(m, func() (connectrest.ConnectorInfo, error) { return m.Connect.Create(ctx, r) })
}

func (m *mortal) CreateThenStop(ctx context.Context, r connectrest.CreateRequest, idle connectrest.Config) (connectrest.ConnectorInfo, error) {
	return call(m, func() (connectrest.ConnectorInfo, error) { return m.Connect.CreateThenStop(ctx, r, idle) })
}

func (m *mortal) Connector(ctx context.Context, name string) (connectrest.ConnectorInfo, error) {
	return call(m, func() (connectrest.ConnectorInfo, error) { return m.Connect.Connector(ctx, name) })
}

func (m *mortal) AlterOffsetsInParts(ctx context.Context, name string, o []connectrest.Offset, opts ...connectrest.PartsOption) error {
	return act(m, func() error { return m.Connect.AlterOffsetsInParts(ctx, name, o, opts...) })
}

func (m *mortal) AwaitOffsets(ctx context.Context, name string, want func([]connectrest.Offset) error, within time.Duration) ([]connectrest.Offset, error) {
	return call(m, func() ([]connectrest.Offset, error) { return m.Connect.AwaitOffsets(ctx, name, want, within) })
}

func (m *mortal) AwaitStopped(ctx context.Context, name string) (connectrest.Status, error) {
	return call(m, func() (connectrest.Status, error) { return m.Connect.AwaitStopped(ctx, name) })
}

func (m *mortal) Status(ctx context.Context, name string) (connectrest.Status, error) {
	return call(m, func() (connectrest.Status, error) { return m.Connect.Status(ctx, name) })
}

func (m *mortal) Stop(ctx context.Context, name string) error {
	return act(m, func() error { return m.Connect.Stop(ctx, name) })
}

func (m *mortal) Resume(ctx context.Context, name string) error {
	return act(m, func() error { return m.Connect.Resume(ctx, name) })
}

func (m *mortal) Delete(ctx context.Context, name string) error {
	return act(m, func() error { return m.Connect.Delete(ctx, name) })
}

func (m *mortal) Append(ctx context.Context, e flinkmm2.Entry) error {
	return act(m, func() error { return m.journal.Append(ctx, e) })
}

func (m *mortal) Read(ctx context.Context) ([]flinkmm2.Entry, error) { return m.journal.Read(ctx) }

// The program is killed between any two of its calls, once with the last one
// carried out and once without, and run again. Nothing may be lost, repeated or
// rewound, and the second run finishes.
func TestKilledBetweenAnyTwoCalls(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	for _, step := range []string{"create", "apply", "start", "rollback"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			calls, err := newWorld(t, stage).killedAt(t.Context(), step, never, true)
			if err != nil {
				t.Fatal(err)
			}
			if calls < 4 {
				t.Fatalf("%s makes %d calls only: the calls are not counted", step, calls)
			}
			var all sync.WaitGroup
			for n := 1; n <= calls; n++ {
				for _, carry := range []bool{false, true} {
					w := newWorld(t, stage)
					w.prefix = fmt.Sprintf("%s-%d-%v", w.prefix, n, carry)
					w.connector = w.prefix
					all.Go(func() {
						if _, err := w.killedAt(t.Context(), step, n, carry); err != nil {
							t.Errorf("killed at call %d, carried out %v: %v", n, carry, err)
						}
					})
				}
			}
			all.Wait()
		})
	}
}

const never = 1 << 30

// killedAt runs a small migration whose step is killed at call n, then again
// with nobody killing. It returns how many calls the step made.
func (w *world) killedAt(ctx context.Context, step string, n int, carry bool) (int, error) {
	defer w.stop(context.WithoutCancel(ctx))
	// A dead program asks for as long as it would have lived.
	w.options = append(w.options, flinkmm2.WithStopTimeout(10*time.Second))
	topic, live, err := w.small(ctx)
	if err != nil {
		return 0, err
	}
	before, err := w.ends(ctx, topic)
	if err != nil {
		return 0, err
	}
	dying := &mortal{Connect: w.connect, journal: flinkmm2.NewFileJournal(filepath.Join(w.dir, "journal.jsonl")), left: n, carryLast: carry}
	doomed, err := w.over(dying, dying, topic)
	if err != nil {
		return 0, err
	}
	try := func(name string, do func(*flinkmm2.Migration) error) error {
		if name == step {
			killed := do(doomed)
			if dying.left > 0 {
				return killed
			}
		}
		return do(live)
	}
	if err := try("create", func(m *flinkmm2.Migration) error { _, err := m.Create(ctx); return err }); err != nil {
		return 0, err
	}
	plan, err := live.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40))))
	if err != nil {
		return 0, err
	}
	if err := try("apply", func(m *flinkmm2.Migration) error { _, err := m.Apply(ctx, plan); return err }); err != nil {
		return 0, err
	}
	if step == "rollback" {
		err := try("rollback", func(m *flinkmm2.Migration) error {
			_, err := m.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
			return err
		})
		if err != nil {
			return 0, err
		}
		if _, err := w.connect.Connector(ctx, w.connector); !errors.Is(err, connectrest.ErrNotFound) {
			return 0, fmt.Errorf("the connector that the migration made is still there: %w", err)
		}
		if err := w.expectUntouched(ctx, before, topic); err != nil {
			return 0, err
		}
		if _, err := live.Create(ctx); err != nil { // offsets outlive their connector
			return 0, err
		}
		return n - dying.left, w.expectStored(ctx, map[topicPartition]string{})
	}
	if err := try("start", func(m *flinkmm2.Migration) error {
		_, err := m.Start(ctx, plan, flinkmm2.Approval{Digest: plan.Digest, By: "suite"})
		return err
	}); err != nil {
		return 0, err
	}
	want := map[topicPartition][2]int{{Topic: topic}: {50, 100}, {Topic: topic, Partition: 1}: {40, 40}}
	if err := w.expectCopied(ctx, before, want); err != nil {
		return 0, err
	}
	return n - dying.left, nil
}

// dyingAtResume is a program that is killed when its resume is on the way.
type dyingAtResume struct{ *mortal }

func (d dyingAtResume) Resume(context.Context, string) error {
	d.left = 0
	return errKilled
}

// A resume that has not arrived when its program died, and the connector was rolled back,
// may arrive then. The rollback says so, and that it does nothing once the connector is
// deleted.
func TestAResumeThatIsStillOnItsWayIsToldByTheRollback(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	w, ctx := newWorld(t, stage), t.Context()
	w.options = append(w.options, flinkmm2.WithStopTimeout(10*time.Second))
	topic, mig, plan, err := w.applied(ctx)
	if err != nil {
		t.Fatal(err)
	}
	dying := dyingAtResume{&mortal{Connect: w.connect, journal: w.journal("journal.jsonl"), left: never}}
	doomed, err := w.over(dying, dying, topic)
	if err != nil {
		t.Fatal(err)
	}
	if err := start(ctx, doomed, plan); !errors.Is(err, errKilled) {
		t.Fatalf("the start that was killed: %v", err)
	}
	back, err := mig.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	if err != nil || !back.Started || !back.ResumePending {
		t.Fatalf("%+v, %v", back, err)
	}
	if err := w.connect.Delete(ctx, w.connector); err != nil {
		t.Fatal(err)
	}
	if err := w.connect.Resume(ctx, w.connector); !errors.Is(err, connectrest.ErrNotFound) {
		t.Errorf("the resume that arrives then: %v", err)
	}
}
