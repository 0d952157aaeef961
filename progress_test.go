package flinkmm2_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// startedUnder starts a migration whose worker has a fault, with more records of
// the source that wait.
func startedUnder(t *testing.T, fault connecttest.Fault, more ...int32) *wayBack {
	t.Helper()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	w.worker.Inject(fault)
	for _, p := range more {
		w.source.produce(t, p, 5)
	}
	if _, err := w.steps.Start(t.Context(), w.plan, flinkmm2.Approval{Digest: w.plan.Digest, By: "test"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// watchUntil watches until the outcomes are those of a worker that has done what
// it can, however slow it is.
func (w *wayBack) watchUntil(want map[string]string) (*flinkmm2.Proof, error) {
	w.Helper()
	for began := time.Now(); ; {
		proof, err := w.steps.Watch(w.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute, Quiet: time.Second})
		if proof == nil {
			w.Fatal(err)
		}
		got := map[string]string{}
		for _, one := range proof.Partitions {
			if name := one.TopicPartition.String(); want[name] != "" {
				got[name] = one.Outcome
			}
		}
		if maps.Equal(got, want) {
			return proof, err
		}
		if time.Since(began) > time.Minute {
			w.Fatalf("%v, want %v: %v", got, want, err)
		}
	}
}

// The last record of a partition is dropped, as a filter does it: Connect counts
// it, and nothing after it shows that it was passed over.
func TestProgressWithoutRecordsIsNoLag(t *testing.T) {
	t.Parallel()
	w := startedUnder(t, connecttest.DropRecord{Record: connecttest.Record{Topic: "orders", Partition: 0, Offset: 49}})
	proof, err := w.watchUntil(map[string]string{"orders-0": "progress-without-records"})
	if !errors.Is(err, flinkmm2.ErrProgressWithoutRecords) || flinkmm2.ExitStatus(err) != flinkmm2.ExitProof {
		t.Fatalf("%v", err)
	}
	if proof.Outcome != "progress-without-records" {
		t.Errorf("%s", proof.Outcome)
	}
	if say := "stores the source offset 49 as copied, and the record at 49 is not on the target"; !strings.Contains(err.Error(), say) {
		t.Errorf("%v, want %q", err, say)
	}
	// What only waits is none: the same connector, and a record that it has not
	// come to.
	if err := w.connect.Stop(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await("STOPPED")
	w.source.produce(t, 1, 1)
	if _, err = w.watchUntil(map[string]string{"orders-0": "progress-without-records", "orders-1": "pending"}); err == nil {
		t.Error("no error")
	}
}

// PC17: the tasks are RUNNING, and nothing comes.
func TestPC17RunningButNothingIsCopied(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		more  []int32
		kind  error
		exit  int
		other string // the outcome of orders-1
	}{
		{"none moves", nil, flinkmm2.ErrNoProgress, flinkmm2.ExitNoProgress, "nothing-to-copy"},
		{"one of two moves", []int32{1}, flinkmm2.ErrNotProven, flinkmm2.ExitNotProven, "proven"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startedUnder(t, connecttest.SilencePartition{Topic: "orders", Partition: 0}, tt.more...)
			_, err := w.watchUntil(map[string]string{"orders-0": "pending", "orders-1": tt.other})
			if !errors.Is(err, tt.kind) || flinkmm2.ExitStatus(err) != tt.exit {
				t.Fatalf("exit %d: %v", flinkmm2.ExitStatus(err), err)
			}
			for _, say := range []string{"orders-0: pending: 30 records are not there yet, and none of the partition has come", "say RUNNING", "authentication", "worker's log"} {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("%v, want %q", err, say)
				}
			}
			if strings.Contains(err.Error(), "orders-1:") {
				t.Errorf("a partition that moved is listed: %v", err)
			}
		})
	}
}
