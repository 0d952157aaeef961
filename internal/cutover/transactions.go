package cutover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// openAcrossC has a transaction open on the source from before C to behind it,
// and a job that did not mind: it copied records of it. The plan needs a
// person's word. The connector goes on inside the transaction, whatever becomes
// of that.
func openAcrossC(ctx context.Context, w *world) error {
	topic, tp := w.topic("t"), topicPartition{Topic: w.topic("t")}
	end, err := w.openFrom10(ctx, tp, 12)
	if err != nil {
		return err
	}
	defer end(kgo.TryAbort) //nolint:errcheck // what became of the scenario is known by then
	m, err := w.created(ctx, []string{topic})
	if err != nil {
		return err
	}
	req := request(snapshot(stood(topic, 0, 12)))
	_, err = m.MakePlan(ctx, req)
	found, err := blockedFor(err, "source/offset-above-stable")
	if err != nil {
		return err
	}
	req.Acceptances = []offsetmap.Acceptance{{Check: found.Check, Scope: found.Scope, Reason: "the job read uncommitted records", By: "suite"}}
	before, m, plan, err := w.startedFrom(ctx, []string{topic}, req)
	if err != nil {
		return err
	}
	want := map[topicPartition]due{tp: span(tp, 12, 18)}
	if err := w.expectDelivered(ctx, before, want); err != nil {
		return fmt.Errorf("the oracle, before the transaction ended: %w", err)
	}
	if err := w.watched(ctx, m, plan, want); err != nil {
		return err
	}
	if err := end(kgo.TryAbort); err != nil {
		return err
	}
	if err := w.awaitSourceEnd(ctx, tp, 19); err != nil {
		return err
	}
	if err := produce(ctx, w.source, tp, 19, 22); err != nil {
		return err
	}
	d := want[tp]
	d.records = append(d.records, span(tp, 19, 22).records...)
	want[tp] = d
	if err := w.expectDelivered(ctx, before, want); err != nil {
		return fmt.Errorf("the oracle, after the abort: %w", err)
	}
	return w.watched(ctx, m, plan, want)
}

// openFromC has a transaction open on the source that a job which reads
// committed records cannot have passed: a C behind it is refused, whoever
// accepts it. From C at its first record on nothing comes while it is open, and
// everything when it is committed.
func openFromC(ctx context.Context, w *world) error {
	w.isolation = offsetmap.ReadCommitted
	topic, tp := w.topic("t"), topicPartition{Topic: w.topic("t")}
	end, err := w.openFrom10(ctx, tp, 10)
	if err != nil {
		return err
	}
	defer end(kgo.TryAbort) //nolint:errcheck // what became of the scenario is known by then
	m, err := w.created(ctx, []string{topic})
	if err != nil {
		return err
	}
	for _, c := range []int64{11, 15, 18} {
		req := request(snapshot(stood(topic, 0, c)))
		req.Attestations.Isolation.Value = w.isolation
		_, err = m.MakePlan(ctx, req)
		found, err := blockedFor(err, "source/offset-above-stable")
		if err != nil {
			return fmt.Errorf("a plan with C = %d: %w", c, err)
		}
		req.Acceptances = []offsetmap.Acceptance{{Check: found.Check, Scope: tp.String(), Reason: "never mind", By: "suite"}}
		if _, err := m.MakePlan(ctx, req); err == nil {
			return fmt.Errorf("a plan with C = %d, which the job cannot have reached, was made when that was accepted", c)
		} else if _, err := blockedFor(err, found.Check); err != nil {
			return fmt.Errorf("a plan with C = %d, accepted: %w", c, err)
		}
	}
	before, m, plan, err := w.startedFrom(ctx, []string{topic}, request(snapshot(stood(topic, 0, 10))))
	if err != nil {
		return err
	}
	if proof, err := m.Watch(ctx, plan, flinkmm2.WatchOptions{Within: w.Patience}); !errors.Is(err, flinkmm2.ErrNotProven) || proof == nil || proof.Outcome != "not-proven" || proof.Partitions[0].Outcome != "waits-for-open-transaction" {
		return fmt.Errorf("a watch while the transaction is open: %+v, %w", proof, err)
	}
	if err := w.expectUntouched(ctx, before, topic); err != nil {
		return fmt.Errorf("while the transaction is open: %w", err)
	}
	if err := end(kgo.TryCommit); err != nil {
		return err
	}
	if err := w.awaitSourceEnd(ctx, tp, 19); err != nil {
		return err
	}
	want := map[topicPartition]due{tp: span(tp, 10, 18)}
	if err := w.expectDelivered(ctx, before, want); err != nil {
		return fmt.Errorf("the oracle: %w", err)
	}
	return w.watched(ctx, m, plan, want)
}

// openFrom10 fills a source partition with ten records, five of a transaction
// that stays open, and three of another producer. The target gets those before c.
func (w *world) openFrom10(ctx context.Context, tp topicPartition, c int) (end func(kgo.TransactionEndTry) error, err error) {
	if err := errors.Join(w.create(ctx, 1, tp.Topic), produce(ctx, w.source, tp, 0, 10), produce(ctx, w.target, tp, 0, c)); err != nil {
		return nil, err
	}
	if end, err = w.openTransaction(ctx, tp, 10, 15); err != nil {
		return nil, err
	}
	if err := produce(ctx, w.source, tp, 15, 18); err != nil {
		return nil, errors.Join(err, end(kgo.TryAbort))
	}
	return end, nil
}

// blockedFor expects a plan to be blocked by the check, and returns the finding.
func blockedFor(err error, id string) (offsetmap.Finding, error) {
	blocked, ok := errors.AsType[*offsetmap.BlockedError](err)
	if !ok {
		return offsetmap.Finding{}, fmt.Errorf("want a plan blocked for %s, got %w", id, err)
	}
	i := slices.IndexFunc(blocked.Findings, func(f offsetmap.Finding) bool { return f.Check == id })
	if i < 0 {
		return offsetmap.Finding{}, fmt.Errorf("the plan is not blocked for %s: %w", id, err)
	}
	return blocked.Findings[i], nil
}
