package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// GroupReturn says for which consumer group a boundary is committed, and on
// whose word.
type GroupReturn struct {
	// Group is the group.id that Flink's source will have.
	Group string
	// FlinkStopped attests how the old job ended and that nothing of it runs now.
	// The plan's own attestation is older than the migration, so it does not
	// count. The consumer group cannot show it either: Flink's source never joins
	// its group, which looks empty while the job runs, and brokers take commits to
	// it at any time.
	FlinkStopped *offsetmap.Attestation[offsetmap.FlinkEnd]
	// Acceptances let findings of the way back through, each by name, as those of
	// RollbackOptions do.
	Acceptances []offsetmap.Acceptance
}

// Check returns an error when the group's name is none (CheckGroup), and a
// *offsetmap.BlockedError when the attestation is missing or says nothing. It
// looks at no cluster, so a program can ask before it changes anything;
// CommitBoundary asks too.
func (r GroupReturn) Check() error {
	if err := CheckGroup(r.Group); err != nil {
		return err
	}
	return preflight.Blocked(r.findings())
}

func (r GroupReturn) form() handedForm { return handedForm{form: FormGroup, group: r.Group} }

func (r GroupReturn) findings() []offsetmap.Finding { return flinkEnded(r.FlinkStopped) }

// flinkEnded finds what is missing in the word of the person who hands a boundary back.
func flinkEnded(word *offsetmap.Attestation[offsetmap.FlinkEnd]) []offsetmap.Finding {
	var out []offsetmap.Finding
	for _, f := range (offsetmap.Attestations{FlinkStopped: word}).Check() {
		if f.Check == "attest/flink-stopped" {
			f.Check = "rollback/flink-end"
			out = append(out, f)
		}
	}
	return out
}

// CommittedBoundary is the outcome of CommitBoundary.
type CommittedBoundary struct {
	Digest       string                                    `json:"digest"`
	Group        string                                    `json:"group"`
	FlinkStopped offsetmap.Attestation[offsetmap.FlinkEnd] `json:"flinkStopped"`
	// Written is false when an earlier call had committed the boundary and all of
	// it still stood.
	Written    bool                `json:"written"`
	Partitions []CommittedOffset   `json:"partitions"` // sorted; all that the boundary has
	Expiry     OffsetExpiry        `json:"expiry"`
	Findings   []offsetmap.Finding `json:"findings"` // sorted; warnings, and what was accepted
}

// CommittedOffset is one offset of a group, read back.
type CommittedOffset struct {
	offsetmap.TopicPartition
	Next   offsetmap.NextOffset `json:"next"`   // C', which the group holds
	Before offsetmap.NextOffset `json:"before"` // what it held just before; null when nothing
}

// CommitBoundary commits C' of every partition of the boundary as the offsets of
// a consumer group on the source cluster, so that a Flink source which starts
// from its group's offsets goes on where MirrorMaker 2 has stopped. It comes
// after Rollback, whose boundary it takes, and can be run again: what it had
// committed and still stands is left.
//
// It sends all partitions in one request or nothing, and reads all of them back
// before it says that they are committed. Where brokers take only some, which
// they do when one may not be written, it is an ErrPartlyCommitted that says
// which. It refuses unless
//
//   - the journal has the finished rollback of this plan, and the boundary is
//     what that rollback would find now, partition for partition, with every C'
//     still in the source's log;
//   - the connector is STOPPED without a task, and neither its offsets nor the
//     target's ends move for longer than the worker's flush timeout;
//   - it is attested how Flink ended, and nothing contradicts that: the group has
//     no member, it stands where the plan saw it, or at C' where the journal has a
//     commit of this plan to it, and does not move between two looks; nor has the
//     old job's own group moved since the plan, where C' goes to another one, and
//     Flink, where WithFlink gives somebody to ask, does not say that the job runs;
//   - the journal has no hand-back of this plan in another form (rollback/another-form),
//     in which Flink may run.
//
// A job whose commits are further apart than the two looks shows nothing here: a
// person must find it.
//
// What is missing or contradicts is an *offsetmap.BlockedError with every
// finding; a world that has moved since the rollback is an ErrMoved, also where
// the connector is seen to have run while C' was committed: the group holds it
// then, and Flink must not start. Where
// nobody can read back what was committed, or it may still arrive, it is an
// ErrOutcomeUnknown. In the journal a commit has failed only where every partition
// was refused for good: anything else lets Flink run.
//
// Nothing here starts Flink, and nothing resumes the connector. Brokers drop a
// group's offsets after a while: see OffsetExpiry. Flink must be started without
// a savepoint, since restored state wins over the group's offsets.
func (m *Migration) CommitBoundary(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r GroupReturn) (*CommittedBoundary, error) {
	return locked(ctx, m, "commit-boundary", func(ctx context.Context) (*CommittedBoundary, error) { return m.commitBoundaryLocked(ctx, plan, b, r) })
}

