package proof

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// alone is a partition without readers.
func alone(t *testing.T, next, end int64) (*partition, *Options) {
	t.Helper()
	tp := offsetmap.TopicPartition{Topic: "orders"}
	o := &Options{Partitions: []Partition{{Source: tp, Target: tp, Next: at(t, next), End: at(t, end), TargetEnd: at(t, targetFrom)}}}
	o.setDefaults()
	p := newPartition(o.Partitions[0], o, Topic{}, Topic{})
	p.hold, p.release = func(which) {}, func(which) {}
	p.source.position, p.target.position = next, targetFrom
	return p, o
}

func fetch(w string, from, logStart int64) fetched {
	return fetched{prints: word(w, from), next: from + int64(len(w)), logStart: logStart}
}

func TestWhatALogMustHoldToBeRead(t *testing.T) {
	const c, end, recorded = 100, 110, targetFrom
	for _, tt := range []struct {
		name           string
		source, target offsetmap.Range
		fatal          which
		fails          bool
		from, to       int64 // where the two sides are read from
		expired        int64
	}{
		{"as planned", logRange(0, 120), logRange(0, recorded), 0, false, 90, recorded, 0},
		{"with ends just there", logRange(0, end), logRange(0, recorded), 0, false, 90, recorded, 0},
		{"the source ends below the fixed end", logRange(0, end-1), logRange(0, recorded), sourceSide, true, 90, recorded, 0},
		{"the target ends below the recorded end", logRange(0, 120), logRange(0, recorded-1), targetSide, true, 90, recorded, 0},
		{"the source starts in what was only to be looked back at", logRange(95, 120), logRange(0, recorded), 0, false, 95, recorded, 0},
		{"the source starts at C", logRange(c, 120), logRange(0, recorded), 0, false, c, recorded, 0},
		{"the source starts above C", logRange(103, 120), logRange(0, recorded), 0, false, 103, recorded, 3},
		{"the source starts above the fixed end", logRange(115, 120), logRange(0, recorded), 0, false, 115, recorded, 10},
		{"the target starts above the recorded end", logRange(0, 120), logRange(recorded+3, recorded+9), 0, false, 90, recorded + 3, 0},
		{"nothing was measured", offsetmap.Range{}, offsetmap.Range{}, 0, false, 90, recorded, 0},
		{"the source was not measured", offsetmap.Range{}, logRange(0, recorded), 0, false, 90, recorded, 0},
		{"the target was not measured", logRange(0, 120), offsetmap.Range{}, 0, false, 90, recorded, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := alone(t, c, end)
			p.source.position, p.target.position = -1, -1
			p.begin(tt.source, tt.target, 10)
			for _, w := range []which{sourceSide, targetSide} {
				if got := p.side(w).fatal != nil; got != (tt.fails && w == tt.fatal) {
					t.Errorf("%s: %v", w, p.side(w).fatal)
				}
			}
			if p.source.position != tt.from || p.target.position != tt.to || p.expired != tt.expired {
				t.Errorf("read from %d and %d, %d expired; want %d and %d, %d", p.source.position, p.target.position, p.expired, tt.from, tt.to, tt.expired)
			}
		})
	}
	t.Run("nothing to copy, and nothing was measured", func(t *testing.T) {
		p, _ := alone(t, c, c)
		if p.begin(offsetmap.Range{}, offsetmap.Range{}, 0); !p.ended {
			t.Error("no record will come that says so")
		}
	})
	t.Run("C above the log end", func(t *testing.T) {
		p, _ := alone(t, c, 50)
		if p.begin(logRange(0, c-1), logRange(0, recorded), 0); p.source.fatal == nil {
			t.Error("C is not of this log")
		}
	})
	t.Run("a target that starts above the recorded end lost records", func(t *testing.T) {
		p, _ := alone(t, c, end)
		p.begin(logRange(0, 120), logRange(recorded+3, recorded+9), 0)
		p.take(sourceSide, fetch("ABCD......", c, 0))
		p.take(targetSide, fetch("D", recorded+3, 0))
		if got := p.cmp.Result().Counts; got.Unprovable != 3 || got.Missing != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestTheTargetIsHeldBackUntilTheSourceIsRead(t *testing.T) {
	p, _ := alone(t, sourceFrom, sourceFrom+4)
	var calls []string
	p.limit = 2
	p.hold = func(w which) { calls = append(calls, "hold "+w.String()) }
	p.release = func(w which) { calls = append(calls, "release "+w.String()) }
	p.take(targetSide, fetch("AB", targetFrom, 0))
	if len(calls) != 0 {
		t.Fatalf("%v: as many as the limit may wait", calls)
	}
	p.take(targetSide, fetch("C", targetFrom+2, 0))
	p.take(targetSide, fetch("D", targetFrom+3, 0))
	if d := cmp.Diff([]string{"hold target"}, calls); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	p.take(sourceSide, fetch("A", sourceFrom, 0))
	p.take(sourceSide, fetch("B", sourceFrom+1, 0))
	if len(calls) != 1 {
		t.Fatalf("%v: two still wait", calls)
	}
	p.take(sourceSide, fetch("CD", sourceFrom+2, 0))
	if d := cmp.Diff([]string{"hold target", "release target"}, calls); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
}

func TestWhatWaitsForNoSourceRecordIsReleasedWhenItIsSettled(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+1)
	released := false
	p.limit = 2
	p.release = func(which) { released = true }
	p.take(targetSide, fetch("0123", targetFrom, 0))
	p.take(sourceSide, fetch("A", sourceFrom, 0))
	if released {
		t.Fatal("released before it was settled")
	}
	p.look(o, logRange(0, targetFrom+4), logRange(0, sourceFrom+1))
	if !released {
		t.Error("held for ever")
	}
}

func logRange(start, end int64) offsetmap.Range {
	return offsetmap.Range{Start: place(start), Stable: place(end), End: place(end)}
}

func TestRecordsThatComeAgainFromALowerOffsetMakeAPartitionUnread(t *testing.T) {
	for _, w := range []which{sourceSide, targetSide} {
		p, o := alone(t, sourceFrom, sourceFrom+9)
		from := p.side(w).position
		p.take(w, fetch("ABC", from, 0))
		p.take(w, fetch("C", from+2, 0))
		if !p.look(o, offsetmap.Range{}, offsetmap.Range{}) || p.report.Outcome != PartitionUnread || !strings.Contains(p.report.Reason, "came again") {
			t.Errorf("%s: %s (%s)", w, p.report.Outcome, p.report.Reason)
		}
	}
}

func TestOnlyWhatALogStartPassedIsLost(t *testing.T) {
	p, _ := alone(t, sourceFrom, sourceFrom+9)
	p.take(sourceSide, fetch("A", sourceFrom+2, 0)) // a gap of control records
	if p.expired != 0 {
		t.Errorf("%d expired without a log start", p.expired)
	}
	p.take(sourceSide, fetch("B", sourceFrom+6, sourceFrom+5))
	if p.expired != 2 {
		t.Errorf("%d expired, want the two from %d to the log start", p.expired, sourceFrom+3)
	}
}

func TestAControlRecordFromBeforeTakesNothingBack(t *testing.T) {
	p, _ := alone(t, sourceFrom, sourceFrom+9)
	p.take(sourceSide, fetch("ABC", sourceFrom, 0))
	p.take(sourceSide, fetched{next: sourceFrom + 1})
	p.probed(sourceSide, sourceFrom+2, nil)
	if p.source.position != sourceFrom+3 || p.source.fatal != nil {
		t.Errorf("position %d, %v", p.source.position, p.source.fatal)
	}
}

func TestAPositionThatIsGoneIsResolvedOnce(t *testing.T) {
	for _, tt := range []struct {
		name    string
		bounds  offsetmap.Range
		from    int64
		ok      bool
		fatal   bool
		expired int64
	}{
		{"the log start passed it", logRange(sourceFrom+4, sourceFrom+20), sourceFrom + 4, true, false, 4},
		{"it is there after all", logRange(0, sourceFrom+20), sourceFrom, true, false, 0},
		{"it is the log's end", logRange(0, sourceFrom), sourceFrom, true, false, 0},
		{"the log ends below it", logRange(0, sourceFrom-1), 0, false, true, 0},
		{"the bounds are not known", offsetmap.Range{}, 0, false, false, 0},
		{"the end is not known", offsetmap.Range{Start: at(t, 0)}, 0, false, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := alone(t, sourceFrom, sourceFrom+9)
			if _, ok := p.resolve(sourceSide, tt.bounds); ok {
				t.Fatal("nothing was gone")
			}
			p.outOfRange(sourceSide)
			from, ok := p.resolve(sourceSide, tt.bounds)
			if from != tt.from || ok != tt.ok || (p.source.fatal != nil) != tt.fatal || p.expired != tt.expired {
				t.Errorf("from %d, %t, fatal %v, expired %d", from, ok, p.source.fatal, p.expired)
			}
			if ok && p.source.position != from {
				t.Errorf("position %d", p.source.position)
			}
			if _, again := p.resolve(sourceSide, tt.bounds); again {
				t.Error("resolved twice, which would read the log again and again")
			}
		})
	}
}

