package delivery

import (
	"context"
	"errors"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// countStep is how many times as many records from C on are looked for each time that
// all of them were there.
const countStep = 8

// countOn looks for more records from C on where all that were looked for are on the
// target: until one is not, or what may be read of the topic was read. What the first
// look has shown else stands.
func (l *look) countOn(ctx context.Context, source, target *cluster) {
	for _, p := range l.sought { // what there is to show that look has shown
		for i := range p.before {
			p.before[i].revealed = nil
		}
		for i := range p.after {
			p.after[i].revealed = nil
		}
	}
	l.request.Sample = nil
	var records, bytes int64 // that were read before the last look
	for most := neighbours * countStep; ; most *= countStep {
		usedRecords, usedBytes := l.budget.usedRecords.Load(), l.budget.usedBytes.Load()
		if !l.budget.leaves(usedRecords-records, usedBytes-bytes) {
			return // the same again is more than may be read
		}
		records, bytes = usedRecords, usedBytes
		var on []*part
		for _, p := range l.sought {
			if l.found[p.tp].BeyondAtLeast {
				on = append(on, p)
			}
		}
		if len(on) == 0 {
			return
		}
		more, err := l.beyondOf(ctx, source, target, on, most)
		if err != nil {
			return // at least so many, as before
		}
		for tp, d := range more {
			was := l.found[tp]
			if d.Outcome != was.Outcome || d.Beyond < was.Beyond {
				return
			}
			was.Ahead, was.Beyond, was.BeyondBytes, was.BeyondAtLeast = d.Ahead, d.Beyond, d.BeyondBytes, d.BeyondAtLeast
			l.found[tp] = was
		}
	}
}

// beyondOf judges anew the parts with so many records from C on. The error says that not
// all that it takes was read.
func (l *look) beyondOf(ctx context.Context, source, target *cluster, on []*part, most int) (map[offsetmap.TopicPartition]preflight.Delivery, error) {
	from, err := source.topic(l.name, l.budget)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(on))
	at := map[*part]int{}
	for i, p := range on {
		at[p] = i
	}
	inParallel(on, func(p *part) { errs[at[p]] = p.readAfter(ctx, l, from, most) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s, err := l.search(ctx, target, l.request.TargetTopic(l.name), l.parts, l.sought)
	if err != nil {
		return nil, err
	}
	out := map[offsetmap.TopicPartition]preflight.Delivery{}
	for _, p := range l.sought {
		if d := s.judge(p); l.found[p.tp].BeyondAtLeast {
			out[p.tp] = d
		}
	}
	return out, s.err
}
