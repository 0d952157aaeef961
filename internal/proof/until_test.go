package proof

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUntilTheFirstRecordsOfEachPartition(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const before, n, first = 5, 40, 3
	for _, tt := range []struct {
		name    string
		copied  func(i int) bool
		outcome PartitionOutcome
		want    counts
	}{
		{"all there", func(int) bool { return true }, PartitionProven, counts{Copied: first}},
		{"lost behind them", func(i int) bool { return i != first }, PartitionProven, counts{Copied: first}},
		{"the last of them lost", func(i int) bool { return i != first-1 }, PartitionFailed, counts{Copied: first - 1, Missing: 1}},
		{"the first lost", func(i int) bool { return i != 0 }, PartitionFailed, counts{Copied: first - 1, Missing: 1}},
		{"not all there yet", func(i int) bool { return i < first-1 }, PartitionPending, counts{Copied: first - 1, Pending: 1}},
		{"none", func(int) bool { return false }, PartitionPending, counts{Pending: first}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			topic := topicName(t)
			c.topic(topic, 1, nil)
			rs := records(topic, 0, 0, before+n)
			c.source.write(t, rs...)
			for i, r := range copyOf(rs[before:]...) {
				if tt.copied(i) {
					c.target.write(t, r)
				}
			}
			o := c.proof(c.from(topic, 0, before, before+n, 0))
			o.Until = UntilFirst(first)
			if tt.outcome == PartitionPending {
				o.Quiet = time.Second
			}
			_, p := onlyPartition(t, o)
			got := short(p.Counts)
			got.Later = 0
			if d := cmp.Diff(tt.want, got); d != "" || p.Outcome != tt.outcome || p.End != at(t, before+first) {
				t.Errorf("%s (%s), end %s (-want +got):\n%s", p.Outcome, p.Reason, p.End, d)
			}
		})
	}
}

// With fewer records than are asked for, the end is the fixed one; with none,
// what stands on the target without one is still looked at.
func TestUntilMoreRecordsThanThereAre(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 2, nil)
	rs := records(topic, 0, 0, 6)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(rs...)...)
	none := records(topic, 1, 0, 4)
	c.source.write(t, none...)
	c.target.write(t, copyOf(none[3])...)
	for _, u := range []Until{UntilFirst(10), UntilRecords(10)} {
		o := c.proof(c.from(topic, 0, 2, 6, 0), c.from(topic, 1, 4, 4, 0))
		o.Until = u
		r := mustRun(t, o)
		if p := r.Partitions[0]; p.Outcome != PartitionPending && p.Outcome != PartitionFailed || p.Counts.Early != 2 {
			// The target begins two records before C.
			t.Errorf("%+v: %s (%s), %+v", u, p.Outcome, p.Reason, p.Counts)
		}
		if p := r.Partitions[0]; p.End != at(t, 6) || p.Counts.Copied != 4 {
			t.Errorf("%+v: end %s, %+v", u, p.End, p.Counts)
		}
		if p := r.Partitions[1]; p.Outcome != PartitionFailed || p.Counts.Early != 1 {
			t.Errorf("%+v: nothing to copy, and a record from before C: %s, %+v", u, p.Outcome, p.Counts)
		}
	}
}

func TestUntilSoManyRecordsInAll(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic, n = "orders", 2000
	c.topic(topic, 3, nil)
	var parts []Partition
	for p := range int32(3) {
		rs := records(topic, p, 0, n)
		c.source.write(t, rs...)
		switch p {
		case 0:
			c.target.write(t, copyOf(rs...)...)
		case 1: // one is there, and no more comes
			c.target.write(t, copyOf(rs[0])...)
		}
		parts = append(parts, c.from(topic, p, 0, n, 0))
	}
	o := c.proof(parts[:2]...)
	o.Until = UntilRecords(100)
	r := mustRun(t, o)
	if r.Outcome != Proven || r.Total.Source < 100 || r.Total.Pending != 0 || r.Partitions[1].End != at(t, 1) {
		t.Errorf("%s, %+v, ends %s and %s", r.Outcome, r.Total, r.Partitions[0].End, r.Partitions[1].End)
	}
	if r.Partitions[1].Lag == 0 {
		t.Error("the records that wait are no lag")
	}
	o = c.proof(parts...)
	o.Until, o.Quiet = UntilRecords(100), time.Second
	if r = mustRun(t, o); r.Outcome != NotProven || r.Partitions[2].Outcome != PartitionPending {
		t.Errorf("a silent partition: %s, %+v", r.Outcome, r.Partitions[2])
	}
}

// A source that is written on and on has an end, and a target that keeps up has
// it.
func TestUntilCaughtUpWithASourceThatIsWrittenOn(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic, fixed = "orders", 20
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 4000)
	c.source.write(t, rs[:fixed]...)
	o := c.proof(c.from(topic, 0, 0, fixed, 0))
	o.Until = UntilCaughtUp()
	next, copied := fixed, 0
	o.Progress = func(Progress) { // the copier is one look behind
		if next == len(rs) {
			return
		}
		c.target.write(t, copyOf(rs[copied:next]...)...)
		copied = next
		c.source.write(t, rs[next:next+10]...)
		next += 10
	}
	outcome, p := onlyPartition(t, o)
	end, _ := p.End.Value()
	if outcome != Proven || end <= fixed || p.Counts.Copied != end || p.Counts.Pending != 0 {
		t.Errorf("%s, %s (%s), end %s, %+v", outcome, p.Outcome, p.Reason, p.End, p.Counts)
	}
	if next == len(rs) {
		t.Error("it ended only with the source")
	}
}

