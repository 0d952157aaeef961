package preflight_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func deadlineBreakages() map[string]breakage {
	return map[string]breakage{
		"source/rollback-until": func(l *lab) func() {
			right := l.question.Attestations.RollbackWindow
			l.question.Attestations.RollbackWindow = attest("169h")
			return func() { l.question.Attestations.RollbackWindow = right }
		},
	}
}

// deadline returns a deadline and how far from now it lies.
func deadline(t *testing.T, f offsetmap.Fact[preflight.Deadline]) (preflight.Deadline, time.Duration) {
	t.Helper()
	d, known := f.Get()
	if !known {
		t.Fatalf("there is no deadline: %v", f.Err())
	}
	return d, time.Until(d.At.Time).Round(time.Minute)
}

func TestTheLatestStartIsBeforeTheFirstRecordGoes(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		age, retention time.Duration
		spans          []time.Duration
		least, most    time.Duration // of what is left; the truth is the most
		scope          string
	}{
		"gone already":           {8 * day, 7 * day, nil, 0, 0, "payments-0"},
		"in minutes":             {7*day - 10*time.Minute, 7 * day, nil, 6 * time.Minute, 10 * time.Minute, "payments-0"},
		"in five hours":          {7*day - 5*hour, 7 * day, nil, 4*hour + 40*time.Minute, 5 * hour, "payments-0"},
		"in three days":          {4 * day, 7 * day, nil, 2*day + 14*hour, 3 * day, "payments-0"},
		"in three days, exactly": {4*day - time.Minute, 7 * day, []time.Duration{3 * day}, 3 * day, 3 * day, "payments-0"},
		"by what comes from now": {time.Minute, 2 * hour, nil, 1*hour + 40*time.Minute, 119 * time.Minute, "payments-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := aged(t, c.age)
			l.probe.Spans = c.spans
			l.alter(l.probe.Source, "payments", "retention.ms", strconv.FormatInt(c.retention.Milliseconds(), 10))
			d, left := deadline(t, l.whole().LatestStart)
			if left < c.least || left > c.most || d.Scope != c.scope || d.Estimated || d.Unknown != "" {
				t.Errorf("%s left by %+v, want %s to %s by %s", left, d, c.least, c.most, c.scope)
			}
		})
	}
}

func TestWhatIsYetToBeWrittenEndsTheLatestStartToo(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.question.Positions[0] = at("orders", 0, 10) // all is read
	l.alter(l.probe.Source, "orders", "retention.ms", "7200000")
	d, left := deadline(t, l.whole().LatestStart)
	if left != 2*time.Hour || d.Scope != "orders" {
		t.Errorf("%s left by %+v", left, d)
	}
	for _, topic := range []string{"orders", "payments"} {
		l.alter(l.probe.Source, topic, "retention.ms", "-1")
	}
	if r := l.whole(); !r.LatestStart.IsAbsent() || !r.LatestRollback.IsAbsent() {
		t.Errorf("nothing is deleted, and there are deadlines: %v, %v", r.LatestStart, r.LatestRollback)
	}
	if f := l.probe.Observe(t.Context()); preflight.Judge(f, l.question).LatestStart.Err() == nil {
		t.Error("nobody looked, and the latest start is known")
	}
}

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
		"all that is unread goes":      {4, false, "block source/retention payments-0:size,block source/rollback-until payments-0", []string{"the 5 offsets from C = 5 on take about ", "they may go at any moment"}, 0},
		"within the hour":              {12, false, "block source/retention payments-0:size,block source/rollback-until payments-0", []string{"an estimate, the first of them go within 4"}, 42 * time.Minute},
		"within the day":               {105, false, "warn source/retention payments", []string{"at 10 offsets an hour, an estimate, the first of them go within 10h", ": payments-0"}, 10 * time.Hour},
		"later":                        {1005, false, "", nil, 100 * time.Hour},
		"never, as nothing is written": {12, true, "", nil, 0},
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
				l.says(found(r, "source/retention")[0], part)
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

