package preflight_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// lookTwice lets the probe look at the group over a window, which passes at once.
// Each of the given acts happens in such a window.
func (l *lab) lookTwice(window time.Duration, between ...func()) {
	l.t.Helper()
	clock := &fastClock{}
	l.probe.Now = clock.Now
	l.probe.GroupLook.Window = window
	l.probe.GroupLook.Sleep = func(ctx context.Context, d time.Duration) error {
		for _, act := range between {
			act()
		}
		return clock.Sleep(ctx, d)
	}
}

// explain lets the probe read the source for what lies between.
func (l *lab) explain(isolation offsetmap.Isolation) {
	l.probe.GroupLook.Options = append(quick(), kgo.SeedBrokers(l.source.ListenAddrs()...))
	l.probe.GroupLook.Positions, l.probe.GroupLook.Isolation = l.question.Positions, isolation
}

// join lets a consumer hold a group, until the returned function is called.
func (l *lab) join(group string) (leave func()) {
	l.t.Helper()
	member := l.connect(l.source, kgo.ConsumerGroup(group), kgo.ConsumeTopics("orders"), kgo.ClientID("billing"), kgo.DisableAutoCommit())
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	l.t.Cleanup(cancel)
	_, err := l.source.WaitGroupStable(ctx, group, 1)
	l.must(err)
	return func() {
		member.Close()
		_, err := l.source.WaitGroupInfo(ctx, group, func(g *kfake.GroupInfo) bool { return g != nil && len(g.Members) == 0 })
		l.must(err)
	}
}

// A group that looks dead while the job runs proves nothing; two looks do.
func TestPC01AGroupThatLooksDeadWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *lab {
		l := newLab(t, setup{})
		l.produce("orders", 0, 1040)
		l.question.Positions[0] = at("orders", 0, 1050)
		l.commit("orders", 0, 1000)
		l.commit("orders", 1, 10)
		l.commit("payments", 0, 0)
		return l
	}
	t.Run("one look", func(t *testing.T) {
		t.Parallel()
		l := start(t)
		r := l.judge()
		l.want(r, "info source/group-compared flink")
		l.says(r.Findings[0], "not proven to stand still", "looked at once", "Empty, as it also is while a KafkaSource runs")
	})
	t.Run("two looks over a window", func(t *testing.T) {
		t.Parallel()
		l := start(t)
		l.lookTwice(time.Second, func() { l.commit("orders", 0, 1050) })
		r := l.judge()
		l.want(r, "block source/group-moved orders-0", "info source/group-compared flink")
		l.says(r.Findings[0], "orders-0", "1000", "1050", "window of 1s", "whatever the state")
		if r.Err() == nil || len(r.Rows) > 0 {
			t.Errorf("not refused: rows %v", r.Rows)
		}
		if f := r.Findings[0]; f.Acceptable != offsetmap.Never {
			t.Errorf("%s is acceptable: %q", f, f.Acceptable)
		}
		l.lookTwice(time.Second)
		r = l.judge()
		l.want(r, "info source/group-compared flink")
		l.says(r.Findings[0], "no offset moved over 1s")
		if strings.Contains(r.Findings[0].Detail, "shows nothing") {
			t.Errorf("nobody has said how often the job commits: %s", r.Findings[0])
		}
		// A window within which the job does not commit is no witness.
		l.question.Attestations.Checkpointing = attest("1m")
		l.lookTwice(time.Second)
		l.says(l.judge().Findings[0], "no offset moved over 1s, which shows nothing: it was looked at over 1s, and the job commits once in 1m0s")
	})
	t.Run("planning from the group", func(t *testing.T) {
		t.Parallel()
		l := start(t)
		l.question.Origin, l.question.Positions[0] = offsetmap.FromGroup, at("orders", 0, 1000)
		l.question.Attestations.Checkpointing = attest("1m")
		r := l.judge()
		if f := found(r, "source/group-unproven"); len(f) != 1 || r.Err() == nil {
			t.Fatalf("one look: %v", r.Findings)
		} else {
			l.says(f[0], "not proven to stand still", "once")
		}
		l.lookTwice(time.Minute)
		l.says(l.one("source/group-unproven"), "1m0s", "commits once in 1m0s")
		l.lookTwice(61 * time.Second)
		if f := found(l.judge(), "source/group-unproven"); len(f) > 0 {
			t.Errorf("a window beyond the interval: %v", f)
		}
		l.lookTwice(61*time.Second, func() { l.commit("orders", 0, 1050); l.commit("orders", 1, 11) })
		moved := found(l.judge(), "source/group-moved")
		if len(moved) != 2 || moved[0].Scope != "orders-0" || moved[1].Scope != "orders-1" {
			t.Errorf("moved meanwhile: %v", moved)
		}
	})
}

