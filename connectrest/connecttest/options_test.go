package connecttest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// Every client of the worker goes through the options of the test: here a dialer
// that alone knows where the clusters are.
func TestKafkaOptionsReachEveryClient(t *testing.T) {
	s := &stage{source: broker(t, sourceID), target: broker(t, targetID), version: "4.3.1", client: httpClient(t)}
	at := map[string]string{"source.example:9092": s.source[0], "target.example:9092": s.target[0]}
	var mu sync.Mutex
	dialed := make(map[string]int)
	dialer := func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		dialed[address]++
		mu.Unlock()
		if known, ok := at[address]; ok {
			address = known
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	w, err := connecttest.NewWorker(t.Context(), []string{"target.example:9092"}, connecttest.WithKafkaOptions(kgo.Dialer(dialer)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.url = w.URL
	topic(t, s.source, "orders", 1)
	produce(t, s.source, numbered("orders", 0, 0, 5)...)
	s.create(t, "mm2", "", s.config(conf{
		"source.cluster.bootstrap.servers": "source.example:9092", "target.cluster.bootstrap.servers": "target.example:9092",
	}))
	awaitValues(t, s.target, "orders", 0, expected("orders", 0, 0, 5))
	mu.Lock()
	defer mu.Unlock()
	if dialed["source.example:9092"] == 0 || dialed["target.example:9092"] == 0 {
		t.Errorf("dialed: %v", dialed)
	}
}

// A request that waits too long for the tasks to end is given up, and nothing is
// written.
func TestRequestTimeout(t *testing.T) {
	s, w := running(t, connecttest.WithRequestTimeout(50*time.Millisecond))
	w.Inject(connecttest.SlowStop{For: 500 * time.Millisecond})
	s.must(t, http.StatusNoContent, "PUT", "/connectors/mm2/stop", nil)
	s.check(t, "mm2", row{
		method: "PATCH", path: "/connectors/NAME/offsets", body: entries(at("orders", 0, 3)), status: 500,
		message: "Request timed out. The last operation the worker completed was modifying offsets for connector NAME, which began at ...",
	})
	s.awaitStates(t, "mm2", "STOPPED")
	s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`})
}

// topic.tracking.allow.reset=false shows the topics and keeps them.
func TestTopicTrackingWithoutReset(t *testing.T) {
	s, _ := running(t, connecttest.WithTopicTracking(connecttest.TrackingResetDisabled))
	s.check(t, "mm2", row{method: "PUT", path: "/connectors/NAME/topics/reset", status: 403, message: "Topic tracking reset is disabled."})
	// A topic counts once its batch has ended, which the target shows before.
	await(t, "the active topics", func() (any, bool) {
		r := s.call(t, "GET", "/connectors/mm2/topics", nil)
		return r, r.status == http.StatusOK && r.body == `{"mm2":{"topics":["orders"]}}`
	})
}

func TestListen(t *testing.T) {
	var opened []string
	listen := func(network, address string) (net.Listener, error) {
		opened = append(opened, address)
		return net.Listen(network, address)
	}
	s, w := embedded(t, connecttest.WithListen(listen))
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(t, http.StatusOK, "GET", "/", nil)
	if want := []string{"127.0.0.1:0", s.url[len("http://"):]}; fmt.Sprint(opened) != fmt.Sprint(want) {
		t.Errorf("addresses opened: %v, want %v", opened, want)
	}
	failing := func(string, string) (net.Listener, error) { return nil, net.ErrClosed }
	if _, err := connecttest.NewWorker(t.Context(), s.target, connecttest.WithListen(failing)); err == nil {
		t.Error("a worker without a port started")
	}
}
