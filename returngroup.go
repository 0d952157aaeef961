package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// groupLook is what was seen of a consumer group at one moment.
type groupLook struct {
	id        string
	committed endsByPartition
	state     string // empty: the brokers know no such group
	// joined says that the group has, or once had, members of the classic
	// protocol. A group that is only committed to has none.
	joined  bool
	members []string // clients and their hosts, sorted
	err     error    // why the rest is not known
}

func (m *Migration) lookAtGroup(ctx context.Context, group string, plan *offsetmap.Plan) groupLook {
	look := groupLook{id: group}
	read, err := m.groups().Read(ctx, group, topicsOf(plan)...)
	switch {
	case errors.Is(err, flinkstate.ErrNoGroup):
		return look
	case err != nil && !errors.Is(err, flinkstate.ErrNoCommit):
		look.err = err
		return look
	}
	look.committed = read.Committed()
	look.state, look.joined = read.State, read.Type == flinkstate.ClassicGroup && read.ProtocolType != ""
	for _, member := range read.Members {
		look.members = append(look.members, member.String())
	}
	return look
}

// committed reads what the group holds of the plan's topics. It does not wait for
// open transactions: whoever reads a commit back has a bound of its own.
func (m *Migration) committed(ctx context.Context, group string, plan *offsetmap.Plan) (endsByPartition, error) {
	read, err := m.groups(flinkstate.WithStableTimeout(0)).Read(ctx, group, topicsOf(plan)...)
	switch {
	case errors.Is(err, flinkstate.ErrNoGroup), errors.Is(err, flinkstate.ErrNoCommit):
		return endsByPartition{}, nil
	case err != nil:
		return nil, err
	default:
		return read.Committed(), nil
	}
}

// findings holds the group to what an ended job leaves behind: no member, and
// each offset where the plan saw it. One that is at C' is in order only where
// an earlier commit of the plan may have put it there: a job that has nothing to
// read commits just that.
func (g groupLook) findings(plan *offsetmap.Plan, back []offsetmap.Reverse, earlier handed) []offsetmap.Finding {
	var out []offsetmap.Finding
	find := func(check, scope string, a offsetmap.Acceptable, format string, args ...any) {
		out = append(out, offsetmap.Finding{Check: check, Severity: offsetmap.Block, Scope: scope, Detail: fmt.Sprintf(format, args...), Acceptable: a})
	}
	if g.err != nil {
		find("rollback/group-unknown", "", offsetmap.Never, "%v", g.err)
		out[0].Unmade = true
		return out
	}
	switch {
	case g.state != "" && g.state != "Empty", len(g.members) > 0:
		find("rollback/group-active", "", offsetmap.Never, "group %s is %s: %s", g.id, g.state, g.whose())
	case g.joined:
		find("rollback/group-expiring", "", offsetmap.Never,
			"group %s has had members, so its offsets expire by when the last one left, which no API tells, and not by when they are committed: they may be gone minutes later", g.id)
	}
	recorded, saw := recordedOffsets(plan, g.id)
	for _, p := range back {
		now, then := g.committed[p.TopicPartition], recorded[p.TopicPartition]
		n, _ := now.Sub(p.Next)
		held := fmt.Sprintf("it held %s when the plan was made", then)
		if !saw {
			held = "the plan recorded nothing of that group"
		}
		switch {
		case now.IsNone() || saw && now == then && n <= 0:
		case n == 0 && earlier.sent:
		case n == 0:
			find("rollback/group-moved", p.String()+":0", offsetmap.Exact,
				"group %s holds C' = %s already, %s, and the journal has no commit of the plan to it: somebody else has committed, perhaps a job that runs from there", g.id, now, held)
		case n > 0:
			find("rollback/group-ahead", fmt.Sprintf("%s:%d", p, n), offsetmap.Exact,
				"group %s holds %s, %d beyond C' = %s: somebody read on, and committing C' makes it read those again", g.id, now, n, p.Next)
		case !saw:
			find("rollback/group-moved", fmt.Sprintf("%s:%d", p, -n), offsetmap.Exact,
				"group %s holds %s, and %s; committing C' = %s moves it on by %d", g.id, now, held, p.Next, -n)
		default:
			find("rollback/group-moved", fmt.Sprintf("%s:%d", p, -n), offsetmap.Exact,
				"group %s holds %s, %s: somebody has committed since; committing C' = %s moves it on by %d", g.id, now, held, p.Next, -n)
		}
	}
	return out
}

