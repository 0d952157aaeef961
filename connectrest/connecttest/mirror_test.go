package connecttest_test

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// transact writes records in a transaction that ends as given.
func transact(t *testing.T, brokers []string, end kgo.TransactionEndTry, records ...*kgo.Record) {
	t.Helper()
	cl := kafka(t, brokers, kgo.TransactionalID(t.Name()+time.Now().String()))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := cl.EndTransaction(t.Context(), end); err != nil {
		t.Fatal(err)
	}
}

// With read_committed neither aborted records nor markers arrive, and M is the
// last record that was visible.
func TestIsolationLevel(t *testing.T) {
	for _, c := range []struct {
		change conf
		want   []string
		m      string
	}{
		{nil, append(expected("orders", 0, 0, 3), "orders/0/10"), `{"offset":6}`},
		{conf{"source.consumer.isolation.level": ""}, append(expected("orders", 0, 0, 5), "orders/0/10"), `{"offset":6}`},
		{conf{"source.consumer.isolation.level": "", "consumer.isolation.level": "read_committed"}, append(expected("orders", 0, 0, 3), "orders/0/10"), `{"offset":6}`},
	} {
		s, _ := embedded(t)
		topic(t, s.source, "orders", 1)
		produce(t, s.source, numbered("orders", 0, 0, 3)...)
		transact(t, s.source, kgo.TryAbort, numbered("orders", 0, 3, 2)...)   // 3, 4, marker 5
		transact(t, s.source, kgo.TryCommit, numbered("orders", 0, 10, 1)...) // 6, marker 7
		s.create(t, "mm2", "", s.config(c.change))
		awaitValues(t, s.target, "orders", 0, c.want)
		s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
		s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": c.m})
	}
}

// A start below the log start goes to the log start without a word, and so does
// a copy that retention overtakes while it is paused.
func TestLogStartMovesOverThePosition(t *testing.T) {
	s := &stage{target: broker(t, targetID), version: "4.3.1", client: httpClient(t)}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(sourceID))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	s.source = cluster.ListenAddrs()
	w, err := connecttest.NewWorker(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL

	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 20)...)
	if err := cluster.DeleteRecords("orders", 0, 15); err != nil {
		t.Fatal(err)
	}
	s.create(t, "mm2", "STOPPED", s.config())
	s.must(t, http.StatusOK, "PATCH", "/connectors/mm2/offsets", entries(at("orders", 0, 9)))
	s.must(t, http.StatusAccepted, "PUT", "/connectors/mm2/resume", nil)
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 15, 5))

	// The log is cut under a consumer that waits at its end.
	if err := cluster.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 100, 3)...)
	awaitValues(t, s.target, "orders", 0, slices.Concat(expected("orders", 0, 15, 5), expected("orders", 0, 100, 3)))
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
}

func TestJSONConverter(t *testing.T) {
	const json = "org.apache.kafka.connect.json.JsonConverter"
	s, _ := embedded(t)
	topic(t, s.source, "orders", 1)
	produce(t, s.source,
		&kgo.Record{Topic: "orders", Key: nil, Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}},
		&kgo.Record{Topic: "orders", Key: []byte("k"), Value: nil},
	)
	s.create(t, "mm2", "", s.config(conf{"key.converter": json, "value.converter": json, "header.converter": json, "key.converter.schemas.enable": "false"}))
	// A null value has no place in the schema.
	s.awaitStates(t, "mm2", "RUNNING/FAILED")
	if trace := s.status(t, "mm2").Tasks[0].Trace; !strings.HasPrefix(trace, "org.apache.kafka.connect.errors.DataException: Conversion error: null value for field that is required") {
		t.Errorf("trace = %q", trace)
	}
	got := read(t, s.target, "orders", 0)
	if len(got) != 1 || string(got[0].Key) != "null" || string(got[0].Value) != `{"schema":{"type":"bytes","optional":false},"payload":"dg=="}` ||
		string(got[0].Headers[0].Value) != `{"schema":{"type":"bytes","optional":false},"payload":"eA=="}` {
		t.Errorf("records: %+v", shapes(got))
	}

	// errors.tolerance=all leaves the record out.
	produce(t, s.source, &kgo.Record{Topic: "orders", Value: []byte("w")})
	s.create(t, "lossy", "", s.config(conf{"value.converter": json, "value.converter.schemas.enable": "false", "errors.tolerance": "all", "replication.policy.class": ""}))
	awaitValues(t, s.target, "source.orders", 0, []string{`"dg=="`, `"dw=="`})
	s.awaitStates(t, "lossy", "RUNNING/RUNNING")
}

