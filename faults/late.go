package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// requestsComeLate keeps a request on its way until the migration has gone on to something
// else: the program that sent it is dead, and nobody knows of it but the journal.
func requestsComeLate() []Cell {
	return []Cell{
		{
			Step: "start", Fault: "program killed, its PUT /connectors/{name}/resume held on the way", When: "arrives after a rollback", family: "late", memory: true,
			run: resumeAfterRollback,
		},
		{
			Step: "apply", Fault: "program killed, its PATCH /connectors/{name}/offsets held on the way", When: "arrives after a rollback", family: "late", memory: true,
			run: patchAfterRollback,
		},
		{
			Step: "apply", Fault: "program killed, its PATCH /connectors/{name}/offsets held on the way", When: "arrives after the start", family: "late", memory: true,
			run: patchAfterStart,
		},
	}
}

// held runs a step whose first request of a kind does not arrive, and whose program dies
// of it. The request is sent by what is returned.
func (tr *trial) held(ctx context.Context, step, kind string) (Ended, *Exchange, error) {
	args, err := tr.args(step)
	if err != nil {
		return Ended{}, nil, err
	}
	born, on := make(chan *process, 1), make(chan *Exchange, 1)
	tr.front.Meet(func(e *Exchange) bool {
		if e.Kind != kind || e.Nth != 1 {
			return false
		}
		on <- e
		(<-born).kill()
		e.Cut()
		return true
	})
	p, err := tr.launch(ctx, args...)
	if err != nil {
		return Ended{}, nil, err
	}
	born <- p
	ended, err := tr.ended(p, args)
	tr.front.Meet(nil)
	select {
	case e := <-on:
		return ended, e, err
	default:
		return ended, nil, errors.Join(err, fmt.Errorf("%s sent no %s", step, kind))
	}
}

// arrive has the worker hear of the request now.
func (tr *trial) arrive(e *Exchange) error {
	a, err := e.Forward()
	if err != nil {
		return err
	}
	tr.note("%s arrives: the worker answers %d", e.Kind, a.Status)
	time.Sleep(3 * time.Second) // for whatever follows from it
	return nil
}

func resumeAfterRollback(ctx context.Context, tr *trial) (*Outcome, error) {
	if err := tr.upTo(ctx, "start"); err != nil {
		return nil, err
	}
	tr.watch.stop() // what was written is taken back
	out := &Outcome{}
	var resume *Exchange
	var err error
	if out.First, resume, err = tr.held(ctx, "start", "PUT /connectors/{name}/resume"); err != nil {
		return out, err
	}
	return out, tr.afterRollback(ctx, resume, out)
}

func patchAfterRollback(ctx context.Context, tr *trial) (*Outcome, error) {
	if err := tr.upTo(ctx, "apply"); err != nil {
		return nil, err
	}
	tr.watch.stop()
	out := &Outcome{}
	var patch *Exchange
	var err error
	if out.First, patch, err = tr.held(ctx, "apply", "PATCH /connectors/{name}/offsets"); err != nil {
		return out, err
	}
	return out, tr.afterRollback(ctx, patch, out)
}

// afterRollback rolls back, does what the rollback says about the connector, lets the
// request arrive, and holds that nothing comes of it: Flink goes on now, and what the
// connector copied would come twice.
func (tr *trial) afterRollback(ctx context.Context, late *Exchange, out *Outcome) error {
	again, err := tr.run(ctx, "rollback")
	if err != nil {
		return err
	}
	out.Again = &again
	if again.Exit != 0 {
		return fmt.Errorf("rollback: exit %d:\n%s", again.Exit, again.stderr)
	}
	out.Ends = "rolled back; nothing comes of the request"
	if strings.Contains(again.stdout, "curl -X DELETE") {
		if err := tr.World.Connect().Delete(ctx, tr.name); err != nil {
			return err
		}
		out.Ends = "rolled back; nothing comes of the request, once the connector is deleted as the rollback says"
	}
	if err := tr.arrive(late); err != nil {
		return err
	}
	ends, err := tr.Ends(ctx, tr.name)
	if err != nil {
		return err
	}
	for tp, end := range ends {
		out.Repeated += int(end - tr.before[tp])
	}
	c, err := tr.World.Connect().Connector(ctx, tr.name)
	if errors.Is(err, connectrest.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	status, err := tr.World.Connect().Status(ctx, c.Name)
	if err == nil && status.Connector.State != connectrest.StateStopped {
		err = fmt.Errorf("the connector is %s after the rollback, and %d records were copied", status.Connector.State, out.Repeated)
	}
	return err
}

func patchAfterStart(ctx context.Context, tr *trial) (*Outcome, error) {
	if err := tr.upTo(ctx, "apply"); err != nil {
		return nil, err
	}
	out := &Outcome{}
	var patch *Exchange
	var err error
	if out.First, patch, err = tr.held(ctx, "apply", "PATCH /connectors/{name}/offsets"); err != nil {
		return out, err
	}
	if err := tr.must(ctx, "apply", "verify", "start"); err != nil {
		return out, err
	}
	if out.Lost, out.Repeated, err = tr.count(ctx); err != nil {
		return out, err
	}
	if err := tr.arrive(patch); err != nil {
		return out, err
	}
	out.Ends = "finished; nothing comes of the request"
	if out.Lost, out.Repeated, err = tr.count(ctx); err != nil {
		return out, err
	}
	return out, tr.seen(out)
}
