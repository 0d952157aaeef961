package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// OpenTransaction is a transaction that keeps the last stable offset of a
// partition down (DescribeProducers, KIP-664).
type OpenTransaction struct {
	offsetmap.TopicPartition
	ProducerID int64
	Epoch      int16
	// CoordinatorEpoch is that of the transaction coordinator when it last wrote
	// a marker for the producer; -1 when it has written none.
	CoordinatorEpoch int32
	Start            offsetmap.NextOffset // its first offset
	// LastTimestamp is that of the producer's last record. A job that copies may
	// give it the source record's, which is older than the write.
	LastTimestamp time.Time
}

// isHeld reports whether a transaction keeps the last stable offset below the
// end, as far as both were measured.
func isHeld(stable, end offsetmap.NextOffset) bool {
	n, both := end.Sub(stable)
	return both && n > 0
}

// describeHeld reads the open transactions of the partitions; of none without
// asking, since kadm would ask for all partitions then.
func describeHeld(ctx context.Context, admin Admin, held kadm.TopicsSet) offsetmap.Fact[[]OpenTransaction] {
	if len(held) == 0 {
		return offsetmap.Absent[[]OpenTransaction]()
	}
	return openTransactions(admin.DescribeProducers(ctx, held))
}

func openTransactions(described kadm.DescribedProducersTopics, err error) offsetmap.Fact[[]OpenTransaction] {
	var open []OpenTransaction
	described.EachPartition(func(p kadm.DescribedProducersPartition) {
		if p.Err != nil {
			err = errors.Join(err, p.Err)
		}
	})
	described.EachProducer(func(p kadm.DescribedProducer) {
		start, none := offsetmap.Next(p.CurrentTxnStartOffset)
		if none != nil { // -1: no transaction is open
			return
		}
		open = append(open, OpenTransaction{
			TopicPartition: offsetmap.TopicPartition{Topic: p.Topic, Partition: p.Partition},
			ProducerID:     p.ProducerID, Epoch: p.ProducerEpoch, CoordinatorEpoch: p.CoordinatorEpoch,
			Start: start, LastTimestamp: time.UnixMilli(p.LastTimestamp),
		})
	})
	slices.SortFunc(open, func(a, b OpenTransaction) int {
		return cmp.Or(a.Compare(b.TopicPartition), a.Start.Compare(b.Start), cmp.Compare(a.ProducerID, b.ProducerID))
	})
	return fact(open, err)
}

func sourceOpen(c *Case, r *Reporter) {
	for tp, rg := range c.Facts.Ranges {
		if isHeld(rg.Stable, rg.End) {
			r.Warn(tp.String(), "%s", heldBy(tp, rg.Stable, rg.End, c.Facts.Open, c.Facts.sourceOwners(), c.Facts.At))
		}
	}
}

const checkTargetOpen = "target/open-transaction"

// OpenOnTarget returns what check target/open-transaction finds in the facts
// alone, unsorted.
func (f Facts) OpenOnTarget() []offsetmap.Finding {
	r := Reporter{check: Check{ID: checkTargetOpen, Acceptable: offsetmap.Exact}}
	f.reportOpenOnTarget(&r, nil)
	return r.findings
}

func targetOpen(c *Case, r *Reporter) {
	reported := map[offsetmap.TopicPartition]bool{} // as target/end-unknown, which nothing accepts
	for _, m := range c.measured {
		reported[offsetmap.TopicPartition{Topic: m.TargetTopic, Partition: m.Partition}] = m.TargetEnd.IsNone()
	}
	c.Facts.reportOpenOnTarget(r, reported)
}

// reportOpenOnTarget looks at every partition of the target topics, also at those
// that the source does not have: the old job may have placed records there.
func (f Facts) reportOpenOnTarget(r *Reporter, reported map[offsetmap.TopicPartition]bool) {
	for tp, t := range f.TargetTails {
		switch {
		case reported[tp]:
		case t.End.IsNone() || t.Stable.IsNone():
			r.Unmade(tp.String()+scopeUnmeasured, cmp.Or(f.unended.Reason(tp), errNotMeasured))
		case isHeld(t.Stable, t.End):
			f.reportHeld(r, tp, t)
		}
	}
}

