package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// goOn decides for Continue: a wave that was started, and stands still because another
// one was to come to it, runs again from where it had come to.
func (d *decider) goOn() Decision {
	h, journal := known(d, d.seen.History, "journal/unreadable", "journal")
	if journal {
		d.wave(h, "continue/not-started", "the plan was never started, so there is nothing that could go on: start it")
	}
	d.clusters()
	d.config()
	c, there := d.seen.Connector.Get()
	if there && c.State == "RUNNING" && !d.refused() {
		return Decision{Act: Done}
	}
	if there && c.State == "STOPPED" && !d.refused() && h.Again && !d.seen.StoodStill {
		return Decision{Act: AwaitResume}
	}
	tasks := d.stopped()
	d.holdsItsWaves()
	d.readable()
	if stored, ok := d.seen.Stored.Get(); ok && journal {
		d.stillStands(h.Stood, StoodAt(stored.Offsets))
	}
	return d.onceStill(tasks, Resume)
}

// stillStands holds each topic of the wave and those before it to what Connect held when
// the connector was stopped, where the journal says so: an offset that was raised since
// skips records.
func (d *decider) stillStands(was, is map[string]string) {
	for _, topic := range d.topics() {
		if w, recorded := was[topic]; recorded && w != is[topic] {
			d.find(Moved, "continue/offsets-changed", topic, "what Connect holds for the topic is not what it held when the connector was stopped: somebody has written since")
		}
	}
}

// topics are those of the plan and of the waves before it, sorted.
func (d *decider) topics() []string { return slices.Sorted(maps.Keys(WaveTopics(d.plan))) }

// WaveTopics are the topics of a plan and of the earlier ones that it names.
func WaveTopics(p *offsetmap.Plan) map[string]bool {
	out := EarlierTopics(p)
	for _, r := range p.Body.Rows {
		out[r.Topic] = true
	}
	return out
}

// EarlierTopics are the topics of the plans that a plan names.
func EarlierTopics(p *offsetmap.Plan) map[string]bool {
	out := map[string]bool{}
	for _, e := range p.Body.Earlier {
		for _, r := range e.Partitions {
			out[r.Topic] = true
		}
	}
	return out
}

// readable holds that the source still has what follows each offset, in the log that the
// offset is of. A partition without one is copied from its first record on, which has to
// be there still.
func (d *decider) readable() {
	now, ok := known(d, d.seen.Measured, "source/range-unknown", "measurement of the source")
	stored, read := d.seen.Stored.Get()
	if !ok || !read {
		return
	}
	ids := map[string]offsetmap.TopicID{}
	for _, r := range d.plan.Body.Rows {
		ids[r.Topic] = r.TopicID
	}
	topics := WaveTopics(d.plan)
	partitions := map[offsetmap.TopicPartition]bool{}
	for tp := range now {
		partitions[tp] = topics[tp.Topic]
	}
	for tp := range stored.Offsets {
		partitions[tp] = topics[tp.Topic]
	}
	first, _ := offsetmap.Next(0)
	for tp, ofTheWave := range partitions {
		if !ofTheWave {
			continue
		}
		m, there := now[tp]
		id, planned := ids[tp.Topic]
		at, held := stored.Offsets[tp]
		next := at.Next()
		if !held {
			next = first
		}
		other := func(format string, args ...any) {
			f := offsetmap.Finding{Check: "continue/other-log", Severity: offsetmap.Block, Scope: tp.String(), Acceptable: offsetmap.Exact, Detail: fmt.Sprintf(format, args...)}
			if !d.lets(f) {
				d.add(Moved, f)
			}
		}
		switch {
		case !there:
			other("the source has no such partition any more, and M = %s of it is stored", at)
		case planned && m.TopicID != id:
			other("the topic was created again: its id is %s, the plan has %s, and M = %s may be of the log before", m.TopicID, id, at)
		case m.Range.Start.IsNone() || m.Range.End.IsNone():
			d.find(Unknown, "source/range-unknown", tp.String(), "log start %s and log end %s could not both be measured", m.Range.Start, m.Range.End)
		case next.IsNone() || m.Range.End.Compare(next) < 0:
			other("the log ends at %s, and M = %s is stored: it was cut since", m.Range.End, at)
		case m.Range.Start.Compare(next) > 0:
			d.expiredMeanwhile(tp, next, m.Range.Start)
		}
	}
}

func (d *decider) expiredMeanwhile(tp offsetmap.TopicPartition, next, start offsetmap.NextOffset) {
	n, _ := start.Sub(next)
	f := offsetmap.Finding{
		Check: "continue/offset-expired", Severity: offsetmap.Block, Scope: fmt.Sprintf("%s:%d", tp, n), Acceptable: offsetmap.Exact,
		Detail: fmt.Sprintf("%d offsets from %s to the log start %s are gone, and were not copied: the connector would go on behind them", n, next, start),
	}
	if !d.lets(f) {
		d.add(Moved, f)
	}
}

// lets reports whether the caller's acceptances let the finding through.
func (d *decider) lets(f offsetmap.Finding) bool {
	return covered(d.seen.Acceptances, f)
}

// StoodAt sums up what is stored, by topic: what the journal keeps of a connector that
// stands still.
func StoodAt(stored map[offsetmap.TopicPartition]offsetmap.SourceOffset) map[string]string {
	order := slices.SortedFunc(maps.Keys(stored), offsetmap.TopicPartition.Compare)
	out := map[string]string{}
	for from := 0; from < len(order); {
		sum, topic := sha256.New(), order[from].Topic
		for ; from < len(order) && order[from].Topic == topic; from++ {
			sum.Write(fmt.Appendf(nil, "%d=%s\n", order[from].Partition, stored[order[from]]))
		}
		out[topic] = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return out
}
