package preflight_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// unlisted lets coordinators know nobody, as after a transactional id has expired or was
// left out for want of rights.
func unlisted(c *kfake.Cluster) (mend func()) {
	return answered(c, kmsg.ListTransactions, func(req kmsg.Request) kmsg.Response { return req.ResponseKind() })
}

// described lets coordinators describe each transactional id as one of the producer, and
// changed by the function.
func described(c *kfake.Cluster, producer int64, change func(*kmsg.DescribeTransactionsResponseTransactionState)) (mend func()) {
	return answered(c, kmsg.DescribeTransactions, func(req kmsg.Request) kmsg.Response {
		resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
		for _, id := range req.(*kmsg.DescribeTransactionsRequest).TransactionalIDs {
			one := kmsg.NewDescribeTransactionsResponseTransactionState()
			one.TransactionalID, one.ProducerID, one.TimeoutMillis, one.StartTimestamp = id, producer, 60_000, time.Now().UnixMilli()
			change(&one)
			resp.TransactionStates = append(resp.TransactionStates, one)
		}
		return resp
	})
}

func answered(c *kfake.Cluster, key kmsg.Key, answer func(kmsg.Request) kmsg.Response) (mend func()) {
	var right atomic.Bool
	c.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if right.Load() {
			return nil, nil, false
		}
		return answer(req), nil, true
	})
	return func() { right.Store(true) }
}

func hangingBreakages() map[string]breakage {
	return map[string]breakage{
		"source/hanging-transaction": func(l *lab) func() {
			l.open("orders", 0, 2)
			return unlisted(l.source)
		},
		"target/hanging-transaction": func(l *lab) func() {
			l.openOn(l.target, "fl-0-9", "orders", 0, 2)
			return unlisted(l.target)
		},
	}
}

func TestAnOpenTransactionIsNotCalledHanging(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.open("orders", 0, 2)
	defer l.openOn(l.target, "fl-0-9", "orders", 1, 1)()
	r := l.judge()
	producer := l.heldOnTarget("orders", 1)[0]
	l.want(r, "warn source/open-transaction orders-0", fmt.Sprintf("block target/open-transaction orders-1:%d", producer))
	l.says(found(r, "source/open-transaction")[0], "its transactional id is tx-orders, Ongoing since ", " with a timeout of ")
	l.says(found(r, "target/open-transaction")[0], "its transactional id is fl-0-9, Ongoing since ")
	for id, want := range map[string]string{
		"source/hanging-transaction": "orders-0: producer id ", "target/hanging-transaction": "its transactional id is fl-0-9",
	} {
		if saw := result(t, r, id).Saw; len(saw) != 1 || !strings.Contains(saw[0], want) {
			t.Errorf("%s saw %q", id, saw)
		}
	}
}

func TestWhatAHangingTransactionOnTheSourceStops(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.open("orders", 0, 2) // from offset 10 on
	defer unlisted(l.source)()
	producer := l.openNow(l.probe.Source, "orders", 0)[0].ProducerID
	scope := fmt.Sprintf("orders-0:%d", producer)
	command := fmt.Sprintf("kafka-transactions.sh --bootstrap-server %s abort --topic orders --partition 0 --start-offset 10", strings.Join(l.source.ListenAddrs(), ","))

	r := l.judge()
	l.want(r, "warn source/open-transaction orders-0", "warn source/hanging-transaction "+scope)
	l.says(found(r, "source/hanging-transaction")[0], "no coordinator lists a transactional id", "reads uncommitted, and goes on", command)

	l.set("source.consumer.isolation.level", "READ_COMMITTED")
	f := found(l.judge(), "source/hanging-transaction")
	if len(f) != 1 || f[0].Severity != offsetmap.Block || f[0].Acceptable != offsetmap.Exact || f[0].Scope != scope {
		t.Fatalf("of a connector that reads committed: %v", f)
	}
	l.says(f[0], "would stand at offset 10 for ever", command)
	for _, wrong := range []string{"*", "orders", "orders-0", scope + "1"} {
		l.question.Acceptances = []offsetmap.Acceptance{{Check: f[0].Check, Scope: wrong, By: "ann", Reason: "never mind"}}
		if found(l.judge(), f[0].Check)[0].Accepted != nil {
			t.Errorf("it is accepted by the scope %q", wrong)
		}
	}
	l.question.Acceptances = nil
	l.set("source.consumer.isolation.level", "${file:/etc/mm2:isolation}")
	if f := found(l.judge(), "source/hanging-transaction"); len(f) != 1 || f[0].Severity != offsetmap.Block {
		t.Errorf("of a connector whose isolation level is not known: %v", f)
	}
}

