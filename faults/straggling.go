package faults

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stragglers stop a connector whose last commit of offsets hangs, so that it may come when
// the connector is STOPPED already.
func stragglers() []Cell {
	return []Cell{{
		Step: "rollback after the start", Fault: "target's broker hangs (SIGSTOP) for longer than a task may take to stop", When: "directly after PUT /connectors/{name}/stop",
		family: "straggling", alone: true, run: straggling,
	}}
}

// straggling suspends the target's broker as soon as the worker has taken the stop, for
// longer than task.shutdown.graceful.timeout.ms, after which the worker gives the tasks up.
func straggling(ctx context.Context, tr *trial) (*Outcome, error) {
	c, err := tr.copying(ctx)
	if err != nil {
		return nil, err
	}
	defer c.cancel()
	if err := c.committed(ctx); err != nil {
		return nil, err
	}
	args, err := tr.args("rollback after the start")
	if err != nil {
		return nil, err
	}
	stored := c.watch.stored()
	hung := make(chan struct{})
	tr.front.Meet(func(e *Exchange) bool {
		if e.Kind != "PUT /connectors/{name}/stop" || e.Nth != 1 {
			return false
		}
		a, err := e.Forward()
		if err != nil {
			tr.note("the worker: %v", err)
			e.Cut()
		}
		tr.Lab.Target.Suspend(tr.t)
		tr.note("the target's broker hangs")
		close(hung)
		e.Reply(a)
		return true
	})
	p, err := tr.launch(ctx, args...)
	if err != nil {
		return nil, err
	}
	select {
	case <-hung:
	case <-p.ended:
		e, err := p.await()
		return nil, fmt.Errorf("rollback stopped nothing, exit %d: %s: %w", e.Exit, e.stderr, err)
	}
	time.Sleep(8 * time.Second)
	tr.Lab.Target.Continue(tr.t)
	tr.note("the target's broker goes on")
	out := &Outcome{}
	if out.First, err = tr.ended(p, args); err != nil {
		return out, err
	}
	tr.front.Meet(nil)
	if err := errors.Join(c.quiet(), tr.recovered(ctx)); err != nil {
		return out, err
	}
	ends, err := c.atRest(ctx)
	if err != nil {
		return out, err
	}
	// A commit that never comes leaves what was copied since the one before it.
	out.Allowed = c.behind(stored, ends)
	return out, tr.goOn(ctx, "rollback after the start", out)
}
