package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// maxSteps bounds the acts towards one goal. A plan needs a handful; more means
// that somebody works against it.
const maxSteps = 24

// maxSettles bounds the wait until nothing moves before a boundary is handed to
// Flink: the rollback has settled before, so what moves now is somebody else's.
const maxSettles = 3

// reached is where the way to a goal ended.
type reached struct {
	seen    engine.Observed // what the last decision was made from
	last    engine.Act
	written []engine.Change
	before  offsetsByPartition // what was stored before the last write
	acts    []string           // those that changed something
	begun   bool               // a rollback stands in the journal
	entries int                // of the journal, when the last decision was made
	// untouched are the target's ends that stood where the plan saw them, at the last look
	// that found any: without the connector nobody knows the target's topics.
	untouched []PartitionEnd
}

// changes reports whether an act changes anything outside the journal.
func changes(a engine.Act) bool {
	switch a {
	case engine.Write, engine.Resume, engine.Stop, engine.Delete, engine.PutConfig:
		return true
	default:
		return false
	}
}

// reach asks the engine for one act after the other, carries each out and
// observes again, until the goal is reached or refused.
func (m *Migration) reach(ctx context.Context, goal engine.Goal, plan *offsetmap.Plan, approvedBy string) (reached, error) {
	var r reached
	if err := m.usable(plan); err != nil {
		return r, fmt.Errorf("%s: %w", goal, err)
	}
	return m.walk(ctx, goal, plan, approvedBy, wave{})
}

// walk is reach for a plan that holds, or for what stands in the place of one.
func (m *Migration) walk(ctx context.Context, goal engine.Goal, plan *offsetmap.Plan, approvedBy string, w wave) (reached, error) {
	var r reached
	o := &observer{m: m, plan: plan, goal: goal, wave: w}
	settles, stops := 0, 0
	for range maxSteps {
		// Of 100,000 partitions, what was seen before is not kept beside what is seen now.
		r.seen, o.facts = engine.Observed{}, preflight.Facts{}
		r.seen = o.look(ctx)
		r.entries = o.entries
		if goal == engine.Rollback {
			if ends := untouched(plan, r.seen); len(ends) > 0 {
				r.untouched = ends
			}
		}
		if err := ctx.Err(); err != nil {
			return r, fmt.Errorf("%s: %w", goal, err)
		}
		d := engine.Next(goal, plan, r.seen)
		if d.Refusal != nil {
			o.facts.Explain(d.Refusal.Findings, func(topic string) string { return o.targets[topic] })
			return r, refused(goal, d.Refusal, r.acts)
		}
		r.last = d.Act
		if goal == engine.Rollback && (changes(d.Act) || d.Act == engine.Done || d.Act == engine.Reverse) && !r.begun {
			if err := m.journal(ctx, Entry{Act: actRollback, Phase: PhaseBegin, Plan: plan.Digest}); err != nil {
				return r, fmt.Errorf("%s: %w", goal, err)
			}
			r.begun = true
			continue // whoever starts at the same time either sees this, or is seen now
		}
		acts, written := r.acts, r.written
		if changes(d.Act) {
			r.acts = append(r.acts, string(d.Act))
		}
		m.log.DebugContext(ctx, "next act", "goal", goal, "act", d.Act, "writes", len(d.Writes))
		var err error
		switch d.Act {
		case engine.Done, engine.Reverse:
			return r, nil
		case engine.AwaitTasks:
			err = m.awaitStopped(ctx)
		case engine.AwaitResume:
			err = m.wait(ctx, "the resume that the journal holds to show", m.startWait/4+time.Millisecond)
		case engine.Settle:
			if settles++; goal.HandsBack() && settles > maxSettles {
				return r, fmt.Errorf("%s: %w", goal, preflight.Blocked(o.unsettled()))
			}
			err = m.wait(ctx, "offsets that a stopped task may still commit (the flush timeout and a second)", m.flushTimeout+time.Second)
		case engine.Write:
			before, _ := r.seen.Stored.Get()
			var kept string
			if kept, err = m.backUp(ctx, goal, plan, r.seen, o.facts); err != nil {
				break
			}
			r.seen, o.facts = engine.Observed{}, preflight.Facts{} // as above
			intent := writeIntent(goal, plan, kept, approvedBy)
			err = m.write(ctx, intent, plan, o, before, d.Writes)
			r.before = before.Offsets
			r.written = append(r.written, d.Writes...)
		case engine.RecordStart:
			err = m.recordStart(ctx, plan, r.seen, approvedBy)
		case engine.Resume:
			// The end of the way, whatever came of it: to look again and find the
			// connector still STOPPED would mean to resume it twice.
			if err = m.resume(ctx, plan, o, approvedBy); err == nil {
				return r, nil
			}
		case engine.Stop:
			if stops++; stops > 1 {
				// The worker took the stop, and the state does not show it yet.
				if err = m.awaitStopShows(ctx, stops); err != nil {
					break
				}
			}
			err = m.actAfter(ctx, o.entries, Entry{Act: stopFor(goal), Plan: plan.Digest, Request: m.request(http.MethodPut, "/stop")}, func(ctx context.Context) error { return m.cfg.Connect.Stop(ctx, m.cfg.Connector) })
			o.halted, o.stored = err == nil, nil // what stood still before the stop says nothing
		case engine.PutConfig:
			err = m.putConfig(ctx, plan, o, r.seen)
		case engine.Delete:
			err = m.actAfter(ctx, o.entries, Entry{Act: actDelete, Plan: plan.Digest, Request: m.request(http.MethodDelete, "")}, func(ctx context.Context) error {
				if err := m.cfg.Connect.Delete(ctx, m.cfg.Connector); err != nil {
					return err
				}
				return m.awaitGone(ctx)
			})
		}
		switch {
		case errors.Is(err, ErrOvertaken):
			r.acts, r.written = acts, written // it was not done
		case err != nil:
			return r, fmt.Errorf("%s: %w", goal, err)
		}
	}
	if r.last == engine.Stop {
		return r, fmt.Errorf("%w: %s: the worker took %d stops, and connector %s still does not show STOPPED: where a worker has gone, Connect gives its connectors to others after scheduled.rebalance.max.delay.ms (5 minutes by default); run it again then",
			ErrOutcomeUnknown, goal, stops, m.cfg.Connector)
	}
	return r, fmt.Errorf("%w: %s did not come to rest in %d acts: something else changes connector %s", ErrOutcomeUnknown, goal, maxSteps, m.cfg.Connector)
}

