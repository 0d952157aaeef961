package faults

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// Run runs a cell and returns its record. The error says why the migration did not live
// through the fault, or why the cell has shown nothing.
func (c Cell) Run(ctx context.Context, t testing.TB, s *Stage) (Record, error) {
	revision, err := c.Revision()
	if err != nil {
		return Record{}, err
	}
	r := Record{Cell: c.ID(), Revision: revision, Seed: s.Seed, Kafka: lab.DefaultVersion, Tool: s.Tool, Began: time.Now().UTC().Format(time.RFC3339)}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	tr, err := newTrial(ctx, t, s)
	if err != nil {
		return r, err
	}
	defer tr.leave(context.WithoutCancel(ctx))
	out, err := c.run(ctx, tr)
	if out != nil {
		r.Outcome = *out
		if err == nil {
			err = out.check()
		}
	}
	r.Seconds, r.Log = math.Round(10*time.Since(tr.began).Seconds())/10, tr.log
	return r, err
}

// check holds what has to be of every cell.
func (o *Outcome) check() error {
	switch {
	case o.Ends == "":
		return fmt.Errorf("nothing says how it ended: %+v", *o)
	case o.Lost != 0 || o.Rewound != 0 || o.Repeated > o.Allowed:
		return fmt.Errorf("%d lost, %d rewound, %d repeated of at most %d", o.Lost, o.Rewound, o.Repeated, o.Allowed)
	}
	return nil
}

// leave takes the connector off the stage.
func (tr *trial) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tr.watch.stop()
	c := tr.World.Connect()
	if _, err := c.Connector(ctx, tr.name); err != nil {
		return
	}
	if err := c.Delete(ctx, tr.name); err != nil {
		tr.t.Logf("connector %s stays: %v", tr.name, err)
	}
}
