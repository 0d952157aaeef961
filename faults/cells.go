package faults

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/lab"
)

// Cell is one fault at one place of a migration.
type Cell struct {
	// Step is what the migration is doing: a subcommand of the runbook, or what the
	// connector does by itself.
	Step string
	// Fault says what goes wrong, When at which moment.
	Fault, When string
	// At is the request that is met, where there are many such moments. Cells that differ
	// in it alone are one row of the table.
	At string

	family string // names the file of its scenario
	alone  bool   // no other cell may use the stage meanwhile
	memory bool   // parts in memory can show it too
	run    func(context.Context, *trial) (*Outcome, error)
}

// Outcome is what became of a migration that lived through a fault.
type Outcome struct {
	// Ends says what came of it in the end: finished, or that it was refused and why.
	Ends string `json:"ends"`
	// First is the run that the fault met, Again the one after it.
	First Ended  `json:"first"`
	Again *Ended `json:"again,omitempty"`
	// Lost counts the records that were due and never came, Repeated those that came
	// again, and Allowed how many at-least-once allows there.
	Lost     int `json:"lost"`
	Repeated int `json:"repeated"`
	Allowed  int `json:"allowed"`
	// Rewound counts how often an offset that Connect stores went back.
	Rewound int `json:"rewound"`
}

// ID names the cell.
func (c Cell) ID() string {
	return strings.TrimSuffix(c.Step+", "+c.Fault+", "+c.When+" "+c.At, " ")
}

// Family is the file of the cell's scenario, and of its record, without a suffix.
func (c Cell) Family() string { return c.family }

// Alone says whether the cell needs the stage for itself.
func (c Cell) Alone() bool { return c.alone }

// InMemory says whether a worker and brokers in memory can show it.
func (c Cell) InMemory() bool { return c.memory }

//go:embed kill.go workers.go brokers.go answers.go connections.go clock.go disk.go race.go straggling.go late.go
var scenarios embed.FS

// Revision changes with what the cell is: its name, the source of its scenario, and the
// release of brokers and worker.
func (c Cell) Revision() (string, error) {
	source, err := scenarios.ReadFile(c.family + ".go")
	if err != nil {
		return "", fmt.Errorf("cell %s: %w", c.ID(), err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", c.ID(), lab.DefaultVersion, source))
	return hex.EncodeToString(sum[:8]), nil
}

// Cells returns the matrix.
func Cells() []Cell {
	return slices.Concat(toolKilled(), workersFail(), brokersFail(), answersFail(), connectionsFail(), clocksJump(), disksFill(), stragglers(), many(), requestsComeLate())
}
