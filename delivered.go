package flinkmm2

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// DeliveredPartition says how far MirrorMaker 2 has come in a partition past M, which it
// commits every offset.flush.interval.ms and which a worker that is killed leaves behind:
// the end of the target was compared with the source.
type DeliveredPartition struct {
	offsetmap.TopicPartition
	// Next is C': the target has every record before it, beyond doubt. It is never below
	// that of Reverse.
	Next offsetmap.NextOffset `json:"next"`
	// Beyond counts the records from Next on that were seen on the target: these come
	// again.
	Beyond int64 `json:"beyond"`
	// Doubt says why more may come again; empty when none does.
	Doubt string `json:"doubt"`
	// TargetEnd is where the target ended then.
	TargetEnd offsetmap.NextOffset `json:"targetEnd"`
}

// TailBounds bounds how much is read to find out how far MirrorMaker 2 has come. What
// lies beyond stays in doubt.
type TailBounds struct {
	// Records and Bytes bound what is read of a partition, on both clusters together. By
	// default, 1,000,000 and 256 MiB.
	Records, Bytes int64
	// Within bounds the time. By default, five minutes.
	Within time.Duration
}

func (b TailBounds) check() error {
	if b.Records < 0 || b.Bytes < 0 || b.Within < 0 {
		return fmt.Errorf("bounds of the tail: %d records, %d bytes, %s: none may be below 0", b.Records, b.Bytes, b.Within)
	}
	return nil
}

// delivered compares the target's end, which has settled, with the source from each C' on.
// What cannot be found out is a doubt: the way back must not wait for it.
func (m *Migration) delivered(ctx context.Context, plan *offsetmap.Plan, rows []offsetmap.Reverse, seen engine.Observed, bounds TailBounds) []DeliveredPartition {
	measured, _ := seen.Measured.Get()
	ends := startEnds(plan, seen)
	begin, target := endsByPartition{}, map[string]string{}
	for _, row := range plan.Body.Rows {
		begin[row.TopicPartition], target[row.Topic] = row.Next, row.TargetTopic
	}
	options := proof.DeliveredOptions{
		Source:  proof.Cluster{Options: m.cfg.Source.Options, Isolation: plan.Body.Isolation, Admin: m.cfg.Source.Admin},
		Target:  proof.Cluster{Options: m.cfg.Target.Options, Isolation: offsetmap.ReadCommitted, Admin: m.cfg.Target.Admin},
		Records: bounds.Records, Bytes: bounds.Bytes, Within: bounds.Within,
	}
	out := make([]DeliveredPartition, 0, len(rows))
	if len(rows) == 0 {
		return out
	}
	for _, row := range rows {
		p := proof.Stopped{
			Source: row.TopicPartition, Target: offsetmap.TopicPartition{Topic: target[row.Topic], Partition: row.Partition},
			Begin: begin[row.TopicPartition], TargetBegin: ends[row.TopicPartition],
			Next: row.Next, TargetEnd: measured[row.TopicPartition].TargetEnd,
		}
		if row.Added {
			p.Begin, p.TargetBegin = firstOffset(), firstOffset()
		}
		options.Partitions = append(options.Partitions, p)
		out = append(out, DeliveredPartition{TopicPartition: row.TopicPartition, Next: row.Next, TargetEnd: p.TargetEnd})
	}
	found, err := proof.Delivered(ctx, options)
	if err == nil {
		for i, d := range found { // both are sorted
			out[i].Next, out[i].Beyond, out[i].Doubt = d.Next, d.Beyond, d.Doubt
		}
		return out
	}
	for i := range out {
		out[i].Doubt = err.Error()
	}
	return out
}

