package proof

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// What has an offset and is no record to a reader is not counted.
func TestRecordsAreCountedAndNotOffsets(t *testing.T) {
	c := startClusters(t)
	topic := topicName(t)
	c.topic(topic, 1, nil)
	rs := records(topic, 0, 0, 30)
	c.source.write(t, rs[:10]...)                     // 0..9
	c.source.transact(t, kgo.TryAbort, rs[10:15]...)  // 10..14, marker 15
	c.source.transact(t, kgo.TryCommit, rs[15:20]...) // 16..20, marker 21
	c.source.write(t, rs[20:]...)                     // 22..31
	tp := offsetmap.TopicPartition{Topic: topic}
	span := func(from, to int64) Span { return Span{tp, place(from), place(to)} }
	count := func(isolation offsetmap.Isolation, bounds CountBounds, spans ...Span) []Counted {
		t.Helper()
		got, err := Count(t.Context(), Cluster{Options: c.source.options(), Admin: c.source.admin, Isolation: isolation}, spans, bounds)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for isolation, want := range map[offsetmap.Isolation][3]int64{
		offsetmap.ReadCommitted: {25, 10, 0}, offsetmap.ReadUncommitted: {30, 15, 5},
	} {
		for i, got := range count(isolation, CountBounds{}, span(0, 32), span(5, 21), span(10, 16)) {
			if got.Records != want[i] || got.Rest != 0 || got.Reason != "" {
				t.Errorf("%s: %d records, %d more, %q, want %d", isolation, got.Records, got.Rest, got.Reason, want[i])
			}
		}
	}
	bounded := count(offsetmap.ReadUncommitted, CountBounds{Records: 7}, span(0, 32))[0]
	if bounded.Records != 7 || bounded.Rest != 25 || !strings.Contains(bounded.Reason, "as much as may be read") {
		t.Errorf("bounded: %d records, %d more, %q", bounded.Records, bounded.Rest, bounded.Reason)
	}
	c.source.deleteBefore(t, topic, 8)
	if got := count(offsetmap.ReadUncommitted, CountBounds{}, span(0, 10), span(0, 5))[0]; got.Records != 2 || got.Rest != 0 {
		t.Errorf("expired: %+v", got)
	}
	if got := count(offsetmap.ReadUncommitted, CountBounds{}, span(0, 5), Span{TopicPartition: tp, To: place(3)}, Span{offsetmap.TopicPartition{Topic: topic, Partition: 7}, place(0), place(3)}); got[0].Records != 0 || got[0].Rest != 0 || got[1].Reason == "" || got[2].Rest != 3 {
		t.Errorf("nothing to count: %+v", got)
	}
	if _, err := Count(t.Context(), Cluster{Options: c.source.options(), Admin: c.source.admin}, []Span{span(0, 32)}, CountBounds{Within: time.Nanosecond}); err == nil {
		t.Error("counted in no time")
	}
}
