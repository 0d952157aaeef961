package connecttest_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// The whole cutover by this project's client, with a fault at each of its
// writes: whatever the worker answered, the work is done once.
func TestClientCarriesACutoverThroughFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]func(connecttest.Requests) connecttest.Fault{
		"answer lost":  func(r connecttest.Requests) connecttest.Fault { return connecttest.LoseAnswer{Requests: r} },
		"request lost": func(r connecttest.Requests) connecttest.Fault { return connecttest.LoseRequest{Requests: r} },
		"answer cut":   func(r connecttest.Requests) connecttest.Fault { return connecttest.CutAnswer{Requests: r} },
		"rebalance":    func(r connecttest.Requests) connecttest.Fault { r.Times = 2; return connecttest.Rebalance{Requests: r} },
		"forwarding failed on the way back": func(r connecttest.Requests) connecttest.Fault {
			return connecttest.ForwardingFailure{Requests: r, AfterWork: true}
		},
		"timeout, done": func(r connecttest.Requests) connecttest.Fault {
			return connecttest.RequestTimeout{Requests: r, AfterWork: true}
		},
		"a page to sign in at, with 200": func(r connecttest.Requests) connecttest.Fault {
			return connecttest.ProxyPage{Requests: r, Status: http.StatusOK}
		},
		"worker starts": func(r connecttest.Requests) connecttest.Fault { return connecttest.Starting{Requests: r} },
	}
	writes := map[string]connecttest.Requests{
		"create": {Method: "POST", Path: "/connectors", Times: 1},
		"alter":  {Method: "PATCH", Path: "/connectors/*/offsets", Times: 1},
		"stop":   {Method: "PUT", Path: "/connectors/*/stop", Times: 1},
	}
	for fault, inject := range faults {
		for write, requests := range writes {
			t.Run(fmt.Sprintf("%s at %s", fault, write), func(t *testing.T) {
				t.Parallel()
				s, w := embedded(t)
				topic(t, s.source, "orders", 1)
				produce(t, s.source, numbered("orders", 0, 0, 10)...)
				client, err := connectrest.New(w.URL, connectrest.WithRetry(connectrest.RetryPolicy{MinPause: 5 * time.Millisecond, MaxPause: 20 * time.Millisecond, ReadBack: 2 * time.Second}))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(client.CloseIdleConnections)
				injected := w.Inject(inject(requests))
				must := func(what string, err error) {
					t.Helper()
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
				ctx := t.Context()
				_, err = client.Create(ctx, connectrest.CreateRequest{Name: "mm2", Config: connectrest.Config(s.config()), InitialState: connectrest.StateStopped})
				must("create", err)
				_, err = client.AwaitStopped(ctx, "mm2")
				must("await stopped", err)
				want := []connectrest.Offset{{Partition: []byte(`{"cluster":"source","topic":"orders","partition":0}`), Offset: []byte(`{"offset":3}`)}}
				must("alter", client.AlterOffsets(ctx, "mm2", want))
				_, err = client.AwaitOffsets(ctx, "mm2", func(got []connectrest.Offset) error { return connectrest.DiffOffsets(want, got) }, within)
				must("read back", err)
				must("resume", client.Resume(ctx, "mm2"))
				awaitValues(t, s.target, "orders", 0, expected("orders", 0, 4, 6))
				must("stop", client.Stop(ctx, "mm2"))
				_, err = client.AwaitStopped(ctx, "mm2")
				must("await stopped", err)
				s.awaitOffsets(t, "mm2", map[string]string{"source/orders/0": `{"offset":9}`})
				if injected.Hits() == 0 {
					t.Error("the fault never took effect")
				}
			})
		}
	}
}

// The client tells the meanings of a real worker's texts apart.
func TestClientReadsTheWorkersTexts(t *testing.T) {
	s, w := stopped(t)
	client, err := connectrest.New(w.URL, connectrest.WithRetry(connectrest.RetryPolicy{Budget: -1, ReadBack: time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	ctx := t.Context()
	offset := func(o string) []connectrest.Offset {
		return []connectrest.Offset{{Partition: []byte(`{"cluster":"source","topic":"orders","partition":0}`), Offset: []byte(o)}}
	}
	s.create(t, "running", "", s.config(conf{"topics": "nothing"}))
	for _, c := range []struct {
		name string
		call func() error
		want error
	}{
		{"no such connector", func() error { _, err := client.Config(ctx, "nobody"); return err }, connectrest.ErrNotFound},
		{"no such connector to stop", func() error { return client.Stop(ctx, "nobody") }, connectrest.ErrNotFound},
		{"name taken", func() error {
			_, err := client.Create(ctx, connectrest.CreateRequest{Name: "mm2", Config: connectrest.Config(s.config()), InitialState: connectrest.StateStopped})
			return err
		}, connectrest.ErrExists},
		{"bad configuration", func() error {
			_, err := client.Create(ctx, connectrest.CreateRequest{Name: "new", Config: connectrest.Config(s.config(conf{"tasks.max": "0"})), InitialState: connectrest.StateStopped})
			return err
		}, connectrest.ErrBadRequest},
		{"negative offset", func() error { return client.AlterOffsets(ctx, "mm2", offset(`{"offset":-1}`)) }, connectrest.ErrRejected},
		{"offset as text", func() error { return client.AlterOffsets(ctx, "mm2", offset(`{"offset":"1"}`)) }, connectrest.ErrRejected},
		{"not stopped", func() error { return client.AlterOffsets(ctx, "running", offset(`{"offset":1}`)) }, connectrest.ErrNotStopped},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