// A record that the target refuses fails the task; with errors.tolerance=all it
// is lost, and the offset says that it was copied.
func TestRecordTooLarge(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 3000)
	records := func() []*kgo.Record {
		r := numbered("orders", 0, 0, 5)
		r[2].Value = large
		return r
	}
	small := []string{"orders/0/0", "orders/0/1", "orders/0/3", "orders/0/4"}
	limit := conf{"producer.override.max.request.size": "2000"}

	s, _ := embedded(t)
	topic(t, s.source, "orders", 1)
	produce(t, s.source, records()...)
	s.create(t, "mm2", "", s.config(limit))
	s.awaitStates(t, "mm2", "RUNNING/FAILED")
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":1}`})

	s.create(t, "lossy", "", s.config(limit, conf{"errors.tolerance": "all", "replication.policy.class": ""}))
	awaitValues(t, s.target, "source.orders", 0, small)
	s.awaitStates(t, "lossy", "RUNNING/RUNNING")
	s.must(t, http.StatusNoContent, "PUT", "/connectors/lossy/stop", nil)
	s.awaitOffsets(t, "lossy", map[string]string{"source/orders/0": `{"offset":4}`})
}

// refuse lets a cluster refuse a kind of request for as long as the returned
// function says so.
func refuse(c *kfake.Cluster, key kmsg.Key, answer func(kmsg.Request) kmsg.Response, until func() bool) {
	c.ControlKey(key.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if until() {
			return nil, nil, false
		}
		c.KeepControl()
		return answer(r), nil, true
	})
}

// A target topic that cannot be created is only logged: RUNNING, with tasks, and
// nothing is copied, until the topic is there.
func TestMissingTargetTopic(t *testing.T) {
	target, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(targetID))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	s := &stage{source: broker(t, sourceID), target: target.ListenAddrs(), version: "4.3.1", client: httpClient(t)}
	refuse(target, kmsg.CreateTopics, func(r kmsg.Request) kmsg.Response {
		resp := r.ResponseKind().(*kmsg.CreateTopicsResponse)
		for _, topic := range r.(*kmsg.CreateTopicsRequest).Topics {
			rt := kmsg.NewCreateTopicsResponseTopic()
			rt.Topic, rt.ErrorCode = topic.Topic, kerr.TopicAuthorizationFailed.Code
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	}, func() bool { return false })
	w, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithGracefulTimeout(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 5)...)
	s.create(t, "mm2", "", s.config())
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	if names := topics(t, s.target); len(names) != 0 {
		t.Fatalf("topics of the target: %v", names)
	}
	if err := target.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 5))

	// The same where only the partition is missing: the refusal is only logged.
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED")
}

// A target topic with too few partitions that stays so stalls the task, which is
// abandoned at the stop and commits what it wrote.
func TestMissingTargetPartition(t *testing.T) {
	target, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(targetID))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	s := &stage{source: broker(t, sourceID), target: target.ListenAddrs(), version: "4.3.1", client: httpClient(t)}
	grow := make(chan struct{})
	refuse(target, kmsg.CreatePartitions, func(r kmsg.Request) kmsg.Response {
		resp := r.ResponseKind().(*kmsg.CreatePartitionsResponse)
		for _, topic := range r.(*kmsg.CreatePartitionsRequest).Topics {
			rt := kmsg.NewCreatePartitionsResponseTopic()
			rt.Topic, rt.ErrorCode = topic.Topic, kerr.TopicAuthorizationFailed.Code
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	}, func() bool {
		select {
		case <-grow:
			return true
		default:
			return false
		}
	})
	w, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithGracefulTimeout(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	topic(t, s.source, "orders", 2)
	topic(t, s.target, "orders", 1)
	produce(t, s.source, numbered("orders", 1, 0, 5)...)
	s.create(t, "mm2", "", s.config())
	s.awaitStates(t, "mm2", "RUNNING/RUNNING/RUNNING")
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.awaitStates(t, "mm2", "STOPPED")
	if got := s.offsets(t, "mm2"); len(got) != 0 {
		t.Errorf("offsets of a copy that wrote nothing: %v", got)
	}
	close(grow)
	s.must(t, http.StatusAccepted, "PUT", "/connectors/mm2/resume", nil)
	awaitValues(t, s.target, "orders", 1, expected("orders", 1, 0, 5))
}

// A source that cannot be reached leaves a connector that is RUNNING without
// tasks, until a refresh finds it.
func TestUnreachableSource(t *testing.T) {
	source, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(sourceID))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{source: source.ListenAddrs(), target: broker(t, targetID), version: "4.3.1", client: httpClient(t)}
	source.Close()
	w, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithTopicRefreshInterval(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	s.create(t, "mm2", "", s.config(conf{"admin.timeout.ms": "200"}))
	s.awaitStates(t, "mm2", "RUNNING")

	_, port, _ := strings.Cut(s.source[0], ":")
	n := 0
	for _, d := range port {
		n = n*10 + int(d-'0')
	}
	source, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(sourceID), kfake.Ports(n), kfake.SeedTopics(1, "orders"))
	if err != nil {
		t.Skip("the port was taken by another program:", err)
	}
	t.Cleanup(source.Close)
	produce(t, s.source, numbered("orders", 0, 0, 5)...)
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 5))
}

