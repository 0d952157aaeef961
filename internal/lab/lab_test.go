package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// patience bounds every wait: no test measures time, so it only has to be longer than the slowest machine.
const patience = 2 * time.Minute

// TestCopyBeginsBehindTheStoredOffsetAndOutlivesTheWorker is the proof of the stage: real brokers, a real worker, a
// real connector that is created STOPPED, given its offsets and resumed, and a worker that dies meanwhile.
func TestCopyBeginsBehindTheStoredOffsetAndOutlivesTheWorker(t *testing.T) {
	l := stage.Get(t)
	topic, connector := l.TopicName(t, "orders"), l.ConnectorName(t, "mm2")
	const records = 300
	// The next offset per partition: in the middle, after the first record, at the beginning, at the end.
	next := []int{100, 1, 0, records}
	source, target := client(t, l.Source), client(t, l.Target)
	createTopic(t, source, topic, len(next))
	createTopic(t, target, topic, len(next))
	for p := range next {
		produce(t, source, topic, p, 0, records)
	}

	createStopped(t, l, connector, topic)
	var offsets []map[string]any
	for p, c := range next {
		offset := any(nil)
		if c > 0 {
			offset = map[string]int{"offset": c - 1}
		}
		offsets = append(offsets, map[string]any{
			"partition": map[string]any{"cluster": "source", "topic": topic, "partition": p}, "offset": offset,
		})
	}
	call(t, http.MethodPatch, l.Worker.RESTURL+"/connectors/"+connector+"/offsets", map[string]any{"offsets": offsets}, http.StatusOK)
	call(t, http.MethodPut, l.Worker.RESTURL+"/connectors/"+connector+"/resume", nil, http.StatusAccepted)

	got := copied(t, l.Target, topic, next, records)
	for p, c := range next {
		if diff := cmp.Diff(values(p, c, records), got[p]); diff != "" {
			t.Errorf("partition %d after the resume (-want +got):\n%s", p, diff)
		}
	}

	l.Worker.Kill(t)
	const more = 50
	for p := range next {
		produce(t, source, topic, p, records, records+more)
	}
	l.Worker.Start(t)
	got = copied(t, l.Target, topic, next, records+more)
	for p, c := range next {
		// The worker died before its first commit, so it begins again behind the stored offset.
		if got[p][0] != value(p, c) {
			t.Errorf("partition %d: the first record is %q, want %q", p, got[p][0], value(p, c))
		}
		seen := map[string]bool{}
		for _, v := range got[p] {
			seen[v] = true
		}
		for _, want := range values(p, c, records+more) {
			if !seen[want] {
				t.Errorf("partition %d: record %q is missing after the restart", p, want)
			}
		}
		if want := records + more - c; len(seen) != want {
			t.Errorf("partition %d: %d different records, want %d", p, len(seen), want)
		}
	}
}

func TestMoreWorkers(t *testing.T) {
	l := stage.Get(t)
	if got := clusterID(t, l.Worker); got != TargetClusterID {
		t.Errorf("the worker is on cluster %q, want the target %q", got, TargetClusterID)
	}
	connector := l.ConnectorName(t, "mm2")
	createStopped(t, l, connector, "none")
	find := func(w *Worker) int {
		status, _ := request(t, http.MethodGet, w.RESTURL+"/connectors/"+connector, nil)
		return status
	}
	t.Run("same group", func(t *testing.T) {
		second := l.StartWorker(t, WorkerOptions{})
		eventually(t, "the second worker knows the connector of the first", func() bool { return find(second) == http.StatusOK })
	})
	t.Run("on the source", func(t *testing.T) {
		wrong := l.StartWorker(t, WorkerOptions{Bootstrap: l.Source.Bootstrap})
		if got := clusterID(t, wrong); got != SourceClusterID {
			t.Errorf("it is on cluster %q, want the source %q", got, SourceClusterID)
		}
		if got := find(wrong); got != http.StatusNotFound {
			t.Errorf("it answers %d for a connector of another Connect cluster, want 404", got)
		}
	})
	t.Run("of another release and group", func(t *testing.T) {
		old := l.StartWorker(t, WorkerOptions{Version: "3.9.2", Group: "old", OffsetFlushInterval: time.Second})
		if got := info(t, old)["version"]; got != "3.9.2" {
			t.Errorf("it says that it is %v, want 3.9.2", got)
		}
		if got := find(old); got != http.StatusNotFound {
			t.Errorf("it answers %d for a connector of another group, want 404", got)
		}
	})
	t.Run("of an invalid configuration", func(t *testing.T) {
		got := judge(t, func(v testing.TB) {
			l.StartWorker(v, WorkerOptions{Properties: Properties{"offset.flush.interval.ms": "soon"}})
		})
		for _, f := range got.cleanup {
			f()
		}
		if got.outcome != "failed" || !strings.Contains(got.message, "ended while starting") || !strings.Contains(got.message, "Invalid value soon") {
			t.Errorf("%s: %s", got.outcome, got.message)
		}
	})
	if n := len(l.all()); n != 3 {
		t.Errorf("%d processes are left, want the brokers and the first worker", n)
	}
}

