package cutover

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// World is a stage with the records and the oracle of this suite, for suites
// whose migrations another program makes.
type World struct{ w *world }

// Open returns the world of a test. Its clients end with t.
func Open(t testing.TB, s Stage) *World {
	t.Helper()
	return &World{newWorld(t, s)}
}

// Connect asks the stage's worker.
func (o *World) Connect() *connectrest.Client { return o.w.connect }

// Source and Target administer the clusters.
func (o *World) Source() *kadm.Client { return o.w.admin.source }

// Target is as Source.
func (o *World) Target() *kadm.Client { return o.w.admin.target }

// Config is the connector's, of the topics.
func (o *World) Config(topics ...string) connectrest.Config { return o.w.config(topics) }

// Create makes topics with equal partition counts on both clusters.
func (o *World) Create(ctx context.Context, partitions int32, topics ...string) error {
	return o.w.create(ctx, partitions, topics...)
}

// Copied writes what the old job saw of a partition: the source has the records
// before all, the target those before c.
func (o *World) Copied(ctx context.Context, tp offsetmap.TopicPartition, all, c int) error {
	return o.w.flinkCopied(ctx, tp, all, c)
}

// Produce writes the records from..to-1 of a partition to the source.
func (o *World) Produce(ctx context.Context, tp offsetmap.TopicPartition, from, to int) error {
	return produce(ctx, o.w.source, tp, from, to)
}

// Deliver writes the records from..to-1 of a partition to the target.
func (o *World) Deliver(ctx context.Context, tp offsetmap.TopicPartition, from, to int) error {
	return produce(ctx, o.w.target, tp, from, to)
}

// Ends lists the target's ends.
func (o *World) Ends(ctx context.Context, topics ...string) (map[offsetmap.TopicPartition]int64, error) {
	return o.w.ends(ctx, topics...)
}

// Span names the records From..To-1 of a partition.
type Span struct{ From, To int }

// Tally is what the oracle counts of the records that are due in one partition.
type Tally struct {
	// First is the source's offset of the first record copied, or none.
	First string
	// Missing never came within the stage's patience, Repeated came again.
	Missing, Repeated int
	// Copied holds the source's offset of every record that came, in its order.
	Copied []int
	// Strange is an error where a record came that is not due, or an altered one.
	Strange error
}

// Tally reads what came to the target after its ends were before, until all that
// is due is there, and for a second more.
func (o *World) Tally(ctx context.Context, before map[offsetmap.TopicPartition]int64, want map[offsetmap.TopicPartition]Span) (map[offsetmap.TopicPartition]Tally, error) {
	all := map[offsetmap.TopicPartition]due{}
	for tp, s := range want {
		all[tp] = span(tp, s.From, s.To)
	}
	got, counted, err := o.w.fromTheTarget(ctx, before, all)
	if err != nil {
		return nil, err
	}
	out := map[offsetmap.TopicPartition]Tally{}
	for tp, c := range counted {
		t := Tally{First: c.first, Missing: c.missing, Repeated: c.repeated, Strange: c.strange}
		for _, r := range got[tp] {
			if n, ok := numberOf(r); ok {
				t.Copied = append(t.Copied, n)
			}
		}
		out[tp] = t
	}
	return out, nil
}
