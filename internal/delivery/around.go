package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// How much is read around a C: at least so many records on either side where there
// are, for equal ones among them, unless they are large.
const (
	neighbours     = 64
	neighbourBytes = 1 << 20
	// firstStep is how many offsets before C are read first; each further step is
	// so many times as long.
	firstStep, stepFactor = 8, 8
)

// sample is a record that is looked for.
type sample struct {
	content
	size     int64                     // of key and value
	revealed *preflight.DeliverySample // nil unless somebody asks to see it
}

// part is one partition of the source around its C.
type part struct {
	tp            offsetmap.TopicPartition
	c             int64
	before, after []sample // the last before C, the first from it on
	// seen counts every readable record before C that was read, among them before.
	seen map[content]int
	// since is the time of the first record that was read, and whole says that none
	// lies before it.
	since int64
	whole bool
	// more says that records follow those of after.
	more bool

	nothing preflight.DeliveryOutcome // why nothing before C is looked for
	reason  string
	err     error
}

// around reads the records around each position.
func (l *look) around(ctx context.Context, t *topic, positions []offsetmap.Position) []*part {
	parts := make([]*part, len(positions))
	for i, p := range positions {
		parts[i] = &part{tp: p.TopicPartition, seen: map[content]int{}}
	}
	type one struct {
		*part
		position offsetmap.Position
	}
	all := make([]one, len(positions))
	for i := range positions {
		all[i] = one{parts[i], positions[i]}
	}
	inParallel(all, func(o one) { o.part.read(ctx, l, t, o.position) })
	return parts
}

func (p *part) read(ctx context.Context, l *look, t *topic, position offsetmap.Position) {
	r := t.ranges[p.tp.Partition]
	start, measured := r.Start.Value()
	end, measuredEnd := t.readable(r)
	switch {
	case !measured || !measuredEnd:
		p.err = fmt.Errorf("the bounds of %s on the source could not be measured", p.tp)
		return
	}
	var read bool
	if p.c, read = position.Next.Value(); !read {
		p.c = start // which a plan would make it, once a person has accepted that
		if position.Unread != offsetmap.Earliest && position.Unread != 0 {
			p.nothing, p.reason = preflight.NothingBefore, "where the job would have begun is not known"
			return
		}
	}
	switch {
	case !read:
		p.nothing, p.reason = preflight.NothingBefore, "the job has read no record of it"
	case p.c == 0:
		p.nothing, p.reason = preflight.NothingBefore, "C is 0"
	case p.c > end:
		p.err = fmt.Errorf("the position C = %d lies beyond what is readable, which ends at %d", p.c, end)
		return
	case p.c < start:
		p.nothing, p.reason = preflight.CannotTell, fmt.Sprintf("the source has no record before C = %d any more: its log starts at %d", p.c, start)
		return
	}
	compacted := l.request.SourceMayBeCompacted(p.tp.Topic)
	hash := newHasher(l.key)
	if p.c > 0 && p.nothing == "" {
		if p.err = p.readBefore(ctx, l, t, hash, start, compacted); p.err != nil {
			return
		}
	}
	switch {
	case p.nothing != "" || len(p.before) > 0:
	case start == 0 && !compacted:
		p.nothing, p.reason = preflight.NothingBefore, "before C there are only markers and what was aborted"
	default:
		p.nothing, p.reason = preflight.CannotTell, fmt.Sprintf("the source has no readable record between its log start %d and C = %d", start, p.c)
	}
	p.err = p.readAfter(ctx, l, t, neighbours)
}

// readBefore reads backwards, in steps that grow until enough was found.
func (p *part) readBefore(ctx context.Context, l *look, t *topic, hash hasher, start int64, compacted bool) error {
	var found [][]*kgo.Record // the steps, the nearest to C first
	n, size := 0, int64(0)
	for to, step := p.c, int64(firstStep); to > start; step *= stepFactor {
		from := max(start, to-step)
		var records []*kgo.Record
		if _, err := t.read(ctx, p.tp.Partition, from, to, mostBytes, compacted, func(r *kgo.Record) bool {
			records = append(records, r)
			size += int64(len(r.Key) + len(r.Value))
			return true
		}); err != nil {
			return err
		}
		found = append(found, records)
		n += len(records)
		to = from
		p.whole = to == start && start == 0
		if n >= max(neighbours, l.samples) || n >= l.samples && size >= neighbourBytes {
			break
		}
	}
	slices.Reverse(found)
	all := slices.Concat(found...)
	for i, r := range all {
		c := hash.content(r, hash.bytes(r.Value))
		p.seen[c]++
		if i >= len(all)-l.samples {
			p.before = append(p.before, l.sample(r, c, true))
		}
	}
	if len(all) > 0 {
		p.since = all[0].Timestamp.UnixMilli()
	}
	return nil
}

// readAfter reads so many records from C on; fewer where they are large.
func (p *part) readAfter(ctx context.Context, l *look, t *topic, most int) error {
	var size int64
	mostSize := neighbourBytes * int64(most/neighbours)
	end, _ := t.readable(t.ranges[p.tp.Partition])
	hash, compacted := newHasher(l.key), l.request.SourceMayBeCompacted(p.tp.Topic)
	p.after = nil
	read, err := t.read(ctx, p.tp.Partition, p.c, end, mostBytes, compacted, func(r *kgo.Record) bool {
		one := l.sample(r, hash.content(r, hash.bytes(r.Value)), false)
		if len(p.after) >= l.samples {
			one.revealed = nil
		}
		p.after = append(p.after, one)
		size += one.size
		return len(p.after) < most && size < mostSize
	})
	p.more = read < end
	if errors.Is(err, errBound) && len(p.after) > 0 {
		return nil // fewer are looked for
	}
	return err
}
