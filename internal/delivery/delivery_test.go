package delivery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/delivery"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestWhatTheTargetHoldsOfTheRecordsBeforeC(t *testing.T) {
	t.Parallel()
	all := records(0, 0, 40)
	without := func(lost ...int) []*kgo.Record {
		var out []*kgo.Record
		for n, r := range all[:30] {
			if !slices.Contains(lost, n) {
				out = append(out, r)
			}
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		target  []*kgo.Record
		outcome preflight.DeliveryOutcome
		missing int64
		beyond  int64
	}{
		{"all, and none from C on", all[:30], preflight.Delivered, 0, 0},
		{"not the last", without(29), preflight.NotDelivered, 1, 0},
		{"not one of the last", without(27), preflight.NotDelivered, 1, 0},
		{"not the last two, and one from C on", append(without(28, 29), all[30]), preflight.NotDelivered, 2, 1},
		{"nothing", nil, preflight.NotDelivered, 5, 0},
		{"all and the first from C on", all[:31], preflight.Delivered, 0, 1},
		{"all and seven from C on", all[:37], preflight.Delivered, 0, 7},
		{"all and everything from C on", all, preflight.Delivered, 0, 10},
		{"all, replayed", append(slices.Clone(all[:30]), all[20:30]...), preflight.Delivered, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.source.write(all...)
			w.target.write(tt.target...)
			got := w.one(30)
			if got.Outcome != tt.outcome || got.Missing != tt.missing || got.Beyond != tt.beyond || got.BeyondAtLeast {
				t.Errorf("got %+v", got)
			}
			if got.Looked != 5 || got.Ahead != 10 || len(got.NotCarried) > 0 {
				t.Errorf("looked for %d and %d, not carried %q", got.Looked, got.Ahead, got.NotCarried)
			}
			if got.ReadRecords == 0 || got.ReadBytes == 0 {
				t.Error("nothing was counted as read")
			}
		})
	}
}

// Whoever has to bear duplicates wants to know how many. They are counted as far as may be read.
func TestManyRecordsBeyondCAreCounted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		source, target, c int
		bound             int64
		beyond, ahead     int64
		atLeast           bool
	}{
		"all of the source":           {source: 200, target: 200, c: 30, beyond: 170, ahead: 170},
		"some more than looked for":   {source: 3000, target: 140, c: 30, beyond: 110, ahead: 512},
		"as many as looked for":       {source: 3000, target: 94, c: 30, beyond: 64, ahead: 512},
		"fewer than looked for":       {source: 3000, target: 93, c: 30, beyond: 63, ahead: 64},
		"many more than looked for":   {source: 3000, target: 2600, c: 30, beyond: 2570, ahead: 2970},
		"more than may be read":       {source: 3000, target: 2600, c: 30, bound: 3100, beyond: 64, ahead: 64, atLeast: true},
		"more than may be read twice": {source: 3000, target: 2600, c: 30, bound: 7000, beyond: 512, ahead: 512, atLeast: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			w.bounds.Records = tt.bound
			w.source.write(records(0, 0, tt.source)...)
			w.source.write(records(1, 0, 100)...)
			w.target.write(records(0, 0, tt.target)...)
			w.target.write(records(1, 0, 42)...)
			got := w.look(at(t, 0, int64(tt.c)), at(t, 1, 40))
			if d := got[tp(0)]; d.Outcome != preflight.Delivered || d.Beyond != tt.beyond || d.BeyondAtLeast != tt.atLeast || d.Ahead != tt.ahead || d.BeyondBytes < tt.beyond*10 {
				t.Errorf("got %+v", d)
			}
			if d := got[tp(1)]; d.Outcome != preflight.Delivered || d.Beyond != 2 || d.BeyondAtLeast || d.Ahead != 60 {
				t.Errorf("the other partition: %+v", d)
			}
		})
	}
}

