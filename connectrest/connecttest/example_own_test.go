package connecttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// moveTo is a program under test: it makes a STOPPED connector continue at an
// offset. An answer that is lost tells nothing, so it reads before it says
// anything, and writes again only what is not there.
func moveTo(ctx context.Context, base, connector string, partition map[string]any, m int64) error {
	url := base + "/connectors/" + connector + "/offsets"
	want := map[string]any{"partition": partition, "offset": map[string]int64{"offset": m}}
	body, err := json.Marshal(map[string]any{"offsets": []any{want}})
	if err != nil {
		return err
	}
	for range 3 {
		var refused error
		if status, _, err := send(ctx, http.MethodPatch, url, string(body)); err == nil && status/100 == 4 {
			refused = fmt.Errorf("alter the offsets of %s: %d %s", connector, status, http.StatusText(status))
		}
		_, answer, err := send(ctx, http.MethodGet, url, "")
		if err != nil {
			return errors.Join(refused, err)
		}
		var stored struct {
			Offsets []struct{ Offset map[string]int64 }
		}
		if err := json.Unmarshal(answer, &stored); err != nil {
			return errors.Join(refused, err)
		}
		if len(stored.Offsets) == 1 && stored.Offsets[0].Offset["offset"] == m {
			return nil
		}
		if refused != nil {
			return refused
		}
	}
	return fmt.Errorf("alter the offsets of %s: not there after three attempts", connector)
}

func send(ctx context.Context, method, url, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// A test of one's own program: the same call against each thing that goes wrong.
// In a test function the worker would be closed by t.Cleanup, and a fault that
// never took effect would fail the test.
func Example_ownTest() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	brokers := kfake.MustCluster(kfake.NumBrokers(1))
	defer brokers.Close()

	writes := connecttest.Requests{Method: http.MethodPatch, Path: "/connectors/*/offsets", Times: 1}
	reads := connecttest.Requests{Method: http.MethodGet, Path: "/connectors/*/offsets", Times: 1}
	for _, c := range []struct {
		name  string
		fault connecttest.Fault
	}{
		{"answer lost after the write", connecttest.LoseAnswer{Requests: writes}},
		{"leader out of reach", connecttest.ForwardingFailure{Requests: writes}},
		{"given up, and written later", connecttest.RequestTimeout{Requests: writes, WorkAfter: time.Millisecond}},
		{"stale view of the worker", connecttest.StaleOffsets{Requests: reads}},
		{"a proxy that is in the way", connecttest.ProxyPage{Requests: writes, Status: http.StatusForbidden}},
	} {
		worker, err := connecttest.NewWorker(ctx, brokers.ListenAddrs())
		if err != nil {
			log.Fatal(err)
		}
		if _, _, err := send(ctx, http.MethodPost, worker.URL+"/connectors", `{"name":"mm2","initial_state":"STOPPED","config":{
			"connector.class":"MirrorSourceConnector","source.cluster.alias":"source","topics":"orders"}}`); err != nil {
			log.Fatal(err)
		}
		fault := worker.Inject(c.fault)
		err = moveTo(ctx, worker.URL, "mm2", map[string]any{"cluster": "source", "topic": "orders", "partition": 0}, 41)
		fmt.Printf("%s: %v, %d hit\n", c.name, err, fault.Hits())
		worker.Close()
	}
	// Output:
	// answer lost after the write: <nil>, 1 hit
	// leader out of reach: <nil>, 1 hit
	// given up, and written later: <nil>, 1 hit
	// stale view of the worker: <nil>, 1 hit
	// a proxy that is in the way: alter the offsets of mm2: 403 Forbidden, 1 hit
}
