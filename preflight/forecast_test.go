package preflight_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestDuplicatesAreForecastForEachPartition(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	if f := l.judge().Forecast; f != nil || f.String() != "not known: nobody looked on the target for records from C on" {
		t.Errorf("nobody looked, and the forecast is %v", f)
	}
	l.looks(preflight.DeliveryBounds{})
	if f := l.judge().Forecast; f == nil || f.AtMost != 0 || f.AtLeast || len(f.Partitions) != 0 || f.String() != "none; no record from C on is on the target" {
		t.Errorf("of a job that has delivered up to C: %+v", f)
	}

	// Two records of orders-0 are there, many of payments-0, which are counted as far as may
	// be read, and of orders-1 nothing can come twice: C is its end.
	l.stand(3)
	l.produce("payments", 0, 80)
	l.deliver("payments", 0, 0, 64)
	l.question.Attestations.MaxDuplicates = attest[int64](0)
	size := func(name string, partition int32, from, to int) (n int64) {
		for _, r := range l.records[tp(name, partition)][from:to] {
			n += int64(len(r.Key) + len(r.Value))
		}
		return n
	}
	two, many := size("orders", 0, 3, 5), size("payments", 0, 0, 64)
	want := &preflight.Forecast{Records: 66, Bytes: two + many, AtLeast: true, AtMost: 82, Partitions: []preflight.PartitionForecast{
		{TopicPartition: tp("orders", 0), Records: 2, Bytes: two, AtMost: 2, Why: "of the first 7 records from C on"},
		{TopicPartition: tp("payments", 0), Records: 64, Bytes: many, AtLeast: true, AtMost: 80, Why: "all of the first 64 records from C on that were looked for are on the target"},
	}}
	exact := &preflight.Forecast{Records: 66, Bytes: two + many, AtMost: 66, Partitions: []preflight.PartitionForecast{
		want.Partitions[0],
		{TopicPartition: tp("payments", 0), Records: 64, Bytes: many, AtMost: 64, Why: "of the first 80 records from C on"},
	}}
	if diff := cmp.Diff(exact, l.judge().Forecast); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	l.looks(preflight.DeliveryBounds{Records: 200})
	r := l.judge()
	if diff := cmp.Diff(want, r.Forecast); diff != "" || r.Err() == nil {
		t.Errorf("%v (-want +got)\n%s", r.Err(), diff)
	}
	if got, want := r.Forecast.String(), "at least 66 records"; len(got) < len(want) || got[:len(want)] != want {
		t.Error(got)
	}
}

// What could not be looked at is not taken for nothing.
func TestAForecastOfWhatIsNotKnownSaysHowManyAtMost(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Delivery = reading{err: errors.New("the bucket is gone")}
	f := l.judge().Forecast
	if got := f.String(); got != "not known: at most 5 records, of 1 partitions, are on the target already, and come twice" {
		t.Error(got)
	}
	if f == nil || !f.AtLeast || f.Records != 0 || f.AtMost != 5 || len(f.Partitions) != 1 || f.Partitions[0].Why != "nothing is known: the bucket is gone" {
		t.Errorf("%+v", f)
	}
	l.probe.Delivery = reading{found: map[offsetmap.TopicPartition]preflight.Delivery{
		tp("orders", 0): {Outcome: preflight.Unproven, Reason: "the time was up", Beyond: 1}, tp("orders", 1): {Outcome: preflight.Delivered},
	}}
	if f = l.judge().Forecast; f == nil || f.Records != 1 || f.AtMost != 5 || f.Partitions[0].Why != "the time was up" {
		t.Errorf("%+v", f)
	}
}

// What can come twice lies between C, or the log start, and the end that is readable.
func TestAtMostWhatTheConnectorWillReadComesTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		level  offsetmap.Isolation
		expire int64
		atMost int64
	}{
		"to the end":                {offsetmap.ReadUncommitted, 0, 7},
		"to the last stable offset": {offsetmap.ReadCommitted, 0, 5},
		"from the log start":        {offsetmap.ReadUncommitted, 8, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, setup{})
			l.question.Attestations.Isolation = attest(c.level)
			l.open("orders", 0, 2)
			if c.expire > 0 {
				_, err := l.probe.Source.(*kadm.Client).DeleteRecords(t.Context(), kadm.Offsets{"orders": {0: {Topic: "orders", Partition: 0, At: c.expire}}})
				l.must(err)
			}
			l.probe.Delivery = reading{found: map[offsetmap.TopicPartition]preflight.Delivery{tp("orders", 0): {Outcome: preflight.Unproven}}}
			f := l.whole().Forecast
			if f == nil || len(f.Partitions) == 0 || f.Partitions[0].AtMost != c.atMost || !f.Partitions[0].AtLeast {
				t.Errorf("%+v, want at most %d", f, c.atMost)
			}
		})
	}
	t.Run("all are known", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, setup{})
		l.probe.Delivery = reading{found: map[offsetmap.TopicPartition]preflight.Delivery{tp("orders", 0): {Outcome: preflight.Unproven, Beyond: 5}}}
		if f := l.whole().Forecast; f == nil || f.Partitions[0].AtMost != 5 || f.Partitions[0].AtLeast {
			t.Errorf("%+v", f)
		}
	})
}