// Each record is shown once, however often it is looked for.
func TestWhatIsCountedIsNotShownAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.source.write(records(0, 0, 300)...)
	w.target.write(records(0, 0, 300)...)
	shown := map[offsetmap.NextOffset]int{}
	w.sample = func(s preflight.DeliverySample) { shown[s.Offset]++ }
	if d := w.one(30); d.Beyond != 270 {
		t.Errorf("got %+v", d)
	}
	for offset, times := range shown {
		if times != 1 {
			t.Errorf("offset %s is shown %d times", offset, times)
		}
	}
	if len(shown) != 10 {
		t.Errorf("%d are shown", len(shown))
	}
}

// Flink's sink lets the producer choose by the hash of the key.
func TestCopiesInOtherPartitionsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.source.write(records(0, 0, 20)...)
	w.source.write(records(1, 0, 20)...)
	w.target.write(changed(records(0, 0, 12), func(r *kgo.Record) { r.Partition = 2 })...)
	w.target.write(records(1, 0, 11)...)
	got := w.look(at(t, 0, 12), at(t, 1, 12))
	if d := got[tp(0)]; d.Outcome != preflight.Delivered || d.Keyed != 5 || len(d.Moved) != 3 {
		t.Errorf("got %+v", d)
	}
	if d := got[tp(1)]; d.Outcome != preflight.NotDelivered || d.Missing != 1 || len(d.Moved) != 0 {
		t.Errorf("got %+v", d)
	}
	for _, key := range got[tp(0)].Moved {
		if len(key) != 16 || strings.Contains(key, "key") {
			t.Errorf("the key is shown as %q", key)
		}
	}
	if again := w.look(at(t, 0, 12), at(t, 1, 12)); slices.Equal(again[tp(0)].Moved, got[tp(0)].Moved) {
		t.Error("two runs give a key the same hash")
	}
}

func TestWhatTheSinkHasNotCarried(t *testing.T) {
	t.Parallel()
	all := records(0, 0, 20)
	late := func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(5 * time.Minute) }
	early := func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(-5 * time.Minute) }
	for _, tt := range []struct {
		name string
		by   func(*kgo.Record)
		not  []string
	}{
		{"the time of the copy", late, []string{"timestamp"}},
		{"the time of the copy, by a clock that is behind", early, []string{"timestamp"}},
		{"no headers", func(r *kgo.Record) { r.Headers = nil }, []string{"headers"}},
		{"headers of its own", func(r *kgo.Record) { r.Headers = []kgo.RecordHeader{{Key: "job"}} }, []string{"headers"}},
		{"no key", func(r *kgo.Record) { r.Key = nil }, []string{"key"}},
		{"the value alone", func(r *kgo.Record) { late(r); r.Key, r.Headers = nil, nil }, []string{"timestamp", "key", "headers"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.source.write(all...)
			w.target.write(changed(all[:12], tt.by)...)
			if got := w.one(12); got.Outcome != preflight.Delivered || !slices.Equal(got.NotCarried, tt.not) || got.Beyond != 0 {
				t.Errorf("got %+v", got)
			}
			if got := w.one(13); got.Outcome != preflight.NotDelivered || got.Missing != 1 {
				t.Errorf("C one too far: got %+v", got)
			}
			if got := w.one(11); got.Outcome != preflight.Delivered || got.Beyond != 1 {
				t.Errorf("C one too low: got %+v", got)
			}
		})
	}
}

