package connectrest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// storedBy stands in for a worker that stores the given offsets for connector
// "x", and prints what it is sent.
func storedBy(offsets string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			status(200, `{"offsets":[`+offsets+`]}`)(w, r)
			return
		}
		var body struct {
			Offsets []json.RawMessage `json:"offsets"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		for _, o := range body.Offsets {
			fmt.Printf("sent %s\n", o)
		}
		status(200, `{"message":"altered"}`)(w, r)
	}))
}

// A sink connector's offsets are those of its consumer group: the next offset
// to read of each partition.
func ExampleClient_Offsets_sink() {
	srv := storedBy(`{"partition":{"kafka_topic":"orders","kafka_partition":0},"offset":{"kafka_offset":9007199254740993}}`)
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	offsets, err := client.Offsets(context.Background(), "x")
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range offsets {
		var partition struct {
			Topic     string `json:"kafka_topic"`
			Partition int32  `json:"kafka_partition"`
		}
		var offset struct {
			Next int64 `json:"kafka_offset"`
		}
		if err := errors.Join(json.Unmarshal(o.Partition, &partition), json.Unmarshal(o.Offset, &offset)); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s-%d goes on at %d\n", partition.Topic, partition.Partition, offset.Next)
	}
	// Output: orders-0 goes on at 9007199254740993
}

// A Debezium connector keeps a place in the database's log, in a form of its
// own. Deleting it makes the connector take a snapshot again.
func ExampleClient_Offsets_debezium() {
	srv := storedBy(`{"partition":{"server":"shop"},"offset":{"ts_sec":1700000000,"file":"mysql-bin.000003","pos":1157,"snapshot":true}}`)
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	offsets, err := client.Offsets(context.Background(), "x")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("stored %s at %s\n", offsets[0].Partition, offsets[0].Offset)
	if err := client.AlterOffsets(context.Background(), "x", []connectrest.Offset{offsets[0].Clear()}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// stored {"server":"shop"} at {"ts_sec":1700000000,"file":"mysql-bin.000003","pos":1157,"snapshot":true}
	// sent {"partition":{"server":"shop"},"offset":null}
}

// The JDBC source connector keeps the last id and time that it saw of each table.
func ExampleClient_AlterOffsets_jdbc() {
	srv := storedBy(``)
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	err = client.AlterOffsets(context.Background(), "x", []connectrest.Offset{{
		Partition: json.RawMessage(`{"protocol":"1","table":"shop.orders"}`),
		Offset:    json.RawMessage(`{"incrementing":12345,"timestamp_nanos":0,"timestamp":1700000000000}`),
	}})
	fmt.Println(err)
	// Output:
	// sent {"partition":{"protocol":"1","table":"shop.orders"},"offset":{"incrementing":12345,"timestamp_nanos":0,"timestamp":1700000000000}}
	// <nil>
}
