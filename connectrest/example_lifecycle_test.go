package connectrest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// failedTask stands in for a worker with a connector of which task 1 has failed,
// and runs again some time after a restart.
func failedTask() *httptest.Server {
	const before, after = `{"name":"mm2","connector":{"state":"RUNNING","worker_id":"w:8083"},"tasks":[{"id":0,"state":"RUNNING","worker_id":"w:8083"},{"id":1,"state":"`,
		`","worker_id":"w:8083"}],"type":"source"}`
	var reads atomic.Int32
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			status(200, worker39)(w, r)
		case r.Method == http.MethodPost:
			status(202, before+"RESTARTING"+after)(w, r)
		case reads.Add(1) == 1:
			status(200, before+"FAILED"+after)(w, r) // as it was
		case reads.Load() == 2:
			status(200, before+"RESTARTING"+after)(w, r)
		default:
			status(200, before+"RUNNING"+after)(w, r)
		}
	}))
}

// What has failed is restarted, and watched until all of it runs. FAILED may still
// be the state from before, so only the deadline says that it failed again; a
// connector that is STOPPED or PAUSED stays so, and is not waited for.
func ExampleClient_Restart() {
	srv := failedTask()
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	restarted, err := client.Restart(ctx, "mm2", connectrest.RestartRequest{IncludeTasks: true, OnlyFailed: true})
	if err != nil {
		log.Fatal(err) // an ErrOutcomeUnknown may have restarted it all the same
	}
	for _, t := range restarted.Tasks {
		fmt.Println("task", t.ID, t.State)
	}
	for runs := false; !runs; {
		s, err := client.Status(ctx, "mm2")
		if err != nil && !errors.Is(err, connectrest.ErrNoStatus) {
			log.Fatal(err)
		}
		if state := s.Connector.State; state == connectrest.StateStopped || state == connectrest.StatePaused {
			log.Fatalf("connector %s is %s: a restart does not change that", s.Name, state)
		}
		runs = s.Connector.State == connectrest.StateRunning && len(s.Tasks) > 0
		for _, t := range s.Tasks {
			runs = runs && t.State == connectrest.StateRunning
		}
		select {
		case <-ctx.Done():
			log.Fatalf("connector %s and its tasks do not all run: %v", s.Name, s.Tasks)
		case <-time.After(50 * time.Millisecond):
		}
	}
	fmt.Println("all run")
	// Output:
	// task 0 RUNNING
	// task 1 RESTARTING
	// all run
}

// One program for workers that have initial states and for those of 3.5 and 3.6,
// which have none.
func ExampleClient_CreateThenStop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	brokers := kfake.MustCluster(kfake.NumBrokers(1))
	defer brokers.Close()
	worker, err := connecttest.NewWorker(ctx, brokers.ListenAddrs(), connecttest.WithVersion("3.6.2"))
	if err != nil {
		log.Fatal(err)
	}
	defer worker.Close()
	client, err := connectrest.New(worker.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()

	req := connectrest.CreateRequest{
		Name: "mm2",
		Config: connectrest.Config{
			"connector.class":                  "MirrorSourceConnector",
			"source.cluster.alias":             "source",
			"source.cluster.bootstrap.servers": brokers.ListenAddrs()[0],
			"target.cluster.bootstrap.servers": brokers.ListenAddrs()[0],
			"topics":                           "orders",
		},
		InitialState: connectrest.StateStopped,
	}
	_, err = client.Create(ctx, req)
	fmt.Println(errors.Is(err, connectrest.ErrUnsupported))
	if e, ok := errors.AsType[*connectrest.UnsupportedError](err); ok {
		fmt.Println("needs", e.Needed, "found", e.Found)
	}
	info, err := client.CreateThenStop(ctx, req, connectrest.MirrorSourceIdle(req.Config))
	if err != nil {
		log.Fatal(err)
	}
	s, err := client.Status(ctx, info.Name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Connector.State, len(s.Tasks), "tasks", info.Config["topics"])
	// Output:
	// true
	// needs 3.7.0 found 3.6.2
	// STOPPED 0 tasks orders
}