// What one record has carried, a copy of the others must have too: else an older
// record would be taken for one that is lost.
func TestARecordThatOnlyResemblesALostOneIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	all := records(0, 0, 20)
	for _, r := range all[10:] {
		r.Value = []byte("beat")
	}
	w.source.write(all...)
	w.target.write(all[:14]...)
	if got := w.one(15); got.Outcome != preflight.NotDelivered || got.Missing != 1 {
		t.Errorf("got %+v", got)
	}
	if got := w.one(14); got.Outcome != preflight.Delivered || got.Beyond != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestEqualRecords(t *testing.T) {
	t.Parallel()
	equal := func(n int, r *kgo.Record) []*kgo.Record { return slices.Repeat([]*kgo.Record{r}, n) }
	same := record(0, 50)
	for _, tt := range []struct {
		name           string
		source, target []*kgo.Record
		c              int64
		outcome        preflight.DeliveryOutcome
		beyond         int64
	}{
		{"as many as before C", append(records(0, 0, 5), equal(4, same)...), append(records(0, 0, 5), equal(4, same)...), 9, preflight.Delivered, 0},
		{"one less", append(records(0, 0, 5), equal(4, same)...), append(records(0, 0, 5), equal(3, same)...), 9, preflight.NotDelivered, 0},
		{"on both sides of C", append(records(0, 0, 5), equal(4, same)...), append(records(0, 0, 5), equal(2, same)...), 7, preflight.Delivered, 0},
		{"on both sides of C, and one too many", append(records(0, 0, 5), equal(4, same)...), append(records(0, 0, 5), equal(3, same)...), 7, preflight.Delivered, 1},
		{"more than are read", equal(200, same), equal(150, same), 150, preflight.CannotTell, 0},
		{"from the beginning of the log on", equal(20, same), equal(10, same), 10, preflight.Delivered, 0},
		{
			"without the timestamp that tells them apart",
			changed(records(0, 0, 10), func(r *kgo.Record) { r.Key, r.Value, r.Headers = nil, []byte("beat"), nil }),
			changed(records(0, 0, 5), func(r *kgo.Record) {
				r.Key, r.Value, r.Headers, r.Timestamp = nil, []byte("beat"), nil, r.Timestamp.Add(time.Hour)
			}),
			6, preflight.CannotTell, 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.source.write(tt.source...)
			w.target.write(tt.target...)
			if got := w.one(tt.c); got.Outcome != tt.outcome || got.Beyond != tt.beyond {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestNothingThatCouldBeLookedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.source.write(records(0, 0, 10)...)
	if got := w.one(0); got.Outcome != preflight.NothingBefore || got.Beyond != 0 {
		t.Errorf("C = 0: got %+v", got)
	}
	w.target.write(record(0, 0), record(0, 1))
	if got := w.one(0); got.Outcome != preflight.NothingBefore || got.Beyond != 2 {
		t.Errorf("C = 0 and two on the target: got %+v", got)
	}
	unread := offsetmap.Position{TopicPartition: tp(0), Unread: offsetmap.Earliest}
	if got := w.look(unread)[tp(0)]; got.Outcome != preflight.NothingBefore || got.Beyond != 2 {
		t.Errorf("unread: got %+v", got)
	}
	w.source.deleteBefore(0, 5)
	for _, c := range []int64{5, 4} {
		if got := w.one(c); got.Outcome != preflight.CannotTell || !strings.Contains(got.Reason, "5") {
			t.Errorf("C = %d: got %+v", c, got)
		}
	}
	if got := w.one(11); got.Outcome != preflight.Unproven || !strings.Contains(got.Reason, "beyond") {
		t.Errorf("C beyond the end: got %+v", got)
	}
}

func TestARecordWithAnotherValueIsNoLostOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.source.write(records(0, 0, 10)...)
	w.target.write(changed(records(0, 0, 10), func(r *kgo.Record) { r.Value = append([]byte("v2:"), r.Value...) })...)
	if got := w.one(10); got.Outcome != preflight.ContentChanged || got.Changed != 5 || got.Missing != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestWhatMayBeGoneFromTheTargetIsNotMissing(t *testing.T) {
	t.Parallel()
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1)
		w.source.write(records(0, 0, 10)...)
		w.target.write(records(0, 0, 10)...)
		w.target.deleteBefore(0, 10)
		if got := w.one(10); got.Outcome != preflight.CannotTell || !strings.Contains(got.Reason, "deleted") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("compacted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1)
		w.compacted = true
		w.source.write(records(0, 0, 10)...)
		w.target.write(records(0, 0, 9)...)
		if got := w.one(10); got.Outcome != preflight.CannotTell || !strings.Contains(got.Reason, "compaction") {
			t.Errorf("got %+v", got)
		}
	})
}

func TestBoundsLeaveItUnproven(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.source.write(records(0, 0, 300)...)
	w.target.write(records(0, 0, 200)...)
	w.bounds.Records = 10
	if got := w.one(200); got.Outcome != preflight.Unproven || !strings.Contains(got.Reason, "may be read") {
		t.Errorf("records: got %+v", got)
	}
	w.bounds = preflight.DeliveryBounds{Bytes: 1}
	if got := w.one(200); got.Outcome != preflight.Unproven {
		t.Errorf("bytes: got %+v", got)
	}
	w.bounds = preflight.DeliveryBounds{}
	if got := w.one(200); got.Outcome != preflight.Delivered {
		t.Errorf("no bounds: got %+v", got)
	}
}

// The last record of a quiet partition is old. It is found without reading all that
// others have written since.
func TestAQuietPartitionCostsLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	quiet := changed(records(1, 0, 6), func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(-30 * 24 * time.Hour) })
	busy := records(0, 0, 3000)
	for _, r := range busy {
		r.Value = append(r.Value, make([]byte, 2000)...)
	}
	w.source.write(quiet...)
	w.target.write(quiet...)
	w.source.write(busy...)
	w.target.write(busy...)
	got := w.look(at(t, 0, 3000), at(t, 1, 6))
	for _, d := range got {
		if d.Outcome != preflight.Delivered || d.ReadRecords > 600 {
			t.Errorf("got %+v", d)
		}
	}
	w.source.write(changed(records(1, 6, 7), func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(-30 * 24 * time.Hour) })...)
	got = w.look(at(t, 0, 3000), at(t, 1, 7))
	if d := got[tp(1)]; d.Outcome != preflight.NotDelivered || d.Missing != 1 || d.ReadRecords < 3000 {
		t.Errorf("one is lost: got %+v", d)
	}
}