func TestBrokerKeepsAddressAndRecordsOverACrash(t *testing.T) {
	l := stage.Get(t)
	topic := l.TopicName(t, "kept")
	cl := client(t, l.Source)
	createTopic(t, cl, topic, 1)
	produce(t, cl, topic, 0, 0, 10)
	address := l.Source.Bootstrap
	l.Source.Kill(t)
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("somebody answers at the address of a killed broker")
	}
	l.Source.Start(t)
	produce(t, cl, topic, 0, 10, 20)
	ends, err := kadm.NewClient(cl).ListEndOffsets(t.Context(), topic)
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	if end, _ := ends.Lookup(topic, 0); end.Offset != 20 || l.Source.Bootstrap != address {
		t.Errorf("end offset %d at %s, want 20 at %s", end.Offset, l.Source.Bootstrap, address)
	}
}

func TestSuspendedBrokerHangsUntilItContinues(t *testing.T) {
	l := stage.Get(t)
	l.Target.Suspend(t)
	// The signal reaches the threads of a process one after the other: one may still
	// answer.
	var err error
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		err = client(t, l.Target).Ping(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a suspended broker answers: %v", err)
	}
	l.Target.Continue(t)
	if err := client(t, l.Target).Ping(t.Context()); err != nil {
		t.Errorf("a broker that continues does not answer: %v", err)
	}
}

func TestSharedStageIsWholeAndCleanForTheNextTest(t *testing.T) {
	l := stage.Get(t)
	var connector string
	t.Run("a test that leaves the stage in pieces", func(t *testing.T) {
		connector = l.ConnectorName(t, "mm2")
		createStopped(t, l, connector, "none")
		l.Worker.Stop(t)
	})
	if again := stage.Get(t); again != l || !l.Worker.Running() {
		t.Fatalf("another stage, or no worker: %p, %p, %t", again, l, l.Worker.Running())
	}
	if status, body := request(t, http.MethodGet, l.Worker.RESTURL+"/connectors/"+connector, nil); status != http.StatusNotFound {
		t.Errorf("the connector of the test before is still there: %d %s", status, body)
	}
	l.Source.Stop(t)
	l.Worker.Stop(t)
	stage.Get(t)
	if err := client(t, l.Source).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNamesAreTheirOwnAndPlain(t *testing.T) {
	l := &Lab{}
	t.Run("With/Odd Chars+"+strings.Repeat("long", 40), func(t *testing.T) {
		a, b := l.TopicName(t, "orders"), l.TopicName(t, "orders")
		if a == b || !strings.HasPrefix(a, "orders-testnames") || len(a) > 100 || notInNames.MatchString(strings.ReplaceAll(a, "-", "")) {
			t.Errorf("%q, %q", a, b)
		}
	})
}

// TestOlderReleaseStartsAlthoughItsPortsAreTaken also holds that nothing of a stage outlives its test.
func TestOlderReleaseStartsAlthoughItsPortsAreTaken(t *testing.T) {
	Require(t, JVM)
	var taken []net.Listener
	t.Cleanup(func() {
		for _, l := range taken {
			l.Close()
		}
	})
	// Each process gets a port first that a listener of this test holds. The brokers ask side by side for two each.
	type answer struct {
		port    int
		release func()
		err     error
	}
	ports := make(chan answer)
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			var a answer
			if n < 2 {
				l, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
				if err == nil {
					taken = append(taken, l)
					a.port = l.Addr().(*net.TCPAddr).Port
				}
				a.release, a.err = func() {}, err
			} else {
				a.port, a.release, a.err = reservePort()
			}
			select {
			case ports <- a:
			case <-ctx.Done():
				return
			}
		}
	}()
	reserve := func() (int, func(), error) {
		a := <-ports
		return a.port, a.release, a.err
	}
	var l *Lab
	t.Run("stage", func(t *testing.T) {
		l = start(t, Options{Version: "3.9.2", Worker: Properties{"client.id": "seen"}, OffsetFlushInterval: 5 * time.Second}, reserve)
		if got := info(t, l.Worker); got["version"] != "3.9.2" || got["kafka_cluster_id"] != TargetClusterID {
			t.Errorf("the worker says %v", got)
		}
		if log := l.Source.Log() + l.Target.Log(); !portTaken.MatchString(log) {
			t.Error("no broker met a taken port")
		}
		for _, want := range []string{"client.id = seen", "offset.flush.interval.ms = 5000"} {
			if !strings.Contains(l.Worker.Log(), want) {
				t.Errorf("the worker's log lacks %q", want)
			}
		}
	})
	for _, p := range l.all() {
		if p.Running() {
			t.Errorf("%s outlived its test", p.Name())
		}
	}
	if _, err := os.Stat(l.dir); !os.IsNotExist(err) {
		t.Errorf("the folder of the stage is still there: %v", err)
	}
}

