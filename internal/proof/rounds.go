package proof

import (
	"context"
	"time"
)

// rounds is what a runner knows of ends that move on.
type rounds struct {
	measuredAt time.Time // when the ends of now were measured
	began      time.Time // when the ends that are due were
	caughtUp   bool
	judged     int64 // source records of all partitions that the target has reached
}

// goOn does what follows from where all partitions stand together, and reports
// whether the run is over.
func (r *runner) goOn(ctx context.Context) (done bool, err error) {
	if r.began.IsZero() {
		r.began = r.measuredAt
	}
	switch {
	case r.Round != nil:
		return r.round(ctx)
	case r.Until.kind == untilCaughtUp:
		return r.catchUp(), nil
	case r.Until.kind == untilRecords && r.judged >= r.Until.records:
		r.haltAll()
	}
	return false, nil
}

// haltAll ends the partitions where they stand, once all can. Those that are
// decided by their log ends are read on.
func (r *runner) haltAll() {
	for _, p := range r.parts {
		if !p.halts() {
			return
		}
	}
	for _, p := range r.parts {
		p.halt(r.Options)
	}
}

// catchUp moves the ends on when all of them were reached, until the target has
// one soon after it was measured.
func (r *runner) catchUp() (done bool) {
	to, grown := make([]int64, len(r.parts)), false
	for i, p := range r.parts {
		reached, end := p.atEnd()
		if !reached {
			return false
		}
		now, known := readable(r.ranges[sourceSide][p.Source], r.Source.Isolation)
		if !known && !p.isDecided() {
			return false
		}
		to[i] = now
		grown = grown || now > end && !p.isDecided()
	}
	if !grown || r.measuredAt.Sub(r.began) <= caughtUpIntervals*r.Interval {
		r.caughtUp = true
		return true
	}
	r.extend(to)
	return false
}

// round calls Round when one is over, and then begins the next.
func (r *runner) round(ctx context.Context) (done bool, err error) {
	over := true
	for _, p := range r.parts {
		reached, _ := p.atEnd()
		over = over && reached
	}
	if !over && time.Since(r.began) < r.Every {
		return false, nil
	}
	if r.Marks != nil {
		r.passMarks()
	}
	parts := make([]PartitionReport, 0, len(r.parts))
	for _, p := range r.parts {
		parts = append(parts, p.asItStands(r.Options))
	}
	if err := r.Round(Conclude(parts)); err != nil {
		return true, err
	}
	if !r.rest(ctx, time.Until(r.began.Add(r.Every))) {
		return true, nil
	}
	r.measureAll(ctx)
	to := make([]int64, len(r.parts))
	for i, p := range r.parts {
		to[i], _ = readable(r.ranges[sourceSide][p.Source], r.Source.Isolation) // one that is not measured stays
	}
	r.extend(to)
	return false, nil
}

func (r *runner) extend(to []int64) {
	for i, p := range r.parts {
		p.extend(to[i])
	}
	r.began = r.measuredAt
}

// rest reads nothing for a while. It reports whether the run goes on.
func (r *runner) rest(ctx context.Context, pause time.Duration) bool {
	if pause <= 0 {
		return ctx.Err() == nil
	}
	for w, reader := range r.readers {
		reader.client.PauseFetchTopics(r.topics[w]...)
	}
	wake := time.NewTimer(pause)
	defer wake.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake.C:
	}
	for _, p := range r.parts {
		p.wake()
	}
	for w, reader := range r.readers {
		reader.client.ResumeFetchTopics(r.topics[w]...)
	}
	return true
}

// atEnd reports whether the target had all up to the end, or nothing more will
// come of the partition.
func (p *partition) atEnd() (reached bool, end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reached || p.decided, p.end
}

func (p *partition) isDecided() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.decided
}

// wake notes that nothing could come before now.
func (p *partition) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.source.came, p.target.came = now, now
}
