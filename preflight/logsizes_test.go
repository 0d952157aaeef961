package preflight_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestRetentionBySizeIsCountedDown(t *testing.T) {
	t.Parallel()
	// 10 records, of which 5 are unread, were written within the hour: 10 offsets an hour,
	// whatever an offset takes. So a limit of so many offsets leaves its tenth of hours, less
	// the half hour of the unread.
	for name, c := range map[string]struct {
		offsets int64
		old     bool
		want    string
		says    []string
		left    time.Duration
	}{
		"nothing is kept":              {0, false, "block source/retention payments-0:size,block source/rollback-until payments-0", []string{"retention.bytes is 0, and the 5 offsets", "they may go at any moment"}, 0},
		"all that is unread goes":      {4, false, "block source/retention payments-0:size,block source/rollback-until payments-0", []string{"the 5 offsets from C = 5 on take about ", "they may go at any moment"}, 0},
		"all but what is unread goes":  {5, false, "block source/retention payments-0:size,block source/rollback-until payments-0", []string{"they may go at any moment"}, 0},
		"within the hour":              {12, false, "block source/retention payments-0:size,block source/rollback-until payments-0", []string{"an estimate, the first of them go within 4"}, 42 * time.Minute},
		"within the day":               {105, false, "warn source/retention payments", []string{"at 10 offsets an hour, an estimate, the first of them go within 10h", ": payments-0"}, 10 * time.Hour},
		"later":                        {1005, false, "", nil, 100 * time.Hour},
		"never, as nothing is written": {12, true, "", []string{"; nothing was written in the last 1h0m0s"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			written := time.Now()
			if c.old {
				written = written.Add(-2 * time.Hour)
			}
			l.write(l.from, "payments", 0, 10, written)
			l.question.Positions[2] = at("payments", 0, 5)
			for _, topic := range []string{"orders", "payments"} {
				l.alter(l.probe.Source, topic, "retention.ms", "-1")
				l.alter(l.probe.Target, topic, "retention.ms", "-1")
			}
			mean := l.sizeOf("payments", 0) / 10
			l.alter(l.probe.Source, "payments", "retention.bytes", strconv.FormatInt(mean*c.offsets, 10))
			r := l.judge()
			l.want(r, strings.FieldsFunc(c.want, func(r rune) bool { return r == ',' })...)
			for _, part := range c.says {
				if c.want == "" && !strings.Contains(fmt.Sprint(r.Results), part) {
					t.Errorf("it is not said: %q", part)
				} else if c.want != "" {
					l.says(found(r, "source/retention")[0], part)
				}
			}
			if c.left == 0 && c.want == "" {
				if !r.LatestStart.IsAbsent() {
					t.Errorf("a latest start of a log that does not grow: %v", r.LatestStart)
				}
				return
			}
			d, left := deadline(t, r.LatestStart)
			if left < c.left-2*time.Minute || left > c.left+2*time.Minute || d.Scope != "payments-0" || !d.Estimated {
				t.Errorf("%s left by %+v, want %s", left, d, c.left)
			}
		})
	}
}

// The disk tells how large a record is only by the records that are there.
func TestRetentionBySizeIsNotCountedDownWithoutARecordOnTheDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		local int64
		fails error
		want  string
	}{
		"one of ten is on the disk": {local: 9},
		"none is":                   {local: 10, want: "takes what lies from C on: all its records are in remote storage, and no broker tells how large they are there"},
		"nobody knows":              {fails: kerr.UnsupportedVersion, want: "takes what lies from C on: remote.storage.enable is true, and where the log on the leader's disk begins is not known: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.probe.Source = telling{Client: l.probe.Source.(*kadm.Client), settings: map[string]string{"remote.storage.enable": "true"}, local: c.local, noLocal: c.fails}
			l.alter(kadm.NewClient(l.from), "orders", "retention.bytes", "1000000000")
			r := l.judge()
			sized := slices.DeleteFunc(found(r, "source/retention"), func(f offsetmap.Finding) bool { return f.Scope != "orders:size" })
			if c.want == "" {
				if len(sized) > 0 || !strings.Contains(fmt.Sprint(r.Results), "orders-0: retention.bytes is 1000000000, and the 5 offsets from C = 5 on take about "+strconv.FormatInt(5*l.sizeOf("orders", 0), 10)+" bytes") {
					t.Errorf("found %v, by %v", sized, r.Results)
				}
				return
			}
			if len(sized) != 1 || !sized[0].Unmade || !strings.Contains(sized[0].Detail, c.want) {
				t.Errorf("found %v, want that %s", r.Findings, c.want)
			}
			if d, _ := deadline(t, r.LatestStart); !strings.Contains(d.Unknown, "orders-0: retention.bytes is 1000000000: ") {
				t.Errorf("the deadline is %+v", d)
			}
		})
	}
}

