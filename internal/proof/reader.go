package proof

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// reader reads one side of all partitions with one client.
type reader struct {
	side      which
	client    *kgo.Client
	isolation kgo.IsolationLevel
	parts     map[string]map[int32]*partition
	digester  *Digester
	scratch   []Print
	pace      *pace
}

// fetchWait is how long a broker holds a fetch that finds nothing, unless the
// caller's options say otherwise. What is paused or added takes effect with the
// next fetch only.
const fetchWait = 500 * time.Millisecond

func newReader(side which, c Cluster, parts []*partition, d *Digester, limit *pace) (*reader, error) {
	r := &reader{side: side, isolation: isolation(c.Isolation), parts: map[string]map[int32]*partition{}, digester: d, pace: limit}
	from := map[string]map[int32]kgo.Offset{}
	for _, p := range parts {
		tp := p.name(side)
		if r.parts[tp.Topic] == nil {
			r.parts[tp.Topic] = map[int32]*partition{}
			from[tp.Topic] = map[int32]kgo.Offset{}
		}
		r.parts[tp.Topic][tp.Partition] = p
		from[tp.Topic][tp.Partition] = kgo.NewOffset().At(p.side(side).position)
	}
	opts := append([]kgo.Opt{kgo.FetchMaxWait(fetchWait)}, c.Options...)
	opts = append(
		opts,
		kgo.ConsumeTopics(), // none but the partitions
		kgo.ConsumePartitions(from),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), // an offset that is gone is an error, never another offset
		kgo.FetchIsolationLevel(r.isolation),
		kgo.KeepControlRecords(), // they say how far a log was read
		kgo.KeepRetryableFetchErrors(),
		kgo.WithPools(new(pool)),
	)
	opts = append(opts, limit.options()...)
	var err error
	if r.client, err = kgo.NewClient(opts...); err != nil {
		return nil, fmt.Errorf("%s client: %w", side, err)
	}
	return r, nil
}

func isolation(i offsetmap.Isolation) kgo.IsolationLevel {
	if i == offsetmap.ReadCommitted {
		return kgo.ReadCommitted()
	}
	return kgo.ReadUncommitted()
}

// run feeds the partitions until the context ends.
func (r *reader) run(ctx context.Context) {
	for {
		fetches := r.client.PollFetches(ctx)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return
		}
		for _, f := range fetches {
			for _, t := range f.Topics {
				for i := range t.Partitions {
					r.handle(t.Topic, &t.Partitions[i])
				}
			}
		}
		r.pace.wait(ctx)
	}
}

func (r *reader) handle(topic string, f *kgo.FetchPartition) {
	if f.Partition < 0 { // what concerns the whole client
		for _, ps := range r.parts {
			for _, p := range ps {
				p.fail(r.side, f.Err, false)
			}
		}
		return
	}
	p := r.parts[topic][f.Partition]
	if p == nil {
		return
	}
	if len(f.Records) > 0 {
		r.take(p, f)
	}
	if f.Err != nil {
		r.failed(p, f.Err)
	}
}

func (r *reader) take(p *partition, f *kgo.FetchPartition) {
	r.scratch = r.scratch[:0]
	next := f.Records[len(f.Records)-1].Offset + 1
	for _, rec := range f.Records {
		if !rec.Attrs.IsControl() {
			r.scratch = append(r.scratch, r.digester.Print(rec, p.timestamps))
		}
		rec.Recycle()
	}
	p.take(r.side, fetched{prints: r.scratch, next: next, logStart: f.LogStartOffset})
}

func one(tp offsetmap.TopicPartition) map[string][]int32 {
	return map[string][]int32{tp.Topic: {tp.Partition}}
}

// failed sorts errors: what may pass is remembered, an offset that the broker
// does not have is looked at with fresh bounds, and anything else ends the
// partition. A client skips what it cannot decode, so going on would hide it.
func (r *reader) failed(p *partition, err error) {
	var loss *kgo.ErrDataLoss
	var broker *kerr.Error
	stop := true
	switch {
	case errors.As(err, &loss):
		p.fail(r.side, fmt.Errorf("the log was truncated from %d to %d while it was read", loss.ConsumedTo, loss.ResetTo), true)
	case errors.Is(err, kerr.OffsetOutOfRange):
		p.outOfRange(r.side)
	case errors.As(err, &broker) && broker.Retriable:
		p.fail(r.side, err, false)
		stop = false
	default:
		p.fail(r.side, err, true)
	}
	if stop { // the client would ask again at once, without end
		r.client.PauseFetchPartitions(one(p.name(r.side)))
	}
}

// goOn lets the client read partitions from other offsets.
func (r *reader) goOn(from map[string]map[int32]kgo.EpochOffset) {
	r.client.SetOffsets(from)
	resume := map[string][]int32{}
	for topic, ps := range from {
		for p := range ps {
			resume[topic] = append(resume[topic], p)
		}
	}
	r.client.ResumeFetchPartitions(resume)
}
