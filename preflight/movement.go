package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Movement is what two looks at the ends of logs showed.
type Movement struct {
	// Over is the time from the end of the first look to the beginning of the second.
	Over time.Duration
	// Source and Target hold each partition whose end had moved.
	Source, Target map[offsetmap.TopicPartition]Moved
	// Added are the partitions of the source that the first look did not have, sorted.
	Added []offsetmap.TopicPartition
	// Writers are the producers that the leaders of the partitions of Target know
	// (DescribeProducers, KIP-664). A producer without idempotence is not among them.
	// Absent: none has moved.
	Writers offsetmap.Fact[[]Writer]
}

// Moved is the end of a log at two looks.
type Moved struct{ From, To offsetmap.NextOffset }

// Writer is a producer that a partition's leader knows.
type Writer struct {
	offsetmap.TopicPartition
	ProducerID int64
	Epoch      int16
	// LastTimestamp is that of its last record, which a program that copies may give it.
	LastTimestamp time.Time
}

// move waits until the window is over since the facts were read, and looks again at the
// ends of logs.
func (p Probe) move(ctx context.Context, f Facts) offsetmap.Fact[Movement] {
	window := p.window()
	_, okSource := f.Source.Get()
	_, okTarget := f.Target.Get()
	if window <= 0 || !okSource || !okTarget {
		return offsetmap.Absent[Movement]()
	}
	now := p.clock()
	if rest := window - now().Sub(f.measuredAt); rest > 0 {
		if err := p.wait(ctx, rest); err != nil {
			return offsetmap.NotKnown[Movement](err)
		}
	}
	m := Movement{Over: now().Sub(f.measuredAt)}
	source, errSource := fresh.List(ctx, p.Source, "high watermark", p.Source.ListEndOffsets, topicsOf(f.Ranges)...)
	target, errTarget := fresh.List(ctx, p.Target, "high watermark", p.Target.ListEndOffsets, topicsOf(f.TargetTails)...)
	if err := errors.Join(errSource, errTarget); err != nil {
		return offsetmap.NotKnown[Movement](fmt.Errorf("the second look: %w", err))
	}
	m.Source = moved(f.Ranges, func(r offsetmap.Range) offsetmap.NextOffset { return r.End }, source)
	for tp := range source {
		if _, there := f.Ranges[tp]; !there {
			m.Added = append(m.Added, tp)
		}
	}
	slices.SortFunc(m.Added, offsetmap.TopicPartition.Compare)
	m.Target = moved(f.TargetTails, func(t Tail) offsetmap.NextOffset { return t.End }, target)
	m.Writers = writers(ctx, p.Target, slices.Collect(maps.Keys(m.Target)))
	return offsetmap.Known(m)
}

func (p Probe) clock() func() time.Time {
	if p.Now == nil {
		return time.Now
	}
	return p.Now
}

// window is how far apart the looks at everything lie.
func (p Probe) window() time.Duration {
	if p.Window == 0 {
		return p.GroupLook.Window
	}
	return p.Window
}

