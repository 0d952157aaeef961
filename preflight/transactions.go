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
			r.Warn(tp.String(), "%s", heldBy(tp, rg.Stable, rg.End, c.Facts.Open, c.Facts.At))
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
			r.Unmade(tp.String(), cmp.Or(f.unended.Reason(tp), errNotMeasured))
		case isHeld(t.Stable, t.End):
			r.Block(tp.String(), "%s", heldBy(tp, t.Stable, t.End, f.TargetOpen, f.At))
		}
	}
}

var errNotMeasured = errors.New("the last stable offset was not measured")

// heldBy says which transactions hold the last stable offset of a partition.
func heldBy(tp offsetmap.TopicPartition, stable, end offsetmap.NextOffset, all offsetmap.Fact[[]OpenTransaction], now time.Time) string {
	n, _ := end.Sub(stable)
	who := fmt.Sprintf("whose it is could not be found out: %v", all.Err())
	if open, described := all.Get(); described {
		who = "no producer with an open transaction is listed: it hangs, or has just ended"
		if of := slices.DeleteFunc(slices.Clone(open), func(o OpenTransaction) bool { return o.TopicPartition != tp }); len(of) > 0 {
			who = describe(of, now)
		}
	}
	return fmt.Sprintf("the last stable offset %s is %d below the end %s: %s", stable, n, end, who)
}

// describe names each transaction: several subtasks of a sink can write to one
// partition.
func describe(open []OpenTransaction, now time.Time) string {
	const most = 5
	var parts []string
	for _, o := range open[:min(most, len(open))] {
		text := fmt.Sprintf("producer id %d, epoch %d, has a transaction open from offset %s, and its last record has a timestamp of %s ago",
			o.ProducerID, o.Epoch, o.Start, now.Sub(o.LastTimestamp).Round(time.Second))
		if o.CoordinatorEpoch >= 0 {
			text += fmt.Sprintf(" (coordinator epoch %d)", o.CoordinatorEpoch)
		}
		parts = append(parts, text)
	}
	if n := len(open) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}