func (m *Migration) commitBoundaryLocked(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r GroupReturn) (*CommittedBoundary, error) {
	first, err := m.mayCommit(ctx, plan, b, r)
	if err != nil {
		return nil, ofCommit(err)
	}
	way, err := m.reach(ctx, engine.CommitBoundary, plan, "")
	if err != nil {
		return nil, err
	}
	out, err := m.committedBoundary(ctx, plan, b, r, way, first)
	if err != nil {
		return nil, ofCommit(err)
	}
	return out, nil
}

// ofCommit says whose error it is, unless it says so itself.
func ofCommit(err error) error {
	if _, says := errors.AsType[*RefusedError](err); says {
		return err
	}
	return fmt.Errorf("%s: %w", engine.CommitBoundary, err)
}

// mayCommit finds what can be known at once, before the wait until nothing
// moves, and returns the first look at the groups.
func (m *Migration) mayCommit(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r GroupReturn) (groupLooks, error) {
	if err := CheckGroup(r.Group); err != nil {
		return groupLooks{}, err
	}
	if err := ofABoundary(plan, b); err != nil {
		return groupLooks{}, err
	}
	earlier, err := m.handedTo(ctx, plan.Digest, r.form())
	if err != nil {
		return groupLooks{}, &RefusedError{Act: string(engine.CommitBoundary), Findings: []offsetmap.Finding{unreadable(err)}, kind: ErrNotKnown}
	}
	look := m.lookAtGroups(ctx, r.Group, plan)
	if err := ctx.Err(); err != nil { // and not what could not be read because of it
		return look, err
	}
	findings := slices.Concat(r.findings(), look.findings(plan, b.back(), earlier), earlier.findings(r.form()))
	return look, preflight.Blocked(offsetmap.Accept(findings, r.Acceptances))
}

// committedBoundary looks again, now that nothing has moved for a while, and
// commits.
func (m *Migration) committedBoundary(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r GroupReturn, way reached, first groupLooks) (*CommittedBoundary, error) {
	earlier, err := m.handedTo(ctx, plan.Digest, r.form())
	if err != nil {
		return nil, err
	}
	second := m.lookAtGroups(ctx, r.Group, plan)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, back := reversed(plan, way.seen, r.Acceptances)
	var moved []offsetmap.Finding
	if rows != nil {
		moved = m.against(ctx, plan, b, rows, way.seen)
	}
	findings := slices.Concat(r.findings(), second.findings(plan, b.back(), earlier), earlier.findings(r.form()), first.movedTo(second), back, moved)
	findings = offsetmap.Accept(findings, r.Acceptances)
	if err := preflight.Blocked(findings); err != nil {
		if len(moved) > 0 {
			return nil, &RefusedError{Act: string(engine.CommitBoundary), Findings: blocking(findings), kind: ErrMoved}
		}
		return nil, err
	}
	out := &CommittedBoundary{Digest: plan.Digest, Group: r.Group, FlinkStopped: *r.FlinkStopped, Findings: findings, Partitions: make([]CommittedOffset, 0, len(rows))}
	want := make(endsByPartition, len(rows))
	for _, row := range b.back() {
		want[row.TopicPartition] = row.Next
		out.Partitions = append(out.Partitions, CommittedOffset{row.TopicPartition, row.Next, second.to.committed[row.TopicPartition]})
	}
	settings := m.offsetSettings(ctx)
	since := earlier.since
	if since.IsZero() || !holds(second.to.committed, want) {
		since, out.Written = m.now(), true
		if err := m.commit(ctx, plan, r, way.entries, settings.note(plan.Digest), second.to.committed, want); err != nil {
			return nil, err
		}
	}
	out.Expiry = settings.expiry(since)
	var done []string
	if out.Written {
		done = []string{"commit"}
	}
	if err := m.stayedStopped(ctx, plan, way.seen, handedGroup, done); err != nil {
		return nil, err
	}
	return out, nil
}