func (p Probe) wait(ctx context.Context, d time.Duration) error {
	if p.Sleep != nil {
		return p.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func topicsOf[T any](m map[offsetmap.TopicPartition]T) []string {
	names := map[string]bool{}
	for tp := range m {
		names[tp.Topic] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// moved compares the ends that both looks have. One that the first look did not measure
// is a finding of its own.
func moved[T any](first map[offsetmap.TopicPartition]T, end func(T) offsetmap.NextOffset, second map[offsetmap.TopicPartition]fresh.Listed) map[offsetmap.TopicPartition]Moved {
	out := map[offsetmap.TopicPartition]Moved{}
	for tp, listed := range second {
		was, there := first[tp]
		if from := end(was); there && !from.IsNone() && from != listed.Offset {
			out[tp] = Moved{From: from, To: listed.Offset}
		}
	}
	return out
}

func writers(ctx context.Context, admin Admin, partitions []offsetmap.TopicPartition) offsetmap.Fact[[]Writer] {
	if len(partitions) == 0 { // kadm would ask for all partitions
		return offsetmap.Absent[[]Writer]()
	}
	asked := kadm.TopicsSet{}
	for _, tp := range partitions {
		asked.Add(tp.Topic, tp.Partition)
	}
	described, err := admin.DescribeProducers(ctx, asked)
	var out []Writer
	described.EachPartition(func(p kadm.DescribedProducersPartition) { err = errors.Join(err, p.Err) })
	described.EachProducer(func(p kadm.DescribedProducer) {
		out = append(out, Writer{
			TopicPartition: offsetmap.TopicPartition{Topic: p.Topic, Partition: p.Partition},
			ProducerID:     p.ProducerID, Epoch: p.ProducerEpoch, LastTimestamp: time.UnixMilli(p.LastTimestamp),
		})
	})
	return fact(out, err)
}

// movementChecks are about what moves while the connector is STOPPED.
func movementChecks() []Check {
	return []Check{{
		ID:         "source/still-written",
		Title:      "How fast the source grows is known",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "the ends of the source's partitions, twice, over the window",
		Why:        "A source that grows while the old job is down is what a migration expects. The rate says how much MirrorMaker 2 has to catch up for each minute that passes, and how soon retention by size takes what lies from C on.",
		Remedy:     "Nothing. Start soon, or leave the target the time to catch up.",
		Judge:      moving(stillWritten),
	}, {
		ID:         "source/partitions-moved",
		Title:      "No partition is added while the migration is looked at",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "the partitions of the source's topics, twice, over the window. The scope is the topic",
		Why:        "Nothing else of this report is about the new partitions, and a plan without them would be refused. Somebody is changing the topic right now.",
		Remedy:     "Wait until the topic has all its partitions, give the target topic as many, and run preflight again: `runbook -f <MIGRATION> preflight`.",
		Judge:      moving(partitionsMoved),
	}, {
		ID:         "target/other-writers",
		Title:      "Nobody writes to the target topics before the start",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the ends of the target's partitions, twice, over the window, and the producers that the leaders know of those that moved (DescribeProducers). The scope is the target topic",
		Why:        "While the connector is STOPPED and the old job has ended, nothing should write there. What does may be the old job, started again, or a second copier, and then every record arrives twice. The ends from which the copies are counted also move.",
		Remedy:     "Find out who writes: `kafka-transactions.sh --bootstrap-server <TARGET> describe-producers --topic <TARGET-TOPIC> --partition <N>` lists producer ids, and the broker's request log or its quota metrics the client ids. Where the topic has writers of its own by design, accept the topic, and target/ends-moved with it.",
		Judge:      moving(otherWriters),
	}}
}

func moving(judge func(Movement, *Reporter)) func(*Case, *Reporter) {
	return around(func(_ *Case, s *Surroundings, r *Reporter) {
		if s.Movement.IsAbsent() {
			r.NotAsked()
			return
		}
		if m, ok := needs(r, "", s.Movement); ok {
			judge(m, r)
		}
	})
}

// grown adds up by topic how many offsets were written, and to how many partitions.
func grown(partitions map[offsetmap.TopicPartition]Moved) map[string]growth {
	out := map[string]growth{}
	for tp, m := range partitions {
		g := out[tp.Topic]
		n, _ := m.To.Sub(m.From)
		g.offsets += n
		g.partitions = append(g.partitions, tp)
		out[tp.Topic] = g
	}
	for _, g := range out {
		slices.SortFunc(g.partitions, offsetmap.TopicPartition.Compare)
	}
	return out
}

type growth struct {
	offsets    int64
	partitions []offsetmap.TopicPartition
}

func stillWritten(m Movement, r *Reporter) {
	r.Saw("", "ends of the source looked at twice, %s apart: %d partitions had moved", m.Over.Round(time.Second), len(m.Source))
	topics := grown(m.Source)
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		g := topics[name]
		rate := ""
		if m.Over > 0 {
			rate = fmt.Sprintf(", %.1f a second", float64(g.offsets)/m.Over.Seconds())
		}
		r.Info(name, "the ends moved by %d offsets in %s%s: %s", g.offsets, m.Over.Round(time.Second), rate, some(g.partitions))
	}
}

func partitionsMoved(m Movement, r *Reporter) {
	r.Saw("", "partitions of the source looked at twice, %s apart: %d were added", m.Over.Round(time.Second), len(m.Added))
	byTopic := map[string][]offsetmap.TopicPartition{}
	for _, tp := range m.Added {
		byTopic[tp.Topic] = append(byTopic[tp.Topic], tp)
	}
	for topic, added := range byTopic {
		r.Block(topic, "%d partitions were added within %s: %s", len(added), m.Over.Round(time.Second), some(added))
	}
}

func otherWriters(m Movement, r *Reporter) {
	r.Saw("", "ends of the target looked at twice, %s apart: %d partitions had moved", m.Over.Round(time.Second), len(m.Target))
	topics := grown(m.Target)
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		g := topics[name]
		r.Block(name, "the ends moved by %d offsets in %s, while the connector is STOPPED: %s; %s", g.offsets, m.Over.Round(time.Second), some(g.partitions), m.who(name))
	}
}

// who names the producers of a topic's partitions that moved.
func (m Movement) who(topic string) string {
	all, ok := m.Writers.Get()
	if !ok {
		return undescribed(m.Writers.Err())
	}
	const most = 5
	var ids []string
	for _, w := range all {
		if id := fmt.Sprintf("%d (epoch %d)", w.ProducerID, w.Epoch); w.Topic == topic && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "no producer is listed: one without idempotence writes"
	}
	slices.Sort(ids)
	more := ""
	if n := len(ids) - most; n > 0 {
		ids, more = ids[:most], fmt.Sprintf(" and %d more", n)
	}
	return "the producers that the leaders know there have the ids " + strings.Join(ids, ", ") + more
}
