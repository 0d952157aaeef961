package connectrest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// forgetfulGateway refuses the third change of offsets that it is asked for.
func forgetfulGateway() *httptest.Server {
	var mu sync.Mutex
	var stored connectrest.OffsetsBody
	changes := 0
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet {
			_ = json.NewEncoder(w).Encode(stored)
			return
		}
		if changes++; changes == 3 {
			status(403, "not now")(w, r)
			return
		}
		var body connectrest.OffsetsBody
		_ = json.NewDecoder(r.Body).Decode(&body)
		stored.Offsets = append(stored.Offsets, body.Offsets...)
		_, _ = fmt.Fprint(w, `{"message":"The offsets for this connector have been altered successfully"}`)
	}))
}

func ExampleClient_AlterOffsetsInParts() {
	srv := forgetfulGateway()
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	var offsets []connectrest.Offset
	for i := range 2500 {
		offsets = append(offsets, connectrest.Offset{
			Partition: json.RawMessage(fmt.Sprintf(`{"cluster":"source","topic":"orders","partition":%d}`, i)),
			Offset:    json.RawMessage(`{"offset":41}`),
		})
	}
	ctx := context.Background()
	progress := connectrest.WithPartsProgress(func(p connectrest.PartsProgress) {
		fmt.Printf("part %d of %d: %d of %d partitions\n", p.Part.Number, p.Part.Of, p.Written, p.Total)
	})
	err = client.AlterOffsetsInParts(ctx, "mm2", offsets, progress)
	if failed, ok := errors.AsType[*connectrest.PartsError](err); ok {
		for _, p := range failed.In(connectrest.PartNotWritten) {
			fmt.Println("not written:", p)
		}
		err = client.ContinueOffsets(ctx, failed, progress)
	}
	fmt.Println(err)
	// Output:
	// part 1 of 3: 1000 of 2500 partitions
	// part 2 of 3: 2000 of 2500 partitions
	// not written: part 3 of 3 (500 partitions, orders-2000 to orders-2499)
	// part 3 of 3: 2500 of 2500 partitions
	// <nil>
}
