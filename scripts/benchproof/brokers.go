package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "orders"

// brokers are a source and a target that is its copy. It prints where they listen,
// and ends with ctx.
func brokers(ctx context.Context, s size, out io.Writer) error {
	var seeds []string
	for range 2 {
		c, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			return err
		}
		defer c.Close()
		seed := c.ListenAddrs()[0]
		if err := fill(ctx, seed, s); err != nil {
			return err
		}
		seeds = append(seeds, seed)
	}
	if err := json.NewEncoder(out).Encode(seeds); err != nil {
		return err
	}
	// The parent holds the other end, so that none is left behind.
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// fill writes the records, the same to each cluster. Half of a value is noise, which
// does not compress.
func fill(ctx context.Context, seed string, s size) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(1<<19))
	if err != nil {
		return err
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, int32(s.partitions), 1, nil, topic); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // to be repeated, not to be guessed
	written := time.Now().Add(-time.Hour).Truncate(time.Hour)
	const atATime = 10_000
	for p := range s.partitions {
		for first := 0; first < s.records; first += atATime {
			batch := make([]*kgo.Record, 0, atATime)
			for i := first; i < min(first+atATime, s.records); i++ {
				value := make([]byte, s.bytes)
				for at := 0; at+8 <= s.bytes/2; at += 8 {
					binary.BigEndian.PutUint64(value[at:], random.Uint64())
				}
				batch = append(batch, &kgo.Record{
					Topic: topic, Partition: int32(p),
					Key: strconv.AppendInt(nil, int64(i), 10), Value: value, Timestamp: written.Add(time.Duration(i) * time.Millisecond),
					Headers: []kgo.RecordHeader{{Key: "trace", Value: strconv.AppendInt(nil, int64(i), 16)}},
				})
			}
			if err := cl.ProduceSync(ctx, batch...).FirstErr(); err != nil {
				return err
			}
		}
	}
	return nil
}

// child is the process of the brokers.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	seeds []string
}

func startBrokers(ctx context.Context, s size) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-serve", "-partitions", strconv.Itoa(s.partitions), "-records", strconv.Itoa(s.records), "-bytes", strconv.Itoa(s.bytes))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	if err := errors.Join(err, errOut); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin}
	if err := json.NewDecoder(stdout).Decode(&c.seeds); err != nil {
		return nil, fmt.Errorf("the brokers did not start: %w", errors.Join(err, c.end()))
	}
	return c, nil
}

func (c *child) end() error { return errors.Join(c.stdin.Close(), c.cmd.Wait()) }
