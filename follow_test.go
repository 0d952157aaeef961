package flinkmm2_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/internal/schematest"
)

func TestFollowingProvesWhatComesRoundByRound(t *testing.T) {
	t.Parallel()
	w := started(t)
	store := &kept{}
	enough := errors.New("enough")
	var counts []int64
	last, err := w.steps.Follow(t.Context(), w.plan, flinkmm2.FollowOptions{
		Every: time.Second, For: time.Minute, BytesPerSecond: 1 << 20, Checkpoint: store,
		Round: func(p *flinkmm2.Proof, verdict error) error {
			if errors.Is(verdict, flinkmm2.ErrNotProven) {
				return nil // the worker, or the round, has not come to it
			}
			if verdict != nil {
				return verdict
			}
			raw, err := p.Encode()
			if err := errors.Join(err, schematest.Check(flinkmm2.ProofSchema(), raw)); err != nil {
				return err
			}
			if n := len(counts); n == 0 || p.Records > counts[n-1] {
				counts = append(counts, p.Records)
				w.source.produce(t, 0, 7)
			}
			if len(counts) == 4 {
				return enough
			}
			return nil
		},
	})
	if !errors.Is(err, enough) || last == nil || last.Copied != last.Records || last.Repeated != 0 {
		t.Fatalf("%v, %+v", err, last)
	}
	for i, n := range counts[1:] {
		if n != counts[i]+7 {
			t.Errorf("records by round: %v, want 7 more each", counts)
		}
	}
	if !strings.Contains(store.text, flinkmm2.CheckpointKind) {
		t.Errorf("no checkpoint is kept: %q", store.text)
	}
	// The next goes on from there.
	again, err := w.steps.Watch(t.Context(), w.plan, flinkmm2.WatchOptions{Within: time.Minute, Checkpoint: store})
	if err != nil || again.Records < counts[3] {
		t.Errorf("%v, %+v", err, again)
	}
}

func TestFollowingEndsAtTheFirstFault(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.worker.Inject(connecttest.DropRecord{Record: connecttest.Record{Topic: "orders", Partition: 0, Offset: 51}})
	w.source.produce(t, 0, 5)
	var verdicts []error
	last, err := w.steps.Follow(t.Context(), w.plan, flinkmm2.FollowOptions{
		Every: 200 * time.Millisecond, For: time.Minute,
		Round: func(_ *flinkmm2.Proof, verdict error) error { verdicts = append(verdicts, verdict); return nil },
	})
	if !errors.Is(err, flinkmm2.ErrProofFailed) || last.Outcome != "failed" || last.Missing != 1 {
		t.Errorf("%v, %+v", err, last)
	}
	if n := len(verdicts); n == 0 || !errors.Is(verdicts[n-1], flinkmm2.ErrProofFailed) {
		t.Errorf("the last round does not say so: %v", verdicts)
	}
}

func TestHowLongIsFollowed(t *testing.T) {
	t.Parallel()
	w := started(t)
	if last, err := w.steps.Follow(t.Context(), w.plan, flinkmm2.FollowOptions{For: time.Second, Every: time.Hour}); err != nil || last.Outcome != "proven" {
		t.Errorf("for a second: %v, %+v", err, last)
	}
	for _, tt := range []struct {
		say string
		o   flinkmm2.FollowOptions
	}{
		{"for -1s", flinkmm2.FollowOptions{For: -1}},
		{"-5 bytes per second", flinkmm2.FollowOptions{For: time.Minute, BytesPerSecond: -5}},
		{"rounds every -1ns", flinkmm2.FollowOptions{For: time.Minute, Every: -1}},
		{"no shard 3 of 2", flinkmm2.FollowOptions{For: time.Minute, Shard: flinkmm2.Shard{Index: 3, Of: 2}}},
	} {
		if tt.say == "for -1s" {
			tt.o.For = -time.Second
		}
		if last, err := w.steps.Follow(t.Context(), w.plan, tt.o); err == nil || last != nil || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%v, want %q", err, tt.say)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	last, err := w.steps.Follow(ctx, w.plan, flinkmm2.FollowOptions{For: time.Hour, Every: time.Hour, Round: func(*flinkmm2.Proof, error) error {
		cancel()
		return nil
	}})
	if !errors.Is(err, context.Canceled) || last == nil || last.Outcome != "proven" {
		t.Errorf("cancelled: %v, %+v", err, last)
	}
}

// Without For it is the rollback window that is attested, from the start on.
func TestFollowingLastsForTheAttestedWindow(t *testing.T) {
	t.Parallel()
	w := started(t)
	enough := errors.New("enough")
	o := flinkmm2.FollowOptions{Round: func(*flinkmm2.Proof, error) error { return enough }}
	if _, err := w.steps.Follow(t.Context(), w.plan, o); !errors.Is(err, enough) {
		t.Errorf("within the window: %v", err)
	}
	w.mu.Lock()
	w.ahead += 1000 * time.Hour
	w.mu.Unlock()
	if last, err := w.steps.Follow(t.Context(), w.plan, o); err == nil || last != nil || !strings.Contains(err.Error(), "has passed since the start at") {
		t.Errorf("after it: %v", err)
	}
}
