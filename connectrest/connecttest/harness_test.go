package connecttest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

const (
	sourceID = "c291cmNlLWNsdXN0ZXItMQ"
	targetID = "dGFyZ2V0LWNsdXN0ZXItMQ"
)

// within bounds every wait of the tests; nothing is expected to take that long.
const within = 30 * time.Second

// broker starts an embedded cluster of one broker.
func broker(t testing.TB, id string, opts ...kfake.Opt) []string {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID(id)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()
}

// stage is a worker with a source and a target cluster, whatever they run on.
type stage struct {
	url            string
	source, target []string
	version        string
	client         *http.Client
}

// embedded starts a worker on the target of two embedded clusters.
func embedded(t testing.TB, opts ...connecttest.Option) (*stage, *connecttest.Worker) {
	t.Helper()
	s := &stage{source: broker(t, sourceID), target: broker(t, targetID), version: "4.3.1"}
	w, err := connecttest.NewWorker(t.Context(), s.target, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	s.client = httpClient(t)
	return s, w
}

func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 2 * time.Minute}
}

// reply is an answer of the worker.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) String() string { return fmt.Sprintf("%d %s", r.status, r.body) }

// message is the text of an error body.
func (r reply) message() string {
	var b struct {
		Code    int    `json:"error_code"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(r.body), &b) != nil || b.Code != r.status {
		return ""
	}
	return b.Message
}

// says reports whether the text of an error body is want, or begins so when want
// ends with three dots.
func (r reply) says(want string) bool {
	begin, isPrefix := strings.CutSuffix(want, "...")
	return r.message() == want || isPrefix && strings.HasPrefix(r.message(), begin)
}

// try sends one request. A body that is no string is sent as JSON.
func (s *stage) try(ctx context.Context, method, path string, body any, header ...string) (reply, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			return reply{}, err
		}
		reader = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, reader)
	if err != nil {
		return reply{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header[header[i]] = []string{header[i+1]}
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b)}, err
}

// call sends a request, again while the worker says that it rebalances.
func (s *stage) call(t testing.TB, method, path string, body any, header ...string) (r reply) {
	t.Helper()
	await(t, "an answer from a worker that does not rebalance", func() (any, bool) {
		var err error
		if r, err = s.try(t.Context(), method, path, body, header...); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		rebalances := r.status == http.StatusConflict && !strings.HasSuffix(r.message(), " already exists") ||
			r.message() == "Request cannot be completed because a rebalance is expected"
		return r, !rebalances
	})
	return r
}

// must calls and demands a status.
func (s *stage) must(t testing.TB, want int, method, path string, body any) reply {
	t.Helper()
	r := s.call(t, method, path, body)
	if r.status != want {
		t.Fatalf("%s %s: %s, want %d", method, path, r, want)
	}
	return r
}

func decode[T any](t testing.TB, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("decode %s: %v", r, err)
	}
	return v
}

// conf is a connector's configuration.
type conf map[string]string

// config is the configuration of a cutover, with changes; an empty value removes
// a key.
func (s *stage) config(changes ...conf) conf {
	const bytes = "org.apache.kafka.connect.converters.ByteArrayConverter"
	c := conf{
		"connector.class":                  "org.apache.kafka.connect.mirror.MirrorSourceConnector",
		"tasks.max":                        "2",
		"source.cluster.alias":             "source",
		"target.cluster.alias":             "target",
		"source.cluster.bootstrap.servers": strings.Join(s.source, ","),
		"target.cluster.bootstrap.servers": strings.Join(s.target, ","),
		"topics":                           "orders",
		"replication.policy.class":         "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"replication.factor":               "1",
		"sync.topic.configs.enabled":       "false",
		"sync.topic.acls.enabled":          "false",
		"source.consumer.isolation.level":  "read_committed",
		"key.converter":                    bytes,
		"value.converter":                  bytes,
		"header.converter":                 bytes,
	}
	if s.atLeast("3.9.0") {
		c["emit.offset-syncs.enabled"] = "false"
	} else {
		c["offset-syncs.topic.replication.factor"] = "1"
	}
	for _, change := range changes {
		for k, v := range change {
			if v == "" {
				delete(c, k)
			} else {
				c[k] = v
			}
		}
	}
	return c
}

// create makes a connector and waits for its status. Before 3.7 there is no
// initial state: the connector starts with topics that match nothing, and gets
// its configuration once it is stopped.
func (s *stage) create(t testing.TB, name, state string, c conf) {
	t.Helper()
	body := map[string]any{"name": name, "config": c}
	detour := state != "" && !s.atLeast("3.7.0")
	switch {
	case detour:
		harmless := maps.Clone(c)
		harmless["topics"] = "matches-nothing"
		body["config"] = harmless
	case state != "":
		body["initial_state"] = state
	}
	s.must(t, http.StatusCreated, "POST", "/connectors", body)
	if detour {
		action := map[string]string{"STOPPED": "stop", "PAUSED": "pause"}[state]
		if r := s.call(t, "PUT", "/connectors/"+name+"/"+action, nil); r.status/100 != 2 {
			t.Fatalf("PUT %s: %s", action, r)
		}
		s.must(t, http.StatusOK, "PUT", "/connectors/"+name+"/config", c)
	}
	await(t, "a status of "+name, func() (any, bool) {
		r := s.call(t, "GET", "/connectors/"+name+"/status", nil)
		return r, r.status == http.StatusOK
	})
}

// status is GET status.
type status struct {
	Name      string
	Connector instanceStatus
	Tasks     []struct {
		ID int
		instanceStatus
	}
	Type string
}

type instanceStatus struct {
	State, Trace, Version string
	WorkerID              string `json:"worker_id"`
}

// states is the connector's state and those of its tasks, as in
// "RUNNING/RUNNING/FAILED".
func (st status) states() string {
	all := []string{st.Connector.State}
	for _, task := range st.Tasks {
		all = append(all, task.State)
	}
	return strings.Join(all, "/")
}

func (s *stage) status(t testing.TB, name string) status {
	t.Helper()
	return decode[status](t, s.must(t, http.StatusOK, "GET", "/connectors/"+name+"/status", nil))
}

// awaitStates waits for the states of a connector and its tasks.
func (s *stage) awaitStates(t testing.TB, name, want string) {
	t.Helper()
	await(t, name+" to be "+want, func() (any, bool) {
		st := s.status(t, name)
		return st, st.states() == want
	})
}

// await polls until done, within the bound, and returns the last thing seen.
func await(t testing.TB, what string, done func() (seen any, ok bool)) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		seen, ok := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s, last seen: %+v", within, what, seen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// entry is one entry of the offsets API.
type entry struct {
	Partition map[string]any  `json:"partition"`
	Offset    json.RawMessage `json:"offset"`
}

// at is an entry that sets M, or clears it when m is negative.
func at(topic string, partition int, m int64) entry {
	e := entry{map[string]any{"cluster": "source", "topic": topic, "partition": partition}, json.RawMessage("null")}
	if m >= 0 {
		e.Offset = json.RawMessage(fmt.Sprintf(`{"offset":%d}`, m))
	}
	return e
}

func entries(e ...entry) map[string]any { return map[string]any{"offsets": e} }

// offsets is GET offsets, as "cluster/topic/partition" to the offset's JSON.
func (s *stage) offsets(t testing.TB, name string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	var body struct{ Offsets []entry }
	// A worker may fail to read its own set of partitions while it grows.
	await(t, "the offsets of "+name, func() (any, bool) {
		r := s.call(t, "GET", "/connectors/"+name+"/offsets", nil)
		if r.status == http.StatusInternalServerError {
			return r, false
		}
		body = decode[struct{ Offsets []entry }](t, r)
		return r, true
	})
	for _, e := range body.Offsets {
		key := fmt.Sprintf("%v/%v/%v", e.Partition["cluster"], e.Partition["topic"], e.Partition["partition"])
		got[key] = string(e.Offset)
	}
	return got
}

// awaitOffsets waits until GET offsets is exactly want.
func (s *stage) awaitOffsets(t testing.TB, name string, want map[string]string) {
	t.Helper()
	await(t, fmt.Sprintf("the offsets %v", want), func() (any, bool) {
		got := s.offsets(t, name)
		return got, maps.Equal(got, want)
	})
}

func kafka(t testing.TB, brokers []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.UnknownTopicRetries(-1),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// topic creates a topic.
func topic(t testing.TB, brokers []string, name string, partitions int32, configs ...string) {
	t.Helper()
	settings := make(map[string]*string)
	for i := 0; i < len(configs); i += 2 {
		settings[configs[i]] = &configs[i+1]
	}
	cl := kafka(t, brokers)
	resp, err := kadm.NewClient(cl).CreateTopic(t.Context(), partitions, 1, settings, name)
	if err != nil || resp.Err != nil {
		t.Fatalf("create topic %s: %v %v", name, err, resp.Err)
	}
}

// produce writes records and returns when all are acknowledged.
func produce(t testing.TB, brokers []string, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := kafka(t, brokers).ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatalf("produce: %v", err)
	}
}

// epoch is the time of the first test record. A real broker deletes records by
// their own timestamps, so an old one may be gone before it is read.
var epoch = time.Now().Add(-time.Minute).Truncate(time.Millisecond)

// numbered are n records of one partition whose values are "topic/partition/i",
// counted from first.
func numbered(topic string, partition int32, first, n int) []*kgo.Record {
	var records []*kgo.Record
	for i := first; i < first+n; i++ {
		records = append(records, &kgo.Record{
			Topic: topic, Partition: partition,
			Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "%s/%d/%d", topic, partition, i),
			Timestamp: epoch.Add(time.Duration(i) * time.Millisecond),
		})
	}
	return records
}

// read returns everything that a partition holds.
func read(t testing.TB, brokers []string, topic string, partition int32) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	admin := kadm.NewClient(kafka(t, brokers))
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	start, _ := starts.Lookup(topic, partition)
	end, ok := ends.Lookup(topic, partition)
	if !ok || end.Err != nil || start.Offset == end.Offset {
		return nil
	}
	cl := kafka(t, brokers, kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().AtStart()}}))
	var records []*kgo.Record
	for {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("read %s-%d up to %d: %v", topic, partition, end.Offset, err)
		}
		done := false
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
			done = done || r.Offset >= end.Offset-1
		})
		if done {
			return records
		}
	}
}

// values are the values of the records of a partition.
func values(t testing.TB, brokers []string, topic string, partition int32) []string {
	t.Helper()
	var all []string
	for _, r := range read(t, brokers, topic, partition) {
		all = append(all, string(r.Value))
	}
	return all
}

// expected are the values of numbered.
func expected(topic string, partition int32, first, n int) []string {
	var all []string
	for _, r := range numbered(topic, partition, first, n) {
		all = append(all, string(r.Value))
	}
	return all
}

// awaitValues waits until a partition of the target holds exactly want, in
// order.
func awaitValues(t testing.TB, brokers []string, topic string, partition int32, want []string) {
	t.Helper()
	await(t, fmt.Sprintf("%d records in %s-%d", len(want), topic, partition), func() (any, bool) {
		got := values(t, brokers, topic, partition)
		return abridged(got), slices.Equal(got, want)
	})
}

func abridged(v []string) string {
	if len(v) <= 6 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%d values %v ... %v", len(v), v[:3], v[len(v)-3:])
}

// ends are the end offsets of a topic's partitions.
func ends(t testing.TB, brokers []string, topic string) []int64 {
	t.Helper()
	listed, err := kadm.NewClient(kafka(t, brokers)).ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, o := range listed.Offsets().Sorted() {
		all = append(all, o.At)
	}
	return all
}

// topics are the names of a cluster's topics.
func topics(t testing.TB, brokers []string) []string {
	t.Helper()
	cl := kafka(t, brokers)
	meta, err := kadm.NewClient(cl).Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := meta.Topics.Names()
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

func commitGroup(t testing.TB, brokers []string, group, topic string, offsets map[int32]int64) {
	t.Helper()
	var commit kadm.Offsets
	for p, o := range offsets {
		commit.AddOffset(topic, p, o, -1)
	}
	if err := kadm.NewClient(kafka(t, brokers)).CommitAllOffsets(t.Context(), group, commit); err != nil {
		t.Fatalf("commit offsets of %s: %v", group, err)
	}
}

func deleteTopics(t testing.TB, brokers []string, names ...string) {
	t.Helper()
	resp, err := kadm.NewClient(kafka(t, brokers)).DeleteTopics(t.Context(), names...)
	if err != nil || resp.Error() != nil {
		t.Fatalf("delete topics: %v %v", err, resp.Error())
	}
	await(t, "the topics to be gone", func() (any, bool) {
		have := topics(t, brokers)
		return have, !slices.ContainsFunc(have, func(n string) bool { return slices.Contains(names, n) })
	})
}

func addPartitions(t testing.TB, brokers []string, topic string, total int) {
	t.Helper()
	resp, err := kadm.NewClient(kafka(t, brokers)).UpdatePartitions(t.Context(), total, topic)
	if err != nil || resp.Error() != nil {
		t.Fatalf("add partitions to %s: %v %v", topic, err, resp.Error())
	}
}

func diff(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
