package preflight_test

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/delivery"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// stand sets where the old job stood in orders-0.
func (l *lab) stand(c int64) {
	l.question.Positions = slices.Clone(l.question.Positions)
	l.question.Positions[0] = at("orders", 0, c)
}

// looks makes the old job deliver what lies before the positions of a sound lab, and
// looks at it within the bounds.
func (l *lab) looks(b preflight.DeliveryBounds) {
	if l.probe.Delivery == nil {
		l.deliver("orders", 0, 0, 5)
		l.deliver("orders", 1, 0, 10)
	}
	l.probe.Delivery = delivery.New(l.from.Opts(), l.to.Opts(), b)
}

func keyed(r *kgo.Record) { r.Key = append([]byte("key of "), r.Value...) }

func boundaryBreakages() map[string]breakage {
	all := map[string]breakage{
		"boundary/not-looked-at": func(l *lab) func() {
			return func() { l.looks(preflight.DeliveryBounds{}) }
		},
		// It is there while all is well, and has nothing to say where nothing lies before C.
		"boundary/delivered-evidence": func(l *lab) func() {
			return func() {
				for i, p := range l.question.Positions {
					l.question.Positions[i] = at(p.Topic, p.Partition, 0)
				}
			}
		},
		"boundary/not-delivered": func(l *lab) func() {
			l.stand(7)
			return func() { l.deliver("orders", 0, 5, 7) }
		},
		"boundary/delivered-beyond": func(l *lab) func() {
			l.deliver("orders", 0, 5, 6)
			return func() { l.stand(6) }
		},
		"boundary/unproven": func(l *lab) func() {
			l.looks(preflight.DeliveryBounds{Bytes: 1})
			return func() { l.looks(preflight.DeliveryBounds{}) }
		},
		"boundary/cannot-tell": func(l *lab) func() {
			var o kadm.Offsets
			o.AddOffset("orders", 0, 5, -1)
			_, err := kadm.NewClient(l.from).DeleteRecords(l.t.Context(), o)
			l.must(err)
			return func() {
				l.deliver("orders", 0, 5, 6)
				l.stand(6)
			}
		},
		"boundary/content-changed": func(l *lab) func() {
			l.produce("orders", 0, 2, keyed)
			l.stand(12)
			l.deliver("orders", 0, 5, 10)
			l.deliver("orders", 0, 10, 12, func(r *kgo.Record) { r.Value = append([]byte("enriched "), r.Value...) })
			return func() { l.deliver("orders", 0, 10, 12) }
		},
		"boundary/not-carried": func(l *lab) func() {
			l.produce("orders", 0, 5, keyed)
			l.stand(15)
			l.deliver("orders", 0, 5, 10)
			withoutKey := func(r *kgo.Record) { r.Key = nil }
			l.deliver("orders", 0, 10, 15, withoutKey)
			return func() { l.deliver("orders", 0, 10, 15) }
		},
		"boundary/key-order": func(l *lab) func() {
			l.produce("orders", 0, 2, keyed)
			l.stand(12)
			l.deliver("orders", 0, 5, 10)
			l.deliver("orders", 0, 10, 12, func(r *kgo.Record) { r.Partition = 1 })
			return func() { l.deliver("orders", 0, 10, 12) }
		},
	}
	for id, broken := range all {
		if id != "boundary/not-looked-at" {
			all[id] = func(l *lab) func() {
				l.looks(preflight.DeliveryBounds{})
				return broken(l)
			}
		}
	}
	return all
}
