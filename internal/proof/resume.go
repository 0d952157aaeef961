package proof

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// noteMark keeps where the partition stands.
func (p *partition) noteMark() {
	if m, some := p.cmp.Mark(); some {
		m.Expired = p.expired
		p.mark = &m
	}
}

// passMarks tells the caller where the partitions stand.
func (r *runner) passMarks() {
	var marks []PartitionMark
	for _, p := range r.parts {
		p.mu.Lock()
		if !p.decided {
			p.noteMark()
		}
		if p.mark != nil {
			marks = append(marks, PartitionMark{p.Source, *p.mark})
		}
		p.mu.Unlock()
	}
	r.Marks(marks)
}

// readAgainAtATime bounds the partitions whose old records are read at once, and
// readAgainBytes what is asked for at a time.
const (
	readAgainAtATime = 8
	readAgainBytes   = 64 << 10
)

// readAgain reads what a partition that goes on must know of and what its reader
// does not come by: the records before C, and those before the window that were
// passed over.
func (r *runner) readAgain(ctx context.Context) error {
	slots := make(chan struct{}, readAgainAtATime)
	errs := make([]error, len(r.parts))
	var wg sync.WaitGroup
	for i, p := range r.parts {
		if p.From == nil || p.source.fatal != nil || p.target.fatal != nil {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := r.readers[sourceSide].readAgain(ctx, p); err != nil {
				errs[i] = fmt.Errorf("source %s: read again what was compared: %w", p.Source, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (r *reader) readAgain(ctx context.Context, p *partition) error {
	digester := r.digester.Clone()
	feed := func(to func(Print)) func(*kgo.Record) bool {
		return func(rec *kgo.Record) bool {
			to(digester.Print(rec, p.timestamps))
			return false
		}
	}
	read := func(from, below int64, to func(Print)) error {
		from = max(from, p.lookback) // what is below is gone, or not asked for
		if from >= below {
			return nil
		}
		err := r.scan(ctx, p.Source, from, below, readAgainBytes, p.source.compacted, feed(to))
		if errors.Is(err, kerr.OffsetOutOfRange) {
			return nil // gone since
		}
		return err
	}
	if p.From.Window > p.next {
		if err := read(p.lookback, p.next, p.cmp.Before); err != nil {
			return err
		}
	}
	for _, g := range p.From.Gaps {
		if err := read(g.From, min(g.To+1, p.From.Window), p.cmp.Known); err != nil {
			return err
		}
	}
	return nil
}
