package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// brokersFail kills the broker of the source or of the target: in a step, when the program
// sends the worker a request, and while the connector copies.
func brokersFail() []Cell {
	var cells []Cell
	for _, side := range []string{"source", "target"} {
		fault := "broker of the " + side + " killed (SIGKILL) and started again"
		cells = append(cells, Cell{Step: "copying", Fault: fault, When: "under load", run: brokerKilledWhileCopying(side)})
		for _, w := range []struct {
			step string
			at   request
		}{
			{"create", request{"POST /connectors", 1}},
			{"plan", request{"GET /connectors/{name}/offsets", 1}},
			{"apply", request{"PATCH /connectors/{name}/offsets", 1}},
			{"verify", request{"GET /connectors/{name}/offsets", 1}},
			{"start", request{"PUT /connectors/{name}/resume", 1}},
			{"rollback before the start", request{"PATCH /connectors/{name}/offsets", 1}},
			{"rollback after the start", request{"PUT /connectors/{name}/stop", 1}},
			{"hand back to a group", request{"GET /", 3}},
		} {
			if side == "source" && !asksSource(w.step) {
				continue
			}
			cells = append(cells, Cell{Step: w.step, Fault: fault, When: before + " " + w.at.String(), run: brokerKilledAt(side, w.step, w.at)})
		}
	}
	for i := range cells {
		cells[i].family, cells[i].alone = "brokers", true
	}
	return cells
}

// asksSource says whether a step needs the source at the moment at which brokers die here.
func asksSource(step string) bool {
	return step == "plan" || step == "start" || step == "hand back to a group"
}

func (s *Stage) broker(side string) *lab.Broker {
	if side == "source" {
		return s.Lab.Source
	}
	return s.Lab.Target
}

// brokerKilledAt kills the broker when the program sends the request, which the worker
// gets all the same, and starts it again.
func brokerKilledAt(side, step string, at request) func(context.Context, *trial) (*Outcome, error) {
	return func(ctx context.Context, tr *trial) (*Outcome, error) {
		if err := tr.upTo(ctx, step); err != nil {
			return nil, err
		}
		args, err := tr.args(step)
		if err != nil {
			return nil, err
		}
		met := make(chan struct{})
		tr.front.Meet(func(e *Exchange) bool {
			if e.Kind != at.kind || e.Nth != at.nth {
				return false
			}
			tr.broker(side).Kill(tr.t)
			tr.note("broker of the %s killed", side)
			close(met)
			return false
		})
		p, err := tr.launch(ctx, args...)
		if err != nil {
			return nil, err
		}
		select {
		case <-met:
		case <-p.ended:
			e, err := p.await()
			return nil, fmt.Errorf("%s sent no %s, exit %d: %s: %w", step, at, e.Exit, e.stderr, err)
		}
		time.Sleep(time.Duration(tr.Seed%4) * time.Second)
		tr.broker(side).Start(tr.t)
		tr.note("broker of the %s started", side)
		out := &Outcome{}
		if out.First, err = tr.ended(p, args); err != nil {
			return out, err
		}
		tr.front.Meet(nil)
		if err := tr.recovered(ctx); err != nil {
			return out, err
		}
		return out, tr.goOn(ctx, step, out)
	}
}

// recovered waits until the brokers answer for the topic, and the worker for connectors.
func (tr *trial) recovered(ctx context.Context) error {
	return until(ctx, "brokers and worker answer again", func() (bool, error) {
		if _, err := tr.Ends(ctx, tr.name); err != nil {
			return false, err
		}
		listed, err := tr.World.Source().ListEndOffsets(ctx, tr.name)
		if err == nil {
			err = listed.Error()
		}
		if err != nil {
			return false, err
		}
		_, err = tr.World.Connect().Connectors(ctx)
		return err == nil, err
	})
}

func brokerKilledWhileCopying(side string) func(context.Context, *trial) (*Outcome, error) {
	return func(ctx context.Context, tr *trial) (*Outcome, error) {
		c, err := tr.copying(ctx)
		if err != nil {
			return nil, err
		}
		defer c.cancel()
		if err := c.committed(ctx); err != nil {
			return nil, err
		}
		time.Sleep(time.Duration(c.chance.Int64N(int64(2 * time.Second))))
		stored := c.watch.stored()
		ends, err := c.Ends(ctx, c.name)
		if err != nil {
			return nil, err
		}
		tr.broker(side).Kill(tr.t)
		// A batch whose answer is lost is sent again, and a task that fails begins again at
		// what is stored.
		out := &Outcome{Allowed: c.behind(stored, ends)}
		c.note("broker of the %s killed; %d records copied that are not committed", side, out.Allowed)
		tr.broker(side).Start(tr.t)
		c.note("broker of the %s started", side)
		if err := tr.recovered(ctx); err != nil {
			return out, err
		}
		if ends, err = c.Ends(ctx, c.name); err != nil {
			return out, err
		}
		if err := c.beyond(ctx, 1, ends); err != nil {
			return out, fmt.Errorf("after the broker came back: %w", err)
		}
		return out, c.finish(ctx, out)
	}
}
