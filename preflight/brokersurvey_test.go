package preflight_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// result returns how the check ended.
func result(t *testing.T, r preflight.Report, id string) preflight.Result {
	t.Helper()
	for _, one := range r.Results {
		if one.Check == id {
			return one
		}
	}
	t.Fatalf("%s was not made", id)
	return preflight.Result{}
}

// aged writes one record to payments-0 that is as old as said, with C before it.
func aged(t *testing.T, age time.Duration) *lab {
	t.Helper()
	l := newLab(t, setup{})
	l.write(l.from, "payments", 0, 1, time.Now().Add(-age))
	return l
}

func TestTheSourcesRetentionIsCountedDown(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		age       time.Duration
		retention time.Duration
		want      string // findings beside those of the target
		says      string
	}{
		"over its age":              {8 * day, 7 * day, "block source/retention payments-0", "may go at any moment"},
		"over its age in minutes":   {7*day - 10*time.Minute, 7 * day, "block source/retention payments-0", "within 1h0m0s"},
		"within the day":            {7*day - 5*hour, 7 * day, "warn source/retention payments", "within 1 d the first records from C on reach the age of retention.ms = 7 d: payments-0"},
		"later than a plan lives":   {7*day - 25*hour, 7 * day, "", "payments: what lies from C on has at least 1 d to live"},
		"later than all that it is": {time.Minute, 30 * day, "", "payments: what lies from C on has at least 7 d to live"},
		"shorter than the margins":  {time.Minute, 2 * hour, "warn source/retention payments", "within 1 d the first records from C on reach the age of retention.ms = 2h0m0s"},
		"no end":                    {900 * day, -time.Millisecond, "", `payments: cleanup.policy is "delete", retention.ms -1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := aged(t, c.age)
			l.alter(l.probe.Source, "payments", "retention.ms", strconv.FormatInt(c.retention.Milliseconds(), 10))
			l.alter(l.probe.Target, "payments", "retention.ms", "-1")
			r := l.judge()
			var want []string
			text := strings.Join(result(t, r, "source/retention").Saw, "\n")
			if c.want != "" {
				if want = append(want, c.want); strings.HasPrefix(c.want, "block") { // and so is the window
					want = append(want, "block source/rollback-until payments-0")
				}
				text = found(r, "source/retention")[0].Detail
			}
			l.want(r, want...)
			if !strings.Contains(text, c.says) {
				t.Errorf("%q does not say %q", text, c.says)
			}
		})
	}
}

// A partition that was read to its end has nothing to lose, however old its records are.
func TestWhatWasReadHasNoCountdown(t *testing.T) {
	t.Parallel()
	l := aged(t, 30*24*time.Hour)
	l.question.Positions[2] = at("payments", 0, 1)
	l.want(l.judge())
}

func TestACompactedSourceHasNoCountdown(t *testing.T) {
	t.Parallel()
	l := aged(t, 30*24*time.Hour)
	for _, admin := range []preflight.Admin{l.probe.Source, l.probe.Target} {
		l.alter(admin, "payments", "cleanup.policy", "compact")
	}
	l.want(l.judge(), "warn source/compacted payments", "block source/compacted payments-0")
}

func TestCopiesThatTheTargetWouldDeleteAtOnceBlock(t *testing.T) {
	t.Parallel()
	l := aged(t, 3*24*time.Hour)
	l.alter(l.probe.Target, "payments", "retention.ms", "86400000")
	r := l.judge()
	l.want(r, "block target/retention payments-0", "warn target/retention payments")
	l.says(r.Findings[0], "from C = 0 to 1", "1 d", "their copies go at once")

	l.alter(l.probe.Target, "payments", "message.timestamp.type", "LogAppendTime") // copies are young there
	l.want(l.judge(), "warn target/retention payments", "warn target/timestamp-type payments")
}

func TestTimestampLimitsOfTheTarget(t *testing.T) {
	t.Parallel()
	const before, after, difference = "message.timestamp.before.max.ms", "message.timestamp.after.max.ms", "message.timestamp.difference.max.ms"
	const day, none = "86400000", "9223372036854775807"
	for name, c := range map[string]struct {
		told map[string]string
		age  time.Duration
		c    int64 // of 1 record
		want string
		says string
	}{
		"none is told":                       {nil, 900 * 24 * time.Hour, 0, "", "from any time before to any time after"},
		"none is set":                        {map[string]string{before: none, after: none}, -time.Hour, 0, "", "from any time before to any time after"},
		"too old":                            {map[string]string{before: day, after: none}, 25 * time.Hour, 0, "block", "from C = 0 to 1 are older than message.timestamp.before.max.ms = 1 d"},
		"old enough":                         {map[string]string{before: day, after: none}, 23 * time.Hour, 0, "", "from 1 d before"},
		"too far ahead":                      {map[string]string{before: none, after: "3600000"}, -2 * time.Hour, 0, "block", "the source's record 0 has the timestamp"},
		"ahead and taken":                    {map[string]string{before: none, after: "3600000"}, -30 * time.Minute, 0, "", "to 1h0m0s after"},
		"too far ahead, before C":            {map[string]string{before: none, after: "3600000"}, -2 * time.Hour, 1, "block", "before C = 1"},
		"the old key":                        {map[string]string{difference: day}, 25 * time.Hour, 0, "block", "1 d"},
		"the old key ahead":                  {map[string]string{difference: day}, -25 * time.Hour, 0, "block", "1 d"},
		"both keys, the new one set":         {map[string]string{difference: "1000", before: day, after: day}, time.Hour, 0, "", "from 1 d before to 1 d after"},
		"both keys, the new one not set":     {map[string]string{difference: day, before: none, after: none}, 25 * time.Hour, 0, "block", "1 d"},
		"what is told is no number: unmade!": {map[string]string{before: "soon"}, time.Hour, 0, "block", `could not be checked: message.timestamp.before.max.ms is "soon"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			for _, admin := range []preflight.Admin{l.probe.Source, l.probe.Target} {
				l.alter(admin, "payments", "retention.ms", "-1")
			}
			l.write(l.from, "payments", 0, 1, time.Now().Add(-c.age))
			if c.c == 1 { // something to copy
				l.write(l.from, "payments", 0, 1, time.Now())
				l.question.Positions[2] = at("payments", 0, 1)
			}
			l.probe.Target = telling{Client: l.probe.Target.(*kadm.Client), settings: c.told}
			r := l.judge()
			text := strings.Join(result(t, r, "target/timestamp-limits").Saw, "\n")
			if c.want != "" {
				got := found(r, "target/timestamp-limits")
				if len(got) == 0 || got[len(got)-1].Severity != offsetmap.Block || r.Err() == nil {
					t.Fatalf("got %v", r.Findings)
				}
				text = got[len(got)-1].Detail
			} else {
				l.want(r)
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("%q does not say %q", text, c.says)
			}
		})
	}
}

