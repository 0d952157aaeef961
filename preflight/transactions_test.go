package preflight_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// heldOnTarget lists the producers with an open transaction on a partition, by
// its first offset.
func (l *lab) heldOnTarget(topic string, partition int32) (ids []int64) {
	l.t.Helper()
	for _, o := range l.openNow(l.probe.Target, topic, partition) {
		ids = append(ids, o.ProducerID)
	}
	return ids
}

func (l *lab) openNow(admin preflight.Admin, topic string, partition int32) []kadm.DescribedProducer {
	l.t.Helper()
	var of kadm.TopicsSet
	of.Add(topic, partition)
	described, err := admin.DescribeProducers(l.t.Context(), of)
	l.must(err)
	var open []kadm.DescribedProducer
	described.EachProducer(func(p kadm.DescribedProducer) {
		if p.CurrentTxnStartOffset >= 0 {
			open = append(open, p)
		}
	})
	slices.SortFunc(open, func(a, b kadm.DescribedProducer) int {
		return cmp.Compare(a.CurrentTxnStartOffset, b.CurrentTxnStartOffset)
	})
	return open
}

func (l *lab) acceptOpen(scopes ...string) {
	l.question.Acceptances = nil
	for _, scope := range scopes {
		l.question.Acceptances = append(l.question.Acceptances, offsetmap.Acceptance{Check: "target/open-transaction", Scope: scope, By: "ann", Reason: "the audit's"})
	}
}

// A job that was canceled after its savepoint leaves the sink's transaction open:
// what it holds lies before C, and is gone when it aborts.
func TestATransactionThatTheOldJobLeftOnTheTargetBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	commit := l.openOn(l.target, "fl-0-9", "orders", 0, 4)
	defer l.openOn(l.target, "fl-1-9", "orders", 0, 1)()
	ids := l.heldOnTarget("orders", 0)
	first, second := fmt.Sprintf("orders-0:%d", ids[0]), fmt.Sprintf("orders-0:%d", ids[1])
	r := l.judge()
	l.want(r, "block target/open-transaction "+first, "block target/open-transaction "+second)
	for _, f := range r.Findings {
		l.says(f, "last stable offset 0 is 5 below the end 5", "producer id ", "epoch 0", "timestamp of ", " ago")
	}
	if r.Rows != nil {
		t.Error("there are rows, although records may be lost")
	}
	commit()
	l.says(l.one("target/open-transaction"), "last stable offset 4 is 2 below the end 6", "from offset 4") // 5 is a marker
}

// A person knows one writer, and not what else writes to the partition.
func TestOneWritersAcceptedTransactionLetsNoOtherThrough(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	defer l.openOn(l.target, "audit", "orders", 0, 4)()
	audit := fmt.Sprintf("orders-0:%d", l.heldOnTarget("orders", 0)[0])
	for _, scope := range []string{"*", "orders", "", "orders-0", "orders-0:", "orders-0:unlisted", "orders-0:undescribed", "orders-0:unmeasured"} {
		l.acceptOpen(scope)
		if r := l.judge(); r.Err() == nil {
			t.Errorf("it is accepted by the scope %q, which does not name the producer", scope)
		}
	}
	l.acceptOpen(audit)
	r := l.judge()
	l.want(r, "warn target/open-transaction "+audit)
	if len(r.Rows) != 3 {
		t.Errorf("accepted by name, and %d rows", len(r.Rows))
	}

	end := l.openOn(l.target, "fl-0-9", "orders", 0, 1) // the old job's sink
	sink := fmt.Sprintf("orders-0:%d", l.heldOnTarget("orders", 0)[1])
	l.want(l.judge(), "warn target/open-transaction "+audit, "block target/open-transaction "+sink)
	end()
	l.want(l.judge(), "warn target/open-transaction "+audit)
}

