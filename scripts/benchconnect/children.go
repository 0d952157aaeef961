package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc64"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

const connector = "flink-to-mm2"

// seen is what the server got since it was asked last.
type seen struct {
	Requests int    `json:"requests"`
	Bytes    int64  `json:"bytes"`
	Sum      uint64 `json:"sum"` // of the bodies, one after the other
}

// serve prints its URL and answers until it is killed.
func serve(ctx context.Context, _ []string, out io.Writer) error {
	var mu sync.Mutex
	var got seen
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	mux := http.NewServeMux()
	mux.HandleFunc("PATCH /connectors/{name}/offsets", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n, err := io.Copy(sum, r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		got.Requests, got.Bytes = got.Requests+1, got.Bytes+n
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"message":"The offsets for this connector have been altered successfully"}`)
	})
	mux.HandleFunc("GET /seen", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got.Sum = sum.Sum64()
		_ = json.NewEncoder(w).Encode(got)
		got = seen{}
		sum.Reset()
	})
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s\n", l.Addr()); err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	return server.Serve(l)
}

// send alters the offsets of so many partitions at a URL, in parts, and prints the
// seconds that the making of the list took, and the call: URL PARTITIONS PART.
func send(ctx context.Context, args []string, out io.Writer) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	part, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	start := time.Now()
	list := entries(n)
	made := time.Since(start)
	client, err := connectrest.New(args[0])
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := client.AlterOffsetsInParts(ctx, connector, list, connectrest.WithPartSize(part, 1<<30), connectrest.WithoutPartsReadBack()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, made.Seconds(), time.Since(begun).Seconds())
	return err
}

// entries is what is written for topics of 50 partitions, as
// connectrest.MirrorSourceWrites writes it.
func entries(n int) []connectrest.Offset {
	list := make([]connectrest.Offset, n)
	for i := range list {
		list[i] = connectrest.Offset{
			Partition: fmt.Appendf(nil, `{"cluster":"source","topic":"region.orders-%04d","partition":%d}`, i/50, i%50),
			Offset:    fmt.Appendf(nil, `{"offset":%d}`, 1_000_000+i),
		}
	}
	return list
}