func TestExpiryCountsFromCToTheEnd(t *testing.T) {
	p, _ := alone(t, sourceFrom, sourceFrom+9)
	p.lose(sourceSide, sourceFrom-5, sourceFrom+2)
	p.lose(sourceSide, sourceFrom+7, sourceFrom+20)
	p.lose(sourceSide, 0, 5)
	if p.expired != 4 {
		t.Errorf("%d expired, want 4", p.expired)
	}
}

func TestOnlyASideThatStandsStillIsProbed(t *testing.T) {
	p, o := alone(t, sourceFrom, sourceFrom+2)
	stuck := func(w which) bool { _, _, stuck := p.stuck(w); return stuck }
	long := time.Now().Add(-2 * probeAfter)
	if stuck(sourceSide) {
		t.Error("records may still come")
	}
	p.source.came, p.target.came = long, long
	if !stuck(sourceSide) || stuck(targetSide) {
		t.Error("want the source probed, which has two offsets to go, and not the target, which has no goal yet")
	}
	p.source.outOfRange = true
	if stuck(sourceSide) {
		t.Error("its position is gone")
	}
	p.source.outOfRange = false
	p.advance(sourceSide, sourceFrom+2)
	p.look(o, logRange(0, targetFrom+1), logRange(0, sourceFrom+4))
	from, goal, _ := p.stuck(sourceSide)
	if from != sourceFrom+2 || goal != sourceFrom+4 || !stuck(sourceSide) || !stuck(targetSide) {
		t.Errorf("from %d to %d: what the target may have of the source is to be read", from, goal)
	}
	p.target.held = true
	if !stuck(sourceSide) || stuck(targetSide) {
		t.Error("a target that is held back is not probed, and its source is")
	}
	p.target.held = false
	p.fail(targetSide, errors.New("ill"), true)
	if stuck(targetSide) {
		t.Error("it cannot be read")
	}
	p.target.fatal = nil
	p.decided = true
	if stuck(sourceSide) || stuck(targetSide) {
		t.Error("it is decided")
	}
}

