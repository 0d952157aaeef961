package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/internal/localfs"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// SavepointReturn says into which savepoint a boundary is written, and on whose word.
type SavepointReturn struct {
	// From is the local folder of the savepoint that the plan was made from. By
	// default, it is where the plan says that it was.
	From string
	// To is the local folder that becomes the new savepoint. It must not exist.
	To string
	// Read are the options by which From is read, such as flinkstate.WithPathMap.
	Read []flinkstate.Option
	// WithoutCommittables leaves out the transactions that the sink had prepared, which
	// a restored job commits again: it fails, each time, once the brokers have dropped
	// their ids (transactional.id.expiration.ms, by default 7 days after their last
	// use). They are asked of their coordinators before: one that is open or aborted
	// refuses.
	WithoutCommittables bool
	// FlinkStopped attests how the old job ended and that nothing of it runs now; the
	// plan's own attestation is older than the migration, so it does not count.
	FlinkStopped *offsetmap.Attestation[offsetmap.FlinkEnd]
	// Acceptances let findings of the way back through, each by name, as those of
	// RollbackOptions do.
	Acceptances []offsetmap.Acceptance
}

// Check returns an error when there is no folder to write, and a
// *offsetmap.BlockedError when the attestation is missing or says nothing. It
// looks at nothing, so a program can ask before it changes anything;
// RewriteSavepoint asks too.
func (r SavepointReturn) Check() error {
	if r.To == "" {
		return errors.New("no folder is named for the new savepoint")
	}
	return preflight.Blocked(flinkEnded(r.FlinkStopped))
}

// RewrittenSavepoint is the outcome of RewriteSavepoint.
type RewrittenSavepoint struct {
	Digest string `json:"digest"`
	// Location is the absolute path of the new savepoint's folder, whose _metadata has the SHA-256
	// Savepoint, as "sha256:" and hex. By that a plan would know it.
	Location     string                                    `json:"location"`
	Savepoint    string                                    `json:"savepoint"`
	FlinkStopped offsetmap.Attestation[offsetmap.FlinkEnd] `json:"flinkStopped"`
	// Written is false when an earlier call had written the savepoint and it still
	// stood there.
	Written bool                     `json:"written"`
	Splits  []flinkstate.SplitChange `json:"splits"` // sorted
	// Committables are the transactions that are left out.
	Committables []flinkstate.Transaction `json:"committables"`
	Findings     []offsetmap.Finding      `json:"findings"` // sorted; warnings, and what was accepted
}

// RewriteSavepoint writes a savepoint from which Flink goes on where MirrorMaker 2
// has stopped: the one that the plan was made from, with C' of every partition of
// the boundary in the place of what it held. It comes after Rollback, whose
// boundary it takes, and can be run again. Partitions of the boundary that the
// old savepoint lacks are put in, since the restored job would read them from
// their first record.
//
// It writes the whole folder or nothing, and reads it back before it says so. It
// refuses unless
//
//   - the journal has the finished rollback of this plan, and the boundary is what
//     that rollback would find now, partition for partition, with every C' still
//     in the source's log;
//   - the connector is STOPPED without a task, and neither its offsets nor the
//     target's ends move for longer than the worker's flush timeout;
//   - it is attested how Flink ended, and nothing contradicts that: the old job's
//     own group has not moved since the plan, and Flink, where WithFlink gives
//     somebody to ask, does not say that the job runs;
//   - the savepoint is the one that the plan was made from, file by file, and each
//     of its partitions is in the boundary, or it is accepted that it stays
//     (rollback/partition-kept);
//   - the journal has no hand-back of this plan in another form (rollback/another-form),
//     in which Flink may run.
//
// What is missing or contradicts is an *offsetmap.BlockedError with every finding;
// a world that has moved since the rollback is an ErrMoved. A savepoint that cannot
// be rewritten is a flinkstate.ErrRewrite.
//
// Nothing here starts Flink, and nothing resumes the connector.
func (m *Migration) RewriteSavepoint(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r SavepointReturn) (*RewrittenSavepoint, error) {
	return locked(ctx, m, "rewrite-savepoint", func(ctx context.Context) (*RewrittenSavepoint, error) {
		return m.rewriteSavepointLocked(ctx, plan, b, r)
	})
}