// What has expired is missing: never 0, never the end, never left out.
func TestPC02OffsetsThatExpiredAfterTheJobStopped(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *lab {
		l := newLab(t, setup{})
		l.produce("orders", 0, 90)
		l.produce("orders", 1, 190)
		l.probe.Topics = []string{"orders"}
		l.set("topics", "orders")
		l.question.Positions = []offsetmap.Position{at("orders", 0, 100), at("orders", 1, 200)}
		l.commit("orders", 0, 100)
		return l
	}
	planned := func(t *testing.T, r preflight.Report) {
		t.Helper()
		if r.Err() != nil || len(r.Rows) != 2 || r.Rows[0].Next != next(100) || r.Rows[1].Next != next(200) {
			t.Errorf("rows %v, findings %v", r.Rows, r.Findings)
		}
	}
	t.Run("from the savepoint", func(t *testing.T) {
		t.Parallel()
		l := start(t)
		r := l.judge()
		l.want(r, "info source/group-compared flink", "info source/group-missing flink")
		l.says(r.Findings[0], "1 equal, 1 missing")
		l.says(r.Findings[1], "lacks 1 of the partitions", "orders-1", "expired")
		planned(t, r)
	})
	t.Run("from the group", func(t *testing.T) {
		t.Parallel()
		l := start(t)
		l.lookTwice(time.Hour)
		l.question.Origin, l.question.Positions = offsetmap.FromGroup, []offsetmap.Position{at("orders", 0, 100)}
		l.question.Attestations.Checkpointing = attest("1m")
		l.question.Acceptances = []offsetmap.Acceptance{
			{Check: "source/position-missing", Scope: "orders-1", By: "ann", Reason: "tried"},
			{Check: "source/group-missing", Scope: "orders-1", By: "ann", Reason: "tried"},
			{Check: "flink/group-only", By: "ann", Reason: "compared the last records"},
		}
		r := l.judge()
		missing := found(r, "source/group-missing")
		if r.Err() == nil || len(r.Rows) > 0 || len(missing) != 1 || missing[0].Scope != "orders-1" || missing[0].Severity != offsetmap.Block {
			t.Fatalf("rows %v, findings %v", r.Rows, r.Findings)
		}
		l.says(missing[0], "missing", "offsets.retention.minutes", "own last commit", "savepoint", "better source")
	})
	t.Run("the whole group is gone", func(t *testing.T) {
		t.Parallel()
		l := start(t)
		_, err := kadm.NewClient(l.from).DeleteGroups(t.Context(), "flink")
		l.must(err)
		r := l.judge()
		l.want(r, "block source/group-absent flink")
		check, _ := preflight.Explain("source/group-absent")
		for _, part := range []string{"offsets.retention.minutes", "expire", "savepoint"} {
			if !strings.Contains(check.Remedy, part) {
				t.Errorf("the remedy does not name %q: %s", part, check.Remedy)
			}
		}
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "source/group-absent", Scope: "flink", By: "ann", Reason: "frozen for two weeks"}}
		planned(t, l.judge())

		l.question.Origin, l.question.Positions = offsetmap.FromGroup, nil
		if r := l.judge(); r.Err() == nil || len(r.Rows) > 0 {
			t.Errorf("planned from a group that is gone: %v", r.Rows)
		}
	})
}

// After a stop with savepoint a group keeps the last checkpoint's offsets, and
// has none of quiet partitions.
func TestAnOldGroupIsNoAlarm(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 2)
	l.commit("orders", 1, 10)
	r := l.judge()
	l.want(r, "info source/group-compared flink")
	l.says(r.Findings[0], "group flink: 1 equal, 1 behind by at most 3, 1 missing")
	if len(r.Rows) != 3 || r.Rows[0].Group != next(2) || !r.Rows[2].Group.IsNone() {
		t.Errorf("rows %+v", r.Rows)
	}
	if r.Group == nil || r.Group.ID != "flink" {
		t.Errorf("group %v", r.Group)
	}
}

