package preflight

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// deleteAll and patch are the commands that change what Connect holds; the
// worker takes them while the connector is STOPPED and has no task.
const deleteAll = "`curl -X DELETE <WORKER>/connectors/<CONNECTOR>/offsets`"

// mirrorPartition is how Connect names a partition of this connector.
const mirrorPartition = `{"cluster":"<ALIAS>","topic":"<TOPIC>","partition":<N>}`

func patch(partition, offset string) string {
	return "`curl -X PATCH -H 'Content-Type: application/json' <WORKER>/connectors/<CONNECTOR>/offsets -d '{\"offsets\":[{\"partition\":" + partition + `,"offset":` + offset + "}]}'`"
}

func offsetChecks() []Check {
	return []Check{{
		ID:         "offsets/unknown",
		Title:      "The stored offsets can be read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connectors/NAME/offsets, until two answers are the same",
		Why:        "They are the plan's backup: without them nothing could be put back.",
		Remedy:     "Wait until the workers answer, and run preflight again.",
		Judge:      withConfig(offsetsUnknown),
	}, {
		ID:         "offsets/foreign",
		Title:      "Every stored offset is of this connector's form and alias",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "entries whose partition has another alias, other keys or other types, or whose offset is no number",
		Why:        "No task ever reads them. They tell of an earlier alias or a wrong import, whose progress was meant to count. Apply and start refuse them too.",
		Remedy:     "Find out where it comes from; then remove it, while the connector is STOPPED: " + patch(`<SCOPE>`, `null`) + ", with the partition that the finding names. Where the connector has nothing to keep, remove all: " + deleteAll + ".",
		Judge:      offsetsForeign,
	}, {
		ID:         "offsets/unplanned",
		Title:      "Every stored offset belongs to this plan or to an earlier one that it names",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "stored partitions of this alias that neither the migration nor an earlier plan covers",
		Why:        "Offsets outlive their connector. A partition that the plan does not know would go on from where somebody else left it. Apply and start refuse them too.",
		Remedy:     "Plan again with the earlier plan that wrote it, or with its topic among those of the migration; or remove it, while the connector is STOPPED: " + patch(mirrorPartition, `null`) + ". Where the connector has nothing to keep, remove all: " + deleteAll + ".",
		Judge:      offsetsUnplanned,
	}, {
		ID:         "offsets/earlier-rewound",
		Title:      "No partition of an earlier plan was set back",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "stored offsets of the partitions that earlier plans wrote, against what they wrote",
		Why:        "The connector would copy the partition again from there, or from its first record where the offset is gone, and this plan says nothing of it.",
		Remedy:     "Find out who set it back, and how far the connector had copied. Then write that offset, at least the earlier plan's, while the connector is STOPPED: " + patch(mirrorPartition, `{"offset":<M>}`) + ".",
		Judge:      offsetsRewound,
	}, {
		ID:         "offsets/rewind",
		Title:      "No stored offset is above the planned one",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "stored offsets M against C - 1",
		Why:        "The connector, or an earlier plan, was further: going back copies records again.",
		Remedy:     "If the connector has copied beyond C, there is nothing to carry over for the partition. To go back all the same, accept <PARTITION>:<COUNT>.",
		Judge:      offsetsRewind,
	}, {
		ID:         "offsets/skip",
		Title:      "No stored offset is below the planned one",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "stored offsets M against C - 1",
		Why:        "The connector, or an earlier plan, stood there: writing the plan skips the records between, which only the old job can have copied.",
		Remedy:     "Make sure that the old job copied them (the target holds the record before C), then accept <PARTITION>:<COUNT>.",
		Judge:      offsetsSkip,
	}}
}

// mirrorOffsets reads the stored offsets as the connector would.
func (c *Case) mirrorOffsets() offsetmap.Fact[connectrest.MirrorOffsets] {
	return derive(c.policy, c.Facts.Stored, func(p policy, all []connectrest.Offset) (connectrest.MirrorOffsets, error) {
		return connectrest.MirrorSourceOffsets(p.source, all)
	})
}

