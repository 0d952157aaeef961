package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// RestartMarkKind is the kind of a RestartMark file.
const RestartMarkKind = "RestartMark"

// RestartMark is how a running migration stood before its workers were restarted
// on purpose, for AfterRestart to hold what comes afterwards to it.
type RestartMark struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	CreatedAt  offsetmap.Time    `json:"createdAt"`
	Plan       string            `json:"plan"` // digest
	Connector  string            `json:"connector"`
	Tasks      []MarkedTask      `json:"tasks"`      // sorted by id
	Partitions []MarkedPartition `json:"partitions"` // sorted
}

// MarkedTask is a task, and who ran it.
type MarkedTask struct {
	ID     int    `json:"id"`
	Worker string `json:"worker"` // worker_id: the host and port that it advertises
	// Member is the worker's id in the group of the workers, which it gets anew
	// whenever its process starts. Empty where the group cannot be seen.
	Member string `json:"member"`
}

// MarkedPartition is where a partition stood.
type MarkedPartition struct {
	offsetmap.TopicPartition
	// Stored is M as Connect held it, from which a task goes on at the least; null
	// when it held none, and then the task begins at C again.
	Stored   offsetmap.SourceOffset `json:"stored"`
	Copied   int64                  `json:"copied"`
	Repeated int64                  `json:"repeated"` // target records that were there twice before
}

// RestartProof says what a Proof shows of a restart of the workers.
type RestartProof struct {
	MarkedAt offsetmap.Time `json:"markedAt"`
	// Copied counts the source records that came since the mark, Repeated the target
	// records that came a second time.
	Copied   int64 `json:"copied"`
	Repeated int64 `json:"repeated"`
	// Allowed is how many repeats one restart explains: the source offsets from what
	// Connect had stored at the mark up to what is proven. Delivery is at least once.
	Allowed int64           `json:"allowed"`
	Tasks   []RestartedTask `json:"tasks"` // sorted by id
	// Open is what the restart did not show, beside the outcome of the proof.
	Open []string `json:"open"`
}

// RestartedTask is a task after a restart.
type RestartedTask struct {
	ID     int    `json:"id"`
	Before string `json:"before"` // worker_id at the mark; empty when there was no such task
	After  string `json:"after"`
	// Restarted says that it runs on another worker, or in another process of the
	// same.
	Restarted bool `json:"restarted"`
}

// MarkRestart proves that the target is caught up with the source, and returns
// where everything stands, for a restart that follows. Without proof, or when not
// all tasks are RUNNING, there is no mark: the error is as of Watch.
func (m *Migration) MarkRestart(ctx context.Context, plan *offsetmap.Plan, o WatchOptions) (*RestartMark, *Proof, error) {
	o.Until = UntilCaughtUp()
	if o.Shard != (Shard{}) {
		return nil, nil, errors.New("mark restart: a restart is of all shards: mark the whole plan")
	}
	p, err := m.Watch(ctx, plan, o)
	if err != nil {
		return nil, p, fmt.Errorf("mark restart: %w", err)
	}
	tasks, err := m.runningTasks(ctx, plan)
	if err != nil {
		return nil, p, fmt.Errorf("mark restart: %w", err)
	}
	stored, err := m.stored(ctx, plan)
	if err != nil {
		return nil, p, fmt.Errorf("mark restart: %w: the stored offsets: %w", ErrNotKnown, err)
	}
	mark := &RestartMark{
		APIVersion: offsetmap.APIVersion, Kind: RestartMarkKind, CreatedAt: offsetmap.At(m.now()),
		Plan: plan.Digest, Connector: plan.Body.Connector.Name, Tasks: tasks,
	}
	for _, one := range p.Partitions {
		mark.Partitions = append(mark.Partitions, MarkedPartition{one.TopicPartition, stored[one.TopicPartition], one.Copied, one.Repeated})
	}
	return mark, p, nil
}

