package delivery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// seen are the samples that somebody has asked for, a line each.
func (w *world) seen() *[]string {
	out := &[]string{}
	w.sample = func(s preflight.DeliverySample) {
		side := "from C on"
		if s.Before {
			side = "before C"
		}
		*out = append(*out, fmt.Sprintf("%s@%s %s %s %s=%s", s.TopicPartition, s.Offset, side, s.Target, s.Key, s.Value))
	}
	return out
}

func TestSamplesAreRevealedToWhoAsksForThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.bounds.Samples = 2
	w.source.write(records(0, 0, 10)...)
	w.target.write(slices.Concat(records(0, 0, 4), records(0, 5, 6))...)
	samples := w.seen()
	if d := w.one(5); d.Outcome != preflight.NotDelivered || d.Beyond != 1 {
		t.Errorf("%+v", d)
	}
	want := []string{
		"orders-0@3 before C there key-0=value 0/3", "orders-0@4 before C not-there key-1=value 0/4",
		"orders-0@5 from C on there key-2=value 0/5", "orders-0@6 from C on not-there key-0=value 0/6",
	}
	if diff := cmp.Diff(want, *samples); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestASampleIsCutAndTellsItsSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	large := record(0, 0)
	large.Key, large.Value = nil, []byte(strings.Repeat("x", 5000))
	w.source.write(large)
	w.target.write(large)
	var got []preflight.DeliverySample
	w.sample = func(s preflight.DeliverySample) { got = append(got, s) }
	w.one(1)
	if len(got) != 1 || got[0].Key != nil || len(got[0].Value) != preflight.MostSampleBytes || got[0].ValueSize != 5000 {
		t.Errorf("%d samples: %+v", len(got), got)
	}
}

// Of equal records it is not told which are there, and of what was not read nothing.
func TestASampleSaysWhatIsNotKnownOfIt(t *testing.T) {
	t.Parallel()
	alike := func(r *kgo.Record) { r.Key, r.Headers, r.Value, r.Timestamp = nil, nil, []byte("ping"), began }
	w := newWorld(t, 1)
	w.bounds.Samples = 1
	w.source.write(changed(records(0, 0, 200), alike)...)
	w.target.write(changed(records(0, 0, 100), alike)...)
	samples := w.seen()
	w.one(100)
	if len(*samples) == 0 || !strings.Contains((*samples)[0], "before C cannot-tell") {
		t.Errorf("equal records: %q", *samples)
	}
	w = newWorld(t, 1)
	w.bounds.Samples, w.bounds.Bytes = 1, 1
	w.source.write(records(0, 0, 4)...)
	w.target.write(records(0, 100, 200)...)
	samples = w.seen()
	w.one(4)
	if len(*samples) != 1 || !strings.Contains((*samples)[0], "before C not-read") {
		t.Errorf("within the bound: %q", *samples)
	}
}
