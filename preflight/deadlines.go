package preflight

import (
	"context"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Deadlines looks at what the brokers of both clusters keep, and says from the facts
// until when a start from the question's positions is possible, and the way back to
// them, as Judge does. Where records from a position on are gone already, that moment
// is the one of the look.
func (p Probe) Deadlines(ctx context.Context, f Facts, q Question) (start, rollback offsetmap.Fact[Deadline]) {
	for _, at := range q.Positions {
		if r, measured := f.Ranges[at.TopicPartition]; measured && !r.Start.IsNone() && !at.Next.IsNone() && at.Next.Compare(r.Start) < 0 {
			gone := offsetmap.Known(Deadline{
				At: offsetmap.At(f.At), Scope: at.String(),
				Why: fmt.Sprintf("the records from %s to the log start %s are gone already", at.Next, r.Start),
			})
			return gone, gone
		}
	}
	var s Surroundings
	p.Positions = q.Positions
	p.surveyBrokers(ctx, f, &s)
	f.Surroundings = &s
	c := &Case{Facts: f, Question: q}
	return c.latestStart(), c.latestRollback()
}
