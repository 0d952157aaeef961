package flinkmm2

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// KafkaLock is a Lock for all who can reach the target cluster, wherever they run: a
// transactional id that is named for the connector. Each InitProducerId raises the epoch of
// the id at its coordinator by one and fences those before it. The lock is held at an even
// epoch and free at an odd one, so that whoever comes later sees which, and a holder sees
// when another has come. No transaction is ever begun, and no record written.
//
// A holder that was killed leaves the lock held: brokers do not know whether it lives. It is
// never taken from it in silence; Break frees it, on a person's word, or brokers do after
// transactional.id.expiration.ms (7 days by default). Two who acquire it at the same moment
// may both be refused. It needs Describe and Write on the transactional id.
type KafkaLock struct {
	id   string
	opts []kgo.Opt
}

// NewKafkaLock returns the lock of a connector on the cluster that the options connect to:
// the target. The transactional id is KafkaLockID of the connector.
func NewKafkaLock(connector string, opts ...kgo.Opt) (*KafkaLock, error) {
	if err := connectrest.CheckName(connector); err != nil {
		return nil, fmt.Errorf("kafka lock: %w", err)
	}
	return &KafkaLock{KafkaLockID(connector), opts}, nil
}

// KafkaLockID is the transactional id of a connector's KafkaLock, for ACLs.
func KafkaLockID(connector string) string { return "flinkmm2-lock-" + connector }

// producerEpoch is how a transactional id stands; the zero value where brokers know none.
type producerEpoch struct {
	id    int64
	epoch int16
	known bool
}

func (p producerEpoch) held() bool { return p.known && p.epoch%2 == 0 }

func (p producerEpoch) String() string {
	return fmt.Sprintf("epoch %d of producer id %d", p.epoch, p.id)
}

// follows reports whether p is what one InitProducerId makes of before.
func (p producerEpoch) follows(before producerEpoch) bool {
	if !before.known {
		return p.epoch == 0
	}
	return p.id == before.id && p.epoch == before.epoch+1
}

// Acquire takes the lock when it is free.
func (l *KafkaLock) Acquire(ctx context.Context, _ Owner) (Held, error) {
	client, err := kgo.NewClient(l.opts...)
	if err != nil {
		return nil, fmt.Errorf("kafka lock: %w", err)
	}
	h := &heldKafka{l, client, producerEpoch{}}
	if h.at, err = h.take(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return h, nil
}

type heldKafka struct {
	*KafkaLock
	client *kgo.Client
	at     producerEpoch
}

// maxRaises bounds how often the epoch is raised to leave it odd.
const maxRaises = 4

func (h *heldKafka) take(ctx context.Context) (producerEpoch, error) {
	before, err := h.stands(ctx)
	if err != nil {
		return before, err
	}
	locked := func(holder string) error {
		return &LockedError{Lock: fmt.Sprintf("transactional id %s on the target", h.id), Holder: holder}
	}
	if before.held() {
		return before, locked(fmt.Sprintf("somebody (%s), or by one that was killed: break the lock only when nobody acts on the connector", before))
	}
	at, err := h.raise(ctx)
	if err != nil {
		return at, err
	}
	if at.held() && at.follows(before) {
		return at, nil
	}
	// Others came between. They are fenced now, and nobody holds it.
	return at, errors.Join(locked("another that acquired it at the same moment"), h.free(ctx, at))
}

// free raises the epoch until it is odd.
func (h *heldKafka) free(ctx context.Context, at producerEpoch) (err error) {
	for range maxRaises {
		if !at.held() {
			return nil
		}
		if at, err = h.raise(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("kafka lock: transactional id %s stays held, at %s: others acquire it all the time", h.id, at)
}

// Check asks the coordinator whether the epoch is the one that was acquired.
func (h *heldKafka) Check(ctx context.Context) error {
	now, err := h.stands(ctx)
	if err != nil {
		return err
	}
	if now != h.at {
		return fmt.Errorf("%w: transactional id %s is at %s, and was acquired at %s", ErrLockLost, h.id, now, h.at)
	}
	return nil
}

// Release frees the lock, unless it is another's by now.
func (h *heldKafka) Release() error {
	defer h.client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if err := h.Check(ctx); errors.Is(err, ErrLockLost) {
		return nil // not ours to give back
	} else if err != nil {
		return err
	}
	return h.free(ctx, h.at)
}

// Break frees the lock of a holder that was killed. A holder that lives finds out before its
// next request, and sends none. It reports whether the lock was held.
func (l *KafkaLock) Break(ctx context.Context) (bool, error) {
	client, err := kgo.NewClient(l.opts...)
	if err != nil {
		return false, fmt.Errorf("kafka lock: %w", err)
	}
	defer client.Close()
	h := &heldKafka{l, client, producerEpoch{}}
	at, err := h.stands(ctx)
	if err != nil || !at.held() {
		return false, err
	}
	return true, h.free(ctx, at)
}

// stands asks the coordinator for the epoch (KIP-664).
func (h *heldKafka) stands(ctx context.Context) (at producerEpoch, err error) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{h.id}
	err = settled(ctx, func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, h.client)
		if err != nil {
			return err
		}
		if n := len(resp.TransactionStates); n != 1 {
			return fmt.Errorf("the brokers describe %d transactional ids", n)
		}
		one := resp.TransactionStates[0]
		at = producerEpoch{one.ProducerID, one.ProducerEpoch, true}
		return kerr.ErrorForCode(one.ErrorCode)
	})
	if errors.Is(err, kerr.TransactionalIDNotFound) {
		return producerEpoch{}, nil
	}
	if err != nil {
		return producerEpoch{}, fmt.Errorf("kafka lock: describe transactional id %s: %w", h.id, err)
	}
	return at, nil
}

// raise sends an InitProducerId (KIP-98). Where it had to be sent again, the epoch may have
// been raised more than once.
func (h *heldKafka) raise(ctx context.Context) (at producerEpoch, err error) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID = &h.id
	req.TransactionTimeoutMillis = 60_000 // of transactions, of which there are none
	err = settled(ctx, func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, h.client)
		if err != nil {
			return err
		}
		at = producerEpoch{resp.ProducerID, resp.ProducerEpoch, true}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil {
		return producerEpoch{}, fmt.Errorf("kafka lock: acquire transactional id %s: %w", h.id, err)
	}
	return at, nil
}

// settled asks again, within a bound, what a coordinator does not answer yet: it is being
// found, it loads its partition, or another's request is on its way through it.
func settled(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		err := ask(ctx)
		refusal, ok := errors.AsType[*kerr.Error](err)
		if !ok || !refusal.Retriable && !errors.Is(err, kerr.ConcurrentTransactions) || sleep(ctx, readBackPause) != nil {
			return err
		}
	}
}
