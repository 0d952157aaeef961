package fresh_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestReadStopsWhereItIsTold(t *testing.T) {
	c, cl, _ := cluster(t)
	create(t, c, "orders", 2)
	produce(t, cl, "orders", 1, 10)
	leaders, err := fresh.Leaders(t.Context(), cl, "orders", "refunds")
	if err != nil {
		t.Fatal(err)
	}
	tp := offsetmap.TopicPartition{Topic: "orders", Partition: 1}
	if _, there := leaders[offsetmap.TopicPartition{Topic: "refunds"}]; there || len(leaders) != 2 || leaders[tp].Err != nil {
		t.Errorf("leaders %+v", leaders)
	}
	if none, err := fresh.Leaders(t.Context(), cl); err != nil || len(none) != 0 {
		t.Errorf("leaders of no topic: %v, %v", none, err)
	}
	bound := errors.New("enough")
	for name, tt := range map[string]struct {
		from, to int64
		stopAt   int64 // each returns false there
		fetches  int   // that are let through
		compact  bool
		got, at  int64
		want     string
	}{
		"a part":                       {2, 7, -1, 99, false, 5, 7, ""},
		"nothing":                      {4, 4, -1, 99, false, 0, 4, ""},
		"stopped by the reader":        {0, 10, 3, 99, false, 4, 4, ""},
		"stopped by the bound":         {0, 10, -1, 0, false, 0, 0, "enough"},
		"beyond the end":               {8, 12, -1, 99, false, 2, 10, "the broker gave nothing from offset 10 on, below 12"},
		"a compacted end has no batch": {8, 12, -1, 99, true, 2, 12, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got, bytes int64
			fetches := tt.fetches
			at, err := fresh.Read(t.Context(), cl, leaders[tp].Leader, tp, tt.from, tt.to, fresh.Reading{
				Isolation: kgo.ReadCommitted(), Bytes: 1 << 20, Compacted: tt.compact,
				Ahead: func() error {
					if fetches--; fetches < 0 {
						return bound
					}
					return nil
				},
				Fetched: func(n int) { bytes += int64(n) },
			}, func(r *kgo.Record) bool {
				got++
				return r.Offset != tt.stopAt
			})
			if got != tt.got || at != tt.at || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || got > 0 && bytes == 0 {
				t.Errorf("%d records, %d bytes, to %d, %v", got, bytes, at, err)
			}
		})
	}
}

func TestTheFirstRecordSinceAMoment(t *testing.T) {
	c, cl, _ := cluster(t)
	create(t, c, "orders", 1)
	begin := time.UnixMilli(1_700_000_000_000)
	for _, second := range []int{0, 2, 1, 4} { // times need not rise
		r := &kgo.Record{Topic: "orders", Timestamp: begin.Add(time.Duration(second) * time.Second), Value: []byte("v")}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	tp := offsetmap.TopicPartition{Topic: "orders"}
	for second, want := range map[int]string{-1: "0", 0: "0", 1: "1", 2: "1", 3: "3", 5: "none"} {
		got, err := fresh.FirstSince(t.Context(), cl, tp, begin.Add(time.Duration(second)*time.Second).UnixMilli())
		if err != nil || got.String() != want {
			t.Errorf("since second %d: %s, %v, want %s", second, got, err, want)
		}
	}
	if _, err := fresh.FirstSince(t.Context(), cl, tp, -2); err == nil {
		t.Error("-2 asks for the log start")
	}
	if _, err := fresh.FirstSince(t.Context(), cl, offsetmap.TopicPartition{Topic: "refunds"}, 1); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("a topic that is not there: %v", err)
	}
}