// With refresh.topics.enabled=false a partition that appears later is not seen.
func TestRefreshDisabled(t *testing.T) {
	s, _ := embedded(t, connecttest.WithTopicRefreshInterval(20*time.Millisecond))
	topic(t, s.source, "orders", 1)
	s.create(t, "blind", "", s.config(conf{"refresh.topics.enabled": "false"}))
	s.create(t, "sees", "", s.config(conf{"replication.policy.class": ""}))
	s.awaitStates(t, "blind", "RUNNING/RUNNING")
	addPartitions(t, s.source, "orders", 2)
	produce(t, s.source, numbered("orders", 1, 0, 3)...)
	awaitValues(t, s.target, "source.orders", 1, expected("orders", 1, 0, 3))
	s.awaitStates(t, "sees", "RUNNING/RUNNING/RUNNING")
	s.awaitStates(t, "blind", "RUNNING/RUNNING")
	if got := values(t, s.target, "orders", 1); len(got) > 0 {
		t.Errorf("copied %v", got)
	}
}

// New topics inherit the settings of the source, but for some.
func TestNewTopicsInheritConfigs(t *testing.T) {
	s, _ := embedded(t)
	topic(t, s.source, "orders", 3, "cleanup.policy", "compact", "min.insync.replicas", "1", "max.message.bytes", "12345")
	produce(t, s.source, numbered("orders", 2, 0, 1)...)
	s.create(t, "mm2", "", s.config())
	awaitValues(t, s.target, "orders", 2, expected("orders", 2, 0, 1))
	described, err := kadm.NewClient(kafka(t, s.target)).DescribeTopicConfigs(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	own := make(map[string]string)
	for _, c := range described[0].Configs {
		if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
			own[c.Key] = c.MaybeValue()
		}
	}
	diff(t, "settings of the new topic", map[string]string{"cleanup.policy": "compact", "max.message.bytes": "12345"}, own)
	if got := ends(t, s.target, "orders"); len(got) != 3 {
		t.Errorf("the new topic has %d partitions, want 3", len(got))
	}
}

// Offset syncs say which source offset stands where on the target.
func TestOffsetSyncs(t *testing.T) {
	s, _ := embedded(t)
	topic(t, s.source, "orders", 1)
	topic(t, s.target, "orders", 1)
	produce(t, s.target, numbered("orders", 0, 900, 7)...) // the target is ahead by 7
	produce(t, s.source, numbered("orders", 0, 0, 25)...)
	s.create(t, "mm2", "", s.config(conf{"emit.offset-syncs.enabled": "", "offset-syncs.topic.replication.factor": "1", "offset.lag.max": "10"}))
	const syncs = "mm2-offset-syncs.target.internal"
	type sync struct {
		Topic     string
		Partition int32
		Up, Down  int64
	}
	want := []sync{{"orders", 0, 0, 7}, {"orders", 0, 11, 18}, {"orders", 0, 22, 29}}
	await(t, "the syncs", func() (any, bool) {
		var got []sync
		for _, r := range read(t, s.source, syncs, 0) {
			n := binary.BigEndian.Uint16(r.Key)
			got = append(got, sync{
				string(r.Key[2 : 2+n]), int32(binary.BigEndian.Uint32(r.Key[2+n:])),
				int64(binary.BigEndian.Uint64(r.Value)), int64(binary.BigEndian.Uint64(r.Value[8:])),
			})
		}
		return got, slices.Equal(got, want)
	})
}

// If the syncs topic cannot be created, one record is copied and then nothing,
// while everything is RUNNING.
func TestOffsetSyncsTopicMissingStalls(t *testing.T) {
	source, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(sourceID))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(source.Close)
	s := &stage{source: source.ListenAddrs(), target: broker(t, targetID), version: "3.8.1", client: httpClient(t)}
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 10)...)
	refuse(source, kmsg.CreateTopics, func(r kmsg.Request) kmsg.Response {
		resp := r.ResponseKind().(*kmsg.CreateTopicsResponse)
		rt := kmsg.NewCreateTopicsResponseTopic()
		rt.Topic, rt.ErrorCode = r.(*kmsg.CreateTopicsRequest).Topics[0].Topic, kerr.InvalidReplicationFactor.Code
		resp.Topics = append(resp.Topics, rt)
		return resp
	}, func() bool { return false })
	w, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithVersion(s.version), connecttest.WithGracefulTimeout(50*time.Millisecond), connecttest.WithOffsetFlushInterval(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	s.create(t, "mm2", "", s.config())
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 1))
	s.awaitStates(t, "mm2", "RUNNING/RUNNING")
	time.Sleep(200 * time.Millisecond) // time to do wrong
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 1))
}
