package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// workersFail kills a worker in what it is asked to do, and while it copies, and replaces
// the workers of a group one by one.
func workersFail() []Cell {
	const fault = "worker killed (SIGKILL) and started again"
	cells := []Cell{
		{Step: "copying", Fault: fault, When: "in the first seconds", run: workerKilledYoung},
		{Step: "copying", Fault: fault, When: "after offsets were committed", run: workerKilledOld},
		{Step: "copying", Fault: "both of two workers stopped and started, one by one", When: "under load", run: replaced((*lab.Process).Stop)},
		{Step: "copying", Fault: "both of two workers killed and started, one by one", When: "under load", run: replaced((*lab.Process).Kill)},
	}
	for _, w := range []struct{ step, kind string }{
		{"apply", "PATCH /connectors/{name}/offsets"},
		{"start", "PUT /connectors/{name}/resume"},
		{"rollback before the start", "PATCH /connectors/{name}/offsets"},
		{"rollback before the start", "DELETE /connectors/{name}"},
		{"rollback after the start", "PUT /connectors/{name}/stop"},
	} {
		for _, when := range []string{before, during, after} {
			cells = append(cells, Cell{Step: w.step, Fault: fault, When: when + " " + w.kind, run: workerKilledAt(w.step, when, w.kind)})
		}
	}
	for i := range cells {
		cells[i].family, cells[i].alone = "workers", true
	}
	return cells
}

// workerKilledAt kills the worker when the program has sent it a request: before it hears
// of it, while it carries it out, and when it has, so that the answer is lost.
func workerKilledAt(step, when, kind string) func(context.Context, *trial) (*Outcome, error) {
	return func(ctx context.Context, tr *trial) (*Outcome, error) {
		if err := tr.upTo(ctx, step); err != nil {
			return nil, err
		}
		met := make(chan struct{}, 1)
		tr.front.Meet(func(e *Exchange) bool {
			if e.Kind != kind || e.Nth != 1 {
				return false
			}
			defer func() { met <- struct{}{} }()
			switch when {
			case during:
				go func() { _, _ = e.Forward() }()                      // its answer is lost in any case
				time.Sleep(time.Duration(tr.Seed%5) * time.Millisecond) // somewhere in what it does
			case after:
				if _, err := e.Forward(); err != nil {
					tr.note("the worker: %v", err)
				}
			}
			tr.Lab.Worker.Kill(tr.t)
			tr.note("worker killed")
			e.Cut()
			return true
		})
		args, err := tr.args(step)
		if err != nil {
			return nil, err
		}
		p, err := tr.launch(ctx, args...)
		if err != nil {
			return nil, err
		}
		select {
		case <-met:
		case <-p.ended:
			e, err := p.await()
			return nil, fmt.Errorf("%s sent no %s, exit %d: %s: %w", step, kind, e.Exit, e.stderr, err)
		}
		out := &Outcome{}
		// What came before the kill may come again: nothing was committed yet.
		c := &copying{trial: tr}
		if step == "start" || step == "rollback after the start" {
			if out.Allowed, err = c.uncommitted(ctx); err != nil {
				return out, err
			}
		}
		tr.Lab.Worker.Start(tr.t)
		tr.note("worker started")
		if out.First, err = tr.ended(p, args); err != nil {
			return out, err
		}
		tr.front.Meet(nil)
		return out, tr.goOn(ctx, step, out)
	}
}

func workerKilledYoung(ctx context.Context, tr *trial) (*Outcome, error) {
	c, err := tr.copying(ctx)
	if err != nil {
		return nil, err
	}
	defer c.cancel()
	if err := c.copied(ctx, 1+c.chance.Int64N(100)); err != nil {
		return nil, err
	}
	return c.workerKilled(ctx)
}

func workerKilledOld(ctx context.Context, tr *trial) (*Outcome, error) {
	c, err := tr.copying(ctx)
	if err != nil {
		return nil, err
	}
	defer c.cancel()
	if err := c.committed(ctx); err != nil {
		return nil, err
	}
	time.Sleep(time.Duration(c.chance.Int64N(int64(3 * time.Second))))
	return c.workerKilled(ctx)
}

func (c *copying) workerKilled(ctx context.Context) (*Outcome, error) {
	c.Lab.Worker.Kill(c.t)
	out := &Outcome{}
	var err error
	if out.Allowed, err = c.uncommitted(ctx); err != nil {
		return out, err
	}
	c.note("worker killed; %d records copied that are not committed", out.Allowed)
	if out.Allowed == 0 {
		return out, errors.New("nothing was on its way: the kill has shown nothing")
	}
	c.Lab.Worker.Start(c.t)
	c.note("worker started")
	return out, c.finish(ctx, out)
}

// replaced ends the workers of a group in turn. Each that comes back takes up its tasks
// where they were committed, so each time what is not may come again.
func replaced(end func(*lab.Process, testing.TB)) func(context.Context, *trial) (*Outcome, error) {
	return func(ctx context.Context, tr *trial) (*Outcome, error) {
		second := tr.Lab.StartWorker(tr.t, lab.WorkerOptions{Properties: workerProperties(), OffsetFlushInterval: flushEvery})
		if err := tr.calm(ctx, 2); err != nil {
			return nil, err
		}
		c, err := tr.copying(ctx)
		if err != nil {
			return nil, err
		}
		defer c.cancel()
		if err := c.committed(ctx); err != nil {
			return nil, err
		}
		out := &Outcome{}
		for _, w := range []*lab.Worker{second, tr.Lab.Worker} {
			end(w.Process, tr.t)
			stored := c.watch.stored()
			ends, err := c.Ends(ctx, c.name)
			if err != nil {
				return out, err
			}
			n := c.behind(stored, ends)
			out.Allowed += n
			c.note("%s is gone; at most %d records copied that are not committed", w.Name(), n)
			w.Start(tr.t)
			if ends, err = c.Ends(ctx, c.name); err != nil {
				return out, err
			}
			if err := c.beyond(ctx, 1, ends); err != nil {
				return out, fmt.Errorf("after %s came back: %w", w.Name(), err)
			}
			c.note("%s is back, and all partitions go on", w.Name())
		}
		return out, c.finish(ctx, out)
	}
}

// calm waits until the workers' group has so many members and no rebalance.
func (tr *trial) calm(ctx context.Context, workers int) error {
	group := tr.Lab.Worker.Group
	return until(ctx, "the workers' group calm", func() (bool, error) {
		all, err := tr.Target().DescribeGroups(ctx, group)
		if err != nil {
			return false, err
		}
		return all[group].State == "Stable" && len(all[group].Members) == workers, all[group].Err
	})
}
