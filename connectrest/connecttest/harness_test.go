package connecttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"

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

	// Of the conformance suite:
	kill      func(*testing.T) // as SIGKILL does
	join      func() *stage    // starts the second worker
	untracked func() *stage    // a worker that does not track topics
	joined    *stage
	// misadvertised starts two workers of a cluster of their own, joined, each of
	// which advertises an address at which nobody listens.
	misadvertised func(*testing.T) *stage
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
		if header[i+1] == "" {
			req.Header.Del(header[i])
		} else {
			req.Header[header[i]] = []string{header[i+1]}
		}
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b)}, err
}

// call sends a request, again while the worker says that it cannot act now and has
// done nothing.
func (s *stage) call(t testing.TB, method, path string, body any, header ...string) (r reply) {
	t.Helper()
	await(t, "an answer from a worker that does not rebalance", func() (any, bool) {
		var err error
		if r, err = s.try(t.Context(), method, path, body, header...); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		busy := r.status == http.StatusConflict && !strings.HasSuffix(r.message(), " already exists") ||
			r.message() == "Request cannot be completed because a rebalance is expected" ||
			r.message() == "Failed to read to end of config topic before modifying connector offsets" // within 3 s
		return r, !busy
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
	s.awaitStatus(t, name)
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

// awaitStatus waits until the worker knows a status of a connector: it may be new,
// or the worker.
func (s *stage) awaitStatus(t testing.TB, name string) {
	t.Helper()
	await(t, "a status of "+name+" at "+s.url, func() (any, bool) {
		r := s.call(t, "GET", "/connectors/"+name+"/status", nil)
		return r, r.status == http.StatusOK
	})
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

func diff(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
