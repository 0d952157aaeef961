package preflight_test

import (
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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

var (
	_ preflight.Admin   = (*kadm.Client)(nil)
	_ preflight.Connect = (*connectrest.Client)(nil)
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	connector = "mm2"
	identity  = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
	bytesOf   = "org.apache.kafka.connect.converters.ByteArrayConverter"
	password  = "correct-horse-battery"
)

// lab is a migration that is sound in every respect, on brokers and a worker
// that answer for themselves: topic orders with 2 partitions of 10 records and
// payments with 1 that is empty, on both sides, and the connector STOPPED. What the old
// job has delivered is not looked at before looks is called.
type lab struct {
	t              *testing.T
	source, target *kfake.Cluster
	from, to       *kgo.Client
	worker         *connecttest.Worker
	client         *connectrest.Client
	config         connectrest.Config
	probe          preflight.Probe
	question       preflight.Question
	checks         []preflight.Check
	root           *rootAnswer
	workerMember   *member
	records        map[offsetmap.TopicPartition][]*kgo.Record // to the source, by produce
}

// rootAnswer replaces the answer to GET /, which no fault of connecttest
// selects.
type rootAnswer struct {
	http.RoundTripper
	status int
	body   string
}

func (r *rootAnswer) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.status == 0 || strings.Trim(req.URL.Path, "/") != "" {
		return r.RoundTripper.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: r.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: int64(len(r.body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(r.body)),
	}, nil
}

// setup says in what a lab differs from the sound one before anything runs.
type setup struct {
	version  string // of the worker, 4.3.1
	reported string // what it says of its version, the same
	home     string // "target", "source" or "third": whose brokers are its bootstrap.servers
	brokers  int    // of each cluster, 1
}

func newLab(t *testing.T, s setup) *lab {
	t.Helper()
	opts := append(withACLs(), kfake.NumBrokers(max(1, s.brokers)))
	l := &lab{t: t, source: brokers(t, "source-1", opts...), target: brokers(t, "target-1", opts...)}
	l.from, l.to = l.connect(l.source), l.connect(l.target)
	for _, c := range []*kfake.Cluster{l.source, l.target} {
		l.create(c, "orders", 2)
		l.create(c, "payments", 1)
	}
	l.produce("orders", 0, 10)
	l.produce("orders", 1, 10)

	home := l.target
	switch s.home {
	case "source":
		home = l.source
	case "third":
		home = brokers(t, "third-1")
	}
	as := []connecttest.Option{connecttest.WithSettleTime(time.Millisecond)}
	if s.version != "" {
		as = append(as, connecttest.WithVersion(s.version))
	}
	if s.reported != "" {
		as = append(as, connecttest.WithVersionString(s.reported))
	}
	worker, err := connecttest.NewWorker(t.Context(), home.ListenAddrs(), as...)
	l.must(err)
	t.Cleanup(worker.Close)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	l.root = &rootAnswer{RoundTripper: transport}
	client, err := connectrest.New(worker.URL, connectrest.WithClock(&fastClock{}), connectrest.WithTransport(l.root),
		connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1}), connectrest.WithAssumedVersion(connectrest.KafkaVersion(4, 3)))
	l.must(err)
	l.worker, l.client = worker, client

	l.config = connectrest.Config{
		"connector.class":                       "org.apache.kafka.connect.mirror.MirrorSourceConnector",
		"tasks.max":                             "2",
		"source.cluster.alias":                  "source",
		"target.cluster.alias":                  "target",
		"source.cluster.bootstrap.servers":      strings.Join(l.source.ListenAddrs(), ","),
		"target.cluster.bootstrap.servers":      strings.Join(l.target.ListenAddrs(), ","),
		"topics":                                "^(orders|payments)$",
		"replication.policy.class":              identity,
		"emit.offset-syncs.enabled":             "false",
		"heartbeats.replication.enabled":        "false",
		"refresh.topics.enabled":                "true",
		"refresh.topics.interval.seconds":       "60",
		"sync.topic.configs.enabled":            "false",
		"sync.topic.acls.enabled":               "false",
		"source.consumer.auto.offset.reset":     "earliest",
		"source.consumer.isolation.level":       "read_uncommitted",
		"key.converter":                         bytesOf,
		"value.converter":                       bytesOf,
		"header.converter":                      bytesOf,
		"errors.tolerance":                      "none",
		"source.cluster.sasl.jaas.config":       `PlainLoginModule required username="mm2" password="` + password + `";`,
		"offset-syncs.topic.location":           "target",
		"offset-syncs.topic.replication.factor": "1",
	}
	if v := s.version; v == "" || v >= "3.9" {
		delete(l.config, "offset-syncs.topic.location")
		delete(l.config, "offset-syncs.topic.replication.factor")
	} else {
		delete(l.config, "emit.offset-syncs.enabled")
		delete(l.config, "heartbeats.replication.enabled")
	}
	l.put()
	l.probe = preflight.Probe{
		Source: kadm.NewClient(l.from), Target: kadm.NewClient(l.to), Connect: client,
		Connector: connector, Topics: []string{"orders", "payments"},
		ResolveProducer: preflight.ReachedBy("producer.override.bootstrap.servers", quick()...),
		ResolveSource:   preflight.ReachedBy("source.cluster.bootstrap.servers", quick()...),
		Principals:      preflight.Principals{Target: anonymous},
	}
	l.calm(home)
	l.probe.ConnectTopics = preflight.ConnectTopics{Config: "connect-configs", Offset: "connect-offsets", Status: "connect-status"}
	for name, partitions := range map[string]int32{"connect-configs": 1, "connect-offsets": 25, "connect-status": 5} {
		l.must(home.CreateTopic(name, partitions, map[string]string{"cleanup.policy": "compact"}))
	}
	l.question = question()
	l.flinkStopped()
	l.question.Positions = []offsetmap.Position{at("orders", 0, 5), at("orders", 1, 10), at("payments", 0, 0)}
	return l
}