// What follows the partition in the scope of target/open-transaction where no
// producer's id can. No name of a topic has a colon.
const (
	scopeUnlisted    = ":unlisted"
	scopeUndescribed = ":undescribed"
	scopeUnmeasured  = ":unmeasured"
)

// reportHeld reports each transaction by its producer, so that the acceptance of
// one writer's says nothing of another's, which may be the old job's.
func (f Facts) reportHeld(r *Reporter, tp offsetmap.TopicPartition, t Tail) {
	held := below(t.Stable, t.End)
	all, described := f.TargetOpen.Get()
	if !described {
		r.Block(tp.String()+scopeUndescribed, "%s: %s", held, undescribed(f.TargetOpen.Err()))
		return
	}
	open := of(tp, all)
	for _, o := range open {
		r.Block(o.scope(), "%s: %s%s", held, o.describe(f.At), whose(o, f.targetOwners(), f.At))
	}
	// The last stable offset is the first offset of the first one that is open
	// (UnifiedLog.fetchLastStableOffset).
	switch {
	case len(open) == 0:
		r.Block(tp.String()+scopeUnlisted, "%s: %s", held, unlisted)
	case open[0].Start.Compare(t.Stable) > 0:
		r.Block(tp.String()+scopeUnlisted, "%s: the first transaction of a producer that is listed begins at %s, and of what begins before it none is: it hangs, or has just ended", held, open[0].Start)
	}
}

var errNotMeasured = errors.New("the last stable offset was not measured")

const unlisted = "no producer with an open transaction is listed: it hangs, or has just ended"

func undescribed(why error) string { return fmt.Sprintf("whose it is could not be found out: %v", why) }

func below(stable, end offsetmap.NextOffset) string {
	n, _ := end.Sub(stable)
	return fmt.Sprintf("the last stable offset %s is %d below the end %s", stable, n, end)
}

// of returns the transactions on the partition, by their first offset.
func of(tp offsetmap.TopicPartition, all []OpenTransaction) []OpenTransaction {
	return slices.DeleteFunc(slices.Clone(all), func(o OpenTransaction) bool { return o.TopicPartition != tp })
}

// heldBy says which transactions hold the last stable offset of a partition.
func heldBy(tp offsetmap.TopicPartition, stable, end offsetmap.NextOffset, all offsetmap.Fact[[]OpenTransaction], owners offsetmap.Fact[TransactionOwners], now time.Time) string {
	who := undescribed(all.Err())
	if open, described := all.Get(); described {
		who = unlisted
		if open = of(tp, open); len(open) > 0 {
			who = describe(open, owners, now)
		}
	}
	return below(stable, end) + ": " + who
}

// scope is that of a finding about the transaction alone.
func (o OpenTransaction) scope() string { return fmt.Sprintf("%s:%d", o.TopicPartition, o.ProducerID) }

// describe names each transaction: several subtasks of a sink can write to one
// partition.
func describe(open []OpenTransaction, owners offsetmap.Fact[TransactionOwners], now time.Time) string {
	const most = 5
	var parts []string
	for _, o := range open[:min(most, len(open))] {
		parts = append(parts, o.describe(now)+whose(o, owners, now))
	}
	if n := len(open) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}

func (o OpenTransaction) describe(now time.Time) string {
	text := fmt.Sprintf("producer id %d, epoch %d, has a transaction open from offset %s, and its last record has %s",
		o.ProducerID, o.Epoch, o.Start, timestamp(o.LastTimestamp, now))
	if o.CoordinatorEpoch >= 0 {
		text += fmt.Sprintf(" (coordinator epoch %d)", o.CoordinatorEpoch)
	}
	return text
}

// timestamp tells a record's, which a producer may set to anything, or leave out
// (RecordBatch.NO_TIMESTAMP, -1).
func timestamp(at, now time.Time) string {
	switch age := now.Sub(at).Round(time.Second); {
	case at.UnixMilli() < 0:
		return "no timestamp"
	case age < 0:
		return fmt.Sprintf("a timestamp of %s from now", -age)
	default:
		return fmt.Sprintf("a timestamp of %s ago", age)
	}
}
