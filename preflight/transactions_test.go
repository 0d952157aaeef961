package preflight_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A job that was canceled after its savepoint leaves the sink's transaction open:
// what it holds lies before C, and is gone when it aborts.
func TestATransactionThatTheOldJobLeftOnTheTargetBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	commit := l.openOn(l.target, "fl-0-9", "orders", 0, 4)
	defer l.openOn(l.target, "fl-1-9", "orders", 0, 1)()
	r := l.judge()
	l.want(r, "block target/open-transaction orders-0")
	l.says(r.Findings[0], "last stable offset 0 is 5 below the end 5", "producer id ", "epoch 0", "from offset 0", "from offset 4", " ago")
	if r.Rows != nil {
		t.Error("there are rows, although records may be lost")
	}

	accept := func(scope string) {
		l.question.Acceptances = []offsetmap.Acceptance{{Check: "target/open-transaction", Scope: scope, By: "ann", Reason: "the audit's"}}
	}
	for _, scope := range []string{"*", "orders", ""} {
		accept(scope)
		if r := l.judge(); r.Err() == nil {
			t.Errorf("it is accepted by the scope %q, which does not name the partition", scope)
		}
	}
	accept("orders-0")
	r = l.judge()
	l.want(r, "warn target/open-transaction orders-0")
	if len(r.Rows) != 3 {
		t.Errorf("accepted by name, and %d rows", len(r.Rows))
	}

	l.question.Acceptances = nil
	commit()
	l.says(l.one("target/open-transaction"), "last stable offset 4 is 2 below the end 6", "from offset 4") // 5 is a marker
}

func TestATransactionOnAPartitionThatOnlyTheTargetHasBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.remove(l.target, "orders")
	l.create(l.target, "orders", 3)
	defer l.openOn(l.target, "fl-0-9", "orders", 2, 1)()
	l.want(l.judge(), "block target/partition-count orders", "block target/open-transaction orders-2")
}

func TestATransactionUnderTheNameThatThePolicyGivesBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.target, "source.orders", 2)
	l.create(l.target, "source.payments", 1)
	l.set("replication.policy.class", "")
	defer l.openOn(l.target, "tx-orders", "orders", 0, 1)() // none of the migration's
	defer l.openOn(l.target, "fl-0-9", "source.orders", 1, 1)()
	l.want(l.judge(), "block target/open-transaction source.orders-1")
}

func TestAnUnknownLastStableOffsetOfTheTargetBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	stable := func(r kmsg.Request) bool { return r.(*kmsg.ListOffsetsRequest).IsolationLevel == 1 }
	fault := l.target.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{1}, When: stable, Err: kerr.KafkaStorageError, Count: -1})
	r := l.judge()
	l.want(r, "block target/open-transaction orders-1")
	if f := r.Findings[0]; !f.Unmade || f.Acceptable != offsetmap.Exact || !strings.Contains(f.Detail, "last stable offset") {
		t.Errorf("%s, unmade %t, acceptable %q", f, f.Unmade, f.Acceptable)
	}
	fault.Remove()
	l.want(l.judge())
}

func TestATransactionWhoseProducerIsNotToldBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	defer l.openOn(l.target, "fl-0-9", "orders", 0, 2)()
	mend := cut(l.target, kmsg.DescribeProducers)
	f := l.one("target/open-transaction")
	l.says(f, "2 below the end 2", "whose it is could not be found out")
	mend()
	l.says(l.one("target/open-transaction"), "producer id ")
}
