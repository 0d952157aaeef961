package preflight

import (
	"fmt"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func sourceGroupChecks() []Check {
	const looks = "the old job's committed offsets (OffsetFetch, without those of open transactions)"
	return []Check{{
		ID:         "source/group-ahead",
		Title:      "The group is not ahead of the savepoint",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + " against the positions of the savepoint; of partitions that it never read, against the log start, where C would be",
		Why:        "Behind is normal: after stop-with-savepoint groups keep the last periodic checkpoint's offset. Ahead means that somebody read on after the savepoint: the job runs again, auto-commit is on, or the savepoint is not the last one. Ahead only by markers of transactions, or by aborted records that the job was not shown, is no alarm, where the source was read and shows it.",
		Remedy:     "Find the newest savepoint of the job and plan from it. Where the group was moved by hand, accept <PARTITION>:<COUNT>.",
		Judge:      groupAhead,
	}, {
		ID:         "source/group-unknown",
		Title:      "The group that was named can be read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks,
		Why:        "A group that is ahead is the one sign on the source that the savepoint is not the last word, and it would go unseen.",
		Remedy:     "Grant Read on the group and its topics (`kafka-acls.sh --bootstrap-server <SOURCE> --add --allow-principal User:<USER> --operation Read --group <GROUP> --topic <NAME>`), wait until a transaction that commits offsets has ended, and run preflight again. An offset that no reader commits, such as a negative one, was set by hand. Or name no group (positions.group, PlanRequest.Group).",
		Judge: func(c *Case, r *Reporter) {
			_, known := c.Facts.Source.Get() // else source/unknown
			if known && c.Facts.GroupID != "" && c.Facts.Group.Err() != nil {
				r.Unmade(c.Facts.GroupID, c.Facts.Group.Err())
			}
		},
	}, {
		ID:         "source/group-absent",
		Title:      "The group that was named is a consumer group with committed offsets of the topics",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks,
		Why:        "Either it is not the old job's, and says nothing of it; or its offsets have expired, or the job never committed any (commit.offsets.on.checkpoint is false, or checkpointing is off). A share group, a streams group and one of Connect workers hold no position of a Flink job.",
		Remedy:     "Correct the name (`kafka-consumer-groups.sh --bootstrap-server <SOURCE> --list`). Offsets of a group without members expire offsets.retention.minutes after their commit, by default 7 days: where that, or the job's settings, explain it, accept the check with the group as scope, <GROUP>, or name no group; the positions come from the savepoint.",
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
		Why:        "It shows that savepoint and group are of the same job. Behind is as many records as would be copied twice if the group were planned from; missing are partitions without a record, or whose offsets have expired. The state of the group shows nothing of the job: a KafkaSource assigns its partitions itself, so its group is Empty while it runs. Whether somebody commits to it takes two looks.",
		Remedy:     "Nothing: it is for the reader of the plan. To look twice, name the time between (positions.groupWindow, WithGroupWindow), longer than the interval of the job's checkpoints.",
		Judge:      groupCompared,
	}, {
		ID:         "source/group-moved",
		Title:      "The group stands still",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the group's offsets at two looks over the window that was asked for; a moment after positions were read from it; at the start, against the plan's",
		Why:        "Somebody still commits to the group: the job runs.",
		Remedy:     "Stop the job, and make a new plan: from its last savepoint, or from the group as it stands then.",
		Judge:      groupMoved,
	}, {
		ID:         "source/group-unproven",
		Title:      "A group that is planned from is shown to stand still",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the group's offsets at two looks, and the time between them against the interval of the checkpoints that is attested",
		Why:        "One look cannot tell a stopped job from one that runs, nor can the state of the group: it is Empty in both. A job that runs commits with each checkpoint.",
		Remedy:     "Look over a longer time than the interval of the job's checkpoints (positions.groupWindow, WithGroupWindow), or plan from a savepoint. Where the job is known to have ended, accept the check with the group as scope, <GROUP>.",
		Judge:      groupUnproven,
	}, {
		ID:         "source/group-missing",
		Title:      "The group has an offset of every partition",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      looks + " against the partitions of the topics, and against the positions of the savepoint",
		Why:        "Where positions come from the group, nobody knows where the job stood in the partition: neither 0 nor the end is a guess to make. Where they come from a savepoint, the group is but a weaker witness: the finding says so, and the plan has its positions.",
		Remedy:     "Plan from a savepoint. " + strings.ToUpper(flinkstate.OffsetExpiry[:1]) + flinkstate.OffsetExpiry[1:] + ".",
		Judge:      groupMissing,
	}, {
		ID:         "source/group-active",
		Title:      "Nobody holds the group as its member",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "state, kind and members of the group (DescribeGroups, ListGroups, ConsumerGroupDescribe)",
		Why:        "A KafkaSource never joins its group. Whoever does commits to it for itself, so its offsets are not the job's alone: as a witness beside a savepoint that is a warning, as the source of positions it is none.",
		Remedy:     "Find out whose the members are, by client id and host. Correct the name of the group, or stop them. Where they are known to commit nothing, accept the check with the group as scope, <GROUP>.",
		Judge:      groupActive,
	}}
}

// groupCompared tells the reader of a plan how far the group is a witness.
func groupCompared(c *Case, r *Reporter) {
	compared, read := c.comparison()
	if !read {
		return
	}
	text := fmt.Sprintf("group %s: %s", c.Facts.GroupID, compared)
	if d, known := c.Facts.GroupDescribed.Get(); known {
		text += "; it is " + d.State
		if !d.Active() {
			text += ", as it also is while a KafkaSource runs"
		}
	}
	text += "; " + c.Facts.GroupMovement.String()
	if reason := c.windowTooShort(); reason != "" && c.Facts.GroupMovement.Verdict == flinkstate.StoodStill {
		text += ", which shows nothing: " + reason
	}
	r.Info(c.Facts.GroupID, "%s", text)
}

func groupMoved(c *Case, r *Reporter) {
	m := c.Facts.GroupMovement
	said := map[offsetmap.TopicPartition]bool{}
	if committed, _ := c.Facts.Group.Get(); c.Question.Origin == offsetmap.FromGroup {
		for _, p := range c.Question.Positions { // the rules say it of those
			said[p.TopicPartition] = committed[p.TopicPartition] != p.Next
		}
	}
	for _, move := range m.Moved {
		if tp := move.TopicPartition; !said[tp] {
			said[tp] = true
			r.Block(tp.String(), "group %s: %s, within a window of %s: somebody commits to it, so the job runs, whatever the state of the group", c.Facts.GroupID, move, m.Window)
		}
	}
}

func groupUnproven(c *Case, r *Reporter) {
	if _, read := c.Facts.Group.Get(); !read || c.Question.Origin != offsetmap.FromGroup {
		return
	}
	m := c.Facts.GroupMovement
	switch reason := c.windowTooShort(); {
	case m.Verdict == flinkstate.StillnessNotProven:
		r.Block(c.Facts.GroupID, "group %s is %s", c.Facts.GroupID, m)
	case m.Verdict == flinkstate.StoodStill && reason != "":
		r.Block(c.Facts.GroupID, "group %s is not proven to stand still: %s", c.Facts.GroupID, reason)
	}
}

// windowTooShort says why the window shows nothing, where the interval of the
// checkpoints is attested.
func (c *Case) windowTooShort() string {
	a := c.Question.Attestations.Checkpointing
	if a == nil {
		return "" // attest/checkpointing
	}
	interval, err := time.ParseDuration(a.Value)
	if window := c.Facts.GroupMovement.Window; err == nil && window <= interval {
		return fmt.Sprintf("it was looked at over %s, and the job commits once in %s", window, interval)
	}
	return ""
}

func groupMissing(c *Case, r *Reporter) {
	committed, read := c.Facts.Group.Get()
	if !read {
		return
	}
	if c.Question.Origin == offsetmap.FromGroup {
		for tp, m := range c.measured {
			// Where no record ever was, no job has committed, and C is 0.
			if committed[tp].IsNone() && m.Range.End != offset0 {
				r.Block(tp.String(), "missing: group %s has no committed offset of it: not read from, never committed, or expired: %s", c.Facts.GroupID, flinkstate.OffsetExpiry)
			}
		}
		return
	}
	compared, _ := c.comparison()
	if gone := compared.Lacking(); len(gone) > 0 {
		r.Info(c.Facts.GroupID, "group %s lacks %d of the partitions that the savepoint has a position of: %s: never committed, or expired; C comes from the savepoint", c.Facts.GroupID, len(gone), some(partitionsOf(gone)))
	}
}

func partitionsOf(compared []flinkstate.Compared) []offsetmap.TopicPartition {
	out := make([]offsetmap.TopicPartition, len(compared))
	for i, p := range compared {
		out[i] = p.TopicPartition
	}
	return out
}

func groupActive(c *Case, r *Reporter) {
	d, known := c.Facts.GroupDescribed.Get()
	switch {
	case !known || !d.Active():
	case c.Question.Origin == offsetmap.FromGroup:
		r.Block(c.Facts.GroupID, "%s; a KafkaSource never joins its group", d)
	default:
		r.Warn(c.Facts.GroupID, "%s; a KafkaSource never joins its group, so what it holds is not the job's alone", d)
	}
}

func groupAhead(c *Case, r *Reporter) {
	compared, _ := c.comparison()
	for _, p := range compared {
		switch p.Relation {
		case flinkstate.Ahead:
			if !p.Between.Hollow() {
				r.Block(fmt.Sprintf("%s:%d", p.TopicPartition, p.By), "the group has committed %s, %d beyond C = %s of the savepoint%s", p.Committed, p.By, p.Next, c.whyUnexplained(p))
			}
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

// whyUnexplained says why nothing is known of what lies between, where it was to
// be looked into.
func (c *Case) whyUnexplained(p flinkstate.Compared) string {
	if err := c.Facts.unexplained[p.TopicPartition]; err != nil && p.Between == "" {
		return fmt.Sprintf(" (what lies between could not be read: %v)", err)
	}
	return ""
}
