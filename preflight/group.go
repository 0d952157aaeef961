package preflight

import (
	"context"
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var errNoTopic = errors.New("none of the migration's topics can be read")

func (p Probe) observeGroup(ctx context.Context, f *Facts, topics []string) {
	switch {
	case p.Group == "":
		return
	case len(topics) == 0: // ReadGroup would read all
		f.Group = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.NextOffset](errNoTopic)
		return
	}
	group, err := flinkstate.ReadGroup(ctx, p.Source, p.Group, topics...)
	switch {
	case err == nil:
		f.Group = offsetmap.Known(group.Committed())
	case errors.Is(err, flinkstate.ErrNoGroup), errors.Is(err, flinkstate.ErrNoCommit):
		f.Group, f.noGroup = offsetmap.Absent[map[offsetmap.TopicPartition]offsetmap.NextOffset](), err
	default:
		f.Group = offsetmap.NotKnown[map[offsetmap.TopicPartition]offsetmap.NextOffset](err)
	}
}

func sourceGroupChecks() []Check {
	const looks = "the old job's committed offsets (OffsetFetch, without those of open transactions)"
	return []Check{{
		ID:         "source/group-ahead",
		Title:      "The group is not ahead of the savepoint",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + " against the positions of the savepoint; of partitions that it never read, against the log start, where C would be",
		Why:        "Behind is normal: after stop-with-savepoint groups keep the last periodic checkpoint's offset. Ahead means that somebody read on after the savepoint: the job runs again, auto-commit is on, or the savepoint is not the last one.",
		Remedy:     "Find the newest savepoint of the job and plan from it. Where the group was moved by hand, accept PARTITION:COUNT.",
		Judge:      groupAhead,
	}, {
		ID:         "source/group-unknown",
		Title:      "The group that was named can be read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks,
		Why:        "A group that is ahead is the one sign on the source that the savepoint is not the last word, and it would go unseen.",
		Remedy:     "Grant Read on the group and its topics (kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal User:NAME --operation Read --group GROUP --topic TOPIC), wait until a transaction that commits offsets has ended, and run preflight again. Or name no group (positions.group, PlanRequest.Group).",
		Judge: func(c *Case, r *Reporter) {
			_, known := c.Facts.Source.Get() // else source/unknown
			if known && c.Facts.GroupID != "" && c.Facts.Group.Err() != nil {
				r.Unmade(c.Facts.GroupID, c.Facts.Group.Err())
			}
		},
	}, {
		ID:         "source/group-absent",
		Title:      "The group that was named has committed offsets of the topics",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks,
		Why:        "Either it is not the old job's, and says nothing of it; or its offsets have expired, or the job never committed any (commit.offsets.on.checkpoint is false, or checkpointing is off).",
		Remedy:     "Correct the name (kafka-consumer-groups.sh --bootstrap-server SOURCE --list). Offsets of a group without members expire offsets.retention.minutes after their commit, by default 7 days: where that, or the job's settings, explain it, accept the check with the GROUP as scope, or name no group; the positions come from the savepoint.",
		Judge: func(c *Case, r *Reporter) {
			if c.Facts.GroupID != "" && c.Facts.Group.IsAbsent() {
				r.Block(c.Facts.GroupID, "%s", c.Facts.noCommit())
			}
		},
	}, {
		ID:         "source/group-compared",
		Title:      "The group is compared with the savepoint",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      looks + " against the positions of the savepoint, partition by partition",
		Why:        "It shows that savepoint and group are of the same job. Behind is as many records as would be copied twice if the group were planned from; missing are partitions without a record, or whose offsets have expired.",
		Remedy:     "Nothing: it is for the reader of the plan.",
		Judge: func(c *Case, r *Reporter) {
			if compared, read := c.comparison(); read {
				r.Info(c.Facts.GroupID, "group %s: %s", c.Facts.GroupID, compared)
			}
		},
	}}
}

// noCommit says what is absent.
func (f Facts) noCommit() string {
	if f.noGroup == nil {
		return fmt.Sprintf("consumer group %s has committed nothing of the topics", f.GroupID)
	}
	return f.noGroup.Error()
}

// comparison returns the group against the savepoint, and false when no group
// was read. Where positions come from the group itself, source/group-moved is
// the rule.
func (c *Case) comparison() (flinkstate.Comparison, bool) {
	committed, known := c.Facts.Group.Get()
	if !known || c.Question.Origin != offsetmap.FromSavepoint {
		return nil, false
	}
	return flinkstate.Compare(c.Question.Positions, committed), true
}

func groupAhead(c *Case, r *Reporter) {
	compared, _ := c.comparison()
	for _, p := range compared {
		switch p.Relation {
		case flinkstate.Ahead:
			r.Block(fmt.Sprintf("%s:%d", p.TopicPartition, p.By), "the group has committed %s, %d beyond C = %s of the savepoint", p.Committed, p.By, p.Next)
		case flinkstate.Unread:
			// Each rule that decides a partition without a position leads to the log
			// start. Without one, the partition blocks by itself.
			start := c.measured[p.TopicPartition].Range.Start
			if n, _ := p.Committed.Sub(start); n > 0 {
				r.Block(fmt.Sprintf("%s:%d", p.TopicPartition, n),
					"the savepoint has no position of the partition, as if it was never read, and the group has committed %s, %d beyond the log start %s, where copying would begin", p.Committed, n, start)
			}
		}
	}
}
