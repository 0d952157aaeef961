package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const readBackPause = 200 * time.Millisecond

// commit sends all offsets in one request, between two lines of the journal, and
// reads them back. It is not sent when somebody else has written to the journal
// since it was decided: that may have been a start.
func (m *Migration) commit(ctx context.Context, plan *offsetmap.Plan, r GroupReturn, entries int, note string, before, want endsByPartition) error {
	intent := Entry{
		Act: actHandBack, Form: FormGroup, Plan: plan.Digest, Group: r.Group, Savepoint: savepointID(plan.Body.Savepoint), Approved: r.FlinkStopped.By,
		Request: &Request{Method: "OffsetCommit", Path: r.Group, Partitions: len(want)},
		Detail:  fmt.Sprintf("%d partitions; Flink attested %s: %s", len(want), r.FlinkStopped.Value, r.FlinkStopped.Reason),
	}
	sent, committed := false, false
	err := m.actAfter(ctx, entries, intent, func(ctx context.Context) error {
		sent = true
		offsets := kadm.Offsets{}
		for tp, next := range want {
			at, _ := next.Value()
			offsets.Add(kadm.Offset{Topic: tp.Topic, Partition: tp.Partition, At: at, LeaderEpoch: -1, Metadata: note})
		}
		answer, lost := m.cfg.Source.Admin.CommitOffsets(ctx, r.Group, offsets)
		err := m.readBackGroup(ctx, plan, sentCommit{group: r.Group, before: before, want: want, lost: lost, refused: refusedBy(answer)})
		committed = err == nil
		return err
	})
	switch {
	case errors.Is(err, ErrOvertaken):
		return fmt.Errorf("%w, nothing was committed: %w", ErrMoved, err)
	case err != nil && !sent:
		return fmt.Errorf("nothing was committed: %w", err)
	case err != nil && committed:
		return fmt.Errorf("group %s holds C' of all partitions, but %w: run this again before Flink starts: %w", r.Group, ErrNotJournaled, err)
	default:
		return err
	}
}

// sentCommit is a commit that was sent, and what came back.
type sentCommit struct {
	group        string
	before, want endsByPartition
	lost         error // instead of an answer
	refused      refusals
}

// readBackGroup says what came of a commit. Its answer is believed nowhere: not
// when it was lost, and not when it was good.
func (m *Migration) readBackGroup(ctx context.Context, plan *offsetmap.Plan, c sentCommit) error {
	open := errors.Join(c.lost, c.refused.open) // why it may still arrive
	for deadline := m.now().Add(m.readBack); ; {
		committed, err := m.committed(ctx, c.group, plan)
		if err == nil && holds(committed, c.want) {
			return nil
		}
		final := !m.now().Before(deadline) || ctx.Err() != nil || forGood(err)
		stand, taken := 0, 0
		for tp, next := range c.want {
			if committed[tp] == next {
				stand++
				if c.before[tp] != next {
					taken++
				}
			}
		}
		stands := fmt.Sprintf("group %s holds C' of %d of %d partitions", c.group, stand, len(c.want))
		switch {
		case !final && (err != nil || open != nil || c.refused.n == 0):
		case err != nil:
			return fmt.Errorf("%w: what group %s holds now could not be read back: %w", ErrOutcomeUnknown, c.group, errors.Join(open, err))
		case c.lost != nil:
			return fmt.Errorf("%w: the answer to the commit was lost, and %s; the rest may still arrive: %w", ErrOutcomeUnknown, stands, open)
		case open != nil:
			return fmt.Errorf("%w: the brokers do not say whether they take the commit, and %s; the rest may still arrive: %w", ErrOutcomeUnknown, stands, open)
		case c.refused.n == len(c.want) && taken == 0:
			return fmt.Errorf("the brokers refused the commit, and it changed nothing: %w", c.refused.forGood)
		case c.refused.n > 0:
			return &sentError{fmt.Errorf("%w: the brokers did not take all offsets; %s, so do not start Flink from it: %w", ErrPartlyCommitted, stands, c.refused.forGood)}
		default:
			return &sentError{&RefusedError{Act: string(engine.CommitBoundary), Before: []string{"commit"}, kind: ErrMoved, Findings: []offsetmap.Finding{{
				Check: "rollback/group-active", Severity: offsetmap.Block, Acceptable: offsetmap.Never,
				Detail: fmt.Sprintf("the brokers took the commit, and %s later %s: somebody else commits to it", m.readBack, stands),
			}}}}
		}
		if err := m.sleep(ctx, readBackPause); err != nil {
			return fmt.Errorf("%w: what group %s holds now was not read back: %w", ErrOutcomeUnknown, c.group, errors.Join(open, err))
		}
	}
}

// sentError is an error of an act that was carried out, if only in part: the
// journal must not say that it failed.
type sentError struct{ error }

func (e *sentError) Unwrap() error { return e.error }

