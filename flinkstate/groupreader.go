package flinkstate

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// GroupReader reads the consumer groups of one cluster. It holds no state of
// them: each call looks anew.
type GroupReader struct {
	admin         GroupAdmin
	requestor     kmsg.Requestor // nil when none was given
	stableTimeout time.Duration
	now           func() time.Time
	sleep         func(context.Context, time.Duration) error
}

// GroupOption changes how a GroupReader works.
type GroupOption func(*GroupReader)

// NewGroupReader returns a reader of the groups of admin's cluster.
func NewGroupReader(admin GroupAdmin, opts ...GroupOption) *GroupReader {
	r := &GroupReader{admin: admin, stableTimeout: 30 * time.Second, now: time.Now, sleep: sleepFor}
	for _, o := range opts {
		o(r)
	}
	return r
}

// WithStableTimeout says how long to wait for open transactions that hold offsets
// of the group to end. Zero does not wait. A producer's transaction lives for
// transaction.timeout.ms at most, a minute by default and at most 15 unless the
// brokers say otherwise; one that hangs needs kafka-transactions.sh.
// By default, 30 seconds.
func WithStableTimeout(d time.Duration) GroupOption {
	return func(r *GroupReader) { r.stableTimeout = d }
}

// WithRequestor gives a client of the same cluster, such as a *kgo.Client. With
// it partitions that seem to have no committed offset are asked for by name: a
// broker that is asked for all offsets leaves out a partition whose first offset
// is in a transaction that is still open.
// By default, such a partition is taken for one without an offset.
func WithRequestor(client kmsg.Requestor) GroupOption {
	return func(r *GroupReader) { r.requestor = client }
}

// WithGroupClock replaces the clock and the way to wait, for tests. Nil leaves
// one as it is.
// By default, the time package's.
func WithGroupClock(now func() time.Time, sleep func(context.Context, time.Duration) error) GroupOption {
	return func(r *GroupReader) {
		if now != nil {
			r.now = now
		}
		if sleep != nil {
			r.sleep = sleep
		}
	}
}

// unstablePause lies between two looks at offsets in open transactions.
const unstablePause = 250 * time.Millisecond

func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// UnstableOffsetsError says that offsets of a group were still in open
// transactions when the wait for them ended. It is a kerr.UnstableOffsetCommit.
type UnstableOffsetsError struct {
	Group string
	// Partitions are those whose offset an open transaction may replace, by topic
	// and number.
	Partitions []offsetmap.TopicPartition
	Waited     time.Duration
	// Cause is why the wait ended early, such as the context's error; nil at the
	// end of the bound.
	Cause error
}

// Error names the partitions, and how long was waited.
func (e *UnstableOffsetsError) Error() string {
	text := fmt.Sprintf("consumer group %s: %s after a wait of %s: offsets in an open transaction of %s",
		e.Group, kerr.UnstableOffsetCommit.Message, e.Waited.Round(time.Millisecond), joined(e.Partitions))
	if e.Cause != nil {
		text += fmt.Sprintf(" (the wait was cut short: %v)", e.Cause)
	}
	return text
}

// Unwrap returns kerr.UnstableOffsetCommit, and Cause where there is one.
func (e *UnstableOffsetsError) Unwrap() []error {
	if e.Cause != nil {
		return []error{kerr.UnstableOffsetCommit, e.Cause}
	}
	return []error{kerr.UnstableOffsetCommit}
}

// askMissing asks by name for the partitions that no offset was found of.
func (l *groupLook) askMissing(ctx context.Context) error {
	if l.reader.requestor == nil || len(l.group.Missing) == 0 {
		return nil
	}
	answered, err := l.reader.fetchNamed(ctx, l.group.ID, l.group.Missing)
	if err != nil {
		return err
	}
	return l.takeNamed(answered)
}
