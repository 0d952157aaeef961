package stores_test

import (
	"context"
	"fmt"

	"github.com/flinkmm2/flinkmm2/stores"
)

// A savepoint is read where it lies; with s3://bucket/path the call is the same.
func ExampleReadSavepoint() {
	at := "../flinkstate/testdata/savepoints/flink-1.20-savepoint-s3/state/savepoints/savepoint-c9058f-69468bfc834c/_metadata"
	snap, err := stores.ReadSavepoint(context.Background(), at, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, source := range snap.Sources {
		fmt.Println(source.Kind, len(source.Partitions), "partitions")
	}
	// Output:
	// KafkaSource 3 partitions
}
