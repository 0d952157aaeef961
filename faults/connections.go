package faults

import (
	"context"
)

// connectionsFail has the program's connections to the brokers fail.
func connectionsFail() []Cell {
	var cells []Cell
	for _, step := range []string{"plan", "apply", "start", "rollback after the start", "hand back to a group"} {
		for _, side := range []string{"source", "target"} {
			for _, f := range []struct {
				fault string
				toxic func(seed uint64) Toxic
			}{
				{"cut after some bytes", func(seed uint64) Toxic {
					return Toxic{Type: "limit_data", Stream: "downstream", Attributes: map[string]int64{"bytes": 200 + int64(seed*91%1500)}}
				}},
				{"later than the program waits", func(uint64) Toxic {
					return Toxic{Type: "latency", Stream: "downstream", Attributes: map[string]int64{"latency": 20_000}}
				}},
			} {
				cells = append(cells, Cell{
					Step: step, Fault: "connections to the brokers of the " + side + " " + f.fault, When: "throughout", family: "connections", alone: true,
					run: func(ctx context.Context, tr *trial) (*Outcome, error) {
						if err := tr.upTo(ctx, step); err != nil {
							return nil, err
						}
						link := tr.Through.Source
						if side == "target" {
							link = tr.Through.Target
						}
						return tr.suffer(ctx, step, link, f.toxic(tr.Seed))
					},
				})
			}
		}
	}
	return cells
}