func TestUntilCaughtUpEndsAtTheBoundWhenTheTargetFallsBehind(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 2, nil)
	still := records(topic, 1, 0, 10)
	c.source.write(t, still...)
	c.target.write(t, copyOf(still...)...)
	rs := records(topic, 0, 0, 10)
	c.source.write(t, rs...)
	o := c.proof(c.from(topic, 0, 0, 10, 0), c.from(topic, 1, 0, 10, 0))
	o.Until, o.Bound = UntilCaughtUp(), 2*time.Second
	copied := 0
	o.Progress = func(Progress) { // one record copied for two that are written
		if copied < 100 {
			more := records(topic, 0, len(rs), 2)
			rs = append(rs, more...)
			c.source.write(t, more...)
			c.target.write(t, copyOf(rs[copied])...)
			copied++
		}
	}
	r := mustRun(t, o)
	if r.Outcome != NotProven || r.Partitions[0].Outcome != PartitionPending || r.Partitions[0].Counts.Pending == 0 || r.Partitions[1].Outcome != PartitionProven {
		t.Errorf("%s, %+v", r.Outcome, r.Partitions)
	}
}

// What is found beyond an end that was reached counts, though nobody waited for it.
func TestUntilCaughtUpCountsWhatItSawBeyondTheEnd(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 30)
	c.source.write(t, rs...)
	c.target.write(t, copyOf(slices.Delete(slices.Clone(rs), 25, 26)...)...)
	o := c.proof(c.from(topic, 0, 0, 10, 0)) // measured when there were ten
	o.Until = UntilCaughtUp()
	outcome, p := onlyPartition(t, o)
	if outcome != Failed || p.Counts.Missing != 1 || p.End != at(t, 30) || p.Examples[0].Source != at(t, 25) {
		t.Errorf("%s, end %s, %+v, %+v", outcome, p.End, p.Counts, p.Examples)
	}
}

// What expires on the source before it was read is never proven, wherever the end
// was then.
func TestWhatExpiresBeyondAnEndThatMovesOnIsNotProven(t *testing.T) {
	p, o := alone(t, 0, 10)
	o.Until = UntilCaughtUp()
	p.moving = true
	p.take(sourceSide, fetch("ABCDEFGHIJ", 0, 0))
	p.take(sourceSide, fetch("OP", 14, 14))
	p.extend(16)
	if p.expired != 4 {
		t.Errorf("%d expired, want 4", p.expired)
	}
}

func TestRoundsGoOnUntilTheBound(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic, step = "orders", 50
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 10*step)
	c.source.write(t, rs[:step]...)
	c.target.write(t, copyOf(rs[:step]...)...)
	o := c.proof(c.from(topic, 0, 0, step, 0))
	o.Every = 200 * time.Millisecond
	stop := errors.New("enough")
	var seen []Report
	o.Round = func(r Report) error {
		seen = append(seen, r)
		n := len(seen)
		switch n {
		case 5:
			return stop
		case 3: // one is lost
			c.target.write(t, copyOf(rs[n*step+1:(n+1)*step]...)...)
		default:
			c.target.write(t, copyOf(rs[n*step:(n+1)*step]...)...)
		}
		c.source.write(t, rs[n*step:(n+1)*step]...)
		return nil
	}
	last, err := Run(t.Context(), o)
	if !errors.Is(err, stop) || len(seen) != 5 {
		t.Fatalf("%d rounds, %v", len(seen), err)
	}
	for i, r := range seen {
		want, outcome, lost := int64((i+1)*step), Proven, int64(0)
		if i >= 3 {
			outcome, lost = Failed, 1
		}
		if r.Outcome != outcome || r.Total.Source != want || r.Total.Copied != want-lost || r.Total.Missing != lost || r.Total.Repeated != 0 {
			t.Errorf("round %d: %s, %+v, want %d records", i+1, r.Outcome, r.Total, want)
		}
	}
	if d := cmp.Diff(seen[4].Total, last.Total); d != "" {
		t.Errorf("the run's own report (-last round +run):\n%s", d)
	}
}

// A round that is not reached when the next is due says what is pending.
func TestARoundThatIsNotReachedIsSaid(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	const topic = "orders"
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 20)
	c.source.write(t, rs...)
	o := c.proof(c.from(topic, 0, 0, 20, 0))
	o.Every, o.Bound = 200*time.Millisecond, 20*time.Second
	var outcomes []Outcome
	enough := errors.New("enough")
	o.Round = func(r Report) error {
		outcomes = append(outcomes, r.Outcome)
		switch r.Outcome {
		case NoProgress:
			if len(outcomes) == 2 {
				c.target.write(t, copyOf(rs...)...)
			}
		case Proven:
			return enough
		}
		return nil
	}
	if _, err := Run(t.Context(), o); !errors.Is(err, enough) {
		t.Fatalf("%v: %v", outcomes, err)
	}
	if outcomes[0] != NoProgress || outcomes[1] != NoProgress {
		t.Errorf("%v", outcomes)
	}
}

func TestWhatCannotBeRunUntil(t *testing.T) {
	t.Parallel()
	c := startClusters(t)
	for _, tt := range []struct {
		say    string
		change func(*Options)
	}{
		{"until 0 records", func(o *Options) { o.Until = UntilFirst(0) }},
		{"until -1 records", func(o *Options) { o.Until = UntilRecords(-1) }},
		{"rounds every 0s", func(o *Options) { o.Round = func(Report) error { return nil } }},
		{"no other end", func(o *Options) {
			o.Round, o.Every, o.Until = func(Report) error { return nil }, time.Second, UntilCaughtUp()
		}},
		{"without rounds", func(o *Options) { o.Every = time.Second }},
		{"-5 bytes per second", func(o *Options) { o.BytesPerSecond = -5 }},
	} {
		o := c.proof(c.from("orders", 0, 0, 1, 0))
		tt.change(&o)
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%v, want %q", err, tt.say)
		}
	}
}
