package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// HandBackForm is what Flink goes on from after a rollback. Flink may be given one
// alone: from each a job may run, and two would write.
type HandBackForm string

const (
	FormGroup        HandBackForm = "group"         // C' as the committed offsets of a consumer group: CommitBoundary
	FormSavepoint    HandBackForm = "savepoint"     // a savepoint that holds C': RewriteSavepoint
	FormInitializer  HandBackForm = "initializer"   // C' as the starting offsets of a KafkaSource: Boundary.OffsetsInitializer
	FormLegacy       HandBackForm = "legacy"        // C' as those of a FlinkKafkaConsumer: Boundary.LegacyOffsets
	FormSQL          HandBackForm = "sql"           // C' as those of SQL tables: Boundary.SpecificOffsets
	FormOldSavepoint HandBackForm = "old-savepoint" // the savepoint of the plan: all that was copied since comes again
)

// HandBack says in which form Flink goes on, and on whose word.
type HandBack struct {
	// Form is FormInitializer, FormLegacy, FormSQL or FormOldSavepoint. The others
	// write something, and have calls of their own.
	Form HandBackForm
	// FlinkStopped attests how the old job ended and that nothing of it runs now; the
	// plan's own attestation is older than the migration, so it does not count.
	FlinkStopped *offsetmap.Attestation[offsetmap.FlinkEnd]
	// Acceptances let findings of the way back through, each by name, as those of
	// RollbackOptions do.
	Acceptances []offsetmap.Acceptance
}

// Check returns an error when the form is none of HandBack, and a
// *offsetmap.BlockedError when the attestation is missing or says nothing. It looks at
// nothing, so a program can ask before it changes anything; Migration.HandBack asks
// too.
func (h HandBack) Check() error {
	if !slices.Contains([]HandBackForm{FormInitializer, FormLegacy, FormSQL, FormOldSavepoint}, h.Form) {
		return fmt.Errorf("hand back as %q: want %s, %s, %s or %s", h.Form, FormInitializer, FormLegacy, FormSQL, FormOldSavepoint)
	}
	return preflight.Blocked(flinkEnded(h.FlinkStopped))
}

func (h HandBack) goal() engine.Goal {
	if h.Form == FormOldSavepoint {
		return engine.OldSavepoint
	}
	return engine.HandBack
}

// HandedBack is the outcome of Migration.HandBack.
type HandedBack struct {
	Digest       string                                    `json:"digest"`
	Form         HandBackForm                              `json:"form"`
	FlinkStopped offsetmap.Attestation[offsetmap.FlinkEnd] `json:"flinkStopped"`
	// Since is when the hand-back was journaled, by this call or an earlier one.
	Since offsetmap.Time `json:"since"`
	// Savepoint is where the plan says that its savepoint lies; empty in other forms, and
	// where the plan was made from a group.
	Savepoint string `json:"savepoint"`
	// Partitions are where Flink goes on, sorted: C', of FormOldSavepoint C.
	Partitions []StartingOffset    `json:"partitions"`
	Findings   []offsetmap.Finding `json:"findings"` // sorted; warnings, and what was accepted
}

// StartingOffset is where Flink goes on in one partition.
type StartingOffset struct {
	offsetmap.TopicPartition
	Next offsetmap.NextOffset `json:"next"`
}

// HandBack puts into the journal that Flink goes on in a form that this package does not
// write: with C' as starting offsets, or from the savepoint of the plan. Afterwards no
// other form is handed out unasked, and no plan can be made from a savepoint that is
// older. It can be run again, which changes nothing.
//
// For starting offsets it takes the boundary of Rollback and refuses as CommitBoundary
// does, but for what that demands of the group. FormOldSavepoint takes no boundary, so it
// is there for a rollback before the start, and for one that found no C'. It refuses
// unless
//
//   - a rollback of this plan was begun, so that it can never be started again, and the
//     connector is STOPPED without a task, or deleted by it;
//   - it is attested how Flink ended, and nothing contradicts that;
//   - the source has all records from C on, or it is accepted what is lost
//     (rollback/savepoint-expired);
//   - the journal has no hand-back of this plan in another form (rollback/another-form).
//
// What is missing or contradicts is an *offsetmap.BlockedError with every finding; a
// world that has moved since the rollback is an ErrMoved. Nothing here starts Flink, and
// nothing resumes the connector.
func (m *Migration) HandBack(ctx context.Context, plan *offsetmap.Plan, b *Boundary, h HandBack) (*HandedBack, error) {
	return locked(ctx, m, "hand-back", func(ctx context.Context) (*HandedBack, error) { return m.handBackLocked(ctx, plan, b, h) })
}

func (m *Migration) handBackLocked(ctx context.Context, plan *offsetmap.Plan, b *Boundary, h HandBack) (*HandedBack, error) {
	out, err := m.handBack(ctx, plan, b, h)
	if _, says := errors.AsType[*RefusedError](err); err != nil && !says {
		return nil, fmt.Errorf("%s: %w", h.goal(), err)
	}
	return out, err
}