// A time of -1 would be a request for the end of the log.
func TestRecordsWithoutATimeAreLookedForEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	timeless := changed(records(0, 0, 10), func(r *kgo.Record) { r.Timestamp = time.UnixMilli(-1) })
	w.source.write(timeless...)
	w.target.write(records(0, 0, 7)...) // stamped by the producer
	if got := w.one(7); got.Outcome != preflight.Delivered || got.Beyond != 0 {
		t.Errorf("got %+v", got)
	}
	if got := w.one(8); got.Outcome != preflight.NotDelivered || got.Missing != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestTombstonesAndNullsAreRecordsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	all := records(0, 0, 10)
	for _, r := range all[4:] {
		r.Value = nil
	}
	all[6].Key = nil
	all[7].Key = []byte{}
	w.source.write(all...)
	w.target.write(all[:7]...)
	w.target.write(changed(all[7:8], func(r *kgo.Record) { r.Key = nil })...)
	if got := w.one(8); got.Outcome != preflight.NotDelivered || got.Missing != 1 {
		t.Errorf("an empty key is no null: got %+v", got)
	}
	w.target.write(all[7])
	if got := w.one(8); got.Outcome != preflight.Delivered {
		t.Errorf("got %+v", got)
	}
}

func TestNoTimeIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := delivery.New(w.source.options(), w.target.options(), preflight.DeliveryBounds{Within: 1})
	got, err := r.Deliveries(t.Context(), preflight.DeliveryRequest{Positions: []offsetmap.Position{at(t, 0, 0)}, TargetTopic: func(topic string) string { return topic }})
	if err == nil || got != nil || !strings.Contains(err.Error(), "time") {
		t.Errorf("got %v, %v", got, err)
	}
}

