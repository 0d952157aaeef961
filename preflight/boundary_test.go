package preflight_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// A sink that guarantees nothing may be behind the positions, unless it was seen that it
// is not.
func TestASinkWithoutAGuaranteeIsAnsweredByWhatWasFound(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.question.Attestations.SinkGuarantee = attest(offsetmap.SinkNone)
	l.want(l.judge(), "block attest/sink-none")
	l.looks(preflight.DeliveryBounds{})
	r := l.judge()
	l.want(r, "warn attest/sink-none")
	if len(r.Rows) != 3 || len(found(r, "attest/sink-none")) != 1 || !strings.Contains(found(r, "attest/sink-none")[0].Detail, "were found on the target") {
		t.Errorf("%d rows, %v", len(r.Rows), r.Findings)
	}

	// What is let through by name was not found all the same.
	l.stand(7)
	l.question.Acceptances = []offsetmap.Acceptance{{Check: "boundary/not-delivered", Scope: "orders-0:2", By: "ann", Reason: "deleted on purpose"}}
	l.want(l.judge(), "block attest/sink-none", "warn boundary/not-delivered orders-0:2")
}

func TestDuplicatesAreHeldAgainstWhatIsBearable(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.looks(preflight.DeliveryBounds{})
	l.stand(3)
	l.produce("payments", 0, 80)
	l.deliver("payments", 0, 0, 1)
	l.want(l.judge(), "block boundary/delivered-beyond orders-0:2", "block boundary/delivered-beyond payments-0:1")
	l.question.Attestations.MaxDuplicates = attest[int64](2)
	l.want(l.judge(), "block boundary/delivered-beyond orders-0:2", "block boundary/delivered-beyond payments-0:1")
	l.question.Attestations.MaxDuplicates = attest[int64](3)
	l.want(l.judge(), "warn boundary/delivered-beyond orders-0:2", "warn boundary/delivered-beyond payments-0:1")

	// More may be there than may be looked for.
	l.looks(preflight.DeliveryBounds{Records: 200})
	l.question.Attestations.MaxDuplicates = attest[int64](81)
	l.deliver("payments", 0, 1, 64)
	l.want(l.judge(), "warn boundary/delivered-beyond orders-0:2", "block boundary/delivered-beyond payments-0:64")
	// But no more than the source has: 80 of it, and the two of the other.
	l.question.Attestations.MaxDuplicates = attest[int64](82)
	l.want(l.judge(), "warn boundary/delivered-beyond orders-0:2", "warn boundary/delivered-beyond payments-0:64")
}

// reading is a reader that answers what it is told to.
type reading struct {
	found map[offsetmap.TopicPartition]preflight.Delivery
	err   error
}

func (r reading) Deliveries(context.Context, preflight.DeliveryRequest) (map[offsetmap.TopicPartition]preflight.Delivery, error) {
	return r.found, r.err
}

// A reader of the user's own may leave out what it could not find.
func TestWhatAReaderDoesNotSayIsUnproven(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Delivery = reading{err: errors.New("the bucket is gone")}
	l.want(l.judge(), "block boundary/unproven")
	l.probe.Delivery = reading{found: map[offsetmap.TopicPartition]preflight.Delivery{
		tp("orders", 0): {Outcome: preflight.Delivered, Looked: 5}, tp("orders", 1): {Outcome: "probably"},
	}}
	l.want(l.judge(), "block boundary/unproven orders-1", "block boundary/unproven payments-0")
}

// The rules say that a position beyond the log is of something else; nobody looks then.
func TestAPositionBeyondTheLogIsOneFinding(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.looks(preflight.DeliveryBounds{})
	l.stand(99)
	l.want(l.judge(), "block source/offset-beyond-end orders-0")
}

// The target's name of a topic is where the copies are looked for.
func TestCopiesAreLookedForUnderTheTargetsName(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.looks(preflight.DeliveryBounds{})
	l.probe.Delivery = names{t, l.probe.Delivery}
	l.create(l.target, "source.orders", 2)
	l.create(l.target, "source.payments", 1)
	l.set("replication.policy.class", "org.apache.kafka.connect.mirror.DefaultReplicationPolicy")
	if got := found(l.whole(), "boundary/not-delivered"); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

type names struct {
	t *testing.T
	preflight.DeliveryReader
}

func (n names) Deliveries(ctx context.Context, req preflight.DeliveryRequest) (map[offsetmap.TopicPartition]preflight.Delivery, error) {
	if got := req.TargetTopic("orders"); got != "source.orders" {
		n.t.Errorf("looked for in %s", got)
	}
	return n.DeliveryReader.Deliveries(ctx, req)
}
