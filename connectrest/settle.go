package connectrest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errNotSeen is what a read-back says when it could read, and what was asked for
// is not there.
var errNotSeen = errors.New("it is not done yet")

// settle sends a write at most sends times. It sends again only after a
// read-back: seen returns nil when what was asked for is there, an errNotSeen
// when it is not within the given time, and any other error when that could not
// be read, which ends it.
//
// What is not seen may still happen, since a worker goes on after it gave up
// the request. So only what may be repeated has more than one send, and none where
// the policy says that nothing is sent again; the end of it all is an unknown
// outcome.
func (c *Client) settle(ctx context.Context, sends int, r request, seen func(context.Context, time.Duration) error) error {
	if c.retry.Budget < 0 {
		sends = 1
	}
	lost := c.do(ctx, r)
	if !errors.Is(lost, ErrOutcomeUnknown) {
		return lost
	}
	for sent := 1; ; sent++ {
		err := seen(ctx, c.readBackWithin(ctx, sent < sends))
		if err == nil {
			c.log.InfoContext(ctx, "kafka connect read back: the write was done, though its answer was lost", "reason", lost)
			return nil
		}
		if !errors.Is(err, errNotSeen) || sent == sends || ctx.Err() != nil {
			return fmt.Errorf("%w; read back: %w", lost, err)
		}
		c.log.WarnContext(ctx, "kafka connect read back: the write is not done, it is sent again", "reason", lost, "read_back", err)
		switch again := c.do(ctx, r); {
		case again == nil:
			return nil
		case errors.Is(again, ErrOutcomeUnknown):
			lost = again
		default:
			// This refusal says nothing about the first.
			return fmt.Errorf("%w; sent again: %w", lost, again)
		}
	}
}

// readBackWithin bounds one read-back. Of the time that ctx leaves, half is kept for
// a write that may be sent again: a deadline below RetryPolicy.ReadBack would
// otherwise end in an unknown outcome, with another worker never asked.
func (c *Client) readBackWithin(ctx context.Context, sendsAgain bool) time.Duration {
	within := c.retry.ReadBack
	if end, ok := ctx.Deadline(); ok && sendsAgain {
		within = min(within, time.Until(end)/2)
	}
	return within
}
