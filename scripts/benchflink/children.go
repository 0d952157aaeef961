//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/flinkmm2/flinkmm2/flinkstate"
)

// children are what this program runs as processes of their own: for a fresh
// heap, and to stay small itself.
var children = map[string]func(args []string, out io.Writer) error{
	"hot":     hot,
	"memory":  measureMemory,
	"compare": compare,
}

// How a hot loop reads.
const (
	hashed = "hashed"
	plain  = "plain"
)

type hotLoop struct {
	Seconds float64 `json:"seconds"` // median
}

// hot reads DIR again and again, as it is read by default or without hashes: DIR
// ITERATIONS SPLITS hashed|plain.
func hot(args []string, out io.Writer) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var opts []flinkstate.Option
	switch args[3] {
	case hashed:
	case plain:
		opts = append(opts, flinkstate.WithoutHashes())
	default:
		return fmt.Errorf("%q is neither %s nor %s", args[3], hashed, plain)
	}
	all := make([]float64, 0, n)
	for range n {
		got := 0
		seconds, err := timed(func() error {
			snap, err := flinkstate.ReadDir(args[0], opts...)
			if err == nil {
				got = len(snap.Sources[0].Partitions)
			}
			return err
		})
		if err != nil {
			return err
		}
		if strconv.Itoa(got) != args[2] {
			return fmt.Errorf("%d positions were read, want %s", got, args[2])
		}
		all = append(all, seconds)
	}
	return json.NewEncoder(out).Encode(hotLoop{median(all)})
}

// memory is what one reading takes in a fresh process.
type memory struct {
	// HeapPeak is the most that objects had on the heap, those included that were
	// no longer used and not yet collected, sampled.
	HeapPeak int64 `json:"heapPeak"`
	// SourceState is what the handles of the source say that it has stored: its
	// list states and its coordinator.
	SourceState int64 `json:"sourceState"`
}

// measureMemory reads DIR once.
func measureMemory(args []string, out io.Writer) error {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	var m memory
	done, stopped := make(chan struct{}), make(chan struct{})
	look := func() {
		metrics.Read(sample)
		m.HeapPeak = max(m.HeapPeak, int64(sample[0].Value.Uint64()))
	}
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Microsecond):
				look()
			}
		}
	}()
	snap, err := flinkstate.ReadDir(args[0])
	close(done)
	<-stopped
	if err != nil {
		return err
	}
	look()
	for _, op := range snap.Operators {
		if op.ID == snap.Sources[0].OperatorID {
			m.SourceState += op.Bytes.Operator + op.Bytes.Coordinator
		}
	}
	return json.NewEncoder(out).Encode(m)
}

// compare holds what both sides printed against each other: FLINK RUNBOOK SPLITS.
func compare(args []string, _ io.Writer) error {
	var sides [2][]string
	for i, read := range []func(io.Reader) ([]string, error){flinkRows, runbookRows} {
		f, err := os.Open(args[i])
		if err != nil {
			return err
		}
		sides[i], err = read(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", args[i], err)
		}
	}
	if got := strconv.Itoa(len(sides[0])); got != args[2] {
		return fmt.Errorf("%s rows were printed by Flink, want %s", got, args[2])
	}
	return sameRows(sides[0], sides[1])
}