// awaitStopShows waits before a stop is sent for the nth time. Of maxSteps at most, all
// waits together are longer than the default scheduled.rebalance.max.delay.ms, while
// which nobody has the connectors of a worker that died. Short ones are not told of.
func (m *Migration) awaitStopShows(ctx context.Context, n int) error {
	d := min(100*time.Millisecond<<(n-2), 20*time.Second)
	if d < 3*time.Second {
		return m.sleep(ctx, d)
	}
	return m.wait(ctx, "the stop to show", d)
}

// wait stands still, and says so first.
func (m *Migration) wait(ctx context.Context, why string, d time.Duration) error {
	m.log.InfoContext(ctx, LogWait, "for", why, "duration", d, "connector", m.cfg.Connector)
	return m.sleep(ctx, d)
}

func (m *Migration) awaitStopped(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.stopWait)
	defer cancel()
	_, err := m.cfg.Connect.AwaitStopped(ctx, m.cfg.Connector)
	return err
}

// awaitGone waits until a connector that was deleted no longer shows.
func (m *Migration) awaitGone(ctx context.Context) error {
	const pause = 200 * time.Millisecond
	for deadline := m.now().Add(m.stopWait); ; {
		_, err := m.cfg.Connect.Connector(ctx, m.cfg.Connector)
		switch {
		case errors.Is(err, connectrest.ErrNotFound):
			return nil
		case !m.now().Before(deadline):
			return errors.Join(fmt.Errorf("%w: the worker took the deletion of connector %s, and %s later it is not seen gone", ErrOutcomeUnknown, m.cfg.Connector, m.stopWait), err)
		}
		if err := m.sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// write alters the stored offsets, part by part, and reads everything back before
// it says that they are written. A part that fails ends it with a
// *connectrest.PartsError. What was written stays then, which is known and never
// started: a start demands every offset of the plan, and the next run leaves what is
// the plan's already and writes the rest.
func (m *Migration) write(ctx context.Context, intent Entry, plan *offsetmap.Plan, o *observer, before engine.Stored, changes []engine.Change) error {
	intent.Detail = fmt.Sprintf("%d partitions", len(changes))
	want := maps.Clone(before.Offsets)
	for _, c := range changes {
		if v := c.Write.Result(); v.IsNone() {
			delete(want, c.TopicPartition)
		} else {
			want[c.TopicPartition] = v
		}
	}
	alias := plan.Body.Connector.SourceAlias
	all := make(map[offsetmap.TopicPartition]offsetmap.Write, len(changes))
	for _, c := range changes {
		all[c.TopicPartition] = c.Write
	}
	entries, err := connectrest.MirrorSourceWrites(alias, all)
	if err != nil {
		return err
	}
	request, err := m.request(http.MethodPatch, "/offsets").withBody(connectrest.OffsetsBody{Offsets: entries}, len(entries))
	if err != nil {
		return err
	}
	intent.Request = request
	return m.actAfter(ctx, o.entries, intent, func(ctx context.Context) error {
		err := m.cfg.Connect.AlterOffsetsInParts(ctx, m.cfg.Connector, entries, connectrest.WithoutPartsReadBack(), connectrest.WithPartsProgress(m.progress(ctx)))
		if err != nil {
			return err
		}
		_, err = m.cfg.Connect.AwaitOffsets(ctx, m.cfg.Connector, func(all []connectrest.Offset) error {
			s, err := mirrorOffsets(alias, all)
			switch {
			case err != nil:
				return err
			case !maps.Equal(s.Offsets, want):
				return fmt.Errorf("%d of %d offsets are as written", same(s.Offsets, want), len(want))
			}
			return nil
		}, m.readBack)
		return err
	})
}

// stopFor is how the journal names a stop: one for another wave is no way back.
func stopFor(goal engine.Goal) string {
	if goal == engine.Widen {
		return actHalt
	}
	return actStop
}

// writeIntent is what the journal says of a write of offsets.
func writeIntent(goal engine.Goal, plan *offsetmap.Plan, kept, approvedBy string) Entry {
	switch goal {
	case engine.Rollback:
		return Entry{Act: actRestore, Plan: plan.Digest}
	case engine.Restore: // of no plan
		return Entry{Act: actPutBack, Backup: plan.Digest, Approved: approvedBy}
	default:
		return Entry{Act: actWrite, Plan: plan.Digest, Backup: kept}
	}
}

// progress tells of long work: of what is more than one part.
func (m *Migration) progress(ctx context.Context) func(connectrest.PartsProgress) {
	return func(p connectrest.PartsProgress) {
		if p.Part.Of > 1 {
			m.log.InfoContext(ctx, LogProgress, "what", "offsets written", "done", p.Written, "total", p.Total, "connector", m.cfg.Connector)
		}
	}
}

func same(a, b offsetsByPartition) (n int) {
	for tp, v := range b {
		if a[tp] == v {
			n++
		}
	}
	return n
}

func (m *Migration) recordStart(ctx context.Context, plan *offsetmap.Plan, seen engine.Observed, approvedBy string) error {
	measured, ok := seen.Measured.Get()
	if !ok {
		return errors.New("the target's ends were not measured")
	}
	ends := make([]PartitionEnd, 0, len(plan.Body.Rows))
	for _, r := range plan.Body.Rows {
		ends = append(ends, PartitionEnd{TopicPartition: r.TopicPartition, End: measured[r.TopicPartition].TargetEnd})
	}
	return m.journal(ctx, Entry{Act: actStart, Phase: PhaseDone, Plan: plan.Digest, Approved: approvedBy, Ends: ends, Baseline: m.baseline(ctx, plan)})
}

func (m *Migration) resume(ctx context.Context, plan *offsetmap.Plan, o *observer, approvedBy string) error {
	return m.actAfter(ctx, o.entries, Entry{Act: actResume, Plan: plan.Digest, Approved: approvedBy, Request: m.request(http.MethodPut, "/resume")}, func(ctx context.Context) error { return m.cfg.Connect.Resume(ctx, m.cfg.Connector) })
}