func (m *Migration) rewriteSavepointLocked(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r SavepointReturn) (*RewrittenSavepoint, error) {
	out, err := m.rewriteSavepoint(ctx, plan, b, r)
	if _, says := errors.AsType[*RefusedError](err); err != nil && !says {
		return nil, fmt.Errorf("%s: %w", engine.RewriteSavepoint, err)
	}
	return out, err
}

func (m *Migration) rewriteSavepoint(ctx context.Context, plan *offsetmap.Plan, b *Boundary, r SavepointReturn) (*RewrittenSavepoint, error) {
	if err := errors.Join(r.Check(), ofABoundary(plan, b)); err != nil {
		return nil, err
	}
	r.To = folder(r.To)
	// All that needs no wait is found before the wait.
	p, kept, err := prepareSavepoint(plan, b, r)
	if err != nil {
		return nil, err
	}
	to := handedForm{form: FormSavepoint, savepoint: "sha256:" + p.SHA256(), content: "sha256:" + p.Digest()}
	first, err := m.lookForJob(ctx, engine.RewriteSavepoint, plan, b.back(), to)
	if err != nil {
		return nil, err
	}
	if r.WithoutCommittables {
		probe := m.probe(nil)
		probe.Sinks = p.Snapshot().Sinks
		kept = append(kept, probe.SinksCommitted(ctx)...)
	}
	if err := preflight.Blocked(offsetmap.Accept(slices.Concat(first.findings, kept), r.Acceptances)); err != nil {
		return nil, err
	}
	way, err := m.reach(ctx, engine.RewriteSavepoint, plan, "")
	if err != nil {
		return nil, err
	}
	second, err := m.lookForJob(ctx, engine.RewriteSavepoint, plan, b.back(), to)
	if err != nil {
		return nil, err
	}
	rows, back := reversed(plan, way.seen, r.Acceptances)
	var moved []offsetmap.Finding
	if rows != nil {
		moved = m.against(ctx, plan, b, rows, way.seen)
	}
	findings := offsetmap.Accept(slices.Concat(second.findings, kept, first.movedTo(second), back, moved), r.Acceptances)
	if err := preflight.Blocked(findings); err != nil {
		if len(moved) > 0 {
			return nil, &RefusedError{Act: string(engine.RewriteSavepoint), Findings: blocking(findings), kind: ErrMoved}
		}
		return nil, err
	}
	out := &RewrittenSavepoint{
		Digest: plan.Digest, Location: r.To, Savepoint: to.savepoint, FlinkStopped: *r.FlinkStopped,
		Splits: p.Changes(), Findings: findings, Committables: append([]flinkstate.Transaction{}, p.Committables()...),
	}
	if !second.earlier.sent || p.Check(ctx, r.To) != nil {
		out.Written = true
		if err := m.writeSavepoint(ctx, plan, r, way.entries, to, p); err != nil {
			return nil, err
		}
	}
	var done []string
	if out.Written {
		done = []string{"write"}
	}
	return out, m.stayedStopped(ctx, plan, way.seen, handedSavepoint, done)
}

