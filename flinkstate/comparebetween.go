package flinkstate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Between says what the source holds of the offsets between C and what a group
// has committed.
type Between string

const (
	// BetweenRecords: a record that the reader is shown.
	BetweenRecords Between = "records"
	// BetweenMarkers: nothing but markers of transactions, which end each one with
	// an offset of its own and are shown to nobody.
	BetweenMarkers Between = "transaction-markers"
	// BetweenAborted: nothing but records of aborted transactions, which a
	// read_committed reader is not shown, and markers.
	BetweenAborted Between = "aborted-records"
	// BetweenGaps: no record, and offsets without anything: compaction took what was
	// there, so a record may have been read from them before.
	BetweenGaps Between = "gaps"
)

// Hollow reports whether there never was a record to read: no reader passed one,
// whatever it committed.
func (b Between) Hollow() bool { return b == BetweenMarkers || b == BetweenAborted }

// ExplainOption changes what [Comparison.Explain] reads.
type ExplainOption func(*explainer)

// WithMostOffsets says how large a difference is at most that is looked into.
// Larger ones hold records in every log that has some.
// By default, 1000 offsets.
func WithMostOffsets(n int64) ExplainOption { return func(e *explainer) { e.most = n } }

// WithExplainTimeout says how long all reading may take. What was not looked into
// by then stays unexplained.
// By default, 15 seconds.
func WithExplainTimeout(d time.Duration) ExplainOption { return func(e *explainer) { e.within = d } }

// Explain looks into the source, with a client of the cluster that has the group,
// at the offsets between C and what was committed of each partition that is Behind
// or Ahead by few offsets, and returns a copy of the comparison with
// [Compared.Between] set where it could be found out. One MiB of a partition is
// read at a time, up to the first record that a reader of that isolation level is
// shown.
//
// An *[UnexplainedError] says of which partitions that could not be found out;
// their Between stays empty, and they count as if a record was there.
func (c Comparison) Explain(ctx context.Context, client *kgo.Client, isolation offsetmap.Isolation, opts ...ExplainOption) (Comparison, error) {
	e := &explainer{client: client, most: 1000, within: 15 * time.Second}
	for _, o := range opts {
		o(e)
	}
	out := slices.Clone(c)
	var asked []*Compared
	for i := range out {
		if p := &out[i]; p.By > 0 && p.By <= e.most {
			asked = append(asked, p)
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.within)
	defer cancel()
	failed := &UnexplainedError{Reasons: map[offsetmap.TopicPartition]error{}}
	err := e.isolate(isolation)
	if err == nil {
		err = e.findLeaders(ctx, asked)
	}
	for _, p := range asked {
		if err == nil {
			err = ctx.Err() // for this one and the rest
		}
		if err != nil {
			failed.Reasons[p.TopicPartition] = err
			continue
		}
		between, err := e.explain(ctx, p)
		if err != nil {
			failed.Reasons[p.TopicPartition] = err
			continue
		}
		p.Between = between
	}
	if len(failed.Reasons) > 0 {
		return out, failed
	}
	return out, nil
}

// UnexplainedError says why it could not be found out what lies between C and
// what a group has committed.
type UnexplainedError struct {
	Reasons map[offsetmap.TopicPartition]error
}

// Error names the first partitions, and counts the rest.
func (e *UnexplainedError) Error() string {
	const most = 3
	var first []string
	for _, tp := range slices.SortedFunc(maps.Keys(e.Reasons), offsetmap.TopicPartition.Compare)[:min(most, len(e.Reasons))] {
		first = append(first, fmt.Sprintf("%s: %v", tp, e.Reasons[tp]))
	}
	text := "what lies between C and the group's offset could not be read: " + strings.Join(first, "; ")
	if n := len(e.Reasons) - most; n > 0 {
		text += fmt.Sprintf("; and of %d more partitions", n)
	}
	return text
}

// Unwrap returns the reasons.
func (e *UnexplainedError) Unwrap() []error { return slices.Collect(maps.Values(e.Reasons)) }

// WithBetween returns a copy of the comparison that has taken over what an
// earlier one found out of the same offsets.
func (c Comparison) WithBetween(earlier Comparison) Comparison {
	known := make(map[Compared]Between, len(earlier))
	for _, p := range earlier {
		between := p.Between
		p.Between = ""
		known[p] = between
	}
	out := slices.Clone(c)
	for i, p := range out {
		out[i].Between = cmp.Or(p.Between, known[p])
	}
	return out
}

type explainer struct {
	client    *kgo.Client
	isolation kgo.IsolationLevel
	most      int64
	within    time.Duration
	leaders   map[offsetmap.TopicPartition]leader
}

type leader struct {
	fresh.Leader
	err error
}

// fetchBytes bounds one fetch, which has at least one batch, whatever its size.
const fetchBytes = 1 << 20

func (e *explainer) isolate(isolation offsetmap.Isolation) error {
	switch isolation {
	case offsetmap.ReadCommitted:
		e.isolation = kgo.ReadCommitted()
	case offsetmap.ReadUncommitted:
		e.isolation = kgo.ReadUncommitted()
	default:
		return fmt.Errorf("isolation level %q is neither %s nor %s", isolation, offsetmap.ReadCommitted, offsetmap.ReadUncommitted)
	}
	return nil
}

// findLeaders asks for those of all partitions at once.
func (e *explainer) findLeaders(ctx context.Context, asked []*Compared) error {
	req := kmsg.NewPtrMetadataRequest()
	for i, p := range asked { // sorted
		if i == 0 || asked[i-1].Topic != p.Topic {
			topic := kmsg.NewMetadataRequestTopic()
			topic.Topic = &p.Topic
			req.Topics = append(req.Topics, topic)
		}
	}
	resp, err := req.RequestWith(ctx, e.client)
	if err != nil {
		return err
	}
	e.leaders = map[offsetmap.TopicPartition]leader{}
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		for _, p := range t.Partitions {
			e.leaders[offsetmap.TopicPartition{Topic: *t.Topic, Partition: p.Partition}] = leader{
				fresh.Leader{Broker: p.Leader, Topic: t.TopicID}, cmp.Or(kerr.ErrorForCode(t.ErrorCode), kerr.ErrorForCode(p.ErrorCode)),
			}
		}
	}
	return nil
}