// A log that is slow to answer leaves what was not reached unproven, and the rest as
// it is.
func TestTheTimeEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.source.write(records(0, 0, 20)...)
	w.target.write(records(0, 0, 12)...)
	w.bounds.Within = 300 * time.Millisecond
	w.target.fake.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		w.target.fake.KeepControl()
		w.target.fake.SleepControl(func() { time.Sleep(time.Second) })
		return nil, nil, false
	})
	if got := w.one(12); got.Outcome != preflight.Unproven || !strings.Contains(got.Reason, "time") {
		t.Errorf("got %+v", got)
	}
}

func TestWhatCannotBeReadIsUnproven(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		on   func(*world) *side
		says string
	}{
		{"source", func(w *world) *side { return w.source }, "source orders-1"},
		{"target", func(w *world) *side { return w.target }, "target orders-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			for p := range int32(2) {
				w.source.write(records(p, 0, 20)...)
				w.target.write(records(p, 0, 12)...)
			}
			tt.on(w).fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: orders, Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: -1})
			got := w.look(at(t, 0, 12), at(t, 1, 12))
			if d := got[tp(1)]; d.Outcome != preflight.Unproven || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestATargetTopicThatDoesNotExistHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.source.write(records(0, 0, 20)...)
	w.source.write(records(1, 0, 20)...)
	w.target.must(w.target.fake.DeleteTopic(orders))
	got := w.look(at(t, 0, 12), at(t, 1, 0))
	if d := got[tp(0)]; d.Outcome != preflight.NotDelivered || d.Missing != 5 || !strings.Contains(d.Reason, "no such topic") {
		t.Errorf("got %+v", d)
	}
	if d := got[tp(1)]; d.Outcome != preflight.NothingBefore {
		t.Errorf("got %+v", d)
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	begin := func(s *side, rs ...*kgo.Record) (end func(kgo.TransactionEndTry)) {
		cl := s.connect(kgo.TransactionalID(t.Name() + rs[0].Timestamp.String() + string(rs[0].Value)))
		s.must(cl.BeginTransaction())
		s.must(cl.ProduceSync(s.t.Context(), changed(rs, func(*kgo.Record) {})...).FirstErr())
		return func(how kgo.TransactionEndTry) { s.must(cl.EndTransaction(s.t.Context(), how)) }
	}
	w := newWorld(t, 1)
	// 0..9, a marker at 10, aborted 11..13, a marker at 14, 15..19
	begin(w.source, records(0, 0, 10)...)(kgo.TryCommit)
	begin(w.source, records(0, 100, 103)...)(kgo.TryAbort)
	w.source.write(records(0, 15, 20)...)
	w.target.write(records(0, 0, 10)...)

	w.isolation = offsetmap.ReadCommitted
	for _, c := range []int64{10, 11, 12, 15} {
		if got := w.one(c); got.Outcome != preflight.Delivered || got.Beyond != 0 || got.Ahead != 5 {
			t.Errorf("committed, C = %d: got %+v", c, got)
		}
	}
	w.isolation = offsetmap.ReadUncommitted
	if got := w.one(15); got.Outcome != preflight.NotDelivered || got.Missing != 3 {
		t.Errorf("uncommitted: got %+v", got)
	}
	w.target.write(records(0, 100, 103)...)
	if got := w.one(15); got.Outcome != preflight.Delivered {
		t.Errorf("uncommitted, with what aborted: got %+v", got)
	}

	// What the sink has not committed is not delivered, and not lost either.
	end := begin(w.target, record(0, 15))
	if got := w.one(16); got.Outcome != preflight.Unproven || !strings.Contains(got.Reason, "open transaction") || !strings.Contains(got.Reason, "orders-0") {
		t.Errorf("open: got %+v", got)
	}
	end(kgo.TryAbort)
	if got := w.one(16); got.Outcome != preflight.NotDelivered || got.Missing != 1 {
		t.Errorf("aborted: got %+v", got)
	}
}