// transact writes one record in a transaction, and with its end a marker.
func (l *lab) transact(topic string, partition int32, how kgo.TransactionEndTry) {
	l.t.Helper()
	client := l.connect(l.source, kgo.TransactionalID(tp(topic, partition).String()))
	l.must(client.BeginTransaction())
	l.must(client.ProduceSync(l.t.Context(), &kgo.Record{Topic: topic, Partition: partition, Value: []byte("v")}).FirstErr())
	l.must(client.EndTransaction(l.t.Context(), how))
}

// Nobody can have read what is no record; but only the source can tell.
func TestAGroupAheadByMarkersAloneIsNoAlarm(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.transact("orders", 0, kgo.TryCommit) // 10, marker 11
	l.transact("orders", 1, kgo.TryAbort)
	l.question.Positions[0], l.question.Positions[1] = at("orders", 0, 11), at("orders", 1, 11)
	l.commit("orders", 0, 12)
	l.commit("orders", 1, 12)
	alarms := []string{"block source/group-ahead orders-0:1", "block source/group-ahead orders-1:1", "info source/group-compared flink"}
	l.want(l.judge(), alarms...) // nobody has looked

	l.explain(offsetmap.ReadUncommitted)
	r := l.judge()
	l.want(r, "info source/group-compared flink")
	l.says(r.Findings[0], "2 ahead by at most 1 (2 by transaction markers or aborted records only)")

	mend := cut(l.source, kmsg.Fetch)
	r = l.judge()
	l.want(r, alarms...)
	l.says(r.Findings[0], "could not be read")
	mend()

	// The aborted record is one that a job was shown which reads uncommitted.
	l.question.Positions[1] = at("orders", 1, 10)
	l.explain(offsetmap.ReadUncommitted)
	l.want(l.judge(), "block source/group-ahead orders-1:2", "info source/group-compared flink")
	l.question.Attestations.Isolation = attest(offsetmap.ReadCommitted)
	l.set("source.consumer.isolation.level", "read_committed")
	l.explain(offsetmap.ReadCommitted)
	l.want(l.judge(), "info source/group-compared flink")

	// What was read of other offsets than those of now explains nothing.
	l.probe.GroupLook.Positions = []offsetmap.Position{at("orders", 0, 10), at("orders", 1, 11)}
	l.want(l.judge(), "block source/group-ahead orders-0:1", "block source/group-ahead orders-1:2", "info source/group-compared flink")
}

func TestALookAtTheGroupOnAnotherClusterIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 5)
	l.explain(offsetmap.ReadUncommitted)
	l.probe.GroupLook.Options = append(quick(), kgo.SeedBrokers(l.target.ListenAddrs()...))
	l.says(l.one("source/group-unknown"), "lead to cluster target-1", "source-1")
}

// A KafkaSource never joins its group: who does commits for himself.
func TestAGroupThatIsHeldByMembersIsAWeakWitness(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 5)
	l.commit("orders", 1, 10)
	leave := l.join("flink")
	r := l.judge()
	l.want(r, "warn source/group-active flink", "info source/group-compared flink")
	l.says(found(r, "source/group-active")[0], `client "billing" at`, "never joins")
	l.question.Origin = offsetmap.FromGroup
	if f := l.one("source/group-active"); f.Severity != offsetmap.Block || f.Acceptable != offsetmap.Exact {
		t.Errorf("as the source of positions: %s, acceptable %q", f, f.Acceptable)
	}
	leave()
	if f := found(l.judge(), "source/group-active"); len(f) > 0 {
		t.Errorf("they have left: %v", f)
	}
}

func TestAGroupAheadIsAnAlarmAcceptedByCount(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 8)
	l.commit("orders", 1, 10)
	r := l.judge()
	l.want(r, "block source/group-ahead orders-0:3", "info source/group-compared flink")
	for scope, lets := range map[string]bool{"orders-0": false, "*": false, "orders-0:2": false, "orders-0:3": true} {
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "source/group-ahead", Scope: scope, By: "ann", Reason: "moved by hand"}}
		if r := l.judge(); (r.Err() == nil) != lets {
			t.Errorf("accepted by the scope %q: %v", scope, r.Findings)
		}
	}
}

