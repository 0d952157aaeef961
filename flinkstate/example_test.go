package flinkstate_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// A job that was stopped with a savepoint.
func ExampleReadDir() {
	snap, err := flinkstate.ReadDir("testdata/savepoints/flink-1.20-stop-p2/savepoint")
	if err != nil {
		fmt.Println(err)
		return
	}
	src, err := snap.Source("source-0") // the uid that the job gave its source
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(src.Kind, src.OperatorID, "discovery", src.Discovery)
	for _, p := range src.Partitions {
		if p.Next.IsNone() {
			fmt.Println(p.TopicPartition, "unread, starts at", p.Unread)
			continue
		}
		fmt.Println(p.TopicPartition, "next", p.Next)
	}
	// Output:
	// KafkaSource 30198ea1e33432d6307d761dd131f28a discovery finished
	// orders-0 next 20
	// orders-1 next 32
	// orders-2 unread, starts at earliest
	// orders-3 unread, starts at earliest
	// orders-4 unread, starts at earliest
}

// A retained checkpoint that was copied from a bucket. Its state files lie
// under other prefixes than its metadata, which names them by absolute URI.
func ExampleWithPathMap() {
	fsys := os.DirFS("testdata/savepoints/flink-1.20-checkpoint-s3-entropy")
	dir := "state/checkpoints/3c8a4a5485be4302371a62c817c1dc2d/chk-1"

	_, err := flinkstate.Read(fsys, dir)
	if missing, ok := errors.AsType[*flinkstate.MissingFilesError](err); ok {
		fmt.Println("missing:", len(missing.Files))
	}

	snap, err := flinkstate.Read(fsys, dir, flinkstate.WithPathMap(map[string]string{
		"s3://my-bucket/flink/flink-1.20-checkpoint-s3-entropy": "state",
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("partitions:", len(snap.Sources[0].Partitions), "files:", len(snap.Files))
	// Output:
	// missing: 2
	// partitions: 3 files: 3
}

// What makes positions unfit by itself, here an unaligned checkpoint.
func ExampleWarningCode_Unfit() {
	snap, err := flinkstate.ReadDir("testdata/savepoints/flink-1.20-unaligned-inflight/checkpoint/chk-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range snap.Warnings {
		fmt.Println(w.Code, w.OperatorID, "unfit:", w.Code.Unfit())
	}
	// Output:
	// records-in-flight 6b647f00b595dc1391ba8d35f808a1b9 unfit: true
	// records-in-flight 862b46ea8abbbb7e700bdb24b72006f5 unfit: true
}