func (m *Migration) handBack(ctx context.Context, plan *offsetmap.Plan, b *Boundary, h HandBack) (*HandedBack, error) {
	goal, to := h.goal(), handedForm{form: h.Form}
	if err := h.Check(); err != nil {
		return nil, err
	}
	var back []offsetmap.Reverse
	if h.Form == FormOldSavepoint {
		if err := plan.Check(); err != nil {
			return nil, err
		}
	} else {
		if err := ofABoundary(plan, b); err != nil {
			return nil, err
		}
		back = b.back()
	}
	first, err := m.lookForJob(ctx, goal, plan, back, to)
	if err != nil {
		return nil, err
	}
	if err := preflight.Blocked(offsetmap.Accept(first.findings, h.Acceptances)); err != nil {
		return nil, err
	}
	way, err := m.reach(ctx, goal, plan, "")
	if err != nil {
		return nil, err
	}
	second, err := m.lookForJob(ctx, goal, plan, back, to)
	if err != nil {
		return nil, err
	}
	out := &HandedBack{Digest: plan.Digest, Form: h.Form, FlinkStopped: *h.FlinkStopped, Partitions: make([]StartingOffset, 0, len(plan.Body.Rows))}
	found := slices.Concat(second.findings, first.movedTo(second))
	var moved []offsetmap.Finding
	if h.Form == FormOldSavepoint {
		measured, _ := way.seen.Measured.Get()
		found = append(found, expiredSince(plan, measured)...)
		if plan.Body.Savepoint != nil {
			out.Savepoint = plan.Body.Savepoint.Location
		}
		for _, row := range plan.Body.Rows {
			out.Partitions = append(out.Partitions, StartingOffset{row.TopicPartition, row.Next})
		}
	} else {
		rows, against := reversed(plan, way.seen, h.Acceptances)
		if rows != nil {
			moved = m.against(ctx, plan, b, rows, way.seen)
		}
		found = slices.Concat(found, against, moved)
		for _, p := range back {
			out.Partitions = append(out.Partitions, StartingOffset{p.TopicPartition, p.Next})
		}
	}
	out.Findings = offsetmap.Accept(found, h.Acceptances)
	if err := preflight.Blocked(out.Findings); err != nil {
		if len(moved) > 0 {
			return nil, &RefusedError{Act: string(goal), Findings: blocking(out.Findings), kind: ErrMoved}
		}
		return nil, err
	}
	since, err := m.journalHandBack(ctx, plan, h, way.entries, second.earlier.since)
	if err != nil {
		return nil, err
	}
	out.Since = offsetmap.At(since)
	if h.Form == FormOldSavepoint {
		return out, nil // no C' that a connector could leave behind, and the plan never starts again
	}
	return out, m.stayedStopped(ctx, plan, way.seen, handedWords{string(goal), "it is in the journal that Flink goes on " + to.String()}, nil)
}

// journalHandBack writes that Flink goes on, unless somebody else has written to the
// journal since that was decided, and returns since when it stands there.
func (m *Migration) journalHandBack(ctx context.Context, plan *offsetmap.Plan, h HandBack, entries int, since time.Time) (time.Time, error) {
	if !since.IsZero() {
		return since, nil
	}
	since = m.now()
	err := m.actAfter(ctx, entries, Entry{
		Act: actHandBack, Form: h.Form, Plan: plan.Digest, Savepoint: savepointID(plan.Body.Savepoint), Approved: h.FlinkStopped.By,
		Detail: fmt.Sprintf("Flink attested %s: %s", h.FlinkStopped.Value, h.FlinkStopped.Reason),
	}, func(context.Context) error { return nil })
	if errors.Is(err, ErrOvertaken) {
		return since, fmt.Errorf("%w, nothing was handed back: %w", ErrMoved, err)
	}
	return since, err
}

// expiredSince finds what a job that goes on at C would not find any more.
func expiredSince(plan *offsetmap.Plan, measured measuredByPartition) []offsetmap.Finding {
	var out []offsetmap.Finding
	for _, row := range plan.Body.Rows {
		now, there := measured[row.TopicPartition]
		n, known := now.Range.Start.Sub(row.Next)
		f := offsetmap.Finding{Check: "rollback/savepoint-expired", Severity: offsetmap.Block, Scope: row.String(), Acceptable: offsetmap.Never}
		switch {
		case !there || now.TopicID != row.TopicID:
			f.Detail = "the partition is gone, or its topic was created again: where the savepoint stands means nothing in it"
		case !known:
			f.Detail, f.Unmade = "the log start could not be measured", true
		case n <= 0:
			continue
		default:
			f.Scope, f.Acceptable = fmt.Sprintf("%s:%d", row, n), offsetmap.Exact
			f.Detail = fmt.Sprintf("the savepoint stands at C = %s, the log begins at %s: %d offsets have expired, and the target has them only as far as MirrorMaker 2 has copied them", row.Next, now.Range.Start, n)
		}
		out = append(out, f)
	}
	return out
}

// jobLook is what can be seen of Flink before it is handed anything.
type jobLook struct {
	group    *groupLook // nil where the plan knows no group of the job
	earlier  handed
	findings []offsetmap.Finding
}

func (m *Migration) lookForJob(ctx context.Context, goal engine.Goal, plan *offsetmap.Plan, back []offsetmap.Reverse, to handedForm) (jobLook, error) {
	var look jobLook
	var err error
	if look.earlier, err = m.handedTo(ctx, plan.Digest, to); err != nil {
		return look, &RefusedError{Act: string(goal), Findings: []offsetmap.Finding{unreadable(err)}, kind: ErrNotKnown}
	}
	look.findings = look.earlier.findings(to)
	if own := plan.Body.Group; own != nil {
		group := m.lookAtGroup(ctx, own.ID, plan)
		look.group = &group
		look.findings = append(look.findings, group.stoodStill(plan, back, look.earlier)...)
	}
	return look, ctx.Err()
}

func (l jobLook) movedTo(later jobLook) []offsetmap.Finding {
	if l.group == nil || later.group == nil {
		return nil
	}
	return l.group.movedTo(*later.group)
}
