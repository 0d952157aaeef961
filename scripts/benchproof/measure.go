package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/proof"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// bench is what is measured.
type bench struct {
	*child
	size
	clients [2]*kgo.Client
}

func prepare(ctx context.Context, s size) (*bench, error) {
	c, err := startBrokers(ctx, s)
	if err != nil {
		return nil, err
	}
	b := &bench{child: c, size: s}
	for i, seed := range c.seeds {
		if b.clients[i], err = kgo.NewClient(kgo.SeedBrokers(seed)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bench) end() error {
	for _, c := range b.clients {
		c.Close()
	}
	return b.child.end()
}

func (b *bench) measure(ctx context.Context, rounds int, progress io.Writer) ([]round, error) {
	var all []round
	for i := range rounds + 1 {
		var r round
		sides := []func() error{
			func() error { return timed(&r.bare, func() error { return b.consume(ctx) }) },
			func() error { return timed(&r.proof, func() error { return b.prove(ctx) }) },
		}
		if i%2 == 1 {
			sides[0], sides[1] = sides[1], sides[0]
		}
		for _, side := range sides {
			if err := side(); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(progress, "round %d of %d: bare %.2f s, proof %.2f s, %.1f %%\n", i, rounds, r.bare, r.proof, 100*r.ratio())
		if i > 0 { // the first warms up
			all = append(all, r)
		}
	}
	return all, nil
}

func timed(seconds *float64, do func() error) error {
	runtime.GC()
	began := time.Now()
	err := do()
	*seconds = time.Since(began).Seconds()
	return err
}

// consume reads all of both clusters, and does nothing with it.
func (b *bench) consume(ctx context.Context) error {
	from := map[int32]kgo.Offset{}
	for p := range b.partitions {
		from[int32(p)] = kgo.NewOffset().At(0)
	}
	errs := make([]error, len(b.seeds))
	var wg sync.WaitGroup
	for i, seed := range b.seeds {
		cl, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
		if err != nil {
			return err
		}
		wg.Go(func() {
			defer cl.Close()
			for n := 0; n < b.total()/2 && errs[i] == nil; {
				fetches := cl.PollFetches(ctx)
				errs[i] = fetches.Err()
				n += fetches.NumRecords()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("the bare consumer: %w", err)
		}
	}
	return nil
}

// prove compares all of both clusters.
func (b *bench) prove(ctx context.Context) error {
	o := proof.Options{Bound: 10 * time.Minute, Interval: 100 * time.Millisecond}
	for i, side := range []*proof.Cluster{&o.Source, &o.Target} {
		*side = proof.Cluster{Options: []kgo.Opt{kgo.SeedBrokers(b.seeds[i])}, Admin: kadm.NewClient(b.clients[i]), Isolation: offsetmap.ReadUncommitted}
	}
	zero, _ := offsetmap.Next(0)
	end, err := offsetmap.Next(int64(b.records))
	if err != nil {
		return err
	}
	for p := range b.partitions {
		tp := offsetmap.TopicPartition{Topic: topic, Partition: int32(p)}
		o.Partitions = append(o.Partitions, proof.Partition{Source: tp, Next: zero, End: end, Target: tp, TargetEnd: zero})
	}
	r, err := proof.Run(ctx, o)
	if err == nil && (r.Outcome != proof.Proven || r.Total.Copied != int64(b.total()/2)) {
		err = fmt.Errorf("%s with %+v", r.Outcome, r.Total)
	}
	if err != nil {
		return fmt.Errorf("the proof: %w", err)
	}
	return nil
}

func report(out io.Writer, s size, all []round) {
	fmt.Fprintf(out, "franz-go; %s on %s/%s, %d processors%s; %d partitions with %d records of %d bytes on either side; medians of %d rounds.\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load(), s.partitions, s.records, s.bytes, len(all))
	fmt.Fprintln(out, "| | seconds | records a second |\n| --- | --- | --- |")
	for _, row := range []struct {
		name string
		of   func(round) float64
	}{{"bare consumer", func(r round) float64 { return r.bare }}, {"proof", func(r round) float64 { return r.proof }}} {
		m := median(all, row.of)
		fmt.Fprintf(out, "| %s | %.2f | %.0f |\n", row.name, m, float64(s.total())/m)
	}
	fmt.Fprintf(out, "| proof to bare, median of the rounds' ratios | | **%.1f %%** |\n", 100*median(all, round.ratio))
}

// load is what else the machine had to do: figures of a busy one say little.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return ", load average " + first
}