// forGood reports whether brokers refuse in a way that waiting does not mend, and
// that leaves nothing behind which may still be carried out.
func forGood(err error) bool {
	refusal, ok := errors.AsType[*kerr.Error](err)
	return ok && !refusal.Retriable && !errors.Is(err, kerr.UnknownServerError)
}

// refusals are the partitions that an answer refuses: n of them.
type refusals struct {
	n       int
	forGood error // those that the brokers will never take, by reason
	// open are those with a reason that says nothing for certain. A coordinator
	// that could not replicate its write in time answers so, and may have written
	// it (GroupCoordinator turns NOT_ENOUGH_REPLICAS_AFTER_APPEND into
	// COORDINATOR_NOT_AVAILABLE, and a storage error into NOT_COORDINATOR).
	open error
}

// refusedBy names the partitions that an answer refuses, by reason: usually all
// of them have one.
func refusedBy(answer kadm.OffsetResponses) (r refusals) {
	var reasons []error
	of := map[string][]string{}
	for _, o := range answer.Sorted() {
		if o.Err == nil {
			continue
		}
		r.n++
		if of[o.Err.Error()] == nil {
			reasons = append(reasons, o.Err)
		}
		of[o.Err.Error()] = append(of[o.Err.Error()], fmt.Sprintf("%s-%d", o.Topic, o.Partition))
	}
	for _, reason := range reasons {
		named := fmt.Errorf("%s: %w", strings.Join(of[reason.Error()], ", "), reason)
		if forGood(reason) {
			r.forGood = errors.Join(r.forGood, named)
		} else {
			r.open = errors.Join(r.open, named)
		}
	}
	return r
}

// handedWords are the words for a way in which C' was given to Flink.
type handedWords struct{ act, has string }

var (
	handedGroup     = handedWords{string(engine.CommitBoundary), "the group holds C'"}
	handedSavepoint = handedWords{string(engine.RewriteSavepoint), "the savepoint with C' is written"}
)

// stayedStopped looks once more behind the commit: Connect has no lock. A
// connector that was resumed since before was seen would be a second writer, or,
// STOPPED again, has left the boundary behind. The act and what Flink has now are
// said, and what the call has done.
func (m *Migration) stayedStopped(ctx context.Context, plan *offsetmap.Plan, before engine.Observed, form handedWords, done []string) error {
	now := (&observer{m: m, plan: plan}).look(ctx)
	var moved, unknown []offsetmap.Finding
	find := func(check, format string, args ...any) {
		moved = append(moved, offsetmap.Finding{
			Check: check, Severity: offsetmap.Block, Acceptable: offsetmap.Never,
			Detail: form.has + ", but " + fmt.Sprintf(format, args...) + ": do not start Flink, stop the connector and roll back again",
		})
	}
	miss := func(check, what string, err error) {
		unknown = append(unknown, offsetmap.Finding{
			Check: check, Severity: offsetmap.Block, Acceptable: offsetmap.Never, Unmade: true,
			Detail: fmt.Sprintf(form.has+", but %s could not be found out: do not start Flink before: %v", what, err),
		})
	}
	if c, ok := now.Connector.Get(); !ok {
		miss("connector/state", "whether connector "+m.cfg.Connector+" is still STOPPED", now.Connector.Err())
	} else if c.State != string(connectrest.StateStopped) || c.Tasks > 0 {
		find("connector/state", "connector %s is %s now, with %d tasks", m.cfg.Connector, c.State, c.Tasks)
	}
	stood, _ := before.Stored.Get()
	if stored, ok := now.Stored.Get(); !ok {
		miss("offsets/unknown", "whether its offsets still stand", now.Stored.Err())
	} else if d := differences("Connect's offset", stood.Offsets, stored.Offsets); len(d) > 0 {
		find("rollback/boundary-changed", "the connector has run, or somebody wrote its offsets: %s", strings.Join(d, ", "))
	}
	ended, _ := before.Measured.Get()
	measured, ok := now.Measured.Get()
	was, is := fixedEnds(plan, ended), fixedEnds(plan, measured)
	switch {
	case !ok:
		miss("source/range-unknown", "whether the target still ends where it did", now.Measured.Err())
	default:
		for tp, end := range is {
			if end.IsNone() && !was[tp].IsNone() {
				miss("source/range-unknown", fmt.Sprintf("the target's end of %s", tp), errors.New("it was not measured"))
				is[tp] = was[tp]
			}
		}
		if d := differences("the target's end", was, is); len(d) > 0 {
			find("rollback/boundary-changed", "the connector has run, or somebody else writes to the target: %s", strings.Join(d, ", "))
		}
	}
	if len(moved)+len(unknown) == 0 {
		return nil
	}
	refusal := &RefusedError{Act: form.act, Findings: append(moved, unknown...), Before: done, kind: ErrMoved}
	if len(moved) == 0 {
		refusal.kind = ErrNotKnown
	}
	slices.SortStableFunc(refusal.Findings, offsetmap.Finding.Compare)
	return refusal
}