func TestCompactionOnEitherSideCounts(t *testing.T) {
	for _, tt := range []struct{ source, target, want bool }{{false, false, false}, {true, false, true}, {false, true, true}} {
		tp := offsetmap.TopicPartition{Topic: "orders"}
		o := &Options{Partitions: []Partition{{Source: tp, Target: tp}}}
		p := newPartition(o.Partitions[0], o, Topic{Compacted: tt.source}, Topic{Compacted: tt.target})
		if p.cmp.compacted != tt.want || p.source.compacted != tt.source || p.target.compacted != tt.target {
			t.Errorf("%+v: compared as compacted: %t", tt, p.cmp.compacted)
		}
	}
}

func TestErrorsOfReadingAreSorted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		fatal bool
		lost  bool
	}{
		{"passes", kerr.NotLeaderForPartition, false, false},
		{"passes, wrapped", fmt.Errorf("broker 1: %w", kerr.UnknownTopicOrPartition), false, false},
		{"no right", kerr.TopicAuthorizationFailed, true, false},
		{"cannot be decoded, and would be skipped", errors.New("unknown magic 9"), true, false},
		{"truncated", &kgo.ErrDataLoss{Topic: "orders", ConsumedTo: 9, ResetTo: 5}, true, false},
		{"gone", kerr.OffsetOutOfRange, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := alone(t, 0, 1)
			cl, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"))
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			r := &reader{side: targetSide, client: cl}
			r.failed(p, tt.err)
			if got := p.target.fatal != nil; got != tt.fatal {
				t.Errorf("fatal %t", got)
			}
			if p.target.outOfRange != tt.lost {
				t.Errorf("out of range %t", p.target.outOfRange)
			}
			if paused := len(cl.PauseFetchPartitions(nil)["orders"]) > 0; paused != (tt.fatal || tt.lost) {
				t.Errorf("paused %t: what fails again at once must not be asked for again", paused)
			}
		})
	}
}
