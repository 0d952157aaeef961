package preflight_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Who approves a plan reads how much it was judged on.
func TestWhatWasFoundAtTheBoundaryIsCounted(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	said := func(found map[offsetmap.TopicPartition]preflight.Delivery) (preflight.Report, string) {
		l.probe.Delivery = reading{found: found}
		r := l.whole()
		var text []string
		for _, f := range r.Findings {
			if strings.HasPrefix(f.Check, "boundary/") {
				text = append(text, f.Check+" "+f.Scope+" "+f.Detail)
			}
		}
		return r, strings.Join(text, "\n")
	}
	r, got := said(map[offsetmap.TopicPartition]preflight.Delivery{
		tp("orders", 0):   {Outcome: preflight.Delivered, Looked: 5, Keyed: 3},
		tp("orders", 1):   {Outcome: preflight.Delivered, Looked: 4, Keyed: 4},
		tp("payments", 0): {Outcome: preflight.NothingBefore, Looked: 2},
	})
	if want := "boundary/delivered-evidence  in 2 of 3 partitions the last records before C, 9 in all, were found on the target; in 1 there is none before C"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if saw := result(t, r, "boundary/key-order").Saw; !slices.Equal(saw, []string{"orders: 7 records with a key", "payments: 0 records with a key"}) {
		t.Errorf("saw %q", saw)
	}

	missing := func(reason string) map[offsetmap.TopicPartition]preflight.Delivery {
		return map[offsetmap.TopicPartition]preflight.Delivery{
			tp("orders", 0):   {Outcome: preflight.NotDelivered, Looked: 5, Missing: 2, Reason: reason},
			tp("orders", 1):   {Outcome: preflight.NothingBefore},
			tp("payments", 0): {Outcome: preflight.NothingBefore},
		}
	}
	for reason, want := range map[string]string{
		"":            "boundary/not-delivered orders-0:2 of the last 5 records before C in orders-0, 2 are not on the target",
		"one aborted": "boundary/not-delivered orders-0:2 of the last 5 records before C in orders-0, 2 are not on the target: one aborted",
	} {
		if _, got := said(missing(reason)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Nothing was found of a migration without a partition.
func TestASinkWithoutAGuaranteeIsNotAnsweredByNothing(t *testing.T) {
	t.Parallel()
	q := question()
	q.Attestations.SinkGuarantee = attest(offsetmap.SinkNone)
	r := preflight.Judge(preflight.Facts{Surroundings: &preflight.Surroundings{
		Delivery: offsetmap.Known(map[offsetmap.TopicPartition]preflight.Delivery{}),
	}}, q)
	if got := found(r, "attest/sink-none"); len(got) != 1 || got[0].Severity != offsetmap.Block {
		t.Errorf("got %v", got)
	}
}

// A job that reads committed records cannot stand beyond the last stable offset: that is
// another check's finding, and there is nothing to look for.
func TestWhereTheJobCannotStandNobodyLooks(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Delivery = reading{found: map[offsetmap.TopicPartition]preflight.Delivery{}}
	facts := l.observe()
	rg := facts.Ranges[tp("orders", 0)]
	for _, c := range []struct {
		isolation offsetmap.Isolation
		stable    int64
		want      []string
	}{
		{offsetmap.ReadUncommitted, 4, []string{"orders-0", "orders-1", "payments-0"}},
		{offsetmap.ReadCommitted, 4, []string{"orders-1", "payments-0"}},
		{offsetmap.ReadCommitted, 5, []string{"orders-0", "orders-1", "payments-0"}},
	} {
		rg.Stable = next(c.stable)
		facts.Ranges[tp("orders", 0)] = rg
		q := l.question
		q.Attestations.Isolation = attest(c.isolation)
		var got []string
		for _, f := range found(preflight.Judge(facts, q), "boundary/unproven") {
			got = append(got, f.Scope)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, stable up to %d: %q, want %q", c.isolation, c.stable, got, c.want)
		}
	}
}

// heard keeps what a reader was asked.
type heard struct {
	reading
	request *preflight.DeliveryRequest
}

func (a heard) Deliveries(ctx context.Context, r preflight.DeliveryRequest) (map[offsetmap.TopicPartition]preflight.Delivery, error) {
	*a.request = r
	return a.reading.Deliveries(ctx, r)
}

// Of a topic whose cleanup.policy is not known, compaction may have taken records.
func TestTheReaderIsToldWhereCompactionMayHaveTakenRecords(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	var request preflight.DeliveryRequest
	l.probe.Delivery = heard{reading{err: errors.New("not now")}, &request}
	l.alter(l.probe.Target, "orders", "cleanup.policy", "compact,delete")
	l.alter(l.probe.Source, "payments", "cleanup.policy", "compact")
	l.observe()
	for topic, want := range map[string][2]bool{"orders": {true, false}, "payments": {false, true}, "unknown": {true, true}} {
		if got := [2]bool{request.MayBeCompacted(topic), request.SourceMayBeCompacted(topic)}; got != want {
			t.Errorf("%s: on the target and on the source %v, want %v", topic, got, want)
		}
	}
}

// What a check has looked at is listed up to a bound, and the rest is counted.
func TestOfMuchThatWasSeenTheRestIsCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, listed int
		last      string
	}{{20, 20, "20"}, {21, 21, "and 1 more"}, {33, 21, "and 13 more"}} {
		own := preflight.Check{
			ID: "own/seen", Title: "It is seen", Severity: offsetmap.Info, Acceptable: offsetmap.Never,
			Judge: func(_ *preflight.Case, r *preflight.Reporter) {
				for i := range c.n {
					r.Saw("", "%d", i+1)
					if i < 20 { // what is listed is known when it comes again
						r.Saw("", "%d", i+1)
					}
				}
			},
		}
		saw := result(t, preflight.Judge(preflight.Facts{}, question(), own), "own/seen").Saw
		if len(saw) != c.listed || saw[len(saw)-1] != c.last {
			t.Errorf("of %d it lists %q", c.n, saw)
		}
	}
}
