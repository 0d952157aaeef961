package preflight_test

import (
	"context"
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

// asking counts the questions after the first record since a moment.
type asking struct {
	*kadm.Client
	moments *int
}

func (a asking) ListOffsetsAfterMilli(ctx context.Context, ms int64, topics ...string) (kadm.ListedOffsets, error) {
	*a.moments++
	return a.Client.ListOffsetsAfterMilli(ctx, ms, topics...)
}

// No age takes a record of a topic that is compacted alone, or that keeps all. A moment is
// asked about once.
func TestNoMoreMomentsAreLookedForThanTell(t *testing.T) {
	t.Parallel()
	week := []string{"retention.ms", "604800000"}
	count := func(spans []time.Duration, settings ...string) (n int) {
		l := aged(t, 4*24*time.Hour)
		for _, topic := range []string{"orders", "payments"} {
			l.alter(l.probe.Source, topic, settings...)
			l.alter(l.probe.Target, topic, "retention.ms", "-1")
		}
		l.probe.Source, l.probe.Spans = asking{l.probe.Source.(*kadm.Client), &n}, spans
		l.observe()
		return n
	}
	for name, settings := range map[string][]string{
		"compacted alone": append([]string{"cleanup.policy", "compact", "delete.retention.ms", "-1"}, week...),
		"kept for ever":   {"retention.ms", "-1"},
	} {
		if n := count([]time.Duration{36 * time.Hour}, settings...); n > 0 {
			t.Errorf("%s: %d moments are looked for", name, n)
		}
	}
	few := count(nil, week...)
	if same := count([]time.Duration{6 * time.Hour, -time.Hour, 0}, week...); few == 0 || same != few {
		t.Errorf("%d moments are looked for, and %d where the spans are none or known", few, same)
	}
	if more := count([]time.Duration{36 * time.Hour}, week...); more <= few {
		t.Errorf("%d moments are looked for, and %d with one more span", few, more)
	}
}

// Whoever asks for the deadlines alone is told what a judgement says.
func TestDeadlinesAloneAreThoseOfAJudgement(t *testing.T) {
	t.Parallel()
	l := aged(t, 4*24*time.Hour)
	l.alter(l.probe.Source, "payments", "retention.ms", strconv.FormatInt((7*24*time.Hour).Milliseconds(), 10))
	whole := l.whole()
	start, back := l.probe.Deadlines(t.Context(), l.probe.Observe(t.Context()), l.question)
	for name, c := range map[string]struct {
		got, want offsetmap.Fact[preflight.Deadline]
	}{
		"start": {start, whole.LatestStart}, "rollback": {back, whole.LatestRollback},
	} {
		got, left := deadline(t, c.got)
		want, most := deadline(t, c.want)
		if got.Scope != want.Scope || got.Why != want.Why || got.Unknown != want.Unknown || (left-most).Abs() > time.Minute {
			t.Errorf("%s: %+v, a judgement says %+v", name, got, want)
		}
	}

	l.must(l.source.DeleteRecords("payments", 0, 1))
	l.question.Positions = []offsetmap.Position{at("payments", 0, 0)}
	facts := l.probe.Observe(t.Context())
	start, _ = l.probe.Deadlines(t.Context(), facts, l.question)
	if d, known := start.Get(); !known || !d.At.Equal(offsetmap.At(facts.At).Time) || !strings.Contains(d.Why, "gone already") {
		t.Errorf("records before the log start: %+v, %v", d, start.Err())
	}
}
