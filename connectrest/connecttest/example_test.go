package connecttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// A connector is created STOPPED, told where to start, and resumed: it copies
// from M + 1 on.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	// Two clusters in memory, and a worker on the target.
	source := kfake.MustCluster(kfake.NumBrokers(1), kfake.ClusterID("source"), kfake.SeedTopics(1, "orders"))
	defer source.Close()
	target := kfake.MustCluster(kfake.NumBrokers(1), kfake.ClusterID("target"), kfake.SeedTopics(1, "orders"))
	defer target.Close()
	worker, err := connecttest.NewWorker(ctx, target.ListenAddrs())
	if err != nil {
		log.Fatal(err)
	}
	defer worker.Close()

	producer, err := kgo.NewClient(kgo.SeedBrokers(source.ListenAddrs()...), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()
	for i := range 10 {
		if err := producer.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint("order ", i))).FirstErr(); err != nil {
			log.Fatal(err)
		}
	}

	// What a program under test would do, here by hand.
	call := func(method, path, body string) {
		req, err := http.NewRequestWithContext(ctx, method, worker.URL+path, bytes.NewBufferString(body))
		if err != nil {
			log.Fatal(err)
		}
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			log.Fatal(err)
		}
		fmt.Println(method, path, resp.StatusCode)
	}
	const bytesOnly = "org.apache.kafka.connect.converters.ByteArrayConverter"
	create, err := json.Marshal(map[string]any{"name": "mm2", "initial_state": "STOPPED", "config": map[string]string{
		"connector.class":                  "MirrorSourceConnector",
		"source.cluster.alias":             "source",
		"source.cluster.bootstrap.servers": source.ListenAddrs()[0],
		"target.cluster.bootstrap.servers": target.ListenAddrs()[0],
		"topics":                           "orders",
		"replication.policy.class":         "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
		"emit.offset-syncs.enabled":        "false",
		"key.converter":                    bytesOnly, "value.converter": bytesOnly, "header.converter": bytesOnly,
	}})
	if err != nil {
		log.Fatal(err)
	}
	call("POST", "/connectors", string(create))
	call("PATCH", "/connectors/mm2/offsets", `{"offsets":[{"partition":{"cluster":"source","topic":"orders","partition":0},"offset":{"offset":6}}]}`)
	call("PUT", "/connectors/mm2/resume", "")

	// The proof is on the target.
	consumer, err := kgo.NewClient(kgo.SeedBrokers(target.ListenAddrs()...), kgo.ConsumeTopics("orders"))
	if err != nil {
		log.Fatal(err)
	}
	defer consumer.Close()
	for n := 0; n < 3; {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			log.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			fmt.Println(string(r.Value))
			n++
		})
	}
	// Output:
	// POST /connectors 201
	// PATCH /connectors/mm2/offsets 200
	// PUT /connectors/mm2/resume 202
	// order 7
	// order 8
	// order 9
}

// A client of the REST API is shown an answer that was lost after the work was
// done: it must not take the error for "nothing happened".
func ExampleWorker_Inject() {
	ctx := context.Background()
	brokers := kfake.MustCluster(kfake.NumBrokers(1))
	defer brokers.Close()
	worker, err := connecttest.NewWorker(ctx, brokers.ListenAddrs())
	if err != nil {
		log.Fatal(err)
	}
	defer worker.Close()

	fault := worker.Inject(connecttest.LoseAnswer{Requests: connecttest.Requests{
		Method: "PUT", Path: "/connectors/*/topics/reset", Times: 1,
	}})
	put := func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, worker.URL+"/connectors/mm2/topics/reset", http.NoBody)
		if err != nil {
			log.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println("no answer; hits:", fault.Hits())
			return
		}
		defer resp.Body.Close()
		fmt.Println(resp.StatusCode)
	}
	put()
	put()
	// Output:
	// no answer; hits: 1
	// 202
}