func TestWhatCoordinatorsSayOfAnOpenTransaction(t *testing.T) {
	t.Parallel()
	type state = kmsg.DescribeTransactionsResponseTransactionState
	in := func(s *state, partition int32) {
		one := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
		one.Topic, one.Partitions = "orders", []int32{partition}
		s.Topics = append(s.Topics, one)
	}
	for name, c := range map[string]struct {
		is   func(*state)
		want string // in the finding; empty: it does not hang
	}{
		"ongoing here":                  {func(s *state) { s.State = "Ongoing"; in(s, 0) }, ""},
		"ongoing elsewhere":             {func(s *state) { s.State = "Ongoing"; in(s, 1) }, "this partition is not in it: its transactional id is tx-orders, Ongoing"},
		"the marker is to be written":   {func(s *state) { s.State = "PrepareAbort"; in(s, 0) }, ""},
		"the marker has been written":   {func(s *state) { s.State = "PrepareCommit" }, "this partition is not in it"},
		"ended":                         {func(s *state) { s.State, s.StartTimestamp = "CompleteAbort", -1 }, "for its coordinator there is none: its transactional id is tx-orders, CompleteAbort"},
		"begun anew, without a record":  {func(s *state) { s.State = "Empty" }, "for its coordinator there is none"},
		"just out of time":              {func(s *state) { s.State = "Ongoing"; in(s, 0); s.StartTimestamp -= 5 * 60_000 }, ""},
		"long out of time":              {func(s *state) { s.State = "Ongoing"; in(s, 0); s.StartTimestamp -= 10 * 60_000 }, "its coordinator should have aborted it 9m"},
		"the id has expired meanwhile":  {func(s *state) { s.ErrorCode = kerr.TransactionalIDNotFound.Code }, "no coordinator lists"},
		"the id belongs to another now": {func(s *state) { s.State, s.ProducerID = "Ongoing", 99; in(s, 0) }, "no coordinator lists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.open("orders", 0, 2)
			producer := l.openNow(l.probe.Source, "orders", 0)[0].ProducerID
			defer described(l.source, producer, c.is)()
			got := found(l.judge(), "source/hanging-transaction")
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("it is called hanging: %v", got)
			case c.want != "" && len(got) != 1:
				t.Errorf("it is not called hanging: %v", l.judge().Findings)
			case c.want != "":
				l.says(got[0], c.want)
			}
		})
	}
}

// between is an admin client of a cluster that changes, or fails, while transactions are
// looked at.
type between struct {
	*kadm.Client
	describe func()               // before the coordinators describe
	leaders  func(call int) error // before the leaders list producers
	calls    *int
}

func (b between) DescribeTransactions(ctx context.Context, ids ...string) (kadm.DescribedTransactions, error) {
	if b.describe != nil {
		b.describe()
	}
	return b.Client.DescribeTransactions(ctx, ids...)
}

func (b between) DescribeProducers(ctx context.Context, of kadm.TopicsSet) (kadm.DescribedProducersTopics, error) {
	*b.calls++
	if b.leaders != nil {
		if err := b.leaders(*b.calls); err != nil {
			return nil, err
		}
	}
	return b.Client.DescribeProducers(ctx, of)
}

// What ends between the looks does not hang, although its coordinator has none by then.
func TestATransactionThatEndsWhileItIsLookedAtDoesNotHang(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.set("source.consumer.isolation.level", "read_committed")
	end := l.open("orders", 0, 2)
	b := between{Client: l.probe.Source.(*kadm.Client), describe: end, calls: new(int)}
	l.probe.Source = b
	r := l.judge()
	if f := found(r, "source/hanging-transaction"); len(f) > 0 {
		t.Error(f)
	}
	if saw := result(t, r, "source/hanging-transaction").Saw; len(saw) != 1 || !strings.Contains(saw[0], "tx-orders, Empty") {
		t.Errorf("its coordinator had it still, and nothing was shown: %q", saw)
	}
	if *b.calls != 2 {
		t.Errorf("the leaders were asked %d times", *b.calls)
	}
}

func TestCoordinatorsThatDoNotAnswerAreNotTakenForSilent(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(*lab) func(){
		"they do not list":     func(l *lab) func() { return cut(l.source, kmsg.ListTransactions) },
		"they do not describe": func(l *lab) func() { return cut(l.source, kmsg.DescribeTransactions) },
		"an id is denied": func(l *lab) func() {
			return l.source.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeTransactions}, TxnID: "tx-orders", Err: kerr.CoordinatorLoadInProgress, Count: -1}).Remove
		},
		"they say what nobody knows": func(l *lab) func() {
			return described(l.source, l.openNow(l.probe.Source, "orders", 0)[0].ProducerID, func(s *kmsg.DescribeTransactionsResponseTransactionState) { s.State = "Sleeping" })
		},
		"the leader is silent at the second look": func(l *lab) func() {
			right, list := l.probe.Source, unlisted(l.source)
			l.probe.Source = between{Client: right.(*kadm.Client), calls: new(int), leaders: func(call int) error {
				if call%2 == 0 {
					return kerr.NotLeaderForPartition
				}
				return nil
			}}
			return func() {
				l.probe.Source = right
				list()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.open("orders", 0, 2)
			mend := broken(l)
			r := l.judge()
			l.want(r, "warn source/open-transaction orders-0")
			if saw := result(t, r, "source/hanging-transaction").Saw; len(saw) == 0 || !strings.Contains(saw[len(saw)-1], "whether one hangs is not known") {
				t.Errorf("saw %q", saw)
			}
			l.set("source.consumer.isolation.level", "read_committed")
			if f := found(l.judge(), "source/hanging-transaction"); len(f) != 1 || !f[0].Unmade || f[0].Acceptable != offsetmap.Exact {
				t.Errorf("of a connector that reads committed: %v", f)
			}
			mend()
			if f := found(l.judge(), "source/hanging-transaction"); len(f) > 0 {
				t.Errorf("mended, and still %v", f)
			}
		})
	}
}
