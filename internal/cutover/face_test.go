package cutover

import (
	"testing"
	"time"
)

// The face counts as the scenarios do: what is missing, what came twice, and what
// is not due.
func TestFaceCounts(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	stage.Patience = time.Second
	w, ctx := Open(t, stage), t.Context()
	topic := w.w.topic("face")
	tp := topicPartition{Topic: topic}
	if err := w.Create(ctx, 1, topic); err != nil {
		t.Fatal(err)
	}
	if err := w.Copied(ctx, tp, 10, 4); err != nil {
		t.Fatal(err)
	}
	before, err := w.Ends(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Span{{4, 6}, {5, 7}, {8, 11}} { // 5 twice, 7 never, 10 is not due
		if err := w.Deliver(ctx, tp, s.From, s.To); err != nil {
			t.Fatal(err)
		}
	}
	all, err := w.Tally(ctx, before, map[topicPartition]Span{tp: {4, 10}})
	if err != nil {
		t.Fatal(err)
	}
	got := all[tp]
	if got.First != "4" || got.Missing != 1 || got.Repeated != 1 || got.Strange == nil || len(got.Copied) != 7 {
		t.Errorf("%+v", got)
	}
}