// AfterRestart proves that the copying went on from Connect's offsets when the
// workers were restarted after the mark. It watches until the target is caught up,
// and asks beside the proof of all records: that each task runs again, on another
// worker or in another process of the same; that all are RUNNING; that records
// came since; that no stored offset went back; and that no more came twice than one
// restart explains. What is not shown is an ErrNotProven, and the Proof, which
// then has Restart, says how it stands.
func (m *Migration) AfterRestart(ctx context.Context, plan *offsetmap.Plan, mark *RestartMark, o WatchOptions) (*Proof, error) {
	p, err := m.afterRestart(ctx, plan, mark, o)
	return p, m.recordProof(ctx, p, err)
}

func (m *Migration) afterRestart(ctx context.Context, plan *offsetmap.Plan, mark *RestartMark, o WatchOptions) (*Proof, error) {
	o.Until = UntilCaughtUp()
	switch err := plan.Check(); {
	case err != nil:
		return nil, fmt.Errorf("after restart: %w", err)
	case o.Shard != (Shard{}):
		return nil, errors.New("after restart: a restart is of all shards: watch the whole plan")
	case mark.Plan != plan.Digest || mark.Connector != plan.Body.Connector.Name:
		return nil, fmt.Errorf("after restart: %w: the mark is of plan %s and connector %q, not of plan %s and connector %q", ErrMoved, mark.Plan, mark.Connector, plan.Digest, plan.Body.Connector.Name)
	}
	if err := mark.of(plan); err != nil {
		return nil, fmt.Errorf("after restart: %w", err)
	}
	p, err := m.watch(ctx, plan, o)
	if p == nil {
		return nil, fmt.Errorf("after restart: %w", err)
	}
	lacks := mark.holdTo(p)
	tasks, running := m.runningTasks(ctx, plan)
	if running != nil {
		lacks = append(lacks, running.Error())
	}
	lacks = append(lacks, mark.restarted(tasks, p.Restart)...)
	stored, unread := m.stored(ctx, plan)
	if unread != nil {
		lacks = append(lacks, fmt.Sprintf("the stored offsets are not known: %v", unread))
	} else {
		for _, was := range mark.Partitions {
			before, some := was.Stored.Value()
			if now, still := stored[was.TopicPartition].Value(); some && (!still || now < before) {
				lacks = append(lacks, fmt.Sprintf("%s: Connect stores %s, and stored %s at the mark", was.TopicPartition, stored[was.TopicPartition], was.Stored))
			}
		}
	}
	p.Restart.Open = append(p.Restart.Open, lacks...)
	switch {
	case err != nil:
		return p, fmt.Errorf("after restart: %w", err)
	case len(lacks) > 0:
		return p, fmt.Errorf("after restart: %w:\n  %s", ErrNotProven, strings.Join(lacks, "\n  "))
	}
	return p, nil
}

// holdTo fills what the proof says of the restart, and returns what it does not
// show.
func (r *RestartMark) holdTo(p *Proof) (lacks []string) {
	out := &RestartProof{MarkedAt: r.CreatedAt, Tasks: []RestartedTask{}, Open: []string{}}
	p.Restart = out
	for i, one := range p.Partitions {
		was := r.Partitions[i]
		from := one.Next
		if !was.Stored.IsNone() {
			from = was.Stored.Next()
		}
		allowed, _ := one.End.Sub(from)
		allowed = max(0, allowed)
		repeated := one.Repeated - was.Repeated
		out.Copied, out.Repeated, out.Allowed = out.Copied+one.Copied-was.Copied, out.Repeated+repeated, out.Allowed+allowed
		if repeated > allowed {
			lacks = append(lacks, fmt.Sprintf("%s: %d records came twice since the mark, and one restart explains %d: the task did not go on from Connect's offset, or was restarted several times", one.TopicPartition, repeated, allowed))
		}
	}
	if out.Copied <= 0 {
		lacks = append(lacks, "no record came since the mark, so nothing shows that the copying goes on: wait for records on the source")
	}
	return lacks
}

