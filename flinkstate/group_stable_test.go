package flinkstate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// stepClock stands still but for what is slept.
type stepClock struct {
	mu  sync.Mutex
	at  time.Time
	nap func() // called in each sleep, before the clock goes on
}

func newStepClock() *stepClock { return &stepClock{at: time.Unix(1_790_000_000, 0)} }

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *stepClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.nap != nil {
		c.nap()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return ctx.Err()
}

func (c *stepClock) option() flinkstate.GroupOption {
	return flinkstate.WithGroupClock(c.Now, c.Sleep)
}

// transaction is one that is open and holds offsets of a group.
type transaction struct {
	t      testing.TB
	client *kgo.Client
	id     string
	producer,
	epoch int64
}

// openOffsets begins a transaction that holds offsets of a group, and leaves it
// open.
func openOffsets(t testing.TB, client *kgo.Client, id, group string, offsets map[offsetmap.TopicPartition]int64) *transaction {
	t.Helper()
	ctx := t.Context()
	must := func(err error, code int16) {
		t.Helper()
		if err := errors.Join(err, kerr.ErrorForCode(code)); err != nil {
			t.Fatal(err)
		}
	}
	init := kmsg.NewPtrInitProducerIDRequest()
	init.TransactionalID, init.TransactionTimeoutMillis = &id, 600_000
	producer, err := init.RequestWith(ctx, client)
	must(err, producer.ErrorCode)
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, producer.ProducerID, producer.ProducerEpoch, group
	added, err := add.RequestWith(ctx, client)
	must(err, added.ErrorCode)
	known, err := kadm.NewClient(client).Metadata(ctx)
	must(err, 0)
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch, commit.Group = id, producer.ProducerID, producer.ProducerEpoch, group
	commit.Generation = -1
	for tp, at := range offsets {
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset = tp.Partition, at
		topic := kmsg.NewTxnOffsetCommitRequestTopic()
		topic.Topic, topic.TopicID = tp.Topic, known.Topics[tp.Topic].ID
		topic.Partitions = append(topic.Partitions, partition)
		commit.Topics = append(commit.Topics, topic)
	}
	done, err := commit.RequestWith(ctx, client)
	must(err, 0)
	for _, topic := range done.Topics {
		for _, p := range topic.Partitions {
			must(nil, p.ErrorCode)
		}
	}
	return &transaction{t: t, client: client, id: id, producer: producer.ProducerID, epoch: int64(producer.ProducerEpoch)}
}

// end commits or aborts it.
func (x *transaction) end(how kgo.TransactionEndTry) {
	x.t.Helper()
	end := kmsg.NewPtrEndTxnRequest()
	end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = x.id, x.producer, int16(x.epoch), bool(how)
	ended, err := end.RequestWith(context.WithoutCancel(x.t.Context()), x.client)
	if err := errors.Join(err, kerr.ErrorForCode(ended.ErrorCode)); err != nil {
		x.t.Error(err)
	}
}

// An offset that an open transaction holds may never become the group's. It is
// no answer, and the older one that it would replace is none either.
func TestOffsetOfAnOpenTransactionIsWaitedFor(t *testing.T) {
	t.Parallel()
	_, client, admin := groupBroker(t)
	for name, c := range map[string]struct {
		how  kgo.TransactionEndTry
		want string
	}{"commit": {kgo.TryCommit, "9"}, "abort": {kgo.TryAbort, "5"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := "copy-" + name
			commit(t, admin, group, map[offsetmap.TopicPartition]int64{orders(0): 5})
			open := openOffsets(t, client, name, group, map[offsetmap.TopicPartition]int64{orders(0): 9})
			clock, naps := newStepClock(), 0
			clock.nap = func() {
				if naps++; naps == 4 {
					open.end(c.how)
				}
			}
			got, err := flinkstate.NewGroupReader(admin, clock.option()).Read(t.Context(), group)
			if err != nil || got.Committed()[orders(0)].String() != c.want {
				t.Fatalf("got %+v, error %v, want %s", got, err, c.want)
			}
			if naps < 4 {
				t.Errorf("%d naps: an answer came while the transaction was open", naps)
			}
		})
	}
}

func TestWaitForOpenTransactionsEndsAtItsBound(t *testing.T) {
	t.Parallel()
	_, client, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{orders(0): 5, {Topic: "payments"}: 1})
	open := openOffsets(t, client, "hangs", "copy", map[offsetmap.TopicPartition]int64{orders(0): 9})
	defer open.end(kgo.TryAbort)
	clock := newStepClock()
	began := clock.Now()
	got, err := flinkstate.NewGroupReader(admin, clock.option(), flinkstate.WithRequestor(client)).Read(t.Context(), "copy", "orders")
	var unstable *flinkstate.UnstableOffsetsError
	if !errors.As(err, &unstable) || !errors.Is(err, kerr.UnstableOffsetCommit) || got != nil {
		t.Fatalf("got %+v, error %v", got, err)
	}
	// An embedded broker holds back every partition of such a group.
	if diff := cmp.Diff([]offsetmap.TopicPartition{orders(0), orders(1), orders(2)}, unstable.Partitions); diff != "" {
		t.Errorf("partitions (-want +got):\n%s", diff)
	}
	if waited := clock.Now().Sub(began); unstable.Waited != waited || waited < 29*time.Second || waited > 30*time.Second {
		t.Errorf("waited %s, says %s; by default 30 seconds are the bound", waited, unstable.Waited)
	}
	for _, part := range []string{"copy", "orders-0", "wait of 30s"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cut := newStepClock()
	cut.nap = cancel
	_, err = flinkstate.NewGroupReader(admin, cut.option()).Read(ctx, "copy", "orders")
	if !errors.Is(err, kerr.UnstableOffsetCommit) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waited: %v", err)
	}
}

// A broker that is asked for all offsets leaves out a partition whose first one
// is pending: it would pass for one that was never read.
func TestFirstOffsetInAnOpenTransactionIsNotMissing(t *testing.T) {
	t.Parallel()
	_, client, admin := groupBroker(t)
	commit(t, admin, "copy", map[offsetmap.TopicPartition]int64{{Topic: "payments"}: 1})
	open := openOffsets(t, client, "first", "copy", map[offsetmap.TopicPartition]int64{orders(1): 3})
	clock, naps := newStepClock(), 0
	clock.nap = func() {
		if naps++; naps == 2 {
			open.end(kgo.TryCommit)
		}
	}
	reader := flinkstate.NewGroupReader(admin, clock.option(), flinkstate.WithRequestor(client))
	got, err := reader.Read(t.Context(), "copy", "orders")
	if err != nil {
		t.Fatal(err)
	}
	if naps != 2 || got.Committed()[orders(1)].String() != "3" {
		t.Errorf("after %d naps: %+v", naps, got)
	}
	if diff := cmp.Diff([]offsetmap.TopicPartition{orders(0), orders(2)}, got.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}
