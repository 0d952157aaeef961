package flinkmm2_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
)

func TestUntilIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]flinkmm2.Until{
		"end":        {},
		"boundary":   flinkmm2.UntilFirst(1),
		"boundary=3": flinkmm2.UntilFirst(3),
		"records=7":  flinkmm2.UntilRecords(7),
		"caught-up":  flinkmm2.UntilCaughtUp(),
	} {
		got, err := flinkmm2.ParseUntil(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		raw, err := json.Marshal(want)
		var back flinkmm2.Until
		if err := errors.Join(err, json.Unmarshal(raw, &back)); err != nil || back != want {
			t.Errorf("%s: %s, %v", raw, back, err)
		}
	}
	for _, text := range []string{"", "never", "records", "records=", "records=0", "records=-1", "boundary=x", "end=1", "caught-up=1", "records=99999999999999999999"} {
		if u, err := flinkmm2.ParseUntil(text); err == nil {
			t.Errorf("%q is read as %s", text, u)
		}
	}
	if _, err := json.Marshal(flinkmm2.UntilFirst(0)); err != nil {
		t.Error(err)
	}
}

func TestAWatchGoesAsFarAsItIsTold(t *testing.T) {
	t.Parallel()
	w := started(t)
	for p := range int32(3) {
		w.source.produce(t, p, 20)
	}
	for _, tt := range []struct {
		until flinkmm2.Until
		most  int64 // records of a partition
	}{
		{flinkmm2.UntilFirst(1), 1},
		{flinkmm2.UntilFirst(4), 4},
		{flinkmm2.UntilRecords(5), 1 << 30},
		{flinkmm2.UntilCaughtUp(), 1 << 30},
	} {
		proof, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Until: tt.until, Within: time.Minute})
		if err != nil || proof.Until != tt.until {
			t.Fatalf("until %s: %v, %+v", tt.until, err, proof)
		}
		for _, p := range proof.Partitions {
			if p.Records > tt.most || p.Pending != 0 {
				t.Errorf("until %s: %s has %d records, %d pending", tt.until, p.TopicPartition, p.Records, p.Pending)
			}
		}
		if n := len(proof.Lag); n == 0 || n > 512 || proof.Lag[n-1].Copied != proof.Copied {
			t.Errorf("until %s: lag %+v, and %d copied", tt.until, proof.Lag, proof.Copied)
		}
	}
	for _, u := range []flinkmm2.Until{flinkmm2.UntilFirst(0), flinkmm2.UntilRecords(-2)} {
		if proof, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Until: u}); err == nil || proof != nil {
			t.Errorf("until %s: it was watched", u)
		}
	}
}

// The boundary is proven while the rest is still on its way; the whole is not.
func TestTheBoundaryIsProvenWhileTheRestIsOnItsWay(t *testing.T) {
	t.Parallel()
	w := started(t)
	if err := w.connect.Stop(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await("STOPPED")
	w.source.produce(t, 0, 5)
	o := flinkmm2.WatchOptions{Until: flinkmm2.UntilFirst(1), Within: time.Minute}
	if proof, err := w.steps.Watch(t.Context(), w.plan, o); err != nil || proof.Outcome != "proven" {
		t.Errorf("%v", err)
	}
	o = flinkmm2.WatchOptions{Until: flinkmm2.UntilCaughtUp(), Within: 2 * time.Second}
	proof, err := w.steps.Watch(t.Context(), w.plan, o)
	if !errors.Is(err, flinkmm2.ErrNotProven) || proof.Pending != 5 || !slices.ContainsFunc(proof.Lag, func(p flinkmm2.LagPoint) bool { return p.Lag == 5 }) {
		t.Errorf("%v, %+v", err, proof)
	}
}
