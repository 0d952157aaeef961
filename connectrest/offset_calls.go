package connectrest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Offsets returns what is stored for a connector: every partition that was ever
// written under its name and not deleted since, also by an earlier connector of
// that name. The order means nothing.
//
// Right after a write the list may be short for some seconds, on every worker
// version, although the worker says 200: see [Client.AwaitOffsets] and
// [Client.AwaitStableOffsets].
func (c *Client) Offsets(ctx context.Context, name string) ([]Offset, error) {
	return c.offsets(ctx, name, request{})
}

func (c *Client) offsets(ctx context.Context, name string, r request) ([]Offset, error) {
	var all offsetList
	if err := c.streamOffsets(ctx, name, &all, r); err != nil {
		return nil, err
	}
	return all.list(), nil
}

func (c *Client) streamOffsets(ctx context.Context, name string, sink offsetSink, r request) error {
	out := offsetStream{sink: sink}
	r.out, r.needs, r.list = &out, featureOffsets, true
	// An answer without the list must not read as "nothing is stored".
	r.valid = func() error { return missing(!out.found, "list of offsets") }
	return c.get(ctx, name, r, "offsets")
}

// AlterOffsets stores the given offsets, and deletes those that are null; other
// partitions stay as they are. The connector must be STOPPED with no task left,
// else it is an [ErrNotStopped]. A worker does not check what the values mean.
//
// An empty list, an offset that is not set, what is no JSON object, and the same
// partition twice are refused as an [ErrBadRequest] before anything is sent.
//
// Success is the worker's word, and is not read back: [Client.AlterOffsetsInParts]
// does that, for few offsets too.
//
// All offsets go out in one request, which for many is [Client.AlterOffsetsInParts]'s
// to cut. It is not atomic unless the worker has exactly-once support: when the
// outcome is unknown, part may be stored.
func (c *Client) AlterOffsets(ctx context.Context, name string, offsets []Offset) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := writable(name, offsets); err != nil {
		return err
	}
	return c.alter(ctx, name, offsets)
}

// changedOffsets is the answer to a change that was done (Kafka's Message).
type changedOffsets struct {
	Message string `json:"message"`
}

func (c *changedOffsets) check() error { return missing(c.Message == "", "message") }

