package delivery

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// sample makes a sample of a record, with what it holds only where somebody has asked
// to see that.
func (l *look) sample(r *kgo.Record, c content, before bool) sample {
	s := sample{content: c, size: int64(len(r.Key) + len(r.Value))}
	if l.request.Sample == nil {
		return s
	}
	offset, err := offsetmap.Next(r.Offset)
	if err != nil { // a negative one, which no record has
		return s
	}
	s.revealed = &preflight.DeliverySample{
		TopicPartition: offsetmap.TopicPartition{Topic: r.Topic, Partition: r.Partition}, Offset: offset, Before: before,
		Key: cut(r.Key), Value: cut(r.Value), KeySize: len(r.Key), ValueSize: len(r.Value),
	}
	return s
}

// cut copies the beginning, so that the batch that it lies in is not kept for it.
func cut(b []byte) []byte {
	return bytes.Clone(b[:min(len(b), preflight.MostSampleBytes)])
}

// reveal gives a sample to whoever has asked for it.
func (s *search) reveal(one sample, state preflight.SampleState) {
	if one.revealed != nil {
		one.revealed.Target = state
		s.request.Sample(*one.revealed)
	}
}

// revealBefore says of a record before C what the search has found of it.
func (s *search) revealBefore(b sample, found preflight.DeliveryOutcome) {
	switch {
	case found == preflight.CannotTell:
		s.reveal(b, preflight.SampleUnclear)
	case found != preflight.NotDelivered:
		s.reveal(b, preflight.SampleThere)
	case s.readSince(s.from(b.time)):
		s.reveal(b, preflight.SampleNotThere)
	default:
		s.reveal(b, preflight.SampleNotRead)
	}
}

// revealAbsent says of a record from C on that no copy of it was found.
func (s *search) revealAbsent(p *part, a sample) {
	if s.readSince(s.homeOf(p.after)) {
		s.reveal(a, preflight.SampleNotThere)
	} else {
		s.reveal(a, preflight.SampleNotRead)
	}
}