// prepareSavepoint decides what the new savepoint holds. What stays in it needs a
// person's word.
func prepareSavepoint(plan *offsetmap.Plan, b *Boundary, r SavepointReturn) (*flinkstate.PreparedRewrite, []offsetmap.Finding, error) {
	if plan.Body.Savepoint == nil {
		return nil, nil, preflight.Blocked([]offsetmap.Finding{{
			Check: "rollback/savepoint-changed", Severity: offsetmap.Block, Acceptable: offsetmap.Never,
			Detail: "the plan was made from a group alone, so no savepoint is known to be of its job, at its C: hand C' over in another form",
		}})
	}
	from := r.From
	if from == "" {
		from = plan.Body.Savepoint.Location
	}
	// Read before it is decided, since what it holds says what has to be added.
	snap, err := flinkstate.ReadDir(from, r.Read...)
	if err != nil {
		return nil, nil, err
	}
	if err := sameSavepoint(plan, snap.Files); err != nil {
		return nil, nil, err
	}
	src, err := snap.Source(plan.Body.Savepoint.OperatorID)
	if err != nil {
		return nil, nil, err
	}
	rewrite := flinkstate.Rewrite{Source: src.OperatorID, WithoutCommittables: r.WithoutCommittables, Next: map[offsetmap.TopicPartition]offsetmap.NextOffset{}}
	missing := map[offsetmap.TopicPartition]bool{}
	for _, p := range b.back() {
		rewrite.Next[p.TopicPartition], missing[p.TopicPartition] = p.Next, true
	}
	var kept []offsetmap.Finding
	for _, p := range src.Partitions {
		if _, named := rewrite.Next[p.TopicPartition]; !named {
			rewrite.Kept = append(rewrite.Kept, p.TopicPartition)
			kept = append(kept, offsetmap.Finding{
				Check: "rollback/partition-kept", Severity: offsetmap.Block, Scope: p.String(), Acceptable: offsetmap.Exact,
				Detail: "the source of the savepoint has the partition, and the boundary does not: the restored job reads it from where it stood, whatever was copied of it since",
			})
		}
		if p.State != offsetmap.FinishedOrUnassigned {
			delete(missing, p.TopicPartition)
		}
	}
	rewrite.Added = slices.SortedFunc(maps.Keys(missing), offsetmap.TopicPartition.Compare)
	p, err := flinkstate.PrepareRewriteDir(from, rewrite, r.Read...)
	if err != nil {
		return nil, nil, err
	}
	return p, kept, sameSavepoint(plan, p.Snapshot().Files)
}

// sameSavepoint holds the files to those that the plan was made from.
func sameSavepoint(plan *offsetmap.Plan, files []flinkstate.File) error {
	have := map[string]string{}
	for _, f := range files {
		have[f.Name] = f.SHA256
	}
	var out []offsetmap.Finding
	for _, f := range plan.Body.Savepoint.Files {
		if sum, there := have[f.Name]; sum != f.SHA256 {
			detail := fmt.Sprintf("the plan was made from %s of SHA-256 %s, it has %s now", f.Name, f.SHA256, sum)
			if !there {
				detail = fmt.Sprintf("the plan was made from %s, which the savepoint does not name", f.Name)
			}
			out = append(out, offsetmap.Finding{Check: "rollback/savepoint-changed", Severity: offsetmap.Block, Scope: f.Name, Detail: detail, Acceptable: offsetmap.Never})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &RefusedError{Act: string(engine.RewriteSavepoint), Findings: out, kind: ErrMoved}
}

// writeSavepoint writes between two lines of the journal, unless somebody else has
// written to that since it was decided.
func (m *Migration) writeSavepoint(ctx context.Context, plan *offsetmap.Plan, r SavepointReturn, entries int, to handedForm, p *flinkstate.PreparedRewrite) error {
	intent := Entry{
		Act: actHandBack, Form: FormSavepoint, Plan: plan.Digest, Savepoint: savepointID(plan.Body.Savepoint), Rewritten: to.savepoint, Content: to.content, Approved: r.FlinkStopped.By,
		Detail: fmt.Sprintf("into %s; Flink attested %s: %s", r.To, r.FlinkStopped.Value, r.FlinkStopped.Reason),
	}
	written := false
	err := m.actAfter(ctx, entries, intent, func(ctx context.Context) error {
		_, err := p.WriteDir(ctx, r.To)
		written = err == nil
		return err
	})
	switch {
	case errors.Is(err, ErrOvertaken):
		return fmt.Errorf("%w, nothing was written: %w", ErrMoved, err)
	case err != nil && written:
		return fmt.Errorf("the savepoint %s is written, but %w: run this again before Flink starts: %w", r.To, ErrNotJournaled, err)
	case err != nil:
		return fmt.Errorf("nothing was written: %w", err)
	default:
		return nil
	}
}

// folder makes a local path or file: URI an absolute path: a journal and Flink are read in
// other folders.
func folder(dir string) string {
	if localfs.IsURI(dir) {
		if path, ok := localfs.FromURI(dir); ok {
			return path
		}
		return dir // where it is written, it is said what is wrong with it
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