func TestTheProducerMustTakeWhatTheSourceTook(t *testing.T) {
	t.Parallel()
	const key = "producer.override.max.request.size"
	l := newLab(t, setup{})
	for _, admin := range []preflight.Admin{l.probe.Source, l.probe.Target} {
		l.alter(admin, "orders", "max.message.bytes", "5242880")
	}
	r := l.judge()
	l.want(r, "warn target/max-message-bytes "+key)
	l.says(r.Findings[0], "is not set", "5242880", "1048576")
	l.set(key, "2097152")
	l.want(l.judge(), "block target/max-message-bytes "+key)
	l.set(key, "5242880")
	l.want(l.judge())
	l.set(key, "5242868") // 12 bytes of a batch are the broker's
	l.want(l.judge())
	l.set(key, "5242867")
	l.want(l.judge(), "block target/max-message-bytes "+key)
	defer l.show(with(l.config, key, "5 MiB"))()
	if f := found(l.whole(), "target/max-message-bytes"); len(f) != 1 || !f[0].Unmade {
		t.Errorf("got %v", f)
	}
}

func TestATargetThatDeletesWhatTheSourceCompactsWarns(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.alter(l.probe.Source, "orders", "cleanup.policy", "compact")
	l.want(l.judge(), "warn source/compacted orders", "warn target/cleanup-policy orders")
	l.alter(l.probe.Target, "orders", "cleanup.policy", "compact,delete")
	l.want(l.judge(), "warn source/compacted orders", "warn target/cleanup-policy orders")
	l.alter(l.probe.Target, "orders", "retention.ms", "-1")
	l.want(l.judge(), "warn source/compacted orders")
	l.alter(l.probe.Source, "orders", "cleanup.policy", "compact,delete", "retention.ms", "-1")
	l.want(l.judge(), "warn source/compacted orders")
}

func TestAPartitionWithoutALeaderIsNamedWithItsBrokers(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	deny(l.target, kmsg.Metadata, "orders", 1, kerr.LeaderNotAvailable)
	r := l.judge()
	got := found(r, "target/partition-leaderless")
	if len(got) != 1 || got[0].Scope != "orders-1" || got[0].Acceptable != offsetmap.Never {
		t.Fatalf("got %v", r.Findings)
	}
	if saw := result(t, r, "target/partition-leaderless").Saw; !slices.Contains(saw, "orders: 2 partitions, 1 without a leader") {
		t.Errorf("saw %q", saw)
	}
}

