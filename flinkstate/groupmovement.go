package flinkstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Stillness says whether a group's offsets stood still while it was looked at.
type Stillness string

const (
	// Moving: somebody committed to the group between two looks, so its job runs.
	Moving Stillness = "moving"
	// StoodStill: no offset moved over the whole window. A job commits once a
	// checkpoint, so this says something only of a window that is longer than the
	// checkpoints' interval, and nothing of a job that has nothing to read.
	StoodStill Stillness = "stood-still"
	// StillnessNotProven: there was one look only, or the window was not covered.
	StillnessNotProven Stillness = "not-proven"
)

// Movement is what looks at a group over a window show.
type Movement struct {
	Verdict Stillness
	// Reason says why the verdict is StillnessNotProven; else it is empty.
	Reason string
	// Window is the time over which the group was to be looked at, and Covered that
	// between the first and the last look.
	Window  time.Duration
	Covered time.Duration
	// Moved holds each commit that was seen, by partition and time. It is never
	// empty with Moving, and always with the other verdicts.
	Moved []Move
	// Gone holds the partitions, sorted, whose offset was there at one look and not
	// at the next: it expired or was deleted, which nobody who reads does.
	Gone []offsetmap.TopicPartition
}

// Move is a committed offset that changed between two looks.
type Move struct {
	offsetmap.TopicPartition
	From   offsetmap.NextOffset // none where there was no offset before
	To     offsetmap.NextOffset
	FromAt time.Time // of the look that saw From
	ToAt   time.Time
}

// String names the partition, both offsets and both times.
func (m Move) String() string {
	const clock = "15:04:05.000"
	return fmt.Sprintf("%s went from %s at %s to %s at %s", m.TopicPartition, m.From, m.FromAt.UTC().Format(clock), m.To, m.ToAt.UTC().Format(clock))
}

// MovementOver holds looks at one group, in the order of their time, against one
// another. With fewer than two of them, or when they cover less than the window,
// the verdict is StillnessNotProven, unless a move was seen. Looks at different
// topics show moves that nobody made: they must be of the same ones.
//
// What state the group is in decides nothing: it is Empty while a KafkaSource
// runs.
func MovementOver(window time.Duration, looks ...*Group) Movement {
	m := Movement{Window: window}
	for i := 1; i < len(looks); i++ {
		moved, gone := changes(looks[i-1], looks[i])
		m.Moved, m.Gone = append(m.Moved, moved...), append(m.Gone, gone...)
	}
	if n := len(looks); n > 1 {
		m.Covered = looks[n-1].At.Sub(looks[0].At)
	}
	slices.SortStableFunc(m.Moved, func(a, b Move) int { return a.Compare(b.TopicPartition) })
	slices.SortFunc(m.Gone, offsetmap.TopicPartition.Compare)
	m.Gone = slices.Compact(m.Gone)
	switch {
	case len(m.Moved) > 0:
		m.Verdict = Moving
	case len(looks) == 0:
		m.Verdict, m.Reason = StillnessNotProven, "the group was not looked at"
	case len(looks) == 1:
		m.Verdict, m.Reason = StillnessNotProven, "the group was looked at once"
	case window <= 0:
		m.Verdict, m.Reason = StillnessNotProven, "no window was given over which it should stand still"
	case m.Covered < window:
		m.Verdict, m.Reason = StillnessNotProven, fmt.Sprintf("the looks cover %s, not %s", m.Covered, window)
	default:
		m.Verdict = StoodStill
	}
	return m
}

// changes are those between two looks, in no order.
func changes(earlier, later *Group) (moved []Move, gone []offsetmap.TopicPartition) {
	before, after := earlier.Committed(), later.Committed()
	for tp, to := range after {
		if from := before[tp]; from != to {
			moved = append(moved, Move{TopicPartition: tp, From: from, To: to, FromAt: earlier.At, ToAt: later.At})
		}
	}
	for tp := range before {
		if after[tp].IsNone() {
			gone = append(gone, tp)
		}
	}
	return moved, gone
}

// String says the verdict and what it rests on, with the moves.
func (m Movement) String() string {
	switch m.Verdict {
	case Moving:
		moves := make([]string, len(m.Moved))
		for i, move := range m.Moved {
			moves[i] = move.String()
		}
		return "somebody commits to it: " + strings.Join(moves, ", ")
	case StoodStill:
		return fmt.Sprintf("no offset moved over %s", m.Window)
	default:
		return "not proven to stand still: " + m.Reason
	}
}

// Watch reads the group as Read does, waits for the window, and reads it again.
// It returns the last look, which is the first when there was no second one, and
// what both show; the Movement is never StoodStill beside an error.
//
// The window should be longer than the interval of the job's checkpoints: only
// with a checkpoint does it commit. A group without an offset is looked at again
// too: the first commit of a job that has just been started may be still to come.
// Where there is none at the second look either, the error is that of Read.
func (r *GroupReader) Watch(ctx context.Context, window time.Duration, group string, topics ...string) (*Group, Movement, error) {
	first, err := r.Read(ctx, group, topics...)
	empty := holdsNothing(err)
	switch {
	case empty && window > 0:
		first = &Group{GroupDescription: GroupDescription{ID: group}, At: r.now()}
	case err != nil:
		return nil, MovementOver(window), err
	case window <= 0:
		return first, MovementOver(window, first), nil
	}
	// The first look ended later than it was asked for, so both lie a whole window
	// apart.
	if err := r.sleep(ctx, window); err != nil {
		return first, MovementOver(window, first), fmt.Errorf("consumer group %s: the window of %s was cut short: %w", group, window, err)
	}
	second, err := r.Read(ctx, group, topics...)
	switch {
	case empty && holdsNothing(err):
		return nil, Movement{Verdict: StillnessNotProven, Reason: "it had no offset at either look, so none could move", Window: window}, err
	case err != nil:
		return first, MovementOver(window, first), fmt.Errorf("the look after %s: %w", window, err)
	}
	return second, MovementOver(window, first, second), nil
}

// holdsNothing reports whether a group was looked at and has no offset.
func holdsNothing(err error) bool { return errors.Is(err, ErrNoGroup) || errors.Is(err, ErrNoCommit) }