func offsetsUnknown(c *Case, _ settings, r *Reporter) {
	_, named := c.policy.Get()
	_, ok := c.stored.Get()
	switch {
	case !named || ok: // without the alias, config/replication-policy blocks
	case c.stored.IsAbsent():
		r.Unknown("", fmt.Errorf("the worker showed connector %s, and then had no offsets of that name", c.Facts.Name))
	default:
		r.Unknown("", c.stored.Err())
	}
}

func offsetsForeign(c *Case, r *Reporter) {
	stored, _ := c.stored.Get()
	for _, f := range stored.Foreign {
		scope, err := offsetmap.Canonical(f.Partition)
		if err != nil {
			scope = f.Partition
		}
		r.Block(string(scope), "the stored entry %s", f)
	}
}

// sortedStored returns the stored partitions, sorted.
func (c *Case) sortedStored() ([]offsetmap.TopicPartition, map[offsetmap.TopicPartition]offsetmap.SourceOffset) {
	stored, _ := c.stored.Get()
	return slices.SortedFunc(maps.Keys(stored.Stored), offsetmap.TopicPartition.Compare), stored.Stored
}

// diff holds the stored offsets against the partitions of the migration and of
// the earlier plans, as apply and start will by the sealed plan.
func (c *Case) diff() offsetmap.Diff {
	plan := offsetmap.Plan{Body: offsetmap.Body{Earlier: c.Question.Earlier, Rows: make([]offsetmap.Row, 0, len(c.measured))}}
	for tp := range c.measured {
		plan.Body.Rows = append(plan.Body.Rows, offsetmap.Row{TopicPartition: tp})
	}
	_, source := c.Facts.Source.Get()
	stored, ok := c.stored.Get()
	if !source || !ok {
		return offsetmap.Diff{} // source/unknown, offsets/unknown
	}
	return plan.Diff(stored.Stored)
}

func offsetsUnplanned(c *Case, r *Reporter) {
	for _, row := range c.beside.Only(offsetmap.Unplanned) {
		r.Block(row.TopicPartition.String(), "%s", row)
	}
}

func offsetsRewound(c *Case, r *Reporter) {
	for _, row := range c.beside.Only(offsetmap.Rewound) {
		r.Block(row.TopicPartition.String(), "%s", row)
	}
}

// planned returns the C of each partition for which one is decided, or, while
// the rules block, stored by the old job.
func (c *Case) planned() map[offsetmap.TopicPartition]offsetmap.NextOffset {
	out := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
	for _, p := range c.Question.Positions {
		if !p.Next.IsNone() {
			out[p.TopicPartition] = p.Next
		}
	}
	for _, row := range c.Rows {
		out[row.TopicPartition] = row.Next
	}
	return out
}

// eachMoved calls f for every stored offset that the plan would move, with the
// number of offsets from where it stands to C.
func (c *Case) eachMoved(f func(tp offsetmap.TopicPartition, m offsetmap.SourceOffset, next offsetmap.NextOffset, by int64)) {
	planned := c.planned()
	order, stored := c.sortedStored()
	for _, tp := range order {
		next, ok := planned[tp].Value()
		m, there := stored[tp].Value()
		if by := next - 1 - m; ok && there && by != 0 {
			f(tp, stored[tp], planned[tp], by)
		}
	}
}

func offsetsRewind(c *Case, r *Reporter) {
	c.eachMoved(func(tp offsetmap.TopicPartition, m offsetmap.SourceOffset, next offsetmap.NextOffset, by int64) {
		if by < 0 {
			n := uint64(-by) // also for M = 2^63 - 1 and C = 0
			r.Block(fmt.Sprintf("%s:%d", tp, n), "stored is M = %s, C = %s lies %d before what follows it: those would be copied again", m, next, n)
		}
	})
}

func offsetsSkip(c *Case, r *Reporter) {
	c.eachMoved(func(tp offsetmap.TopicPartition, m offsetmap.SourceOffset, next offsetmap.NextOffset, by int64) {
		if by > 0 {
			r.Block(fmt.Sprintf("%s:%d", tp, by), "stored is M = %s, C = %s lies %d beyond what follows it: the connector would not copy those", m, next, by)
		}
	})
}