// question attests all that has to be, of a job that was stopped with a savepoint.
func question() preflight.Question {
	return preflight.Question{
		Origin: offsetmap.FromSavepoint, Kind: flinkstate.KindStopWithSavepoint, MetadataVersion: 4,
		Location: recordedState, CheckpointID: recordedLast,
		Attestations: offsetmap.Attestations{
			CopyOnly:       attest(true),
			FlinkStopped:   attest(offsetmap.StoppedWithSavepoint),
			AutoRestartOff: attest(true),
			SinkGuarantee:  attest(offsetmap.SinkAtLeastOnce),
			Isolation:      attest(offsetmap.ReadUncommitted),
			RollbackWindow: attest("1h"),
			MaxDuplicates:  attest(int64(0)),
			Confirm:        confirmed(),
		},
	}
}

func attest[T any](v T) *offsetmap.Attestation[T] {
	return &offsetmap.Attestation[T]{Value: v, By: "ann", Reason: "read the job's code"}
}

func brokers(t *testing.T, id string, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID(id)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// quick are the options of clients that give up soon.
func quick() []kgo.Opt {
	return []kgo.Opt{kgo.RetryTimeout(300 * time.Millisecond), kgo.RequestRetries(2), kgo.RecordPartitioner(kgo.ManualPartitioner())}
}

func (l *lab) connect(c *kfake.Cluster, opts ...kgo.Opt) *kgo.Client {
	l.t.Helper()
	cl, err := kgo.NewClient(append(append(quick(), kgo.SeedBrokers(c.ListenAddrs()...)), opts...)...)
	l.must(err)
	l.t.Cleanup(cl.Close)
	return cl
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) create(c *kfake.Cluster, topic string, partitions int32) {
	l.t.Helper()
	l.must(c.CreateTopic(topic, partitions, nil))
}

func (l *lab) produce(topic string, partition int32, n int, by ...func(*kgo.Record)) {
	l.t.Helper()
	at := tp(topic, partition)
	if l.records == nil {
		l.records = map[offsetmap.TopicPartition][]*kgo.Record{}
	}
	for range n {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Appendf(nil, "%s number %d", at, len(l.records[at])), Timestamp: time.Now()}
		for _, change := range by {
			change(r)
		}
		l.must(l.from.ProduceSync(l.t.Context(), r).FirstErr())
		l.records[at] = append(l.records[at], r)
	}
}

// deliver writes records from..to-1 of what was produced to the target, as the old job
// did, each changed by the functions.
func (l *lab) deliver(topic string, partition int32, from, to int, by ...func(*kgo.Record)) {
	l.t.Helper()
	for _, r := range l.records[tp(topic, partition)][from:to] {
		c := &kgo.Record{Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp}
		for _, change := range by {
			change(c)
		}
		l.must(l.to.ProduceSync(l.t.Context(), c).FirstErr())
	}
}

// put makes the connector anew, STOPPED, with the lab's config.
func (l *lab) put() {
	l.t.Helper()
	ctx := l.t.Context()
	if _, err := l.client.Connector(ctx, connector); err == nil {
		l.must(l.client.Delete(ctx, connector))
	}
	config := maps.Clone(l.config)
	_, err := l.client.CreateThenStop(ctx, connectrest.CreateRequest{Name: connector, Config: config, InitialState: connectrest.StateStopped}, connectrest.MirrorSourceIdle(config))
	l.must(err)
	_, err = l.client.AwaitStopped(ctx, connector)
	l.must(err)
}

// set changes keys of the connector's config; an empty value removes the key.
func (l *lab) set(pairs ...string) {
	l.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		l.config[pairs[i]] = pairs[i+1]
		if pairs[i+1] == "" {
			delete(l.config, pairs[i])
		}
	}
	l.put()
}