// against holds the boundary to what a rollback finds now: M of every partition, and how
// far the target's end shows that MirrorMaker 2 came past it.
func (m *Migration) against(ctx context.Context, plan *offsetmap.Plan, b *Boundary, rows []offsetmap.Reverse, seen engine.Observed) []offsetmap.Finding {
	out := b.against(rows)
	if len(out) > 0 || b.Delivered == nil {
		return out
	}
	measured, _ := seen.Measured.Get()
	var claimed []offsetmap.Reverse
	beyond := endsByPartition{}
	for i, had := range b.Delivered { // check has held them to the partitions, and b.against those to rows
		if end := measured[had.TopicPartition].TargetEnd; had.TargetEnd != end && !engine.MayMove(plan, had.String()) {
			out = append(out, changed(had.String(), "the target ended at %s, now it ends at %s: somebody writes to it", had.TargetEnd, end))
		}
		if had.Next != rows[i].Next {
			claimed, beyond[had.TopicPartition] = append(claimed, rows[i]), had.Next
		}
	}
	// As far as the rollback has read, whatever its bounds were.
	for _, now := range m.delivered(ctx, plan, claimed, seen, TailBounds{Records: math.MaxInt64, Bytes: math.MaxInt64, Within: math.MaxInt64}) {
		switch had := beyond[now.TopicPartition]; {
		case had.Compare(now.Next) > 0 && now.Doubt != "":
			out = append(out, changed(now.String(), "the boundary says that the target has all before %s, and that is not beyond doubt now: %s", had, now.Doubt))
		case had.Compare(now.Next) > 0:
			out = append(out, changed(now.String(), "the boundary says that the target has all before %s, and it has all before %s", had, now.Next))
		}
	}
	return out
}

// checkDelivered holds what a boundary says of the target to its partitions.
func (b *Boundary) checkDelivered() error {
	if b.Delivered == nil {
		return nil
	}
	if len(b.Delivered) != len(b.Partitions) {
		return fmt.Errorf("delivered: %d partitions of %d", len(b.Delivered), len(b.Partitions))
	}
	for i, d := range b.Delivered {
		p := b.Partitions[i]
		switch {
		case d.TopicPartition != p.TopicPartition:
			return fmt.Errorf("delivered[%d]: %s stands in the place of %s", i, d.TopicPartition, p.TopicPartition)
		case d.Next.IsNone() || d.Next.Compare(p.Next) < 0:
			return fmt.Errorf("delivered[%d]: %s: next %s is below that of the partition, %s", i, d.TopicPartition, d.Next, p.Next)
		case d.Beyond < 0:
			return fmt.Errorf("delivered[%d]: %s: %d beyond", i, d.TopicPartition, d.Beyond)
		}
	}
	return nil
}

// Next returns where Flink goes on in a partition, C': beyond M + 1 where the target was
// seen to have more. It is none of a partition that the boundary does not have.
func (b *Boundary) Next(tp offsetmap.TopicPartition) offsetmap.NextOffset {
	i, found := slices.BinarySearchFunc(b.Partitions, tp, func(r offsetmap.Reverse, tp offsetmap.TopicPartition) int { return r.Compare(tp) })
	switch {
	case !found:
		return offsetmap.NextOffset{}
	case b.Delivered != nil:
		return b.Delivered[i].Next
	default:
		return b.Partitions[i].Next
	}
}

// errTailNotRead is the doubt of a boundary of which the target was not looked at.
var errTailNotRead = errors.New("the end of the target was not compared: what the last flush of Connect did not tell may come again")

// Repeated returns how many records come again from C' on, by what was seen of the
// target, and each reason why more may: none says that no more do.
func (b *Boundary) Repeated() (records int64, doubts []string) {
	if b.Delivered == nil {
		return 0, []string{errTailNotRead.Error()}
	}
	for _, d := range b.Delivered {
		records += d.Beyond
		if d.Doubt != "" {
			doubts = append(doubts, d.TopicPartition.String()+": "+d.Doubt)
		}
	}
	return records, doubts
}

// back is what is given to Flink, partition for partition.
func (b *Boundary) back() []offsetmap.Reverse {
	out := slices.Clone(b.Partitions)
	for i := range out {
		out[i].Next = b.Next(out[i].TopicPartition)
	}
	return out
}

// firstOffset is that of a log from which nothing was ever deleted.
func firstOffset() offsetmap.NextOffset {
	zero, _ := offsetmap.Next(0)
	return zero
}