// restarted fills the tasks, and returns those that are not shown to have been
// restarted.
func (r *RestartMark) restarted(now []MarkedTask, out *RestartProof) (lacks []string) {
	for _, t := range now {
		one := RestartedTask{ID: t.ID, After: t.Worker}
		if i := slices.IndexFunc(r.Tasks, func(was MarkedTask) bool { return was.ID == t.ID }); i >= 0 {
			was := r.Tasks[i]
			one.Before = was.Worker
			one.Restarted = was.Worker != t.Worker || was.Member != "" && t.Member != "" && was.Member != t.Member
			switch {
			case one.Restarted:
			case was.Member == "" || t.Member == "":
				lacks = append(lacks, fmt.Sprintf("task %d runs on the worker %s as before, and the group of the workers cannot be seen, which would tell whether that started again", t.ID, t.Worker))
			default:
				lacks = append(lacks, fmt.Sprintf("task %d runs on the worker %s, in the same process as at the mark", t.ID, t.Worker))
			}
		} else {
			one.Restarted = true // it did not run at the mark
		}
		out.Tasks = append(out.Tasks, one)
	}
	return lacks
}

// runningTasks returns the tasks, all of which must be RUNNING, and who runs them.
func (m *Migration) runningTasks(ctx context.Context, plan *offsetmap.Plan) ([]MarkedTask, error) {
	status, err := m.cfg.Connect.Status(ctx, m.cfg.Connector)
	if err != nil {
		return nil, fmt.Errorf("%w: the status of connector %s: %w", ErrNotKnown, m.cfg.Connector, err)
	}
	if !running(status) {
		return nil, fmt.Errorf("%w: connector %s is %s, and of %d tasks not all are RUNNING", ErrNotProven, m.cfg.Connector, status.Connector.State, len(status.Tasks))
	}
	members := m.members(ctx, plan, status)
	tasks := make([]MarkedTask, 0, len(status.Tasks))
	for _, t := range status.Tasks {
		tasks = append(tasks, MarkedTask{ID: t.ID, Worker: t.WorkerID, Member: members[t.WorkerID]})
	}
	slices.SortFunc(tasks, func(a, b MarkedTask) int { return a.ID - b.ID })
	return tasks, nil
}

// members returns the ids of the workers in their group, by what they advertise:
// none where the group cannot be seen.
func (m *Migration) members(ctx context.Context, plan *offsetmap.Plan, status connectrest.Status) map[string]string {
	admin := m.cfg.Target.Admin
	switch plan.Body.Worker.ClusterID {
	case plan.Body.Target.ID:
	case plan.Body.Source.ID:
		admin = m.cfg.Source.Admin
	default:
		return nil
	}
	group, err := preflight.FindConnectGroup(ctx, admin, addresses(status)...)
	if err != nil {
		m.log.DebugContext(ctx, "the group of the workers cannot be seen", "connector", m.cfg.Connector, "error", err)
		return nil
	}
	return group.MemberIDs()
}

// of returns why the mark does not have the partitions of the plan.
func (r *RestartMark) of(plan *offsetmap.Plan) error {
	if !slices.EqualFunc(r.Partitions, plan.Body.Rows, func(a MarkedPartition, b offsetmap.Row) bool { return a.TopicPartition == b.TopicPartition }) {
		return fmt.Errorf("%w: the mark does not have the plan's partitions", ErrMoved)
	}
	for _, p := range r.Partitions {
		if p.Copied < 0 || p.Repeated < 0 {
			return fmt.Errorf("the mark: %s: a count is below zero", p.TopicPartition)
		}
	}
	return nil
}

// Encode returns the mark as a file.
func (r *RestartMark) Encode() ([]byte, error) { return encodeFile(r) }

// ReadRestartMark reads a file of a RestartMark strictly.
func ReadRestartMark(path string) (*RestartMark, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(RestartMark)
	if err := offsetmap.DecodeKind(text, RestartMarkKind, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
