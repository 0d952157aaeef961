package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Two plans, a journal each, so that neither knows of the other. What one writes when
// the other has looked for the last time before its resume is found behind the resume,
// also where MirrorMaker 2 has copied and committed behind it by then; and what
// MirrorMaker 2 commits by itself is not taken for it.
func TestAWriteThatComesBeforeTheResumeIsFoundBehindIt(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	const never, often = time.Hour, 20 * time.Millisecond
	for _, c := range []struct {
		name    string
		c       int64 // of the other plan; 0: there is none
		flush   time.Duration
		quick   bool   // the look comes when all is copied and committed
		refused string // the check
	}{
		{"above C", 70, never, false, "start/overtaken"},
		{"above C and committed since", 70, often, true, "start/overtaken"},
		{"one above C", 51, never, false, "start/overtaken"},
		{"below C", 20, never, false, "start/overtaken"},
		{"none", 0, never, false, ""},
		{"none and committed since", 0, often, true, ""},
	} {
		w, _, _ := cell(t, stage, c.name, connecttest.WithOffsetFlushInterval(c.flush))
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := w.overtaken(t.Context(), c.c, c.quick, c.refused); err != nil {
				t.Error(err)
			}
		})
	}
}

func (w *world) overtaken(ctx context.Context, other int64, quick bool, refused string) error {
	topic, mig, err := w.small(ctx)
	if err != nil {
		return err
	}
	if _, err := mig.Create(ctx); err != nil {
		return err
	}
	plan, err := mig.MakePlan(ctx, request(snapshot(stood(topic, 0, 50), stood(topic, 1, 40))))
	if err != nil {
		return err
	}
	if _, err := mig.Apply(ctx, plan); err != nil {
		return err
	}
	journal := &between{Journal: w.journal("journal.jsonl"), act: "resume"}
	if other > 0 {
		second, err := w.rival(ctx, topic, other)
		if err != nil {
			return err
		}
		journal.do = func() { err = second() }
	}
	if quick {
		journal.after = func() { err = errors.Join(err, w.awaitCommitted(ctx, topicPartition{Topic: topic}, 99)) }
	}
	first, berr := w.beside(journal, topic)
	if berr != nil {
		return berr
	}
	started := start(ctx, first, plan)
	if err != nil {
		return fmt.Errorf("in between: %w", err)
	}
	if refused == "" {
		return started
	}
	if err := refusedFor(started, refused); err != nil {
		return err
	}
	if err := refusedFor(start(ctx, first, plan), refused); err != nil { // however it looks by then
		return err
	}
	_, back := first.Rollback(ctx, plan, flinkmm2.RollbackOptions{})
	var blocked *offsetmap.BlockedError
	return check(errors.As(back, &blocked) && slices.ContainsFunc(blocked.Findings, func(f offsetmap.Finding) bool { return f.Check == "rollback/overtaken" }), "rollback: %v", back)
}

// rival makes a plan of another program, which has a journal of its own, and returns
// its apply.
func (w *world) rival(ctx context.Context, topic string, c int64) (apply func() error, err error) {
	options := w.options
	w.options = append(slices.Clone(options), flinkmm2.WithDeliveryReader(nil))
	mig, err := w.beside(w.journal("another.jsonl"), topic)
	w.options = options
	if err != nil {
		return nil, err
	}
	req := request(snapshot(stood(topic, 0, c), stood(topic, 1, 40)))
	for check, n := range map[string]int64{"offsets/skip": c - 50, "offsets/rewind": 50 - c} {
		if n > 0 {
			req.Acceptances = append(req.Acceptances, offsetmap.Acceptance{Check: check, Scope: fmt.Sprintf("%s-0:%d", topic, n), By: "suite", Reason: "the scenario made it so"})
		}
	}
	plan, err := mig.MakePlan(ctx, req)
	return func() error { _, err := mig.Apply(ctx, plan); return err }, err
}

func (w *world) awaitCommitted(ctx context.Context, tp topicPartition, m int64) error {
	_, err := w.connect.AwaitOffsets(ctx, w.connector, func(all []connectrest.Offset) error {
		view, err := connectrest.MirrorSourceOffsets("source", all)
		if err != nil {
			return err
		}
		have := view.Stored[tp].String()
		return check(have == strconv.FormatInt(m, 10), "Connect holds %s", have)
	}, w.Patience)
	return err
}