func TestNothingButMarkersBeforeC(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	cl := w.source.connect(kgo.TransactionalID("tx"))
	w.source.must(cl.BeginTransaction())
	w.source.must(cl.ProduceSync(t.Context(), record(0, 0)).FirstErr())
	w.source.must(cl.EndTransaction(t.Context(), kgo.TryAbort))
	w.isolation = offsetmap.ReadCommitted
	if got := w.one(2); got.Outcome != preflight.NothingBefore {
		t.Errorf("got %+v", got)
	}
}

func TestCancellingIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := delivery.New(w.source.options(), w.target.options(), w.bounds).Deliveries(ctx, preflight.DeliveryRequest{
		Positions: []offsetmap.Position{at(t, 0, 0)}, TargetTopic: func(topic string) string { return topic },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Records of several partitions may have the key and the time of each other.
func TestACopyOfAnotherRecordIsNoChangedOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.source.write(records(0, 0, 10)...)
	w.source.write(records(1, 0, 10)...)
	w.target.write(records(0, 0, 10)...)
	for _, c := range []int64{5, 10} {
		if d := w.look(at(t, 0, 10), at(t, 1, c))[tp(1)]; d.Outcome != preflight.NotDelivered || d.Missing != 5 {
			t.Errorf("got %+v", d)
		}
	}
}

// A sink that stamps its records may stamp some in the millisecond of the original.
func TestSomeCopiesHaveTheOriginalsTimeByChance(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	all := records(0, 0, 20)
	w.source.write(all...)
	for n, r := range changed(all[:12], func(*kgo.Record) {}) {
		if n%5 != 0 { // 10 is by chance, of 7 to 11
			r.Timestamp = r.Timestamp.Add(3 * time.Millisecond)
		}
		w.target.write(r)
	}
	if got := w.one(12); got.Outcome != preflight.Delivered || !slices.Equal(got.NotCarried, []string{"timestamp"}) {
		t.Errorf("got %+v", got)
	}
}

// Without its timestamp the one before C cannot be told from the one behind it.
func TestARecordThatComesAgainBehindCTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	all := changed(records(0, 0, 11), func(r *kgo.Record) { r.Headers = nil })
	all[10].Key, all[10].Value = all[9].Key, all[9].Value
	w.source.write(all...)
	w.target.write(changed(all[:10], func(r *kgo.Record) { r.Timestamp = r.Timestamp.Add(3 * time.Second) })...)
	if got := w.one(10); got.Outcome != preflight.CannotTell || !strings.Contains(got.Reason, "equal others") {
		t.Errorf("got %+v", got)
	}
}

func TestOneRecordWithoutATimeAmongOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	all := records(0, 0, 10)
	all[8].Timestamp = time.UnixMilli(-1)
	w.source.write(all...)
	all[8].Timestamp = began.Add(time.Hour) // as the sink stamped it
	w.target.write(all...)
	if got := w.one(10); got.Outcome != preflight.Delivered || len(got.NotCarried) != 0 {
		t.Errorf("got %+v", got)
	}
}

// The records before C are found at once; what others have written since lies beyond
// the bound.
func TestWhatLiesBehindTheFoundRecordsIsReadToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.source.write(records(0, 0, 20)...)
	w.target.write(records(0, 0, 12)...)
	for n := 1000; n < 3000; n += 200 {
		w.target.write(changed(records(0, n, n+200), func(r *kgo.Record) { r.Value = append(r.Value, make([]byte, 9000)...) })...)
	}
	w.bounds.Records = 1000
	if got := w.one(12); got.Outcome != preflight.Unproven || !strings.Contains(got.Reason, "may be read") || got.Missing != 0 {
		t.Errorf("got %+v", got)
	}
	w.bounds.Records = 0
	if got := w.one(12); got.Outcome != preflight.Delivered || got.ReadRecords < 2000 {
		t.Errorf("got %+v", got)
	}
}
