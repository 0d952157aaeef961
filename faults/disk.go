package faults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// disksFill lets no file of the program's grow beyond a size, as a full disk does: from
// the beginning of a step, in the middle of its first line of the journal, or when it has
// told the worker what to do and has not noted yet that it is done.
func disksFill() []Cell {
	var cells []Cell
	for _, step := range steps {
		if step == "verify" {
			continue // writes nothing
		}
		for _, f := range []struct {
			when string
			room int
		}{{"no byte fits", 0}, {"half a line of the journal fits", 100}} {
			cells = append(cells, Cell{
				Step: step, Fault: "disk full", When: f.when, family: "disk", memory: true,
				run: func(ctx context.Context, tr *trial) (*Outcome, error) { return tr.diskIsFull(ctx, step, f.room) },
			})
		}
	}
	for _, w := range []struct {
		step string
		at   request
	}{
		{"create", request{"POST /connectors", 1}},
		{"apply", request{"PATCH /connectors/{name}/offsets", 1}},
		{"start", request{"PUT /connectors/{name}/resume", 1}},
		{"rollback before the start", request{"PATCH /connectors/{name}/offsets", 1}},
		{"rollback after the start", request{"PUT /connectors/{name}/stop", 1}},
	} {
		cells = append(cells, Cell{
			Step: w.step, Fault: "disk full", When: "from " + w.at.String() + " on", family: "disk", memory: true,
			run: func(ctx context.Context, tr *trial) (*Outcome, error) { return tr.diskFills(ctx, w.step, w.at) },
		})
	}
	return cells
}

func (tr *trial) journalSize() (int, error) {
	info, err := os.Stat(filepath.Join(tr.dir, "state", "journal.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// diskIsFull runs a step with little room behind the journal, and again with enough.
func (tr *trial) diskIsFull(ctx context.Context, step string, room int) (*Outcome, error) {
	if err := tr.upTo(ctx, step); err != nil {
		return nil, err
	}
	args, err := tr.args(step)
	if err != nil {
		return nil, err
	}
	size, err := tr.journalSize()
	if err != nil {
		return nil, err
	}
	p, err := beginLimited(ctx, tr.Program, tr.dir, size+room, args...)
	if err != nil {
		return nil, err
	}
	tr.note("no file may have more than %d bytes, and the journal has %d", size+room, size)
	return tr.onFullDisk(ctx, step, p, args)
}

// diskFills lets nothing more be written from a request on.
func (tr *trial) diskFills(ctx context.Context, step string, at request) (*Outcome, error) {
	if err := tr.upTo(ctx, step); err != nil {
		return nil, err
	}
	args, err := tr.args(step)
	if err != nil {
		return nil, err
	}
	born := make(chan *process, 1)
	tr.front.Meet(func(e *Exchange) bool {
		if e.Kind != at.kind || e.Nth != at.nth {
			return false
		}
		size, err := tr.journalSize()
		if err == nil {
			p := <-born
			err = limit(ctx, p.cmd.Process.Pid, size)
		}
		tr.note("no file may have more than the %d bytes of the journal: %v", size, err)
		return false
	})
	p, err := tr.launch(ctx, args...)
	if err != nil {
		return nil, err
	}
	born <- p
	return tr.onFullDisk(ctx, step, p, args)
}

func (tr *trial) onFullDisk(ctx context.Context, step string, p *process, args []string) (*Outcome, error) {
	out := &Outcome{}
	var err error
	if out.First, err = tr.ended(p, args); err != nil {
		return out, err
	}
	tr.front.Meet(nil)
	if out.First.Exit == 0 {
		return out, fmt.Errorf("%s was done on a full disk", step)
	}
	return out, tr.goOn(ctx, step, out)
}
