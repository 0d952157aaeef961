package proof

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Where the target goes on with records that the window does not have, the
// source is read on beyond it, past the reader that feeds the Comparer: either
// the copier left out more than the window holds, or the records are not the
// source's.

// searchesAtATime bounds the searches, each of which reads a source partition
// to its end as fast as it can.
const searchesAtATime = 2

// searchBytes is how much a search asks for at a time.
const searchBytes = 4 << 20

// standsLooks is how often a partition must be found standing before the source
// is searched for the few records at the target's end, which the next ones most
// often explain.
const standsLooks = 3

// stands is where a partition does not go on.
type stands struct {
	head      int
	looks     int
	upTo      int64 // the source's end to search to; 0 when no search is due
	searching bool
	seen      atomic.Int64 // source records that searches have read
}

// stand is called at a barrier while target records wait. Where more of the
// source will be read anyway, that tells.
func (p *partition) stand(b *barrier, behind bool) {
	s := &p.stands
	if p.cmp.Waits() || behind && !p.source.held || s.searching {
		return
	}
	if p.cmp.head != s.head {
		s.head, s.looks = p.cmp.head, 0
	}
	blocked := p.cmp.Blocked()
	if p.target.position < b.target && !blocked {
		return
	}
	// The barrier speaks for the records below it; another is measured next.
	p.barrier = nil
	if s.looks++; (blocked || s.looks >= standsLooks) && p.cmp.strangersEnd() <= b.target {
		s.upTo = b.source
	}
}

// lookout begins the search that is due.
func (p *partition) lookout() (x *Search, from, to int64, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.stands
	if p.decided || s.searching || s.upTo == 0 {
		return nil, 0, 0, false
	}
	from, to, s.upTo = p.source.position, s.upTo, 0
	if x, due = p.cmp.Search(); due {
		s.searching = true
	}
	return x, from, to, due
}

// found takes over the end of a search.
func (p *partition) found(x *Search, complete bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stands.searching = false
	if p.decided {
		return
	}
	if err != nil {
		p.source.err = err
	}
	p.cmp.Conclude(x, complete)
	p.throttle()
}

// search begins the searches that are due and for which there is a slot.
func (r *runner) search(ctx context.Context, wg *sync.WaitGroup, slots chan struct{}) {
	for _, p := range r.parts {
		select {
		case slots <- struct{}{}:
		default:
			return
		}
		x, from, to, due := p.lookout()
		if !due {
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			complete, err := r.readers[sourceSide].search(ctx, p, x, from, to)
			if ctx.Err() != nil {
				err = nil // the run ends, which says nothing about the log
			}
			p.found(x, complete, err)
		})
	}
}

// search holds the readable records of [from, to) to what is searched for, and
// reports whether it saw all that matter.
func (r *reader) search(ctx context.Context, p *partition, x *Search, from, to int64) (complete bool, err error) {
	digester := r.digester.Clone()
	err = r.scan(ctx, p.Source, from, to, searchBytes, p.source.compacted, func(rec *kgo.Record) (over bool) {
		p.stands.seen.Add(1)
		return x.See(digester.Print(rec, p.timestamps))
	})
	return err == nil, err
}

// scan calls fn with each readable record of [from, to), in order, until it
// says that it is over. It asks for so many bytes at most at a time.
func (r *reader) scan(ctx context.Context, tp offsetmap.TopicPartition, from, to int64, most int32, compacted bool, fn func(*kgo.Record) (over bool)) error {
	leader, err := r.leader(ctx, tp)
	if err != nil {
		return err
	}
	for from < to {
		got, err := fresh.Fetch(ctx, r.client, leader, tp, from, most, r.isolation)
		if err != nil {
			return err
		}
		records, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
			Offset: from, IsolationLevel: r.isolation, Topic: tp.Topic, Partition: tp.Partition,
		}, got, kgo.DefaultDecompressor(), nil)
		if records.Err != nil {
			return records.Err
		}
		for _, rec := range records.Records {
			if rec.Offset >= to || fn(rec) {
				return nil
			}
		}
		switch {
		case next > from:
			from = next
		case len(got.RecordBatches) == 0 && compacted && r.readableEnd(got) >= to:
			return nil // see probe
		default:
			return fmt.Errorf("nothing came from offset %d on, below the end %d", from, to)
		}
	}
	return nil
}
