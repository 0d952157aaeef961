package flinkmm2_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2"
)

func kafkaLock(t *testing.T, on *side, connector string) *flinkmm2.KafkaLock {
	t.Helper()
	l, err := flinkmm2.NewKafkaLock(connector, kgo.SeedBrokers(on.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestKafkaLockIsHeldByOneAndNeverTakenInSilence(t *testing.T) {
	on := newSide(t, "the-target")
	ctx := t.Context()
	l := kafkaLock(t, on, "mm2")
	if was, err := l.Break(ctx); was || err != nil {
		t.Fatalf("nobody ever held it: %v, %v", was, err)
	}
	held, err := l.Acquire(ctx, owner("li"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = kafkaLock(t, on, "mm2").Acquire(ctx, owner("mo"))
	if !errors.Is(err, flinkmm2.ErrLocked) || !strings.Contains(err.Error(), "transactional id flinkmm2-lock-mm2 on the target is held by somebody (epoch 0 of producer id ") {
		t.Errorf("%v", err)
	}
	if err := held.Check(ctx); err != nil {
		t.Errorf("the attempt of another has taken it: %v", err)
	}
	other, err := kafkaLock(t, on, "mm3").Acquire(ctx, owner("mo"))
	if err != nil {
		t.Fatalf("the lock of another connector: %v", err)
	}
	if err := errors.Join(other.Release(), held.Release()); err != nil {
		t.Fatal(err)
	}

	// One that is killed leaves it held.
	killed, err := l.Acquire(ctx, owner("mo"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(ctx, owner("li")); !errors.Is(err, flinkmm2.ErrLocked) {
		t.Errorf("%v", err)
	}
	if was, err := l.Break(ctx); !was || err != nil {
		t.Fatalf("%v, %v", was, err)
	}
	if err := killed.Check(ctx); !errors.Is(err, flinkmm2.ErrLockLost) {
		t.Errorf("it was broken and goes on: %v", err)
	}
	next, err := l.Acquire(ctx, owner("li"))
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Release(); err != nil {
		t.Error(err)
	}
	if err := next.Check(ctx); err != nil {
		t.Errorf("one who has lost it gave it away: %v", err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	transactions, err := on.admin.DescribeTransactions(ctx, flinkmm2.KafkaLockID("mm2"))
	if err != nil {
		t.Fatal(err)
	}
	transactions.Each(func(tx kadm.DescribedTransaction) {
		if tx.State != "Empty" || len(tx.Topics) > 0 {
			t.Errorf("a transaction was begun: %+v", tx)
		}
	})
}

func TestKafkaLockOfManyAtOnceIsHeldByOneAtMost(t *testing.T) {
	on := newSide(t, "the-target")
	l := kafkaLock(t, on, "mm2")
	for range 3 {
		var all sync.WaitGroup
		var mu sync.Mutex
		var got []flinkmm2.Held
		for range 8 {
			all.Go(func() {
				held, err := l.Acquire(t.Context(), owner("li"))
				if err != nil && !errors.Is(err, flinkmm2.ErrLocked) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					got = append(got, held)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		holds := 0
		for _, held := range got {
			switch err := held.Check(t.Context()); {
			case err == nil:
				holds++
			case !errors.Is(err, flinkmm2.ErrLockLost):
				t.Error(err)
			}
		}
		if holds > 1 {
			t.Errorf("%d hold it", holds)
		}
		for _, held := range got {
			if err := held.Release(); err != nil {
				t.Error(err)
			}
		}
		after, err := l.Acquire(t.Context(), owner("mo"))
		if err != nil {
			t.Fatalf("it stays held by nobody: %v", err)
		}
		if err := after.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestKafkaLockWithoutBrokersIsAnErrorAndNotLocked(t *testing.T) {
	l, err := flinkmm2.NewKafkaLock("mm2", kgo.SeedBrokers("127.0.0.1:1"), kgo.RetryTimeout(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := l.Acquire(ctx, owner("li")); err == nil || errors.Is(err, flinkmm2.ErrLocked) || !strings.Contains(err.Error(), "flinkmm2-lock-mm2") {
		t.Errorf("%v", err)
	}
	if _, err := flinkmm2.NewKafkaLock(""); err == nil {
		t.Error("a lock of no connector")
	}
}
