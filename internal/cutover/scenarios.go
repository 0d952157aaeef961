package cutover

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Scenario is one way that a migration can go.
type Scenario struct {
	Name string
	// Alone marks those that kill the worker: no other scenario may use it.
	Alone bool
	run   func(context.Context, *world) error
}

// Scenarios returns every scenario of the suite.
func Scenarios() []Scenario {
	all := []Scenario{
		{Name: "the line", run: theLine},
		{Name: "shapes at the boundary, read uncommitted", run: shapesAtTheBoundary(offsetmap.ReadUncommitted)},
		{Name: "shapes at the boundary, read committed", run: shapesAtTheBoundary(offsetmap.ReadCommitted)},
		{Name: "transaction open across C, read uncommitted", run: openAcrossC},
		{Name: "transaction open from C on, read committed", run: openFromC},
		{Name: "compacted topic", run: compactedTopic},
		{Name: "worker killed while it copies", Alone: true, run: workerKilled},
		{Name: "partition added after the start", run: addedAfterTheStart},
		{Name: "topic created again after the start", run: recreatedAfterTheStart},
		{Name: "back before the start", run: backBeforeTheStart},
		{Name: "back to the group", run: backToTheGroup},
		{Name: "there, back, and there again", run: thereBackAndThereAgain},
		{Name: "back to an older offset", run: backToAnOlderOffset},
		{Name: "nothing copied", run: nothingCopied},
		{Name: "lock by a transactional id", run: lockedByKafka},
		{Name: "plan edited in memory", run: editedInMemory},
		{Name: "readers astray", run: readersAstray},
		{Name: "offset written by hand, then back", run: writtenByHand},
		{Name: "connector deleted by hand, then back", run: deletedByHand},
	}
	for _, step := range []string{"apply", "start"} {
		for _, m := range moves {
			all = append(all, Scenario{Name: m.name + " before " + step, run: movedBefore(step, m)})
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
	w.scenario = s.Name
	if s.Alone {
		w.scenario += fmt.Sprintf(", seed %d", stage.Seed)
	}
	defer func() { w.stop(context.WithoutCancel(ctx)) }()
	return s.run(ctx, w)
}
