package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const readBackPause = 200 * time.Millisecond

// commit sends all offsets in one request, between two lines of the journal, and
// reads them back. It is not sent when somebody else has written to the journal
// since it was decided: that may have been a start.
func (m *Migration) commit(ctx context.Context, plan *offsetmap.Plan, r GroupReturn, entries int, note string, want endsByPartition) error {
	intent := Entry{
		Act: actCommit, Plan: plan.Digest, Group: r.Group, Savepoint: savepointID(plan.Body.Savepoint), Approved: r.FlinkStopped.By,
		Detail: fmt.Sprintf("%d partitions; Flink attested %s: %s", len(want), r.FlinkStopped.Value, r.FlinkStopped.Reason),
	}
	err := m.actAfter(ctx, entries, intent, func(ctx context.Context) error {
		offsets := kadm.Offsets{}
		for tp, next := range want {
			at, _ := next.Value()
			offsets.Add(kadm.Offset{Topic: tp.Topic, Partition: tp.Partition, At: at, LeaderEpoch: -1, Metadata: note})
		}
		answer, lost := m.cfg.Source.Admin.CommitOffsets(ctx, r.Group, offsets)
		return m.readBackGroup(ctx, r.Group, plan, want, answer, lost)
	})
	if errors.Is(err, errOvertaken) {
		return fmt.Errorf("%w, nothing was committed: %w", ErrMoved, err)
	}
	return err
}

// readBackGroup says what came of a commit. Its answer is believed nowhere: not
// when it was lost, and not when it was good.
func (m *Migration) readBackGroup(ctx context.Context, group string, plan *offsetmap.Plan, want endsByPartition, answer kadm.OffsetResponses, lost error) error {
	refusals := refusedPartitions(answer)
	if errors.Is(refusals, kerr.RequestTimedOut) { // the coordinator may still finish it
		lost = errors.Join(lost, refusals)
	}
	for deadline := m.now().Add(m.readBack); ; {
		committed, err := m.committed(ctx, group, plan)
		if err == nil && holds(committed, want) {
			return nil
		}
		final := !m.now().Before(deadline) || ctx.Err() != nil || forGood(err)
		stand := 0
		for tp, next := range want {
			if committed[tp] == next {
				stand++
			}
		}
		switch {
		case !final && (err != nil || lost != nil || refusals == nil):
		case err != nil:
			return fmt.Errorf("%w: what group %s holds now could not be read back: %w", ErrOutcomeUnknown, group, errors.Join(lost, err))
		case lost != nil:
			return fmt.Errorf("%w: the answer to the commit was lost, and group %s holds C' of %d of %d partitions; the rest may still arrive: %w", ErrOutcomeUnknown, group, stand, len(want), lost)
		case refusals != nil:
			return fmt.Errorf("the brokers did not take all offsets; group %s holds C' of %d of %d partitions, so do not start Flink from it: %w", group, stand, len(want), refusals)
		default:
			return fmt.Errorf("%w: the brokers took the commit, and %s later group %s holds C' of %d of %d partitions: somebody else commits to it", ErrMoved, m.readBack, group, stand, len(want))
		}
		if err := m.sleep(ctx, readBackPause); err != nil {
			return fmt.Errorf("%w: what group %s holds now was not read back: %w", ErrOutcomeUnknown, group, errors.Join(lost, err))
		}
	}
}

// forGood reports whether brokers refuse in a way that waiting does not mend.
func forGood(err error) bool {
	refusal, ok := errors.AsType[*kerr.Error](err)
	return ok && !refusal.Retriable
}

// refusedPartitions names the partitions that an answer refuses, by reason:
// usually all of them have one.
func refusedPartitions(answer kadm.OffsetResponses) error {
	var reasons []error
	of := map[string][]string{}
	for _, o := range answer.Sorted() {
		if o.Err == nil {
			continue
		}
		if of[o.Err.Error()] == nil {
			reasons = append(reasons, o.Err)
		}
		of[o.Err.Error()] = append(of[o.Err.Error()], fmt.Sprintf("%s-%d", o.Topic, o.Partition))
	}
	for i, reason := range reasons {
		reasons[i] = fmt.Errorf("%s: %w", strings.Join(of[reason.Error()], ", "), reason)
	}
	return errors.Join(reasons...)
}

// stillStopped looks once more behind the commit: Connect has no lock, and a
// resume between the look and the commit makes two writers of Flink's start.
func (m *Migration) stillStopped(ctx context.Context) error {
	status, err := m.cfg.Connect.Status(ctx, m.cfg.Connector)
	switch {
	case err != nil:
		return fmt.Errorf("the offsets are committed, but %w whether connector %s is still STOPPED: %w", ErrNotKnown, m.cfg.Connector, err)
	case status.Connector.State != connectrest.StateStopped:
		return fmt.Errorf("%w: the offsets are committed, but connector %s is %s now: do not start Flink, two would write; stop it and roll back again", ErrMoved, m.cfg.Connector, status.Connector.State)
	default:
		return nil
	}
}
