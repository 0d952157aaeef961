package connectrest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// worker stands in for a Kafka Connect worker that has one stopped connector.
func worker() *httptest.Server {
	answers := map[string]reply{
		"GET /":                               status(200, worker39),
		"GET /connectors/mm2":                 status(200, created),
		"GET /connectors/nosuch":              refuse(404, "Connector nosuch not found"),
		"GET /connectors/flink to mm2":        refuse(404, "Connector flink to mm2 not found"),
		"POST /connectors":                    status(201, `{"name":"flink to mm2","config":{"connector.class":"x","name":"flink to mm2"},"tasks":[],"type":"source"}`),
		"GET /connectors/flink to mm2/status": status(200, `{"name":"flink to mm2","connector":{"state":"STOPPED","worker_id":"w:8083"},"tasks":[],"type":"source"}`),
		"GET /connectors/mm2/status":          status(200, stopped),
		"PATCH /connectors/mm2/offsets":       status(200, `{"message":"The offsets for this connector have been altered successfully"}`),
		"GET /connectors/mm2/offsets":         status(200, `{"offsets":[{"partition":{"cluster":"source","partition":0,"topic":"orders"},"offset":{"offset":399}}]}`),
		"GET /connectors/renamed/offsets":     status(200, `{"offsets":[{"partition":{"cluster":"source","partition":0,"topic":"orders"},"offset":{"offset":399}},{"partition":{"cluster":"old","partition":0,"topic":"orders"},"offset":{"offset":7}}]}`),
		"PUT /connectors/mm2/stop":            status(204, ""),
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.Method+" "+r.URL.Path]; ok {
			answer(w, r)
			return
		}
		refuse(404, "HTTP 404 Not Found")(w, r)
	}))
}

func ExampleClient_Create() {
	srv := worker()
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Create(context.Background(), connectrest.CreateRequest{
		Name:         "flink to mm2",
		Config:       connectrest.Config{"connector.class": "MirrorSourceConnector", "source.cluster.sasl.jaas.config": "…"},
		InitialState: connectrest.StateStopped,
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleClient_AlterOffsets() {
	srv := worker()
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	// The old job would have read record 400 next.
	next, err := offsetmap.Next(400)
	if err != nil {
		log.Fatal(err)
	}
	write, err := next.Write()
	if err != nil {
		log.Fatal(err)
	}
	offsets, err := connectrest.MirrorSourceWrites("source", map[offsetmap.TopicPartition]offsetmap.Write{
		{Topic: "orders", Partition: 0}: write,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %s\n", offsets[0].Partition, offsets[0].Offset)

	if err := client.Stop(ctx, "mm2"); err != nil {
		log.Fatal(err)
	}
	if _, err := client.AwaitStopped(ctx, "mm2"); err != nil {
		log.Fatal(err)
	}
	if err := client.AlterOffsets(ctx, "mm2", offsets); err != nil {
		log.Fatal(err)
	}
	stored, err := client.AwaitOffsets(ctx, "mm2", func(got []connectrest.Offset) error {
		return connectrest.DiffOffsets(offsets, got)
	}, 30*time.Second)
	fmt.Println(len(stored), "stored:", err)
	// Output:
	// {"cluster":"source","topic":"orders","partition":0} {"offset":399}
	// 1 stored: <nil>
}

func ExampleMirrorSourceOffsets() {
	srv := worker()
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	offsets, err := client.Offsets(context.Background(), "renamed")
	if err != nil {
		log.Fatal(err)
	}
	mirror, err := connectrest.MirrorSourceOffsets("source", offsets)
	if err != nil {
		log.Fatal(err)
	}
	for tp, m := range mirror.Stored {
		fmt.Println(tp, "goes on at", m.Next())
	}
	for _, f := range mirror.Foreign {
		fmt.Println(f)
	}
	// Output:
	// orders-0 goes on at 400
	// {"cluster":"old","partition":0,"topic":"orders"}: {"offset":7}: "cluster" is "old", not "source"
}

func ExampleError() {
	srv := worker()
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Connector(context.Background(), "nosuch")
	fmt.Println(errors.Is(err, connectrest.ErrNotFound))
	if e, ok := errors.AsType[*connectrest.Error](err); ok {
		fmt.Println(e.StatusCode, e.Message)
	}
	// Output:
	// true
	// 404 Connector nosuch not found
}

func ExampleParseVersion() {
	for _, text := range []string{"3.9.2", "3.7.0.redhat-00007", "7.6.1-ccs", "unknown"} {
		v, err := connectrest.ParseVersion(text)
		fmt.Println(v, v.AtLeast(3, 7), err)
	}
	// Output:
	// 3.9.2 true <nil>
	// 3.7.0.redhat-00007 true <nil>
	// 7.6.1-ccs false <nil>
	// unknown false not a version of Kafka: "unknown"
}