func value(p, offset int) string { return fmt.Sprintf("%d/%d", p, offset) }

func values(p, from, to int) []string {
	var vs []string
	for o := from; o < to; o++ {
		vs = append(vs, value(p, o))
	}
	return vs
}

func client(t *testing.T, b *Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(b.Bootstrap), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func createTopic(t *testing.T, cl *kgo.Client, topic string, partitions int) {
	t.Helper()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), int32(partitions), 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

func produce(t *testing.T, cl *kgo.Client, topic string, p, from, to int) {
	t.Helper()
	var records []*kgo.Record
	for _, v := range values(p, from, to) {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(p), Value: []byte(v)})
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// copied reads a topic from its beginning until every partition has the record before end, unless next says that none
// is to come.
func copied(t *testing.T, b *Broker, topic string, next []int, end int) [][]string {
	t.Helper()
	from, missing := map[int32]kgo.Offset{}, map[string]bool{}
	for p, c := range next {
		from[int32(p)] = kgo.NewOffset().AtStart()
		if c < end {
			missing[value(p, end-1)] = true
		}
	}
	cl := client(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got := make([][]string, len(next))
	for len(missing) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("waiting for %v: %v", missing, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			got[r.Partition] = append(got[r.Partition], string(r.Value))
			delete(missing, string(r.Value))
		})
	}
	return got
}

// createStopped creates a connector and waits until the worker says that it is stopped and has no task.
func createStopped(t *testing.T, l *Lab, name, topic string) {
	t.Helper()
	const bytesConverter = "org.apache.kafka.connect.converters.ByteArrayConverter"
	call(t, http.MethodPost, l.Worker.RESTURL+"/connectors", map[string]any{
		"name": name, "initial_state": "STOPPED", "config": map[string]string{
			"connector.class":                  "org.apache.kafka.connect.mirror.MirrorSourceConnector",
			"tasks.max":                        "2",
			"source.cluster.alias":             "source",
			"target.cluster.alias":             "target",
			"source.cluster.bootstrap.servers": l.Source.Bootstrap,
			"target.cluster.bootstrap.servers": l.Target.Bootstrap,
			"topics":                           topic,
			"replication.policy.class":         "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
			"replication.factor":               "1",
			"emit.offset-syncs.enabled":        "false",
			"sync.topic.configs.enabled":       "false",
			"sync.topic.acls.enabled":          "false",
			"key.converter":                    bytesConverter,
			"value.converter":                  bytesConverter,
			"header.converter":                 bytesConverter,
		},
	}, http.StatusCreated)
	eventually(t, name+" is stopped", func() bool {
		status, body := request(t, http.MethodGet, l.Worker.RESTURL+"/connectors/"+name+"/status", nil)
		var s struct {
			Connector struct{ State string }
			Tasks     []any
		}
		return status == http.StatusOK && json.Unmarshal(body, &s) == nil && s.Connector.State == "STOPPED" && len(s.Tasks) == 0
	})
}

func info(t *testing.T, w *Worker) map[string]any {
	t.Helper()
	status, body := request(t, http.MethodGet, w.RESTURL+"/", nil)
	got := map[string]any{}
	if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
		t.Fatalf("GET / of %s: %d %s: %v", w.Name(), status, body, err)
	}
	return got
}

func clusterID(t *testing.T, w *Worker) any {
	t.Helper()
	return info(t, w)["kafka_cluster_id"]
}

// call repeats a request that a rebalance refuses (409), and demands a status.
func call(t *testing.T, method, url string, body any, want int) {
	t.Helper()
	var status int
	var answer []byte
	eventually(t, method+" "+url+" is not refused", func() bool {
		status, answer = request(t, method, url, body)
		return status != http.StatusConflict
	})
	if status != want {
		t.Fatalf("%s %s: %d %s, want %d", method, url, status, answer, want)
	}
}

func request(t *testing.T, method, url string, body any) (status int, answer []byte) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