func (g groupLook) whose() string {
	if len(g.members) == 0 {
		return "it has members, or is about to"
	}
	return "its members are " + strings.Join(g.members, ", ")
}

// groupLooks are the groups that are looked at before a boundary is committed.
type groupLooks struct {
	to groupLook
	// job is the group that the plan recorded of the old job, where C' goes to
	// another one; nil elsewhere.
	job *groupLook
}

func (m *Migration) lookAtGroups(ctx context.Context, group string, plan *offsetmap.Plan) groupLooks {
	out := groupLooks{to: m.lookAtGroup(ctx, group, plan)}
	if own := plan.Body.Group; own != nil && own.ID != group {
		look := m.lookAtGroup(ctx, own.ID, plan)
		out.job = &look
	}
	return out
}

func (g groupLooks) findings(plan *offsetmap.Plan, back []offsetmap.Reverse, earlier handed) []offsetmap.Finding {
	out := g.to.findings(plan, back, earlier)
	if g.job != nil {
		out = append(out, g.job.stoodStill(plan, back, earlier)...)
	}
	return out
}

func (g groupLooks) movedTo(later groupLooks) []offsetmap.Finding {
	out := g.to.movedTo(later.to)
	if g.job != nil && later.job != nil {
		out = append(out, g.job.movedTo(*later.job)...)
	}
	return out
}

// stoodStill holds the old job's own group to what the plan recorded of it. A
// commit since then is of a job that runs, or ran beside MirrorMaker 2, unless the
// boundary went there before; one that has expired shows nothing.
func (g groupLook) stoodStill(plan *offsetmap.Plan, back []offsetmap.Reverse, earlier handed) []offsetmap.Finding {
	var out []offsetmap.Finding
	find := func(check, scope string, a offsetmap.Acceptable, format string, args ...any) {
		out = append(out, offsetmap.Finding{Check: check, Severity: offsetmap.Block, Scope: scope, Detail: fmt.Sprintf(format, args...), Acceptable: a})
	}
	if g.err != nil {
		find("rollback/group-unknown", g.id, offsetmap.Never, "the old job's own group: %v", g.err)
		out[0].Unmade = true
		return out
	}
	if g.state != "" && g.state != "Empty" || len(g.members) > 0 {
		find("rollback/group-active", g.id, offsetmap.Never, "the old job's own group %s is %s: %s", g.id, g.state, g.whose())
	}
	recorded, _ := recordedOffsets(plan, g.id)
	ours := endsByPartition{}
	if earlier.toGroup(g.id) {
		for _, p := range back {
			ours[p.TopicPartition] = p.Next
		}
	}
	for _, row := range plan.Body.Rows {
		now, then := g.committed[row.TopicPartition], recorded[row.TopicPartition]
		if !now.IsNone() && now != then && now != ours[row.TopicPartition] {
			find("rollback/group-moved", fmt.Sprintf("%s:%s:%s", g.id, row.TopicPartition, now), offsetmap.Exact,
				"the old job's own group %s holds %s, it held %s when the plan was made: somebody has committed since, perhaps the job", g.id, now, then)
		}
	}
	return out
}

// movedTo holds the group to what it was at an earlier look.
func (g groupLook) movedTo(later groupLook) []offsetmap.Finding {
	if g.err != nil || later.err != nil {
		return nil // which is a finding by itself
	}
	var out []offsetmap.Finding
	for _, d := range differences("the offset", g.committed, later.committed) {
		out = append(out, offsetmap.Finding{
			Check: "rollback/group-active", Severity: offsetmap.Block, Acceptable: offsetmap.Never,
			Detail: fmt.Sprintf("somebody commits to group %s: %s between two looks", g.id, d),
		})
	}
	return out
}

// recordedOffsets returns what the group held when the plan was made, and false
// when the plan says nothing of that group.
func recordedOffsets(plan *offsetmap.Plan, group string) (endsByPartition, bool) {
	if plan.Body.Group == nil || plan.Body.Group.ID != group {
		return nil, false
	}
	out := make(endsByPartition, len(plan.Body.Rows))
	for _, r := range plan.Body.Rows {
		out[r.TopicPartition] = r.Group
	}
	return out, true
}