// show lets the worker answer with a config that a real one would not have
// taken.
func (l *lab) show(config connectrest.Config) func() {
	l.t.Helper()
	return l.answer("/connectors/"+connector, connectrest.ConnectorInfo{Name: connector, Config: config, Tasks: []connectrest.TaskID{}, Type: "source"})
}

// answer lets the worker answer GET path with v, until the returned function is
// called.
func (l *lab) answer(path string, v any) func() {
	l.t.Helper()
	body, err := json.Marshal(v)
	l.must(err)
	return l.respond(path, http.StatusOK, string(body))
}

func (l *lab) respond(path string, status int, body string) func() {
	if path == "/" {
		l.root.status, l.root.body = status, body
		return func() { l.root.status = 0 }
	}
	return l.worker.Inject(connecttest.Answer{Requests: connecttest.Requests{Method: http.MethodGet, Path: path}, Status: status, Body: body}).Remove
}

// refuse lets the worker fail GET path.
func (l *lab) refuse(path string) func() {
	return l.respond(path, http.StatusForbidden, `{"error_code":403,"message":"no"}`)
}

// store writes Connect offsets, as JSON of the partition to JSON of the offset.
func (l *lab) store(entries ...string) {
	l.t.Helper()
	var list []connectrest.Offset
	for i := 0; i < len(entries); i += 2 {
		list = append(list, connectrest.Offset{Partition: json.RawMessage(entries[i]), Offset: json.RawMessage(entries[i+1])})
	}
	l.must(l.client.AlterOffsets(l.t.Context(), connector, list))
}

// judge leaves out what a sound migration was judged on, which stands in each
// report.
func (l *lab) judge() preflight.Report {
	l.t.Helper()
	r := l.whole()
	r.Findings = withoutEvidence(r.Findings)
	return r
}

func (l *lab) whole() preflight.Report {
	l.t.Helper()
	return preflight.Judge(l.observe(), l.question, l.checks...)
}

func withoutEvidence(findings []offsetmap.Finding) []offsetmap.Finding {
	return slices.DeleteFunc(findings, func(f offsetmap.Finding) bool {
		return strings.HasSuffix(f.Check, "-evidence") || f.Check == "boundary/not-looked-at"
	})
}

func (l *lab) observe() preflight.Facts {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 30*time.Second)
	defer cancel()
	l.probe.Positions = l.question.Positions
	if a := l.question.Attestations.Isolation; a != nil {
		l.probe.Isolation = a.Value
	}
	return l.probe.Survey(ctx)
}

// found returns the findings with the id.
func found(r preflight.Report, id string) []offsetmap.Finding {
	var out []offsetmap.Finding
	for _, f := range r.Findings {
		if f.Check == id {
			out = append(out, f)
		}
	}
	return out
}

// want fails unless the findings are those, each as "severity check scope".
func (l *lab) want(r preflight.Report, want ...string) {
	l.t.Helper()
	got := []string{}
	for _, f := range withoutEvidence(slices.Clone(r.Findings)) {
		got = append(got, strings.TrimSpace(string(f.Severity)+" "+f.Check+" "+f.Scope))
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		l.t.Errorf("findings (-want +got):\n%s\n%v", d, r.Findings)
	}
}

func tp(topic string, partition int32) offsetmap.TopicPartition {
	return offsetmap.TopicPartition{Topic: topic, Partition: partition}
}

func next(v int64) offsetmap.NextOffset {
	o, err := offsetmap.Next(v)
	if err != nil {
		panic(err)
	}
	return o
}

func at(topic string, partition int32, c int64) offsetmap.Position {
	return offsetmap.Position{TopicPartition: tp(topic, partition), Next: next(c)}
}

// earlier is one plan of the same connector that wrote the partitions.
func earlier(partitions ...offsetmap.EarlierPartition) []offsetmap.EarlierPlan {
	return []offsetmap.EarlierPlan{{Digest: "sha256:1", Partitions: partitions}}
}

// wrote is a partition of an earlier plan, and M as JSON.
func wrote(topic string, partition int32, m string) offsetmap.EarlierPartition {
	p := offsetmap.EarlierPartition{TopicPartition: tp(topic, partition)}
	if err := json.Unmarshal([]byte(m), &p.Offset); err != nil {
		panic(err)
	}
	return p
}

// fastClock runs ahead of the system's clock by whatever was slept.
type fastClock struct{ ahead time.Duration }

func (c *fastClock) Now() time.Time { return time.Now().Add(c.ahead) }

func (c *fastClock) Sleep(ctx context.Context, d time.Duration) error {
	c.ahead += d
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(d, 2*time.Millisecond)): // the worker works in real time
		return nil
	}
}