// ofABoundary holds plan and boundary to be sound, and of one another.
func ofABoundary(plan *offsetmap.Plan, b *Boundary) error {
	if b == nil {
		return errors.New("no boundary was given: a rollback before the start has none, and Flink restores its savepoint")
	}
	if err := plan.Check(); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("boundary: %w", err)
	}
	return b.of(plan)
}

// of holds the boundary to be one of the plan's rollback.
func (b *Boundary) of(plan *offsetmap.Plan) error {
	for _, c := range []struct{ what, have, want string }{
		{"plan", b.Plan, plan.Digest},
		{"source cluster", b.SourceID, plan.Body.Source.ID},
		{"connector", b.Connector, plan.Body.Connector.Name},
	} {
		if c.have != c.want {
			return &RefusedError{Act: string(engine.CommitBoundary), kind: ErrMoved, Findings: []offsetmap.Finding{
				changed("", "the boundary is of %s %q, this plan is of %q", c.what, c.have, c.want),
			}}
		}
	}
	return nil
}

// against holds the boundary to what a rollback finds now.
func (b *Boundary) against(rows []offsetmap.Reverse) []offsetmap.Finding {
	var out []offsetmap.Finding
	had := make(map[offsetmap.TopicPartition]offsetmap.Reverse, len(b.Partitions))
	for _, p := range b.Partitions {
		had[p.TopicPartition] = p
	}
	for _, row := range rows {
		p, there := had[row.TopicPartition]
		delete(had, row.TopicPartition)
		switch {
		case !there:
			out = append(out, changed(row.String(), "the boundary does not have the partition; C' is %s", row.Next))
		case p != row:
			out = append(out, changed(row.String(), "the boundary has C' = %s (M = %s, lost %d), now it is %s (M = %s, lost %d): the connector has run since, somebody wrote, or the file was edited",
				p.Next, p.Stored, p.Lost, row.Next, row.Stored, row.Lost))
		}
	}
	for tp := range had {
		out = append(out, changed(tp.String(), "the boundary has the partition, the plan's topics have not"))
	}
	return out
}

func changed(scope, format string, args ...any) offsetmap.Finding {
	return offsetmap.Finding{
		Check: "rollback/boundary-changed", Severity: offsetmap.Block, Scope: scope,
		Detail: fmt.Sprintf(format, args...), Acceptable: offsetmap.Never,
	}
}

func blocking(findings []offsetmap.Finding) []offsetmap.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f offsetmap.Finding) bool { return f.Severity != offsetmap.Block })
}

// holds reports whether all that is wanted stands committed.
func holds(committed, want endsByPartition) bool {
	for tp, next := range want {
		if committed[tp] != next {
			return false
		}
	}
	return true
}

// topicsOf lists the topics of a plan.
func topicsOf(plan *offsetmap.Plan) []string {
	all := map[string]bool{}
	for _, r := range plan.Body.Rows {
		all[r.Topic] = true
	}
	return slices.Sorted(maps.Keys(all))
}
