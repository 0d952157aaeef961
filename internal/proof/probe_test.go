package proof

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func (b *brokers) reader(i kgo.IsolationLevel) *reader {
	return &reader{client: b.client, isolation: i}
}

func TestAProbeGoesAsFarAsNothingIsReadable(t *testing.T) {
	b := startBrokers(t)
	const topic = "orders"
	b.create(t, topic, 1, nil)
	rs := records(topic, 0, 0, 20)
	b.write(t, rs[:2]...)                    // 0, 1
	b.transact(t, kgo.TryAbort, rs[2:5]...)  // 2-4, marker 5
	b.transact(t, kgo.TryAbort, rs[5:7]...)  // 6, 7, marker 8
	b.write(t, rs[7:9]...)                   // 9, 10
	b.transact(t, kgo.TryAbort, rs[9:10]...) // 11, marker 12
	hang := b.open(t, rs[10:12]...)          // 13, 14
	t.Cleanup(func() { hang(kgo.TryAbort) })
	for _, tt := range []struct {
		name             string
		isolation        kgo.IsolationLevel
		from, goal, want int64
	}{
		{"a readable record", kgo.ReadCommitted(), 0, 13, 0},
		{"two aborted transactions and a record", kgo.ReadCommitted(), 2, 13, 9},
		{"no further than asked for", kgo.ReadCommitted(), 2, 7, 7},
		{"from the middle of a transaction", kgo.ReadCommitted(), 7, 13, 9},
		{"up to the last stable offset", kgo.ReadCommitted(), 11, 13, 13},
		{"not beyond the last stable offset", kgo.ReadCommitted(), 11, 15, 13},
		{"aborted records are readable to who reads uncommitted", kgo.ReadUncommitted(), 2, 13, 2},
		{"a marker is not", kgo.ReadUncommitted(), 5, 13, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.reader(tt.isolation).probe(t.Context(), offsetmap.TopicPartition{Topic: topic}, tt.from, tt.goal, false)
			if err != nil || got != tt.want {
				t.Errorf("%d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

// A compacted log may end without any batch, and then no answer says so.
func TestAnEmptyAnswerSaysSomethingOnlyOfACompactedTopic(t *testing.T) {
	b := startBrokers(t)
	const topic = "orders"
	b.create(t, topic, 1, nil)
	b.write(t, records(topic, 0, 0, 9)...)
	const highWatermark, stable = 9, 7
	b.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		req := r.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		part := kmsg.NewFetchResponseTopicPartition()
		part.HighWatermark, part.LastStableOffset = highWatermark, stable
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	for _, tt := range []struct {
		name       string
		isolation  kgo.IsolationLevel
		compacted  bool
		goal, want int64
	}{
		{"compacted", kgo.ReadUncommitted(), true, highWatermark, highWatermark},
		{"not compacted", kgo.ReadUncommitted(), false, highWatermark, 5},
		{"a broker that is behind", kgo.ReadUncommitted(), true, highWatermark + 1, 5},
		{"committed", kgo.ReadCommitted(), true, stable, stable},
		{"beyond the last stable offset", kgo.ReadCommitted(), true, highWatermark, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.reader(tt.isolation).probe(t.Context(), offsetmap.TopicPartition{Topic: topic}, 5, tt.goal, tt.compacted)
			if err != nil || got != tt.want {
				t.Errorf("%d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestAProbeThatIsNotAnsweredLeavesTheOffset(t *testing.T) {
	b := startBrokers(t)
	const topic = "orders"
	b.create(t, topic, 1, nil)
	b.write(t, records(topic, 0, 0, 9)...)
	probe := func(topic string, from int64) (int64, error) {
		return b.reader(kgo.ReadUncommitted()).probe(t.Context(), offsetmap.TopicPartition{Topic: topic}, from, 9, true)
	}
	for _, tt := range []struct {
		name  string
		fault kfake.Fault
		topic string
		from  int64
		want  error
	}{
		{"no right", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed}, topic, 5, kerr.TopicAuthorizationFailed},
		{"no metadata", kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: topic, Err: kerr.TopicAuthorizationFailed}, topic, 5, kerr.TopicAuthorizationFailed},
		{"no such topic", kfake.Fault{}, "payments", 5, kerr.UnknownTopicOrPartition},
		{"gone", kfake.Fault{}, topic, 12, kerr.OffsetOutOfRange},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.fault.Err != nil {
				defer b.Fault(tt.fault).Remove()
			}
			got, err := probe(tt.topic, tt.from)
			if !errors.Is(err, tt.want) || got != tt.from {
				t.Errorf("%d, %v; want %d, %v", got, err, tt.from, tt.want)
			}
		})
	}
}
