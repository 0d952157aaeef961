package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// When a program is killed.
const (
	before = "before"
	during = "while it is answered:"
	after  = "directly after"
)

// moments are when a program is killed at a request. On the ways back, to which all steps
// forward belong, a read is met before alone, but for the last one: it changes nothing, so
// that while it is answered is no other moment than before the next.
func moments(step string, nth int) []string {
	if slices.Contains(forward, step) || nth == len(made[step])-1 || !strings.HasPrefix(made[step][nth], "GET ") {
		return []string{before, during, after}
	}
	return []string{before}
}

// toolKilled kills the program before, during and after the requests of a step. That there
// are no others is held by a cell without a fault.
func toolKilled() []Cell {
	var all []Cell
	for _, step := range steps {
		all = append(all, Cell{
			Step: step, Fault: "no fault", When: "all requests are those of the matrix", family: "kill", memory: true,
			run: func(ctx context.Context, tr *trial) (*Outcome, error) { return tr.untroubled(ctx, step) },
		})
		for nth, at := range requests(step) {
			for _, when := range moments(step, nth) {
				all = append(all, Cell{
					Step: step, Fault: "program killed", When: when, At: at.String(), family: "kill", memory: true,
					run: func(ctx context.Context, tr *trial) (*Outcome, error) { return tr.killedAt(ctx, step, when, at) },
				})
			}
		}
	}
	return all
}

// untroubled runs a step without a fault, and holds its requests to the list.
func (tr *trial) untroubled(ctx context.Context, step string) (*Outcome, error) {
	if err := tr.upTo(ctx, step); err != nil {
		return nil, err
	}
	tr.front.Meet(nil)
	if err := tr.must(ctx, step); err != nil {
		return nil, err
	}
	left := map[string]int{}
	for _, kind := range tr.front.Seen() {
		left[kind]++
	}
	for _, kind := range made[step] {
		left[kind]--
	}
	for kind, n := range left {
		if n < 0 || n > 0 && !waits(step, kind) {
			return nil, fmt.Errorf("%s makes %+d requests %s beside those of the matrix: %v", step, n, kind, tr.front.Seen())
		}
	}
	_, on := way(step)
	if err := tr.must(ctx, on...); err != nil {
		return nil, err
	}
	out := &Outcome{Ends: finished}
	return out, tr.judge(ctx, step, out)
}

// killedAt brings a migration to the step, kills the program there, and runs it again.
func (tr *trial) killedAt(ctx context.Context, step, when string, at request) (*Outcome, error) {
	if err := tr.upTo(ctx, step); err != nil {
		return nil, err
	}
	out := &Outcome{}
	var err error
	if out.First, err = tr.killOnce(ctx, step, when, at); err != nil {
		return out, err
	}
	return out, tr.goOn(ctx, step, out)
}

// killOnce runs a step that is killed.
func (tr *trial) killOnce(ctx context.Context, step, when string, at request) (Ended, error) {
	args, err := tr.args(step)
	if err != nil {
		return Ended{}, err
	}
	var met atomic.Bool
	born := make(chan *process, 1)
	tr.front.Meet(func(e *Exchange) bool {
		if e.Kind != at.kind || e.Nth != at.nth || !met.CompareAndSwap(false, true) {
			return false
		}
		p := <-born
		if when == before {
			p.kill()
			e.Cut()
		}
		a, err := e.Forward()
		if err != nil {
			tr.note("the worker: %v", err)
			p.kill()
			e.Cut()
		}
		if when == during {
			e.Half(a)
		} else {
			e.Reply(a)
		}
		p.kill()
		return true
	})
	defer tr.front.Meet(nil)
	p, err := tr.launch(ctx, args...)
	if err != nil {
		return Ended{}, err
	}
	born <- p
	ended, err := tr.ended(p, args)
	if err == nil && !met.Load() {
		err = fmt.Errorf("%s made no request %s: it made %v", step, at, tr.front.Seen())
	}
	if err == nil && ended.Exit >= 0 && when != after {
		err = errors.New("the program outlived its death")
	}
	return ended, err
}