// What nobody is told of is accepted under a name of its own, and does not come
// through with a writer that is known.
func TestATransactionThatNoProducerIsListedForHasAScopeOfItsOwn(t *testing.T) {
	t.Parallel()
	orders := offsetmap.TopicPartition{Topic: "orders"}
	open := func(id int64, start int64) preflight.OpenTransaction {
		return preflight.OpenTransaction{TopicPartition: orders, ProducerID: id, CoordinatorEpoch: -1, Start: next(start)}
	}
	for name, c := range map[string]struct {
		open []preflight.OpenTransaction
		want []string
	}{
		"none is listed":                 {nil, []string{"orders-0:unlisted"}},
		"of another partition":           {[]preflight.OpenTransaction{{TopicPartition: tp("orders", 1), ProducerID: 7, Start: next(4)}}, []string{"orders-0:unlisted"}},
		"the first one is listed":        {[]preflight.OpenTransaction{open(7, 4)}, []string{"orders-0:7"}},
		"both are listed":                {[]preflight.OpenTransaction{open(9, 4), open(7, 5)}, []string{"orders-0:7", "orders-0:9"}},
		"a later one alone is listed":    {[]preflight.OpenTransaction{open(7, 5)}, []string{"orders-0:7", "orders-0:unlisted"}},
		"its log start is cut behind it": {[]preflight.OpenTransaction{open(7, 2)}, []string{"orders-0:7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := preflight.Facts{
				TargetTails: map[offsetmap.TopicPartition]preflight.Tail{orders: {End: next(6), Stable: next(4)}},
				TargetOpen:  offsetmap.Known(c.open),
			}
			var got []string
			for _, f := range facts.OpenOnTarget() {
				got = append(got, f.Scope)
				if f.Acceptable != offsetmap.Exact || f.Severity != offsetmap.Block {
					t.Errorf("%s is acceptable %s", f, f.Acceptable)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("scopes %q, want %q", got, c.want)
			}
		})
	}
}

// The timestamp of a copied record is the source's, or none: it must not pass for
// the age of the transaction.
func TestTheTimestampOfATransactionsRecordIsNotCalledItsAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"its last record has a timestamp of 48h0m0s ago":   now.Add(-48 * time.Hour),
		"its last record has a timestamp of 0s ago":        now,
		"its last record has a timestamp of 5m0s from now": now.Add(5 * time.Minute),
		"its last record has no timestamp":                 time.UnixMilli(-1),
	} {
		facts := preflight.Facts{
			At:          now,
			TargetTails: map[offsetmap.TopicPartition]preflight.Tail{tp("orders", 0): {End: next(6), Stable: next(4)}},
			TargetOpen:  offsetmap.Known([]preflight.OpenTransaction{{TopicPartition: tp("orders", 0), ProducerID: 7, CoordinatorEpoch: -1, Start: next(4), LastTimestamp: at}}),
		}
		found := facts.OpenOnTarget()
		if len(found) != 1 || !strings.HasSuffix(found[0].Detail, want) {
			t.Errorf("%v, want %q", found, want)
		}
	}
}

func TestATransactionOnAPartitionThatOnlyTheTargetHasBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.remove(l.target, "orders")
	l.create(l.target, "orders", 3)
	defer l.openOn(l.target, "fl-0-9", "orders", 2, 1)()
	l.want(l.judge(), "block target/partition-count orders", fmt.Sprintf("block target/open-transaction orders-2:%d", l.heldOnTarget("orders", 2)[0]))
}

func TestATransactionUnderTheNameThatThePolicyGivesBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.create(l.target, "source.orders", 2)
	l.create(l.target, "source.payments", 1)
	l.set("replication.policy.class", "")
	l.question.Attestations.Confirm.TargetNames = attest(offsetmap.PrefixedNames)
	defer l.openOn(l.target, "tx-orders", "orders", 0, 1)() // none of the migration's
	defer l.openOn(l.target, "fl-0-9", "source.orders", 1, 1)()
	l.want(l.judge(), fmt.Sprintf("block target/open-transaction source.orders-1:%d", l.heldOnTarget("source.orders", 1)[0]))
}

func TestAnUnknownLastStableOffsetOfTheTargetBlocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	stable := func(r kmsg.Request) bool { return r.(*kmsg.ListOffsetsRequest).IsolationLevel == 1 }
	fault := l.target.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{1}, When: stable, Err: kerr.KafkaStorageError, Count: -1})
	r := l.judge()
	l.want(r, "block target/open-transaction orders-1:unmeasured")
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
	if f.Scope != "orders-0:undescribed" {
		t.Errorf("the scope is %s", f.Scope)
	}
	mend()
	l.says(l.one("target/open-transaction"), "producer id ")
}
