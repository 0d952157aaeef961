package flinkmm2_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// owner is somebody who takes a lock.
func owner(by string) flinkmm2.Owner {
	index := 2
	return flinkmm2.Owner{
		Connector: "mm2", By: by, Host: "node-7", Since: offsetmap.At(time.Date(2026, 10, 15, 8, 0, 0, 0, time.UTC)),
		Job: &flinkmm2.JobIdentity{Namespace: "kafka", Name: "start", Pod: "start-x", Index: &index},
	}
}

func fileLock(t *testing.T) (*flinkmm2.FileLock, string) {
	t.Helper()
	if !localfs.Locks {
		t.Skip("no file locks on this system")
	}
	path := filepath.Join(t.TempDir(), "state", "lock")
	return flinkmm2.NewFileLock(path), path
}

func TestFileLockIsHeldByOneAndSaysByWhom(t *testing.T) {
	l, path := fileLock(t)
	held, err := l.Acquire(t.Context(), owner("li"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = flinkmm2.NewFileLock(path).Acquire(t.Context(), owner("mo"))
	locked, ok := errors.AsType[*flinkmm2.LockedError](err)
	want := "li on node-7, Job kafka/start, pod start-x, index 2, for connector mm2, since 2026-10-15T08:00:00Z"
	if !ok || !errors.Is(err, flinkmm2.ErrLocked) || locked.Lock != path || locked.Holder != want || flinkmm2.ExitStatus(err) != flinkmm2.ExitMoved {
		t.Errorf("%v", err)
	}
	if err := held.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
	again, err := l.Acquire(t.Context(), owner("mo"))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Release()
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "li") || !strings.Contains(string(text), `"by":"mo"`) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFileLockThatWasTakenAwayIsLost(t *testing.T) {
	l, path := fileLock(t)
	held, err := l.Acquire(t.Context(), owner("li"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := held.Check(t.Context()); !errors.Is(err, flinkmm2.ErrLockLost) {
		t.Errorf("%v", err)
	}
	other, err := l.Acquire(t.Context(), owner("mo"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	if err := held.Check(t.Context()); !errors.Is(err, flinkmm2.ErrLockLost) {
		t.Errorf("another holds it: %v", err)
	}
}

func TestFileLockInAnImpossiblePlaceIsAnError(t *testing.T) {
	if !localfs.Locks {
		t.Skip("no file locks on this system")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "lock"), "/dev/null/lock"} {
		if _, err := flinkmm2.NewFileLock(path).Acquire(t.Context(), owner("li")); err == nil || errors.Is(err, flinkmm2.ErrLocked) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// scripted is a lock that is lost, or not given, when a test says so.
type scripted struct {
	name     string
	log      *[]string
	refuse   error
	loseAt   int // the check that fails; 0 is none
	checked  int
	released error
}

func (s *scripted) Acquire(_ context.Context, who flinkmm2.Owner) (flinkmm2.Held, error) {
	if who.Connector != "mm2" || who.By == "" || who.Since.IsZero() {
		return nil, errors.New("the owner is lacking")
	}
	*s.log = append(*s.log, s.name+" acquired")
	return s, s.refuse
}

func (s *scripted) Check(context.Context) error {
	if s.checked++; s.checked == s.loseAt {
		return flinkmm2.ErrLockLost
	}
	return nil
}

func (s *scripted) Release() error {
	*s.log = append(*s.log, s.name+" released")
	return s.released
}

func TestStepsHoldTheirLocksAndGiveThemBack(t *testing.T) {
	w := prepared(t)
	var log []string
	a, b := &scripted{name: "a", log: &log, released: errors.New("gone")}, &scripted{name: "b", log: &log}
	w.options = append(w.options, flinkmm2.WithLock(a), flinkmm2.WithLock(b))
	w.steps = w.migration(w.source.admin)
	once := []string{"a acquired", "b acquired", "b released", "a released"}
	held := func(step string, changes bool, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if diff := cmp.Diff(once, log); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
		if (a.checked > 0) != changes || a.checked != b.checked {
			t.Errorf("%s: looked %d and %d times whether the locks are held", step, a.checked, b.checked)
		}
		log, a.checked, b.checked = nil, 0, 0
	}
	_, err := w.steps.Create(t.Context())
	held("create", true, err)
	w.makePlan()
	if log != nil {
		t.Errorf("a plan is no act: %v", log)
	}
	_, err = w.steps.Apply(t.Context(), w.plan)
	held("apply", true, err)
	_, err = w.steps.Apply(t.Context(), w.plan)
	held("apply again", false, err)
	_, err = w.steps.Start(t.Context(), w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "ana"})
	held("start", true, err)
	if _, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute}); err != nil || log != nil {
		t.Errorf("a watch is no act: %v, %v", log, err)
	}
	back, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{})
	held("rollback", true, err)
	w.boundary = back.Boundary
	_, err = w.hand("back")
	held("commit-boundary", true, err)
}

func TestNothingIsDoneWithoutTheLock(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	var log []string
	taken := &flinkmm2.LockedError{Lock: "b", Holder: "mo"}
	w.options = append(w.options, flinkmm2.WithLock(&scripted{name: "a", log: &log}, &scripted{name: "b", log: &log, refuse: taken}))
	locked := w.migration(w.source.admin)
	before, err := w.journal.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = locked.Apply(t.Context(), w.plan)
	if !errors.Is(err, flinkmm2.ErrLocked) || err.Error() != "apply: nothing was done: locked: b is held by mo" {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"a acquired", "b acquired", "a released"}, log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	after, err := w.journal.Read(t.Context())
	if err != nil || len(after) != len(before) {
		t.Errorf("%d entries more, %v", len(after)-len(before), err)
	}
	if stored, err := w.connect.Offsets(t.Context(), "mm2"); len(stored) > 0 || err != nil {
		t.Errorf("%v, %v", stored, err)
	}
}

func TestALockThatIsLostStopsTheStepBeforeItsRequest(t *testing.T) {
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	var log []string
	w.options = append(w.options, flinkmm2.WithLock(&scripted{name: "a", log: &log, loseAt: 1}))
	_, err := w.migration(w.source.admin).Start(t.Context(), w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "ana"})
	if !errors.Is(err, flinkmm2.ErrLockLost) || flinkmm2.ExitStatus(err) != flinkmm2.ExitMoved {
		t.Errorf("%v", err)
	}
	status, err := w.connect.Status(t.Context(), "mm2")
	if err != nil || status.Connector.State != "STOPPED" {
		t.Errorf("the connector is %s, %v", status.Connector.State, err)
	}
	if e := w.entered("resume", flinkmm2.PhaseFailed); !strings.Contains(e.Detail, "it was not sent: the lock was lost") {
		t.Errorf("%+v", e)
	}
	if len(log) != 2 {
		t.Errorf("%v", log)
	}
	if _, err := w.steps.Start(t.Context(), w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "ana"}); err != nil {
		t.Errorf("it stands in the way of those who come later: %v", err)
	}
}
