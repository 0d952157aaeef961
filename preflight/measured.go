package preflight

import (
	"errors"
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Measured joins what was measured of every partition of f.Topics that the
// source has: its topic's id, its range, and the end of its target partition.
// The function target gives each source topic its name on the target.
//
// A bound that was not measured is none. The end of a target partition that is
// known not to exist is 0, where its log will begin; one of which nothing is
// known has none. Group and Backup are not filled.
//
// Topics that do not exist have no partition in the map. The error joins why
// others could not be read, and then says nothing against the rest of the map;
// without the source's metadata the map is nil.
func (f Facts) Measured(target func(topic string) string) (map[offsetmap.TopicPartition]offsetmap.Measured, error) {
	source, ok := f.Source.Get()
	if !ok {
		return nil, f.Source.Err()
	}
	out := make(map[offsetmap.TopicPartition]offsetmap.Measured, len(f.Ranges))
	add := func(tp offsetmap.TopicPartition) {
		name := target(tp.Topic)
		out[tp] = offsetmap.Measured{
			TopicPartition: tp, TopicID: source.Topics[tp.Topic].ID, Range: f.Ranges[tp],
			TargetTopic: name, TargetEnd: f.targetEnd(offsetmap.TopicPartition{Topic: name, Partition: tp.Partition}),
		}
	}
	var errs []error
	for _, name := range f.Topics {
		t := source.Topics[name]
		if t.Err != nil && !t.Missing() {
			errs = append(errs, fmt.Errorf("source topic %s: %w", name, t.Err))
		}
		for _, p := range t.Partitions {
			add(offsetmap.TopicPartition{Topic: name, Partition: p})
		}
	}
	for tp := range f.Ranges { // also a partition that came into being since
		add(tp)
	}
	return out, errors.Join(errs...)
}

// targetEnd returns the high watermark of a target partition.
func (f Facts) targetEnd(at offsetmap.TopicPartition) offsetmap.NextOffset {
	tail, measured := f.TargetTails[at]
	target, known := f.Target.Get()
	t, asked := target.Topics[at.Topic]
	if !measured && known && asked && (t.Missing() || t.Err == nil && !target.has(at)) {
		return offset0
	}
	return tail.End
}

var offset0, _ = offsetmap.Next(0)
