package faults

import (
	"context"
	"fmt"
	"time"
)

// answersFail has the worker's answers go wrong on their way: half of one comes, one comes
// later than the program waits, a request comes to the worker twice, and the program's
// connections to the worker are cut or slow.
func answersFail() []Cell {
	var cells []Cell
	add := func(c Cell) {
		c.family = "answers"
		cells = append(cells, c)
	}
	for _, w := range []struct{ step, kind string }{
		{"create", "POST /connectors"},
		{"apply", "PATCH /connectors/{name}/offsets"},
		{"start", "PUT /connectors/{name}/resume"},
		{"rollback before the start", "PATCH /connectors/{name}/offsets"},
		{"rollback before the start", "DELETE /connectors/{name}"},
		{"rollback after the start", "PUT /connectors/{name}/stop"},
		{"verify", "GET /connectors/{name}/offsets"},
	} {
		add(Cell{Step: w.step, Fault: "answer cut in the middle", When: w.kind, memory: true, run: answered(w.step, w.kind, func(e *Exchange) error {
			a, err := e.Forward()
			if err == nil {
				e.Half(a)
				e.Cut()
			}
			return err
		})})
		add(Cell{Step: w.step, Fault: "request carried out, connection cut without an answer", When: w.kind, memory: true, run: answered(w.step, w.kind, func(e *Exchange) error {
			_, err := e.Forward()
			if err == nil {
				e.Cut()
			}
			return err
		})})
		add(Cell{Step: w.step, Fault: "request sent twice by what lies between, second answer given", When: w.kind, memory: true, run: answered(w.step, w.kind, func(e *Exchange) error {
			_, err := e.Forward()
			if err != nil {
				return err
			}
			a, err := e.Forward()
			if err == nil {
				e.Reply(a)
			}
			return err
		})})
		add(Cell{Step: w.step, Fault: "answer later than the program waits", When: w.kind, run: answered(w.step, w.kind, func(e *Exchange) error {
			_, err := e.Forward()
			if err != nil {
				return err
			}
			select {
			case <-e.Gone():
			case <-time.After(3 * time.Minute):
			}
			e.Cut()
			return nil
		})})
	}
	for _, step := range steps {
		add(Cell{Step: step, Fault: "connections to the worker cut after some bytes", When: "throughout", memory: true, run: restSuffers(step, func(tr *trial) Toxic {
			return Toxic{Type: "limit_data", Stream: "downstream", Attributes: map[string]int64{"bytes": 100 + int64(tr.Seed*37%400)}}
		})})
		add(Cell{Step: step, Fault: "connections to the worker slow", When: "throughout", memory: true, run: restSuffers(step, func(*trial) Toxic {
			return Toxic{Type: "latency", Stream: "downstream", Attributes: map[string]int64{"latency": 300, "jitter": 200}}
		})})
		add(Cell{Step: step, Fault: "connections to the worker reset", When: "throughout", memory: true, run: restSuffers(step, func(tr *trial) Toxic {
			return Toxic{Type: "reset_peer", Stream: "upstream", Attributes: map[string]int64{"timeout": 5 + int64(tr.Seed*3%20)}}
		})})
	}
	return cells
}

// answered has the first request of a kind answered in another way.
func answered(step, kind string, answer func(*Exchange) error) func(context.Context, *trial) (*Outcome, error) {
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
			if e.Kind != kind || e.Nth != 1 {
				return false
			}
			close(met)
			if err := answer(e); err != nil {
				tr.note("the worker: %v", err)
				e.Cut()
			}
			return true
		})
		out := &Outcome{}
		if out.First, err = tr.run(ctx, args...); err != nil {
			return out, err
		}
		select {
		case <-met:
		default:
			return out, fmt.Errorf("%s sent no %s: exit %d: %s", step, kind, out.First.Exit, out.First.stderr)
		}
		tr.front.Meet(nil)
		return out, tr.goOn(ctx, step, out)
	}
}

// restSuffers runs a step whose connections to the worker suffer, for as long as it runs
// or half a minute, and then runs it again without.
func restSuffers(step string, toxic func(*trial) Toxic) func(context.Context, *trial) (*Outcome, error) {
	return func(ctx context.Context, tr *trial) (*Outcome, error) {
		if err := tr.upTo(ctx, step); err != nil {
			return nil, err
		}
		return tr.suffer(ctx, step, tr.rest, toxic(tr))
	}
}

// suffer runs a step over a link that is poisoned for half a minute at most.
func (tr *trial) suffer(ctx context.Context, step string, over *Link, toxic Toxic) (*Outcome, error) {
	args, err := tr.args(step)
	if err != nil {
		return nil, err
	}
	if err := over.Poison(toxic); err != nil {
		return nil, err
	}
	p, err := tr.launch(ctx, args...)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		tr.note("the connections are well again")
	}
	over.Heal(ctx)
	out := &Outcome{}
	if out.First, err = tr.ended(p, args); err != nil {
		return out, err
	}
	return out, tr.goOn(ctx, step, out)
}