// sizeOf is what the broker says that a log of the source takes.
func (l *lab) sizeOf(topic string, partition int32) int64 {
	l.t.Helper()
	of := kadm.TopicsSet{}
	of.Add(topic, partition)
	all, err := l.probe.Source.DescribeAllLogDirs(l.t.Context(), of)
	l.must(err)
	var size int64
	all.Each(func(d kadm.DescribedLogDir) {
		d.Topics.Each(func(p kadm.DescribedLogDirPartition) { size += p.Size })
	})
	return size
}

// What was written while the brokers were looked at counts, where it is more than in the
// last hour.
func TestALogGrowsAsFastAsItDoesNow(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		written int
		passes  time.Duration
		want    string
	}{
		"as in the last hour":       {0, time.Minute, "at 10 offsets an hour"},
		"faster":                    {20, time.Minute, "at 1200 offsets an hour"},
		"a clock that stands still": {20, 0, "at 10 offsets an hour"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.write(l.from, "payments", 0, 10, now)
			l.question.Positions[2] = at("payments", 0, 5)
			l.alter(l.probe.Source, "payments", "retention.bytes", "1000000000")
			clock := now
			l.probe.Now, l.probe.Window = func() time.Time { return clock }, time.Minute
			l.probe.Sleep = func(context.Context, time.Duration) error {
				l.write(l.from, "payments", 0, c.written, now)
				clock = clock.Add(c.passes)
				return nil
			}
			if r := l.whole(); !strings.Contains(fmt.Sprint(r.Results), c.want) {
				t.Errorf("it is not said that it grows %s: %v", c.want, r.Results)
			}
		})
	}
}

func TestThePartitionThatSizeTakesFirstIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second int64 }{
		"the first":  {8, 4},
		"the second": {4, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.question.Positions[0], l.question.Positions[1] = at("orders", 0, 10-c.first), at("orders", 1, 10-c.second)
			// 10 offsets an hour, and 95 of them left at the most.
			l.alter(l.probe.Source, "orders", "retention.bytes", strconv.FormatInt(10*l.sizeOf("orders", 0), 10))
			l.says(found(l.whole(), "source/retention")[0], "the 8 offsets from C = 2 on take about", ": orders-0, orders-1")
		})
	}
}

// Only a log that its size bounds has to be measured.
func TestOnlyLogsThatSizeBoundsAreMeasured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings []string
		asked    bool
	}{
		"deleted by size":     {[]string{"retention.bytes", "0"}, true},
		"deleted by age":      {[]string{"retention.bytes", "-1"}, false},
		"compacted, not less": {[]string{"cleanup.policy", "compact", "retention.bytes", "1000"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.alter(l.probe.Source, "orders", c.settings...)
			var asked atomic.Bool
			l.source.ControlKey(int16(kmsg.DescribeLogDirs), func(kmsg.Request) (kmsg.Response, error, bool) {
				l.source.KeepControl()
				asked.Store(true)
				return nil, nil, false
			})
			l.observe()
			if asked.Load() != c.asked {
				t.Errorf("asked %t", asked.Load())
			}
		})
	}
}