// explain reads what lies between until a record decides it.
func (e *explainer) explain(ctx context.Context, p *Compared) (Between, error) {
	lead, ok := e.leaders[p.TopicPartition]
	if !ok || lead.Broker < 0 && lead.err == nil {
		lead.err = kerr.LeaderNotAvailable
	}
	if lead.err != nil {
		return "", lead.err
	}
	from, goal := p.bounds()
	var found tally
	for at := from; at < goal; {
		answer, err := fresh.Fetch(ctx, e.client, lead.Leader, p.TopicPartition, at, fetchBytes, e.isolation)
		if err != nil {
			return "", err
		}
		next, err := found.add(e.isolation, p.TopicPartition, answer, at, goal)
		switch {
		case err != nil:
			return "", err
		case found.shown > 0:
			return BetweenRecords, nil
		case next <= at:
			return "", fmt.Errorf("the broker shows nothing from offset %d on, before %d", at, goal)
		}
		at = next
	}
	switch hidden := found.markers + found.aborted; {
	case hidden < goal-from:
		return BetweenGaps, nil
	case found.aborted > 0:
		return BetweenAborted, nil
	default:
		return BetweenMarkers, nil
	}
}

// bounds are the offsets between: from the lower one, up to but not the higher.
func (c Compared) bounds() (from, to int64) {
	n, _ := c.Next.Value()
	m, _ := c.Committed.Value()
	return min(n, m), max(n, m)
}

// tally counts offsets by what they hold.
type tally struct{ shown, aborted, markers int64 }

// add counts what an answer holds from an offset up to the goal, and returns up to
// where it goes.
func (t *tally) add(isolation kgo.IsolationLevel, tp offsetmap.TopicPartition, answer *kmsg.FetchResponseTopicPartition, from, goal int64) (int64, error) {
	opts := kgo.ProcessFetchPartitionOpts{KeepControlRecords: true, Offset: from, IsolationLevel: isolation, Topic: tp.Topic, Partition: tp.Partition}
	shown, _ := kgo.ProcessFetchPartition(opts, answer, kgo.DefaultDecompressor(), nil)
	// Whatever the isolation level, the answer holds every batch, and those of
	// aborted transactions are named beside them.
	opts.IsolationLevel = kgo.ReadUncommitted()
	all, next := kgo.ProcessFetchPartition(opts, answer, kgo.DefaultDecompressor(), nil)
	if err := cmp.Or(shown.Err, all.Err); err != nil {
		return from, err
	}
	data := func(records []*kgo.Record) (n, markers int64) {
		for _, r := range records {
			switch {
			case r.Offset < from || r.Offset >= goal:
			case r.Attrs.IsControl():
				markers++
			default:
				n++
			}
		}
		return n, markers
	}
	visible, _ := data(shown.Records)
	stored, markers := data(all.Records)
	t.shown += visible
	t.aborted += stored - visible
	t.markers += markers
	return next, nil
}