// What the brokers do not tell is not fine: each check of settings is accepted by name,
// or blocks.
func TestSettingsThatAreDeniedLeaveTheirChecksUnmade(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	denySettings(l.source)
	ofBoth := []string{"target/max-message-bytes", "target/cleanup-policy", "target/compression", "target/retention", "target/timestamp-type", "target/timestamp-limits", "target/min-insync-replicas"}
	unmade := func(r preflight.Report) (ids []string) {
		for _, f := range r.Findings {
			if f.Unmade && f.Severity == offsetmap.Block {
				ids = append(ids, f.Check)
			}
		}
		slices.Sort(ids)
		return ids
	}
	want := append([]string{"source/compacted", "source/retention", "source/tiered"}, ofBoth...)
	slices.Sort(want)
	r := l.judge()
	if got := unmade(r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, f := range r.Findings {
		l.question.Acceptances = append(l.question.Acceptances, offsetmap.Acceptance{Check: f.Check, Scope: f.Scope, By: "ann", Reason: "asked the owners"})
	}
	if r := l.judge(); r.Err() != nil || len(r.Rows) != 3 {
		t.Errorf("accepted by name: %v", r.Err())
	}
}

func TestAgesThatTheBrokersDoNotTellLeaveTheCountdownUnmade(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	byTime := func(r kmsg.Request) bool {
		return r.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp > 0
	}
	l.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{0}, When: byTime, Err: kerr.KafkaStorageError, Count: -1})
	r := l.judge()
	l.want(r, "block source/retention orders-0", "block target/retention orders-0", "warn source/rollback-until")
	for _, f := range r.Findings[:2] {
		if !f.Unmade || !strings.Contains(f.Detail, "KAFKA_STORAGE_ERROR") {
			t.Errorf("%s, unmade %t", f, f.Unmade)
		}
	}
}

func TestWithoutItsClusterNothingAroundItIsAsked(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	cut(l.target, kmsg.Metadata)
	r := l.judge()
	l.want(r, "block target/unknown")
	for _, id := range []string{"target/retention", "target/partition-leaderless", "target/other-writers", "source/still-written"} {
		if got := result(t, r, id); got.State != preflight.NotAsked {
			t.Errorf("%s: %s", id, got.State)
		}
	}
}

func TestTwoLooksAtTheEndsOfLogs(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	if s := l.observe().Surroundings; !s.Movement.IsAbsent() {
		t.Error("one look shows movement")
	}
	var end func()
	l.watch(time.Minute, func() {
		l.write(l.from, "orders", 0, 60, time.Now())
		l.write(l.from, "orders", 1, 60, time.Now())
		end = l.openOn(l.target, "audit", "payments", 0, 2) // kfake lists a producer while its transaction is open
	})
	r := l.judge()
	l.want(r, "info source/still-written orders", "block target/other-writers payments")
	l.says(found(r, "source/still-written")[0], "moved by 120 offsets in 1m0s, 2.0 a second: orders-0, orders-1")
	l.says(found(r, "target/other-writers")[0], "moved by 2 offsets in 1m0s", "payments-0", "have the ids ", "(epoch 0)")
	if saw := result(t, r, "target/other-writers").Saw; len(saw) != 1 || !strings.Contains(saw[0], "1m0s apart: 1 partitions had moved") {
		t.Errorf("saw %q", saw)
	}
	if r.Err() == nil {
		t.Error("another writer on the target does not block")
	}
	end()
	l.watch(time.Minute)
	r = l.judge()
	l.want(r)
	if got := result(t, r, "target/other-writers"); got.State != preflight.Passed {
		t.Errorf("%+v", got)
	}
}

func TestAWriterWithoutIdempotenceIsSeenByTheEndAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	plain := l.connect(l.target, kgo.DisableIdempotentWrite())
	l.watch(time.Minute, func() { l.write(plain, "orders", 0, 1, time.Now()) })
	l.says(l.one("target/other-writers"), "no producer is listed")
}

// The group's wait is long enough for the looks at everything else.
func TestOneWaitServesTheGroupAndTheEnds(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 5)
	l.lookTwice(time.Minute, func() { l.write(l.to, "orders", 0, 1, time.Now()) })
	l.probe.Sleep = nil
	r := l.judge() // would wait for a minute
	if f := found(r, "target/other-writers"); len(f) != 1 {
		t.Errorf("got %v", r.Findings)
	}
}

func TestASecondLookThatFailsIsNotCalm(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.watch(time.Minute, func() { deny(l.target, kmsg.ListOffsets, "orders", 0, kerr.KafkaStorageError) })
	r := l.judge()
	l.want(r, "block source/partitions-moved", "block source/still-written", "block target/other-writers")
	for _, f := range r.Findings {
		if !f.Unmade || !strings.Contains(f.Detail, "the second look") {
			t.Errorf("%s, unmade %t", f, f.Unmade)
		}
	}
	stopped := errors.New("stopped")
	l = newLab(t, setup{})
	l.watch(time.Minute)
	l.probe.Sleep = func(context.Context, time.Duration) error { return stopped }
	if err := l.observe().Surroundings.Movement.Err(); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

func TestPartitionsThatAreAddedMeanwhileAreNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	brokerSurveyBreakages()["source/partitions-moved"](l)
	f := l.one("source/partitions-moved")
	l.says(f, "2 partitions were added within 1m0s: orders-2, orders-3")
	if f.Scope != "orders" || f.Severity != offsetmap.Block {
		t.Error(f)
	}
}
