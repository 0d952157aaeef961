package flinkmm2

import (
	"context"
	"fmt"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Applied is the outcome of Apply and Verify.
type Applied struct {
	Digest     string                     `json:"digest"`
	Partitions int                        `json:"partitions"`
	Written    []offsetmap.TopicPartition `json:"written"` // sorted; empty when everything was there already
}

// Apply makes Connect hold the plan's offsets: it checks, writes what still is
// as it was when the plan was made, leaves what is already the plan's, and reads
// everything back. The connector stays STOPPED.
//
// Apply may be run again, by a person or by a Job that retries: a second run
// changes nothing. When the world no longer matches the plan it refuses with a
// *RefusedError before it writes; when the plan was started or rolled back it
// always refuses, so that an old plan never turns the clock back.
//
// Before the first write of a plan, what Connect holds goes to WithBackup.
func (m *Migration) Apply(ctx context.Context, plan *offsetmap.Plan) (*Applied, error) {
	return locked(ctx, m, "apply", func(ctx context.Context) (*Applied, error) { return m.applyLocked(ctx, plan) })
}

func (m *Migration) applyLocked(ctx context.Context, plan *offsetmap.Plan) (*Applied, error) {
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Apply, err)
	}
	if err := m.workersCalm(ctx, plan); err != nil {
		return nil, fmt.Errorf("%s: %w", engine.Apply, err)
	}
	r, err := m.reach(ctx, engine.Apply, plan, "")
	if err != nil {
		return nil, err
	}
	out := &Applied{Digest: plan.Digest, Partitions: len(plan.Body.Rows), Written: []offsetmap.TopicPartition{}}
	for _, c := range r.written {
		out.Written = append(out.Written, c.TopicPartition)
	}
	return out, nil
}

// Verify reads back, without writing, that Connect holds exactly the plan's
// offsets for a connector that is STOPPED, has the planned config, and whose
// source still has every record from C on. The outcome stands in the journal.
func (m *Migration) Verify(ctx context.Context, plan *offsetmap.Plan) (*Applied, error) {
	_, err := m.reach(ctx, engine.Verify, plan, "")
	if plan.Check() == nil && m.ofThisConnector(plan) == nil {
		err = m.record(ctx, Entry{Act: actVerify, Plan: plan.Digest}, err)
	}
	if err != nil {
		return nil, err
	}
	return &Applied{Digest: plan.Digest, Partitions: len(plan.Body.Rows), Written: []offsetmap.TopicPartition{}}, nil
}

// Approval is a person's word to start, or to restore: the digest of the plan or
// backup that they mean, and who they are.
type Approval struct {
	Digest string
	By     string
}

func (a Approval) check(plan *offsetmap.Plan) error {
	if plan == nil {
		return plan.Check()
	}
	return a.of("plan", plan.Digest)
}

// of holds that the word was given for what has the digest.
func (a Approval) of(what, digest string) error {
	switch {
	case a.By == "":
		return fmt.Errorf("%w: the approval has no name", ErrApproval)
	case a.Digest != digest:
		return fmt.Errorf("%w: approved is %q, this %s is %s", ErrApproval, a.Digest, what, digest)
	}
	return nil
}