func TestALogWhoseSizeIsDeniedIsNotCountedDown(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.alter(l.probe.Source, "orders", "retention.bytes", "1000000000")
	l.source.ControlKey(int16(kmsg.DescribeLogDirs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		l.source.KeepControl()
		resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
		resp.ErrorCode = kerr.ClusterAuthorizationFailed.Code
		return resp, nil, true
	})
	r := l.judge()
	l.want(r, "block source/retention orders:size", "warn source/rollback-until")
	if f := r.Findings[0]; !f.Unmade || f.Acceptable != offsetmap.Exact || !strings.Contains(f.Detail, "CLUSTER_AUTHORIZATION_FAILED") {
		t.Errorf("%s, unmade %t, acceptable %q", f, f.Unmade, f.Acceptable)
	}
	// What is known of records' age is still said.
	d, left := deadline(t, r.LatestStart)
	if left < 6*24*time.Hour || !strings.Contains(d.Unknown, "CLUSTER_AUTHORIZATION_FAILED") {
		t.Errorf("%s left by %+v", left, d)
	}
}

func TestTheWayBackEndsByWhatItNeeds(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	ended := func(ago time.Duration) func(*flinkrest.Evidence) {
		return func(e *flinkrest.Evidence) {
			job, _ := e.Job.Get()
			job.End = offsetmap.Known(time.Now().Add(-ago))
			e.Job = offsetmap.Known(job)
		}
	}
	endless := func(e *flinkrest.Evidence) {
		job, _ := e.Job.Get()
		job.End = offsetmap.Absent[time.Time]()
		e.Job = offsetmap.Known(job)
	}
	for name, c := range map[string]struct {
		sink   offsetmap.SinkGuarantee
		origin offsetmap.Origin
		flink  func(*flinkrest.Evidence)
		left   time.Duration // -1: not known
		why    string
	}{
		"a savepoint keeps":                   {offsetmap.SinkAtLeastOnce, offsetmap.FromSavepoint, ended(6 * day), 60 * day, "retention.ms"},
		"transactional ids are forgotten":     {offsetmap.SinkExactlyOnce, offsetmap.FromSavepoint, ended(6 * day), day, "transactional.id.expiration.ms is 7 d"},
		"nobody knows when the job ended":     {offsetmap.SinkExactlyOnce, offsetmap.FromSavepoint, endless, -1, "when the old job ended is not known: Flink does not tell its end"},
		"a group's offsets are dropped":       {offsetmap.SinkAtLeastOnce, offsetmap.FromGroup, ended(5 * day), 2 * day, "offsets.retention.minutes is 10080"},
		"a group whose job's end nobody told": {offsetmap.SinkAtLeastOnce, offsetmap.FromGroup, endless, -1, "how long group flink keeps its offsets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			for _, topic := range []string{"orders", "payments"} {
				l.alter(l.probe.Source, topic, "retention.ms", strconv.FormatInt((60*day).Milliseconds(), 10))
			}
			l.probe.Spans = []time.Duration{60*day - time.Hour}
			l.probe.Group, l.question.Origin = "flink", c.origin
			l.question.Attestations.SinkGuarantee = attest(c.sink)
			l.question.Attestations.RollbackWindow = attest("72h")
			l.flinkSays(c.flink)
			r := l.whole()
			fired := found(r, "source/rollback-until")
			d, left := deadline(t, r.LatestRollback)
			switch {
			case c.left < 0:
				if len(fired) != 1 || fired[0].Severity != offsetmap.Warn || !strings.Contains(fired[0].Detail, c.why) || !strings.Contains(d.Unknown, c.why) {
					t.Errorf("%v; %+v", fired, d)
				}
			case left < c.left-2*time.Hour || left > c.left || !strings.Contains(d.Why, c.why):
				t.Errorf("%s left by %+v, want %s", left, d, c.left)
			case (c.left < 3*day) != (len(fired) == 1 && fired[0].Severity == offsetmap.Block && strings.Contains(fired[0].Detail, c.why)):
				t.Errorf("findings %v", fired)
			}
		})
	}
}
