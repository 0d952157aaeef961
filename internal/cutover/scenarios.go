package cutover

import (
	"context"
	"testing"
	"time"
)

// Scenario is one way that a migration can go.
type Scenario struct {
	Name string
	run  func(context.Context, *world) error
}

// Scenarios returns every scenario of the suite.
func Scenarios() []Scenario {
	all := []Scenario{
		{"the line", theLine},
		{"back before the start", backBeforeTheStart},
		{"back to an older offset", backToAnOlderOffset},
		{"nothing copied", nothingCopied},
		{"plan edited in memory", editedInMemory},
		{"readers astray", readersAstray},
		{"offset written by hand, then back", writtenByHand},
		{"connector deleted by hand, then back", deletedByHand},
		{"topic created again after the start", recreatedAfterTheStart},
		{"partition added after the start", addedAfterTheStart},
	}
	for _, step := range []string{"apply", "start"} {
		for _, m := range moves {
			all = append(all, Scenario{m.name + " before " + step, movedBefore(step, m)})
		}
	}
	return all
}

// Run runs the scenario on a stage and returns what did not come out as
// expected. t gives it a folder and a name, and is not failed.
func (s Scenario) Run(t testing.TB, stage Stage) error {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	w := newWorld(t, stage)
	defer func() { w.stop(context.WithoutCancel(ctx)) }()
	return s.run(ctx, w)
}
