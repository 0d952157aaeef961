package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Bounds that are taken where none are given.
const (
	defaultSamples = 5
	defaultRecords = 100_000
	defaultBytes   = 256 << 20
	defaultWithin  = 5 * time.Minute
)

var errTime = errors.New("the time that the look may take was up")

// Reader is a preflight.DeliveryReader.
type Reader struct {
	source, target []kgo.Opt
	bounds         preflight.DeliveryBounds
}

var _ preflight.DeliveryReader = (*Reader)(nil)

// New returns a Reader over two clusters, which the options lead to.
func New(source, target []kgo.Opt, bounds preflight.DeliveryBounds) *Reader {
	b := bounds
	if b.Samples <= 0 {
		b.Samples = defaultSamples
	}
	if b.Records <= 0 {
		b.Records = defaultRecords
	}
	if b.Bytes <= 0 {
		b.Bytes = defaultBytes
	}
	if b.Within <= 0 {
		b.Within = defaultWithin
	}
	return &Reader{source: source, target: target, bounds: b}
}

// Deliveries looks at one topic after the other. It leaves no client behind.
func (r *Reader) Deliveries(ctx context.Context, req preflight.DeliveryRequest) (map[offsetmap.TopicPartition]preflight.Delivery, error) {
	until := time.Now().Add(r.bounds.Within)
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	source, err := open("source", r.source, req.Isolation)
	if err != nil {
		return nil, err
	}
	defer source.client.Close()
	target, err := open("target", r.target, offsetmap.ReadCommitted)
	if err != nil {
		return nil, err
	}
	defer target.client.Close()

	key := newKey()
	out := map[offsetmap.TopicPartition]preflight.Delivery{}
	byTopic := map[string][]offsetmap.Position{}
	targets := map[string]bool{}
	for _, p := range req.Positions {
		byTopic[p.Topic] = append(byTopic[p.Topic], p)
		targets[req.TargetTopic(p.Topic)] = true
	}
	if len(byTopic) == 0 {
		return out, nil
	}
	topics := slices.Sorted(maps.Keys(byTopic))
	if err := errors.Join(source.describe(bounded, topics), target.describe(bounded, slices.Sorted(maps.Keys(targets)))); err != nil {
		if ctx.Err() == nil && bounded.Err() != nil {
			err = errTime
		}
		return nil, err
	}
	source.ranges = req.Ranges
	// What it says against single partitions, those stand for that have no bound.
	target.ranges, _ = fresh.Ranges(bounded, target.admin, slices.Sorted(maps.Keys(targets))...)
	var looks []*look
	for _, name := range topics {
		l := &look{
			request: req, samples: r.bounds.Samples, key: key, name: name,
			budget: &budget{records: r.bounds.Records, bytes: r.bounds.Bytes, until: until},
		}
		l.found = l.topic(bounded, source, target, name, byTopic[name])
		looks = append(looks, l)
	}
	for _, l := range looks { // by what time is left once each topic was looked at
		l.countOn(bounded, source, target)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("look for delivered records: %w", err)
	}
	for _, l := range looks {
		for tp, d := range l.found {
			d.ReadRecords, d.ReadBytes = l.budget.usedRecords.Load(), l.budget.usedBytes.Load()
			out[tp] = d
		}
	}
	return out, nil
}

// look is the look at one topic.
type look struct {
	request preflight.DeliveryRequest
	samples int
	key     []byte
	budget  *budget

	name          string // of the topic on the source
	parts, sought []*part
	found         map[offsetmap.TopicPartition]preflight.Delivery
}

// topic looks at the positions of one topic. It never fails as a whole.
func (l *look) topic(ctx context.Context, source, target *cluster, name string, positions []offsetmap.Position) map[offsetmap.TopicPartition]preflight.Delivery {
	out := map[offsetmap.TopicPartition]preflight.Delivery{}
	from, err := source.topic(name, l.budget)
	if err != nil {
		for _, p := range positions {
			out[p.TopicPartition] = l.unproven(ctx, err)
		}
		return out
	}
	l.parts = l.around(ctx, from, positions)
	for _, p := range l.parts {
		switch {
		case p.err != nil:
			out[p.tp] = l.unproven(ctx, p.err)
		case p.nothing != "":
			out[p.tp] = preflight.Delivery{Outcome: p.nothing, Reason: p.reason}
		}
		if p.err == nil && len(p.before)+len(p.after) > 0 {
			l.sought = append(l.sought, p)
		}
	}
	if len(l.sought) == 0 {
		return out
	}
	s, err := l.search(ctx, target, l.request.TargetTopic(name), l.parts, l.sought)
	for _, p := range l.sought {
		switch {
		case errors.Is(err, kerr.UnknownTopicOrPartition) && p.nothing == "":
			missing := int64(len(p.before))
			out[p.tp] = preflight.Delivery{Outcome: preflight.NotDelivered, Reason: "the target has no such topic", Looked: missing, Missing: missing}
			continue
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			continue // nothing before C, and nothing beyond it
		case err != nil:
			out[p.tp] = l.unproven(ctx, err)
			continue
		}
		d := s.judge(p)
		if d.Outcome == preflight.Unproven && s.err != nil {
			d.Reason = l.unproven(ctx, s.err).Reason
		}
		out[p.tp] = d
	}
	return out
}

// unproven says why a partition is not proven. When the time was up, what failed for
// that is not told of.
func (l *look) unproven(ctx context.Context, err error) preflight.Delivery {
	switch {
	case ctx.Err() != nil || !time.Now().Before(l.budget.until):
		err = errTime
	case errors.Is(err, errBound):
		err = fmt.Errorf("%d records and %d bytes of the topic were read, which is what may be read of it", l.budget.usedRecords.Load(), l.budget.usedBytes.Load())
	}
	return preflight.Delivery{Outcome: preflight.Unproven, Reason: err.Error()}
}
