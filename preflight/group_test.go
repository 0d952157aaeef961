package preflight_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// PC01, PC02: after a stop with savepoint a group keeps the last checkpoint's
// offsets, has none of quiet partitions, and loses some by expiry.
func TestAnOldGroupIsNoAlarm(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 2)
	r := l.judge()
	l.want(r, "info source/group-compared flink")
	l.says(r.Findings[0], "group flink: 1 behind by at most 3, 2 missing")
	if len(r.Rows) != 3 || r.Rows[0].Group != next(2) || !r.Rows[1].Group.IsNone() {
		t.Errorf("rows %+v", r.Rows)
	}
	if r.Group == nil || r.Group.ID != "flink" {
		t.Errorf("group %v", r.Group)
	}
	l.commit("orders", 1, 10)
	l.says(l.one("source/group-compared"), "1 equal, 1 behind by at most 3, 1 missing")
}

func TestAGroupAheadIsAnAlarmAcceptedByCount(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.commit("orders", 0, 8)
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