// writable refuses offsets that cannot be written.
func writable(name string, offsets []Offset) error {
	err := errors.New("there is nothing to alter")
	switch {
	case len(offsets) == 0:
	case plainAscending(offsets):
		return nil
	default:
		if _, err = newWritableTable(offsets); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: offsets of connector %q: %w", ErrBadRequest, name, err)
}

// alter sends offsets that were found writable.
func (c *Client) alter(ctx context.Context, name string, offsets []Offset) error {
	var done changedOffsets
	return c.settle(ctx, 2, request{
		method: http.MethodPatch, path: []string{"connectors", name, "offsets"}, mode: write,
		connector: name, body: sendOffsets(offsets), needs: featureAlter,
		out: &done, valid: done.check,
	}, func(ctx context.Context, within time.Duration) error {
		want, err := newOffsetTable(offsets)
		if err != nil {
			return err
		}
		_, err = c.awaitStored(ctx, name, want, within)
		if e, ok := errors.AsType[*ReadBackError](err); ok && e.Reads > 0 {
			return fmt.Errorf("%w: %w", errNotSeen, err)
		}
		return err
	})
}

// AlterOffsetsOnceStopped waits until the connector is STOPPED without tasks, as
// [Client.AwaitStopped] does, and then is [Client.AlterOffsets]. Right after a
// stop the worker that must write may still see tasks where another sees none: its
// refusal is waited out too. When the given time has passed the error is a
// [*NotStoppedError] that names the tasks that are left, and nothing was written.
//
// It sends no stop: see [Client.Stop].
func (c *Client) AlterOffsetsOnceStopped(ctx context.Context, name string, offsets []Offset, within time.Duration) error {
	start := c.clock.Now()
	for left, pause := within, minPoll; ; pause = min(2*pause, maxPoll) {
		status, err := c.awaitStopped(ctx, name, left)
		if err != nil {
			return err
		}
		err = c.AlterOffsets(ctx, name, offsets)
		if !errors.Is(err, ErrNotStopped) || errors.Is(err, ErrOutcomeUnknown) {
			return err
		}
		if left = within - c.clock.Now().Sub(start); left <= 0 {
			return &NotStoppedError{Name: name, State: status.Connector.State, Tasks: status.Tasks, Err: err}
		}
		if sleepErr := c.clock.Sleep(ctx, min(pause, left)); sleepErr != nil {
			return &NotStoppedError{Name: name, State: status.Connector.State, Tasks: status.Tasks, Err: ended(sleepErr, err)}
		}
	}
}

// ResetOffsets deletes all offsets of a connector, which must be STOPPED with no
// task left, else it is an [ErrNotStopped]. It succeeds where there are none. A
// worker resets the partitions that it knows, which may not be all right after a
// large change: read back with [Client.AwaitStableOffsets].
func (c *Client) ResetOffsets(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	var done changedOffsets
	return c.settle(ctx, 2, request{
		method: http.MethodDelete, path: []string{"connectors", name, "offsets"}, mode: write,
		connector: name, needs: featureAlter, out: &done, valid: done.check,
	}, func(ctx context.Context, within time.Duration) error {
		offsets, err := c.AwaitStableOffsets(ctx, name, resetQuiet, within)
		if err == nil && slices.ContainsFunc(offsets, func(o Offset) bool { return !o.IsNull() }) {
			err = fmt.Errorf("%w: %d offsets are still stored", errNotSeen, len(offsets))
		}
		return err
	})
}

// resetQuiet is for how long nothing must be stored before a reset whose answer was
// lost counts as done: a worker that has not read its offsets yet shows none or a part
// of them, for up to 10 s where they are 100,000.
const resetQuiet = 10 * time.Second

// ErrReadBack says that the offsets that were read back never were as expected.
var ErrReadBack = errors.New("offsets read back are not as expected")

// ReadBackError says what the last read-back lacked. It is an [ErrReadBack], and
// an [context.DeadlineExceeded] or [context.Canceled] only when the caller's own
// context ended.
type ReadBackError struct {
	Name string
	// Reads counts the complete answers.
	Reads int
	// Err is what the last complete answer lacked, or, when there was none or
	// the wait ended otherwise, what failed.
	Err error
}

// Error names the connector and what was not as expected.
func (e *ReadBackError) Error() string {
	return fmt.Sprintf("%v: connector %q after %d reads: %v", ErrReadBack, e.Name, e.Reads, e.Err)
}

// Unwrap returns ErrReadBack and the reason.
func (e *ReadBackError) Unwrap() []error { return []error{ErrReadBack, e.Err} }

// AwaitOffsets reads the offsets until want returns nil for them, for at most
// the given time; want says what an answer lacks, [DiffOffsets] for one. An
// answer that is short, or a 500, says nothing yet: after a write of 100,000
// partitions it took a worker 10 s to show all of them.
//
// It returns the last complete answer, also with the [*ReadBackError] when the
// time passed, and fails at once on what waiting cannot mend.
func (c *Client) AwaitOffsets(ctx context.Context, name string, want func([]Offset) error, within time.Duration) ([]Offset, error) {
	var last []Offset
	var lacks error
	reads := 0
	err := c.poll(ctx, within, func(ctx context.Context) (bool, error) {
		got, err := c.offsets(ctx, name, request{single: true})
		if err != nil {
			return false, err
		}
		reads++
		last, lacks = got, want(got)
		return lacks == nil, nil
	})
	return last, readBack(name, reads, lacks, err)
}

// awaitStored is AwaitOffsets for the entries of want, without a list of what is
// stored. equal says which of them the last complete answer has; nil where there
// was none.
func (c *Client) awaitStored(ctx context.Context, name string, want *offsetTable, within time.Duration) (equal []bool, err error) {
	var lacks error
	reads := 0
	err = c.poll(ctx, within, func(ctx context.Context) (bool, error) {
		check := storedCheck{want: want}
		if err := c.streamOffsets(ctx, name, &check, request{single: true}); err != nil {
			return false, err
		}
		reads++
		lacks, equal = check.lacks(), check.equal
		return lacks == nil, nil
	})
	return equal, readBack(name, reads, lacks, err)
}

// AwaitStableOffsets reads the offsets until two successive complete answers,
// at least quiet apart, are equal, for at most the given time. It is for where
// nothing tells what to expect: whether nothing is stored, and whether a task
// that was stopped has committed its last. One answer proves neither.
//
// quiet must be at least what is waited for: offset.flush.timeout.ms of the
// worker (5 s by default) for a connector that ran. Its result and its errors
// are those of [Client.AwaitOffsets].
func (c *Client) AwaitStableOffsets(ctx context.Context, name string, quiet, within time.Duration) ([]Offset, error) {
	var last []Offset
	var lacks error
	var since time.Time
	reads := 0
	err := c.poll(ctx, within, func(ctx context.Context) (bool, error) {
		now := c.clock.Now()
		if reads > 0 && now.Sub(since) < quiet {
			return false, nil
		}
		got, err := c.offsets(ctx, name, request{single: true})
		if err != nil {
			return false, err
		}
		reads++
		if reads == 1 {
			last, since, lacks = got, now, fmt.Errorf("only one answer within %v", within)
			return false, nil
		}
		diff := DiffOffsets(last, got)
		if diff != nil {
			lacks = fmt.Errorf("they still change: %w", diff)
		}
		last, since = got, now
		return diff == nil, nil
	})
	return last, readBack(name, reads, lacks, err)
}

func readBack(name string, reads int, lacks, err error) error {
	switch {
	case err == nil:
		return nil
	case lacks == nil:
		lacks = err
	case !errors.Is(err, errExpired):
		lacks = fmt.Errorf("%w: %w", err, lacks)
	}
	if errors.Is(err, errExpired) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &ReadBackError{Name: name, Reads: reads, Err: lacks}
	}
	return err
}