// Where the savepoint says that nothing was read, copying begins at the log
// start: a group that has gone beyond it has read what the savepoint does not
// know of.
func TestAGroupAheadOfAPartitionThatWasNeverReadIsAnAlarm(t *testing.T) {
	t.Parallel()
	marked := offsetmap.Position{TopicPartition: tp("payments", 0), Unread: offsetmap.Earliest}
	t.Run("a marker, and no record", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.question.Positions[2] = marked
		l.commit("payments", 0, 0)
		l.commit("orders", 0, 5)
		l.commit("orders", 1, 10)
		l.want(l.judge(), "info source/group-compared flink")
		l.commit("payments", 0, 3)
		r := l.judge()
		l.want(r, "block source/group-ahead payments-0:3", "info source/group-compared flink")
		l.says(r.Findings[0], "no position", "committed 3", "log start 0")
	})
	t.Run("a marker, accepted to begin at the log start", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.produce("payments", 0, 6)
		l.must(l.source.DeleteRecords("payments", 0, 2))
		l.question.Positions[2] = marked
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "source/unread-earliest", Scope: "payments-0", By: "ann", Reason: "looked"}}
		l.commit("payments", 0, 2)
		r := l.judge()
		if r.Err() != nil || len(r.Rows) != 3 {
			t.Fatalf("%v", r.Findings)
		}
		// The rule and the check mean the same place.
		if r.Rows[2].Next != next(2) || len(found(r, "source/group-ahead")) > 0 {
			t.Errorf("C = %s: %v", r.Rows[2].Next, r.Findings)
		}
		l.commit("payments", 0, 3)
		if f := l.one("source/group-ahead"); f.Scope != "payments-0:1" {
			t.Error(f)
		}
	})
	t.Run("a partition that the savepoint never names", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.question.Positions = l.question.Positions[:2]
		l.commit("payments", 0, 1)
		l.commit("orders", 0, 5)
		l.commit("orders", 1, 10)
		l.want(l.judge(), "block source/group-ahead payments-0:1", "info source/group-compared flink")
	})
}

func TestAGroupThatDoesNotExistOrHasNoCommitIsAbsent(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.source, "refunds", 1)
	l.probe.Group = "flimk"
	f := l.one("source/group-absent")
	l.says(f, "flimk", "no such consumer group")
	if f.Scope != "flimk" || f.Acceptable != offsetmap.Exact {
		t.Errorf("%s, acceptable %q", f, f.Acceptable)
	}
	check, _ := preflight.Explain(f.Check)
	for _, part := range []string{"offsets.retention.minutes", "expire"} {
		if !strings.Contains(check.Remedy, part) {
			t.Errorf("the remedy does not name %q: %s", part, check.Remedy)
		}
	}
	for _, part := range []string{"commit.offsets.on.checkpoint", "checkpointing"} {
		if !strings.Contains(check.Why, part) {
			t.Errorf("the why does not name %q: %s", part, check.Why)
		}
	}
	l.question.Acceptances = []offsetmap.Acceptance{{Check: f.Check, Scope: "flimk", By: "ann", Reason: "frozen for two weeks"}}
	if r := l.judge(); r.Err() != nil || len(r.Rows) != 3 || r.Group == nil {
		t.Errorf("accepted: %v, group %v", r.Findings, r.Group)
	}

	l.question.Acceptances = nil
	l.commit("refunds", 0, 4) // of a topic that is none of the migration's
	r := l.judge()
	l.want(r, "block source/group-absent flink")
	l.says(r.Findings[0], "no committed offset of orders, payments", "1 of other topics")
}

func TestAGroupThatCannotBeReadIsUnknownNotAbsent(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 5)
	mend := cut(l.source, kmsg.OffsetFetch)
	r := l.judge()
	l.want(r, "block source/group-unknown flink")
	if f := r.Findings[0]; !f.Unmade || f.Acceptable != offsetmap.Exact || r.Group != nil {
		t.Errorf("%s, unmade %t, group %v", f, f.Unmade, r.Group)
	}
	mend()
	cut(l.source, kmsg.Metadata) // of the source nothing is known then
	l.want(l.judge(), "block source/unknown")
}

func TestTheGroupIsReadAtEachLook(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	for _, committed := range []int64{2, 3, 4} {
		l.commit("orders", 0, committed)
		group, ok := l.observe().Group.Get()
		if !ok || group[tp("orders", 0)] != next(committed) {
			t.Errorf("%v, want orders-0 at %d", group, committed)
		}
	}
	_, err := kadm.NewClient(l.from).DeleteGroups(t.Context(), "flink")
	l.must(err)
	if f := l.observe(); !f.Group.IsAbsent() {
		t.Errorf("the group was deleted: %v", f.Group)
	}
}
