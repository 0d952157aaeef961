// Benchproof holds the proof, which compares every record of two clusters, to a
// bare consumer that reads the same topics and does nothing with them, and prints
// both as Markdown. It fails when the proof reads less than 80 % of the records a
// second.
//
//	go run ./scripts/benchproof [-partitions 8] [-records 300000] [-bytes 200] [-rounds 7]
//
// The brokers are a process of their own, so that neither side pays for them. The
// two take turns in each round, and neither always comes first. The consumer is
// franz-go's with its defaults, one client a cluster, both at once, as the proof
// reads. The proof is timed from its call to its report; it looks ten times a
// second whether it is done, so that the wait for a look counts for little.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchproof:", err)
		os.Exit(1)
	}
}

// least is what the proof must read of what the bare consumer reads.
const least = 0.8

// size is what is read.
type size struct {
	partitions     int
	records, bytes int // of a partition, of a value
}

func (s size) total() int { return 2 * s.partitions * s.records }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("benchproof", flag.ContinueOnError)
	var s size
	flags.IntVar(&s.partitions, "partitions", 8, "partitions of the topic")
	flags.IntVar(&s.records, "records", 300_000, "records of a partition, on either side")
	flags.IntVar(&s.bytes, "bytes", 200, "bytes of a value")
	rounds := flags.Int("rounds", 7, "how often each is run")
	serve := flags.Bool("serve", false, "be the brokers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.partitions < 1 || s.records < 1 || s.bytes < 8 || *rounds < 1 || flags.NArg() > 0 {
		return fmt.Errorf("at least one partition, record and round, 8 bytes, and no arguments but flags are wanted; got %+v, -rounds %d and %q", s, *rounds, flags.Args())
	}
	if *serve {
		return brokers(ctx, s, out)
	}
	b, err := prepare(ctx, s)
	if err != nil {
		return err
	}
	all, err := b.measure(ctx, *rounds, progress)
	if err := errors.Join(err, b.end()); err != nil {
		return err
	}
	report(out, s, all)
	if r := median(all, round.ratio); r < least {
		return fmt.Errorf("the proof reads %.1f %% of the bare consumer's records a second, less than %.0f %%", 100*r, 100*least)
	}
	return nil
}

// round is what one round took, in seconds.
type round struct{ bare, proof float64 }

func (r round) ratio() float64 { return r.bare / r.proof }

func median(all []round, of func(round) float64) float64 {
	values := make([]float64, len(all))
	for i, r := range all {
		values[i] = of(r)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
